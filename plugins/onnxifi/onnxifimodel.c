/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "onnxifimodel.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#define MOST_VALUES 64

typedef struct {
  AxonCompiledModel parent_instance;
  OnnxifiSession *session;
  onnxGraph graph;
  AxonModel *model; /* as it was given */
  gchar *device_name;
  AxonProfilingInfo info; /* of the whole graph: a vendor tells no more */
  GMutex lock;            /* one call sets tensors and starts its run before the next does */
  AxonModel *shaped;      /* lock: the model at the input shapes of the last run, or NULL */
} OnnxifiModel;

typedef AxonCompiledModelClass OnnxifiModelClass;
static GType onnxifi_model_get_type (void);
G_DEFINE_TYPE (OnnxifiModel, onnxifi_model, AXON_TYPE_COMPILED_MODEL)

/* ONNXIFI's own types, and BOOL, whose number is TensorProto's, too. */
static gboolean
has_type (AxonDType dtype)
{
  return dtype >= AXON_DTYPE_F32 && dtype <= AXON_DTYPE_BF16 && dtype != AXON_DTYPE_STRING;
}

gchar *
onnxifi_refuse_value (const AxonValue *value)
{
  if (!has_type (value->type.dtype))
    return g_strdup_printf ("\"%s\": ONNXIFI has no tensors of %s", value->name,
                            axon_dtype_get_name (value->type.dtype));
  if (axon_shape_is_static (&value->type.shape) && axon_shape_get_numel (&value->type.shape) == 0)
    return g_strdup_printf ("\"%s\": ONNXIFI has no empty tensors", value->name);
  return NULL;
}

static onnxTensorDescriptorV1
describe (const gchar *name, const AxonTensor *tensor)
{
  const AxonShape *shape = axon_tensor_get_shape (tensor);
  return (onnxTensorDescriptorV1){
    .tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1,
    .name = name,
    .dataType = axon_tensor_get_dtype (tensor),
    .memoryType = ONNXIFI_MEMORY_TYPE_CPU,
    .dimensions = (guint32)shape->rank,
    .shape = (const uint64_t *)shape->dims,
    .buffer = GPOINTER_TO_SIZE (axon_tensor_get_data ((AxonTensor *)tensor)),
  };
}

/* Everything of one run that the vendor is told. */
typedef struct {
  OnnxifiModel *model;
  onnxTensorDescriptorV1 *inputs, *outputs;
  guint n_inputs, n_outputs;
  GError *error;
} Run;

static void
start (Run *run, const onnxMemoryFenceV1 *before, onnxMemoryFenceV1 *after)
{
  OnnxifiModel *self = run->model;
  const OnnxifiLibrary *library = onnxifi_session_get_device (self->session)->library;
  g_mutex_lock (&self->lock);
  if (onnxifi_check (library, "SetGraphIO",
                     library->SetGraphIO (self->graph, run->n_inputs, run->inputs, run->n_outputs,
                                          run->outputs),
                     &run->error))
    onnxifi_check (library, "RunGraph", library->RunGraph (self->graph, before, after),
                   &run->error);
  g_mutex_unlock (&self->lock);
}

static void
run_graph (gpointer data)
{
  Run *run = data;
  const OnnxifiSession *session = run->model->session;
  const OnnxifiLibrary *library = onnxifi_session_get_device (session)->library;
  onnxMemoryFenceV1 before = { .tag = ONNXIFI_TAG_MEMORY_FENCE_V1,
                               .type = ONNXIFI_SYNCHRONIZATION_EVENT };
  onnxMemoryFenceV1 after = before;
  if (!onnxifi_check (library, "InitEvent",
                      library->InitEvent (onnxifi_session_get_backend (session), &before.event),
                      &run->error))
    return;
  start (run, &before, &after);
  if (run->error == NULL) {
    onnxifi_check (library, "SignalEvent", library->SignalEvent (before.event), &run->error);
    if (run->error == NULL)
      onnxifi_check (library, "WaitEvent", library->WaitEvent (after.event), &run->error);
    library->ReleaseEvent (after.event);
  }
  library->ReleaseEvent (before.event);
}

