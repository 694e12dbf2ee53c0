/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device SAMPLE: the least that a device plugin is. It runs the library's reference kernels where
 * yours would call a driver. Built against the installed headers only; see README.md. */
#include <axon/axon.h>
#include <axon/axon-plugin.h>

/* A compiled model: what the backend needs to run. Shared by requests, so nothing in it changes. */
typedef struct {
  AxonCompiledModel parent_instance;
  AxonModel *model; /* transformed */
  AxonProfilingInfo *rows;
} SampleModel;

typedef AxonCompiledModelClass SampleModelClass;
static GType sample_model_get_type (void);
G_DEFINE_TYPE (SampleModel, sample_model, AXON_TYPE_COMPILED_MODEL)

/* Called after every node: stops a run that was cancelled, notes the time. */
typedef struct {
  AxonInferRequest *request;
  gdouble *times;
} Run;

static gboolean
after_node (G_GNUC_UNUSED const AxonNode *node, guint index, gdouble microseconds,
            gpointer user_data, GError **error)
{
  Run *run = user_data;
  run->times[index] = microseconds;
  return axon_infer_request_goes_on (run->request, error);
}

/* One run. Inputs are dense; outputs are handed over, and copied where the user set a tensor. */
static gboolean
sample_model_infer (AxonCompiledModel *compiled, AxonInferRequest *request,
                    G_GNUC_UNUSED guint stream, GError **error)
{
  SampleModel *self = (SampleModel *)compiled;
  gboolean profile = axon_config_get_bool (axon_compiled_model_get_config (compiled), "PERF_COUNT");
  guint n_in = self->model->inputs->len, n_out = self->model->outputs->len;
  g_autofree AxonTensor **in = g_new0 (AxonTensor *, n_in + 1);
  g_autofree AxonTensor **out = g_new0 (AxonTensor *, n_out + 1);
  g_autofree gdouble *times = g_new0 (gdouble, self->model->nodes->len + 1);
  Run run = { request, times };
  gboolean ok;
  for (guint i = 0; i < n_in; i++)
    in[i] = axon_infer_request_peek_input (request, i);
  ok = axon_eval_model (self->model, in, out, after_node, &run, error);
  for (guint i = 0; ok && i < n_out; i++)
    ok = axon_infer_request_take_output (request, i, g_steal_pointer (&out[i]), error);
  for (guint i = 0; i < n_out; i++)
    g_clear_pointer (&out[i], axon_tensor_unref);
  axon_infer_request_set_profiling (request, self->model->nodes->len, self->rows,
                                    ok && profile ? times : NULL);
  return ok;
}

/* What import_model gets back. The library writes device, versions, configuration and ports. */
static GVariant *
sample_model_export (AxonCompiledModel *compiled, AxonBlobWriter *writer,
                     G_GNUC_UNUSED GError **error)
{
  return axon_blob_writer_add_model (writer, ((SampleModel *)compiled)->model);
}

/* The graph as it runs, for people who look for what is slow; the library adds the times. */
static AxonModel *
sample_model_get_runtime_model (AxonCompiledModel *compiled, G_GNUC_UNUSED GError **error)
{
  AxonModel *model = axon_model_clone (((SampleModel *)compiled)->model);
  for (guint i = 0; i < model->nodes->len; i++)
    axon_node_set_exec_type (g_ptr_array_index (model->nodes, i), "sample");
  return model;
}

static void
sample_model_finalize (GObject *object)
{
  SampleModel *self = (SampleModel *)object;
  g_clear_object (&self->model);
  g_free (self->rows);
  G_OBJECT_CLASS (sample_model_parent_class)->finalize (object);
}

static void
sample_model_class_init (SampleModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sample_model_finalize;
  klass->infer = sample_model_infer;
  klass->export_model = sample_model_export;
  klass->get_runtime_model = sample_model_get_runtime_model;
}

static void
sample_model_init (G_GNUC_UNUSED SampleModel *self)
{
}

