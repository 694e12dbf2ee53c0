/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "remotefront.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#define FRONT "CPU"
#define BEHIND "REMOTE"

void
remote_view_free (RemoteView *view)
{
  g_ptr_array_unref (view->inputs);
  g_ptr_array_unref (view->outputs);
  g_array_unref (view->sources);
  g_array_unref (view->front_inputs);
  g_clear_object (&view->front);
  g_free (view);
}

static gboolean
is_picture_step (const AxonNode *node)
{
  return axon_node_is_in (node, AXON_DOMAIN_AXON, "ImageToTensor");
}

static gboolean
is_front (const AxonValue *value)
{
  return value->producer != NULL && g_strcmp0 (value->producer->affinity, FRONT) == 0;
}

/* Picture steps, and where BATCH puts several into one tensor. */
static guint
mark_front (AxonModel *model)
{
  guint n = 0;
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    gboolean front = is_picture_step (node);
    if (axon_node_is (node, "Concat")) {
      front = TRUE;
      for (guint k = 0; k < node->n_inputs; k++)
        front = front && node->inputs[k] != NULL && is_front (node->inputs[k]);
    }
    axon_node_set_affinity (node, front ? FRONT : BEHIND);
    n += front;
  }
  return n;
}

/* TRUE if the server's part of the model uses it. */
static gboolean
goes_on (const AxonValue *value)
{
  for (guint i = 0; i < value->users->len; i++)
    if (g_strcmp0 (((AxonNode *)value->users->pdata[i])->affinity, FRONT) != 0)
      return TRUE;
  return value->users->len == 0;
}

/* The name that a tensor of the front has in the model's file. */
static const gchar *
name_in_file (const AxonValue *value)
{
  const AxonNode *node = value->producer;
  const gchar *name;
  while (!is_picture_step (node))
    node = node->inputs[0]->producer;
  name = node->info ? g_hash_table_lookup (node->info, AXON_INFO_PICTURE_INPUT) : NULL;
  return name ? name : value->name;
}

static void
add_input (RemoteView *view, const gchar *name, const AxonValue *value, gboolean from_front,
           guint index)
{
  RemoteSource source = { from_front, index };
  g_ptr_array_add (view->inputs, remote_port_new (name, value->type.dtype, &value->type.shape));
  g_array_append_val (view->sources, source);
}

static gboolean
cut_front (RemoteView *view, AxonModel *marked, GError **error)
{
  g_autoptr (GPtrArray) parts = axon_partition (marked, error);
  const AxonPart *part = parts && parts->len > 0 ? parts->pdata[0] : NULL;
  if (part == NULL)
    return FALSE;
  view->front = g_object_ref (part->model);
  for (guint i = 0; i < part->model->inputs->len; i++) {
    const AxonValue *value = part->model->inputs->pdata[i];
    guint at = 0;
    while (at < marked->inputs->len &&
           !g_str_equal (((AxonValue *)marked->inputs->pdata[at])->name, value->name))
      at++;
    g_array_append_val (view->front_inputs, at);
  }
  for (guint i = 0; i < part->model->outputs->len; i++) {
    const AxonValue *mine = part->model->outputs->pdata[i];
    const AxonValue *value = axon_model_find_value (marked, mine->name);
    add_input (view, name_in_file (value), value, TRUE, i);
  }
  return TRUE;
}

RemoteView *
remote_view_new (AxonModel *model, GError **error)
{
  g_autoptr (RemoteView) view = g_new0 (RemoteView, 1);
  g_autoptr (AxonModel) marked = axon_model_clone (model);
  guint n_front = mark_front (marked);
  view->inputs = g_ptr_array_new_with_free_func (remote_port_free);
  view->outputs = g_ptr_array_new_with_free_func (remote_port_free);
  view->sources = g_array_new (FALSE, FALSE, sizeof (RemoteSource));
  view->front_inputs = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < marked->inputs->len; i++) {
    const AxonValue *value = marked->inputs->pdata[i];
    if (goes_on (value))
      add_input (view, value->name, value, FALSE, i);
  }
  for (guint i = 0; i < marked->outputs->len; i++) {
    const AxonValue *value = marked->outputs->pdata[i];
    g_ptr_array_add (view->outputs,
                     remote_port_new (value->name, value->type.dtype, &value->type.shape));
  }
  if (n_front > 0 && n_front == marked->nodes->len) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("device REMOTE: the model is nothing but steps that make tensors of pictures: "
                    "they run on %s"),
                 FRONT);
    return NULL;
  }
  if (n_front > 0 && !cut_front (view, marked, error))
    return NULL;
  for (guint i = 0; i < view->inputs->len; i++) {
    const RemotePort *port = view->inputs->pdata[i];
    if (remote_dtype_name (port->dtype) == NULL) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                   _ ("device REMOTE: input \"%s\": the protocol has no tensors of %s"), port->name,
                   axon_dtype_get_name (port->dtype));
      return NULL;
    }
  }
  return g_steal_pointer (&view);
}
