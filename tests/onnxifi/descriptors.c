/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ONNXIFI vendor library as a client sees it: descriptors of tensors and weights. */
#include "onnxifitest.h"

#include <string.h>

/* What a descriptor may be wrong in, and what is said then. */
static const struct {
  const gchar *what;
  onnxStatus of_io, of_weights;
} wrongs[] = {
  { "tag", ONNXIFI_STATUS_UNSUPPORTED_TAG, ONNXIFI_STATUS_INVALID_POINTER },
  { "name", ONNXIFI_STATUS_INVALID_NAME, ONNXIFI_STATUS_INVALID_MODEL },
  { "no name", ONNXIFI_STATUS_INVALID_NAME, ONNXIFI_STATUS_INVALID_MODEL },
  { "unknown type", ONNXIFI_STATUS_INVALID_DATATYPE, ONNXIFI_STATUS_INVALID_DATATYPE },
  { "type", ONNXIFI_STATUS_MISMATCHING_DATATYPE, ONNXIFI_STATUS_MISMATCHING_DATATYPE },
  { "unknown memory", ONNXIFI_STATUS_INVALID_MEMORY_TYPE, ONNXIFI_STATUS_INVALID_MEMORY_TYPE },
  { "memory", ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE, ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE },
  { "no buffer", ONNXIFI_STATUS_INVALID_MEMORY_LOCATION, ONNXIFI_STATUS_INVALID_MEMORY_LOCATION },
  { "no shape", ONNXIFI_STATUS_INVALID_POINTER, ONNXIFI_STATUS_INVALID_POINTER },
  { "empty", ONNXIFI_STATUS_INVALID_SHAPE, ONNXIFI_STATUS_INVALID_SHAPE },
  { "shape", ONNXIFI_STATUS_MISMATCHING_SHAPE, ONNXIFI_STATUS_MISMATCHING_SHAPE },
  { "rank", ONNXIFI_STATUS_UNSUPPORTED_SHAPE, ONNXIFI_STATUS_UNSUPPORTED_SHAPE },
  { "huge", ONNXIFI_STATUS_UNSUPPORTED_SHAPE, ONNXIFI_STATUS_UNSUPPORTED_SHAPE },
};

static void
spoil (onnxTensorDescriptorV1 *d, const gchar *what)
{
  static const guint64 empty[] = { 0, 4 }, other[] = { 7, 4 }, huge[] = { G_MAXUINT64, 4 };
  if (g_str_equal (what, "tag"))
    d->tag = 5;
  else if (g_str_equal (what, "name"))
    d->name = "nobody";
  else if (g_str_equal (what, "no name"))
    d->name = NULL;
  else if (g_str_equal (what, "unknown type"))
    d->dataType = 77;
  else if (g_str_equal (what, "type"))
    d->dataType = ONNXIFI_DATATYPE_INT32;
  else if (g_str_equal (what, "unknown memory"))
    d->memoryType = 3;
  else if (g_str_equal (what, "memory"))
    d->memoryType = ONNXIFI_MEMORY_TYPE_CUDA_BUFFER;
  else if (g_str_equal (what, "no buffer"))
    d->buffer = 0;
  else if (g_str_equal (what, "rank"))
    d->dimensions = 1000;
  else
    d->shape = g_str_equal (what, "no shape") ? NULL
               : g_str_equal (what, "empty")  ? empty
               : g_str_equal (what, "shape")  ? other
                                              : huge;
}

static void
a_wrong_descriptor_of_a_tensor_is_named_by_its_status (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) bytes = relu_bytes (&c, 4);
  onnxGraph graph = client_graph (&c, bytes);
  gfloat x[4] = { 0 }, y[4];
  const guint64 shape[] = { 1, 4 };
  const onnxTensorDescriptorV1 in = tensor_f32 (c.input, 2, shape, x);
  const onnxTensorDescriptorV1 out = tensor_f32 (c.output, 2, shape, y);
  for (guint i = 0; i < G_N_ELEMENTS (wrongs); i++) {
    onnxTensorDescriptorV1 a = in, b = out;
    g_test_message ("%s", wrongs[i].what);
    spoil (&a, wrongs[i].what);
    spoil (&b, wrongs[i].what);
    g_assert_cmpint (onnxSetGraphIO (graph, 1, &a, 1, &out), ==, wrongs[i].of_io);
    g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &b), ==, wrongs[i].of_io);
  }
  g_assert_cmpint (onnxSetGraphIO (graph, 1, NULL, 1, &out), ==, ONNXIFI_STATUS_INVALID_POINTER);
  g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, NULL), ==, ONNXIFI_STATUS_INVALID_POINTER);
  g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 0, &out), ==, ONNXIFI_STATUS_INVALID_POINTER);
  g_assert_cmpint (onnxSetGraphIO (graph, 0, &in, 1, &out), ==, ONNXIFI_STATUS_UNIDENTIFIED_NAME);
  const onnxTensorDescriptorV1 twice[] = { in, in };
  g_assert_cmpint (onnxSetGraphIO (graph, 2, twice, 1, &out), ==, ONNXIFI_STATUS_INVALID_NAME);
  g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==, ONNXIFI_STATUS_SUCCESS);
  onnxReleaseGraph (graph);
  client_clear (&c);
}

