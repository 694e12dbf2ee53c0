/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device TEMPLATE: runs the reference kernels. The oracle of the tests and the example for authors
 * of plugins: properties in a table, passes on a clone, one walk over the graph per run. */
#include <axon/axon.h>
#include <axon/axon-plugin.h>
#include <axon/axon-template.h>
#include <glib/gi18n.h>

#include "templatecontext.h"

typedef struct {
  AxonCompiledModel parent_instance;
  AxonModel *model; /* transformed; never written after compiling */
  AxonProfilingInfo *info;
} AxonTemplateModel;

typedef AxonCompiledModelClass AxonTemplateModelClass;
static GType axon_template_model_get_type (void);
G_DEFINE_TYPE (AxonTemplateModel, axon_template_model, AXON_TYPE_COMPILED_MODEL)

typedef struct {
  AxonInferRequest *request;
  gdouble *times;
} Run;

static gboolean
after_node (G_GNUC_UNUSED const AxonNode *node, guint index, gdouble microseconds,
            gpointer user_data, GError **error)
{
  Run *run = user_data;
  if (run->times != NULL)
    run->times[index] = microseconds;
  return axon_infer_request_goes_on (run->request, error);
}

/* First stage, on a stream: computes. */
static gboolean
axon_template_model_infer (AxonCompiledModel *compiled, AxonInferRequest *request,
                           G_GNUC_UNUSED guint stream, GError **error)
{
  AxonTemplateModel *self = (AxonTemplateModel *)compiled;
  guint n_in = self->model->inputs->len, n_out = self->model->outputs->len;
  guint n_nodes = self->model->nodes->len;
  gboolean profile = axon_config_get_bool (axon_compiled_model_get_config (compiled), "PERF_COUNT");
  g_autofree AxonTensor **in = g_new0 (AxonTensor *, n_in + 1);
  g_autofree AxonTensor **out = g_new0 (AxonTensor *, n_out + 1);
  g_autofree gdouble *times = profile ? g_new0 (gdouble, n_nodes + 1) : NULL;
  Run run = { request, times };
  gboolean ok;
  for (guint i = 0; i < n_in; i++)
    in[i] = axon_infer_request_peek_input (request, i);
  ok = axon_eval_model (self->model, in, out, after_node, &run, error);
  for (guint i = 0; ok && i < n_out; i++)
    ok = axon_infer_request_take_output (request, i, g_steal_pointer (&out[i]), error);
  for (guint i = 0; i < n_out; i++)
    g_clear_pointer (&out[i], axon_tensor_unref);
  axon_infer_request_set_profiling (request, n_nodes, self->info, ok ? times : NULL);
  return ok;
}

/* Second stage, on the wait executor: where a device with a queue of its own waits for it. */
static gboolean
wait_for_device (G_GNUC_UNUSED AxonCompiledModel *compiled, AxonInferRequest *request,
                 G_GNUC_UNUSED guint stream, GError **error)
{
  return axon_infer_request_goes_on (request, error);
}

static GVariant *
axon_template_model_export (AxonCompiledModel *compiled, AxonBlobWriter *writer,
                            G_GNUC_UNUSED GError **error)
{
  return axon_blob_writer_add_model (writer, ((AxonTemplateModel *)compiled)->model);
}

static AxonModel *
axon_template_model_get_runtime_model (AxonCompiledModel *compiled, G_GNUC_UNUSED GError **error)
{
  AxonModel *model = axon_model_clone (((AxonTemplateModel *)compiled)->model);
  for (guint i = 0; i < model->nodes->len; i++)
    axon_node_set_exec_type (g_ptr_array_index (model->nodes, i), "reference");
  return model;
}

static void
axon_template_model_finalize (GObject *object)
{
  AxonTemplateModel *self = (AxonTemplateModel *)object;
  g_clear_object (&self->model);
  g_free (self->info);
  G_OBJECT_CLASS (axon_template_model_parent_class)->finalize (object);
}

static void
axon_template_model_class_init (AxonTemplateModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = axon_template_model_finalize;
  klass->infer = axon_template_model_infer;
  klass->export_model = axon_template_model_export;
  klass->get_runtime_model = axon_template_model_get_runtime_model;
}

