/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model compiled twice, for one picture and for n. Requests wait in a queue; the collector, a
 * thread, runs n of them as soon as there are n, or those that are there when the time is up.
 * Frames are handed on as they are, other inputs are copied side by side; where the model leaves
 * their shapes free, those of one shape run together. */
#include "batchmodel-private.h"

typedef struct {
  AxonCompiledModel parent_instance;
  BatchState *state;
} BatchModel;

typedef AxonCompiledModelClass BatchModelClass;
static GType batch_model_get_type (void);
G_DEFINE_TYPE (BatchModel, batch_model, AXON_TYPE_COMPILED_MODEL)

static void
state_unref (BatchState *state)
{
  if (!g_atomic_ref_count_dec (&state->ref_count))
    return;
  g_ptr_array_unref (state->slots);
  g_ptr_array_unref (state->idle);
  g_ptr_array_unref (state->single);
  g_clear_object (&state->one);
  g_clear_object (&state->many);
  g_mutex_clear (&state->lock);
  g_cond_clear (&state->changed);
  g_free (state->map);
  g_free (state);
}

static void on_slot_done (AxonInferRequest *inner, const GError *error, gpointer user_data);

static BatchSlot *
slot_new (BatchState *state, gboolean single)
{
  BatchSlot *slot = g_new0 (BatchSlot, 1);
  slot->state = state;
  slot->single = single;
  slot->inner = axon_compiled_model_create_infer_request (single ? state->one : state->many);
  slot->outers = g_new0 (AxonInferRequest *, state->n + 1);
  slot->stacks = g_new0 (AxonTensor *, state->n_inputs + 1);
  axon_infer_request_set_direct_callback (slot->inner, on_slot_done, slot);
  g_mutex_lock (&state->lock);
  g_ptr_array_add (state->slots, slot);
  g_mutex_unlock (&state->lock);
  return slot;
}

/* Results to those who wait; then the slot is idle; then they are told. */
static void
end_slot (BatchSlot *slot, const GError *error)
{
  BatchState *state = slot->state;
  guint n = slot->n_outers;
  g_autofree AxonInferRequest **outers = g_memdup2 (slot->outers, n * sizeof *outers);
  g_autofree GError **errors = g_new0 (GError *, n + 1);
  for (guint k = 0; k < n; k++) {
    if (error != NULL)
      errors[k] = g_error_copy (error);
    else if (slot->single)
      axon_infer_request_gather (outers[k], slot->inner, &errors[k]);
    else if (batch_slot_unpack (slot, k, &errors[k])) {
      axon_infer_request_set_profiling (outers[k], 0, NULL, NULL);
      axon_infer_request_add_profiling (outers[k], "", slot->inner);
    }
    if (errors[k] == NULL)
      axon_infer_request_finish_outputs (outers[k], &errors[k]);
  }
  if (!slot->single)
    axon_infer_request_unbind_inputs (slot->inner);
  g_mutex_lock (&state->lock);
  slot->n_outers = 0;
  g_ptr_array_add (slot->single ? state->single : state->idle, slot);
  g_cond_broadcast (&state->changed);
  g_mutex_unlock (&state->lock);
  for (guint k = 0; k < n; k++)
    axon_infer_request_complete (outers[k], errors[k]);
}

static void
on_slot_done (G_GNUC_UNUSED AxonInferRequest *inner, const GError *error, gpointer user_data)
{
  end_slot (user_data, error);
}

/* lock held: seconds do not matter, microseconds left until the oldest has waited enough */
static gint64
time_left (const BatchState *state)
{
  return state->first_at + (gint64)state->timeout_ms * 1000 - g_get_monotonic_time ();
}

/* lock held. Those that wait and can run with the oldest, up to a batch. */
static guint
count_alike (BatchState *state)
{
  guint n = 0;
  for (GList *l = state->waiting.head; l != NULL && n < state->n; l = l->next)
    n += batch_is_alike (state, state->waiting.head->data, l->data);
  return n;
}

/* lock held. How many to run now; 0: wait. */
static guint
due (BatchState *state)
{
  guint n = count_alike (state);
  if (n == 0)
    return 0;
  if (n >= state->n)
    return state->n;
  return state->timeout_ms == 0 || state->flush || time_left (state) <= 0 ? n : 0;
}

/* lock held; released and taken again where a slot is made */
static BatchSlot *
take_slot (BatchState *state, guint count)
{
  GPtrArray *list = count == 1 ? state->single : state->idle;
  BatchSlot *slot;
  if (list->len > 0)
    return g_ptr_array_steal_index_fast (list, list->len - 1);
  if (count > 1)
    return NULL; /* all run: more may come to join the next batch */
  g_mutex_unlock (&state->lock);
  slot = slot_new (state, TRUE);
  g_mutex_lock (&state->lock);
  return slot;
}

