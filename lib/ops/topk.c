/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TopK (1, 10, 11). */
#include "ops-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static gboolean
top_count (const AxonNode *node, const AxonTypeInfo *in, gint64 *k)
{
  *k = axon_node_get_int (node, "k");
  return axon_node_has_form (node, AXON_FORM_ATTRIBUTES) || axon_scalar_int (node, in, 1, 0, k);
}

static gboolean
infer_top_k (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 k;
  gint axis;
  axon_infer_same (node, in, out, error);
  if (node->n_outputs > 1)
    out[1].dtype = AXON_DTYPE_I64;
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), in[0].shape.rank, &axis, error))
    return FALSE;
  if (!top_count (node, in, &k))
    k = -1;
  else if (k < 0 || (in[0].shape.dims[axis] >= 0 && k > in[0].shape.dims[axis]))
    FAIL (MODEL, "k is %" G_GINT64_FORMAT ", dimension %d has %" G_GINT64_FORMAT, k, axis,
          in[0].shape.dims[axis]);
  for (guint i = 0; i < node->n_outputs; i++)
    out[i].shape.dims[axis] = k;
  return TRUE;
}

typedef struct {
  const gdouble *line;
  gint64 stride;
  gboolean largest;
} Ranking;

/* Equal values: the lower index first. NaN ranks above every number. */
static gint
compare_ranks (gconstpointer a, gconstpointer b, gpointer ranking)
{
  const Ranking *r = ranking;
  gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
  gdouble u = r->line[x * r->stride], v = r->line[y * r->stride];
  gint more = (u > v || (isnan (u) && !isnan (v))) - (v > u || (isnan (v) && !isnan (u)));
  return more ? (r->largest ? -more : more) : x < y ? -1 : x > y;
}

static gboolean
eval_top_k (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]);
  gint rank = x->rank, axis;
  gint64 k;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), rank, &axis, error))
    return FALSE;
  AxonLines lines = axon_lines (x, axis);
  if (lines.n > G_MAXINT32)
    FAIL_FOR (SHAPE, UNSUPPORTED, "more than %d elements", G_MAXINT32);
  k = axon_tensor_get_dim (out[0] ? out[0] : out[1], (guint)axis);
  AXON_AUTO_SCRATCH gdouble *v = axon_load_doubles (in[0], error);
  AXON_AUTO_SCRATCH gint64 *order = axon_scratch_new ((gsize)lines.n + 1, sizeof (gint64), error);
  if (*error != NULL)
    return FALSE;
  gsize size = axon_dtype_get_size (axon_tensor_get_dtype (in[0]));
  for (gint64 l = 0; l < lines.outer * lines.inner && WANTED (l); l++) {
    gint64 o = l / lines.inner, i = l % lines.inner, from = o * lines.n * lines.inner + i;
    Ranking r = { v + from, lines.inner, axon_node_get_int (node, "largest") != 0 };
    for (gint64 j = 0; j < lines.n; j++)
      order[j] = j;
    qsort_r (order, (gsize)lines.n, sizeof *order, compare_ranks, &r);
    for (gint64 j = 0; j < k; j++) {
      gsize at = (gsize)((o * k + j) * lines.inner + i);
      gsize source = (gsize)(from + order[j] * lines.inner);
      if (out[0] != NULL)
        memcpy ((guint8 *)axon_tensor_get_data (out[0]) + at * size,
                (guint8 *)axon_tensor_get_data (in[0]) + source * size, size);
      if (node->n_outputs > 1 && out[1] != NULL)
        ((gint64 *)axon_tensor_get_data (out[1]))[at] = order[j];
    }
  }
  return TRUE;
}

#define N AXON_DTYPES_NUMERIC
#define TOP_ATTRS ATTR_I ("axis", -1), ATTR_I ("largest", 1), ATTR_I ("sorted", 1)

static const AxonOp rows[] = {
  {
      .name = "TopK",
      .since = 1,
      .until = 9,
      .form = AXON_FORM_ATTRIBUTES,
      .inputs = { 1, 1 },
      .outputs = { 1, 2 },
      .types = N,
      .same_type_inputs = 1,
      .attrs = ATTRS (TOP_ATTRS, REQUIRED ("k", AXON_ATTR_INT)),
      .infer = infer_top_k,
      .eval = eval_top_k,
  },
  {
      .name = "TopK",
      .since = 10,
      .inputs = { 2, 2 },
      .operands = ".L",
      .outputs = { 1, 2 },
      .types = N,
      .same_type_inputs = 1,
      .attrs = ATTRS (TOP_ATTRS),
      .infer = infer_top_k,
      .eval = eval_top_k,
  },
};

DEFINE_FAMILY (topk, rows)