static void
axon_template_model_init (G_GNUC_UNUSED AxonTemplateModel *self)
{
}

typedef AxonPlugin AxonTemplatePlugin;
typedef AxonPluginClass AxonTemplatePluginClass;
static GType axon_template_plugin_get_type (void);
G_DEFINE_TYPE (AxonTemplatePlugin, axon_template_plugin, AXON_TYPE_PLUGIN)

static const AxonPropertySpec properties[] = {
  { .key = "SUPPORTED_PROPERTIES", .flags = AXON_RO_COMPILED },
  { .key = "AVAILABLE_DEVICES", .flags = AXON_RO },
  { .key = "FULL_DEVICE_NAME", .flags = AXON_RO },
  { .key = "DEVICE_ARCHITECTURE", .flags = AXON_RO },
  { .key = "DEVICE_TYPE", .flags = AXON_RO },
  { .key = "OPTIMIZATION_CAPABILITIES", .flags = AXON_RO },
  { .key = "RANGE_FOR_ASYNC_INFER_REQUESTS", .flags = AXON_RO },
  { .key = "EXECUTION_DEVICES", .flags = AXON_RO_COMPILED },
  { .key = "DEVICE_ID", .flags = AXON_RW, .default_text = "0", .choices = "0" },
  { .key = "PERF_COUNT", .flags = AXON_RW, .default_text = "NO" },
  { .key = "PERFORMANCE_HINT", .flags = AXON_RW, .default_text = "LATENCY" },
  { .key = "PERFORMANCE_HINT_NUM_REQUESTS", .flags = AXON_RW_PLUGIN, .default_text = "0" },
  { .key = "INFERENCE_PRECISION_HINT",
    .flags = AXON_RW_PLUGIN,
    .default_text = "f32",
    .choices = "f32 dynamic" },
  { .key = "EXECUTION_MODE_HINT", .flags = AXON_RW_PLUGIN, .default_text = "PERFORMANCE" },
  { .key = "NUM_STREAMS", .flags = AXON_RW_PLUGIN, .default_text = "AUTO" },
  { AXON_TEMPLATE_DISABLE_TRANSFORMATIONS, AXON_PROPERTY_BOOL, AXON_RW_PLUGIN, "NO", 0, 0, NULL,
    N_ ("Run the model as it was read") },
  { .key = "LOG_LEVEL", .flags = AXON_RW_PLUGIN, .default_text = "LOG_NONE" },
  { .key = "MODEL_PRIORITY", .flags = AXON_RW_PLUGIN, .default_text = "MEDIUM" },
  { .key = "WEIGHTS_PATH", .flags = AXON_RW_PLUGIN, .default_text = "" },
  { .key = "CACHE_MODE", .flags = AXON_RW_PLUGIN, .default_text = "OPTIMIZE_SPEED" },
  { .key = "NETWORK_NAME", .flags = AXON_MODEL },
  { .key = "LOADED_FROM_CACHE", .flags = AXON_MODEL },
  { .key = "OPTIMAL_NUMBER_OF_INFER_REQUESTS", .flags = AXON_MODEL },
  { .key = "CACHING_PROPERTIES", .flags = AXON_RO_HIDDEN },
  { .key = "COMPILED_MODEL_RUNTIME_PROPERTIES", .flags = AXON_RO_HIDDEN },
  { .key = "EXCLUSIVE_ASYNC_REQUESTS", .flags = AXON_RW_HIDDEN, .default_text = "NO" },
  { .key = "INFERENCE_NUM_THREADS", .flags = AXON_RW_HIDDEN, .default_text = "0" },
  { .key = "THREADS_PER_STREAM", .flags = AXON_RW_HIDDEN, .default_text = "0" },
  { .key = "SCHEDULING_CORE_TYPE", .flags = AXON_RW_HIDDEN, .default_text = "ANY_CORE" },
  { .key = "ENABLE_HYPER_THREADING", .flags = AXON_RW_HIDDEN, .default_text = "YES" },
  { .key = "ENABLE_CPU_PINNING", .flags = AXON_RW_HIDDEN, .default_text = "NO" },
  { .key = "COMPILATION_NUM_THREADS", .flags = AXON_RW_HIDDEN, .default_text = "0" },
  { .key = "QUERY_MODEL_RATIO", .flags = AXON_RW_HIDDEN, .default_text = "1" },
};

