/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a model costs, as far as shapes are known: multiplications count two operations, as usual.
 */
#include <axon/plugin/axongraph.h>

static gdouble
numel (const AxonValue *value)
{
  gint64 n = value ? axon_shape_get_numel (&value->type.shape) : 0;
  return n > 0 ? (gdouble)n : 0;
}

/* Multiply-adds for each element of the output. */
static gdouble
depth_of (const AxonNode *node)
{
  static const gchar *const products[] = { "MatMul", "Gemm", "MatMulInteger", "QLinearMatMul",
                                           NULL };
  static const gchar *const convolutions[] = { "Conv", "ConvInteger", "FusedConv", NULL };
  const AxonValue *x = axon_node_get_input (node, 0);
  const AxonValue *w = axon_node_get_input (node, 1);
  if (g_str_equal (node->op->name, "QLinearConv"))
    w = axon_node_get_input (node, 3);
  else if (!g_strv_contains (convolutions, node->op->name)) {
    if (!g_strv_contains (products, node->op->name) || x == NULL || x->type.shape.rank < 1)
      return 0;
    return (gdouble)MAX (
        x->type.shape.dims[axon_node_get_int (node, "transA") ? 0 : x->type.shape.rank - 1], 0);
  }
  return w && w->type.shape.rank > 1 && w->type.shape.dims[0] > 0
             ? numel (w) / (gdouble)w->type.shape.dims[0]
             : 0;
}

/**
 * axon_model_get_flops:
 * @model: a model
 *
 * Returns: floating-point operations of one run, two for each multiply-add, one for each element of
 *   other operators; nodes of unknown shape are not counted
 *
 * Since: 1.0
 */
gdouble
axon_model_get_flops (AxonModel *model)
{
  gdouble total = 0;
  for (guint i = 0; i < model->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (model->nodes, i);
    gdouble depth = depth_of (node);
    if (node->n_outputs > 0)
      total += numel (node->outputs[0]) * (depth > 0 ? 2 * depth : 1);
  }
  return total;
}

static gdouble
bytes_of (const AxonValue *value)
{
  return numel (value) * (gdouble)axon_dtype_get_size (value->type.dtype);
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
    change[value->producer ? value->producer->index : 0] += bytes_of (value);
    change[last_use (value, n) + 1] -= bytes_of (value);
  }
  for (guint i = 0; i <= n; i++) {
    now += change[i];
    most = MAX (most, now);
  }
  return (guint64)(constants + most);
}
