/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device FAULTY: the sample plugin with one seeded fault, FAULT=group. The behaviour suite must
 * find it: tests/behaviour/faults.sh. */
#define SAMPLE_NO_ENTRY
#define SampleModel FaultySampleModel /* both plugins may be loaded: types have one name each */
#define SampleModelClass FaultySampleModelClass
#define SamplePlugin FaultySamplePlugin
#define SamplePluginClass FaultySamplePluginClass
#define SAMPLE_MORE_PROPERTIES                                                                     \
  { "FAULT", AXON_PROPERTY_STRING, AXON_RW_PLUGIN, "", 0, 0, NULL, "What is wrong" },
#include "../../docs/examples/plugin/sampleplugin.c"

/* Device memory as TEMPLATE has it, under another name. */
#define AxonTemplateContext FaultyContext
#define AxonTemplateContextClass FaultyContextClass
#define axon_template_context_get_type faulty_context_get_type
#define axon_template_context_new faulty_context_new
#include "../../plugins/template/templatecontext.c"

#include <string.h>

typedef struct {
  SampleModel parent_instance;
  const gchar *fault; /* interned */
  AxonPlugin *plugin; /* not owned */
  gint runs, inside;  /* atomic */
  gboolean cancelled; /* fault "cancel": for ever */
  AxonTensor *first;  /* fault "dynamic" */
} FaultyModel;

typedef SampleModelClass FaultyModelClass;
static GType faulty_model_get_type (void);
G_DEFINE_TYPE (FaultyModel, faulty_model, sample_model_get_type ())

static gboolean
has (AxonCompiledModel *compiled, const gchar *fault)
{
  return g_str_equal (((FaultyModel *)compiled)->fault, fault);
}

static gfloat *
first_output (AxonInferRequest *request, gsize *n)
{
  AxonTensor *out = axon_infer_request_peek_output (request, 0);
  *n = axon_tensor_get_numel (out);
  return axon_tensor_get_dtype (out) == AXON_DTYPE_F32 && axon_tensor_is_contiguous (out)
             ? axon_tensor_get_data (out)
             : NULL;
}

/* Faults before the run; FALSE with @error: it fails. */
static gboolean
before (FaultyModel *self, AxonInferRequest *request, GError **error)
{
  AxonCompiledModel *compiled = (AxonCompiledModel *)self;
  AxonTensor *in = axon_infer_request_peek_input (request, 0);
  g_autoptr (AxonCore) core = NULL;
  if (has (compiled, "remote") && axon_tensor_get_memory (in, NULL)->klass == &memory_class)
    memset (axon_tensor_get_data (in), 0, axon_tensor_get_n_bytes (in));
  if (has (compiled, "cancel") && axon_infer_request_is_cancelled (request))
    self->cancelled = TRUE;
  if (self->cancelled) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_CANCELLED, "still cancelled");
    return FALSE;
  }
  if (has (compiled, "lifetime") && (core = axon_plugin_get_core (self->plugin, error)) == NULL)
    return FALSE;
  if (has (compiled, "tensors") && axon_tensor_get_n_bytes (in) > 0)
    memset (axon_tensor_get_data (in), 0, 1);
  if (has (compiled, "callback") && g_atomic_int_add (&self->runs, 1) % 2 == 1) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, "every second run fails");
    return FALSE;
  }
  return TRUE;
}

/* Faults in the results. */
static void
after (FaultyModel *self, AxonInferRequest *request)
{
  AxonCompiledModel *compiled = (AxonCompiledModel *)self;
  gsize n;
  gfloat *out = first_output (request, &n);
  if (out == NULL || n == 0)
    return;
  if (has (compiled, "infer"))
    out[n - 1] += 1;
  if (has (compiled, "async") && g_atomic_int_add (&self->runs, 1) >= 3)
    out[0] += 1;
  if (has (compiled, "batched") &&
      axon_tensor_get_dim (axon_infer_request_peek_input (request, 0), 0) > 1)
    memset (out + n / 2, 0, (n - n / 2) * sizeof *out);
  if (has (compiled, "profiling"))
    axon_infer_request_set_profiling (request, 0, NULL, NULL);
  if (has (compiled, "dynamic")) {
    if (self->first == NULL)
      self->first = axon_tensor_new (
          AXON_DTYPE_F32, axon_tensor_get_shape (axon_infer_request_peek_output (request, 0)),
          NULL);
    else if (axon_tensor_get_numel (self->first) != n)
      out[0] += 1;
  }
}

