/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device GPU: devices, properties, contexts, compile and query. */
#include "gpucontext.h"
#include "gpudrivers.h"
#include "gpumodel.h"

#include "config.h"
#include <axon/axon-gpu.h>
#include <glib/gi18n-lib.h>

typedef struct {
  AxonPlugin parent_instance;
  GPtrArray *devices; /* GpuDevice */
} AxonGpuPlugin;

typedef AxonPluginClass AxonGpuPluginClass;
static GType axon_gpu_plugin_get_type (void);
G_DEFINE_TYPE (AxonGpuPlugin, axon_gpu_plugin, AXON_TYPE_PLUGIN)

#define TILES "AUTO 1x1 1x2 1x4 1x8 2x1 2x2 2x4 2x8 4x1 4x2 4x4 4x8 8x1 8x2 8x4 8x8"
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
  { .key = "DEVICE_UUID",
    .type = AXON_PROPERTY_STRING,
    .flags = AXON_RO,
    .blurb = N_ ("Identity of the device, hexadecimal; empty: the driver does not say") },
  { .key = "OPTIMIZATION_CAPABILITIES", .flags = AXON_RO },
  { AXON_GPU_DEVICE_TOTAL_MEM_SIZE, AXON_PROPERTY_INT, AXON_RO, NULL, 0, 0, NULL,
    N_ ("Bytes of device memory") },
  { AXON_GPU_EXECUTION_UNITS_COUNT, AXON_PROPERTY_INT, AXON_RO, NULL, 0, 0, NULL,
    N_ ("Compute units") },
  { AXON_GPU_DRIVER_VERSION, AXON_PROPERTY_STRING, AXON_RO, NULL, 0, 0, NULL,
    N_ ("OpenCL version and version of the driver") },
  { .key = "DEVICE_ID", .flags = AXON_RW, .default_text = "0", .choices = MOST_DEVICES },
  { .key = "PERF_COUNT", .flags = AXON_RW, .default_text = "NO" },
  { .key = "PERFORMANCE_HINT",
    .flags = AXON_RW,
    .default_text = "LATENCY",
    .blurb = N_ ("LATENCY: one queue; THROUGHPUT: two, so that the device has work at any time") },
  { .key = "PERFORMANCE_HINT_NUM_REQUESTS", .flags = AXON_RW, .default_text = "0" },
  { .key = "EXECUTION_MODE_HINT", .flags = AXON_RW, .default_text = "PERFORMANCE" },
  { .key = "INFERENCE_PRECISION_HINT",
    .flags = AXON_RW,
    .default_text = "f32",
    .choices = "f32 f16 dynamic",
    .blurb = N_ (
        "f16: numbers are stored in half precision and computed in f32, where the device has it") },
  { AXON_GPU_DISABLE_WINOGRAD_CONVOLUTION, AXON_PROPERTY_BOOL, AXON_RW, "NO", 0, 0, NULL,
    N_ ("Compute convolutions of 3x3 as they are defined") },
  { AXON_GPU_TUNE_KERNELS, AXON_PROPERTY_BOOL, AXON_RW, "NO", 0, 0, NULL,
    N_ ("Measure variants of kernels when compiling; the cache keeps which was fastest") },
  { .key = "NUM_STREAMS", .flags = AXON_RW, .default_text = "AUTO" },
  { .key = "MODEL_PRIORITY",
    .flags = AXON_RW,
    .default_text = "MEDIUM",
    .blurb = N_ ("AUTO reads it; queues of OpenCL 1.2 have no priorities") },
  { .key = "LOG_LEVEL", .flags = AXON_RW, .default_text = "LOG_NONE" },
  { .key = "NETWORK_NAME", .flags = AXON_MODEL },
  { .key = "OPTIMAL_NUMBER_OF_INFER_REQUESTS", .flags = AXON_MODEL },
  { .key = "LOADED_FROM_CACHE", .flags = AXON_MODEL },
  { .key = "CACHING_PROPERTIES", .flags = AXON_RO_HIDDEN },
  { .key = "DEVICE_KIND", .flags = AXON_RO_HIDDEN },
  { .key = "DEVICE_RANK", .flags = AXON_RO_HIDDEN },
  { .key = "DEVICE_TOTAL_MEM_SIZE", .flags = AXON_RO_HIDDEN },
  { .key = "DEVICE_MEMORY_TYPES", .flags = AXON_RO_HIDDEN },
  { .key = "COMPILED_MODEL_RUNTIME_PROPERTIES", .flags = AXON_RO_HIDDEN },
  { AXON_GPU_OPERATOR_KERNELS, AXON_PROPERTY_STRINGS, AXON_RO_HIDDEN, NULL, 0, 0, NULL,
    N_ ("Operators with kernels of this device, as domain:name=implementation") },
  { AXON_GPU_EMULATE_HALF, AXON_PROPERTY_BOOL, AXON_RW_HIDDEN, "NO", 0, 0, NULL,
    N_ ("Store in half precision where the device has none, too") },
  { AXON_GPU_EMULATE_LOCAL_MEMORY, AXON_PROPERTY_BOOL, AXON_RW_HIDDEN, "NO", 0, 0, NULL,
    N_ ("Use tiles in local memory where it is ordinary memory, too") },
  { AXON_GPU_TILE, AXON_PROPERTY_STRING, AXON_RW_HIDDEN, "AUTO", 0, 0, TILES,
    N_ ("Width of an item by slices of a group, of tiles in local memory") },
  { .key = "EXCLUSIVE_ASYNC_REQUESTS", .flags = AXON_RW_HIDDEN, .default_text = "NO" },
  { .key = "QUERY_MODEL_RATIO", .flags = AXON_RW_HIDDEN, .default_text = "1" },
};

