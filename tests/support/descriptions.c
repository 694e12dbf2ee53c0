/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "descriptions.h"

#include <glib/gstdio.h>
#include <string.h>

static void
append_field (GByteArray *out, guint8 tag, const guint8 *data, gsize n)
{
  gsize rest = n;
  g_byte_array_append (out, &tag, 1);
  for (; rest > 127; rest >>= 7)
    g_byte_array_append (out, &(guint8){ (guint8)(rest | 128) }, 1);
  g_byte_array_append (out, &(guint8){ (guint8)rest }, 1);
  g_byte_array_append (out, data, (guint)n);
}

/* Protocol buffers that follow one another are one: ModelProto.metadata_props is field 14. */
static void
append_metadata (GByteArray *file, const gchar *line)
{
  g_autoptr (GByteArray) entry = g_byte_array_new ();
  const gchar *equals = strchr (line, '=');
  gsize n = equals ? (gsize)(equals - line) : strlen (line);
  const gchar *value = equals ? equals + 1 : "";
  append_field (entry, 1 << 3 | 2, (const guint8 *)line, n);
  append_field (entry, 2 << 3 | 2, (const guint8 *)value, strlen (value));
  append_field (file, 14 << 3 | 2, entry->data, entry->len);
}

static AxonModel *
model_with_metadata (const gchar *lines, GError **error)
{
  AxonCore *core = axon_core_get_default ();
  g_autoptr (AxonModel) bare = test_relu_model ();
  g_autoptr (GBytes) written = axon_core_write_model_to_bytes (core, bare, 0, NULL);
  g_autoptr (GByteArray) file = g_byte_array_new ();
  g_autoptr (GBytes) bytes = NULL;
  g_auto (GStrv) list = g_strsplit (lines ? lines : "", "\n", -1);
  g_byte_array_append (file, g_bytes_get_data (written, NULL), (guint)g_bytes_get_size (written));
  for (guint i = 0; list[i] != NULL; i++)
    if (*list[i] != '\0')
      append_metadata (file, list[i]);
  bytes = g_byte_array_free_to_bytes (g_steal_pointer (&file));
  return axon_core_read_model_from_bytes (core, bytes, NULL, error);
}

static gboolean
set_properties (GstNnDescription *d, const gchar *lines, GError **error)
{
  g_auto (GStrv) list = g_strsplit (lines ? lines : "", "\n", -1);
  for (guint i = 0; list[i] != NULL; i++) {
    gchar *equals = strchr (list[i], '=');
    if (equals == NULL)
      continue;
    *equals = '\0';
    if (!gst_nn_description_set (d, list[i], equals + 1, error))
      return FALSE;
  }
  return TRUE;
}

static const gchar *const files[] = { "model.onnx.modelinfo",    "model.json",   "names.txt",
                                      "model.modelinfo",         "model.labels", "labels.txt",
                                      "config_infer_primary.txt" };

static void
write_files (const gchar *folder, const Sources *sources)
{
  const gchar *texts[] = { sources->modelinfo,  sources->proc,   sources->names,
                           sources->short_info, sources->labels, sources->shared,
                           sources->nvinfer };
  G_STATIC_ASSERT (G_N_ELEMENTS (texts) == G_N_ELEMENTS (files));
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree gchar *path = g_build_filename (folder, files[i], NULL);
    if (texts[i] != NULL)
      g_assert_true (
          g_file_set_contents_full (path, texts[i], -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  }
}

static void
remove_files (const gchar *folder)
{
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree gchar *path = g_build_filename (folder, files[i], NULL);
    g_unlink (path);
  }
  g_rmdir (folder);
}

GstNnDescription *
describe (const Sources *sources, GError **error)
{
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *folder = g_build_filename (dir, sources->folder, NULL);
  g_autofree gchar *path =
      g_build_filename (folder, sources->model ? sources->model : "model.onnx", NULL);
  g_autoptr (GstNnDescription) d = gst_nn_description_new ();
  g_autoptr (AxonModel) model = model_with_metadata (sources->metadata, error);
  gboolean ok;
  g_mkdir (folder, 0700);
  write_files (folder, sources);
  ok = model != NULL && set_properties (d, sources->property, error) &&
       gst_nn_description_load (d, path, model, error);
  remove_files (folder);
  g_rmdir (dir);
  return ok ? g_steal_pointer (&d) : NULL;
}

void
refused (const Sources *sources, const gchar *says)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstNnDescription) d = describe (sources, &error);
  g_assert_null (d);
  g_assert_nonnull (error);
  if (strstr (error->message, says) == NULL)
    g_error ("\"%s\" does not say \"%s\"", error->message, says);
}

GstNnDescription *
accepted (const Sources *sources)
{
  g_autoptr (GError) error = NULL;
  GstNnDescription *d = describe (sources, &error);
  g_assert_no_error (error);
  return d;
}
