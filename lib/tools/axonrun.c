/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon-run: one model on given inputs. */
#include "run-private.h"

#include <string.h>

static struct {
  gchar *device, *expect, *suite, *save;
  gchar **config, **inputs, **files;
  gdouble rtol, atol;
  RunPictureOptions picture;
  gboolean print, json;
} opt = { .rtol = -1, .atol = -1, .picture.crop_fraction = 1 };

static const GOptionEntry entries[] = {
  { "device", 'd', 0, G_OPTION_ARG_STRING, &opt.device, N_ ("Device (default CPU)"), "NAME" },
  { "config", 'c', 0, G_OPTION_ARG_STRING_ARRAY, &opt.config, N_ ("Property of the device"),
    "KEY=VALUE" },
  { "input", 'i', 0, G_OPTION_ARG_FILENAME_ARRAY, &opt.inputs,
    N_ ("Input from a .pb, .npy or picture file; by position or NAME="), "[NAME=]FILE" },
  { "expect", 'e', 0, G_OPTION_ARG_FILENAME, &opt.expect,
    N_ ("Take inputs from and compare with a test_data_set folder"), "DIR" },
  { "suite", 0, 0, G_OPTION_ARG_FILENAME, &opt.suite,
    N_ ("Run every folder below DIR that is laid out as an ONNX backend test"), "DIR" },
  { "save", 'o', 0, G_OPTION_ARG_FILENAME, &opt.save, N_ ("Save outputs as .npy in DIR"), "DIR" },
  { "print", 'p', 0, G_OPTION_ARG_NONE, &opt.print, N_ ("Print outputs"), NULL },
  { "rtol", 0, 0, G_OPTION_ARG_DOUBLE, &opt.rtol,
    N_ ("Tolerance relative to each element (default 1e-3, f16 1e-2)"), "X" },
  { "atol", 0, 0, G_OPTION_ARG_DOUBLE, &opt.atol,
    N_ ("Tolerance relative to the largest magnitude (default 1e-4, f16 1e-3)"), "X" },
  { "size", 0, 0, G_OPTION_ARG_STRING, &opt.picture.size,
    N_ ("Picture size for models that leave it free"), "WxH" },
  { "color", 0, 0, G_OPTION_ARG_STRING, &opt.picture.color, N_ ("Picture: rgb, bgr or gray"),
    "ORDER" },
  { "fit", 0, 0, G_OPTION_ARG_STRING, &opt.picture.fit,
    N_ ("Picture: stretch, letterbox, top-left or crop"), "HOW" },
  { "crop-fraction", 0, 0, G_OPTION_ARG_DOUBLE, &opt.picture.crop_fraction,
    N_ ("Picture: how much of it --fit crop takes, above 0, up to 1"), "X" },
  { "pad", 0, 0, G_OPTION_ARG_DOUBLE, &opt.picture.pad, N_ ("Picture: value of letterbox bars"),
    "X" },
  { "mean", 0, 0, G_OPTION_ARG_STRING, &opt.picture.mean,
    N_ ("Picture: subtracted, one or per channel"), "X[,X,X]" },
  { "scale", 0, 0, G_OPTION_ARG_STRING, &opt.picture.scale,
    N_ ("Picture: divisor, one or per channel"), "X[,X,X]" },
  TOOL_JSON_ENTRY (&opt.json),
  TOOL_EXTENSION_ENTRY,
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &opt.files, NULL, "MODEL.onnx" },
  G_OPTION_ENTRY_NULL
};

static AxonDType
port_dtype (AxonModel *model, gboolean input, guint index)
{
  if (input)
    return index < axon_model_get_n_inputs (model) ? axon_model_get_input_dtype (model, index) : 0;
  return index < axon_model_get_n_outputs (model) ? axon_model_get_output_dtype (model, index) : 0;
}

GPtrArray *
run_load_tensors (AxonModel *model, const gchar *dir, gboolean input, GError **error)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  for (guint i = 0;; i++) {
    g_autofree gchar *base = g_strdup_printf ("%s_%u.pb", input ? "input" : "output", i);
    g_autofree gchar *path = g_build_filename (dir, base, NULL);
    AxonTensor *tensor;
    if (!g_file_test (path, G_FILE_TEST_EXISTS))
      return g_steal_pointer (&list);
    tensor =
        axon_core_read_tensor (axon_core_get_default (), path, port_dtype (model, input, i), error);
    if (tensor == NULL)
      return NULL;
    g_ptr_array_add (list, tensor);
  }
}

