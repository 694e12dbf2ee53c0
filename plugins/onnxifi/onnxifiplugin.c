/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device ONNXIFI: backends of other vendors' libraries, as ONNXIFI.0, ONNXIFI.1 ... */
#include "onnxifimodel.h"

#include "config.h"
#include <axon/axon-onnxifi.h>
#include <glib/gi18n-lib.h>

typedef struct {
  AxonPlugin parent_instance;
  GPtrArray *devices; /* OnnxifiDevice */
} AxonOnnxifiPlugin;

typedef AxonPluginClass AxonOnnxifiPluginClass;
static GType axon_onnxifi_plugin_get_type (void);
G_DEFINE_TYPE (AxonOnnxifiPlugin, axon_onnxifi_plugin, AXON_TYPE_PLUGIN)

#define MOST_DEVICES "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"

static const AxonPropertySpec properties[] = {
  { .key = "SUPPORTED_PROPERTIES", .flags = AXON_RO_COMPILED },
  { .key = "AVAILABLE_DEVICES", .flags = AXON_RO },
  { .key = "RANGE_FOR_ASYNC_INFER_REQUESTS", .flags = AXON_RO },
  { .key = "RANGE_FOR_STREAMS", .flags = AXON_RO },
  { .key = "EXECUTION_DEVICES", .flags = AXON_RO_COMPILED },
  { .key = "FULL_DEVICE_NAME", .flags = AXON_RO },
  { .key = "DEVICE_ARCHITECTURE", .flags = AXON_RO },
  { .key = "DEVICE_TYPE", .flags = AXON_RO },
  { .key = "OPTIMIZATION_CAPABILITIES", .flags = AXON_RO },
  { AXON_ONNXIFI_VENDOR, AXON_PROPERTY_STRING, AXON_RO, NULL, 0, 0, NULL,
    N_ ("Who made the backend, and its version") },
  { AXON_ONNXIFI_LIBRARY, AXON_PROPERTY_STRING, AXON_RO, NULL, 0, 0, NULL,
    N_ ("File of the vendor library") },
  { AXON_ONNXIFI_OPSETS, AXON_PROPERTY_STRING, AXON_RO, NULL, 0, 0, NULL,
    N_ ("Newest operator sets that the backend takes, as domain:version") },
  { AXON_ONNXIFI_CAPABILITIES, AXON_PROPERTY_STRINGS, AXON_RO, NULL, 0, 0, NULL,
    N_ ("Capabilities that the backend says it has") },
  { AXON_ONNXIFI_MEMORY_SIZE, AXON_PROPERTY_INT, AXON_RO, NULL, 0, 0, NULL,
    N_ ("Bytes of memory of the backend; 0: it does not say") },
  { .key = "DEVICE_ID", .flags = AXON_RW, .default_text = "0", .choices = MOST_DEVICES },
  { .key = "PERF_COUNT",
    .flags = AXON_RW,
    .default_text = "NO",
    .blurb = N_ ("Measure every run; the graph's time is told as that of its last node") },
  { .key = "PERFORMANCE_HINT", .flags = AXON_RW, .default_text = "LATENCY" },
  { .key = "PERFORMANCE_HINT_NUM_REQUESTS", .flags = AXON_RW, .default_text = "0" },
  { .key = "NUM_STREAMS", .flags = AXON_RW, .default_text = "AUTO" },
  { .key = "LOG_LEVEL", .flags = AXON_RW, .default_text = "LOG_NONE" },
  { .key = "NETWORK_NAME", .flags = AXON_MODEL },
  { .key = "OPTIMAL_NUMBER_OF_INFER_REQUESTS", .flags = AXON_MODEL },
  { .key = "LOADED_FROM_CACHE", .flags = AXON_MODEL },
  { .key = "EXCLUSIVE_ASYNC_REQUESTS", .flags = AXON_RW_HIDDEN, .default_text = "NO" },
  { .key = "QUERY_MODEL_RATIO", .flags = AXON_RW_HIDDEN, .default_text = "1" },
};

static const OnnxifiDevice *
get_device (AxonOnnxifiPlugin *self, guint id, GError **error)
{
  if (id < self->devices->len)
    return g_ptr_array_index (self->devices, id);
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
               _ ("there is no ONNXIFI.%u: DEVICE_ID is 0 to %u here"), id, self->devices->len - 1);
  return NULL;
}

static guint
id_of (const AxonConfig *config)
{
  return (guint)g_ascii_strtoull (axon_config_get_string (config, "DEVICE_ID"), NULL, 10);
}

