/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model of one node that stands for one on a server: what there is to say of it without a file.
 */
#include "remoteserver.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#define DOMAIN "axon.remote"

/* Types and shapes are written into the node; a batch that is free follows input 0. */
static gboolean
infer_standin (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  guint n_types, n_dims, at = 0;
  const gint64 *types = axon_node_get_ints (node, "types", &n_types);
  const gint64 *dims = axon_node_get_ints (node, "shapes", &n_dims);
  gint64 batch = node->n_inputs > 0 && in[0].shape.rank > 0 ? in[0].shape.dims[0] : -1;
  for (guint i = 0; i < node->n_outputs; i++) {
    gint64 rank = at < n_dims ? dims[at++] : -1;
    if (i >= n_types || rank < 0 || rank > AXON_MAX_RANK || at + (guint)rank > n_dims) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                   _ ("attributes types and shapes do not describe output %u"), i);
      return FALSE;
    }
    out[i].dtype = (AxonDType)types[i];
    out[i].shape.rank = (gint)rank;
    for (gint k = 0; k < rank; k++)
      out[i].shape.dims[k] = dims[at++];
    if (rank > 0 && out[i].shape.dims[0] < 0)
      out[i].shape.dims[0] = batch;
  }
  return TRUE;
}

static const AxonAttrSpec standin_attrs[] = {
  { .name = "types", .type = AXON_ATTR_INTS, .required = TRUE },
  { .name = "shapes", .type = AXON_ATTR_INTS, .required = TRUE }, /* rank, dimensions, rank ... */
  { .name = NULL },
};

const AxonOp remote_ops[] = {
  { .name = "Model",
    .domain = DOMAIN,
    .since = 1,
    .inputs = { 0, AXON_VARIADIC },
    .outputs = { 1, AXON_VARIADIC },
    .attrs = standin_attrs,
    .infer = infer_standin },
};

static void
describe_outputs (AxonNode *node, const GPtrArray *outputs)
{
  g_autoptr (GArray) types = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (gint64));
  for (guint i = 0; i < outputs->len; i++) {
    const RemotePort *port = outputs->pdata[i];
    gint64 type = port->dtype, rank = port->shape.rank;
    g_array_append_val (types, type);
    g_array_append_val (shapes, rank);
    g_array_append_vals (shapes, port->shape.dims, (guint)rank);
  }
  axon_node_set_ints (node, "types", (const gint64 *)types->data, types->len);
  axon_node_set_ints (node, "shapes", (const gint64 *)shapes->data, shapes->len);
}

AxonModel *
remote_server_make_model (const RemoteServer *server, const gchar *url, GError **error)
{
  g_autoptr (AxonModel) model = axon_model_new (server->model);
  g_autoptr (GPtrArray) in = g_ptr_array_new (), out = g_ptr_array_new ();
  AxonNode *node;
  if (server->inputs->len == 0 || server->outputs->len == 0) {
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_MODEL,
        _ ("device REMOTE: %s: %s does not list the inputs and outputs of model \"%s\": give "
           "the model's file, too"),
        url, server->name, server->model);
    return NULL;
  }
  for (guint i = 0; i < server->inputs->len; i++) {
    const RemotePort *port = server->inputs->pdata[i];
    g_ptr_array_add (in, axon_model_add_input (model, port->name, port->dtype, &port->shape));
  }
  for (guint i = 0; i < server->outputs->len; i++)
    g_ptr_array_add (out,
                     axon_model_add_value (model, ((RemotePort *)server->outputs->pdata[i])->name));
  if (g_ptr_array_find (in, NULL, NULL) || g_ptr_array_find (out, NULL, NULL)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                 _ ("device REMOTE: %s: two ports of model \"%s\" have one name"), url,
                 server->model);
    return NULL;
  }
  node = axon_model_add_node (model, &remote_ops[0], 1, server->model, (AxonValue **)in->pdata,
                              in->len, (AxonValue **)out->pdata, out->len);
  g_ptr_array_add (node->origins, g_strdup (node->name));
  describe_outputs (node, server->outputs);
  for (guint i = 0; i < out->len; i++)
    axon_model_add_output (model, out->pdata[i]);
  return axon_model_infer_shapes (model, error) ? g_steal_pointer (&model) : NULL;
}