/* Backend test files store bfloat16 as uint16, for NumPy has no such type. */
static AxonTensor *
as_bf16 (AxonTensor *tensor, AxonDType wanted)
{
  g_autoptr (GBytes) bytes = NULL;
  if (wanted != AXON_DTYPE_BF16 || axon_tensor_get_dtype (tensor) != AXON_DTYPE_U16)
    return axon_tensor_ref (tensor);
  bytes = axon_tensor_get_bytes (tensor);
  return axon_tensor_new_from_bytes (wanted, axon_tensor_get_shape (tensor), bytes, NULL);
}

GPtrArray *
run_model (AxonModel *model, GPtrArray *inputs, const RunOptions *options, GError **error)
{
  g_autoptr (AxonCompiledModel) compiled =
      axon_core_compile_model (axon_core_get_default (), model, options->device, options->config,
                               NULL, options->quiet ? NULL : tool_progress, NULL, error);
  g_autoptr (AxonInferRequest) request = NULL;
  g_autoptr (GPtrArray) outputs = NULL;
  if (compiled == NULL)
    return NULL;
  if (inputs->len != axon_compiled_model_get_n_inputs (compiled)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("the model has %u inputs, %u tensors were given (see --input)"),
                 axon_compiled_model_get_n_inputs (compiled), inputs->len);
    return NULL;
  }
  request = axon_compiled_model_create_infer_request (compiled);
  for (guint i = 0; i < inputs->len; i++) {
    g_autoptr (AxonTensor) t =
        as_bf16 (g_ptr_array_index (inputs, i), axon_compiled_model_get_input_dtype (compiled, i));
    if (!axon_infer_request_set_input_tensor (request, i, t, error))
      return NULL;
  }
  if (!axon_infer_request_infer (request, error))
    return NULL;
  outputs = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  for (guint i = 0; i < axon_compiled_model_get_n_outputs (compiled); i++)
    g_ptr_array_add (outputs, axon_infer_request_get_output_tensor (request, i));
  return g_steal_pointer (&outputs);
}

static void
show_comparison (const RunOptions *options, const gchar *name, gboolean same, const gchar *report)
{
  if (options->json != NULL) {
    json_builder_begin_object (options->json);
    tool_json_text (options->json, "name", name);
    tool_json_truth (options->json, "agrees", same);
    tool_json_text (options->json, "report", report);
    json_builder_end_object (options->json);
  } else if (!options->quiet) {
    g_print ("%s %s: %s\n", same ? "agrees " : "DIFFERS", name, report);
  }
}

gboolean
run_expect (AxonModel *model, const gchar *dir, const RunOptions *options, GError **error)
{
  g_autoptr (GPtrArray) inputs = run_load_tensors (model, dir, TRUE, error);
  g_autoptr (GPtrArray) expected = inputs ? run_load_tensors (model, dir, FALSE, error) : NULL;
  g_autoptr (GPtrArray) outputs = expected ? run_model (model, inputs, options, error) : NULL;
  gboolean ok = TRUE;
  if (outputs == NULL)
    return FALSE;
  if (expected->len != outputs->len) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("%s: expected outputs for %u tensors, the model has %u"), dir, expected->len,
                 outputs->len);
    return FALSE;
  }
  tool_json_begin_list (options->json, "outputs");
  for (guint i = 0; i < outputs->len; i++) {
    g_autoptr (GString) report = g_string_new (NULL);
    g_autoptr (AxonTensor) want =
        as_bf16 (g_ptr_array_index (expected, i), axon_model_get_output_dtype (model, i));
    gboolean same = run_compare (want, g_ptr_array_index (outputs, i), &options->tolerance, report);
    show_comparison (options, axon_model_get_output_name (model, i), same, report->str);
    if (!same && ok)
      g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("output \"%s\" differs: %s"),
                   axon_model_get_output_name (model, i), report->str);
    ok = ok && same;
  }
  tool_json_end_list (options->json);
  return ok;
}

