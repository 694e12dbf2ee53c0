/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes a model of batch n out of one of batch 1: inputs grow, frames get a first step each, and
 * Reshape nodes that were exported with a fixed 1 in front take the batch from their input. */
#include "batch.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

static gboolean
feeds_frames (const AxonValue *value)
{
  for (guint i = 0; i < value->users->len; i++) {
    const AxonNode *user = g_ptr_array_index (value->users, i);
    if (!(user->op->flags & AXON_OP_ANY_INPUT_SIZE))
      return FALSE;
  }
  return value->users->len > 0;
}

/* Reshape (ONNX operator 5 and later): 0 copies the dimension of the input. */
static void
free_reshape (AxonModel *model, AxonNode *node)
{
  AxonValue *shape = axon_node_get_input (node, 1);
  const AxonShape *in = node->inputs[0] ? &node->inputs[0]->type.shape : NULL;
  g_autoptr (AxonTensor) copy = NULL;
  const gint64 *old;
  if (!axon_node_is (node, "Reshape") || !axon_value_is_constant (shape) || in == NULL ||
      in->rank < 1 || in->dims[0] != 1 || axon_node_get_int (node, "allowzero") != 0 ||
      axon_tensor_get_numel (shape->type.value) < 1)
    return;
  old = axon_tensor_get_data (shape->type.value);
  if (old[0] != 1)
    return;
  copy = axon_tensor_new_i64 (old, axon_tensor_get_numel (shape->type.value));
  ((gint64 *)axon_tensor_get_data (copy))[0] = 0;
  axon_node_set_input (node, 1, axon_model_add_constant (model, NULL, copy));
}

/* Item @k's own first step, on inputs of its own. */
static AxonValue *
add_frame_step (AxonModel *model, const AxonNode *first, guint k, guint n_inputs, guint *map)
{
  AxonValue *in[4], *out = axon_model_add_value (model, NULL);
  g_assert (first->n_inputs <= G_N_ELEMENTS (in));
  for (guint i = 0; i < first->n_inputs; i++) {
    AxonValue *old = first->inputs[i];
    g_autofree gchar *name = g_strdup_printf ("%s#%u", old->name, k);
    guint at;
    in[i] = axon_model_add_input (model, name, old->type.dtype, &old->type.shape);
    if (in[i] == NULL || !g_ptr_array_find (model->inputs, old, &at))
      return NULL;
    map[k * n_inputs + at] = model->inputs->len - 1;
  }
  axon_model_copy_node (model, first, in, &out);
  return out;
}

static gboolean
multiply_frames (AxonModel *model, AxonNode *first, guint n, guint n_inputs, guint *map,
                 GError **error)
{
  g_autofree AxonValue **parts = g_new0 (AxonValue *, n + 1);
  AxonValue *all = axon_model_add_value (model, NULL), *single = first->outputs[0];
  AxonNode *concat;
  for (guint k = 1; k < n; k++) {
    parts[k] = add_frame_step (model, first, k, n_inputs, map);
    if (parts[k] == NULL) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                   _ ("BATCH: the frames of \"%s\" cannot be multiplied"), first->name);
      return FALSE;
    }
  }
  axon_model_replace_value (model, single, all); /* also where it leaves the model */
  parts[0] = single;
  concat = axon_model_add_node (model, axon_builtin_op (NULL, "Concat", 13), 13, "axon.batch",
                                parts, n, &all, 1);
  axon_node_set_int (concat, "axis", 0);
  g_ptr_array_add (concat->origins, g_strdup (first->name));
  return TRUE;
}

static gboolean
fail_port (const gchar *what, const AxonValue *value, guint n, GError **error)
{
  g_autofree gchar *shape = axon_shape_to_string (&value->type.shape);
  g_set_error (
      error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
      _ ("BATCH: %s \"%s\" of shape %s does not follow a batch of %u: expected 1 picture as "
         "first dimension in and out"),
      what, value->name, shape, n);
  return FALSE;
}

static gboolean
check_inputs (AxonModel *model, guint n, GError **error)
{
  for (guint i = 0; i < model->inputs->len; i++) {
    const AxonValue *value = g_ptr_array_index (model->inputs, i);
    const AxonShape *s = &value->type.shape;
    if (!feeds_frames (value) && (s->rank < 1 || s->dims[0] != 1))
      return fail_port (_ ("input"), value, n, error);
  }
  return TRUE;
}

static gboolean
check_outputs (AxonModel *model, const AxonModel *before, guint n, GError **error)
{
  for (guint i = 0; i < model->outputs->len; i++) {
    const AxonValue *value = g_ptr_array_index (model->outputs, i);
    AxonShape expected = ((AxonValue *)g_ptr_array_index (before->outputs, i))->type.shape;
    if (expected.rank < 1 || expected.dims[0] != 1)
      return fail_port (_ ("output"), g_ptr_array_index (before->outputs, i), n, error);
    expected.dims[0] = n;
    if (!axon_shape_equal (&expected, &value->type.shape))
      return fail_port (_ ("output"), value, n, error);
  }
  return TRUE;
}

AxonModel *
batch_transform (AxonModel *model, guint n, guint *map, GError **error)
{
  g_autoptr (AxonModel) clone = axon_model_clone (model);
  guint n_inputs = model->inputs->len, n_nodes = model->nodes->len;
  g_autoptr (GError) problem = NULL;
  if (!check_inputs (clone, n, error))
    return NULL;
  for (guint k = 0; k < n; k++)
    for (guint i = 0; i < n_inputs; i++)
      map[k * n_inputs + i] = i;
  for (guint i = 0; i < n_nodes; i++)
    free_reshape (clone, g_ptr_array_index (clone->nodes, i));
  for (guint i = 0; i < n_nodes; i++) {
    AxonNode *node = g_ptr_array_index (clone->nodes, i);
    if (axon_node_is_in (node, AXON_DOMAIN_AXON, "ImageToTensor") &&
        !multiply_frames (clone, node, n, n_inputs, map, error))
      return NULL;
  }
  for (guint i = 0; i < n_inputs; i++) {
    AxonValue *value = g_ptr_array_index (clone->inputs, i);
    if (!feeds_frames (value))
      value->type.shape.dims[0] = n;
  }
  if (!axon_model_sort (clone, &problem) || !axon_model_infer_shapes (clone, &problem)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("BATCH: the model does not follow a batch of %u: %s"), n, problem->message);
    return NULL;
  }
  return check_outputs (clone, model, n, error) ? g_steal_pointer (&clone) : NULL;
}
