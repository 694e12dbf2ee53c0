/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer's pads: caps, events, queries and activation. */
#include "infer/gstnninfer.h"
#include "caps/gstnncaps.h"

#define GST_CAT_DEFAULT gst_nn_infer_debug
#define USUAL_DURATION (GST_SECOND / 30) /* of a frame where the caps do not tell */

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS (GST_NN_VIDEO_CAPS "; " GST_NN_TENSOR_TEMPLATE));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS (GST_NN_VIDEO_CAPS "; " GST_NN_TENSOR_TEMPLATE));

/* Multiples of 32 for networks that halve five times. */
static gint
round_size (gint value)
{
  return CLAMP ((value + 16) / 32 * 32, 32, 16384);
}

static gboolean
queue_event (GstNnInfer *self, GstEvent *event)
{
  GstNnSlot *slot = gst_nn_slot_new (GST_NN_SLOT_EVENT);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS || GST_EVENT_TYPE (event) == GST_EVENT_GAP)
    gst_nn_infer_queue_flush_batches (self->queue);
  slot->event = event;
  return gst_nn_infer_queue_push (self->queue, slot) != GST_FLOW_FLUSHING;
}

static gboolean
queue_query (GstNnInfer *self, GstQuery *query)
{
  GstNnSlot *slot = gst_nn_slot_new (GST_NN_SLOT_QUERY);
  slot->query = query;
  return gst_nn_infer_queue_ask (self->queue, slot);
}

/* The model's input for frames of that size: what it fixes itself, else what its description says,
 * else what suits the frame. FALSE: its first input is no picture. */
static gboolean
choose_size (GstNnInfer *self, gint width, gint height, gint *w, gint *h)
{
  AxonPictureShape picture;
  if (!axon_picture_shape_init (&picture, axon_model_get_input_shape (self->model, 0),
                                self->description->color, NULL))
    return FALSE;
  *w = picture.width >= 0         ? picture.width
       : self->description->width ? self->description->width
                                  : round_size (width);
  *h = picture.height >= 0         ? picture.height
       : self->description->height ? self->description->height
                                   : round_size (height);
  return TRUE;
}

/* Frames of a live stream do not wait for longer than a frame lasts. */
static void
choose_patience (GstNnInfer *self, gboolean video)
{
  gint n = GST_VIDEO_INFO_FPS_N (&self->video), d = GST_VIDEO_INFO_FPS_D (&self->video);
  GstClockTime duration = n > 0 ? gst_util_uint64_scale_int (GST_SECOND, d, n) : USUAL_DURATION;
  GstClockTime patience = video && gst_nn_infer_takes_newest (self) ? duration : 0;
  if (patience != 0)
    GST_INFO_OBJECT (self, "frames that come too fast pass without inference");
  GST_OBJECT_LOCK (self);
  self->patience = patience;
  GST_OBJECT_UNLOCK (self);
}

/* Compiles for the kind of stream, again only where kind or free size changed. */
static gboolean
prepare_stream (GstNnInfer *self, gboolean video, gint width, gint height)
{
  gint w = 0, h = 0, compiled_w, compiled_h;
  gboolean free_size = video && gst_nn_infer_has_free_size (self);
  GstNnInferGoal goal = gst_nn_infer_find_goal (self);
  if (video)
    choose_size (self, width, height, &w, &h); /* compiling says what is wrong */
  compiled_w = free_size ? w : 0;
  compiled_h = free_size ? h : 0;
  if (self->worker == NULL || video != self->is_video || compiled_w != self->compiled_width ||
      compiled_h != self->compiled_height || goal != self->goal) {
    GST_DEBUG_OBJECT (self, "compiles for %s, input %dx%d", video ? "video" : "tensors", w, h);
    gst_nn_infer_queue_wait_empty (self->queue);
    gst_nn_infer_stop_compile (self);
    gst_nn_infer_forget_compiled (self);
    self->goal = goal;
    if (!gst_nn_infer_start_compile (self, video, compiled_w, compiled_h))
      return FALSE;
  }
  choose_patience (self, video);
  self->is_video = video;
  self->compiled_width = compiled_w;
  self->compiled_height = compiled_h;
  self->input_width = w;
  self->input_height = h;
  return TRUE;
}

static gboolean
tensors_fit (GstNnInfer *self, GstCaps *caps)
{
  guint n = axon_model_get_n_inputs (self->model);
  g_autofree AxonDType *types = g_new (AxonDType, n + 1);
  g_autofree AxonShape *shapes = g_new (AxonShape, n + 1);
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < n; i++) {
    types[i] = axon_model_get_input_dtype (self->model, i);
    shapes[i] = *axon_model_get_input_shape (self->model, i);
  }
  if (gst_nn_tensor_caps_match (caps, n, types, shapes, &error))
    return TRUE;
  GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE, ("%s", error->message), (NULL));
  return FALSE;
}