static GVariant *
execution_devices (AxonPlugin *plugin)
{
  g_autofree gchar *name = g_strconcat (axon_plugin_get_name (plugin), ".0", NULL);
  return axon_property_list (name, NULL);
}

static GVariant *
axon_template_plugin_get_metric (AxonPlugin *plugin, const gchar *key, GError **error)
{
  if (g_str_equal (key, "AVAILABLE_DEVICES"))
    return axon_property_list ("", NULL);
  if (g_str_equal (key, "FULL_DEVICE_NAME"))
    return g_variant_new_string ("Template Device Full Name");
  if (g_str_equal (key, "DEVICE_ARCHITECTURE"))
    return g_variant_new_string ("TEMPLATE");
  if (g_str_equal (key, "DEVICE_TYPE"))
    return g_variant_new_string ("integrated");
  if (g_str_equal (key, "OPTIMIZATION_CAPABILITIES"))
    return axon_property_list ("FP32", "EXPORT_IMPORT", NULL);
  if (g_str_equal (key, "RANGE_FOR_ASYNC_INFER_REQUESTS"))
    return g_variant_new ("(iii)", 1, 1, 1);
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return execution_devices (plugin);
  if (g_str_equal (key, "CACHING_PROPERTIES"))
    return axon_property_list ("DEVICE_ARCHITECTURE", NULL);
  if (g_str_equal (key, "COMPILED_MODEL_RUNTIME_PROPERTIES"))
    return g_variant_new_string ("AXON_VERSION:" AXON_PLUGIN_VERSION);
  return axon_property_no_value (key, error);
}

static AxonExecutor *
make_executor (const AxonConfig *config)
{
  gint streams = axon_config_get_int (config, "NUM_STREAMS");
  if (axon_config_get_bool (config, "EXCLUSIVE_ASYNC_REQUESTS"))
    return axon_executor_manager_get ("TEMPLATE", 1);
  return axon_executor_manager_get ("axon-template", streams < 0 ? 1 : (guint)streams);
}

/* Real compilation is the compiled model's own matter: streams, wait executor, names of steps. */
static AxonCompiledModel *
template_model_new (AxonPlugin *plugin, AxonModel *model, AxonModel *transformed,
                    const AxonConfig *config)
{
  AxonTemplateModel *self = g_object_new (axon_template_model_get_type (), NULL);
  g_autoptr (AxonExecutor) executor = make_executor (config);
  axon_compiled_model_setup (&self->parent_instance, plugin, model, config, executor);
  if (axon_executor_get_n_streams (executor) > 0) {
    g_autoptr (AxonExecutor) wait = axon_executor_manager_get ("TemplateWaitExecutor", 1);
    axon_compiled_model_add_stage (&self->parent_instance, wait, wait_for_device);
  }
  for (guint i = 0; i < transformed->values->len; i++)
    ((AxonValue *)g_ptr_array_index (transformed->values, i))->index = i;
  self->info = g_new0 (AxonProfilingInfo, transformed->nodes->len + 1);
  for (guint i = 0; i < transformed->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (transformed->nodes, i);
    self->info[i] = (AxonProfilingInfo){ .node_name = node->name,
                                         .node_type = node->op->name,
                                         .exec_type = "reference" };
  }
  self->model = g_object_ref (transformed);
  return &self->parent_instance;
}

/* What has no reference kernel: operators of extensions that bring none. */
static gchar *
refuse_node (const AxonNode *node, G_GNUC_UNUSED gpointer user_data)
{
  return axon_op_has_kernel (node->op)
             ? NULL
             : g_strdup_printf ("%s has no reference kernel: its extension brings none",
                                node->op->name);
}

