/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Models with single bits flipped, read, compiled and run: a result or an error, never a crash, a
 * leak or a hang. The corpus are the models of the ONNX backend suite; which bits is a matter of
 * the file's name, so a finding comes again. Usage: fuzz-replay DIRECTORY [FLIPS [SKIP]] */
#include "axontest.h"

#include <glib/gstdio.h>
#include <string.h>

#define MAX_ELEMENTS (1 << 18)
#define PATIENCE_MS 2000

static guint n_runs, n_results, n_slow;

/* Inputs of the declared shapes, unknown dimensions 2; NULL where they are large or no tensors. */
static AxonTensor *
make_input (AxonModel *model, guint index)
{
  AxonDType dtype = axon_model_get_input_dtype (model, index);
  AxonShape shape = *axon_model_get_input_shape (model, index);
  AxonTensor *tensor;
  if (dtype == AXON_DTYPE_SEQUENCE || dtype == AXON_DTYPE_OPTIONAL)
    return axon_tensor_new_sequence (NULL, 0);
  shape.rank = MAX (shape.rank, 0);
  for (gint d = 0; d < shape.rank; d++)
    shape.dims[d] = shape.dims[d] < 0 ? 2 : shape.dims[d];
  if (axon_shape_get_numel (&shape) < 0 || axon_shape_get_numel (&shape) > MAX_ELEMENTS)
    return NULL;
  tensor = axon_tensor_new (dtype, &shape, NULL);
  for (gsize i = 0; tensor && dtype != AXON_DTYPE_STRING && i < axon_tensor_get_n_bytes (tensor);
       i++)
    ((guint8 *)axon_tensor_get_data (tensor))[i] =
        dtype == AXON_DTYPE_BOOL ? (guint8)(i & 1) : (guint8)(i * 37 % 91);
  return tensor;
}

static void
run_once (AxonCompiledModel *compiled, AxonModel *model)
{
  g_autoptr (AxonInferRequest) request = axon_compiled_model_create_infer_request (compiled);
  gboolean done = FALSE;
  for (guint i = 0; i < axon_model_get_n_inputs (model); i++) {
    g_autoptr (AxonTensor) input = make_input (model, i);
    if (input == NULL || !axon_infer_request_set_input_tensor (request, i, input, NULL))
      return;
  }
  if (!axon_infer_request_start_async (request, NULL))
    return;
  (void)axon_infer_request_wait_for (request, PATIENCE_MS, &done, NULL);
  if (!done) {
    n_slow++;
    axon_infer_request_cancel (request);
  }
  n_results += axon_infer_request_wait (request, NULL);
}

static void
try_model (gconstpointer data, gsize n, const gchar *device)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, n);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonModel) model =
      axon_core_read_model_from_bytes (axon_core_get_default (), bytes, NULL, &error);
  g_assert_true ((model != NULL) != (error != NULL));
  n_runs++;
  if (model == NULL)
    return;
  compiled = axon_core_compile_model (axon_core_get_default (), model, device, NULL, NULL, NULL,
                                      NULL, &error);
  g_assert_true ((compiled != NULL) != (error != NULL));
  if (compiled != NULL)
    run_once (compiled, model);
}

static void
try_file (const gchar *path, guint flips)
{
  g_autofree gchar *data = NULL;
  gsize n;
  guint32 random = g_str_hash (path);
  if (!g_file_get_contents (path, &data, &n, NULL) || n < 2 || n > 20000)
    return;
  for (guint i = 0; i < flips; i++) {
    gsize at;
    random = random * 1664525u + 1013904223u;
    at = random % n;
    data[at] ^= (gchar)(1 << (random >> 29));
    try_model (data, n, i % 2 ? "CPU" : "TEMPLATE");
    data[at] ^= (gchar)(1 << (random >> 29));
  }
}

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const gchar *const *)a, *(const gchar *const *)b);
}

static void
find_models (const gchar *directory, GPtrArray *paths)
{
  g_autoptr (GDir) dir = g_dir_open (directory, 0, NULL);
  const gchar *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (paths, g_build_filename (directory, name, "model.onnx", NULL));
  qsort (paths->pdata, paths->len, sizeof (gpointer), compare_names);
}

int
main (int argc, char **argv)
{
  static const gchar *const folders[] = { "node", "pytorch-operator", "simple" };
  guint skip = argc > 3 ? (guint)g_ascii_strtoull (argv[3], NULL, 10) : 0;
  guint flips = argc > 2 ? (guint)g_ascii_strtoull (argv[2], NULL, 10) : 4;
  for (guint i = 0; argc > 1 && i < G_N_ELEMENTS (folders); i++) {
    g_autofree gchar *directory = g_build_filename (argv[1], folders[i], NULL);
    g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
    find_models (directory, paths);
    for (guint k = 0; k < paths->len; k++) {
      if (skip > 0 && skip-- > 0)
        continue;
      if (g_getenv ("FUZZ_VERBOSE") != NULL)
        g_printerr ("%s\n", (const gchar *)paths->pdata[k]);
      try_file (paths->pdata[k], flips);
    }
  }
  if (n_runs == 0) {
    g_print ("no models below %s (libonnx-testdata)\n", argc > 1 ? argv[1] : "");
    return 77;
  }
  g_print ("%u mutated models, %u ran to a result, %u were cancelled\n", n_runs, n_results, n_slow);
  return 0;
}
