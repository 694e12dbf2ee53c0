/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device TWO, for tests: the sample plugin with two devices that differ. TWO_NEXT: version 2.0 of
 * it. */
#define SAMPLE_NO_ENTRY
#define SAMPLE_DEVICE_ID                                                                           \
  {                                                                                                \
    .key = "DEVICE_ID", .flags = AXON_RW, .default_text = "0", .choices = "0 1 7"                  \
  }
#ifdef TWO_NEXT /* all may be loaded: types have one name each */
#define SampleModel NextSampleModel
#define SampleModelClass NextSampleModelClass
#define SamplePlugin NextSamplePlugin
#define SamplePluginClass NextSamplePluginClass
#define TwoPlugin NextTwoPlugin
#define TwoPluginClass NextTwoPluginClass
#define VERSION_TEXT "2.0"
#define FLAGS 0
#define SAMPLE_MORE_PROPERTIES                                                                     \
  { .key = "DEVICE_KIND", .flags = AXON_RO }, { .key = "DEVICE_RANK", .flags = AXON_RO },          \
      { .key = "DEVICE_TOTAL_MEM_SIZE", .flags = AXON_RO },
#else
#define SampleModel TwoSampleModel
#define SampleModelClass TwoSampleModelClass
#define SamplePlugin TwoSamplePlugin
#define SamplePluginClass TwoSamplePluginClass
#define VERSION_TEXT "1.0"
#define FLAGS AXON_PLUGIN_REFERENCE
#endif
#include "../../docs/examples/plugin/sampleplugin.c"

#include <string.h>

typedef SamplePlugin TwoPlugin;
typedef SamplePluginClass TwoPluginClass;
static GType two_plugin_get_type (void);
G_DEFINE_TYPE (TwoPlugin, two_plugin, sample_plugin_get_type ())

static GVariant *
text_with_id (const gchar *text, const gchar *id)
{
  return g_variant_new_take_string (g_strconcat (text, id, NULL));
}

static GVariant *
two_plugin_get_device_metric (AxonPlugin *plugin, const gchar *id, const gchar *key, GError **error)
{
  g_autofree gchar *name = g_strdup_printf ("%s.%s", axon_plugin_get_name (plugin), id);
  if (g_str_equal (key, "AVAILABLE_DEVICES"))
    return axon_property_ids (2);
  if (g_str_equal (key, "FULL_DEVICE_NAME"))
    return text_with_id ("Device of two, number ", id);
  if (g_str_equal (key, "DEVICE_ARCHITECTURE"))
    return text_with_id ("architecture", id);
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return axon_property_list (name, NULL);
  if (g_str_equal (key, "DEVICE_KIND"))
    return g_variant_new_string ("FPGA");
  if (g_str_equal (key, "DEVICE_RANK"))
    return g_variant_new_int32 (g_str_equal (id, "0") ? 60 : 50);
  if (g_str_equal (key, "DEVICE_TOTAL_MEM_SIZE"))
    return g_variant_new_uint64 (12345678);
  return sample_plugin_get_metric (plugin, key, error);
}

#ifdef TWO_NEXT /* it stores models in a format of its own: a line and an ONNX file */
#define LINE "NEXT TWO\n"

static GBytes *
export_bytes (AxonCompiledModel *compiled, GError **error)
{
  g_autoptr (AxonCore) core =
      axon_plugin_get_core (axon_compiled_model_get_plugin (compiled), error);
  g_autoptr (GBytes) onnx =
      core ? axon_core_write_model_to_bytes (core, ((SampleModel *)compiled)->model,
                                             AXON_WRITE_DEFAULT, error)
           : NULL;
  GByteArray *all = onnx ? g_byte_array_new () : NULL;
  if (all == NULL)
    return NULL;
  g_byte_array_append (all, (const guint8 *)LINE, strlen (LINE));
  g_byte_array_append (all, g_bytes_get_data (onnx, NULL), (guint)g_bytes_get_size (onnx));
  return g_byte_array_free_to_bytes (all);
}

static AxonCompiledModel *
import_bytes (AxonPlugin *plugin, GBytes *bytes, G_GNUC_UNUSED AxonRemoteContext *context,
              const AxonConfig *config, GCancellable *cancellable,
              G_GNUC_UNUSED AxonProgressFunc progress, G_GNUC_UNUSED gpointer user_data,
              GError **error)
{
  g_autoptr (AxonCore) core = axon_plugin_get_core (plugin, error);
  gsize n = g_bytes_get_size (bytes);
  g_autoptr (GBytes) onnx = NULL;
  g_autoptr (AxonModel) model = NULL;
  if (core == NULL)
    return NULL;
  if (n < strlen (LINE) || memcmp (g_bytes_get_data (bytes, NULL), LINE, strlen (LINE)) != 0) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "this is no file of device TWO");
    return NULL;
  }
  onnx = g_bytes_new_from_bytes (bytes, strlen (LINE), n - strlen (LINE));
  model = axon_core_read_model_from_bytes (core, onnx, cancellable, error);
  return model ? sample_model_new (plugin, model, model, config) : NULL;
}

/* Its models are the sample's but for the way that they are exported. */
static AxonCompiledModel *
two_plugin_compile_model (AxonPlugin *plugin, AxonModel *model, AxonRemoteContext *context,
                          const AxonConfig *config, GCancellable *cancellable,
                          AxonProgressFunc progress, gpointer user_data, GError **error)
{
  AxonCompiledModel *compiled = sample_plugin_compile_model (
      plugin, model, context, config, cancellable, progress, user_data, error);
  if (compiled != NULL) {
    AXON_COMPILED_MODEL_GET_CLASS (compiled)->export_model = NULL;
    AXON_COMPILED_MODEL_GET_CLASS (compiled)->export_bytes = export_bytes;
  }
  return compiled;
}
#endif

static void
two_plugin_class_init (TwoPluginClass *klass)
{
#ifdef TWO_NEXT
  klass->compile_model = two_plugin_compile_model;
  klass->import_model = NULL;
  klass->import_bytes = import_bytes;
#endif
  klass->get_metric = NULL;
  klass->get_device_metric = two_plugin_get_device_metric;
}

static void
two_plugin_init (G_GNUC_UNUSED TwoPlugin *self)
{
}

static AxonPlugin *
create (const gchar *name, G_GNUC_UNUSED GError **error)
{
  return g_object_new (two_plugin_get_type (), "name", name, NULL);
}

AXON_DEFINE_PLUGIN_INFO (.name = "TWO", .version = VERSION_TEXT,
                         .description = "Two devices, for tests", .create = create, .flags = FLAGS)
