/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer's beginning: opening the model, and compiling it for the stream. Compiling runs on a
 * worker; the first buffer waits for it, so a pipeline prerolls when the model is ready. What is
 * changed while frames flow is opened and compiled there, too, and the old model serves until then.
 */
#include "infer/gstnnadvice.h"
#include "infer/gstnninfer.h"
#include "infer/gstnninfershare.h"

#include <string.h>

#define GST_CAT_DEFAULT gst_nn_infer_debug

/* Takes @opened over. */
static void
set_opened (GstNnInfer *self, GstNnInferModel *opened)
{
  g_autoptr (GstNnInferModel) old = NULL;
  GST_OBJECT_LOCK (self);
  old = g_steal_pointer (&self->opened);
  self->opened = opened;
  GST_OBJECT_UNLOCK (self);
}

/* For queries, which come from any thread in any state; NULL: none is open. */
GstNnInferModel *
gst_nn_infer_ref_opened (GstNnInfer *self)
{
  GstNnInferModel *opened;
  GST_OBJECT_LOCK (self);
  opened = self->opened ? gst_nn_infer_model_ref (self->opened) : NULL;
  GST_OBJECT_UNLOCK (self);
  return opened;
}

/* What the properties say now, and from now on nothing has changed. */
static GstNnInferModel *
take_properties (GstNnInfer *self)
{
  GstNnInferModel *m = gst_nn_infer_model_new ();
  GST_OBJECT_LOCK (self);
  m->path = g_strdup (self->model_path);
  m->device = g_strdup (self->device);
  m->device_is_set = self->device_is_set;
  m->extensions = g_strdup (self->extensions);
  m->nireq = self->nireq;
  m->max_memory = self->max_memory;
  m->inference_timeout = self->inference_timeout;
  m->instance_id = self->instance_id && *self->instance_id ? g_strdup (self->instance_id) : NULL;
  m->config = self->config ? gst_structure_copy (self->config) : NULL;
  gst_nn_model_props_copy (&m->props, &self->props);
  self->is_stale = FALSE;
  GST_OBJECT_UNLOCK (self);
  return m;
}

static void
post_model_info (GstNnInfer *self, const GstNnInferModel *m)
{
  g_autofree gchar *input = axon_shape_to_string (axon_model_get_input_shape (m->model, 0));
  GstStructure *s = gst_structure_new (
      "nn-model-info", "model", G_TYPE_STRING, m->description->model_name, "device", G_TYPE_STRING,
      m->device, "input", G_TYPE_STRING, input, "color", G_TYPE_STRING, m->description->color,
      "decoder", G_TYPE_STRING, m->description->decoder ? m->description->decoder : "by shape",
      "parameters", G_TYPE_UINT64, axon_model_get_n_parameters (m->model), "origin", G_TYPE_STRING,
      m->description->origin->str, NULL);
  GST_DEBUG_OBJECT (self, "%s is described by%s", m->path, m->description->origin->str);
  gst_element_post_message (GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), s));
}

static gboolean
regions_are_sound (GstNnInfer *self, GError **error)
{
  gboolean ok;
  GST_OBJECT_LOCK (self);
  ok = gst_nn_region_props_check (&self->region_props, error);
  GST_OBJECT_UNLOCK (self);
  return ok;
}

