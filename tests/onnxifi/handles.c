/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ONNXIFI vendor library as a client sees it: IDs, infos, backends, events, models. */
#include "onnxifitest.h"

#include <string.h>

static void
counts_of_ids_follow_the_protocol (void)
{
  size_t n = 0, less;
  onnxBackendID ids[64], again[64];
  g_assert_cmpint (onnxGetBackendIDs (ids, NULL), ==, ONNXIFI_STATUS_INVALID_POINTER);
  g_assert_cmpint (onnxGetBackendIDs (NULL, &n), ==, ONNXIFI_STATUS_FALLBACK);
  g_assert_cmpuint (n, >, 0);
  less = n - 1;
  g_assert_cmpint (onnxGetBackendIDs (ids, &less), ==, ONNXIFI_STATUS_FALLBACK);
  g_assert_cmpuint (less, ==, n);
  n = G_N_ELEMENTS (ids);
  g_assert_cmpint (onnxGetBackendIDs (ids, &n), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpuint (n, ==, less);
  g_assert_cmpint (onnxGetBackendIDs (again, &n), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpmem (ids, n * sizeof *ids, again, n * sizeof *again);
  for (guint times = 0; times < 2; times++)
    for (size_t i = 0; i < n; i++)
      g_assert_cmpint (onnxReleaseBackendID (ids[i]), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxReleaseBackendID (ids[0]), ==, ONNXIFI_STATUS_INVALID_ID);
  g_assert_cmpint (onnxGetBackendInfo (ids[0], ONNXIFI_BACKEND_NAME, NULL, &n), ==,
                   ONNXIFI_STATUS_INVALID_ID);
}

typedef enum { TEXT, NUMBER } Kind;

static const struct {
  onnxBackendInfo type;
  Kind kind;
} infos[] = {
  { ONNXIFI_BACKEND_ONNXIFI_VERSION, NUMBER },
  { ONNXIFI_BACKEND_NAME, TEXT },
  { ONNXIFI_BACKEND_VENDOR, TEXT },
  { ONNXIFI_BACKEND_VERSION, TEXT },
  { ONNXIFI_BACKEND_EXTENSIONS, TEXT },
  { ONNXIFI_BACKEND_DEVICE, TEXT },
  { ONNXIFI_BACKEND_DEVICE_TYPE, NUMBER },
  { ONNXIFI_BACKEND_ONNX_IR_VERSION, TEXT },
  { ONNXIFI_BACKEND_OPSET_VERSION, TEXT },
  { ONNXIFI_BACKEND_CAPABILITIES, NUMBER },
  { ONNXIFI_BACKEND_INIT_PROPERTIES, NUMBER },
  { ONNXIFI_BACKEND_MEMORY_TYPES, NUMBER },
  { ONNXIFI_BACKEND_GRAPH_INIT_PROPERTIES, NUMBER },
  { ONNXIFI_BACKEND_SYNCHRONIZATION_TYPES, NUMBER },
  { ONNXIFI_BACKEND_MEMORY_SIZE, NUMBER },
  { ONNXIFI_BACKEND_MAX_GRAPH_SIZE, NUMBER },
  { ONNXIFI_BACKEND_MAX_GRAPH_COUNT, NUMBER },
};

static void
every_required_info_has_its_encoding (void)
{
  Client c = client_new ();
  for (guint i = 0; i < G_N_ELEMENTS (infos); i++) {
    gchar buffer[4096];
    size_t n = 12345, size = sizeof buffer;
    memset (buffer, 0x7f, sizeof buffer);
    g_assert_cmpint (onnxGetBackendInfo (c.id, infos[i].type, NULL, &n), ==,
                     ONNXIFI_STATUS_FALLBACK);
    g_assert_cmpuint (n, <, sizeof buffer);
    g_assert_cmpint (onnxGetBackendInfo (c.id, infos[i].type, buffer, &size), ==,
                     ONNXIFI_STATUS_SUCCESS);
    g_assert_cmpuint (size, ==, n);
    g_assert_cmpint (buffer[n], ==, 0x7f);
    if (infos[i].kind == NUMBER)
      g_assert_cmpuint (n, ==, 8);
    else
      g_assert_true (n > 0 && g_utf8_validate (buffer, (gssize)n, NULL));
    size = n - 1;
    g_assert_cmpint (onnxGetBackendInfo (c.id, infos[i].type, buffer, &size), ==,
                     ONNXIFI_STATUS_FALLBACK);
    g_assert_cmpuint (size, ==, n);
    g_assert_cmpint (onnxGetBackendInfo (c.id, infos[i].type, buffer, NULL), ==,
                     ONNXIFI_STATUS_INVALID_POINTER);
  }
  client_clear (&c);
}

static gchar *
text_of (const Client *c, onnxBackendInfo type)
{
  gchar buffer[4096];
  size_t n = sizeof buffer;
  g_assert_cmpint (onnxGetBackendInfo (c->id, type, buffer, &n), ==, ONNXIFI_STATUS_SUCCESS);
  return g_strndup (buffer, n);
}

static guint64
number_of (const Client *c, onnxBackendInfo type)
{
  guint64 value = 0;
  size_t n = sizeof value;
  g_assert_cmpint (onnxGetBackendInfo (c->id, type, &value, &n), ==, ONNXIFI_STATUS_SUCCESS);
  return value;
}

static void
infos_say_what_the_backend_is (void)
{
  Client c = client_new ();
  g_autofree gchar *name = text_of (&c, ONNXIFI_BACKEND_NAME);
  g_autofree gchar *opsets = text_of (&c, ONNXIFI_BACKEND_OPSET_VERSION);
  g_autofree gchar *ir = text_of (&c, ONNXIFI_BACKEND_ONNX_IR_VERSION);
  size_t n = 0;
  g_assert_cmpstr (name, ==, "Axon CPU");
  g_assert_true (g_str_has_prefix (opsets, "ai.onnx:"));
  g_assert_true (g_str_has_prefix (ir, "3 4 5"));
  g_assert_cmpuint (number_of (&c, ONNXIFI_BACKEND_ONNXIFI_VERSION), ==,
                    G_GUINT64_CONSTANT (0x100000000));
  g_assert_cmpuint (number_of (&c, ONNXIFI_BACKEND_DEVICE_TYPE), ==, ONNXIFI_DEVICE_TYPE_CPU);
  g_assert_cmpuint (number_of (&c, ONNXIFI_BACKEND_CAPABILITIES) & ONNXIFI_CAPABILITY_THREAD_SAFE,
                    !=, 0);
  g_assert_cmpuint (number_of (&c, ONNXIFI_BACKEND_MEMORY_SIZE), >, 1 << 20);
  g_assert_cmpint (onnxGetBackendInfo (c.id, ONNXIFI_BACKEND_CUDA_INDEX, NULL, &n), ==,
                   ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE);
  g_assert_cmpint (onnxGetBackendInfo (c.id, 9999, NULL, &n), ==,
                   ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE);
  client_clear (&c);
}

/* Devices of other vendors would come back as ours, and virtual ones are no devices. */
static void
only_devices_of_this_machine_are_backends (void)
{
  Client c = client_new ();
  onnxBackendID own = c.id;
  for (size_t i = 0; i < c.n_ids; i++) {
    g_autofree gchar *name = NULL;
    c.id = c.ids[i];
    name = text_of (&c, ONNXIFI_BACKEND_NAME);
    g_assert_true (g_str_has_prefix (name, "Axon CPU") || g_str_has_prefix (name, "Axon GPU"));
  }
  c.id = own;
  client_clear (&c);
}

static void
an_event_is_signalled_once (void)
{
  Client c = client_new ();
  onnxEvent event = NULL;
  onnxEventState state = 1;
  g_assert_cmpint (onnxInitEvent (c.backend, NULL), ==, ONNXIFI_STATUS_INVALID_POINTER);
  g_assert_cmpint (onnxInitEvent (c.backend, &event), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxGetEventState (event, NULL), ==, ONNXIFI_STATUS_INVALID_POINTER);
  g_assert_cmpint (onnxGetEventState (event, &state), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (state, ==, ONNXIFI_EVENT_STATE_NONSIGNALLED);
  g_assert_cmpint (onnxSignalEvent (event), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxSignalEvent (event), ==, ONNXIFI_STATUS_INVALID_STATE);
  g_assert_cmpint (onnxGetEventState (event, &state), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (state, ==, ONNXIFI_EVENT_STATE_SIGNALLED);
  g_assert_cmpint (onnxWaitEvent (event), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxReleaseEvent (event), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxSignalEvent (event), ==, ONNXIFI_STATUS_INVALID_EVENT);
  g_assert_cmpint (onnxWaitEvent (event), ==, ONNXIFI_STATUS_INVALID_EVENT);
  g_assert_cmpint (onnxGetEventState (event, &state), ==, ONNXIFI_STATUS_INVALID_EVENT);
  g_assert_cmpint (state, ==, ONNXIFI_EVENT_STATE_INVALID);
  g_assert_cmpint (onnxReleaseEvent (event), ==, ONNXIFI_STATUS_INVALID_EVENT);
  client_clear (&c);
}

static void
out_handles_are_null_after_a_failure (void)
{
  Client c = client_new ();
  const uint64_t unknown[] = { 64, 1, 0 },
                 wrong[] = { ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION, 9, 0 };
  onnxBackend backend = &c;
  onnxEvent event = &c;
  onnxGraph graph = &c;
  g_assert_cmpint (onnxInitBackend (NULL, NULL, &backend), ==, ONNXIFI_STATUS_INVALID_ID);
  g_assert_null (backend);
  backend = &c;
  g_assert_cmpint (onnxInitBackend (c.id, unknown, &backend), ==,
                   ONNXIFI_STATUS_UNSUPPORTED_PROPERTY);
  g_assert_null (backend);
  backend = &c;
  g_assert_cmpint (onnxInitBackend (c.id, wrong, &backend), ==, ONNXIFI_STATUS_INVALID_PROPERTY);
  g_assert_null (backend);
  g_assert_cmpint (onnxInitBackend (c.id, NULL, NULL), ==, ONNXIFI_STATUS_INVALID_POINTER);
  g_assert_cmpint (onnxInitEvent (NULL, &event), ==, ONNXIFI_STATUS_INVALID_BACKEND);
  g_assert_null (event);
  g_assert_cmpint (onnxInitGraph (c.backend, NULL, 3, "abc", 0, NULL, &graph), ==,
                   ONNXIFI_STATUS_INVALID_PROTOBUF);
  g_assert_null (graph);
  client_clear (&c);
}

static void
properties_of_backends_and_graphs_are_read (void)
{
  const uint64_t all[] = { ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION,
                           ONNXIFI_OPTIMIZATION_HIGH_THROUGHPUT, ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL,
                           ONNXIFI_LOG_LEVEL_ERROR, ONNXIFI_BACKEND_PROPERTY_NONE };
  const uint64_t cl[] = { ONNXIFI_BACKEND_OPENCL_CONTEXT, 1, 0 }, none[] = { 0 },
                 odd[] = { 5, 1, 0 };
  Client c = client_new ();
  g_autoptr (GBytes) bytes = relu_bytes (&c, 4);
  gsize n;
  gconstpointer data = g_bytes_get_data (bytes, &n);
  onnxBackend backend;
  onnxGraph graph;
  g_assert_cmpint (onnxInitBackend (c.id, all, &backend), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxInitGraph (backend, none, n, data, 0, NULL, &graph), ==,
                   ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxReleaseGraph (graph), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxInitGraph (backend, odd, n, data, 0, NULL, &graph), ==,
                   ONNXIFI_STATUS_UNSUPPORTED_PROPERTY);
  g_assert_null (graph);
  g_assert_cmpint (onnxReleaseBackend (backend), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxInitBackend (c.id, cl, &backend), ==, ONNXIFI_STATUS_UNSUPPORTED_PROPERTY);
  client_clear (&c);
}

/* None of these is followed. */
static void
handles_that_are_none_are_refused (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) bytes = relu_bytes (&c, 4);
  onnxGraph graph = client_graph (&c, bytes);
  gpointer foreign[] = {
    NULL,      &c,  GSIZE_TO_POINTER (1), GSIZE_TO_POINTER (G_MAXSIZE), (gchar *)graph + 8,
    c.backend, c.id
  };
  onnxMemoryFenceV1 fence = client_fence (&c), after = fence;
  size_t n = 0;
  g_assert_cmpint (onnxInitEvent (c.backend, &fence.event), ==, ONNXIFI_STATUS_SUCCESS);
  for (guint i = 0; i < G_N_ELEMENTS (foreign); i++) {
    gpointer h = foreign[i];
    g_assert_cmpint (onnxReleaseGraph (h), ==, ONNXIFI_STATUS_INVALID_GRAPH);
    g_assert_cmpint (onnxSetGraphIO (h, 0, NULL, 0, NULL), ==, ONNXIFI_STATUS_INVALID_GRAPH);
    g_assert_cmpint (onnxRunGraph (h, &fence, &after), ==, ONNXIFI_STATUS_INVALID_GRAPH);
    g_assert_cmpint (onnxReleaseEvent (h), ==, ONNXIFI_STATUS_INVALID_EVENT);
    g_assert_cmpint (onnxSignalEvent (h), ==, ONNXIFI_STATUS_INVALID_EVENT);
    if (h != c.backend)
      g_assert_cmpint (onnxReleaseBackend (h), ==, ONNXIFI_STATUS_INVALID_BACKEND);
    if (h != c.id) {
      g_assert_cmpint (onnxReleaseBackendID (h), ==, ONNXIFI_STATUS_INVALID_ID);
      g_assert_cmpint (onnxGetBackendInfo (h, 0, NULL, &n), ==, ONNXIFI_STATUS_INVALID_ID);
      g_assert_cmpint (onnxGetBackendCompatibility (h, 1, "a"), ==, ONNXIFI_STATUS_INVALID_ID);
    }
  }
  g_assert_cmpint (onnxReleaseGraph (graph), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxReleaseGraph (graph), ==, ONNXIFI_STATUS_INVALID_GRAPH);
  g_assert_cmpint (onnxReleaseEvent (fence.event), ==, ONNXIFI_STATUS_SUCCESS);
  client_clear (&c);
}

static onnxStatus
compatibility (const Client *c, GBytes *bytes)
{
  gsize n;
  gconstpointer data = g_bytes_get_data (bytes, &n);
  return onnxGetBackendCompatibility (c->id, n, data);
}

/* A ModelProto of one node, written by hand: the writer makes right ones only. */
static GBytes *
one_node (const gchar *op, guint8 ir, guint8 opset, guint8 dtype)
{
  GByteArray *b = g_byte_array_new ();
  g_autofree gchar *node = g_strdup_printf ("\n\1x\22\1y\"%c%s", (gchar)strlen (op), op);
  const guint8 port[] = { 10, 1, 'x', 18, 14, 10, 12, 8, dtype, 18, 8, 10, 2, 8, 1, 10, 2, 8, 4 };
  guint8 graph = (guint8)(2 + strlen (node) + 2 * (2 + sizeof port));
  const guint8 head[] = { 8, ir, 66, 4, 10, 0, 16, opset, 58, graph };
  const guint8 in[] = { 90, sizeof port }, out[] = { 98, sizeof port };
  const guint8 length[] = { 10, (guint8)strlen (node) };
  g_byte_array_append (b, head, sizeof head);
  g_byte_array_append (b, length, sizeof length);
  g_byte_array_append (b, (const guint8 *)node, (guint)strlen (node));
  g_byte_array_append (b, in, sizeof in);
  g_byte_array_append (b, port, sizeof port);
  g_byte_array_append (b, out, sizeof out);
  g_byte_array_append (b, port, sizeof port);
  b->data[b->len - sizeof port + 2] = 'y';
  return g_byte_array_free_to_bytes (b);
}

static const struct {
  const gchar *op;
  guint8 ir, opset, dtype;
  onnxStatus status;
} models[] = {
  { "Relu", 4, 13, 1, ONNXIFI_STATUS_SUCCESS },
  { "Nothing", 4, 13, 1, ONNXIFI_STATUS_UNSUPPORTED_OPERATOR },
  { "Gelu", 4, 13, 1, ONNXIFI_STATUS_UNSUPPORTED_OPERATOR },
  { "Relu", 99, 13, 1, ONNXIFI_STATUS_UNSUPPORTED_VERSION },
  { "Relu", 4, 13, 8, ONNXIFI_STATUS_UNSUPPORTED_DATATYPE },
  { "Cast", 4, 13, 1, ONNXIFI_STATUS_INVALID_MODEL }, /* to is missing */
  { "Conv", 4, 13, 1, ONNXIFI_STATUS_INVALID_MODEL }, /* so are weights */
  { "DetOfNothing", 4, 13, 1, ONNXIFI_STATUS_UNSUPPORTED_OPERATOR },
};

static void
compatibility_says_why_not (void)
{
  Client c = client_new ();
  for (guint i = 0; i < G_N_ELEMENTS (models); i++) {
    g_autoptr (GBytes) bytes =
        one_node (models[i].op, models[i].ir, models[i].opset, models[i].dtype);
    g_test_message ("%s %d %d", models[i].op, models[i].ir, models[i].dtype);
    g_assert_cmpint (compatibility (&c, bytes), ==, models[i].status);
  }
  g_assert_cmpint (onnxGetBackendCompatibility (c.id, 3, NULL), ==, ONNXIFI_STATUS_INVALID_POINTER);
  g_assert_cmpint (onnxGetBackendCompatibility (c.id, 0, "abc"), ==, ONNXIFI_STATUS_INVALID_SIZE);
  client_clear (&c);
}

/* An operator in a reference kernel is emulation. */
static void
what_has_no_kernel_of_the_device_is_a_fallback (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) bytes = one_node ("Hardmax", 4, 13, 1);
  onnxGraph graph = NULL;
  gsize n;
  gconstpointer data = g_bytes_get_data (bytes, &n);
  g_assert_cmpint (compatibility (&c, bytes), ==, ONNXIFI_STATUS_FALLBACK);
  g_assert_cmpint (onnxInitGraph (c.backend, NULL, n, data, 0, NULL, &graph), ==,
                   ONNXIFI_STATUS_FALLBACK);
  g_assert_nonnull (graph);
  g_assert_cmpint (onnxReleaseGraph (graph), ==, ONNXIFI_STATUS_SUCCESS);
  client_clear (&c);
}

static void
weights_are_not_needed_to_judge_a_model (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) bytes =
      product_bytes (&c, AXON_WRITE_WEIGHTS_AS_INPUTS | AXON_WRITE_WITHOUT_WEIGHTS);
  g_assert_cmpint (compatibility (&c, bytes), ==, ONNXIFI_STATUS_SUCCESS);
  client_clear (&c);
}

static gboolean
is_one_of (onnxStatus status, const onnxStatus *list)
{
  for (; *list != ONNXIFI_STATUS_SUCCESS; list++)
    if (*list == status)
      return TRUE;
  return FALSE;
}

/* Every cut and a thousand changed bytes: an answer from the list, and no crash. */
static void
damaged_models_are_refused (void)
{
  static const onnxStatus of_cuts[] = { ONNXIFI_STATUS_INVALID_PROTOBUF,
                                        ONNXIFI_STATUS_INVALID_MODEL,
                                        ONNXIFI_STATUS_UNSUPPORTED_VERSION,
                                        ONNXIFI_STATUS_SUCCESS };
  static const onnxStatus of_damage[] = { ONNXIFI_STATUS_FALLBACK,
                                          ONNXIFI_STATUS_INVALID_PROTOBUF,
                                          ONNXIFI_STATUS_INVALID_MODEL,
                                          ONNXIFI_STATUS_UNSUPPORTED_VERSION,
                                          ONNXIFI_STATUS_UNSUPPORTED_SHAPE,
                                          ONNXIFI_STATUS_UNSUPPORTED_OPERATOR,
                                          ONNXIFI_STATUS_NO_SYSTEM_MEMORY,
                                          ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE,
                                          ONNXIFI_STATUS_UNSUPPORTED_DATATYPE,
                                          ONNXIFI_STATUS_SUCCESS };
  Client c = client_new ();
  g_autoptr (GBytes) bytes = product_bytes (&c, AXON_WRITE_DEFAULT);
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  gsize n;
  gconstpointer data = g_bytes_get_data (bytes, &n);
  g_autofree guint8 *copy = g_memdup2 (data, n);
  for (gsize cut = 1; cut < n; cut++)
    g_assert_true (is_one_of (onnxGetBackendCompatibility (c.id, cut, copy), of_cuts));
  g_assert_cmpint (onnxGetBackendCompatibility (c.id, n - 1, copy), ==,
                   ONNXIFI_STATUS_INVALID_PROTOBUF);
  for (guint i = 0; i < 1000; i++) {
    gsize at = (gsize)g_rand_int_range (rand, 0, (gint)n);
    guint8 was = copy[at];
    onnxGraph graph = &c;
    onnxStatus status;
    copy[at] = (guint8)g_rand_int_range (rand, 0, 256);
    status = onnxInitGraph (c.backend, NULL, n, copy, 0, NULL, &graph);
    g_test_message ("%x at %u", (guint)status, (guint)at);
    g_assert_true ((graph != NULL) == (status <= ONNXIFI_STATUS_FALLBACK));
    g_assert_true (status == ONNXIFI_STATUS_SUCCESS || is_one_of (status, of_damage));
    if (graph != NULL)
      g_assert_cmpint (onnxReleaseGraph (graph), ==, ONNXIFI_STATUS_SUCCESS);
    copy[at] = was;
  }
  client_clear (&c);
}

#define ADD(test) g_test_add_func ("/handles/" #test, test)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (counts_of_ids_follow_the_protocol);
  ADD (every_required_info_has_its_encoding);
  ADD (infos_say_what_the_backend_is);
  ADD (only_devices_of_this_machine_are_backends);
  ADD (an_event_is_signalled_once);
  ADD (out_handles_are_null_after_a_failure);
  ADD (properties_of_backends_and_graphs_are_read);
  ADD (handles_that_are_none_are_refused);
  ADD (compatibility_says_why_not);
  ADD (what_has_no_kernel_of_the_device_is_a_fallback);
  ADD (weights_are_not_needed_to_judge_a_model);
  ADD (damaged_models_are_refused);
  return g_test_run ();
}