static guint
id_of (GVariant *value)
{
  return (guint)g_ascii_strtoull (g_variant_get_string (value, NULL), NULL, 10);
}

static const GpuDevice *
get_device (AxonGpuPlugin *self, guint id, GError **error)
{
  if (id < self->devices->len)
    return g_ptr_array_index (self->devices, id);
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
               _ ("there is no GPU.%u: DEVICE_ID is 0 to %u here"), id, self->devices->len - 1);
  return NULL;
}

static const GpuDevice *
device_of_config (AxonPlugin *plugin, const AxonConfig *config, guint *id, GError **error)
{
  *id = id_of (axon_config_get (config, "DEVICE_ID"));
  return get_device ((AxonGpuPlugin *)plugin, *id, error);
}

static GVariant *
list_kernels (void)
{
  GVariantBuilder b;
  g_autoptr (GPtrArray) names = gpu_kernel_names ();
  g_variant_builder_init (&b, G_VARIANT_TYPE_STRING_ARRAY);
  for (guint i = 0; i < names->len; i++)
    g_variant_builder_add (&b, "s", g_ptr_array_index (names, i));
  return g_variant_builder_end (&b);
}

/* What differs between devices. */
static GVariant *
device_metric (const GpuDevice *device, const gchar *key)
{
  if (g_str_equal (key, "FULL_DEVICE_NAME"))
    return g_variant_new_string (device->name);
  if (g_str_equal (key, "DEVICE_ARCHITECTURE"))
    return g_variant_new_take_string (
        g_strdup_printf ("GPU: vendor=0x%x arch=%s", device->vendor_id, device->version));
  if (g_str_equal (key, "OPTIMIZATION_CAPABILITIES"))
    return device->fp16 ? axon_property_list ("FP32", "FP16", "INT8", "EXPORT_IMPORT", NULL)
                        : axon_property_list ("FP32", "INT8", "EXPORT_IMPORT", NULL);
  if (g_str_equal (key, "DEVICE_UUID"))
    return g_variant_new_string (device->uuid ? device->uuid : "");
  if (g_str_equal (key, "DEVICE_TYPE"))
    return g_variant_new_string (device->unified ? "integrated" : "discrete");
  if (g_str_equal (key, "DEVICE_RANK"))
    return g_variant_new_int32 (device->unified ? AXON_DEVICE_RANK_INTEGRATED_GPU
                                                : AXON_DEVICE_RANK_DISCRETE_GPU);
  if (g_str_equal (key, AXON_GPU_DEVICE_TOTAL_MEM_SIZE) ||
      g_str_equal (key, "DEVICE_TOTAL_MEM_SIZE"))
    return g_variant_new_uint64 (device->memory);
  if (g_str_equal (key, AXON_GPU_EXECUTION_UNITS_COUNT))
    return g_variant_new_int32 ((gint)device->units);
  if (g_str_equal (key, AXON_GPU_DRIVER_VERSION))
    return g_variant_new_take_string (g_strjoin ("; ", device->version, device->driver, NULL));
  return NULL;
}

