/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiled model of device GPU: a small cache of entries, a queue per stream, two stages: enqueue
 * on the stream, wait on the device's wait executor, so that a stream enqueues the next request
 * while the device works on this one. */
#include "gpumodel.h"
#include "gpucontext.h"
#include "gpuentry.h"
#include "gputune.h"

#define MOST_ENTRIES 8

typedef struct {
  AxonCompiledModel parent_instance;
  AxonModel *model; /* after common passes */
  AxonRemoteContext *context;
  GpuStore *store;
  cl_command_queue *queues; /* by stream */
  guint n_queues;
  gboolean profile, waits_apart;
  gboolean *any_size; /* by input */
  AxonPlanCache *entries;
} GpuModel;

/* Between the stages, in the request. */
typedef struct {
  GpuEntry *entry;
  GpuInstance *instance;
} GpuRun;

typedef AxonCompiledModelClass GpuModelClass;
static GType gpu_model_get_type (void);
G_DEFINE_TYPE (GpuModel, gpu_model, AXON_TYPE_COMPILED_MODEL)

static GpuEntry *
get_entry (GpuModel *self, const GpuEntryKey *key, GError **error)
{
  gboolean dynamic;
  GpuEntry *entry = axon_plan_cache_find (self->entries, key);
  if (entry != NULL)
    return entry;
  entry = gpu_entry_new (self->store, self->model, key->shapes, key->inputs, &dynamic, NULL, error);
  return entry ? axon_plan_cache_add (self->entries, entry, key) : NULL;
}

/* What cancelled or complained is whole all the same. */
static gboolean
still_works (gboolean ok, GError *const *error)
{
  return ok || (error != NULL && (g_error_matches (*error, AXON_ERROR, AXON_ERROR_CANCELLED) ||
                                  g_error_matches (*error, AXON_ERROR, AXON_ERROR_ARGUMENT)));
}

static void
end_run (GpuRun *run, gboolean works)
{
  gpu_entry_give_back (run->entry, run->instance, works);
  gpu_entry_unref (run->entry);
  *run = (GpuRun){ NULL, NULL };
}

static gboolean
gpu_model_wait (G_GNUC_UNUSED AxonCompiledModel *compiled, AxonInferRequest *request,
                G_GNUC_UNUSED guint stream, GError **error)
{
  GpuRun *run = axon_infer_request_get_data (request);
  GError *own = NULL;
  gboolean ok = gpu_instance_finish (run->instance, request, &own);
  end_run (run, still_works (ok, &own));
  if (own != NULL)
    g_propagate_error (error, own);
  return ok;
}

static gboolean
gpu_model_infer (AxonCompiledModel *compiled, AxonInferRequest *request, guint stream,
                 GError **error)
{
  GpuModel *self = (GpuModel *)compiled;
  GpuRun *run = axon_infer_request_get_data (request);
  guint n = self->model->inputs->len;
  g_autofree AxonShape *shapes = g_new (AxonShape, n + 1);
  g_autofree AxonTensor **inputs = g_new (AxonTensor *, n + 1);
  static const AxonShape any = { .rank = 0 };
  GError *own = NULL;
  gboolean ok;
  for (guint i = 0; i < n; i++) {
    inputs[i] = axon_infer_request_peek_input (request, i);
    shapes[i] = self->any_size[i] ? any : *axon_tensor_get_shape (inputs[i]);
  }
  run->entry = get_entry (self, &(const GpuEntryKey){ shapes, inputs }, error);
  run->instance = run->entry ? gpu_entry_take (run->entry, error) : NULL;
  if (run->instance == NULL) {
    g_clear_pointer (&run->entry, gpu_entry_unref);
    return FALSE;
  }
  ok = gpu_instance_start (run->instance, self->queues[stream % self->n_queues], self->profile,
                           request, &own);
  if (!ok) {
    end_run (run, still_works (ok, &own));
    g_propagate_error (error, own);
    return FALSE;
  }
  return self->waits_apart || gpu_model_wait (compiled, request, stream, error);
}

static void
gpu_model_init_request (G_GNUC_UNUSED AxonCompiledModel *compiled, AxonInferRequest *request)
{
  axon_infer_request_set_data (request, g_new0 (GpuRun, 1), g_free);
}

static void
gpu_model_finalize (GObject *object)
{
  GpuModel *self = (GpuModel *)object;
  g_clear_pointer (&self->entries, axon_plan_cache_free);
  g_clear_pointer (&self->store, gpu_store_unref);
  for (guint i = 0; i < self->n_queues; i++)
    gpu_cl.ReleaseCommandQueue (self->queues[i]);
  g_free (self->queues);
  g_free (self->any_size);
  g_clear_object (&self->model);
  g_clear_object (&self->context);
  G_OBJECT_CLASS (gpu_model_parent_class)->finalize (object);
}

