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

static void
two_plugin_class_init (TwoPluginClass *klass)
{
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