static GVariant *
list_capabilities (const OnnxifiDevice *device)
{
  static const struct {
    guint64 bit;
    const gchar *name;
  } rows[] = {
    { ONNXIFI_CAPABILITY_THREAD_SAFE, "THREAD_SAFE" },
    { ONNXIFI_CAPABILITY_SYMBOLIC_BATCH_SIZE, "SYMBOLIC_BATCH_SIZE" },
    { ONNXIFI_CAPABILITY_SYMBOLIC_SIZE_TENSORS, "SYMBOLIC_SIZE_TENSORS" },
    { ONNXIFI_CAPABILITY_VARIABLE_BATCH_SIZE, "VARIABLE_BATCH_SIZE" },
    { ONNXIFI_CAPABILITY_VARIABLE_SIZE_OUTPUTS, "VARIABLE_SIZE_OUTPUTS" },
    { ONNXIFI_CAPABILITY_HOT_PLUGGABLE, "HOT_PLUGGABLE" },
  };
  GVariantBuilder b;
  g_variant_builder_init (&b, G_VARIANT_TYPE_STRING_ARRAY);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (device->capabilities & rows[i].bit)
      g_variant_builder_add (&b, "s", rows[i].name);
  return g_variant_builder_end (&b);
}

static const gchar *
describe_type (const OnnxifiDevice *device)
{
  static const struct {
    guint64 type;
    const gchar *name;
  } rows[] = {
    { ONNXIFI_DEVICE_TYPE_NPU, "NPU" },   { ONNXIFI_DEVICE_TYPE_DSP, "DSP" },
    { ONNXIFI_DEVICE_TYPE_GPU, "GPU" },   { ONNXIFI_DEVICE_TYPE_CPU, "CPU" },
    { ONNXIFI_DEVICE_TYPE_FPGA, "FPGA" }, { ONNXIFI_DEVICE_TYPE_HETEROGENEOUS, "HETEROGENEOUS" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (device->type == rows[i].type)
      return rows[i].name;
  return "unknown";
}

static GVariant *
device_metric (const OnnxifiDevice *device, const gchar *key)
{
  if (g_str_equal (key, "FULL_DEVICE_NAME"))
    return g_variant_new_take_string (g_strdup_printf ("%s (%s)", device->name, device->hardware));
  if (g_str_equal (key, "DEVICE_ARCHITECTURE"))
    return g_variant_new_take_string (g_strdup_printf ("ONNXIFI: %s", describe_type (device)));
  if (g_str_equal (key, "DEVICE_TYPE"))
    return g_variant_new_string (device->type == ONNXIFI_DEVICE_TYPE_CPU ? "integrated"
                                                                         : "discrete");
  if (g_str_equal (key, AXON_ONNXIFI_VENDOR))
    return g_variant_new_take_string (g_strdup_printf ("%s %s", device->vendor, device->version));
  if (g_str_equal (key, AXON_ONNXIFI_LIBRARY))
    return g_variant_new_string (device->library->path);
  if (g_str_equal (key, AXON_ONNXIFI_OPSETS))
    return g_variant_new_string (device->opsets);
  if (g_str_equal (key, AXON_ONNXIFI_CAPABILITIES))
    return list_capabilities (device);
  if (g_str_equal (key, AXON_ONNXIFI_MEMORY_SIZE))
    return g_variant_new_uint64 (device->memory);
  return NULL;
}

static GVariant *
plugin_metric (const AxonOnnxifiPlugin *self, const gchar *key, guint id)
{
  g_autofree gchar *name = g_strdup_printf ("ONNXIFI.%u", id);
  if (g_str_equal (key, "AVAILABLE_DEVICES"))
    return axon_property_ids (self->devices->len);
  if (g_str_equal (key, "RANGE_FOR_ASYNC_INFER_REQUESTS"))
    return g_variant_new ("(iii)", 1, 2, 1);
  if (g_str_equal (key, "RANGE_FOR_STREAMS"))
    return g_variant_new ("(ii)", 1, 2);
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return axon_property_list (name, NULL);
  if (g_str_equal (key, "OPTIMIZATION_CAPABILITIES"))
    return axon_property_list ("FP32", NULL);
  return NULL;
}

static GVariant *
axon_onnxifi_plugin_get_device_metric (AxonPlugin *plugin, const gchar *id, const gchar *key,
                                       GError **error)
{
  AxonOnnxifiPlugin *self = (AxonOnnxifiPlugin *)plugin;
  guint number = (guint)g_ascii_strtoull (id, NULL, 10);
  const OnnxifiDevice *device = get_device (self, number, error);
  GVariant *value;
  if (device == NULL)
    return NULL;
  value = device_metric (device, key);
  if (value == NULL)
    value = plugin_metric (self, key, number);
  return value ? value : axon_property_no_value (key, error);
}

static AxonCompiledModel *
axon_onnxifi_plugin_compile_model (AxonPlugin *plugin, AxonModel *model,
                                   G_GNUC_UNUSED AxonRemoteContext *context,
                                   const AxonConfig *config, GCancellable *cancellable,
                                   AxonProgressFunc progress, gpointer user_data, GError **error)
{
  guint id = id_of (config);
  g_autofree gchar *name = g_strdup_printf ("%s.%u", axon_plugin_get_name (plugin), id);
  const OnnxifiDevice *device = get_device ((AxonOnnxifiPlugin *)plugin, id, error);
  AxonCompiledModel *compiled = NULL;
  if (device != NULL && !g_cancellable_set_error_if_cancelled (cancellable, error))
    compiled = onnxifi_model_new (plugin, device, name, model, config, error);
  if (compiled != NULL && progress != NULL)
    progress (1, "compiled", user_data);
  return compiled;
}

typedef struct {
  AxonCore *core;
  const OnnxifiDevice *device;
  const AxonModel *model;
} Query;

static gchar *
refuse_ports (const AxonModel *alone)
{
  gchar *why = NULL;
  for (guint i = 0; why == NULL && i < alone->inputs->len; i++)
    why = onnxifi_refuse_value (g_ptr_array_index (alone->inputs, i));
  for (guint i = 0; why == NULL && i < alone->outputs->len; i++) {
    const AxonValue *value = g_ptr_array_index (alone->outputs, i);
    why = onnxifi_refuse_value (value);
    if (why == NULL && value->type.shape.rank < 0)
      why = g_strdup_printf ("\"%s\": its shape is not known before the run", value->name);
  }
  return why;
}

/* Asks the vendor about a model of this node alone, without values of weights. */
static gchar *
refuse_node (const AxonNode *node, gpointer user_data)
{
  const Query *q = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) alone = axon_partition_node (q->model, node, &error);
  g_autoptr (GBytes) bytes = NULL;
  onnxStatus status;
  gconstpointer data;
  gchar *why;
  gsize n;
  if (alone == NULL)
    return g_strdup (error->message);
  why = refuse_ports (alone);
  if (why != NULL)
    return why;
  bytes = axon_core_write_model_to_bytes (
      q->core, alone, AXON_WRITE_WEIGHTS_AS_INPUTS | AXON_WRITE_WITHOUT_WEIGHTS, &error);
  if (bytes == NULL)
    return g_strdup (error->message);
  data = g_bytes_get_data (bytes, &n);
  status = q->device->library->GetBackendCompatibility (q->device->id, n, data);
  if (status == ONNXIFI_STATUS_SUCCESS || status == ONNXIFI_STATUS_FALLBACK)
    return NULL;
  return g_strdup_printf ("%s answers %s", q->device->name, onnxifi_status_name (status));
}

static gboolean
axon_onnxifi_plugin_query_model (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                                 AxonSupportedOps *result, GCancellable *cancellable,
                                 GError **error)
{
  guint id = id_of (config);
  g_autofree gchar *name = g_strdup_printf ("%s.%u", axon_plugin_get_name (plugin), id);
  const OnnxifiDevice *device = get_device ((AxonOnnxifiPlugin *)plugin, id, error);
  g_autoptr (AxonCore) core = device ? axon_plugin_get_core (plugin, error) : NULL;
  Query query = { core, device, model };
  if (core == NULL)
    return FALSE;
  axon_supported_ops_collect (result, model, model, name,
                              axon_config_get_float (config, "QUERY_MODEL_RATIO"), refuse_node,
                              &query);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

static void
axon_onnxifi_plugin_finalize (GObject *object)
{
  g_clear_pointer (&((AxonOnnxifiPlugin *)object)->devices, g_ptr_array_unref);
  G_OBJECT_CLASS (axon_onnxifi_plugin_parent_class)->finalize (object);
}

static void
axon_onnxifi_plugin_class_init (AxonOnnxifiPluginClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = axon_onnxifi_plugin_finalize;
  klass->compile_model = axon_onnxifi_plugin_compile_model;
  klass->query_model = axon_onnxifi_plugin_query_model;
  klass->get_device_metric = axon_onnxifi_plugin_get_device_metric;
}

static void
axon_onnxifi_plugin_init (AxonOnnxifiPlugin *self)
{
  axon_plugin_set_properties_table (&self->parent_instance, properties, G_N_ELEMENTS (properties));
}

static AxonPlugin *
create (const gchar *name, GError **error)
{
  GPtrArray *devices = onnxifi_devices_find (error);
  AxonOnnxifiPlugin *self;
  if (devices == NULL)
    return NULL;
  self = g_object_new (axon_onnxifi_plugin_get_type (), "name", name, NULL);
  self->devices = devices;
  return &self->parent_instance;
}

AXON_DEFINE_PLUGIN_WITH_FLAGS ("ONNXIFI", "Backends of other vendors' ONNXIFI libraries", create,
                               AXON_PLUGIN_FOREIGN)