/* NULL -> READY: quick checks with clear errors. */
gboolean
gst_nn_infer_open (GstNnInfer *self)
{
  g_autoptr (GstNnInferModel) m = take_properties (self);
  g_autoptr (GError) error = NULL;
  if (!regions_are_sound (self, &error) || !gst_nn_infer_model_open (m, &error)) {
    gst_nn_post_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  post_model_info (self, m);
  set_opened (self, g_steal_pointer (&m));
  return TRUE;
}

void
gst_nn_infer_close (GstNnInfer *self)
{
  gst_nn_infer_forget_compiled (self);
  set_opened (self, NULL);
}

typedef struct {
  GstNnInfer *self;
  GstNnInferModel *opened; /* a change: to be opened and prepared */
  GstNnInferModel *m;      /* to be compiled; NULL: not yet prepared */
  gdouble told;            /* how much of compiling */
} Job;

static gboolean
set_affinity (GQuark field, const GValue *value, gpointer model)
{
  axon_model_set_affinity (model, g_quark_to_string (field), g_value_get_string (value));
  return TRUE;
}

/* HETERO follows what nnquery found for this very file. Returns the devices that it asked, for
 * nodes that are not in the file (frames to tensors); NULL: there is no such advice. */
static gchar *
apply_affinities (GstNnInfer *self, const GstNnInferModel *m, AxonModel *graph)
{
  const GstStructure *advice;
  const GValue *nodes;
  gchar *devices = NULL;
  if (!g_str_equal (m->device, "HETERO"))
    return NULL;
  GST_OBJECT_LOCK (self);
  advice = self->affinities ? gst_nn_find_advice (self->affinities, m->path) : NULL;
  nodes = advice ? gst_structure_get_value (advice, "affinities") : NULL;
  if (nodes != NULL) {
    gst_structure_foreach (gst_value_get_structure (nodes), set_affinity, graph);
    devices = g_strdup (gst_structure_get_string (advice, "devices"));
  }
  GST_OBJECT_UNLOCK (self);
  return devices;
}

static void
post_progress (GstNnInfer *self, GstProgressType type, const gchar *text)
{
  gst_element_post_message (GST_ELEMENT (self),
                            gst_message_new_progress (GST_OBJECT (self), type, "compile", text));
}

/* Not a message per node. */
static void
on_progress (gdouble fraction, const gchar *stage, gpointer user_data)
{
  static const gdouble step = 0.25;
  Job *job = user_data;
  g_autofree gchar *text = NULL;
  if (fraction < job->told + step && fraction < 1)
    return;
  job->told = fraction;
  text = g_strdup_printf (_ ("Compiling %s for %s: %d %%, %s"), job->m->description->model_name,
                          job->m->device, (gint)(fraction * 100), stage);
  post_progress (job->self, GST_PROGRESS_TYPE_CONTINUE, text);
}

static AxonCompiledModel *
compile (gpointer user_data, GError **error)
{
  Job *job = user_data;
  GstNnInfer *self = job->self;
  GstNnInferModel *m = job->m;
  AxonCore *core = axon_core_get_default ();
  g_autoptr (GVariant) config = gst_nn_infer_model_dup_config (m);
  g_autoptr (AxonModel) graph = NULL;
  g_autofree gchar *devices = NULL, *device = NULL;
  if (gst_nn_infer_model_is_imported (m))
    return axon_core_import_model_from_file (core, m->path, m->device_is_set ? m->device : NULL,
                                             config, self->cancellable, on_progress, job, error);
  graph = gst_nn_infer_model_ref_graph (m, error);
  if (graph == NULL)
    return NULL;
  devices = apply_affinities (self, m, graph);
  device = devices ? g_strconcat ("HETERO:", devices, NULL) : g_strdup (m->device);
  return axon_core_compile_model (core, graph, device, config, self->cancellable, on_progress, job,
                                  error);
}

/* What stays a guess is said once for each model, with the properties that settle it: wrong colours
 * or ranges are the usual reason for results that make no sense. */
static void
warn_if_assumed (GstNnInfer *self, const GstNnInferModel *m)
{
  g_autofree gchar *doubts = gst_nn_description_get_doubts (m->description);
  g_autofree gchar *assumed = doubts ? gst_nn_model_props_to_launch (doubts) : NULL;
  const gchar *preset = m->description->preset;
  g_autofree gchar *guessed =
      preset ? g_strdup_printf (
                   _ ("; it looks like preset=%s, which settles it where that is right"), preset)
             : g_strdup ("");
  if (!m->is_video || g_strcmp0 (self->assumed_for, m->path) == 0)
    return;
  g_free (self->assumed_for);
  self->assumed_for = g_strdup (m->path);
  if (m->description->caution != NULL)
    GST_ELEMENT_WARNING (
        self, STREAM, FORMAT,
        (_ ("%s is %s: %s"), m->description->model_name, preset, m->description->caution), (NULL));
  if (assumed == NULL)
    return;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
                       (_ ("%s does not say all that its pictures need. Assumed, and settled by "
                           "properties of these names: %s%s"),
                        m->description->model_name, assumed, guessed),
                       (NULL));
}

