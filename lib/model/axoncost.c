/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a model costs, as far as shapes are known: multiplications count two operations, as usual.
 */
#include "axoncost-private.h"

static gdouble
numel (const AxonValue *value)
{
  gint64 n = value ? axon_shape_get_numel (&value->type.shape) : 0;
  return n > 0 ? (gdouble)n : 0;
}

gdouble
axon_value_get_bytes (const AxonValue *value)
{
  return numel (value) * (gdouble)axon_dtype_get_size (value->type.dtype);
}

typedef gdouble (*WorkFunc) (const AxonNode *node, guint weights);

static const AxonShape *
source_of (const AxonNode *node)
{
  static const AxonShape none = AXON_SHAPE_UNKNOWN;
  const AxonValue *x = axon_node_get_input (node, 0);
  return x ? &x->type.shape : &none;
}

/* Elements that belong to one channel: of the output in a convolution, of the input in a transposed
 * one. */
static gdouble
per_channel (const AxonNode *node, guint weights)
{
  const AxonValue *w = axon_node_get_input (node, weights);
  return w && w->type.shape.rank > 1 && w->type.shape.dims[0] > 0
             ? numel (w) / (gdouble)w->type.shape.dims[0]
             : 0;
}

static gdouble
convolution (const AxonNode *node, guint weights)
{
  return 2 * per_channel (node, weights) * numel (node->outputs[0]);
}

static gdouble
transposed (const AxonNode *node, guint weights)
{
  return 2 * per_channel (node, weights) * numel (axon_node_get_input (node, 0));
}

static gdouble
product (const AxonNode *node, G_GNUC_UNUSED guint weights)
{
  const AxonShape *x = source_of (node);
  gint row = x->rank < 1 || axon_node_get_int (node, "transA") ? 0 : x->rank - 1;
  return x->rank < 1 ? 0 : 2 * (gdouble)MAX (x->dims[row], 0) * numel (node->outputs[0]);
}

/* Two matrices times every step. */
static gdouble
recurrent (const AxonNode *node, guint weights)
{
  const AxonShape *x = source_of (node);
  gdouble both =
      numel (axon_node_get_input (node, weights)) + numel (axon_node_get_input (node, weights + 1));
  return x->rank == 3 ? 2 * both * (gdouble)MAX (x->dims[0], 0) * (gdouble)MAX (x->dims[1], 0) : 0;
}

static gdouble
windows (const AxonNode *node, G_GNUC_UNUSED guint weights)
{
  guint n = 0;
  const gint64 *kernel = axon_node_get_ints (node, "kernel_shape", &n);
  gdouble work = numel (node->outputs[0]);
  for (guint i = 0; i < n; i++)
    work *= (gdouble)kernel[i];
  return work;
}

static gdouble
sum (const AxonNode *node, G_GNUC_UNUSED guint weights)
{
  return numel (axon_node_get_input (node, 0));
}

/* Other operators: one for each element of the output. */
static const struct {
  const gchar *name;
  WorkFunc work;
  guint weights; /* which input; 0: none */
} works[] = {
  { "Conv", convolution, 1 },
  { "FusedConv", convolution, 1 },
  { "ConvInteger", convolution, 1 },
  { "ConvIntegerToFloat", convolution, 1 },
  { "QLinearConv", convolution, 3 },
  { "DeformConv", convolution, 1 },
  { "ConvTranspose", transposed, 1 },
  { "QLinearConvTranspose", transposed, 3 },
  { "MatMul", product, 1 },
  { "Gemm", product, 1 },
  { "MatMulInteger", product, 1 },
  { "MatMulIntegerToFloat", product, 1 },
  { "DynamicQuantizeMatMul", product, 1 },
  { "QLinearMatMul", product, 3 },
  { "QGemm", product, 3 },
  { "LSTM", recurrent, 1 },
  { "GRU", recurrent, 1 },
  { "RNN", recurrent, 1 },
  { "MaxPool", windows, 0 },
  { "AveragePool", windows, 0 },
  { "LpPool", windows, 0 },
  { "QLinearAveragePool", windows, 0 },
  { "GlobalAveragePool", sum, 0 },
  { "GlobalMaxPool", sum, 0 },
  { "GlobalLpPool", sum, 0 },
  { "QLinearGlobalAveragePool", sum, 0 },
  { "ReduceL1", sum, 0 },
  { "ReduceL2", sum, 0 },
  { "ReduceLogSum", sum, 0 },
  { "ReduceLogSumExp", sum, 0 },
  { "ReduceMax", sum, 0 },
  { "ReduceMean", sum, 0 },
  { "ReduceMin", sum, 0 },
  { "ReduceProd", sum, 0 },
  { "ReduceSum", sum, 0 },
  { "ReduceSumSquare", sum, 0 },
  { "ArgMax", sum, 0 },
  { "ArgMin", sum, 0 },
  { "TopK", sum, 0 },
};