static gint
find_input (AxonModel *model, const gchar *name, gsize length)
{
  for (guint i = 0; i < axon_model_get_n_inputs (model); i++)
    if (strlen (axon_model_get_input_name (model, i)) == length &&
        strncmp (axon_model_get_input_name (model, i), name, length) == 0)
      return (gint)i;
  return -1;
}

/* Of a list that has gaps until all inputs are given. */
static void
tensor_free (gpointer tensor)
{
  if (tensor != NULL)
    axon_tensor_unref (tensor);
}

static GPtrArray *
load_inputs (AxonModel *model, AxonPreprocess *preprocess, GError **error)
{
  guint n = axon_model_get_n_inputs (model), next = 0;
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (tensor_free);
  g_ptr_array_set_size (list, (gint)n);
  for (guint i = 0; opt.inputs != NULL && opt.inputs[i] != NULL; i++) {
    const gchar *file = opt.inputs[i], *equals = strrchr (file, '=');
    gint index = equals ? find_input (model, file, (gsize)(equals - file)) : -1;
    AxonTensor *tensor;
    if (index >= 0)
      file = equals + 1;
    else
      index = (gint)next++;
    if (index >= (gint)n || list->pdata[index] != NULL) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("\"%s\": there is no such input"),
                   opt.inputs[i]);
      return NULL;
    }
    tensor =
        g_str_has_suffix (file, ".pb") || g_str_has_suffix (file, ".npy")
            ? axon_core_read_tensor (axon_core_get_default (), file, AXON_DTYPE_UNDEFINED, error)
            : run_load_picture (model, (guint)index, file, preprocess, error);
    if (tensor == NULL)
      return NULL;
    list->pdata[index] = tensor;
  }
  for (guint i = 0; i < n; i++)
    if (list->pdata[i] == NULL) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("input \"%s\" is not given"),
                   axon_model_get_input_name (model, i));
      return NULL;
    }
  return g_steal_pointer (&list);
}

static gboolean
run_inputs (AxonModel *model, const RunOptions *options, GError **error)
{
  g_autoptr (GPtrArray) inputs = load_inputs (model, options->preprocess, error);
  g_autoptr (GPtrArray) outputs = inputs ? run_model (model, inputs, options, error) : NULL;
  return outputs != NULL &&
         run_show_outputs (model, outputs, opt.print, opt.save, options->json, error);
}

/* 0 where the model ran, and gave what was expected. */
static int
run_file (const gchar *path, RunOptions *options)
{
  AxonCore *core = axon_core_get_default ();
  GError *error = NULL;
  g_autoptr (AxonModel) model = g_str_has_suffix (path, ".axon")
                                    ? axon_core_read_exported_model (core, path, &error)
                                    : axon_core_read_model (core, path, NULL, &error);
  gboolean ok;
  if (model == NULL)
    return tool_fail (error);
  options->tolerance.quantized = axon_model_is_quantized (model);
  ok = opt.expect ? run_expect (model, opt.expect, options, &error)
                  : run_inputs (model, options, &error);
  return ok ? TOOL_DONE : tool_fail (error);
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (JsonBuilder) json = NULL;
  g_autoptr (GVariant) config = NULL;
  g_autoptr (AxonPreprocess) preprocess = NULL;
  RunOptions options = { 0 };
  GError *error = NULL;
  int status;
  tool_init ();
  g_option_context_set_translation_domain (context, GETTEXT_PACKAGE);
  g_option_context_set_summary (context, _ ("Runs an ONNX model on given inputs."));
  g_option_context_add_main_entries (context, entries, GETTEXT_PACKAGE);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    return tool_misused (error);
  config = tool_parse_config (opt.config, &error);
  preprocess = config ? run_preprocess_new (&opt.picture, &error) : NULL;
  if (preprocess == NULL)
    return tool_misused (error);
  if (opt.suite ? opt.files != NULL : opt.files == NULL || opt.files[1] != NULL)
    return tool_show_usage (context);
  options.config = g_variant_ref_sink (config);
  options.device = opt.device ? opt.device : (gchar *)"CPU";
  options.tolerance = (RunTolerance){ opt.rtol, opt.atol, FALSE, FALSE };
  options.preprocess = preprocess;
  options.json = json = opt.json ? tool_json_new () : NULL;
  status = opt.suite ? run_suite (opt.suite, &options) : run_file (opt.files[0], &options);
  tool_json_finish (json);
  return status;
}
