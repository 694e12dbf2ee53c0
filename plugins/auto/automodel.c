/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model that AUTO compiled. A thread of its own, the search, compiles on one device after another
 * until one succeeds; meanwhile, or before, a helper on the processor may run the requests. The
 * search shares a reference-counted state with the model and never holds the model itself. */
#include "auto.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

#define HELPER "(CPU)"

typedef struct {
  gatomicrefcount ref_count;
  AxonPlugin *plugin;
  AxonCore *core;
  AxonModel *model;
  AxonConfig *config;
  AxonScheduler *scheduler;
  GCancellable *cancellable;
  const gchar *hint; /* static */
  GMutex lock;
  GCond changed;
  GPtrArray *devices;           /* lock: AxonDeviceRef that were not tried, best first */
  GString *messages;            /* lock: of those that failed */
  gboolean searching, found;    /* lock */
  AutoReservation *reservation; /* lock */
} State;

typedef struct {
  AxonCompiledModel parent_instance;
  State *state;
} AutoModel;

typedef AxonCompiledModelClass AutoModelClass;
static GType auto_model_get_type (void);
G_DEFINE_TYPE (AutoModel, auto_model, AXON_TYPE_COMPILED_MODEL)

static State *
state_ref (State *state)
{
  g_atomic_ref_count_inc (&state->ref_count);
  return state;
}

static void
state_unref (State *state)
{
  if (!g_atomic_ref_count_dec (&state->ref_count))
    return;
  g_clear_pointer (&state->reservation, auto_release);
  g_ptr_array_unref (state->devices);
  g_string_free (state->messages, TRUE);
  axon_config_free (state->config);
  axon_scheduler_unref (state->scheduler);
  g_object_unref (state->cancellable);
  g_object_unref (state->model);
  g_object_unref (state->core);
  g_object_unref (state->plugin);
  g_mutex_clear (&state->lock);
  g_cond_clear (&state->changed);
  g_free (state);
}

/* The next device that was not tried; NULL: none is left. */
static AxonDeviceRef *
next_device (State *state)
{
  AxonDeviceRef *ref = NULL;
  guint at;
  g_mutex_lock (&state->lock);
  if (state->devices->len > 0) {
    at = auto_choose (state->devices, axon_config_get_string (state->config, "MODEL_PRIORITY"));
    ref = g_ptr_array_steal_index (state->devices, at);
  }
  g_mutex_unlock (&state->lock);
  return ref;
}

static AxonCompiledModel *
compile_on (State *state, const gchar *device, AxonProgressFunc progress, gpointer user_data,
            GError **error)
{
  g_autoptr (GVariant) config =
      axon_candidates_config (state->core, state->config, device, state->hint);
  return axon_core_compile_model (state->core, state->model, device, config, state->cancellable,
                                  progress, user_data, error);
}

static void
note_failure (State *state, const gchar *device, const GError *error)
{
  axon_plugin_log (state->plugin, state->config, "LOG_WARNING", "%s cannot run %s: %s", device,
                   state->model->name, error->message);
  g_mutex_lock (&state->lock);
  g_string_append_printf (state->messages, "%s%s: %s", state->messages->len ? "; " : "", device,
                          error->message);
  g_mutex_unlock (&state->lock);
}

static void
adopt (State *state, const AxonDeviceRef *ref, AxonCompiledModel *compiled)
{
  axon_plugin_log (state->plugin, state->config, "LOG_INFO", "%s runs on %s", state->model->name,
                   ref->device);
  axon_scheduler_add (state->scheduler, ref->device, ref->device, compiled, (guint)ref->number);
  axon_scheduler_retire (state->scheduler, HELPER);
  g_mutex_lock (&state->lock);
  g_clear_pointer (&state->reservation, auto_release);
  state->reservation =
      auto_reserve (ref->device, axon_config_get_string (state->config, "MODEL_PRIORITY"));
  state->found = TRUE;
  g_mutex_unlock (&state->lock);
}

