/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device MOCK, for tests: outputs are zeros, after a latency; every second run may take longer, so
 * that runs end out of order; one may fail, or never end until it is cancelled. */
#include <axon/axon.h>
#include <axon/axon-plugin.h>

typedef struct {
  AxonCompiledModel parent_instance;
  guint latency_ms, jitter_ms;
  gint fail_at, stall_at;
  gint runs; /* atomic */
} MockModel;

typedef AxonCompiledModelClass MockModelClass;
static GType mock_model_get_type (void);
G_DEFINE_TYPE (MockModel, mock_model, AXON_TYPE_COMPILED_MODEL)

static gboolean
pause_run (AxonInferRequest *request, guint ms)
{
  gint64 end = g_get_monotonic_time () + (gint64)ms * 1000;
  while (g_get_monotonic_time () < end && !axon_infer_request_is_cancelled (request))
    g_usleep (500);
  return !axon_infer_request_is_cancelled (request);
}

static gboolean
mock_model_infer (AxonCompiledModel *compiled, AxonInferRequest *request,
                  G_GNUC_UNUSED guint stream, GError **error)
{
  MockModel *self = (MockModel *)compiled;
  gint run = g_atomic_int_add (&self->runs, 1);
  guint ms = self->latency_ms + (run % 2 == 0 ? self->jitter_ms : 0);
  if (run == self->stall_at)
    ms = G_MAXUINT / 2000;
  if (!pause_run (request, ms)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_CANCELLED, "cancelled");
    return FALSE;
  }
  if (run == self->fail_at) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, "mock failure in run %d", run);
    return FALSE;
  }
  for (guint i = 0; i < axon_compiled_model_get_n_outputs (compiled); i++) {
    AxonTensor *out = axon_infer_request_prepare_output (
        request, i, axon_compiled_model_get_output_shape (compiled, i), error);
    if (out == NULL)
      return FALSE;
    memset (axon_tensor_get_data (out), 0, axon_tensor_get_n_bytes (out));
  }
  return TRUE;
}

static void
mock_model_class_init (MockModelClass *klass)
{
  klass->infer = mock_model_infer;
}

static void
mock_model_init (G_GNUC_UNUSED MockModel *self)
{
}

typedef AxonPlugin MockPlugin;
typedef AxonPluginClass MockPluginClass;
static GType mock_plugin_get_type (void);
G_DEFINE_TYPE (MockPlugin, mock_plugin, AXON_TYPE_PLUGIN)

#define RW AXON_PROPERTY_READ_WRITE

static const AxonPropertySpec properties[] = {
  { "SUPPORTED_PROPERTIES", AXON_PROPERTY_STRINGS, AXON_PROPERTY_READ_ONLY, NULL, 0, 0, NULL, "" },
  { "AVAILABLE_DEVICES", AXON_PROPERTY_STRINGS, AXON_PROPERTY_READ_ONLY, NULL, 0, 0, NULL, "" },
  { "NUM_STREAMS", AXON_PROPERTY_INT, RW, "4", 1, 16, NULL, "Runs side by side" },
  { "MOCK_LATENCY", AXON_PROPERTY_INT, RW, "1", 0, 10000, NULL, "Milliseconds of a run" },
  { "MOCK_JITTER", AXON_PROPERTY_INT, RW, "0", 0, 10000, NULL, "More for every second run" },
  { "MOCK_FAIL_AT", AXON_PROPERTY_INT, RW, "-1", -1, 1000000, NULL, "Run that fails" },
  { "MOCK_STALL_AT", AXON_PROPERTY_INT, RW, "-1", -1, 1000000, NULL, "Run that never ends" },
  { "MOCK_COMPILE_MS", AXON_PROPERTY_INT, RW, "0", 0, 600000, NULL, "Milliseconds of a compile" },
};

static GVariant *
mock_plugin_get_metric (G_GNUC_UNUSED AxonPlugin *plugin, G_GNUC_UNUSED const gchar *key,
                        G_GNUC_UNUSED GError **error)
{
  return axon_property_list ("", NULL);
}

static AxonCompiledModel *
mock_plugin_compile_model (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                           GCancellable *cancellable, AxonProgressFunc progress, gpointer user_data,
                           GError **error)
{
  gint64 end = g_get_monotonic_time () + axon_config_get_int (config, "MOCK_COMPILE_MS") * 1000;
  g_autoptr (AxonExecutor) executor = NULL;
  MockModel *self;
  while (g_get_monotonic_time () < end) {
    if (g_cancellable_set_error_if_cancelled (cancellable, error))
      return NULL;
    g_usleep (1000);
  }
  executor = axon_executor_new ("mock", (guint)axon_config_get_int (config, "NUM_STREAMS"));
  self = g_object_new (mock_model_get_type (), NULL);
  axon_compiled_model_setup (&self->parent_instance, plugin, model, config, executor);
  self->latency_ms = (guint)axon_config_get_int (config, "MOCK_LATENCY");
  self->jitter_ms = (guint)axon_config_get_int (config, "MOCK_JITTER");
  self->fail_at = axon_config_get_int (config, "MOCK_FAIL_AT");
  self->stall_at = axon_config_get_int (config, "MOCK_STALL_AT");
  if (progress != NULL)
    progress (1, "compiled", user_data);
  return &self->parent_instance;
}

static gboolean
mock_plugin_query_model (G_GNUC_UNUSED AxonPlugin *plugin, AxonModel *model,
                         G_GNUC_UNUSED const AxonConfig *config, AxonSupportedOps *result,
                         G_GNUC_UNUSED GCancellable *cancellable, G_GNUC_UNUSED GError **error)
{
  for (guint i = 0; i < model->nodes->len; i++)
    axon_supported_ops_add (result, g_ptr_array_index (model->nodes, i), "MOCK", NULL);
  return TRUE;
}

static void
mock_plugin_class_init (MockPluginClass *klass)
{
  klass->compile_model = mock_plugin_compile_model;
  klass->query_model = mock_plugin_query_model;
  klass->get_metric = mock_plugin_get_metric;
}

static void
mock_plugin_init (MockPlugin *self)
{
  axon_plugin_set_properties_table (self, properties, G_N_ELEMENTS (properties));
}

static AxonPlugin *
create (const gchar *name, G_GNUC_UNUSED GError **error)
{
  return g_object_new (mock_plugin_get_type (), "name", name, NULL);
}

AXON_DEFINE_PLUGIN ("MOCK", "For tests", create)