static gboolean
faulty_model_infer (AxonCompiledModel *compiled, AxonInferRequest *request, guint stream,
                    GError **error)
{
  FaultyModel *self = (FaultyModel *)compiled;
  gboolean together, ok;
  if (!before (self, request, error))
    return FALSE;
  together = g_atomic_int_add (&self->inside, 1) > 0;
  if (has (compiled, "threads"))
    g_usleep (2000);
  ok = AXON_COMPILED_MODEL_CLASS (faulty_model_parent_class)
           ->infer (compiled, request, stream, error);
  together = together || g_atomic_int_get (&self->inside) > 1;
  g_atomic_int_add (&self->inside, -1);
  if (ok && has (compiled, "threads") && together) {
    gsize n;
    gfloat *out = first_output (request, &n);
    if (out != NULL && n > 0)
      out[0] += 1; /* as if two runs shared a buffer */
  }
  if (ok)
    after (self, request);
  if (has (compiled, "cancel") && axon_infer_request_is_cancelled (request))
    self->cancelled = TRUE;
  return ok;
}

static GVariant *
faulty_model_export (AxonCompiledModel *compiled, AxonBlobWriter *writer, GError **error)
{
  SampleModel *self = (SampleModel *)compiled;
  g_autoptr (AxonModel) clone = axon_model_clone (self->model);
  if (has (compiled, "import-export"))
    for (guint i = 0; i < clone->values->len; i++) {
      AxonValue *value = g_ptr_array_index (clone->values, i);
      if (value->type.value != NULL && value->type.dtype == AXON_DTYPE_F32) {
        AxonTensor *zeros = axon_tensor_new (AXON_DTYPE_F32, &value->type.shape, NULL);
        memset (axon_tensor_get_data (zeros), 0, axon_tensor_get_n_bytes (zeros));
        axon_tensor_unref (value->type.value);
        value->type.value = zeros;
      }
    }
  (void)error;
  return axon_blob_writer_add_model (writer, clone);
}

static void
faulty_model_finalize (GObject *object)
{
  g_clear_pointer (&((FaultyModel *)object)->first, axon_tensor_unref);
  G_OBJECT_CLASS (faulty_model_parent_class)->finalize (object);
}

static void
faulty_model_class_init (FaultyModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = faulty_model_finalize;
  klass->infer = faulty_model_infer;
  klass->export_model = faulty_model_export;
}

static void
faulty_model_init (G_GNUC_UNUSED FaultyModel *self)
{
}

typedef SamplePlugin FaultyPlugin;
typedef SamplePluginClass FaultyPluginClass;
static GType faulty_plugin_get_type (void);
G_DEFINE_TYPE (FaultyPlugin, faulty_plugin, sample_plugin_get_type ())

static AxonCompiledModel *
faulty_model_new (AxonPlugin *plugin, AxonModel *model, AxonModel *transformed,
                  const AxonConfig *config)
{
  FaultyModel *self = g_object_new (faulty_model_get_type (), NULL);
  SampleModel *sample = &self->parent_instance;
  g_autoptr (AxonExecutor) executor = axon_executor_new ("faulty", 2);
  axon_compiled_model_setup (&sample->parent_instance, plugin, model, config, executor);
  sample->model = g_object_ref (transformed);
  sample->rows = g_new0 (AxonProfilingInfo, transformed->nodes->len + 1);
  for (guint i = 0; i < transformed->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (transformed->nodes, i);
    sample->rows[i] = (AxonProfilingInfo){ node->name, node->op->name, "reference" };
  }
  for (guint i = 0; i < transformed->values->len; i++)
    ((AxonValue *)g_ptr_array_index (transformed->values, i))->index = i;
  self->fault = g_intern_string (axon_config_get_string (config, "FAULT"));
  self->plugin = plugin;
  return &sample->parent_instance;
}