/* lock held */
static BatchSlot *
fill_slot (BatchState *state, guint count)
{
  BatchSlot *slot = take_slot (state, count);
  if (slot == NULL)
    return NULL;
  for (GList *l = state->waiting.head, *next; l != NULL && slot->n_outers < count; l = next) {
    next = l->next;
    if (slot->n_outers > 0 && !batch_is_alike (state, slot->outers[0], l->data))
      continue;
    slot->outers[slot->n_outers++] = l->data;
    g_queue_delete_link (&state->waiting, l);
  }
  state->first_at = g_get_monotonic_time ();
  if (g_queue_is_empty (&state->waiting))
    state->flush = FALSE;
  if (slot->n_outers == 0) { /* cancelled meanwhile */
    g_ptr_array_add (slot->single ? state->single : state->idle, slot);
    return NULL;
  }
  return slot;
}

static gpointer
collect (gpointer data)
{
  BatchState *state = data;
  g_mutex_lock (&state->lock);
  while (!state->stop) {
    guint count = due (state);
    BatchSlot *slot = count > 0 ? fill_slot (state, count) : NULL;
    g_autoptr (GError) error = NULL;
    if (slot == NULL) {
      if (count > 0 || g_queue_is_empty (&state->waiting))
        g_cond_wait (&state->changed, &state->lock);
      else
        g_cond_wait_until (&state->changed, &state->lock,
                           g_get_monotonic_time () + MAX (time_left (state), 1));
      continue;
    }
    g_mutex_unlock (&state->lock);
    if (!batch_slot_bind (slot, &error) || !axon_infer_request_start_async (slot->inner, &error))
      end_slot (slot, error);
    g_mutex_lock (&state->lock);
  }
  g_mutex_unlock (&state->lock);
  state_unref (state);
  return NULL;
}

static gboolean
batch_model_start (AxonCompiledModel *compiled, AxonInferRequest *request,
                   G_GNUC_UNUSED GError **error)
{
  BatchState *state = ((BatchModel *)compiled)->state;
  g_mutex_lock (&state->lock);
  if (g_queue_is_empty (&state->waiting))
    state->first_at = g_get_monotonic_time ();
  g_queue_push_tail (&state->waiting, request);
  g_cond_broadcast (&state->changed);
  g_mutex_unlock (&state->lock);
  return TRUE;
}

/* lock held. The running batch that @request is in, if nobody else in it goes on. */
static AxonInferRequest *
find_abandoned (BatchState *state, AxonInferRequest *request)
{
  for (guint i = 0; i < state->slots->len; i++) {
    BatchSlot *slot = g_ptr_array_index (state->slots, i);
    gboolean mine = FALSE, all = TRUE;
    for (guint k = 0; k < slot->n_outers; k++) {
      mine = mine || slot->outers[k] == request;
      all = all && axon_infer_request_is_cancelled (slot->outers[k]);
    }
    if (mine)
      return all ? g_object_ref (slot->inner) : NULL;
  }
  return NULL;
}

static void
batch_model_cancel (AxonCompiledModel *compiled, AxonInferRequest *request)
{
  BatchState *state = ((BatchModel *)compiled)->state;
  g_autoptr (AxonInferRequest) inner = NULL;
  gboolean waited;
  g_mutex_lock (&state->lock);
  waited = g_queue_remove (&state->waiting, request);
  if (!waited)
    inner = find_abandoned (state, request);
  g_mutex_unlock (&state->lock);
  if (waited)
    axon_infer_request_complete (request, NULL); /* says that it was cancelled */
  else if (inner != NULL)
    axon_infer_request_cancel (inner);
}

static void
batch_model_flush (AxonCompiledModel *compiled)
{
  BatchState *state = ((BatchModel *)compiled)->state;
  g_mutex_lock (&state->lock);
  state->flush = !g_queue_is_empty (&state->waiting);
  g_cond_broadcast (&state->changed);
  g_mutex_unlock (&state->lock);
}

static guint
optimal_requests (BatchState *state)
{
  g_autoptr (GVariant) optimal =
      axon_compiled_model_get_property (state->many, "OPTIMAL_NUMBER_OF_INFER_REQUESTS", NULL);
  return MAX (1, optimal ? (guint)g_variant_get_int32 (optimal) : 1);
}

