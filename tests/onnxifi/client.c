/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An ONNXIFI client over a library that onnxifi_load () loads, ours or ONNX's: runs folders of the
 * ONNX backend suite, and says of each whether the first backend takes it, and what came out. The
 * models' bytes go to the library as they are; Axon's own reader only reads the tensors beside them
 * and names.
 *
 * usage: client LIBRARY FOLDER ...   (LIBRARY empty: libonnxifi.so, the wrapper) */
#include <axon/axon.h>
#include <math.h>
#include LOADER_HEADER
#include <string.h>

static struct onnxifi_library library;
static onnxBackend backend;
static onnxBackendID backend_id;

typedef struct {
  onnxTensorDescriptorV1 *descriptors;
  AxonTensor **tensors; /* of outputs: what is expected */
  GPtrArray *buffers;
  guint n;
} Side;

static void
side_clear (Side *side)
{
  for (guint i = 0; i < side->n; i++)
    g_clear_pointer (&side->tensors[i], axon_tensor_unref);
  g_clear_pointer (&side->buffers, g_ptr_array_unref);
  g_free (side->tensors);
  g_free (side->descriptors);
}

/* Files of the suite hold bfloat16 as u16: the model knows better. */
static AxonDType
dtype_of (AxonModel *model, gboolean input, guint i, const AxonTensor *t)
{
  AxonDType declared =
      input ? axon_model_get_input_dtype (model, i) : axon_model_get_output_dtype (model, i);
  return declared == AXON_DTYPE_BF16 && axon_tensor_get_dtype (t) == AXON_DTYPE_U16
             ? declared
             : axon_tensor_get_dtype (t);
}

static gboolean
side_load (Side *side, AxonModel *model, const gchar *set, gboolean inputs, GError **error)
{
  guint n = inputs ? axon_model_get_n_inputs (model) : axon_model_get_n_outputs (model);
  side->descriptors = g_new0 (onnxTensorDescriptorV1, n + 1);
  side->tensors = g_new0 (AxonTensor *, n + 1);
  side->buffers = g_ptr_array_new_with_free_func (g_free);
  for (; side->n < n; side->n++) {
    guint i = side->n;
    g_autofree gchar *file = g_strdup_printf ("%s/%s_%u.pb", set, inputs ? "input" : "output", i);
    AxonTensor *t = side->tensors[i] =
        axon_core_read_tensor (axon_core_get_default (), file, AXON_DTYPE_UNDEFINED, error);
    gpointer buffer;
    if (t == NULL)
      return FALSE;
    buffer = g_malloc0 (axon_tensor_get_n_bytes (t) + 1);
    g_ptr_array_add (side->buffers, buffer);
    if (inputs)
      memcpy (buffer, axon_tensor_get_data (t), axon_tensor_get_n_bytes (t));
    side->descriptors[i] = (onnxTensorDescriptorV1){
      .tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1,
      .name = inputs ? axon_model_get_input_name (model, i) : axon_model_get_output_name (model, i),
      .dataType = dtype_of (model, inputs, i, t),
      .memoryType = ONNXIFI_MEMORY_TYPE_CPU,
      .dimensions = (uint32_t)axon_tensor_get_shape (t)->rank,
      .shape = (const uint64_t *)axon_tensor_get_shape (t)->dims,
      .buffer = (onnxPointer)GPOINTER_TO_SIZE (buffer),
    };
  }
  return TRUE;
}

static gboolean
agrees (const AxonTensor *expected, gconstpointer got)
{
  const AxonShape *shape = axon_tensor_get_shape (expected);
  gsize n = axon_tensor_get_n_bytes (expected);
  g_autoptr (AxonTensor) t = axon_tensor_new_wrapped (axon_tensor_get_dtype (expected), shape,
                                                      (gpointer)got, n, NULL, NULL, NULL);
  gdouble tolerance = axon_tensor_get_dtype (expected) == AXON_DTYPE_F32 ||
                              axon_tensor_get_dtype (expected) == AXON_DTYPE_F64
                          ? 1e-3
                          : 1e-2,
          largest = 0;
  for (gsize i = 0; i < axon_tensor_get_numel (expected); i++)
    if (isfinite (axon_tensor_get_value (expected, i)))
      largest = MAX (largest, fabs (axon_tensor_get_value (expected, i)));
  for (gsize i = 0; i < axon_tensor_get_numel (expected); i++) {
    gdouble a = axon_tensor_get_value (expected, i), b = axon_tensor_get_value (t, i);
    if (!(isnan (a) && isnan (b)) && a != b && !(fabs (a - b) <= 1e-5 + tolerance * largest))
      return FALSE;
  }
  return TRUE;
}