static GVariant *
plugin_metric (AxonGpuPlugin *self, const gchar *key, guint id)
{
  g_autofree gchar *name = g_strdup_printf ("GPU.%u", id);
  if (g_str_equal (key, "AVAILABLE_DEVICES"))
    return axon_property_ids (self->devices->len);
  if (g_str_equal (key, "RANGE_FOR_ASYNC_INFER_REQUESTS"))
    return g_variant_new ("(iii)", 1, 2, 1);
  if (g_str_equal (key, "DEVICE_KIND"))
    return g_variant_new_string ("GPU");
  if (g_str_equal (key, "DEVICE_MEMORY_TYPES"))
    return axon_property_list ("OPENCL_BUFFER", NULL);
  if (g_str_equal (key, "RANGE_FOR_STREAMS"))
    return g_variant_new ("(ii)", 1, 2);
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return axon_property_list (name, NULL);
  if (g_str_equal (key, AXON_GPU_OPERATOR_KERNELS))
    return list_kernels ();
  if (g_str_equal (key, "CACHING_PROPERTIES"))
    return axon_property_list ("FULL_DEVICE_NAME", AXON_GPU_DRIVER_VERSION, NULL);
  if (g_str_equal (key, "COMPILED_MODEL_RUNTIME_PROPERTIES"))
    return g_variant_new_string ("AXON_VERSION:" AXON_PLUGIN_VERSION);
  return NULL;
}

static GVariant *
axon_gpu_plugin_get_device_metric (AxonPlugin *plugin, const gchar *id, const gchar *key,
                                   GError **error)
{
  AxonGpuPlugin *self = (AxonGpuPlugin *)plugin;
  guint number = (guint)g_ascii_strtoull (id, NULL, 10);
  const GpuDevice *device = get_device (self, number, error);
  GVariant *value;
  if (device == NULL)
    return NULL;
  value = device_metric (device, key);
  if (value == NULL)
    value = plugin_metric (self, key, number);
  return value ? value : axon_property_no_value (key, error);
}

static AxonRemoteContext *
new_context (AxonPlugin *plugin, guint id, GVariant *params, GError **error)
{
  g_autofree gchar *name = g_strdup_printf ("%s.%u", axon_plugin_get_name (plugin), id);
  const GpuDevice *device = get_device ((AxonGpuPlugin *)plugin, id, error);
  return device ? gpu_context_new (name, device, G_OBJECT (plugin), params, error) : NULL;
}

static AxonRemoteContext *
axon_gpu_plugin_create_context (AxonPlugin *plugin, const gchar *id, GVariant *params,
                                GError **error)
{
  g_autoptr (GVariant) own = id ? NULL : axon_plugin_get_property (plugin, "DEVICE_ID", error);
  if (id == NULL && own == NULL)
    return NULL;
  return new_context (plugin, id ? (guint)g_ascii_strtoull (id, NULL, 10) : id_of (own), params,
                      error);
}

static AxonRemoteContext *
axon_gpu_plugin_get_default_context (AxonPlugin *plugin, const gchar *id, GError **error)
{
  return axon_gpu_plugin_create_context (plugin, id, NULL, error);
}

static AxonCompiledModel *
make_model (AxonPlugin *plugin, AxonModel *model, AxonModel *transformed,
            AxonRemoteContext *context, const AxonConfig *config, const GpuStored *stored,
            const GpuCompile *call, GError **error)
{
  guint id;
  const GpuDevice *device = device_of_config (plugin, config, &id, error);
  g_autoptr (AxonRemoteContext) own = NULL;
  if (device == NULL)
    return NULL;
  own = context ? g_object_ref (context) : new_context (plugin, id, NULL, error);
  return own ? gpu_model_new (plugin, device, model, transformed, own, config, stored, call, error)
             : NULL;
}

