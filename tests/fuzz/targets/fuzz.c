/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"
#include "axontest.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_ELEMENTS (1 << 14)
#define PATIENCE_MS 2000

/* GStreamer's own parser of structures has CRITICALs for text that is none. */
static GLogWriterOutput
end_on_critical (GLogLevelFlags level, const GLogField *fields, gsize n,
                 G_GNUC_UNUSED gpointer user_data)
{
  gboolean theirs = FALSE;
  for (gsize i = 0; i < n; i++)
    theirs |=
        g_str_equal (fields[i].key, "GLIB_DOMAIN") && g_str_equal (fields[i].value, "GStreamer");
  if ((level & G_LOG_LEVEL_CRITICAL) == 0 || theirs)
    return G_LOG_WRITER_HANDLED;
  g_log_writer_standard_streams (level, fields, n, NULL);
  abort ();
}

int
LLVMFuzzerInitialize (G_GNUC_UNUSED int *argc, G_GNUC_UNUSED char ***argv)
{
  g_setenv ("AXON_MAX_MEMORY", "128", FALSE);
  g_setenv ("AXON_GPU_ALLOW_CPU", g_getenv ("FUZZ_DEVICE") ? "1" : "0", TRUE);
  g_log_set_writer_func (end_on_critical, NULL, NULL);
  return 0;
}

void
fuzz_await_threads (void)
{
  static guint before = G_MAXUINT;
  guint n = test_count_entries ("/proc/self/task");
  for (guint tries = 0; n > before && tries < 100; tries++) {
    g_usleep (100);
    n = test_count_entries ("/proc/self/task");
  }
  before = n;
}

void
fuzz_check (gboolean ok, const GError *error)
{
  g_assert_true (ok == (error == NULL));
  g_assert_true (error == NULL || g_utf8_validate (error->message, -1, NULL));
}

gchar *
fuzz_open (gconstpointer data, gsize n, const gchar *ending)
{
  g_autofree gchar *fd_path = NULL;
  gchar *link = g_strdup_printf ("%s/axon-fuzz-%d%s", g_get_tmp_dir (), getpid (), ending);
  int fd = memfd_create ("fuzz", MFD_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  for (gssize done = 0, got; (gsize)done < n; done += got) {
    got = write (fd, (const guint8 *)data + done, n - (gsize)done);
    g_assert_cmpint (got, >, 0);
  }
  fd_path = g_strdup_printf ("/proc/self/fd/%d", fd);
  if (g_file_test (link, G_FILE_TEST_IS_SYMLINK))
    g_unlink (link);
  g_assert_cmpint (symlink (fd_path, link), ==, 0);
  return link;
}

void
fuzz_close (gchar *path)
{
  g_autofree gchar *target = g_file_read_link (path, NULL);
  close (atoi (strrchr (target, '/') + 1));
  g_unlink (path);
  g_free (path);
}

guint8
fuzz_byte (FuzzBytes *bytes)
{
  if (bytes->n == 0)
    return 0;
  bytes->n--;
  return *bytes->data++;
}

gchar *
fuzz_line (FuzzBytes *bytes)
{
  const guint8 *end = bytes->n ? memchr (bytes->data, '\n', bytes->n) : NULL;
  gsize n = end ? (gsize)(end - bytes->data) : bytes->n;
  gchar *line = g_strndup ((const gchar *)bytes->data, n);
  bytes->data += n + (end != NULL);
  bytes->n -= n + (end != NULL);
  return line;
}

AxonTensor *
fuzz_input (AxonModel *model, guint index)
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
  for (gint64 i = 0; tensor && dtype != AXON_DTYPE_STRING && i < axon_shape_get_numel (&shape); i++)
    axon_dtype_store (dtype, axon_tensor_get_data (tensor), (gsize)i,
                      dtype == AXON_DTYPE_BOOL ? i & 1 : (gdouble)(i * 37 % 91) / 8 - 2);
  return tensor;
}

GPtrArray *
fuzz_run (AxonCompiledModel *compiled, GPtrArray *inputs, GError **error)
{
  g_autoptr (AxonInferRequest) request = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (GPtrArray) outputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  gboolean done = FALSE;
  for (guint i = 0; i < inputs->len; i++)
    if (!axon_infer_request_set_input_tensor (request, i, g_ptr_array_index (inputs, i), error))
      return NULL;
  if (!axon_infer_request_start_async (request, error))
    return NULL;
  (void)axon_infer_request_wait_for (request, PATIENCE_MS, &done, NULL);
  if (!done)
    axon_infer_request_cancel (request);
  if (!axon_infer_request_wait (request, error))
    return NULL;
  for (guint i = 0; i < axon_compiled_model_get_n_outputs (compiled); i++) {
    AxonTensor *tensor = axon_infer_request_get_output_tensor (request, i);
    g_assert_nonnull (tensor);
    g_ptr_array_add (outputs, tensor);
  }
  return g_steal_pointer (&outputs);
}
