/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* INFERENCE_PRECISION_HINT=f16: numbers between kernels, and weights, are stored in half precision
 * and computed in single. Every OpenCL device can (vload_half, vstore_half). */
#include "gpuelement.h"
#include "gpumodel.h"

#include <math.h>

#define OPSET 13
#define LARGEST 65504.0 /* of half precision */

/* Besides elementwise operators. Of those with a mark only input 0 is halved. */
static const struct {
  const gchar *name;
  gboolean first_only;
} halved[] = {
  { "AveragePool" },
  { "Concat" },
  { "Conv" },
  { "ConvTranspose" },
  { "DepthToSpace" },
  { "Expand" },
  { "Flatten" },
  { "Gather" },
  { "Gemm" },
  { "GlobalAveragePool" },
  { "GlobalMaxPool" },
  { "GroupNormalization" },
  { "InstanceNormalization" },
  { "LayerNormalization" },
  { "MatMul" },
  { "MaxPool" },
  { "Pad" },
  { "ReduceMean" },
  { "ReduceSum" },
  { "Reshape" },
  { "Resize", TRUE },
  { "Slice" },
  { "Softmax" },
  { "SpaceToDepth" },
  { "Split" },
  { "Squeeze" },
  { "Tile" },
  { "Transpose" },
  { "Unsqueeze" },
  { "Upsample", TRUE },
};

/* So many leading inputs of @node are halved where they are float. */
static guint
inputs_to_halve (const AxonNode *node)
{
  static const gchar *const kept[] = { "Cast", "CastLike", "QuantizeLinear", "DequantizeLinear" };
  if (node->op->domain != NULL)
    return 0;
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    if (axon_node_is (node, kept[i]))
      return 0;
  for (guint i = 0; i < G_N_ELEMENTS (halved); i++)
    if (axon_node_is (node, halved[i].name))
      return halved[i].first_only ? 1 : node->n_inputs;
  return gpu_element_knows (node) ? node->n_inputs : 0;
}

static gboolean
is_single (const AxonValue *value)
{
  return value != NULL && value->type.dtype == AXON_DTYPE_F32;
}

static gboolean
fits (const AxonTensor *t)
{
  const gfloat *v = axon_tensor_get_data ((AxonTensor *)t);
  for (gsize i = 0; i < axon_tensor_get_numel (t); i++)
    if (isfinite (v[i]) && fabsf (v[i]) > (gfloat)LARGEST)
      return FALSE;
  return TRUE;
}

static gboolean
can_be_halved (const AxonNode *node, guint n)
{
  gboolean any = FALSE;
  for (guint i = 0; i < n; i++) {
    if (!is_single (node->inputs[i]))
      continue;
    any = TRUE;
    if (node->inputs[i]->type.value != NULL && !fits (node->inputs[i]->type.value))
      return FALSE;
  }
  return any;
}

static AxonValue *
cast (AxonModel *model, const AxonNode *like, AxonValue *from, AxonValue *to, AxonDType dtype)
{
  AxonNode *node = axon_pass_add_node (model, like, NULL, "Cast", OPSET, &from, 1, to);
  axon_node_set_int (node, "to", dtype);
  return to;
}

/* @value in half precision, made once. */
static AxonValue *
half_of (AxonModel *model, const AxonNode *like, AxonValue *value, GHashTable *halves)
{
  AxonValue *half = g_hash_table_lookup (halves, value);
  if (half != NULL)
    return half;
  if (value->type.value != NULL) {
    g_autoptr (AxonTensor) t = axon_tensor_convert (value->type.value, AXON_DTYPE_F16, NULL);
    half = axon_model_add_constant (model, NULL, t);
  } else {
    half = cast (model, like, value, axon_model_add_value (model, NULL), AXON_DTYPE_F16);
  }
  g_hash_table_insert (halves, value, half);
  return half;
}

static void
halve (AxonModel *model, AxonNode *node, guint n, GHashTable *halves)
{
  for (guint i = 0; i < n; i++)
    if (is_single (node->inputs[i]))
      axon_node_set_input (node, i, half_of (model, node, node->inputs[i], halves));
  for (guint i = 0; i < node->n_outputs; i++) {
    AxonValue *out = node->outputs[i], *half;
    if (!is_single (out))
      continue;
    half = axon_model_add_value (model, NULL);
    axon_node_set_output (node, i, half);
    cast (model, node, half, out, AXON_DTYPE_F32);
    g_hash_table_insert (halves, out, half);
  }
}

gboolean
gpu_pass_halve (AxonModel *model, GError **error)
{
  g_autoptr (GHashTable) halves = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) nodes = g_ptr_array_new (); /* casts are added while it is walked */
  g_ptr_array_extend (nodes, model->nodes, NULL, NULL);
  for (guint i = 0; i < nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (nodes, i);
    guint n = inputs_to_halve (node);
    if (can_be_halved (node, n))
      halve (model, node, n, halves);
  }
  return axon_model_sort (model, error) && axon_model_infer_shapes (model, error) &&
         axon_pass_remove_dead_code (model, error);
}
