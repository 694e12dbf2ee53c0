/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon-compile: ahead-of-time compilation. */
#include "toolcommon.h"

#include <glib/gstdio.h>
#include <string.h>

static struct {
  gchar *device, *output, **config, **shapes, **files;
  gboolean json;
} opt;

static const GOptionEntry entries[] = {
  { "device", 'd', 0, G_OPTION_ARG_STRING, &opt.device, N_ ("Device (default CPU)"), "NAME" },
  { "config", 'c', 0, G_OPTION_ARG_STRING_ARRAY, &opt.config, N_ ("Property of the device"),
    "KEY=VALUE" },
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &opt.output,
    N_ ("File to write (default: the model's name with .axon)"), "FILE.axon" },
  { "shape", 's', 0, G_OPTION_ARG_STRING_ARRAY, &opt.shapes,
    N_ ("New shape of the next input, -1 for free dimensions"), "N,C,H,W" },
  TOOL_JSON_ENTRY (&opt.json),
  TOOL_EXTENSION_ENTRY,
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &opt.files, NULL, "MODEL.onnx" },
  G_OPTION_ENTRY_NULL
};

static gchar *
default_output (const gchar *path)
{
  gsize n = strlen (path) - (g_str_has_suffix (path, ".onnx") ? strlen (".onnx") : 0);
  g_autofree gchar *stem = g_strndup (path, n);
  return g_strconcat (stem, ".axon", NULL);
}

static gboolean
reshape (AxonModel *model, GError **error)
{
  for (guint i = 0; opt.shapes != NULL && opt.shapes[i] != NULL; i++) {
    AxonShape shape;
    if (i >= axon_model_get_n_inputs (model)) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("the model has only %u inputs"),
                   axon_model_get_n_inputs (model));
      return FALSE;
    }
    if (!axon_shape_from_string (opt.shapes[i], &shape, error) ||
        !axon_model_reshape (model, i, &shape, error))
      return FALSE;
  }
  return TRUE;
}

/* @path: NULL for a model that only the device has */
static AxonCompiledModel *
make (AxonCore *core, const gchar *path, const gchar *device, GVariant *config, GError **error)
{
  g_autoptr (GBytes) nothing = path ? NULL : g_bytes_new (NULL, 0);
  g_autoptr (AxonModel) model = path ? axon_core_read_model (core, path, NULL, error) : NULL;
  if (path == NULL)
    return axon_core_import_model (core, nothing, device, NULL, config, NULL, tool_progress, NULL,
                                   error);
  return model && reshape (model, error)
             ? axon_core_compile_model (core, model, device, config, NULL, tool_progress, NULL,
                                        error)
             : NULL;
}

static void
show (const gchar *output, const gchar *device, gint64 begin)
{
  g_autoptr (JsonBuilder) json = opt.json ? tool_json_new () : NULL;
  GStatBuf status = { 0 };
  if (json == NULL) {
    g_print (_ ("%s: compiled for %s\n"), output, device);
    return;
  }
  tool_json_text (json, "file", output);
  tool_json_text (json, "device", device);
  tool_json_number (json, "compile_ms", (gdouble)(g_get_monotonic_time () - begin) / 1000);
  tool_json_whole (json, "bytes", g_stat (output, &status) == 0 ? status.st_size : 0);
  tool_json_finish (json);
}

static gboolean
compile (const gchar *path, const gchar *output, GVariant *config, GError **error)
{
  const gchar *device = opt.device ? opt.device : "CPU";
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (AxonCompiledModel) compiled =
      make (axon_core_get_default (), path, device, config, error);
  if (compiled == NULL || !axon_compiled_model_export_to_file (compiled, output, error))
    return FALSE;
  show (output, device, begin);
  return TRUE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GVariant) config = NULL;
  g_autofree gchar *output = NULL;
  GError *error = NULL;
  tool_init ();
  g_option_context_set_translation_domain (context, GETTEXT_PACKAGE);
  g_option_context_set_summary (
      context, _ ("Compiles an ONNX model into a file that this machine runs without compiling."));
  g_option_context_add_main_entries (context, entries, GETTEXT_PACKAGE);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    return tool_misused (error);
  if (opt.files ? opt.files[1] != NULL : opt.output == NULL || opt.device == NULL)
    return tool_show_usage (context);
  config = tool_parse_config (opt.config, &error);
  if (config == NULL)
    return tool_misused (error);
  g_variant_ref_sink (config);
  output = opt.output ? g_strdup (opt.output) : default_output (opt.files[0]);
  return compile (opt.files ? opt.files[0] : NULL, output, config, &error) ? TOOL_DONE
                                                                           : tool_fail (error);
}
