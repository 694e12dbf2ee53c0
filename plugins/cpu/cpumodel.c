/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiled model of device CPU: a small cache of plans by concrete input shapes, and one instance
 * of a plan per stream. Locks are taken once per run, not per step. */
#include "cpumodel.h"
#include "cpuchoice.h"
#include "cpuentry.h"
#include "cpusegments.h"
#include "cputhreads.h"
#include "cputune.h"
#include "onednn/cpudnn.h"

#include <axon/axon-cpu.h>

/* Numbers and sizes of what networks find differ more than sizes of pictures do. */
#define TAILS_PER_ENTRY 8

typedef struct {
  AxonCompiledModel parent_instance;
  AxonExecutor *executor;
  AxonModel *model; /* after common passes */
  GPtrArray *extensions;
  CpuThreads threads;
  CpuPlanOptions options;
  gboolean profile;
  AxonPlanCache *entries; /* CpuEntry */
  AxonPlanCache *tails;   /* CpuEntry: of graphs within those */
} CpuModel;

typedef AxonCompiledModelClass CpuModelClass;
static GType cpu_model_get_type (void);
G_DEFINE_TYPE (CpuModel, cpu_model, AXON_TYPE_COMPILED_MODEL)

/* @tuning: nullable */
static CpuEntry *
get_entry (CpuModel *self, const AxonShape *shapes, CpuTuning *tuning, const CpuCompile *call,
           GError **error)
{
  const CpuKey key = { NULL, shapes };
  const CpuContext context = {
    .extensions = self->extensions, .options = self->options, .tails = self->tails, .tuning = tuning
  };
  CpuEntry *entry = axon_plan_cache_find (self->entries, &key);
  if (entry != NULL)
    return entry;
  entry = cpu_entry_new_for (self->model, shapes, &context, call, error);
  return entry ? axon_plan_cache_add (self->entries, entry, &key) : NULL;
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

static gboolean
run_plan (CpuModel *self, CpuEntry *entry, AxonInferRequest *request, GError **error)
{
  const CpuPlan *plan = entry->plan;
  g_autofree gdouble *times = NULL;
  CpuInstance *instance = cpu_entry_borrow (entry, error);
  gboolean ok;
  if (instance == NULL)
    return FALSE;
  if (self->profile)
    times = g_new0 (gdouble, plan->steps->len + 1);
  ok = cpu_instance_run (instance, request, times, error);
  if (ok && times != NULL)
    axon_infer_request_set_profiling (request, plan->steps->len,
                                      (AxonProfilingInfo *)(gpointer)plan->info->data, times);
  cpu_entry_give_back (entry, instance);
  return ok;
}

static gboolean
run_segments (CpuModel *self, CpuEntry *entry, AxonInferRequest *request, GError **error)
{
  guint n_in = self->model->inputs->len, n_out = self->model->outputs->len;
  g_autofree AxonTensor **in = g_new0 (AxonTensor *, n_in + 1);
  g_autofree AxonTensor **out = g_new0 (AxonTensor *, n_out + 1);
  g_autoptr (GArray) info = g_array_new (FALSE, FALSE, sizeof (AxonProfilingInfo));
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (gdouble));
  g_autoptr (GPtrArray) kept = g_ptr_array_new_with_free_func (cpu_entry_unref);
  CpuRun run = { request, self->profile ? info : NULL, self->profile ? times : NULL, kept };
  gboolean ok;
  for (guint i = 0; i < n_in; i++)
    in[i] = axon_infer_request_peek_input (request, i);
  ok = cpu_segments_run (entry->segments, &run, in, out, error);
  for (guint i = 0; i < n_out; i++) {
    if (ok)
      ok = axon_infer_request_take_output (request, i, g_steal_pointer (&out[i]), error);
    g_clear_pointer (&out[i], axon_tensor_unref);
  }
  if (ok && self->profile)
    axon_infer_request_set_profiling (request, info->len, (AxonProfilingInfo *)(gpointer)info->data,
                                      (const gdouble *)(gpointer)times->data);
  return ok;
}

