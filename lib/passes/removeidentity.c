/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nodes that do nothing at inference: Identity, Dropout, Cast to the same type, Reshape and
 * Transpose that change nothing, Clip without bounds, Concat and Sum of one. */
#include <axon/plugin/axonpass.h>

static gboolean
keeps_order (const AxonNode *node)
{
  guint n;
  const gint64 *perm = axon_node_get_ints (node, "perm", &n);
  for (guint i = 0; perm != NULL && i < n; i++)
    if (perm[i] != i)
      return FALSE;
  return perm != NULL;
}

/* Whether it drops is an input of newer versions. */
static gboolean
drops (const AxonNode *dropout)
{
  const AxonValue *training = axon_node_get_input (dropout, 2);
  return training != NULL && (!axon_value_is_constant (training) ||
                              axon_tensor_get_value (training->type.value, 0) != 0);
}

static gboolean
is_identity (const AxonNode *node)
{
  const AxonTypeInfo *in, *out;
  if (node->n_inputs == 0 || node->inputs[0] == NULL || node->outputs[0] == NULL)
    return FALSE;
  in = &node->inputs[0]->type;
  out = &node->outputs[0]->type;
  if (axon_node_is (node, "Identity"))
    return TRUE;
  if (axon_node_is (node, "Dropout"))
    return !drops (node) && (node->n_outputs < 2 || node->outputs[1] == NULL ||
                             (node->outputs[1]->users->len == 0 && !node->outputs[1]->is_output));
  if (axon_node_is (node, "Cast"))
    return in->dtype == out->dtype;
  if (axon_node_is (node, "Transpose"))
    return keeps_order (node);
  if (node->op->flags & AXON_OP_VIEW)
    return axon_shape_is_static (&in->shape) && axon_shape_equal (&in->shape, &out->shape);
  return node->n_inputs == 1 && (axon_node_is (node, "Concat") || axon_node_is (node, "Sum"));
}

gboolean
axon_pass_remove_identity (AxonModel *model, G_GNUC_UNUSED GError **error)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    AxonValue *in;
    if (!is_identity (node))
      continue;
    in = node->inputs[0];
    /* An input or a constant cannot become the output itself: its name is taken. */
    if (node->outputs[0]->is_output && (in->producer == NULL || in->is_output))
      continue;
    axon_bypass_node (model, node, in->producer);
    i--;
  }
  return TRUE;
}