static gboolean
has_shapes (const AxonModel *model, AxonInferRequest *request)
{
  for (guint i = 0; i < model->inputs->len; i++) {
    const AxonValue *value = g_ptr_array_index (model->inputs, i);
    if (!axon_shape_equal (&value->type.shape,
                           axon_tensor_get_shape (axon_infer_request_peek_input (request, i))))
      return FALSE;
  }
  return TRUE;
}

static gboolean
reshape_inputs (AxonModel *shaped, AxonInferRequest *request, GError **error)
{
  for (guint i = 0; i < shaped->inputs->len; i++)
    if (!axon_model_reshape (
            shaped, i, axon_tensor_get_shape (axon_infer_request_peek_input (request, i)), error))
      return FALSE;
  return TRUE;
}

/* Numbers that are few may be a shape, axes, scales or a count. */
static gboolean
fix_values (AxonModel *shaped, AxonInferRequest *request, GError **error)
{
  for (guint i = shaped->inputs->len; i > 0; i--) {
    AxonTensor *tensor = axon_infer_request_peek_input (request, i - 1);
    if (axon_tensor_get_numel (tensor) <= MOST_VALUES &&
        !axon_model_fix_input (shaped, i - 1, tensor, error))
      return FALSE;
  }
  return TRUE;
}

/* A copy at the shapes of the request's inputs, with what follows from them, and from values. */
static AxonModel *
make_shaped (const OnnxifiModel *self, AxonInferRequest *request, gboolean values, GError **error)
{
  g_autoptr (AxonModel) shaped = axon_model_clone (self->model);
  return reshape_inputs (shaped, request, error) &&
                 (!values || fix_values (shaped, request, error)) &&
                 axon_passes_run_common (shaped, NULL, error)
             ? g_steal_pointer (&shaped)
             : NULL;
}

static gboolean
outputs_are_known (const AxonModel *model)
{
  for (guint i = 0; i < model->outputs->len; i++)
    if (!axon_shape_is_static (&((AxonValue *)g_ptr_array_index (model->outputs, i))->type.shape))
      return FALSE;
  return TRUE;
}

/* The model at the shapes of the request's inputs (transfer full): kept from run to run, where
 * shapes are all that decides. */
static AxonModel *
get_shaped (OnnxifiModel *self, AxonInferRequest *request, GError **error)
{
  AxonModel *shaped;
  g_mutex_lock (&self->lock);
  shaped = self->shaped && has_shapes (self->shaped, request) ? g_object_ref (self->shaped) : NULL;
  g_mutex_unlock (&self->lock);
  if (shaped != NULL)
    return shaped;
  shaped = make_shaped (self, request, FALSE, error);
  if (shaped != NULL && !outputs_are_known (shaped)) {
    g_object_unref (shaped);
    return make_shaped (self, request, TRUE, error);
  }
  g_mutex_lock (&self->lock);
  g_set_object (&self->shaped, shaped);
  g_mutex_unlock (&self->lock);
  return shaped;
}

static gboolean
describe_inputs (OnnxifiModel *self, AxonInferRequest *request, onnxTensorDescriptorV1 *inputs,
                 GError **error)
{
  for (guint i = 0; i < self->model->inputs->len; i++) {
    const AxonValue *value = g_ptr_array_index (self->model->inputs, i);
    AxonTensor *tensor = axon_infer_request_peek_input (request, i);
    if (axon_tensor_get_numel (tensor) == 0) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                   _ ("input \"%s\" is empty: ONNXIFI has no empty tensors"), value->name);
      return FALSE;
    }
    inputs[i] = describe (value->name, tensor);
  }
  return TRUE;
}

static gboolean
describe_outputs (const AxonModel *shaped, AxonInferRequest *request,
                  onnxTensorDescriptorV1 *outputs, GError **error)
{
  for (guint i = 0; i < shaped->outputs->len; i++) {
    const AxonValue *value = g_ptr_array_index (shaped->outputs, i);
    AxonTensor *tensor;
    if (!axon_shape_is_static (&value->type.shape) ||
        axon_shape_get_numel (&value->type.shape) == 0) {
      g_autofree gchar *shape = axon_shape_to_string (&value->type.shape);
      g_set_error (
          error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
          _ ("output \"%s\": its shape, %s, is not known before the run, or empty: ONNXIFI "
             "has no such tensors"),
          value->name, shape);
      return FALSE;
    }
    tensor = axon_infer_request_prepare_output (request, i, &value->type.shape, error);
    if (tensor == NULL)
      return FALSE;
    outputs[i] = describe (value->name, tensor);
  }
  return TRUE;
}

