/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DequantizeLinear of constants that no quantised kernel took: float weights after all. */
#include <axon/plugin/axoneval.h>
#include <axon/plugin/axonpass.h>

gboolean
axon_pass_fold_dequantized (AxonModel *model, GError **error)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    AxonTensor *in[3] = { NULL }, *out = NULL;
    gboolean constant = axon_node_is (node, "DequantizeLinear") && !node->outputs[0]->is_output;
    for (guint k = 0; constant && k < node->n_inputs; k++) {
      in[k] = node->inputs[k] ? node->inputs[k]->type.value : NULL;
      constant = node->inputs[k] == NULL || in[k] != NULL;
    }
    if (!constant)
      continue;
    if (!axon_eval_node (node, in, &out, error))
      return FALSE;
    axon_model_replace_value (model, node->outputs[0], axon_model_add_constant (model, NULL, out));
    axon_tensor_unref (out);
    axon_model_remove_node (model, node);
    i--;
  }
  return TRUE;
}