/* Frames are inferred with @m from now on. */
static void
adopt (GstNnInfer *self, GstNnInferModel *m)
{
  g_autoptr (GVariant) optimal =
      axon_compiled_model_get_property (m->compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS", NULL);
  /* One more than run at a time: the next frame is bound while others are inferred. */
  guint n = m->nireq > 0 ? m->nireq : optimal ? (guint)g_variant_get_int32 (optimal) + 1 : 2;
  GST_DEBUG_OBJECT (self, "%u requests at a time", n);
  gst_nn_infer_queue_open (self->queue, m, n);
}

/* Takes @m over. */
static void
set_prepared (GstNnInfer *self, GstNnInferModel *m)
{
  g_autoptr (GstNnInferModel) old = NULL;
  GST_OBJECT_LOCK (self);
  old = g_steal_pointer (&self->prepared);
  self->prepared = m;
  GST_OBJECT_UNLOCK (self);
}

/* Caps of tensors that leave are those of the old model, and must stay so. */
static gboolean
outputs_stay (GstNnInfer *self, const GstNnInferModel *m, GError **error)
{
  g_autoptr (GstCaps) old = gst_nn_infer_model_get_caps (self->prepared, TRUE);
  g_autoptr (GstCaps) now = gst_nn_infer_model_get_caps (m, TRUE);
  g_autofree gchar *is = NULL, *was = NULL;
  if (m->is_video || gst_caps_is_equal (old, now))
    return TRUE;
  is = gst_caps_to_string (now);
  was = gst_caps_to_string (old);
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
               _ ("its outputs have other caps, %s, than the stream, %s"), is, was);
  return FALSE;
}

static gboolean
prepare_change (Job *job, GError **error)
{
  GstNnInfer *self = job->self;
  if (!gst_nn_infer_model_open (job->opened, error))
    return FALSE;
  job->m = gst_nn_infer_model_prepare (job->opened, &self->stream, error);
  return job->m != NULL && outputs_stay (self, job->m, error);
}

/* What was meant is wrong, but the stream goes on as before. */
static void
refuse_change (GstNnInfer *self, const GstNnInferModel *meant, const GError *error)
{
  GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
                       (_ ("model %s on %s does not take the place of the one that runs: %s"),
                        meant->path ? meant->path : "(none)", meant->device, error->message),
                       (_ ("set it in READY for another kind of stream")));
}

static void
fail (Job *job, const GError *error)
{
  GstNnInfer *self = job->self;
  gboolean cancelled = g_cancellable_is_cancelled (self->cancellable);
  post_progress (self, cancelled ? GST_PROGRESS_TYPE_CANCELED : GST_PROGRESS_TYPE_ERROR,
                 error->message);
  if (job->opened != NULL && cancelled) {
    GST_OBJECT_LOCK (self);
    self->is_stale = TRUE; /* begun anew with the next frame */
    GST_OBJECT_UNLOCK (self);
  } else if (job->opened != NULL) {
    refuse_change (self, job->opened, error);
  } else {
    if (!cancelled) /* before those who wait are told: their error says less */
      gst_nn_post_error (GST_ELEMENT (self), error);
    gst_nn_infer_queue_fail (self->queue);
  }
}

static void
finish_change (Job *job)
{
  GstNnInfer *self = job->self;
  gst_nn_infer_forget_latency (self);
  post_model_info (self, job->opened);
  set_opened (self, gst_nn_infer_model_ref (job->opened));
  set_prepared (self, gst_nn_infer_model_ref (job->m));
  warn_if_assumed (self, job->m);
}

static void
end_job (Job *job)
{
  GstNnInfer *self = job->self;
  g_clear_pointer (&job->opened, gst_nn_infer_model_unref);
  g_clear_pointer (&job->m, gst_nn_infer_model_unref);
  g_free (job);
  g_atomic_int_set (&self->is_compiling, FALSE);
}