/* Output caps follow the input's: video stays as it is, tensors become the model's outputs. */
static gboolean
set_caps (GstNnInfer *self, GstCaps *caps)
{
  GstStructure *s = gst_caps_get_structure (caps, 0);
  gint num, den;
  GST_DEBUG_OBJECT (self, "caps %" GST_PTR_FORMAT, caps);
  if (gst_structure_has_name (s, "video/x-raw")) {
    g_autoptr (GError) error = NULL;
    GstVideoInfo info = self->video;
    if (!gst_nn_video_set_caps (&info, GST_ELEMENT (self), caps, &error)) {
      gst_nn_post_error (GST_ELEMENT (self), error);
      return FALSE;
    }
    gst_nn_infer_queue_wait_empty (self->queue); /* frames in flight are bound with the old caps */
    self->video = info;
    return prepare_stream (self, TRUE, GST_VIDEO_INFO_WIDTH (&info),
                           GST_VIDEO_INFO_HEIGHT (&info)) &&
           queue_event (self, gst_event_new_caps (caps));
  }
  if (!tensors_fit (self, caps))
    return FALSE;
  gst_nn_infer_queue_wait_empty (self->queue);
  if (!prepare_stream (self, FALSE, 0, 0))
    return FALSE;
  g_autoptr (GstCaps) out = gst_nn_infer_model_caps (self->model, TRUE);
  if (gst_structure_get_fraction (s, "framerate", &num, &den))
    gst_caps_set_simple (out, "framerate", GST_TYPE_FRACTION, num, den, NULL);
  return queue_event (self, gst_event_new_caps (out));
}

static gboolean
gst_nn_infer_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstNnInfer *self = GST_NN_INFER (parent);
  gboolean ok;
  GstCaps *caps;
  switch (GST_EVENT_TYPE (event)) {
  case GST_EVENT_CAPS:
    gst_event_parse_caps (event, &caps);
    ok = set_caps (self, caps);
    gst_event_unref (event);
    return ok;
  case GST_EVENT_SEGMENT:
    gst_event_copy_segment (event, &self->segment);
    return queue_event (self, event);
  case GST_EVENT_FLUSH_START:
    gst_nn_infer_queue_set_flushing (self->queue, TRUE);
    ok = gst_pad_push_event (self->srcpad, event);
    gst_pad_pause_task (self->srcpad);
    return ok;
  case GST_EVENT_FLUSH_STOP:
    gst_nn_infer_queue_drain (self->queue);
    ok = gst_pad_push_event (self->srcpad, event);
    self->frame_count = 0;
    gst_nn_infer_queue_set_flushing (self->queue, FALSE);
    gst_pad_start_task (self->srcpad, gst_nn_infer_task, self, NULL);
    return ok;
  default:
    if (GST_EVENT_IS_SERIALIZED (event))
      return queue_event (self, event);
    return gst_pad_event_default (pad, parent, event);
  }
}

/* What @pad can do, given what the peer of @other can: video passes unchanged. Into the sink pad
 * the model's own tensors are best; others come as far as the caps event, whose error says expected
 * and got, where an empty intersection upstream could only say that it is empty. */
static GstCaps *
query_caps (GstNnInfer *self, GstPad *pad, GstPad *other, GstCaps *filter)
{
  g_autoptr (GstCaps) peer = gst_pad_peer_query_caps (other, NULL);
  g_autoptr (GstCaps) video = gst_caps_from_string (GST_NN_VIDEO_CAPS);
  g_autoptr (AxonModel) model = gst_nn_infer_ref_model (self);
  g_autoptr (GstCaps) tensors = NULL;
  GstCaps *result =
      peer ? gst_caps_intersect_full (video, peer, GST_CAPS_INTERSECT_FIRST) : gst_caps_ref (video);
  tensors = model ? gst_nn_infer_model_caps (model, pad == self->srcpad)
                  : gst_caps_from_string (GST_NN_TENSOR_CAPS);
  result = gst_caps_merge (result, g_steal_pointer (&tensors));
  if (pad == self->sinkpad)
    result = gst_caps_merge (result, gst_caps_from_string (GST_NN_TENSOR_CAPS));
  if (filter != NULL) {
    GstCaps *all = result;
    result = gst_caps_intersect_full (filter, all, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (all);
  }
  return result;
}

/* Frames pass as they are, so nothing is promised but what downstream takes; only there must be
 * more of them, for some are held here. */
static gboolean
answer_allocation (GstNnInfer *self, GstQuery *query)
{
  guint held = gst_nn_infer_count_held (self), size, min, max;
  GstBufferPool *pool;
  GstVideoInfo info;
  GstCaps *caps;
  gst_query_parse_allocation (query, &caps, NULL);
  if (caps == NULL || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  queue_query (self, query);
  for (guint i = 0; i < gst_query_get_n_allocation_pools (query); i++) {
    gst_query_parse_nth_allocation_pool (query, i, &pool, &size, &min, &max);
    gst_query_set_nth_allocation_pool (query, i, pool, size, min + held, max ? max + held : 0);
    gst_clear_object (&pool);
  }
  if (gst_query_get_n_allocation_pools (query) == 0)
    gst_query_add_allocation_pool (query, NULL, (guint)info.size, held + 1, 0);
  return TRUE;
}

static gboolean
gst_nn_infer_sink_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstNnInfer *self = GST_NN_INFER (parent);
  GstCaps *filter;
  switch (GST_QUERY_TYPE (query)) {
  case GST_QUERY_CAPS: {
    g_autoptr (GstCaps) caps = NULL;
    gst_query_parse_caps (query, &filter);
    caps = query_caps (self, pad, self->srcpad, filter);
    gst_query_set_caps_result (query, caps);
    return TRUE;
  }
  case GST_QUERY_ACCEPT_CAPS: {
    /* Tensors are compared when they come, as numbers and with an error that says more. */
    g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);
    GstCaps *caps;
    gst_query_parse_accept_caps (query, &caps);
    gst_query_set_accept_caps_result (query, gst_caps_can_intersect (template, caps));
    return TRUE;
  }
  case GST_QUERY_ALLOCATION:
    return answer_allocation (self, query);
  default:
    if (GST_QUERY_IS_SERIALIZED (query))
      return queue_query (self, query);
    return gst_pad_query_default (pad, parent, query);
  }
}