/* TRUE if a device compiled the model. */
static gboolean
search (State *state, AxonProgressFunc progress, gpointer user_data)
{
  AxonDeviceRef *ref;
  gboolean found = FALSE;
  while (!found && !g_cancellable_is_cancelled (state->cancellable) &&
         (ref = next_device (state)) != NULL) {
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonCompiledModel) compiled =
        compile_on (state, ref->device, progress, user_data, &error);
    if (compiled != NULL)
      adopt (state, ref, compiled);
    else
      note_failure (state, ref->device, error);
    if (compiled == NULL)
      axon_candidates_lose (state->scheduler, ref->device, error);
    found = compiled != NULL;
    axon_device_ref_free (ref);
  }
  return found;
}

static void
set_all_failed (State *state, GError **error)
{
  if (g_cancellable_set_error_if_cancelled (state->cancellable, error))
    return;
  g_mutex_lock (&state->lock);
  g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, _ ("AUTO: no device runs the model: %s"),
               state->messages->str);
  g_mutex_unlock (&state->lock);
}

static gpointer
search_main (gpointer data)
{
  State *state = data;
  gboolean found = search (state, NULL, NULL);
  g_autoptr (GError) error = NULL;
  if (!found && axon_scheduler_get_n_devices (state->scheduler) == 0) {
    set_all_failed (state, &error);
    axon_scheduler_set_empty_func (state->scheduler, NULL, NULL);
    axon_scheduler_fail (state->scheduler, error);
  }
  g_mutex_lock (&state->lock);
  state->searching = FALSE;
  g_cond_broadcast (&state->changed);
  g_mutex_unlock (&state->lock);
  state_unref (state);
  return NULL;
}

/* lock held. FALSE: there is no thread for it. */
static gboolean
begin_search (State *state)
{
  GThread *thread = g_thread_try_new ("axon-auto", search_main, state_ref (state), NULL);
  state->searching = thread != NULL;
  if (thread != NULL)
    g_thread_unref (thread);
  else
    state_unref (state);
  return thread != NULL;
}

/* The last device failed while running: go on with those that were not tried. */
static gboolean
on_empty (const GError *error, gpointer user_data)
{
  State *state = user_data;
  gboolean going_on;
  note_failure (state, "the device in use", error);
  g_mutex_lock (&state->lock);
  going_on = state->searching || state->devices->len > 0;
  if (going_on && !state->searching)
    going_on = begin_search (state);
  g_mutex_unlock (&state->lock);
  return going_on;
}

static gboolean
lists_cpu (GPtrArray *devices)
{
  for (guint i = 0; i < devices->len; i++)
    if (g_str_equal (((AxonDeviceRef *)g_ptr_array_index (devices, i))->name, "CPU"))
      return TRUE;
  return FALSE;
}

/* A helper is wanted where the best device is slower to start than the processor. */
static gboolean
wants_helper (State *state)
{
  const AxonDeviceRef *best = g_ptr_array_index (
      state->devices,
      auto_choose (state->devices, axon_config_get_string (state->config, "MODEL_PRIORITY")));
  g_autoptr (GVariant) config = NULL;
  if (!axon_config_get_bool (state->config, "ENABLE_STARTUP_FALLBACK") ||
      axon_config_get_bool (state->config, "DEVICE_BIND_BUFFER") ||
      g_str_equal (best->name, "CPU") || !lists_cpu (state->devices))
    return FALSE;
  config = axon_candidates_config (state->core, state->config, best->device, state->hint);
  return !axon_core_is_cached (state->core, state->model, best->device, config);
}

/* TRUE once the helper runs. */
static gboolean
start_helper (State *state, GCancellable *cancellable)
{
  g_autoptr (GVariant) own =
      axon_candidates_config (state->core, state->config, "CPU", state->hint);
  g_autoptr (GVariant) hinted =
      axon_variant_with (own, "PERFORMANCE_HINT", g_variant_new_string ("LATENCY"));
  g_autoptr (GVariant) config = axon_variant_with (hinted, "CACHE_DIR", g_variant_new_string (""));
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      state->core, state->model, "CPU", config, cancellable, NULL, NULL, &error);
  gboolean needed;
  if (compiled == NULL) {
    note_failure (state, HELPER, error);
    return FALSE;
  }
  g_mutex_lock (&state->lock);
  needed = !state->found;
  g_mutex_unlock (&state->lock);
  if (needed) {
    axon_scheduler_add (state->scheduler, "CPU", HELPER, compiled, 0);
    g_mutex_lock (&state->lock);
    needed = !state->found; /* found meanwhile: it could not retire what was not there */
    g_mutex_unlock (&state->lock);
    if (!needed)
      axon_scheduler_retire (state->scheduler, HELPER);
  }
  return TRUE;
}

