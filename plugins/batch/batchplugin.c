/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device BATCH: properties, compile, query. Used only where it is named: BATCH:CPU(4). */
#include "batch.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#define DEFAULT_SIZE 4

typedef AxonPlugin BatchPlugin;
typedef AxonPluginClass BatchPluginClass;
static GType batch_plugin_get_type (void);
G_DEFINE_TYPE (BatchPlugin, batch_plugin, AXON_TYPE_PLUGIN)

static const AxonPropertySpec properties[] = {
  { .key = "SUPPORTED_PROPERTIES", .flags = AXON_RO_COMPILED },
  { .key = "FULL_DEVICE_NAME", .flags = AXON_RO },
  { .key = "MULTI_DEVICE_PRIORITIES", .flags = AXON_RW_PLUGIN, .default_text = "" },
  { .key = "AUTO_BATCH_TIMEOUT",
    .flags = AXON_RW | AXON_PROPERTY_MODEL_WRITE,
    .default_text = "5" },
  { .key = "PERF_COUNT", .flags = AXON_RW_PLUGIN, .default_text = "NO" },
  { .key = "OPTIMAL_NUMBER_OF_INFER_REQUESTS", .flags = AXON_MODEL },
  { .key = "NETWORK_NAME", .flags = AXON_MODEL },
  { .key = "EXECUTION_DEVICES", .flags = AXON_MODEL },
  { .key = "AVAILABLE_DEVICES", .flags = AXON_RO_HIDDEN },
  { .key = "OPTIMIZATION_CAPABILITIES", .flags = AXON_RO_HIDDEN },
};

static GVariant *
batch_plugin_get_metric (G_GNUC_UNUSED AxonPlugin *plugin, const gchar *key, GError **error)
{
  if (g_str_equal (key, "FULL_DEVICE_NAME"))
    return g_variant_new_string ("BATCH");
  if (g_str_equal (key, "AVAILABLE_DEVICES"))
    return axon_property_list ("", NULL);
  if (g_str_equal (key, "OPTIMIZATION_CAPABILITIES"))
    return g_variant_new_strv (NULL, 0);
  return axon_property_no_value (key, error);
}

/* The one device behind; its number in brackets is the size of a batch. */
static gchar *
find_device (const AxonConfig *config, guint *size, GError **error)
{
  const gchar *text = axon_config_get_string (config, "MULTI_DEVICE_PRIORITIES");
  g_autoptr (GPtrArray) list = *text ? axon_device_list_parse (text, error) : NULL;
  const AxonDeviceRef *ref;
  if (*text != '\0' && list == NULL)
    return NULL;
  if (list == NULL || list->len != 1 || ((AxonDeviceRef *)g_ptr_array_index (list, 0))->excluded) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("BATCH:%s: expected one device, with the size of a batch: BATCH:CPU(4)"), text);
    return NULL;
  }
  ref = g_ptr_array_index (list, 0);
  *size = ref->number > 0 ? (guint)ref->number : DEFAULT_SIZE;
  return g_strdup (ref->device);
}

static AxonCompiledModel *
batch_plugin_compile_model (AxonPlugin *plugin, AxonModel *model, AxonRemoteContext *context,
                            const AxonConfig *config, GCancellable *cancellable,
                            AxonProgressFunc progress, gpointer user_data, GError **error)
{
  guint size;
  g_autofree gchar *device = find_device (config, &size, error);
  g_assert (context == NULL); /* BATCH makes none */
  return device ? batch_model_new (plugin, model, device, size, config, cancellable, progress,
                                   user_data, error)
                : NULL;
}

static gboolean
batch_plugin_query_model (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                          AxonSupportedOps *result, GCancellable *cancellable, GError **error)
{
  guint size;
  g_autofree gchar *device = find_device (config, &size, error);
  return device != NULL &&
         axon_candidates_query (plugin, model, config, result, cancellable, error);
}

static void
batch_plugin_class_init (BatchPluginClass *klass)
{
  klass->compile_model = batch_plugin_compile_model;
  klass->query_model = batch_plugin_query_model;
  klass->get_metric = batch_plugin_get_metric;
  klass->forwards_properties = TRUE;
}

static void
batch_plugin_init (BatchPlugin *self)
{
  axon_plugin_set_properties_table (self, properties, G_N_ELEMENTS (properties));
}

static AxonPlugin *
create (const gchar *name, G_GNUC_UNUSED GError **error)
{
  return g_object_new (batch_plugin_get_type (), "name", name, NULL);
}

AXON_DEFINE_PLUGIN_WITH_FLAGS ("BATCH", "Requests gathered into batches", create,
                               AXON_PLUGIN_VIRTUAL)
