/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device MOCK, for tests: outputs are zeros or computed, after a latency; every second run may take
 * longer, so that runs end out of order; some may fail, or never end until they are cancelled, or
 * hang as a driver that asks nobody; it may refuse to compile, and operators. */
#include <axon/axon.h>
#include <axon/axon-plugin.h>

typedef struct {
  AxonCompiledModel parent_instance;
  AxonModel *model; /* NULL: zeros */
  guint latency_ms, jitter_ms;
  gint fail_at, fail_from, stall_at, hang_at;
  guint hang_ms;
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

/* Reads its input all the while, as a device does that writes late. */
static void
hang (AxonInferRequest *request, guint ms)
{
  gint64 end = g_get_monotonic_time () + (gint64)ms * 1000;
  AxonTensor *in = axon_infer_request_peek_input (request, 0);
  const guint8 *data = axon_tensor_get_data (in);
  guint sum = 0;
  while (g_get_monotonic_time () < end) {
    for (gsize i = 0; data != NULL && i < axon_tensor_get_n_bytes (in); i++)
      sum += data[i];
    g_usleep (1000);
  }
  g_debug ("hung: %u", sum);
}

static gboolean
compute (MockModel *self, AxonInferRequest *request, GError **error)
{
  AxonModel *model = self->model;
  g_autofree AxonTensor **in = g_new0 (AxonTensor *, model->inputs->len + 1);
  g_autofree AxonTensor **out = g_new0 (AxonTensor *, model->outputs->len + 1);
  gboolean ok;
  for (guint i = 0; i < model->inputs->len; i++)
    in[i] = axon_infer_request_peek_input (request, i);
  ok = axon_eval_model (model, in, out, NULL, NULL, error);
  for (guint i = 0; ok && i < model->outputs->len; i++)
    ok = axon_infer_request_take_output (request, i, out[i], error);
  return ok;
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
  if (run == self->hang_at)
    hang (request, self->hang_ms);
  if (!pause_run (request, ms)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_CANCELLED, "cancelled");
    return FALSE;
  }
  if (run == self->fail_at || (self->fail_from >= 0 && run >= self->fail_from)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, "mock failure in run %d", run);
    return FALSE;
  }
  if (self->model != NULL)
    return compute (self, request, error);
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
mock_model_finalize (GObject *object)
{
  g_clear_object (&((MockModel *)object)->model);
  G_OBJECT_CLASS (mock_model_parent_class)->finalize (object);
}

static void
mock_model_class_init (MockModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = mock_model_finalize;
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
  { .key = "SUPPORTED_PROPERTIES", .flags = AXON_RO_COMPILED },
  { .key = "AVAILABLE_DEVICES", .flags = AXON_RO },
  { .key = "FULL_DEVICE_NAME", .flags = AXON_RO },
  { .key = "OPTIMIZATION_CAPABILITIES", .flags = AXON_RO },
  { .key = "EXECUTION_DEVICES", .flags = AXON_RO_COMPILED },
  { .key = "DEVICE_TYPE", .flags = AXON_RO },
  { .key = "DEVICE_ID", .flags = AXON_RW, .default_text = "0", .choices = "0 1" },
  { .key = "PERF_COUNT", .flags = AXON_RW, .default_text = "NO" },
  { .key = "PERFORMANCE_HINT", .flags = AXON_RW, .default_text = "LATENCY" },
  { .key = "LOADED_FROM_CACHE", .flags = AXON_MODEL },
  { .key = "NETWORK_NAME", .flags = AXON_MODEL },
  { .key = "OPTIMAL_NUMBER_OF_INFER_REQUESTS", .flags = AXON_MODEL },
  { .key = "NUM_STREAMS", .flags = AXON_RW, .default_text = "4" },
  { "MOCK_LATENCY", AXON_PROPERTY_INT, RW, "1", 0, 10000, NULL, "Milliseconds of a run" },
  { "MOCK_JITTER", AXON_PROPERTY_INT, RW, "0", 0, 10000, NULL, "More for every second run" },
  { "MOCK_FAIL_AT", AXON_PROPERTY_INT, RW, "-1", -1, 1000000, NULL, "Run that fails" },
  { "MOCK_FAIL_FROM", AXON_PROPERTY_INT, RW, "-1", -1, 1000000, NULL, "First of runs that fail" },
  { "MOCK_STALL_AT", AXON_PROPERTY_INT, RW, "-1", -1, 1000000, NULL, "Run that never ends" },
  { "MOCK_HANG_AT", AXON_PROPERTY_INT, RW, "-1", -1, 1000000, NULL, "Run that hangs" },
  { "MOCK_HANG_MS", AXON_PROPERTY_INT, RW, "600000", 0, 600000, NULL, "For how long" },
  { "MOCK_COMPILE_MS", AXON_PROPERTY_INT, RW, "0", 0, 600000, NULL, "Milliseconds of a compile" },
  { "MOCK_HANG_COMPILE", AXON_PROPERTY_BOOL, RW, "NO", 0, 0, NULL, "It asks nobody meanwhile" },
  { "MOCK_FAIL_COMPILE", AXON_PROPERTY_BOOL, RW, "NO", 0, 0, NULL, "No compile succeeds" },
  { "MOCK_COMPUTE", AXON_PROPERTY_BOOL, RW, "NO", 0, 0, NULL, "Outputs are right, not zeros" },
  { "MOCK_REFUSE", AXON_PROPERTY_STRING, RW, "", 0, 0, NULL, "Operators that are not taken" },
};