static void
wait_for_search (State *state)
{
  g_mutex_lock (&state->lock);
  while (state->searching && !state->found)
    g_cond_wait (&state->changed, &state->lock);
  g_mutex_unlock (&state->lock);
}

static void
forward_cancel (G_GNUC_UNUSED GCancellable *from, gpointer user_data)
{
  g_cancellable_cancel (user_data);
}

static gboolean
compile_with_helper (State *state, GCancellable *cancellable)
{
  gboolean helped, searching;
  g_mutex_lock (&state->lock);
  searching = begin_search (state);
  g_mutex_unlock (&state->lock);
  if (!searching)
    return search (state, NULL, NULL);
  helped = start_helper (state, cancellable);
  if (!helped)
    wait_for_search (state);
  return axon_scheduler_get_n_devices (state->scheduler) > 0;
}

static gboolean
compile_first (State *state, GCancellable *cancellable, AxonProgressFunc progress,
               gpointer user_data, GError **error)
{
  gulong id = cancellable ? g_cancellable_connect (cancellable, G_CALLBACK (forward_cancel),
                                                   state->cancellable, NULL)
                          : 0;
  gboolean ok = wants_helper (state) ? compile_with_helper (state, cancellable)
                                     : search (state, progress, user_data);
  if (id != 0)
    g_cancellable_disconnect (cancellable, id);
  if (!ok)
    set_all_failed (state, error);
  return ok;
}

static State *
state_new (AxonPlugin *plugin, AxonCore *core, AxonModel *model, GPtrArray *devices,
           const AxonConfig *config)
{
  State *state = g_new0 (State, 1);
  const gchar *policy = axon_config_get_string (config, "SCHEDULE_POLICY");
  const gchar *hint = axon_config_get_string (config, "PERFORMANCE_HINT");
  AxonSchedulerFlags flags = g_str_equal (policy, "ROUND_ROBIN") ? AXON_SCHEDULER_ROUND_ROBIN : 0;
  if (!g_str_equal (hint, "CUMULATIVE_THROUGHPUT")) /* a device that is back, before its stand-in */
    flags = AXON_SCHEDULER_FIRST;
  if (axon_config_get_bool (config, "DEVICE_BIND_BUFFER"))
    flags |= AXON_SCHEDULER_BIND;
  else if (axon_config_get_bool (config, "ENABLE_RUNTIME_FALLBACK"))
    flags |= AXON_SCHEDULER_RETRY;
  g_atomic_ref_count_init (&state->ref_count);
  g_mutex_init (&state->lock);
  g_cond_init (&state->changed);
  state->plugin = g_object_ref (plugin);
  state->core = g_object_ref (core);
  state->model = g_object_ref (model);
  state->config = axon_config_copy (config);
  state->devices = g_ptr_array_ref (devices);
  state->messages = g_string_new (NULL);
  state->cancellable = g_cancellable_new ();
  state->hint = g_str_equal (hint, "LATENCY") ? "LATENCY" : "THROUGHPUT";
  state->scheduler = axon_scheduler_new (flags);
  axon_candidates_await (state->scheduler, plugin, model, devices, config, state->hint);
  return state;
}

static gboolean
auto_model_start (AxonCompiledModel *compiled, AxonInferRequest *request, GError **error)
{
  return axon_scheduler_start (((AutoModel *)compiled)->state->scheduler, request, error);
}

static void
auto_model_cancel (AxonCompiledModel *compiled, AxonInferRequest *request)
{
  axon_scheduler_cancel (((AutoModel *)compiled)->state->scheduler, request);
}

static GVariant *
auto_model_get_property (AxonCompiledModel *compiled, const gchar *key,
                         G_GNUC_UNUSED GError **error)
{
  return axon_scheduler_get_property (((AutoModel *)compiled)->state->scheduler, key);
}