static void
weights_by_descriptor_give_what_initializers_give (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) within = product_bytes (&c, AXON_WRITE_DEFAULT);
  g_autoptr (GBytes) beside =
      product_bytes (&c, AXON_WRITE_WEIGHTS_AS_INPUTS | AXON_WRITE_WITHOUT_WEIGHTS);
  const guint64 x_shape[] = { 1, 4 }, w_shape[] = { 4, 3 }, y_shape[] = { 1, 3 };
  gfloat *weights = g_memdup2 (c.weights, 12 * sizeof (gfloat));
  gfloat x[4] = { 1, -2, 3, 0.5f }, y[2][3];
  onnxTensorDescriptorV1 w = tensor_f32 (c.weight, 2, w_shape, weights);
  onnxTensorDescriptorV1 in = tensor_f32 (c.input, 2, x_shape, x);
  for (guint i = 0; i < 2; i++) {
    onnxTensorDescriptorV1 out = tensor_f32 (c.output, 2, y_shape, y[i]);
    gsize n;
    gconstpointer data = g_bytes_get_data (i ? beside : within, &n);
    g_autofree gpointer copy = g_memdup2 (data, n);
    onnxGraph graph;
    onnxStatus status = onnxInitGraph (c.backend, NULL, n, copy, i, i ? &w : NULL, &graph);
    g_assert_cmpint (status, ==, ONNXIFI_STATUS_SUCCESS);
    memset (copy, 0xff, n); /* both are the client's again */
    if (i)
      memset (weights, 0xff, 12 * sizeof (gfloat));
    g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==, ONNXIFI_STATUS_SUCCESS);
    memset (&out, 0xff, sizeof out);
    client_run (&c, graph);
    onnxReleaseGraph (graph);
  }
  g_assert_cmpmem (y[0], sizeof y[0], y[1], sizeof y[1]);
  g_free (weights);
  client_clear (&c);
}

static void
wrong_weights_are_named_by_their_status (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) within = product_bytes (&c, AXON_WRITE_WEIGHTS_AS_INPUTS);
  g_autoptr (GBytes) beside =
      product_bytes (&c, AXON_WRITE_WEIGHTS_AS_INPUTS | AXON_WRITE_WITHOUT_WEIGHTS);
  const guint64 shape[] = { 4, 3 };
  const onnxTensorDescriptorV1 w = tensor_f32 (c.weight, 2, shape, c.weights);
  const onnxTensorDescriptorV1 twice[] = { w, w };
  gsize n, m;
  gconstpointer data = g_bytes_get_data (beside, &n), both = g_bytes_get_data (within, &m);
  for (guint i = 0; i < G_N_ELEMENTS (wrongs); i++) {
    onnxTensorDescriptorV1 bad = w;
    onnxGraph graph = &c;
    g_test_message ("%s", wrongs[i].what);
    spoil (&bad, wrongs[i].what);
    g_assert_cmpint (onnxInitGraph (c.backend, NULL, n, data, 1, &bad, &graph), ==,
                     wrongs[i].of_weights);
    g_assert_null (graph);
  }
  onnxGraph graph = &c;
  g_assert_cmpint (onnxInitGraph (c.backend, NULL, n, data, 1, NULL, &graph), ==,
                   ONNXIFI_STATUS_INVALID_POINTER);
  g_assert_null (graph);
  g_assert_cmpint (onnxInitGraph (c.backend, NULL, n, data, 2, twice, &graph), ==,
                   ONNXIFI_STATUS_INVALID_MODEL);
  g_assert_cmpint (onnxInitGraph (c.backend, NULL, m, both, 1, &w, &graph), ==,
                   ONNXIFI_STATUS_INVALID_MODEL);
  g_assert_null (graph);
  client_clear (&c);
}

#define ADD(test) g_test_add_func ("/descriptors/" #test, test)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (a_wrong_descriptor_of_a_tensor_is_named_by_its_status);
  ADD (weights_by_descriptor_give_what_initializers_give);
  ADD (wrong_weights_are_named_by_their_status);
  return g_test_run ();
}
