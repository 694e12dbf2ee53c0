/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpueltwise.h"

#include <math.h>

static const struct {
  const gchar *op;
  CpuPostKind kind;
} functions[] = {
  { "Relu", CPU_POST_RELU },
  { "Clip", CPU_POST_CLIP },
  { "LeakyRelu", CPU_POST_LEAKY },
  { "Sigmoid", CPU_POST_SIGMOID },
  { "Swish", CPU_POST_SWISH },
  { "Swish", CPU_POST_SILU }, /* of alpha 1 */
  { "HardSigmoid", CPU_POST_HARD_SIGMOID },
  { "HardSwish", CPU_POST_HARD_SWISH },
  { "Tanh", CPU_POST_TANH },
  { "Gelu", CPU_POST_GELU },
  { "Mish", CPU_POST_MISH },
  { "Softplus", CPU_POST_SOFTPLUS },
  { "Elu", CPU_POST_ELU },
  { "Selu", CPU_POST_SELU },
  { "Celu", CPU_POST_CELU },
  { "Exp", CPU_POST_EXP },
  { "Log", CPU_POST_LOG },
  { "Erf", CPU_POST_ERF },
  { "Abs", CPU_POST_ABS },
  { "Neg", CPU_POST_NEG },
  { "Sqrt", CPU_POST_SQRT },
  { "Reciprocal", CPU_POST_RECIPROCAL },
  { "Sign", CPU_POST_SIGN },
  { "Softsign", CPU_POST_SOFTSIGN },
  { "ThresholdedRelu", CPU_POST_THRESHOLDED },
  { "Shrink", CPU_POST_SHRINK },
  { "Ceil", CPU_POST_CEIL },
  { "Floor", CPU_POST_FLOOR },
  { "Round", CPU_POST_ROUND },
  { "Acos", CPU_POST_ACOS },
  { "Acosh", CPU_POST_ACOSH },
  { "Asin", CPU_POST_ASIN },
  { "Asinh", CPU_POST_ASINH },
  { "Atan", CPU_POST_ATAN },
  { "Atanh", CPU_POST_ATANH },
  { "Cos", CPU_POST_COS },
  { "Cosh", CPU_POST_COSH },
  { "Sin", CPU_POST_SIN },
  { "Sinh", CPU_POST_SINH },
  { "Tan", CPU_POST_TAN },
};

/* The first two attributes that are floats. */
static void
float_args (const AxonNode *node, gfloat *args)
{
  guint n = 0;
  for (const AxonAttrSpec *a = node->op->attrs; a != NULL && a->name != NULL && n < 2; a++)
    if (a->type == AXON_ATTR_FLOAT)
      args[n++] = (gfloat)axon_node_get_float (node, a->name);
}

gboolean
cpu_eltwise_args (const AxonNode *node, gfloat *alpha, gfloat *beta)
{
  gfloat args[2] = { 0 };
  if (axon_node_is (node, "Clip")) {
    if (!axon_match_clip (node, alpha, beta))
      return FALSE;
    *alpha = MIN (*alpha, *beta); /* the upper bound is applied last, and oneDNN wants an order */
    return TRUE;
  }
  float_args (node, args);
  *alpha = args[0];
  *beta = args[1];
  return TRUE;
}

gboolean
cpu_post_init (CpuPost *post, const gchar *op, gfloat alpha, gfloat beta)
{
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    if (g_str_equal (functions[i].op, op)) {
      *post = (CpuPost){ functions[i].kind, alpha, beta };
      if (post->kind == CPU_POST_SWISH && alpha == 1)
        post->kind = CPU_POST_SILU;
      return TRUE;
    }
  return FALSE;
}

const gchar *
cpu_post_name (CpuPostKind kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    if (functions[i].kind == kind)
      return functions[i].op;
  return NULL;
}

/* Powers by a constant that are something simpler. */
static gboolean
init_power (CpuPost *post, const AxonNode *node)
{
  static const struct {
    gdouble exponent;
    CpuPostKind kind;
  } powers[] = { { 2, CPU_POST_SQUARE },
                 { 3, CPU_POST_CUBE },
                 { 0.5, CPU_POST_SQRT },
                 { -1, CPU_POST_RECIPROCAL } };
  gdouble exponent;
  if (!axon_match_scalar (node->inputs[1], &exponent) ||
      node->inputs[1]->type.shape.rank > node->inputs[0]->type.shape.rank)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (powers); i++)
    if (powers[i].exponent == exponent) {
      *post = (CpuPost){ .kind = powers[i].kind };
      return TRUE;
    }
  return FALSE;
}

/* No bound is an infinite one: what is infinite stays so. */
static void
widen_clip (CpuPost *post, const AxonNode *node)
{
  if (axon_node_has_form (node, AXON_FORM_ATTRIBUTES))
    return;
  if (axon_node_get_input (node, 1) == NULL)
    post->alpha = -INFINITY;
  if (axon_node_get_input (node, 2) == NULL)
    post->beta = INFINITY;
}

gboolean
cpu_post_of_node (CpuPost *post, const AxonNode *node)
{
  gfloat alpha, beta;
  if (axon_node_is (node, "Pow"))
    return init_power (post, node);
  if (node->op->domain != NULL || !cpu_eltwise_args (node, &alpha, &beta) ||
      !cpu_post_init (post, node->op->name, alpha, beta))
    return FALSE;
  if (post->kind == CPU_POST_GELU &&
      g_str_equal (axon_node_get_string (node, "approximate"), "tanh"))
    post->kind = CPU_POST_GELU_TANH;
  if (post->kind == CPU_POST_CLIP)
    widen_clip (post, node);
  return TRUE;
}

gint
cpu_pair_of_op (const gchar *op)
{
  static const struct {
    const gchar *op;
    gint kind;
  } pairs[] = {
    { "Add", CPU_PAIR_ADD }, { "Sum", CPU_PAIR_ADD },     { "Sub", CPU_PAIR_SUB },
    { "Mul", CPU_PAIR_MUL }, { "Div", CPU_PAIR_DIV },     { "Max", CPU_PAIR_MAX },
    { "Min", CPU_PAIR_MIN }, { "PRelu", CPU_PAIR_PRELU }, { "Pow", CPU_PAIR_POW },
  };
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    if (g_str_equal (pairs[i].op, op))
      return pairs[i].kind;
  return -1;
}
