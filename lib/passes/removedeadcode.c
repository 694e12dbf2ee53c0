/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drops nodes whose results nobody uses, then values nobody knows. */
#include <axon/plugin/axonpass.h>

static gboolean
is_dead (const AxonNode *node)
{
  for (guint i = 0; i < node->n_outputs; i++)
    if (node->outputs[i] != NULL &&
        (node->outputs[i]->is_output || node->outputs[i]->users->len > 0))
      return FALSE;
  return TRUE;
}

gboolean
axon_pass_remove_dead_code (AxonModel *model, G_GNUC_UNUSED GError **error)
{
  for (guint i = model->nodes->len; i-- > 0;)
    if (is_dead (g_ptr_array_index (model->nodes, i)))
      axon_model_remove_node (model, g_ptr_array_index (model->nodes, i));
  axon_model_prune (model);
  return TRUE;
}
