/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiled model of device CPU: a small cache of plans by concrete input shapes, and one instance
 * of a plan per stream. Locks are taken once per run, not per step. */
#include "cpumodel.h"
#include "cpusegments.h"
#include "cputhreads.h"
#include "onednn/cpudnn.h"

typedef struct {
  gatomicrefcount ref_count;
  AxonShape *shapes; /* of the inputs */
  guint n_inputs;
  CpuPlan *plan;      /* NULL: shapes depend on data */
  AxonModel *dynamic; /* then this runs, in segments */
  CpuSegments *segments;
  GMutex lock;
  GPtrArray *idle; /* lock: CpuInstance */
} Entry;

typedef struct {
  AxonCompiledModel parent_instance;
  AxonModel *model; /* after common passes */
  GPtrArray *extensions;
  CpuThreads threads;
  gboolean profile;
  AxonPlanCache *entries;
} CpuModel;

typedef AxonCompiledModelClass CpuModelClass;
static GType cpu_model_get_type (void);
G_DEFINE_TYPE (CpuModel, cpu_model, AXON_TYPE_COMPILED_MODEL)

static void
entry_unref (gpointer data)
{
  Entry *entry = data;
  if (!g_atomic_ref_count_dec (&entry->ref_count))
    return;
  g_ptr_array_unref (entry->idle);
  g_mutex_clear (&entry->lock);
  g_clear_pointer (&entry->plan, cpu_plan_free);
  g_clear_pointer (&entry->segments, cpu_segments_free);
  g_clear_object (&entry->dynamic);
  g_free (entry->shapes);
  g_free (entry);
}

static gpointer
entry_ref (gpointer data)
{
  Entry *entry = data;
  g_atomic_ref_count_inc (&entry->ref_count);
  return entry;
}

static gboolean
has_static_shapes (const AxonModel *model)
{
  for (guint i = 0; i < model->nodes->len; i++)
    if (!cpu_node_is_static (g_ptr_array_index (model->nodes, i)))
      return FALSE;
  return TRUE;
}

/* Caller: has called cpu_threads_use (), for oneDNN fixes the number of threads of a primitive when
 * it is made. */
static Entry *
entry_new (CpuModel *self, const AxonShape *shapes, const CpuCompile *call, GError **error)
{
  guint n = self->model->inputs->len;
  g_autoptr (AxonModel) special = axon_model_specialize (self->model, shapes, error);
  g_autoptr (AxonModel) lowered =
      special ? cpu_lower_model (special, call->cancellable, error) : NULL;
  gboolean dynamic = lowered != NULL && !has_static_shapes (lowered);
  CpuPlan *plan = NULL;
  CpuSegments *segments = NULL;
  Entry *entry;
  if (lowered != NULL && !dynamic)
    plan = cpu_plan_new (lowered, self->extensions, self->threads.threads, call->cancellable,
                         call->progress, call->user_data, error);
  else if (lowered != NULL)
    segments = cpu_segments_new (special, self->extensions, self->threads.threads, call, error);
  if (plan == NULL && segments == NULL)
    return NULL;
  entry = g_new0 (Entry, 1);
  entry->segments = segments;
  if (dynamic)
    entry->dynamic = g_steal_pointer (&special);
  g_atomic_ref_count_init (&entry->ref_count);
  g_mutex_init (&entry->lock);
  entry->n_inputs = n;
  entry->shapes = g_memdup2 (shapes, (n + 1) * sizeof *shapes);
  entry->plan = plan;
  entry->idle = g_ptr_array_new_with_free_func ((GDestroyNotify)cpu_instance_free);
  return entry;
}

static gboolean
entry_fits (gconstpointer data, gconstpointer shapes)
{
  const Entry *entry = data;
  for (guint i = 0; i < entry->n_inputs; i++)
    if (!axon_shape_equal (&entry->shapes[i], &((const AxonShape *)shapes)[i]))
      return FALSE;
  return TRUE;
}

static Entry *
get_entry (CpuModel *self, const AxonShape *shapes, const CpuCompile *call, GError **error)
{
  Entry *entry = axon_plan_cache_find (self->entries, shapes);
  if (entry != NULL)
    return entry;
  entry = entry_new (self, shapes, call, error);
  return entry ? axon_plan_cache_add (self->entries, entry, shapes) : NULL;
}

static void
input_shapes (CpuModel *self, AxonInferRequest *request, AxonShape *shapes)
{
  static const AxonShape any = { .rank = 0 };
  for (guint i = 0; i < self->model->inputs->len; i++)
    shapes[i] = axon_model_input_is_any_size (self->model, i)
                    ? any
                    : *axon_tensor_get_shape (axon_infer_request_peek_input (request, i));
}

/* On an instance of the plan that nobody uses at the moment. */
static gboolean
run_plan (CpuModel *self, Entry *entry, AxonInferRequest *request, GError **error)
{
  g_autofree gdouble *times = NULL;
  CpuInstance *instance = NULL;
  gboolean ok;
  g_mutex_lock (&entry->lock);
  if (entry->idle->len > 0)
    instance = g_ptr_array_steal_index_fast (entry->idle, entry->idle->len - 1);
  g_mutex_unlock (&entry->lock);
  if (instance == NULL)
    instance = cpu_instance_new (entry->plan, error);
  if (instance == NULL)
    return FALSE;
  if (self->profile)
    times = g_new0 (gdouble, entry->plan->steps->len + 1);
  ok = cpu_instance_run (instance, request, times, error);
  if (ok && times != NULL)
    axon_infer_request_set_profiling (request, entry->plan->steps->len,
                                      (AxonProfilingInfo *)(gpointer)entry->plan->info->data,
                                      times);
  g_mutex_lock (&entry->lock);
  g_ptr_array_add (entry->idle, instance);
  g_mutex_unlock (&entry->lock);
  return ok;
}

