/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer's pads: caps, events, queries and activation. */
#include "gstnninfer.h"

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS (GST_NN_VIDEO_CAPS "; " GST_NN_TENSOR_TEMPLATE));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS (GST_NN_VIDEO_CAPS "; " GST_NN_TENSOR_TEMPLATE));

static GstFlowReturn
gst_nn_infer_chain (G_GNUC_UNUSED GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  return gst_nn_infer_queue_buffer (GST_NN_INFER (parent), buffer);
}

/* Multiples of 32 for networks that halve five times. */
static gint
round_size (gint value)
{
  return CLAMP ((value + 16) / 32 * 32, 32, 16384);
}

/* Waits until everything before has left; then the pad's state may change. */
static void
wait_empty (GstNnInfer *self)
{
  gst_nn_infer_flush_batches (self);
  g_mutex_lock (&self->lock);
  while (!self->flushing && self->flow == GST_FLOW_OK &&
         (self->pushing || self->in_flight > 0 || !g_queue_is_empty (&self->fifo)))
    g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);
}

/* Compiles for the kind of stream, again only where kind or free size changed. */
static gboolean
prepare_stream (GstNnInfer *self, gboolean video, gint width, gint height)
{
  const AxonShape *s = axon_model_get_input_shape (self->model, 0);
  gboolean nhwc = s->rank == 4 && s->dims[3] > 0 && s->dims[3] <= 4 && s->dims[1] != 3;
  gboolean free_size = video && gst_nn_infer_has_free_size (self);
  gint w = 0, h = 0;
  if (free_size) {
    w = self->description->width ? self->description->width : round_size (width);
    h = self->description->height ? self->description->height : round_size (height);
    if (s->rank == 4 && s->dims[nhwc ? 2 : 3] > 0)
      w = (gint)s->dims[nhwc ? 2 : 3];
    if (s->rank == 4 && s->dims[nhwc ? 1 : 2] > 0)
      h = (gint)s->dims[nhwc ? 1 : 2];
  }
  if (self->worker == NULL || video != self->is_video || w != self->compiled_width ||
      h != self->compiled_height) {
    wait_empty (self);
    gst_nn_infer_stop_compile (self);
    gst_nn_infer_drop_requests (self);
    if (!gst_nn_infer_start_compile (self, video, w, h))
      return FALSE;
  }
  self->is_video = video;
  self->compiled_width = w;
  self->compiled_height = h;
  self->geometry.width = w ? w : s->rank == 4 ? (gint)s->dims[nhwc ? 2 : 3] : 0;
  self->geometry.height = h ? h : s->rank == 4 ? (gint)s->dims[nhwc ? 1 : 2] : 0;
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
  if (gst_structure_has_name (s, "video/x-raw")) {
    GstVideoInfo info;
    if (!gst_video_info_from_caps (&info, caps)) {
      GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE, (NULL), ("bad video caps"));
      return FALSE;
    }
    wait_empty (self); /* frames in flight are bound with the old caps */
    self->video = info;
    return prepare_stream (self, TRUE, GST_VIDEO_INFO_WIDTH (&info),
                           GST_VIDEO_INFO_HEIGHT (&info)) &&
           gst_nn_infer_queue_event (self, gst_event_new_caps (caps));
  }
  if (!tensors_fit (self, caps))
    return FALSE;
  wait_empty (self);
  if (!prepare_stream (self, FALSE, 0, 0))
    return FALSE;
  g_autoptr (GstCaps) out = gst_nn_infer_model_caps (self, TRUE);
  if (gst_structure_get_fraction (s, "framerate", &num, &den))
    gst_caps_set_simple (out, "framerate", GST_TYPE_FRACTION, num, den, NULL);
  return gst_nn_infer_queue_event (self, gst_event_new_caps (out));
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
  case GST_EVENT_FLUSH_START:
    gst_nn_infer_set_flushing (self, TRUE);
    ok = gst_pad_push_event (self->srcpad, event);
    gst_pad_pause_task (self->srcpad);
    return ok;
  case GST_EVENT_FLUSH_STOP:
    gst_nn_infer_drain (self);
    ok = gst_pad_push_event (self->srcpad, event);
    self->frame_count = 0;
    gst_nn_infer_set_flushing (self, FALSE);
    gst_pad_start_task (self->srcpad, gst_nn_infer_task, self, NULL);
    return ok;
  default:
    if (GST_EVENT_IS_SERIALIZED (event))
      return gst_nn_infer_queue_event (self, event);
    return gst_pad_event_default (pad, parent, event);
  }
}

/* What @pad can do, given what the peer of @other can: video passes unchanged. */
static GstCaps *
query_caps (GstNnInfer *self, GstPad *pad, GstPad *other, GstCaps *filter)
{
  g_autoptr (GstCaps) peer = gst_pad_peer_query_caps (other, NULL);
  g_autoptr (GstCaps) video = gst_caps_from_string (GST_NN_VIDEO_CAPS);
  g_autoptr (GstCaps) tensors = NULL;
  GstCaps *result =
      peer ? gst_caps_intersect_full (video, peer, GST_CAPS_INTERSECT_FIRST) : gst_caps_ref (video);
  tensors = self->model ? gst_nn_infer_model_caps (self, pad == self->srcpad)
                        : gst_caps_from_string (GST_NN_TENSOR_CAPS);
  result = gst_caps_merge (result, g_steal_pointer (&tensors));
  if (filter != NULL) {
    GstCaps *all = result;
    result = gst_caps_intersect_full (filter, all, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (all);
  }
  return result;
}

/* Frames held: one per request, and as many that wait for downstream. */
static gboolean
answer_allocation (GstNnInfer *self, GstQuery *query)
{
  GstCaps *caps;
  GstVideoInfo info;
  guint held;
  gst_query_parse_allocation (query, &caps, NULL);
  if (caps == NULL || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  GST_OBJECT_LOCK (self);
  held = self->nireq > 0 ? self->nireq : 2;
  GST_OBJECT_UNLOCK (self);
  gst_query_add_allocation_pool (query, NULL, (guint)info.size, held + 1, 0);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
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
      return gst_nn_infer_queue_query (self, query);
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
  g_mutex_lock (&self->lock);
  own = self->latency;
  g_mutex_unlock (&self->lock);
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

static gboolean
gst_nn_infer_activate_sink (G_GNUC_UNUSED GstPad *pad, GstObject *parent,
                            G_GNUC_UNUSED GstPadMode mode, gboolean active)
{
  gst_nn_infer_set_flushing (GST_NN_INFER (parent), !active);
  return TRUE;
}

static gboolean
gst_nn_infer_activate_src (GstPad *pad, GstObject *parent, G_GNUC_UNUSED GstPadMode mode,
                           gboolean active)
{
  GstNnInfer *self = GST_NN_INFER (parent);
  gboolean ok;
  if (active) {
    gst_nn_infer_set_flushing (self, FALSE);
    return gst_pad_start_task (pad, gst_nn_infer_task, self, NULL);
  }
  gst_nn_infer_set_flushing (self, TRUE);
  ok = gst_pad_stop_task (pad);
  gst_nn_infer_drain (self);
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
  gst_pad_set_query_function (self->srcpad, gst_nn_infer_src_query);
  gst_pad_set_activatemode_function (self->srcpad, gst_nn_infer_activate_src);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
}