/* The graph, and the programs as the driver compiled them. */
static GVariant *
gpu_model_export (AxonCompiledModel *compiled, AxonBlobWriter *writer, G_GNUC_UNUSED GError **error)
{
  GpuModel *self = (GpuModel *)compiled;
  GVariant *model = axon_blob_writer_add_model (writer, self->model);
  return g_variant_new ("(v@a(say)@a{si})", model, gpu_store_get_binaries (self->store),
                        gpu_store_get_tuned (self->store));
}

/* The entry that ran last; without one, the graph that entries are made of. */
static AxonModel *
gpu_model_get_runtime_model (AxonCompiledModel *compiled, G_GNUC_UNUSED GError **error)
{
  GpuModel *self = (GpuModel *)compiled;
  GpuEntry *last = axon_plan_cache_get_latest (self->entries);
  AxonModel *model;
  model = last ? gpu_plan_describe (last->plan) : axon_model_clone (self->model);
  g_clear_pointer (&last, gpu_entry_unref);
  return model;
}

static GVariant *
gpu_model_get_property (AxonCompiledModel *compiled, const gchar *key, GError **error)
{
  GpuModel *self = (GpuModel *)compiled;
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return axon_property_list (axon_remote_context_get_device_name (self->context), NULL);
  if (g_str_equal (key, "INFERENCE_PRECISION_HINT"))
    return g_variant_new_string (gpu_store_get_options (self->store)->half ? "f16" : "f32");
  return axon_property_no_value (key, error);
}

/* What was wished for, and is not there. */
static void
say_precision (AxonPlugin *plugin, const GpuDevice *device, const AxonConfig *config,
               const GpuOptions *options)
{
  if (g_str_equal (axon_config_get_string (config, "INFERENCE_PRECISION_HINT"), "f16") &&
      !options->half)
    axon_plugin_log (plugin, config, "LOG_WARNING", "%s has no half precision: f32 is used",
                     device->name);
}

static void
gpu_model_class_init (GpuModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gpu_model_finalize;
  klass->infer = gpu_model_infer;
  klass->init_request = gpu_model_init_request;
  klass->get_property = gpu_model_get_property;
  klass->export_model = gpu_model_export;
  klass->get_runtime_model = gpu_model_get_runtime_model;
  klass->accepts_remote = TRUE;
}

static void
gpu_model_init (GpuModel *self)
{
  self->entries =
      axon_plan_cache_new (MOST_ENTRIES, gpu_entry_fits, gpu_entry_ref, gpu_entry_unref);
}

static gboolean
make_queues (GpuModel *self, const GpuDevice *device, AxonExecutor *executor, GError **error)
{
  const cl_command_queue_properties flags = self->profile ? CL_QUEUE_PROFILING_ENABLE : 0;
  cl_command_queue given = gpu_context_get_queue (self->context);
  guint n = given ? 1 : MAX (axon_executor_get_n_streams (executor), 1);
  self->queues = g_new0 (cl_command_queue, n);
  for (guint i = 0; i < n; i++) {
    cl_int status;
    self->queues[i] = given;
    if (given != NULL)
      status = gpu_cl.RetainCommandQueue (given);
    else
      self->queues[i] = gpu_cl.CreateCommandQueue (gpu_context_get_cl (self->context), device->id,
                                                   flags, &status);
    if (!gpu_cl_ok (status, "clCreateCommandQueue", error))
      return FALSE;
    self->n_queues++;
  }
  return TRUE;
}

/* One run on whatever is in memory: what the driver does at first use, and memory that is not
 * there, belong to compiling and not to the first frame. */
static gboolean
warm_up (GpuModel *self, GpuEntry *entry, GError **error)
{
  GpuInstance *instance;
  gboolean ok;
  if (gpu_context_get_queue (self->context) != NULL) /* the application's own work is in it */
    return TRUE;
  instance = gpu_entry_take (entry, error);
  ok = instance != NULL && gpu_instance_measure (instance, self->queues[0], NULL, error);
  if (instance != NULL)
    gpu_entry_give_back (entry, instance, ok);
  return ok;
}

