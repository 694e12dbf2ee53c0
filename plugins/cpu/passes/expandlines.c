/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators on lines of floats that have no kernel become those that have: LpNormalization,
 * MeanVarianceNormalization, ReduceLogSumExp. */
#include "cpupasses.h"
#include "../cpuplan.h"

#include <string.h>

/* Whose square is the least normal float: squares of less are lost, and so is what they would be
 * divided by. */
#define LEAST 1.0842022e-19

#define MVN_EPSILON 1e-9

/* What is done to a node, and along which axes. */
typedef struct {
  AxonModel *model;
  AxonNode *node;
  gint64 axes[AXON_MAX_RANK];
  guint n_axes;
} Lines;

static AxonValue *
apply (const Lines *l, const gchar *name, AxonValue *a, AxonValue *b)
{
  AxonValue *in[] = { a, b };
  return cpu_pass_apply (l->model, l->node, name, in, b != NULL ? 2 : 1);
}

/* Dimensions are kept. */
static AxonValue *
reduce (const Lines *l, const gchar *name, AxonValue *x)
{
  AxonValue *y = apply (l, name, x, NULL);
  axon_node_set_ints (y->producer, "axes", l->axes, l->n_axes);
  return y;
}

static AxonValue *
number (const Lines *l, gdouble value)
{
  return axon_pass_add_scalar (l->model, AXON_DTYPE_F32, value);
}

/* The node becomes a quotient. */
static void
divide (const Lines *l, AxonValue *a, AxonValue *b)
{
  AxonValue *in[] = { a, b };
  cpu_pass_replace (l->model, l->node, "Div", in, G_N_ELEMENTS (in));
}

/* A line of nothing but 0 stays so: it is divided by something. */
static gboolean
expand_lp_norm (Lines *l)
{
  AxonValue *x = l->node->inputs[0];
  gboolean is_of_squares = axon_node_get_int (l->node, "p") == 2;
  l->axes[0] = axon_node_get_int (l->node, "axis");
  l->n_axes = 1;
  divide (l, x,
          apply (l, "Max", reduce (l, is_of_squares ? "ReduceL2" : "ReduceL1", x),
                 number (l, is_of_squares ? LEAST : G_MINFLOAT)));
  return TRUE;
}

/* Centred twice: what a float leaves of a mean would be divided by its own size where a line is
 * nearly alike. */
static gboolean
expand_mean_variance (Lines *l)
{
  static const gint64 usual[] = { 0, 2, 3 };
  const gint64 *axes = axon_node_get_ints (l->node, "axes", &l->n_axes);
  AxonValue *x = l->node->inputs[0], *deviation;
  if (axes == NULL) {
    axes = usual;
    l->n_axes = G_N_ELEMENTS (usual);
  }
  if (l->n_axes == 0 || l->n_axes > AXON_MAX_RANK) /* a model may name one many times */
    return FALSE;
  memcpy (l->axes, axes, l->n_axes * sizeof *axes);
  for (guint i = 0; i < 2; i++)
    x = apply (l, "Sub", x, reduce (l, "ReduceMean", x));
  deviation = apply (l, "Sqrt", reduce (l, "ReduceMean", apply (l, "Mul", x, x)), NULL);
  divide (l, x, apply (l, "Add", deviation, number (l, MVN_EPSILON)));
  return TRUE;
}

/* Less the largest, so that no power is too large; an infinite one is taken for the largest float,
 * so that it does not make a number of nothing. */
static gboolean
expand_log_sum_exp (Lines *l)
{
  AxonValue *x = l->node->inputs[0], *top, *sum, *clip[3];
  if (!cpu_node_axes (l->node, l->axes, &l->n_axes))
    return FALSE;
  if (l->n_axes == 0 && axon_node_get_int (l->node, "noop_with_empty_axes") != 0)
    return FALSE;
  if (l->n_axes == 0)
    for (gint d = 0; d < x->type.shape.rank; d++)
      l->axes[l->n_axes++] = d;
  clip[0] = reduce (l, "ReduceMax", x);
  clip[1] = number (l, -G_MAXFLOAT);
  clip[2] = number (l, G_MAXFLOAT);
  top = cpu_pass_apply (l->model, l->node, "Clip", clip, G_N_ELEMENTS (clip));
  sum = apply (l, "Add",
               reduce (l, "ReduceLogSum", apply (l, "Exp", apply (l, "Sub", x, top), NULL)), top);
  cpu_pass_replace_reshaped (l->model, l->node, sum);
  return TRUE;
}

static const struct {
  const gchar *name;
  gboolean (*expand) (Lines *lines); /* FALSE: it is left as it is */
} expansions[] = { { "LpNormalization", expand_lp_norm },
                   { "MeanVarianceNormalization", expand_mean_variance },
                   { "ReduceLogSumExp", expand_log_sum_exp } };

static gboolean
expand (AxonModel *model, AxonNode *node, G_GNUC_UNUSED GError **error)
{
  Lines lines = { .model = model, .node = node };
  for (guint i = 0; i < G_N_ELEMENTS (expansions); i++)
    if (axon_node_is (node, expansions[i].name))
      return cpu_pass_is_planned (node) && node->inputs[0]->type.shape.rank > 0 &&
             expansions[i].expand (&lines);
  return FALSE;
}

gboolean
cpu_pass_expand_lines (AxonModel *model, GError **error)
{
  return cpu_pass_rewrite (model, expand, error);
}
