/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nodes whose inputs are all constant are computed once with the reference kernels. Shapes are
 * inferred on the way, so Shape of a known shape starts a chain. Quantised constants stay as they
 * are: DequantizeLinear of weights is what an int8 device looks for. */
#include <axon/plugin/axonpass.h>
#include <axon/plugin/axoneval.h>
#include <axon/plugin/axonopset.h>

/* Larger results stay in the graph: a 68-byte file may ask for gigabytes. */
#define MAX_FOLDED_BYTES ((gint64)256 * 1024 * 1024)

static gboolean
is_foldable (const AxonNode *node)
{
  if (!axon_op_has_kernel (node->op) || (node->op->flags & AXON_OP_CONTROL) ||
      axon_node_is (node, "DequantizeLinear") || axon_node_is (node, "QuantizeLinear"))
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] != NULL && !axon_value_is_constant (node->inputs[i]))
      return FALSE;
  for (guint i = 0; i < node->n_outputs; i++) {
    const AxonValue *value = node->outputs[i];
    gint64 n = value ? axon_shape_get_numel (&value->type.shape) : 0;
    if (value != NULL &&
        (value->is_output || n < 0 ||
         n > MAX_FOLDED_BYTES / (gint64)MAX (axon_dtype_get_size (value->type.dtype), 1)))
      return FALSE;
  }
  return TRUE;
}

static gboolean
fold (AxonModel *model, AxonNode *node, GError **error)
{
  g_autofree AxonTensor **in = g_new0 (AxonTensor *, node->n_inputs + 1);
  g_autofree AxonTensor **out = g_new0 (AxonTensor *, node->n_outputs + 1);
  gboolean ok;
  for (guint i = 0; i < node->n_inputs; i++)
    in[i] = node->inputs[i] ? node->inputs[i]->type.value : NULL;
  ok = axon_eval_node (node, in, out, error);
  for (guint i = 0; i < node->n_outputs; i++) {
    if (ok && out[i] != NULL && node->outputs[i] != NULL)
      axon_model_replace_value (model, node->outputs[i],
                                axon_model_add_constant (model, NULL, out[i]));
    g_clear_pointer (&out[i], axon_tensor_unref);
  }
  return ok;
}

static gboolean
fold_once (AxonModel *model, gboolean *changed, GError **error)
{
  *changed = FALSE;
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    if (!is_foldable (node))
      continue;
    if (!fold (model, node, error))
      return FALSE;
    axon_model_remove_node (model, node);
    i--;
    *changed = TRUE;
  }
  return TRUE;
}

gboolean
axon_pass_fold_constants (AxonModel *model, GError **error)
{
  gboolean changed = TRUE;
  while (changed)
    if (!axon_model_infer_shapes (model, error) || !axon_pass_remove_dead_code (model, error) ||
        !fold_once (model, &changed, error))
      return FALSE;
  return TRUE;
}