/* At compile time what can be: inputs with free dimensions wait for the first run. */
static gboolean
build_first (GpuModel *self, const GpuCompile *call, GError **error)
{
  g_autofree AxonShape *shapes = g_new0 (AxonShape, self->model->inputs->len + 1);
  g_autoptr (AxonModel) lowered = NULL;
  g_autoptr (GError) own = NULL;
  const GpuOptions *options = gpu_store_get_options (self->store);
  gboolean dynamic = FALSE, known = TRUE;
  GpuEntry *entry;
  for (guint i = 0; i < self->model->inputs->len; i++) {
    if (self->any_size[i]) /* a frame's: no shape of a plan */
      continue;
    shapes[i] = ((AxonValue *)g_ptr_array_index (self->model->inputs, i))->type.shape;
    known &= axon_shape_is_static (&shapes[i]);
  }
  if (known && options->tune && options->tuned == NULL) {
    if (call->progress != NULL)
      call->progress (0.3, "measuring kernels", call->user_data);
    if (!gpu_entry_tune (self->store, self->model, shapes, call->cancellable, &own))
      g_clear_error (&own); /* the entry says what is wrong */
  }
  entry = known ? gpu_entry_new (self->store, self->model, shapes, NULL, &dynamic,
                                 call->cancellable, &own)
                : NULL;
  if (entry != NULL) {
    gboolean ok;
    entry = axon_plan_cache_add (self->entries, entry, &(const GpuEntryKey){ shapes, NULL });
    ok = warm_up (self, entry, error);
    gpu_entry_unref (entry);
    return ok;
  }
  if (known && !dynamic) {
    g_propagate_error (error, g_steal_pointer (&own));
    return FALSE;
  }
  lowered = gpu_lower_model (self->model, options, call->cancellable, error);
  return lowered &&
         gpu_model_check (gpu_store_get_device (self->store), options, lowered, NULL, error);
}

/* @stored: what an export kept besides the graph. */
static void
take_stored (GpuModel *self, const GpuStored *stored)
{
  g_autoptr (GHashTable) tuned = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GVariantIter iter;
  const gchar *key;
  GVariant *bytes;
  gint variant;
  g_variant_iter_init (&iter, stored->binaries);
  while (g_variant_iter_next (&iter, "(&s@ay)", &key, &bytes)) {
    g_autoptr (GBytes) binary = g_variant_get_data_as_bytes (bytes);
    gpu_store_offer_binary (self->store, key, binary);
    g_variant_unref (bytes);
  }
  g_variant_iter_init (&iter, stored->tuned);
  while (g_variant_iter_next (&iter, "{&si}", &key, &variant))
    if (gpu_is_variant (variant))
      g_hash_table_insert (tuned, g_strdup (key), GINT_TO_POINTER (variant));
  if (g_hash_table_size (tuned) > 0)
    gpu_store_set_tuned (self->store, g_steal_pointer (&tuned));
}

static AxonExecutor *
make_executor (const GpuDevice *device, const AxonConfig *config)
{
  gint streams = axon_config_get_int (config, "NUM_STREAMS");
  gboolean many = g_str_equal (axon_config_get_string (config, "PERFORMANCE_HINT"), "THROUGHPUT");
  g_autofree gchar *name = g_strdup_printf ("axon-gpu-%p", (gconstpointer)device);
  if (axon_config_get_bool (config, "EXCLUSIVE_ASYNC_REQUESTS"))
    return axon_executor_manager_get (name, 1);
  return axon_executor_new (name, streams >= 0 ? (guint)streams : many ? 2 : 1);
}

AxonCompiledModel *
gpu_model_new (AxonPlugin *plugin, const GpuDevice *device, AxonModel *original,
               AxonModel *transformed, AxonRemoteContext *context, const AxonConfig *config,
               const GpuStored *stored, const GpuCompile *call, GError **error)
{
  g_autoptr (AxonCompiledModel) compiled = g_object_new (gpu_model_get_type (), NULL);
  GpuModel *self = (GpuModel *)compiled;
  const GpuOptions options = gpu_options_of (device, config);
  g_autoptr (AxonExecutor) executor = make_executor (device, config);
  axon_compiled_model_setup (compiled, plugin, original, config, executor);
  say_precision (plugin, device, config, &options);
  self->model = g_object_ref (transformed);
  self->any_size = g_new0 (gboolean, transformed->inputs->len + 1);
  for (guint i = 0; i < transformed->inputs->len; i++)
    self->any_size[i] = axon_model_input_is_any_size (transformed, i);
  self->context = g_object_ref (context);
  axon_compiled_model_set_context (compiled, context);
  if (device->unified)
    axon_compiled_model_set_host_context (compiled, context);
  self->store = gpu_store_new (device, gpu_context_get_cl (context), &options);
  self->profile = axon_config_get_bool (config, "PERF_COUNT") && !gpu_context_get_queue (context);
  self->waits_apart = axon_executor_get_n_streams (executor) > 0;
  if (self->waits_apart) {
    g_autofree gchar *name = g_strdup_printf ("axon-gpu-wait-%p", (gconstpointer)device);
    g_autoptr (AxonExecutor) wait = axon_executor_manager_get (name, 1);
    axon_compiled_model_add_stage (compiled, wait, gpu_model_wait);
  }
  if (stored != NULL)
    take_stored (self, stored);
  if (!make_queues (self, device, executor, error) || !build_first (self, call, error))
    return NULL;
  if (call->progress != NULL)
    call->progress (1, "compiled", call->user_data);
  return g_steal_pointer (&compiled);
}