static gint
find_work (const AxonNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (works); i++)
    if (g_str_equal (node->op->name, works[i].name))
      return (gint)i;
  return -1;
}

gdouble
axon_node_get_operations (const AxonNode *node)
{
  const AxonValue *y = node->n_outputs > 0 ? node->outputs[0] : NULL;
  gint row = y ? find_work (node) : -1;
  gdouble work = row >= 0 ? works[row].work (node, works[row].weights) : 0;
  return work > 0 ? work : numel (y);
}

gboolean
axon_node_multiplies_bytes (const AxonNode *node)
{
  gint row = find_work (node);
  const AxonValue *w =
      row >= 0 && works[row].weights > 0 ? axon_node_get_input (node, works[row].weights) : NULL;
  return w != NULL && (AXON_DTYPES_BYTE & AXON_DTYPE_BIT (w->type.dtype)) != 0;
}

/**
 * axon_model_get_flops:
 * @model: a model
 *
 * Returns: operations of one run, quantised ones as well: two for each multiply-add; of other
 *   operators one for each element that they make or, where they sum up, read; nodes of unknown
 *   shape are not counted
 *
 * Since: 1.0
 */
gdouble
axon_model_get_flops (AxonModel *model)
{
  gdouble total = 0;
  for (guint i = 0; i < model->nodes->len; i++)
    total += axon_node_get_operations (g_ptr_array_index (model->nodes, i));
  return total;
}

/* Index of the last node that uses @value. */
static guint
last_use (const AxonValue *value, guint n_nodes)
{
  guint last = 0;
  if (value->is_output)
    return n_nodes;
  for (guint i = 0; i < value->users->len; i++)
    last = MAX (last, ((const AxonNode *)g_ptr_array_index (value->users, i))->index);
  return last;
}

/**
 * axon_model_get_memory:
 * @model: a model
 *
 * Returns: bytes of the constants and of the most values that live at the same time, as far as
 *   shapes are known; devices pack and align on top
 *
 * Since: 1.0
 */
guint64
axon_model_get_memory (AxonModel *model)
{
  g_autoptr (AxonModel) m = axon_model_clone (model); /* gets indices */
  guint n = m->nodes->len;
  g_autofree gdouble *change = g_new0 (gdouble, n + 3);
  gdouble constants = 0, now = 0, most = 0;
  for (guint i = 0; i < n; i++)
    ((AxonNode *)g_ptr_array_index (m->nodes, i))->index = i;
  for (guint i = 0; i < m->values->len; i++) {
    const AxonValue *value = g_ptr_array_index (m->values, i);
    if (value->type.value != NULL) {
      constants += (gdouble)axon_tensor_get_n_bytes (value->type.value);
      continue;
    }
    change[value->producer ? value->producer->index : 0] += axon_value_get_bytes (value);
    change[last_use (value, n) + 1] -= axon_value_get_bytes (value);
  }
  for (guint i = 0; i <= n; i++) {
    now += change[i];
    most = MAX (most, now);
  }
  return (guint64)(constants + most);
}
