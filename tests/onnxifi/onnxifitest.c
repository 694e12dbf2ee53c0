/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "onnxifitest.h"

Client
client_new (void)
{
  Client c = { .input = "x", .output = "y", .weight = "w" };
  g_assert_cmpint (onnxGetBackendIDs (NULL, &c.n_ids), ==, ONNXIFI_STATUS_FALLBACK);
  g_assert_cmpuint (c.n_ids, >, 0);
  c.ids = g_new0 (onnxBackendID, c.n_ids);
  g_assert_cmpint (onnxGetBackendIDs (c.ids, &c.n_ids), ==, ONNXIFI_STATUS_SUCCESS);
  c.id = c.ids[0];
  g_assert_cmpint (onnxInitBackend (c.id, NULL, &c.backend), ==, ONNXIFI_STATUS_SUCCESS);
  for (guint i = 0; i < 12; i++)
    c.weights[i] = (gfloat)i * 0.25f - 1;
  return c;
}

void
client_clear (Client *c)
{
  g_assert_cmpint (onnxReleaseBackend (c->backend), ==, ONNXIFI_STATUS_SUCCESS);
  for (size_t i = 0; i < c->n_ids; i++)
    g_assert_cmpint (onnxReleaseBackendID (c->ids[i]), ==, ONNXIFI_STATUS_SUCCESS);
  g_free (c->ids);
}

onnxGraph
client_graph (Client *c, GBytes *model)
{
  gsize n;
  gconstpointer data = g_bytes_get_data (model, &n);
  onnxGraph graph = NULL;
  onnxStatus status = onnxInitGraph (c->backend, NULL, n, data, 0, NULL, &graph);
  g_assert_cmpint (status, ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_nonnull (graph);
  return graph;
}

onnxMemoryFenceV1
client_fence (G_GNUC_UNUSED const Client *c)
{
  return (onnxMemoryFenceV1){ .tag = ONNXIFI_TAG_MEMORY_FENCE_V1,
                              .type = ONNXIFI_SYNCHRONIZATION_EVENT };
}

onnxStatus
client_try_run (Client *c, onnxGraph graph)
{
  onnxMemoryFenceV1 before = client_fence (c), after = before;
  onnxStatus status;
  g_assert_cmpint (onnxInitEvent (c->backend, &before.event), ==, ONNXIFI_STATUS_SUCCESS);
  status = onnxRunGraph (graph, &before, &after);
  if (status == ONNXIFI_STATUS_SUCCESS) {
    g_assert_cmpint (onnxSignalEvent (before.event), ==, ONNXIFI_STATUS_SUCCESS);
    g_assert_cmpint (onnxWaitEvent (after.event), ==, ONNXIFI_STATUS_SUCCESS);
    g_assert_cmpint (onnxReleaseEvent (after.event), ==, ONNXIFI_STATUS_SUCCESS);
  }
  g_assert_cmpint (onnxReleaseEvent (before.event), ==, ONNXIFI_STATUS_SUCCESS);
  return status;
}

void
client_run (Client *c, onnxGraph graph)
{
  g_assert_cmpint (client_try_run (c, graph), ==, ONNXIFI_STATUS_SUCCESS);
}

onnxTensorDescriptorV1
tensor_f32 (const gchar *name, guint32 dimensions, const guint64 *shape, gpointer buffer)
{
  return (onnxTensorDescriptorV1){ .tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1,
                                   .name = name,
                                   .dataType = ONNXIFI_DATATYPE_FLOAT32,
                                   .memoryType = ONNXIFI_MEMORY_TYPE_CPU,
                                   .dimensions = dimensions,
                                   .shape = (const uint64_t *)shape,
                                   .buffer = (onnxPointer)GPOINTER_TO_SIZE (buffer) };
}

static GBytes *
finish (Client *c, TestModel *t, AxonNode *last, AxonWriteFlags flags)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = test_model_finish (t, last->outputs[0]);
  GBytes *bytes = axon_core_write_model_to_bytes (axon_core_get_default (), model, flags, &error);
  g_assert_no_error (error);
  c->output = g_intern_string (last->outputs[0]->name);
  return bytes;
}

GBytes *
relu_bytes (Client *c, gint64 width)
{
  const AxonShape shape = AXON_SHAPE (1, width);
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  return finish (c, &t, test_model_node (&t, "Relu", 1, x), AXON_WRITE_DEFAULT);
}

GBytes *
product_bytes (Client *c, AxonWriteFlags flags)
{
  const AxonShape x_shape = AXON_SHAPE (1, 4), w_shape = AXON_SHAPE (4, 3);
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &x_shape);
  AxonValue *w = test_model_constant (&t, &w_shape, c->weights);
  c->weight = g_intern_string (w->name);
  return finish (c, &t, test_model_node (&t, "MatMul", 2, x, w), flags);
}

GBytes *
is_negative_bytes (Client *c)
{
  const AxonShape scalar = { 0 };
  const gfloat zero = 0;
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &scalar);
  AxonNode *n = test_model_node (&t, "Less", 2, x, test_model_constant (&t, &scalar, &zero));
  return finish (c, &t, n, AXON_WRITE_DEFAULT);
}