static GVariant *
batch_model_get_property (AxonCompiledModel *compiled, const gchar *key,
                          G_GNUC_UNUSED GError **error)
{
  BatchState *state = ((BatchModel *)compiled)->state;
  guint timeout;
  if (g_str_equal (key, "OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
    return g_variant_new_int32 ((gint)(state->n * optimal_requests (state)));
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return axon_compiled_model_get_property (state->one, key, NULL);
  if (!g_str_equal (key, "AUTO_BATCH_TIMEOUT"))
    return NULL;
  g_mutex_lock (&state->lock);
  timeout = state->timeout_ms;
  g_mutex_unlock (&state->lock);
  return g_variant_new_int32 ((gint)timeout);
}

static gboolean
batch_model_set_property (AxonCompiledModel *compiled, G_GNUC_UNUSED const gchar *key,
                          GVariant *value, G_GNUC_UNUSED GError **error)
{
  BatchState *state = ((BatchModel *)compiled)->state;
  g_mutex_lock (&state->lock);
  state->timeout_ms = (guint)g_variant_get_int32 (value);
  g_cond_broadcast (&state->changed);
  g_mutex_unlock (&state->lock);
  return TRUE;
}

/* Requests keep the model alive, so none waits here. */
static void
batch_model_finalize (GObject *object)
{
  BatchState *state = ((BatchModel *)object)->state;
  g_mutex_lock (&state->lock);
  state->stop = TRUE;
  g_cond_broadcast (&state->changed);
  g_mutex_unlock (&state->lock);
  if (state->collector == g_thread_self ())
    g_thread_unref (state->collector);
  else if (state->collector != NULL)
    g_thread_join (state->collector);
  state_unref (state);
  G_OBJECT_CLASS (batch_model_parent_class)->finalize (object);
}

/* As full batches run; as single pictures do where no full batch was profiled. */
static AxonModel *
batch_model_get_runtime_model (AxonCompiledModel *compiled, GError **error)
{
  BatchState *state = ((BatchModel *)compiled)->state;
  g_autoptr (AxonModel) many = axon_compiled_model_get_runtime_model (state->many, error);
  if (many == NULL)
    return NULL;
  for (guint i = 0; i < many->nodes->len; i++)
    if (((const AxonNode *)g_ptr_array_index (many->nodes, i))->exec_time > 0)
      return g_steal_pointer (&many);
  return axon_compiled_model_get_runtime_model (state->one, error);
}

static void
batch_model_class_init (BatchModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = batch_model_finalize;
  klass->start = batch_model_start;
  klass->cancel = batch_model_cancel;
  klass->flush = batch_model_flush;
  klass->get_property = batch_model_get_property;
  klass->set_property = batch_model_set_property;
  klass->get_runtime_model = batch_model_get_runtime_model;
}

static void
batch_model_init (BatchModel *self)
{
  BatchState *state = g_new0 (BatchState, 1);
  g_atomic_ref_count_init (&state->ref_count);
  g_mutex_init (&state->lock);
  g_cond_init (&state->changed);
  state->idle = g_ptr_array_new ();
  state->single = g_ptr_array_new ();
  state->slots = g_ptr_array_new_with_free_func (batch_slot_free);
  self->state = state;
}

AxonCompiledModel *
batch_model_new (AxonPlugin *plugin, AxonModel *model, const gchar *device, guint n,
                 const AxonConfig *config, GCancellable *cancellable, AxonProgressFunc progress,
                 gpointer user_data, GError **error)
{
  g_autoptr (AxonCompiledModel) compiled = g_object_new (batch_model_get_type (), NULL);
  BatchState *state = ((BatchModel *)compiled)->state;
  g_autoptr (AxonCore) core = axon_plugin_get_core (plugin, error);
  g_autoptr (GVariant) forwarded = axon_config_for_device (config, device);
  g_autoptr (GVariant) own =
      axon_config_get_bool (config, "PERF_COUNT")
          ? axon_variant_with (forwarded, "PERF_COUNT", g_variant_new_boolean (TRUE))
          : g_variant_ref (forwarded);
  g_autoptr (AxonModel) batched = NULL;
  state->n = n;
  state->n_inputs = model->inputs->len;
  state->n_outputs = model->outputs->len;
  state->map = g_new0 (guint, n * state->n_inputs + 1);
  state->timeout_ms = (guint)axon_config_get_int (config, "AUTO_BATCH_TIMEOUT");
  batched = core ? batch_transform (model, n, state->map, error) : NULL;
  if (batched == NULL)
    return NULL;
  for (guint i = 0; i < state->n_inputs; i++)
    state->has_shapes |=
        batch_is_stacked (state, i) &&
        !axon_shape_is_static (&((AxonValue *)g_ptr_array_index (model->inputs, i))->type.shape);
  state->many =
      axon_core_compile_model (core, batched, device, own, cancellable, progress, user_data, error);
  if (state->many == NULL)
    return NULL;
  state->one = axon_core_compile_model (core, model, device, own, cancellable, NULL, NULL, error);
  if (state->one == NULL)
    return NULL;
  axon_compiled_model_setup (compiled, plugin, model, config, NULL);
  for (guint i = optimal_requests (state); i-- > 0;)
    g_ptr_array_add (state->idle, slot_new (state, FALSE));
  g_atomic_ref_count_inc (&state->ref_count);
  state->collector = g_thread_try_new ("axon-batch", collect, state, error);
  if (state->collector == NULL) {
    state_unref (state);
    return NULL;
  }
  return g_steal_pointer (&compiled);
}