static gboolean
answer_latency (GstNnInfer *self, GstQuery *query)
{
  gboolean live;
  GstClockTime min, max, own;
  if (!gst_pad_peer_query (self->sinkpad, query))
    return FALSE;
  gst_query_parse_latency (query, &live, &min, &max);
  GST_OBJECT_LOCK (self);
  own = self->patience ? MIN (self->latency, self->patience) : self->latency;
  GST_OBJECT_UNLOCK (self);
  min += own;
  if (max != GST_CLOCK_TIME_NONE)
    max += own;
  gst_query_set_latency (query, live, min, max);
  return TRUE;
}

static gboolean
gst_nn_infer_src_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstNnInfer *self = GST_NN_INFER (parent);
  GstCaps *filter;
  if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    return answer_latency (self, query);
  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS) {
    g_autoptr (GstCaps) caps = NULL;
    gst_query_parse_caps (query, &filter);
    caps = query_caps (self, pad, self->sinkpad, filter);
    gst_query_set_caps_result (query, caps);
    return TRUE;
  }
  return gst_pad_query_default (pad, parent, query);
}

/* Somebody linked: what was refused for want of a peer may go on, as in queue. */
static gboolean
gst_nn_infer_src_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_RECONFIGURE)
    gst_nn_infer_queue_relink (GST_NN_INFER (parent)->queue);
  return gst_pad_event_default (pad, parent, event);
}

static gboolean
gst_nn_infer_activate_sink (G_GNUC_UNUSED GstPad *pad, GstObject *parent,
                            G_GNUC_UNUSED GstPadMode mode, gboolean active)
{
  gst_nn_infer_queue_set_flushing (GST_NN_INFER (parent)->queue, !active);
  return TRUE;
}

static gboolean
gst_nn_infer_activate_src (GstPad *pad, GstObject *parent, G_GNUC_UNUSED GstPadMode mode,
                           gboolean active)
{
  GstNnInfer *self = GST_NN_INFER (parent);
  gboolean ok;
  if (active) {
    gst_nn_infer_queue_set_flushing (self->queue, FALSE);
    return gst_pad_start_task (pad, gst_nn_infer_task, self, NULL);
  }
  gst_nn_infer_queue_set_flushing (self->queue, TRUE);
  ok = gst_pad_stop_task (pad);
  gst_nn_infer_queue_drain (self->queue);
  return ok;
}

void
gst_nn_infer_add_pad_templates (GstElementClass *klass)
{
  gst_element_class_add_static_pad_template (klass, &sink_template);
  gst_element_class_add_static_pad_template (klass, &src_template);
}

void
gst_nn_infer_add_pads (GstNnInfer *self)
{
  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, gst_nn_infer_chain);
  gst_pad_set_event_function (self->sinkpad, gst_nn_infer_sink_event);
  gst_pad_set_query_function (self->sinkpad, gst_nn_infer_sink_query);
  gst_pad_set_activatemode_function (self->sinkpad, gst_nn_infer_activate_sink);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_event_function (self->srcpad, gst_nn_infer_src_event);
  gst_pad_set_query_function (self->srcpad, gst_nn_infer_src_query);
  gst_pad_set_activatemode_function (self->srcpad, gst_nn_infer_activate_src);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
}