static void
use_threads (CpuModel *self, guint stream)
{
  cpu_threads_use (
      axon_executor_get_stream_data (self->executor, stream, cpu_team_new, cpu_team_free),
      &self->threads);
}

static gboolean
cpu_model_infer (AxonCompiledModel *compiled, AxonInferRequest *request, guint stream,
                 GError **error)
{
  CpuModel *self = (CpuModel *)compiled;
  const CpuCompile call = { NULL, NULL, NULL };
  g_autofree AxonShape *shapes = g_new (AxonShape, self->model->inputs->len + 1);
  CpuEntry *entry;
  gboolean ok;
  use_threads (self, stream);
  input_shapes (self, request, shapes);
  entry = get_entry (self, shapes, NULL, &call, error);
  ok = entry == NULL ? FALSE
       : entry->plan ? run_plan (self, entry, request, error)
                     : run_segments (self, entry, request, error);
  cpu_threads_release ();
  g_clear_pointer (&entry, cpu_entry_unref);
  return ok;
}

static void
cpu_model_finalize (GObject *object)
{
  CpuModel *self = (CpuModel *)object;
  g_clear_pointer (&self->entries, axon_plan_cache_free);
  g_clear_pointer (&self->tails, axon_plan_cache_free);
  g_clear_object (&self->model);
  g_clear_pointer (&self->executor, axon_executor_unref);
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
  CpuEntry *last = axon_plan_cache_get_latest (self->entries);
  AxonModel *model;
  model = last && last->plan ? cpu_plan_describe (last->plan)
                             : axon_model_clone (last ? last->model : self->model);
  g_clear_pointer (&last, cpu_entry_unref);
  return model;
}

static GVariant *
cpu_model_get_property (AxonCompiledModel *compiled, const gchar *key, GError **error)
{
  CpuModel *self = (CpuModel *)compiled;
  if (g_str_equal (key, "INFERENCE_PRECISION_HINT"))
    return g_variant_new_string (axon_dtype_get_name (self->options.products));
  return axon_property_no_value (key, error);
}