static AxonModel *
auto_model_get_runtime_model (AxonCompiledModel *compiled, GError **error)
{
  return axon_scheduler_get_runtime_model (((AutoModel *)compiled)->state->scheduler, error);
}

static void
auto_model_finalize (GObject *object)
{
  State *state = ((AutoModel *)object)->state;
  axon_scheduler_set_empty_func (state->scheduler, NULL, NULL);
  axon_candidates_stop_awaiting (state->scheduler);
  g_cancellable_cancel (state->cancellable); /* a search that still runs ends soon, on its own */
  state_unref (state);
  G_OBJECT_CLASS (auto_model_parent_class)->finalize (object);
}

static void
auto_model_class_init (AutoModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = auto_model_finalize;
  klass->start = auto_model_start;
  klass->cancel = auto_model_cancel;
  klass->get_property = auto_model_get_property;
  klass->get_runtime_model = auto_model_get_runtime_model;
  klass->accepts_remote = TRUE;
  klass->accepts_any_place = TRUE;
}

static void
auto_model_init (G_GNUC_UNUSED AutoModel *self)
{
}

AxonCompiledModel *
auto_model_new (AxonPlugin *plugin, AxonCore *core, AxonModel *model, GPtrArray *devices,
                const AxonConfig *config, GCancellable *cancellable, AxonProgressFunc progress,
                gpointer user_data, GError **error)
{
  g_autoptr (AxonCompiledModel) compiled = g_object_new (auto_model_get_type (), NULL);
  State *state = state_new (plugin, core, model, devices, config);
  const gchar *hint = axon_config_get_string (config, "PERFORMANCE_HINT");
  gboolean ok;
  ((AutoModel *)compiled)->state = state;
  axon_compiled_model_setup (compiled, plugin, model, config, NULL);
  if (g_str_equal (hint, "CUMULATIVE_THROUGHPUT"))
    ok = axon_candidates_compile_all (plugin, core, state->scheduler, model, devices, config,
                                      cancellable, progress, user_data, error);
  else
    ok = compile_first (state, cancellable, progress, user_data, error);
  if (ok && axon_config_get_bool (config, "ENABLE_RUNTIME_FALLBACK") &&
      !g_str_equal (hint, "CUMULATIVE_THROUGHPUT"))
    axon_scheduler_set_empty_func (state->scheduler, on_empty, state);
  return ok ? g_steal_pointer (&compiled) : NULL;
}

/* What the model computes in, judged by its weights: devices that lack it come last. */
static const gchar *
model_precision (AxonModel *model)
{
  if (model->quantized)
    return "INT8";
  for (guint i = 0; i < model->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (model->nodes, i);
    const AxonValue *w = axon_node_get_input (node, 1);
    if (axon_node_is (node, "Conv") && w != NULL)
      return w->type.dtype == AXON_DTYPE_F16 ? "FP16" : "FP32";
  }
  return "FP32";
}

static gboolean
is_capable (AxonCore *core, const gchar *device, const gchar *precision)
{
  g_autoptr (GVariant) value =
      axon_core_get_property (core, device, "OPTIMIZATION_CAPABILITIES", NULL);
  g_autofree const gchar **list = value ? g_variant_get_strv (value, NULL) : NULL;
  return list == NULL || g_strv_contains (list, precision) ||
         (!g_str_equal (precision, "INT8") &&
          (g_strv_contains (list, "FP16") || g_strv_contains (list, "FP32")));
}

/* The devices that are capable, in order, then the others: they may still run it, more slowly. */
GPtrArray *
auto_filter (AxonCore *core, AxonModel *model, GPtrArray *devices)
{
  const gchar *precision = model_precision (model);
  GPtrArray *sorted = g_ptr_array_new_with_free_func (axon_device_ref_free);
  for (guint capable = 2; capable-- > 0;)
    for (guint i = 0; i < devices->len; i++) {
      AxonDeviceRef *ref = g_ptr_array_index (devices, i);
      if (ref != NULL && is_capable (core, ref->device, precision) == (gboolean)capable)
        g_ptr_array_add (sorted, g_steal_pointer (&devices->pdata[i]));
    }
  g_ptr_array_set_free_func (devices, NULL);
  return sorted;
}