/* The plugin: one backend, its properties. */
typedef AxonPlugin SamplePlugin;
typedef AxonPluginClass SamplePluginClass;
static GType sample_plugin_get_type (void);
G_DEFINE_TYPE (SamplePlugin, sample_plugin, AXON_TYPE_PLUGIN)

/* Well-known keys need a flag and a default; keys of your own also a type and a blurb. */
#ifndef SAMPLE_MORE_PROPERTIES
#define SAMPLE_MORE_PROPERTIES
#endif
#ifndef SAMPLE_DEVICE_ID /* one device, without an id */
#define SAMPLE_DEVICE_ID                                                                           \
  {                                                                                                \
    .key = "DEVICE_ID", .flags = AXON_RW, .default_text = "", .choices = ""                        \
  }
#endif
static const AxonPropertySpec properties[] = {
  { .key = "SUPPORTED_PROPERTIES", .flags = AXON_RO_COMPILED },
  { .key = "AVAILABLE_DEVICES", .flags = AXON_RO },
  { .key = "FULL_DEVICE_NAME", .flags = AXON_RO },
  { .key = "DEVICE_ARCHITECTURE", .flags = AXON_RO },
  { .key = "DEVICE_TYPE", .flags = AXON_RO },
  { .key = "OPTIMIZATION_CAPABILITIES", .flags = AXON_RO },
  { .key = "RANGE_FOR_ASYNC_INFER_REQUESTS", .flags = AXON_RO },
  { .key = "EXECUTION_DEVICES", .flags = AXON_RO_COMPILED },
  SAMPLE_DEVICE_ID,
  { .key = "PERF_COUNT", .flags = AXON_RW, .default_text = "NO" },
  { .key = "NUM_STREAMS", .flags = AXON_RW, .default_text = "AUTO" },
  { .key = "PERFORMANCE_HINT", .flags = AXON_RW, .default_text = "LATENCY" },
  { .key = "NETWORK_NAME", .flags = AXON_MODEL },
  { .key = "LOADED_FROM_CACHE", .flags = AXON_MODEL },
  { .key = "OPTIMAL_NUMBER_OF_INFER_REQUESTS", .flags = AXON_MODEL },
  SAMPLE_MORE_PROPERTIES
};

static GVariant *
sample_plugin_get_metric (AxonPlugin *plugin, const gchar *key, GError **error)
{
  if (g_str_equal (key, "AVAILABLE_DEVICES"))
    return axon_property_list ("", NULL); /* one device, without an id */
  if (g_str_equal (key, "FULL_DEVICE_NAME"))
    return g_variant_new_string ("Sample device");
  if (g_str_equal (key, "DEVICE_ARCHITECTURE"))
    return g_variant_new_string ("sample");
  if (g_str_equal (key, "DEVICE_TYPE"))
    return g_variant_new_string ("integrated");
  if (g_str_equal (key, "OPTIMIZATION_CAPABILITIES"))
    return axon_property_list ("FP32", "EXPORT_IMPORT", NULL);
  if (g_str_equal (key, "RANGE_FOR_ASYNC_INFER_REQUESTS"))
    return g_variant_new ("(iii)", 1, 1, 1);
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return axon_property_list (axon_plugin_get_name (plugin), NULL);
  return axon_property_no_value (key, error);
}

/* @model has the ports, @transformed what runs. */
static AxonCompiledModel *
sample_model_new (AxonPlugin *plugin, AxonModel *model, AxonModel *transformed,
                  const AxonConfig *config)
{
  SampleModel *self = g_object_new (sample_model_get_type (), NULL);
  gint streams = axon_config_get_int (config, "NUM_STREAMS");
  g_autoptr (AxonExecutor) executor =
      axon_executor_new ("sample", streams < 0 ? 2 : (guint)streams);
  axon_compiled_model_setup (&self->parent_instance, plugin, model, config, executor);
  self->model = g_object_ref (transformed);
  self->rows = g_new0 (AxonProfilingInfo, transformed->nodes->len + 1);
  for (guint i = 0; i < transformed->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (transformed->nodes, i);
    self->rows[i] = (AxonProfilingInfo){ .node_name = node->name,
                                         .node_type = node->op->name,
                                         .exec_type = "reference" };
  }
  for (guint i = 0; i < transformed->values->len; i++) /* axon_eval_model wants indices */
    ((AxonValue *)g_ptr_array_index (transformed->values, i))->index = i;
  return &self->parent_instance;
}