static gboolean
check_kernels (AxonModel *model, GError **error)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (model->nodes, i);
    g_autofree gchar *reason = refuse_node (node, NULL);
    g_autofree gchar *what = axon_node_describe (node);
    if (reason != NULL) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, "%s: %s", what, reason);
      return FALSE;
    }
  }
  return TRUE;
}

static AxonCompiledModel *
axon_template_plugin_compile_model (AxonPlugin *plugin, AxonModel *model,
                                    G_GNUC_UNUSED AxonRemoteContext *context,
                                    const AxonConfig *config, GCancellable *cancellable,
                                    AxonProgressFunc progress, gpointer user_data, GError **error)
{
  g_autoptr (AxonModel) transformed = NULL;
  if (!check_kernels (model, error))
    return NULL;
  transformed = axon_config_get_bool (config, AXON_TEMPLATE_DISABLE_TRANSFORMATIONS)
                    ? axon_model_clone (model)
                    : axon_passes_apply_common (model, cancellable, error);
  if (transformed != NULL && progress != NULL)
    progress (1, "compiled", user_data);
  return transformed ? template_model_new (plugin, model, transformed, config) : NULL;
}

static AxonCompiledModel *
axon_template_plugin_import_model (AxonPlugin *plugin, AxonBlob *blob, GVariant *payload,
                                   G_GNUC_UNUSED AxonRemoteContext *context,
                                   const AxonConfig *config,
                                   G_GNUC_UNUSED GCancellable *cancellable,
                                   G_GNUC_UNUSED AxonProgressFunc progress,
                                   G_GNUC_UNUSED gpointer user_data, GError **error)
{
  g_autoptr (AxonModel) model = axon_blob_read_model (blob, payload, error);
  return model && check_kernels (model, error) ? template_model_new (plugin, model, model, config)
                                               : NULL;
}

static gboolean
axon_template_plugin_query_model (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                                  AxonSupportedOps *result, GCancellable *cancellable,
                                  GError **error)
{
  g_autofree gchar *device = g_strdup_printf ("%s.0", axon_plugin_get_name (plugin));
  axon_supported_ops_collect (result, model, model, device,
                              axon_config_get_float (config, "QUERY_MODEL_RATIO"), refuse_node,
                              NULL);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

static gboolean
axon_template_plugin_add_extension (G_GNUC_UNUSED AxonPlugin *plugin,
                                    G_GNUC_UNUSED AxonExtension *extension,
                                    G_GNUC_UNUSED GError **error)
{
  return TRUE; /* the rows themselves hold the reference kernels */
}

static AxonRemoteContext *
axon_template_plugin_create_context (AxonPlugin *plugin, G_GNUC_UNUSED const gchar *id,
                                     GVariant *params, G_GNUC_UNUSED GError **error)
{
  g_autofree gchar *device = g_strdup_printf ("%s.0", axon_plugin_get_name (plugin));
  return axon_template_context_new (device, params);
}

static AxonRemoteContext *
axon_template_plugin_get_default_context (AxonPlugin *plugin, const gchar *id, GError **error)
{
  return axon_template_plugin_create_context (plugin, id, NULL, error);
}

static void
axon_template_plugin_class_init (AxonTemplatePluginClass *klass)
{
  klass->compile_model = axon_template_plugin_compile_model;
  klass->query_model = axon_template_plugin_query_model;
  klass->get_metric = axon_template_plugin_get_metric;
  klass->import_model = axon_template_plugin_import_model;
  klass->add_extension = axon_template_plugin_add_extension;
  klass->create_context = axon_template_plugin_create_context;
  klass->get_default_context = axon_template_plugin_get_default_context;
}

static void
axon_template_plugin_init (AxonTemplatePlugin *self)
{
  axon_plugin_set_properties_table (self, properties, G_N_ELEMENTS (properties));
}

static AxonPlugin *
create (const gchar *name, G_GNUC_UNUSED GError **error)
{
  return g_object_new (axon_template_plugin_get_type (), "name", name, NULL);
}

AXON_DEFINE_PLUGIN_WITH_FLAGS ("TEMPLATE", "Reference kernels", create, AXON_PLUGIN_REFERENCE)