/* NULL: all went well */
static const gchar *
run (onnxGraph graph, const Side *in, const Side *out)
{
  onnxMemoryFenceV1 before = { .tag = ONNXIFI_TAG_MEMORY_FENCE_V1,
                               .type = ONNXIFI_SYNCHRONIZATION_EVENT };
  onnxMemoryFenceV1 after = before;
  const gchar *failed = NULL;
  if (library.onnxSetGraphIO (graph, in->n, in->descriptors, out->n, out->descriptors) !=
      ONNXIFI_STATUS_SUCCESS)
    return "SetGraphIO";
  if (library.onnxInitEvent (backend, &before.event) != ONNXIFI_STATUS_SUCCESS)
    return "InitEvent";
  if (library.onnxRunGraph (graph, &before, &after) != ONNXIFI_STATUS_SUCCESS) {
    library.onnxReleaseEvent (before.event);
    return "RunGraph";
  }
  if (library.onnxSignalEvent (before.event) != ONNXIFI_STATUS_SUCCESS)
    failed = "SignalEvent";
  else if (library.onnxWaitEvent (after.event) != ONNXIFI_STATUS_SUCCESS)
    failed = "WaitEvent";
  library.onnxReleaseEvent (after.event);
  library.onnxReleaseEvent (before.event);
  for (guint i = 0; failed == NULL && i < out->n; i++)
    if (!agrees (out->tensors[i], g_ptr_array_index (out->buffers, i)))
      failed = "the result";
  return failed;
}

static const gchar *
run_set (onnxGraph graph, AxonModel *model, const gchar *set)
{
  Side in = { 0 }, out = { 0 };
  const gchar *failed =
      side_load (&in, model, set, TRUE, NULL) && side_load (&out, model, set, FALSE, NULL)
          ? run (graph, &in, &out)
          : "reading the data";
  side_clear (&in);
  side_clear (&out);
  return failed;
}

static const gchar *
try_folder (const gchar *folder, const gchar *bytes, gsize n, AxonModel *model)
{
  const gchar *failed = NULL;
  onnxGraph graph;
  onnxStatus status = library.onnxInitGraph (backend, NULL, n, bytes, 0, NULL, &graph);
  if (status != ONNXIFI_STATUS_SUCCESS && status != ONNXIFI_STATUS_FALLBACK)
    return "InitGraph";
  for (guint i = 0; failed == NULL; i++) {
    g_autofree gchar *set = g_strdup_printf ("%s/test_data_set_%u", folder, i);
    if (!g_file_test (set, G_FILE_TEST_IS_DIR))
      break;
    failed = run_set (graph, model, set);
  }
  library.onnxReleaseGraph (graph);
  return failed;
}

static void
judge_folder (const gchar *folder)
{
  g_autofree gchar *path = g_build_filename (folder, "model.onnx", NULL);
  g_autofree gchar *bytes = NULL;
  g_autoptr (AxonModel) model = NULL;
  const gchar *failed;
  onnxStatus status;
  gsize n;
  if (!g_file_get_contents (path, &bytes, &n, NULL))
    return;
  status = library.onnxGetBackendCompatibility (backend_id, n, bytes);
  if (status != ONNXIFI_STATUS_SUCCESS && status != ONNXIFI_STATUS_FALLBACK) {
    g_print ("no 0x%x %s\n", (guint)status, folder);
    return;
  }
  model = axon_core_read_model (axon_core_get_default (), path, NULL, NULL);
  failed = model ? try_folder (folder, bytes, n, model) : "reading names";
  g_print ("%s %s%s%s\n", failed ? "FAIL" : "pass", folder, failed ? ": " : "",
           failed ? failed : "");
}

int
main (int argc, char **argv)
{
  const uint64_t none[] = { ONNXIFI_BACKEND_PROPERTY_NONE };
  g_autofree onnxBackendID *ids = NULL;
  size_t n = 0;
  if (argc < 3 ||
      !onnxifi_load (ONNXIFI_LOADER_FLAG_VERSION_1_0, *argv[1] ? argv[1] : NULL, &library)) {
    g_printerr ("the library cannot be loaded\n");
    return 1;
  }
  if (library.onnxGetBackendIDs (NULL, &n) != ONNXIFI_STATUS_FALLBACK || n == 0) {
    g_printerr ("no backend\n");
    return 1;
  }
  ids = g_new0 (onnxBackendID, n);
  if (library.onnxGetBackendIDs (ids, &n) != ONNXIFI_STATUS_SUCCESS ||
      library.onnxInitBackend (ids[0], none, &backend) != ONNXIFI_STATUS_SUCCESS) {
    g_printerr ("the backend cannot be initialised\n");
    return 1;
  }
  backend_id = ids[0];
  for (gint i = 2; i < argc; i++)
    judge_folder (argv[i]);
  library.onnxReleaseBackend (backend);
  for (size_t i = 0; i < n; i++)
    library.onnxReleaseBackendID (ids[i]);
  onnxifi_unload (&library);
  return 0;
}