static void
cpu_model_class_init (CpuModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = cpu_model_finalize;
  klass->infer = cpu_model_infer;
  klass->get_property = cpu_model_get_property;
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

/* Microseconds, roughly: of a multiplication and its addition, and of making an element; and of
 * waking the threads of a stream, with which a run of less is slower than alone in its caller's. */
#define OPERATION 1e-5
#define ELEMENT 1e-3
#define WAKING 50

static gboolean
has_body (const AxonNode *node)
{
  for (guint i = 0; i < node->attrs->len; i++)
    if (((const AxonAttr *)g_ptr_array_index (node->attrs, i))->graph != NULL)
      return TRUE;
  return FALSE;
}

/* FALSE where only a run knows shapes, or how often something is done. */
static gboolean
is_small (AxonModel *model)
{
  gdouble elements = 0;
  for (guint i = 0; i < model->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (model->nodes, i);
    if (has_body (node))
      return FALSE;
    for (guint k = 0; k < node->n_outputs; k++) {
      gint64 n = node->outputs[k] ? axon_shape_get_numel (&node->outputs[k]->type.shape) : 0;
      if (n < 0)
        return FALSE;
      elements += (gdouble)n;
    }
  }
  return axon_model_get_flops (model) * OPERATION + elements * ELEMENT < WAKING;
}

/* Waking others for a frame takes about as much as they would save. */
static gboolean
is_picture (const AxonModel *model)
{
  const AxonNode *node = model->nodes->len == 1 ? g_ptr_array_index (model->nodes, 0) : NULL;
  return node != NULL && g_str_equal (node->op->name, "ImageToTensor");
}

/* AXON_CPU_ALL_THREADS in the environment: however small it is, as tests of threads want it. */
static guint
useful_threads (AxonModel *model, const CpuThreads *threads)
{
  gboolean alone =
      g_getenv ("AXON_CPU_ALL_THREADS") == NULL && (is_picture (model) || is_small (model));
  return alone ? 1 : threads->threads;
}

typedef struct {
  CpuModel *self;
  const AxonShape *shapes;
  CpuTuning *tuning;
  const CpuCompile *call;
  CpuEntry *entry;
  GError *error;
} Build;

static void
build_first (guint stream, gpointer user_data)
{
  Build *b = user_data;
  use_threads (b->self, stream);
  b->entry = get_entry (b->self, b->shapes, b->tuning, b->call, &b->error);
  cpu_threads_release ();
}

/* In a stream, whose team makes its workers for it. */
static gboolean
build_at_once (CpuModel *self, const AxonShape *shapes, const gchar *place, const CpuCompile *call,
               GError **error)
{
  CpuTuning tuning = { self->model, 0 };
  Build b = { self, shapes, place ? &tuning : NULL, call, NULL, NULL };
  axon_executor_run_and_wait (self->executor, build_first, &b);
  if (b.entry == NULL) {
    g_propagate_error (error, b.error);
    return FALSE;
  }
  cpu_entry_unref (b.entry);
  if (place != NULL)
    axon_model_set_metadata (self->model, AXON_CPU_TUNE_KERNELS, place);
  return TRUE;
}

/* Where kernels are about to be measured (g_free); NULL: they shall not be, or were, here. */
static gchar *
choose_place (CpuModel *self, AxonPlugin *plugin, const AxonConfig *config)
{
  gboolean wanted = axon_config_get_bool (config, AXON_CPU_TUNE_KERNELS);
  g_autoptr (GVariant) name = NULL;
  g_autofree gchar *processor = NULL, *place = NULL;
  if (!wanted && axon_model_get_metadata (self->model, AXON_CPU_TUNE_KERNELS) == NULL)
    return NULL;
  name = axon_plugin_get_property (plugin, "FULL_DEVICE_NAME", NULL);
  processor = g_utf8_make_valid (name ? g_variant_get_string (name, NULL) : "", -1);
  place = cpu_choice_place (processor, self->options.n_threads);
  return !cpu_choices_check (self->model, place) && wanted ? g_steal_pointer (&place) : NULL;
}

AxonCompiledModel *
cpu_model_new (AxonPlugin *plugin, AxonModel *original, AxonModel *transformed,
               GPtrArray *extensions, const AxonConfig *config, AxonExecutor *executor,
               const CpuThreads *threads, const CpuPlanOptions *options, const CpuCompile *call,
               GError **error)
{
  g_autoptr (AxonCompiledModel) compiled = g_object_new (cpu_model_get_type (), NULL);
  CpuModel *self = (CpuModel *)compiled;
  g_autofree AxonShape *shapes = g_new0 (AxonShape, transformed->inputs->len + 1);
  g_autofree gchar *place = NULL;
  guint capacity = (guint)axon_config_get_int (config, "CPU_RUNTIME_CACHE_CAPACITY");
  axon_compiled_model_setup (compiled, plugin, original, config, executor);
  cpu_dnn_ask_for_threads ();
  self->executor = axon_executor_ref (executor);
  self->model = g_object_ref (transformed);
  self->extensions = g_ptr_array_ref (extensions);
  self->threads = *threads;
  self->threads.threads = useful_threads (transformed, threads);
  self->options = *options;
  self->options.n_threads = self->threads.threads;
  self->entries = axon_plan_cache_new (capacity, cpu_entry_fits, cpu_entry_ref, cpu_entry_unref);
  self->tails = axon_plan_cache_new (capacity * TAILS_PER_ENTRY, cpu_entry_fits, cpu_entry_ref,
                                     cpu_entry_unref);
  self->profile = axon_config_get_bool (config, "PERF_COUNT");
  place = choose_place (self, plugin, config);
  if (known_shapes (transformed, shapes) && !build_at_once (self, shapes, place, call, error))
    return NULL;
  axon_compiled_model_set_runs_in_caller (compiled, cpu_threads_fit_any (&self->threads));
  if (call->progress != NULL)
    call->progress (1, "compiled", call->user_data);
  return g_steal_pointer (&compiled);
}