static gboolean
onnxifi_model_infer (AxonCompiledModel *compiled, AxonInferRequest *request,
                     G_GNUC_UNUSED guint stream, GError **error)
{
  OnnxifiModel *self = (OnnxifiModel *)compiled;
  g_autofree onnxTensorDescriptorV1 *inputs =
      g_new0 (onnxTensorDescriptorV1, self->model->inputs->len + 1);
  g_autofree onnxTensorDescriptorV1 *outputs =
      g_new0 (onnxTensorDescriptorV1, self->model->outputs->len + 1);
  g_autoptr (AxonModel) shaped = get_shaped (self, request, error);
  gdouble time;
  Run run = { self, inputs, outputs, self->model->inputs->len, self->model->outputs->len, NULL };
  if (shaped == NULL || !describe_inputs (self, request, inputs, error) ||
      !describe_outputs (shaped, request, outputs, error))
    return FALSE;
  time = (gdouble)g_get_monotonic_time ();
  onnxifi_session_call (self->session, run_graph, &run);
  time = (gdouble)g_get_monotonic_time () - time;
  if (run.error == NULL && axon_infer_request_goes_on (request, &run.error)) {
    if (axon_config_get_bool (axon_compiled_model_get_config (compiled), "PERF_COUNT"))
      axon_infer_request_set_profiling (request, 1, &self->info, &time);
    return TRUE;
  }
  g_propagate_error (error, run.error);
  return FALSE;
}

static AxonModel *
onnxifi_model_get_runtime_model (AxonCompiledModel *compiled, G_GNUC_UNUSED GError **error)
{
  OnnxifiModel *self = (OnnxifiModel *)compiled;
  AxonModel *model = axon_model_clone (self->model);
  for (guint i = 0; i < model->nodes->len; i++)
    axon_node_set_exec_type (g_ptr_array_index (model->nodes, i),
                             onnxifi_session_get_device (self->session)->name);
  return model;
}

static GVariant *
onnxifi_model_get_property (AxonCompiledModel *compiled, const gchar *key, GError **error)
{
  OnnxifiModel *self = (OnnxifiModel *)compiled;
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return axon_property_list (self->device_name, NULL);
  return axon_property_no_value (key, error);
}

static void
release (gpointer data)
{
  OnnxifiModel *self = data;
  onnxifi_session_get_device (self->session)->library->ReleaseGraph (self->graph);
}

static void
onnxifi_model_finalize (GObject *object)
{
  OnnxifiModel *self = (OnnxifiModel *)object;
  if (self->graph != NULL)
    onnxifi_session_call (self->session, release, self);
  g_clear_pointer (&self->session, onnxifi_session_free);
  g_clear_object (&self->shaped);
  g_clear_object (&self->model);
  g_free (self->device_name);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (onnxifi_model_parent_class)->finalize (object);
}

static void
onnxifi_model_class_init (OnnxifiModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = onnxifi_model_finalize;
  klass->infer = onnxifi_model_infer;
  klass->get_property = onnxifi_model_get_property;
  klass->get_runtime_model = onnxifi_model_get_runtime_model;
}

static void
onnxifi_model_init (OnnxifiModel *self)
{
  g_mutex_init (&self->lock);
}

typedef struct {
  OnnxifiModel *model;
  GBytes *bytes;
  GArray *weights; /* onnxTensorDescriptorV1 */
  onnxStatus status;
} InitGraph;

static void
init_graph (gpointer data)
{
  InitGraph *call = data;
  OnnxifiModel *self = call->model;
  gsize n;
  gconstpointer bytes = g_bytes_get_data (call->bytes, &n);
  call->status =
      onnxifi_session_get_device (self->session)
          ->library->InitGraph (
              onnxifi_session_get_backend (self->session), NULL, n, bytes, call->weights->len,
              call->weights->len > 0 ? (gpointer)call->weights->data : NULL, &self->graph);
}