static GVariant *
mock_plugin_get_metric (AxonPlugin *plugin, const gchar *key, G_GNUC_UNUSED GError **error)
{
  if (g_str_equal (key, "AVAILABLE_DEVICES"))
    return axon_property_list ("0", "1", NULL);
  if (g_str_equal (key, "FULL_DEVICE_NAME"))
    return g_variant_new_string ("Mock");
  if (g_str_equal (key, "DEVICE_TYPE"))
    return g_variant_new_string ("discrete");
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return axon_property_list (axon_plugin_get_name (plugin), NULL);
  return axon_property_list ("FP32", NULL);
}

static AxonCompiledModel *
mock_plugin_compile_model (AxonPlugin *plugin, AxonModel *model,
                           G_GNUC_UNUSED AxonRemoteContext *context, const AxonConfig *config,
                           GCancellable *cancellable, AxonProgressFunc progress, gpointer user_data,
                           GError **error)
{
  gint64 end = g_get_monotonic_time () + axon_config_get_int (config, "MOCK_COMPILE_MS") * 1000;
  g_autoptr (AxonExecutor) executor = NULL;
  MockModel *self;
  if (axon_config_get_bool (config, "MOCK_FAIL_COMPILE")) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, "mock failure of device %s",
                 axon_plugin_get_name (plugin));
    return NULL;
  }
  if (axon_config_get_bool (config, "MOCK_HANG_COMPILE"))
    g_usleep ((gulong)(end - g_get_monotonic_time ()));
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
  self->fail_from = axon_config_get_int (config, "MOCK_FAIL_FROM");
  if (axon_config_get_bool (config, "MOCK_COMPUTE")) {
    self->model = axon_model_clone (model);
    for (guint i = 0; i < self->model->values->len; i++)
      ((AxonValue *)g_ptr_array_index (self->model->values, i))->index = i;
  }
  self->hang_at = axon_config_get_int (config, "MOCK_HANG_AT");
  self->hang_ms = (guint)axon_config_get_int (config, "MOCK_HANG_MS");
  self->stall_at = axon_config_get_int (config, "MOCK_STALL_AT");
  if (progress != NULL)
    progress (1, "compiled", user_data);
  return &self->parent_instance;
}

static gchar *
refuse_node (const AxonNode *node, gpointer user_data)
{
  g_auto (GStrv) refused = g_strsplit (user_data, " ", -1);
  return g_strv_contains ((const gchar *const *)refused, node->op->name)
             ? g_strdup_printf ("mock refuses %s", node->op->name)
             : NULL;
}

static gboolean
mock_plugin_query_model (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                         AxonSupportedOps *result, G_GNUC_UNUSED GCancellable *cancellable,
                         G_GNUC_UNUSED GError **error)
{
  axon_supported_ops_collect (result, model, model, axon_plugin_get_name (plugin), 1, refuse_node,
                              (gpointer)axon_config_get_string (config, "MOCK_REFUSE"));
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
create (const gchar *name, GError **error)
{
  if (g_str_has_prefix (name, "DRIVERLESS")) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, "no mock driver is installed");
    return NULL;
  }
  return g_object_new (mock_plugin_get_type (), "name", name, NULL);
}

AXON_DEFINE_PLUGIN_WITH_FLAGS ("MOCK", "For tests", create, AXON_PLUGIN_REFERENCE)