static AxonCompiledModel *
axon_gpu_plugin_compile_model (AxonPlugin *plugin, AxonModel *model, AxonRemoteContext *context,
                               const AxonConfig *config, GCancellable *cancellable,
                               AxonProgressFunc progress, gpointer user_data, GError **error)
{
  const GpuCompile call = { cancellable, progress, user_data };
  g_autoptr (AxonModel) transformed = NULL;
  if (progress != NULL)
    progress (0, "passes", user_data);
  transformed = axon_passes_apply_common (model, cancellable, error);
  if (transformed != NULL && progress != NULL)
    progress (0.2, "kernels", user_data);
  return transformed ? make_model (plugin, model, transformed, context, config, NULL, &call, error)
                     : NULL;
}

static AxonCompiledModel *
axon_gpu_plugin_import_model (AxonPlugin *plugin, AxonBlob *blob, GVariant *payload,
                              AxonRemoteContext *context, const AxonConfig *config,
                              GCancellable *cancellable, AxonProgressFunc progress,
                              gpointer user_data, GError **error)
{
  const GpuCompile call = { cancellable, progress, user_data };
  g_autoptr (GVariant) graph = NULL;
  g_autoptr (GVariant) binaries = NULL;
  g_autoptr (GVariant) tuned = NULL;
  g_autoptr (AxonModel) model = NULL;
  GpuStored stored;
  if (!g_variant_is_of_type (payload, G_VARIANT_TYPE ("(va(say)a{si})"))) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("this is no export of device GPU"));
    return NULL;
  }
  g_variant_get (payload, "(v@a(say)@a{si})", &graph, &binaries, &tuned);
  stored = (GpuStored){ binaries, tuned };
  model = axon_blob_read_model (blob, graph, error);
  return model ? make_model (plugin, model, model, context, config, &stored, &call, error) : NULL;
}

static gchar *
refuse_node (const AxonNode *node, gpointer user_data)
{
  return g_strdup (g_hash_table_lookup (user_data, node));
}

static gboolean
axon_gpu_plugin_query_model (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                             AxonSupportedOps *result, GCancellable *cancellable, GError **error)
{
  guint id;
  const GpuDevice *device = device_of_config (plugin, config, &id, error);
  const GpuOptions options = { .winograd = FALSE }; /* none changes what is taken */
  g_autofree gchar *name = g_strdup_printf ("%s.%u", axon_plugin_get_name (plugin), id);
  g_autoptr (AxonModel) transformed =
      device ? axon_passes_apply_common (model, cancellable, error) : NULL;
  g_autoptr (AxonModel) lowered =
      transformed ? gpu_lower_model (transformed, &options, cancellable, error) : NULL;
  g_autoptr (GHashTable) refused = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  if (lowered == NULL || !gpu_model_check (device, &options, lowered, refused, error))
    return FALSE;
  axon_supported_ops_collect (result, model, lowered, name,
                              axon_config_get_float (config, "QUERY_MODEL_RATIO"), refuse_node,
                              refused);
  return TRUE;
}

static void
axon_gpu_plugin_finalize (GObject *object)
{
  g_clear_pointer (&((AxonGpuPlugin *)object)->devices, g_ptr_array_unref);
  G_OBJECT_CLASS (axon_gpu_plugin_parent_class)->finalize (object);
}

static void
axon_gpu_plugin_class_init (AxonGpuPluginClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = axon_gpu_plugin_finalize;
  klass->compile_model = axon_gpu_plugin_compile_model;
  klass->import_model = axon_gpu_plugin_import_model;
  klass->query_model = axon_gpu_plugin_query_model;
  klass->get_device_metric = axon_gpu_plugin_get_device_metric;
  klass->create_context = axon_gpu_plugin_create_context;
  klass->get_default_context = axon_gpu_plugin_get_default_context;
}

static void
axon_gpu_plugin_init (AxonGpuPlugin *self)
{
  axon_plugin_set_properties_table (&self->parent_instance, properties, G_N_ELEMENTS (properties));
}

static AxonPlugin *
create (const gchar *name, GError **error)
{
  GPtrArray *devices =
      gpu_drivers_allowed (error) && gpu_cl_load (error) ? gpu_devices_find (error) : NULL;
  AxonGpuPlugin *self;
  if (devices == NULL)
    return NULL;
  self = g_object_new (axon_gpu_plugin_get_type (), "name", name, NULL);
  self->devices = devices;
  return &self->parent_instance;
}

AXON_DEFINE_PLUGIN ("GPU", "Graphics processors, with OpenCL", create)
