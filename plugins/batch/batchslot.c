/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames are handed on as they are, other inputs are copied side by side. */
#include "batchmodel-private.h"

#include <string.h>

void
batch_slot_free (gpointer data)
{
  BatchSlot *slot = data;
  g_object_unref (slot->inner);
  for (guint i = 0; i < slot->state->n_inputs; i++)
    g_clear_pointer (&slot->stacks[i], axon_tensor_unref);
  g_free (slot->stacks);
  g_free (slot->outers);
  g_free (slot);
}

/* Part @k of a tensor of n pictures. */
static guint8 *
part_of (AxonTensor *batch, guint k, guint n, gsize *n_bytes)
{
  *n_bytes = axon_tensor_get_n_bytes (batch) / n;
  return (guint8 *)axon_tensor_get_data (batch) + k * *n_bytes;
}

gboolean
batch_is_stacked (const BatchState *state, guint input)
{
  return state->n > 1 && state->map[state->n_inputs + input] == input;
}

/* Input @i of a batch of pictures like @item; places that stay empty are 0. */
static AxonTensor *
stack_for (BatchState *state, BatchSlot *slot, guint i, AxonTensor *item, GError **error)
{
  AxonShape shape = *axon_tensor_get_shape (item);
  shape.dims[0] = state->n;
  if (slot->stacks[i] != NULL && axon_shape_equal (axon_tensor_get_shape (slot->stacks[i]), &shape))
    return slot->stacks[i];
  g_clear_pointer (&slot->stacks[i], axon_tensor_unref);
  slot->stacks[i] =
      axon_compiled_model_new_tensor (state->many, axon_tensor_get_dtype (item), &shape, error);
  if (slot->stacks[i] != NULL)
    memset (axon_tensor_get_data (slot->stacks[i]), 0, axon_tensor_get_n_bytes (slot->stacks[i]));
  return slot->stacks[i];
}

/* Items that are missing from a partial batch see those of item 0 again. */
static gboolean
bind_item (BatchState *state, BatchSlot *slot, guint k, GError **error)
{
  AxonInferRequest *outer = slot->outers[k < slot->n_outers ? k : 0];
  for (guint i = 0; i < state->n_inputs; i++) {
    AxonTensor *from = axon_infer_request_peek_input (outer, i);
    guint at = state->map[k * state->n_inputs + i];
    gboolean stacked = batch_is_stacked (state, i);
    if (stacked && k < slot->n_outers) {
      AxonTensor *to = stack_for (state, slot, i, from, error);
      gsize n_bytes;
      guint8 *part = to ? part_of (to, k, state->n, &n_bytes) : NULL;
      if (to == NULL ||
          (k == 0 && !axon_infer_request_set_input_tensor (slot->inner, at, to, error)))
        return FALSE;
      memcpy (part, axon_tensor_get_data (from), n_bytes);
    } else if (!stacked && !axon_infer_request_set_input_tensor (slot->inner, at, from, error)) {
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
batch_slot_bind (BatchSlot *slot, GError **error)
{
  BatchState *state = slot->state;
  if (slot->single)
    return axon_infer_request_forward (slot->outers[0], slot->inner, error);
  for (guint k = 0; k < state->n; k++)
    if (!bind_item (state, slot, k, error))
      return FALSE;
  return TRUE;
}

gboolean
batch_slot_unpack (BatchSlot *slot, guint k, GError **error)
{
  BatchState *state = slot->state;
  for (guint i = 0; i < state->n_outputs; i++) {
    AxonTensor *from = axon_infer_request_peek_output (slot->inner, i), *to;
    AxonShape shape = *axon_tensor_get_shape (from);
    gsize n_bytes;
    guint8 *part = part_of (from, k, state->n, &n_bytes);
    shape.dims[0] = 1;
    to = axon_infer_request_prepare_output (slot->outers[k], i, &shape, error);
    if (to == NULL)
      return FALSE;
    memcpy (axon_tensor_get_data (to), part, n_bytes);
  }
  return TRUE;
}

gboolean
batch_is_alike (const BatchState *state, AxonInferRequest *a, AxonInferRequest *b)
{
  for (guint i = 0; state->has_shapes && i < state->n_inputs; i++)
    if (batch_is_stacked (state, i) &&
        !axon_shape_equal (axon_tensor_get_shape (axon_infer_request_peek_input (a, i)),
                           axon_tensor_get_shape (axon_infer_request_peek_input (b, i))))
      return FALSE;
  return TRUE;
}