static AxonCompiledModel *
faulty_plugin_compile_model (AxonPlugin *plugin, AxonModel *model,
                             G_GNUC_UNUSED AxonRemoteContext *context, const AxonConfig *config,
                             GCancellable *cancellable, G_GNUC_UNUSED AxonProgressFunc progress,
                             G_GNUC_UNUSED gpointer user_data, GError **error)
{
  gboolean careless = g_str_equal (axon_config_get_string (config, "FAULT"), "compile");
  g_autoptr (AxonModel) transformed =
      careless ? g_object_ref (model) : transform (model, cancellable, error);
  if (transformed == NULL || (careless && !axon_passes_run_common (model, NULL, error)))
    return NULL;
  if (careless)
    axon_model_add_output (model, g_ptr_array_index (model->inputs, 0));
  return faulty_model_new (plugin, model, transformed, config);
}

static AxonCompiledModel *
faulty_plugin_import_model (AxonPlugin *plugin, AxonBlob *blob, GVariant *payload,
                            G_GNUC_UNUSED AxonRemoteContext *context, const AxonConfig *config,
                            G_GNUC_UNUSED GCancellable *cancellable,
                            G_GNUC_UNUSED AxonProgressFunc progress,
                            G_GNUC_UNUSED gpointer user_data, GError **error)
{
  g_autoptr (AxonModel) model = axon_blob_read_model (blob, payload, error);
  if (model != NULL && g_str_equal (axon_config_get_string (config, "FAULT"), "cache")) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, "cannot import");
    return NULL;
  }
  return model ? faulty_model_new (plugin, model, model, config) : NULL;
}

static gboolean
faulty_plugin_query_model (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                           AxonSupportedOps *result, GCancellable *cancellable, GError **error)
{
  if (g_str_equal (axon_config_get_string (config, "FAULT"), "query"))
    return TRUE; /* says nothing about any node */
  return AXON_PLUGIN_CLASS (faulty_plugin_parent_class)
      ->query_model (plugin, model, config, result, cancellable, error);
}

static GVariant *
faulty_plugin_get_metric (AxonPlugin *plugin, const gchar *key, GError **error)
{
  g_autoptr (GVariant) fault = axon_plugin_get_property (plugin, "FAULT", NULL);
  if (g_str_equal (key, "DEVICE_TYPE") &&
      g_str_equal (g_variant_get_string (fault, NULL), "properties")) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "listed, but without a value");
    return NULL;
  }
  return AXON_PLUGIN_CLASS (faulty_plugin_parent_class)->get_metric (plugin, key, error);
}

static AxonRemoteContext *
faulty_plugin_create_context (G_GNUC_UNUSED AxonPlugin *plugin, G_GNUC_UNUSED const gchar *id,
                              GVariant *params, G_GNUC_UNUSED GError **error)
{
  return faulty_context_new ("FAULTY", params);
}

static AxonRemoteContext *
faulty_plugin_get_default_context (G_GNUC_UNUSED AxonPlugin *plugin, G_GNUC_UNUSED const gchar *id,
                                   G_GNUC_UNUSED GError **error)
{
  return faulty_context_new ("FAULTY", NULL);
}

static void
faulty_plugin_class_init (FaultyPluginClass *klass)
{
  klass->compile_model = faulty_plugin_compile_model;
  klass->import_model = faulty_plugin_import_model;
  klass->query_model = faulty_plugin_query_model;
  klass->get_metric = faulty_plugin_get_metric;
  klass->create_context = faulty_plugin_create_context;
  klass->get_default_context = faulty_plugin_get_default_context;
}

static void
faulty_plugin_init (G_GNUC_UNUSED FaultyPlugin *self)
{
}

static AxonPlugin *
create (const gchar *name, G_GNUC_UNUSED GError **error)
{
  return g_object_new (faulty_plugin_get_type (), "name", name, NULL);
}

AXON_DEFINE_PLUGIN_WITH_FLAGS ("FAULTY", "For the behaviour suite", create, AXON_PLUGIN_REFERENCE)
