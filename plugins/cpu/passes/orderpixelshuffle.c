/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DepthToSpace of mode CRD (the pixel shuffle of Shi et al., arXiv:1609.05158) behind a
 * convolution: of which the channels come in the order of mode DCR, so that those of a pixel of the
 * result lie side by side where channels are last. */
#include "cpupasses.h"

#include <string.h>

static gboolean
is_float_constant (const AxonValue *value)
{
  return axon_value_is_constant (value) && value->type.dtype == AXON_DTYPE_F32;
}

/* The convolution whose channels @node is alone to use, if they may change places. */
static AxonNode *
match (const AxonNode *node)
{
  AxonNode *conv;
  if (!axon_node_is (node, "DepthToSpace") ||
      !g_str_equal (axon_node_get_string (node, "mode"), "CRD"))
    return NULL;
  conv = axon_match_input (node, 0, "Conv");
  if (conv == NULL || axon_match_only_user (conv->outputs[0], "DepthToSpace") != node ||
      conv->n_inputs > 3 || axon_node_get_int (conv, "group") != 1 ||
      !is_float_constant (conv->inputs[1]) ||
      (axon_node_get_input (conv, 2) != NULL && !is_float_constant (conv->inputs[2])))
    return NULL;
  return conv;
}

/* Input @index of @conv, whose first dimension is of the channels of @blocks pixels each. */
static gboolean
order (AxonModel *model, AxonNode *conv, guint index, gsize blocks, GError **error)
{
  const AxonTensor *from = conv->inputs[index]->type.value;
  const AxonShape *shape = axon_tensor_get_shape (from);
  gsize channels = (gsize)shape->dims[0] / blocks;
  gsize bytes = axon_tensor_get_numel (from) * sizeof (gfloat) / (gsize)shape->dims[0];
  g_autoptr (AxonTensor) to = axon_tensor_new (AXON_DTYPE_F32, shape, error);
  const guint8 *x = axon_tensor_get_data (from);
  guint8 *y;
  if (to == NULL)
    return FALSE;
  y = axon_tensor_get_data (to);
  for (gsize b = 0; b < blocks; b++)
    for (gsize c = 0; c < channels; c++, y += bytes)
      memcpy (y, x + (c * blocks + b) * bytes, bytes);
  axon_node_set_input (conv, index, axon_model_add_constant (model, NULL, to));
  return TRUE;
}

gboolean
cpu_pass_order_pixel_shuffle (AxonModel *model, GError **error)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = model->nodes->pdata[i], *conv = match (node);
    gint64 side;
    if (conv == NULL || conv->inputs[1]->type.shape.dims[0] < 1)
      continue;
    side = axon_node_get_int (node, "blocksize");
    if (!order (model, conv, 1, (gsize)(side * side), error) ||
        (axon_node_get_input (conv, 2) != NULL &&
         !order (model, conv, 2, (gsize)(side * side), error)))
      return FALSE;
    axon_node_set_string (node, "mode", "DCR");
  }
  return TRUE;
}