static gpointer
compile_main (gpointer data)
{
  Job *job = data;
  GstNnInfer *self = job->self;
  g_autoptr (GError) error = NULL;
  post_progress (self, GST_PROGRESS_TYPE_START, _ ("Compiling the model"));
  if (job->m != NULL || prepare_change (job, &error))
    job->m->compiled = gst_nn_infer_share_compile (job->m, self->cancellable, compile, job, &error);
  if (job->m != NULL)
    gst_nn_infer_model_forget_graph (job->m);
  if (error == NULL) {
    adopt (self, job->m);
    if (job->opened != NULL)
      finish_change (job);
    post_progress (self, GST_PROGRESS_TYPE_COMPLETE, _ ("Model compiled"));
  } else {
    fail (job, error);
  }
  end_job (job);
  return NULL;
}

/* Takes both over; one is NULL. */
static void
start_compile (GstNnInfer *self, GstNnInferModel *opened, GstNnInferModel *m)
{
  g_autoptr (GError) error = NULL;
  Job *job = g_new0 (Job, 1);
  job->self = self;
  job->opened = opened;
  job->m = m;
  /* cppcheck-suppress nullPointer */                   /* one of them is there */
  if (g_str_equal ((m ? m : opened)->device, "HETERO")) /* a bin has what nnquery left there */
    gst_element_post_message (
        GST_ELEMENT (self), gst_message_new_need_context (GST_OBJECT (self), GST_NN_QUERY_CONTEXT));
  self->is_change = opened != NULL;
  self->cancellable = g_cancellable_new ();
  g_atomic_int_set (&self->is_compiling, TRUE);
  self->worker = g_thread_try_new ("nninfer-compile", compile_main, job, &error);
  if (self->worker == NULL) {
    fail (job, error);
    end_job (job);
    g_clear_object (&self->cancellable);
  }
}

void
gst_nn_infer_stop_compile (GstNnInfer *self)
{
  if (self->worker == NULL)
    return;
  g_cancellable_cancel (self->cancellable);
  g_thread_join (g_steal_pointer (&self->worker));
  g_clear_object (&self->cancellable);
}

/* State changes, or the streaming thread at caps. Compiles for what comes, again only where that
 * makes a difference. @caps: NULL while they are not known. */
gboolean
gst_nn_infer_set_stream (GstNnInfer *self, gboolean is_video, GstCaps *caps)
{
  g_autoptr (GstNnInferModel) m = NULL;
  g_autoptr (GError) error = NULL;
  if (self->is_change)
    gst_nn_infer_stop_compile (self);
  gst_caps_replace (&self->caps, caps);
  self->stream = (GstNnStream){ is_video, gst_nn_infer_is_live (self), self->caps };
  m = gst_nn_infer_model_prepare (self->opened, &self->stream, &error);
  if (m == NULL) {
    gst_nn_post_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  if (self->prepared == NULL || !gst_nn_infer_model_is_alike (m, self->prepared)) {
    GST_DEBUG_OBJECT (self, "compiles for %s, input %dx%d", is_video ? "video" : "tensors",
                      m->input_width, m->input_height);
    gst_nn_infer_queue_wait_empty (self->queue);
    gst_nn_infer_stop_compile (self);
    gst_nn_infer_forget_compiled (self);
    set_prepared (self, gst_nn_infer_model_ref (m));
    start_compile (self, NULL, g_steal_pointer (&m));
  }
  if (caps != NULL)
    warn_if_assumed (self, self->prepared);
  gst_nn_infer_choose_patience (self);
  return TRUE;
}

/* Streaming thread, before each frame: what was set meanwhile. */
void
gst_nn_infer_change_model (GstNnInfer *self)
{
  gboolean is_stale;
  GST_OBJECT_LOCK (self);
  is_stale = self->is_stale;
  GST_OBJECT_UNLOCK (self);
  if (!is_stale || g_atomic_int_get (&self->is_compiling))
    return;
  gst_nn_infer_stop_compile (self);
  start_compile (self, take_properties (self), NULL);
}

/* Nothing runs and nothing is queued. */
void
gst_nn_infer_forget_compiled (GstNnInfer *self)
{
  gst_nn_infer_queue_close (self->queue);
  set_prepared (self, NULL);
  gst_nn_infer_forget_latency (self);
}
