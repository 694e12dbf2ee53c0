/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpueltwise.h"

static const struct {
  const gchar *op;
  CpuPostKind kind;
} functions[] = {
  { "Relu", CPU_POST_RELU },
  { "Clip", CPU_POST_CLIP },
  { "LeakyRelu", CPU_POST_LEAKY },
  { "Sigmoid", CPU_POST_SIGMOID },
  { "Swish", CPU_POST_SWISH },
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
  if (axon_node_is (node, "Clip"))
    return axon_match_clip (node, alpha, beta);
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
      return TRUE;
    }
  return FALSE;
}

gboolean
cpu_post_of_node (CpuPost *post, const AxonNode *node)
{
  gfloat alpha, beta;
  if (node->op->domain != NULL || !cpu_eltwise_args (node, &alpha, &beta) ||
      !cpu_post_init (post, node->op->name, alpha, beta))
    return FALSE;
  if (post->kind == CPU_POST_GELU &&
      g_str_equal (axon_node_get_string (node, "approximate"), "tanh"))
    post->kind = CPU_POST_GELU_TANH;
  return TRUE;
}