/* FALSE: a weight is nothing that a descriptor can say. */
static gboolean
describe_weights (const AxonModel *model, GArray *weights)
{
  for (guint i = 0; i < model->values->len; i++) {
    const AxonValue *value = g_ptr_array_index (model->values, i);
    onnxTensorDescriptorV1 d;
    if (value->type.value == NULL)
      continue;
    if (!has_type (value->type.dtype) || axon_tensor_get_numel (value->type.value) == 0)
      return FALSE;
    d = describe (value->name, value->type.value);
    g_array_append_val (weights, d);
  }
  return TRUE;
}

/* Weights go beside the model, which copies them once less, or within it. */
static gboolean
make_graph (OnnxifiModel *self, AxonPlugin *plugin, GError **error)
{
  g_autoptr (AxonCore) core = axon_plugin_get_core (plugin, error);
  g_autoptr (GArray) weights = g_array_new (FALSE, FALSE, sizeof (onnxTensorDescriptorV1));
  g_autoptr (GBytes) bytes = NULL;
  AxonWriteFlags flags = AXON_WRITE_WEIGHTS_AS_INPUTS;
  InitGraph call = { .model = self, .weights = weights };
  if (describe_weights (self->model, weights))
    flags |= AXON_WRITE_WITHOUT_WEIGHTS;
  else
    g_array_set_size (weights, 0);
  bytes = core ? axon_core_write_model_to_bytes (core, self->model, flags, error) : NULL;
  if (bytes == NULL)
    return FALSE;
  call.bytes = bytes;
  onnxifi_session_call (self->session, init_graph, &call);
  return onnxifi_check (onnxifi_session_get_device (self->session)->library, "InitGraph",
                        call.status, error);
}

static AxonExecutor *
make_executor (const OnnxifiSession *session, const AxonConfig *config)
{
  gint streams = axon_config_get_int (config, "NUM_STREAMS");
  gboolean many = g_str_equal (axon_config_get_string (config, "PERFORMANCE_HINT"), "THROUGHPUT");
  if (streams < 0)
    streams = many && onnxifi_session_is_thread_safe (session) ? 2 : 1;
  if (axon_config_get_bool (config, "EXCLUSIVE_ASYNC_REQUESTS"))
    return axon_executor_manager_get ("ONNXIFI", 1);
  return axon_executor_new ("axon-onnxifi", (guint)streams);
}

static gboolean
check_ports (const AxonModel *model, GError **error)
{
  const GPtrArray *lists[] = { model->inputs, model->outputs };
  for (guint k = 0; k < G_N_ELEMENTS (lists); k++)
    for (guint i = 0; i < lists[k]->len; i++) {
      g_autofree gchar *why = onnxifi_refuse_value (g_ptr_array_index (lists[k], i));
      if (why != NULL) {
        g_set_error_literal (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, why);
        return FALSE;
      }
    }
  return TRUE;
}

/* It goes by the name of its last node. */
static AxonProfilingInfo
whole_graph (const AxonModel *model, const OnnxifiDevice *device)
{
  const AxonNode *last =
      model->nodes->len > 0 ? g_ptr_array_index (model->nodes, model->nodes->len - 1) : NULL;
  return (AxonProfilingInfo){ .node_name = last ? last->name : "",
                              .node_type = last ? last->op->name : "",
                              .exec_type = device->name };
}

AxonCompiledModel *
onnxifi_model_new (AxonPlugin *plugin, const OnnxifiDevice *device, const gchar *name,
                   AxonModel *model, const AxonConfig *config, GError **error)
{
  g_autoptr (AxonCompiledModel) compiled = g_object_new (onnxifi_model_get_type (), NULL);
  OnnxifiModel *self = (OnnxifiModel *)compiled;
  g_autoptr (AxonExecutor) executor = NULL;
  self->model = g_object_ref (model);
  self->device_name = g_strdup (name);
  self->session = check_ports (model, error)
                      ? onnxifi_session_new (device, G_OBJECT (plugin), config, error)
                      : NULL;
  if (self->session == NULL || !make_graph (self, plugin, error))
    return NULL;
  executor = make_executor (self->session, config);
  axon_compiled_model_setup (compiled, plugin, model, config, executor);
  self->info = whole_graph (model, device);
  return g_steal_pointer (&compiled);
}