/* The caller's model is never changed: passes run on a clone, first those that every device keeps,
 * then the device's own (../fusion has some). */
#ifndef SAMPLE_OWN_PASSES
#define SAMPLE_OWN_PASSES NULL, 0
#endif
static AxonModel *
transform (AxonModel *model, GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonModel) clone = axon_model_clone (model);
  if (!axon_passes_run_common (clone, cancellable, error) ||
      !axon_passes_run (clone, SAMPLE_OWN_PASSES, cancellable, error))
    return NULL;
  return g_steal_pointer (&clone);
}

static AxonCompiledModel *
sample_plugin_compile_model (AxonPlugin *plugin, AxonModel *model,
                             G_GNUC_UNUSED AxonRemoteContext *context, const AxonConfig *config,
                             GCancellable *cancellable, AxonProgressFunc progress,
                             gpointer user_data, GError **error)
{
  g_autoptr (AxonModel) transformed = transform (model, cancellable, error);
  if (transformed != NULL && progress != NULL)
    progress (1, "compiled", user_data);
  return transformed ? sample_model_new (plugin, model, transformed, config) : NULL;
}

static AxonCompiledModel *
sample_plugin_import_model (AxonPlugin *plugin, AxonBlob *blob, GVariant *payload,
                            G_GNUC_UNUSED AxonRemoteContext *context, const AxonConfig *config,
                            G_GNUC_UNUSED GCancellable *cancellable,
                            G_GNUC_UNUSED AxonProgressFunc progress,
                            G_GNUC_UNUSED gpointer user_data, GError **error)
{
  g_autoptr (AxonModel) model = axon_blob_read_model (blob, payload, error);
  return model ? sample_model_new (plugin, model, model, config) : NULL;
}

/* Why a node cannot run here; NULL: it can. */
static gchar *
refuse (const AxonNode *node, G_GNUC_UNUSED gpointer user_data)
{
  return axon_op_has_kernel (node->op) ? NULL
                                       : g_strdup_printf ("no kernel for %s", node->op->name);
}

static gboolean
sample_plugin_query_model (AxonPlugin *plugin, AxonModel *model,
                           G_GNUC_UNUSED const AxonConfig *config, AxonSupportedOps *result,
                           GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonModel) transformed = transform (model, cancellable, error);
  if (transformed == NULL)
    return FALSE;
  axon_supported_ops_collect (result, model, transformed, axon_plugin_get_name (plugin), 1, refuse,
                              NULL);
  return TRUE;
}

static void
sample_plugin_class_init (SamplePluginClass *klass)
{
  klass->compile_model = sample_plugin_compile_model;
  klass->import_model = sample_plugin_import_model;
  klass->query_model = sample_plugin_query_model;
  klass->get_metric = sample_plugin_get_metric;
}

static void
sample_plugin_init (SamplePlugin *self)
{
  axon_plugin_set_properties_table (self, properties, G_N_ELEMENTS (properties));
}

#ifndef SAMPLE_NO_ENTRY
/* Fails, with an error, where the driver is missing. */
static AxonPlugin *
create (const gchar *name, G_GNUC_UNUSED GError **error)
{
  return g_object_new (sample_plugin_get_type (), "name", name, NULL);
}

/* The one exported symbol. REFERENCE: AUTO never chooses it by itself; a device that computes
 * faster than the processor uses AXON_DEFINE_PLUGIN. */
AXON_DEFINE_PLUGIN_WITH_FLAGS ("SAMPLE", "Example of a device plugin", create,
                               AXON_PLUGIN_REFERENCE)
#endif
