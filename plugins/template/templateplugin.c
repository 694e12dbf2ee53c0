/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device TEMPLATE: runs the reference kernels. The oracle of the tests and the example for authors
 * of plugins: properties in a table, passes on a clone, one walk over the graph per run. */
#include <axon/axon.h>
#include <axon/axon-plugin.h>
#include <axon/axon-template.h>

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
  if (!axon_infer_request_is_cancelled (run->request))
    return TRUE;
  g_set_error (error, AXON_ERROR, AXON_ERROR_CANCELLED, "inference was cancelled");
  return FALSE;
}

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
  for (guint i = 0; i < n_in; i++)
    in[i] = axon_infer_request_peek_input (request, i);
  if (!axon_eval_model (self->model, in, out, after_node, &run, error))
    return FALSE;
  for (guint i = 0; i < n_out; i++)
    axon_infer_request_take_output (request, i, out[i]);
  if (profile)
    axon_infer_request_set_profiling (request, n_nodes, self->info, times);
  return TRUE;
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
}

static void
axon_template_model_init (G_GNUC_UNUSED AxonTemplateModel *self)
{
}

typedef AxonPlugin AxonTemplatePlugin;
typedef AxonPluginClass AxonTemplatePluginClass;
static GType axon_template_plugin_get_type (void);
G_DEFINE_TYPE (AxonTemplatePlugin, axon_template_plugin, AXON_TYPE_PLUGIN)

#define RO AXON_PROPERTY_READ_ONLY
#define RW (AXON_PROPERTY_READ_WRITE | AXON_PROPERTY_COMPILED)

static const AxonPropertySpec properties[] = {
  { "SUPPORTED_PROPERTIES", AXON_PROPERTY_STRINGS, RO, NULL, 0, 0, NULL, "Keys of this table" },
  { "AVAILABLE_DEVICES", AXON_PROPERTY_STRINGS, RO, NULL, 0, 0, NULL, "Device ids" },
  { "FULL_DEVICE_NAME", AXON_PROPERTY_STRING, RO, NULL, 0, 0, NULL, "Name for people" },
  { "DEVICE_ARCHITECTURE", AXON_PROPERTY_STRING, RO, NULL, 0, 0, NULL, "Architecture" },
  { "DEVICE_TYPE", AXON_PROPERTY_STRING, RO, NULL, 0, 0, NULL, "integrated or discrete" },
  { "OPTIMIZATION_CAPABILITIES", AXON_PROPERTY_STRINGS, RO, NULL, 0, 0, NULL,
    "Types it is good at" },
  { "RANGE_FOR_ASYNC_INFER_REQUESTS", AXON_PROPERTY_RANGE, RO, NULL, 0, 0, NULL,
    "Least, most and step of requests per stream" },
  { "EXECUTION_DEVICES", AXON_PROPERTY_STRINGS, RO, NULL, 0, 0, NULL, "Where models run" },
  { "DEVICE_ID", AXON_PROPERTY_CHOICE, RW, "0", 0, 0, "0", "Which device" },
  { "PERF_COUNT", AXON_PROPERTY_BOOL, RW, "NO", 0, 0, NULL, "Measure every node" },
  { "PERFORMANCE_HINT", AXON_PROPERTY_CHOICE, RW, "LATENCY", 0, 0, "LATENCY THROUGHPUT",
    "What to optimise for" },
  { "NUM_STREAMS", AXON_PROPERTY_STREAMS, RW, "AUTO", 0, 256, NULL, "Runs side by side" },
  { AXON_TEMPLATE_DISABLE_TRANSFORMATIONS, AXON_PROPERTY_BOOL, RW, "NO", 0, 0, NULL,
    "Run the model as it was read" },
};

static GVariant *
axon_template_plugin_get_metric (G_GNUC_UNUSED AxonPlugin *plugin, const gchar *key, GError **error)
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
    return axon_property_list ("FP32", NULL);
  if (g_str_equal (key, "RANGE_FOR_ASYNC_INFER_REQUESTS"))
    return g_variant_new ("(iii)", 1, 1, 1);
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return axon_property_list ("TEMPLATE.0", NULL);
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "property \"%s\" has no value", key);
  return NULL;
}

static AxonModel *
transform_model (AxonModel *model, const AxonConfig *config, GCancellable *cancellable,
                 GError **error)
{
  g_autoptr (AxonModel) clone = axon_model_clone (model);
  if (!axon_config_get_bool (config, AXON_TEMPLATE_DISABLE_TRANSFORMATIONS) &&
      !axon_passes_run (clone, axon_common_passes, axon_n_common_passes, cancellable, error))
    return NULL;
  for (guint i = 0; i < clone->values->len; i++)
    ((AxonValue *)g_ptr_array_index (clone->values, i))->index = i;
  return g_steal_pointer (&clone);
}

static AxonCompiledModel *
axon_template_plugin_compile_model (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                                    GCancellable *cancellable, AxonProgressFunc progress,
                                    gpointer user_data, GError **error)
{
  g_autoptr (AxonModel) transformed = transform_model (model, config, cancellable, error);
  gint streams = axon_config_get_int (config, "NUM_STREAMS");
  g_autofree gchar *name = g_strdup_printf ("axon-template-%d", streams);
  g_autoptr (AxonExecutor) executor =
      axon_executor_manager_get (name, streams < 0 ? 1 : (guint)streams);
  AxonTemplateModel *self;
  if (transformed == NULL)
    return NULL;
  self = g_object_new (axon_template_model_get_type (), NULL);
  axon_compiled_model_setup (&self->parent_instance, plugin, model, config, executor);
  self->info = g_new0 (AxonProfilingInfo, transformed->nodes->len + 1);
  for (guint i = 0; i < transformed->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (transformed->nodes, i);
    self->info[i] = (AxonProfilingInfo){ node->name, node->op->name, "reference", 0 };
  }
  self->model = g_steal_pointer (&transformed);
  if (progress != NULL)
    progress (1, "compiled", user_data);
  return &self->parent_instance;
}

static gboolean
axon_template_plugin_query_model (G_GNUC_UNUSED AxonPlugin *plugin, AxonModel *model,
                                  const AxonConfig *config, AxonSupportedOps *result,
                                  GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonModel) transformed = transform_model (model, config, cancellable, error);
  if (transformed == NULL)
    return FALSE;
  for (guint i = 0; i < model->nodes->len; i++)
    axon_supported_ops_add (result, g_ptr_array_index (model->nodes, i), "TEMPLATE.0", NULL);
  return TRUE;
}

static void
axon_template_plugin_class_init (AxonTemplatePluginClass *klass)
{
  klass->compile_model = axon_template_plugin_compile_model;
  klass->query_model = axon_template_plugin_query_model;
  klass->get_metric = axon_template_plugin_get_metric;
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

AXON_DEFINE_PLUGIN ("TEMPLATE", "Reference kernels", create)