static gboolean
cpu_model_infer (AxonCompiledModel *compiled, AxonInferRequest *request, G_GNUC_UNUSED guint stream,
                 GError **error)
{
  CpuModel *self = (CpuModel *)compiled;
  const CpuCompile call = { NULL, NULL, NULL };
  g_autofree AxonShape *shapes = g_new (AxonShape, self->model->inputs->len + 1);
  Entry *entry;
  gboolean ok;
  cpu_threads_use (&self->threads);
  input_shapes (self, request, shapes);
  entry = get_entry (self, shapes, &call, error);
  ok = entry == NULL ? FALSE
       : entry->plan ? run_plan (self, entry, request, error)
                     : cpu_segments_run (entry->segments, request, self->profile, error);
  cpu_threads_release ();
  g_clear_pointer (&entry, entry_unref);
  return ok;
}

static void
cpu_model_finalize (GObject *object)
{
  CpuModel *self = (CpuModel *)object;
  g_clear_pointer (&self->entries, axon_plan_cache_free);
  g_clear_object (&self->model);
  g_clear_pointer (&self->extensions, g_ptr_array_unref);
  G_OBJECT_CLASS (cpu_model_parent_class)->finalize (object);
}

static GVariant *
cpu_model_export (AxonCompiledModel *compiled, AxonBlobWriter *writer, G_GNUC_UNUSED GError **error)
{
  return axon_blob_writer_add_model (writer, ((CpuModel *)compiled)->model);
}

/* The plan that ran last; without one, the graph that plans are made of. */
static AxonModel *
cpu_model_get_runtime_model (AxonCompiledModel *compiled, G_GNUC_UNUSED GError **error)
{
  CpuModel *self = (CpuModel *)compiled;
  Entry *last = axon_plan_cache_get_latest (self->entries);
  AxonModel *model;
  model = last && last->plan ? cpu_plan_describe (last->plan)
                             : axon_model_clone (last ? last->dynamic : self->model);
  g_clear_pointer (&last, entry_unref);
  return model;
}

static void
cpu_model_class_init (CpuModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = cpu_model_finalize;
  klass->infer = cpu_model_infer;
  klass->export_model = cpu_model_export;
  klass->get_runtime_model = cpu_model_get_runtime_model;
}

static void
cpu_model_init (G_GNUC_UNUSED CpuModel *self)
{
}

/* TRUE if no input that matters has a free dimension. */
static gboolean
known_shapes (const AxonModel *model, AxonShape *shapes)
{
  for (guint i = 0; i < model->inputs->len; i++) {
    shapes[i] = ((AxonValue *)g_ptr_array_index (model->inputs, i))->type.shape;
    if (axon_model_input_is_any_size ((AxonModel *)model, i))
      shapes[i] = (AxonShape){ .rank = 0 };
    else if (!axon_shape_is_static (&shapes[i]))
      return FALSE;
  }
  return TRUE;
}

typedef struct {
  CpuModel *self;
  const AxonShape *shapes;
  const CpuCompile *call;
  Entry *entry;
  GError *error;
} Build;

static void
build_first (G_GNUC_UNUSED guint stream, gpointer user_data)
{
  Build *b = user_data;
  cpu_threads_use (&b->self->threads);
  b->entry = get_entry (b->self, b->shapes, b->call, &b->error);
  cpu_threads_release ();
}

AxonCompiledModel *
cpu_model_new (AxonPlugin *plugin, AxonModel *original, AxonModel *transformed,
               GPtrArray *extensions, const AxonConfig *config, AxonExecutor *executor,
               const CpuThreads *threads, const CpuCompile *call, GError **error)
{
  g_autoptr (AxonCompiledModel) compiled = g_object_new (cpu_model_get_type (), NULL);
  CpuModel *self = (CpuModel *)compiled;
  g_autofree AxonShape *shapes = g_new0 (AxonShape, transformed->inputs->len + 1);
  axon_compiled_model_setup (compiled, plugin, original, config, executor);
  axon_compiled_model_set_runs_in_caller (compiled, cpu_threads_fit_any (threads));
  self->model = g_object_ref (transformed);
  self->extensions = g_ptr_array_ref (extensions);
  self->threads = *threads;
  self->entries =
      axon_plan_cache_new ((guint)axon_config_get_int (config, "CPU_RUNTIME_CACHE_CAPACITY"),
                           entry_fits, entry_ref, entry_unref);
  self->profile = axon_config_get_bool (config, "PERF_COUNT");
  if (known_shapes (transformed, shapes)) {
    /* On the stream's thread, which makes its workers for it. */
    Build b = { self, shapes, call, NULL, NULL };
    axon_executor_run_and_wait (executor, build_first, &b);
    if (b.entry == NULL) {
      g_propagate_error (error, b.error);
      return NULL;
    }
    entry_unref (b.entry);
  }
  if (call->progress != NULL)
    call->progress (1, "compiled", call->user_data);
  return g_steal_pointer (&compiled);
}
