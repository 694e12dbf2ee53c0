/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer's pads: caps, events, queries and activation. */
#include "infer/gstnninfer.h"
#include "caps/gstnncaps.h"

#define GST_CAT_DEFAULT gst_nn_infer_debug

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS (GST_NN_VIDEO_CAPS "; " GST_NN_TENSOR_TEMPLATE));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS (GST_NN_VIDEO_CAPS "; " GST_NN_TENSOR_TEMPLATE));

/* Sticky events that are lost to a flush come again, so what is told upstream matters. */
static GstFlowReturn
queue_event (GstNnInfer *self, GstEvent *event)
{
  GstNnSlot *slot = gst_nn_slot_new (GST_NN_SLOT_EVENT);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS || GST_EVENT_TYPE (event) == GST_EVENT_GAP)
    gst_nn_infer_queue_flush_batches (self->queue);
  slot->event = event;
  return gst_nn_infer_queue_push (self->queue, slot) == GST_FLOW_FLUSHING ? GST_FLOW_FLUSHING
                                                                          : GST_FLOW_OK;
}

static gboolean
queue_query (GstNnInfer *self, GstQuery *query)
{
  GstNnSlot *slot = gst_nn_slot_new (GST_NN_SLOT_QUERY);
  slot->query = query;
  return gst_nn_infer_queue_ask (self->queue, slot);
}

/* Both: the caps that leave; NULL after an error was posted. */
static GstCaps *
set_video (GstNnInfer *self, GstCaps *caps)
{
  g_autoptr (GError) error = NULL;
  GstVideoInfo info = self->video;
  if (!gst_nn_takes_caps (GST_ELEMENT (self), self->sinkpad, caps))
    return NULL;
  if (!gst_nn_video_set_caps (&info, GST_ELEMENT (self), caps, &error)) {
    gst_nn_post_error (GST_ELEMENT (self), error);
    return NULL;
  }
  self->video = info;
  return gst_nn_infer_set_stream (self, TRUE, caps) ? gst_caps_ref (caps) : NULL;
}

static GstCaps *
set_tensors (GstNnInfer *self, GstCaps *caps)
{
  GstCaps *out;
  gint num, den;
  if (!gst_nn_infer_set_stream (self, FALSE, caps))
    return NULL;
  out = gst_nn_infer_model_get_caps (self->prepared, TRUE);
  if (gst_structure_get_fraction (gst_caps_get_structure (caps, 0), "framerate", &num, &den))
    gst_caps_set_simple (out, "framerate", GST_TYPE_FRACTION, num, den, NULL);
  return out;
}

/* Output caps follow the input's: video stays as it is, tensors become the model's outputs. What
 * was refused comes again with the next event, and was said. */
static GstFlowReturn
set_caps (GstNnInfer *self, GstCaps *caps)
{
  g_autoptr (GstCaps) out = NULL;
  GST_DEBUG_OBJECT (self, "caps %" GST_PTR_FORMAT, caps);
  if (self->refused != NULL && gst_caps_is_equal (self->refused, caps))
    return GST_FLOW_NOT_NEGOTIATED;
  gst_nn_infer_queue_wait_empty (self->queue); /* frames in flight are bound with the old caps */
  out = gst_structure_has_name (gst_caps_get_structure (caps, 0), "other/tensors")
            ? set_tensors (self, caps)
            : set_video (self, caps);
  gst_caps_replace (&self->refused, out ? NULL : caps);
  return out ? queue_event (self, gst_event_new_caps (out)) : GST_FLOW_NOT_NEGOTIATED;
}

static GstFlowReturn
gst_nn_infer_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstNnInfer *self = GST_NN_INFER (parent);
  GstFlowReturn flow;
  GstCaps *caps;
  switch (GST_EVENT_TYPE (event)) {
  case GST_EVENT_CAPS:
    gst_event_parse_caps (event, &caps);
    flow = set_caps (self, caps);
    gst_event_unref (event);
    return flow;
  case GST_EVENT_SEGMENT:
    gst_event_copy_segment (event, &self->segment);
    return queue_event (self, event);
  case GST_EVENT_FLUSH_START:
    gst_nn_infer_queue_set_flushing (self->queue, TRUE);
    gst_pad_push_event (self->srcpad, event);
    gst_pad_pause_task (self->srcpad);
    return GST_FLOW_OK;
  case GST_EVENT_FLUSH_STOP:
    gst_nn_infer_queue_drain (self->queue);
    gst_pad_push_event (self->srcpad, event);
    self->frame_count = 0;
    gst_nn_infer_forget_qos (self);
    gst_nn_infer_queue_set_flushing (self->queue, FALSE);
    gst_pad_start_task (self->srcpad, gst_nn_infer_task, self, NULL);
    return GST_FLOW_OK;
  default:
    if (GST_EVENT_IS_SERIALIZED (event))
      return queue_event (self, event);
    return gst_pad_event_default (pad, parent, event) ? GST_FLOW_OK : GST_FLOW_ERROR;
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
  g_autoptr (GstNnInferModel) m = gst_nn_infer_ref_opened (self);
  g_autoptr (GstCaps) tensors = NULL;
  GstCaps *result =
      peer ? gst_caps_intersect_full (video, peer, GST_CAPS_INTERSECT_FIRST) : gst_caps_ref (video);
  tensors = m ? gst_nn_infer_model_get_caps (m, pad == self->srcpad)
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

static guint
count_held (GstNnInfer *self)
{
  guint held;
  GST_OBJECT_LOCK (self);
  held = self->prepared ? gst_nn_infer_model_count_held (self->prepared) : MAX (self->nireq, 2);
  GST_OBJECT_UNLOCK (self);
  return held;
}

/* Frames pass as they are, so nothing is promised but what downstream takes; only there must be
 * more of them, for some are held here. */
static gboolean
answer_allocation (GstNnInfer *self, GstQuery *query)
{
  guint held = count_held (self), size, min, max;
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
    /* Judged when they come, with an error that says more than a refusal could. */
    gst_query_set_accept_caps_result (query, TRUE);
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
  else if (GST_EVENT_TYPE (event) == GST_EVENT_QOS)
    gst_nn_infer_note_qos (GST_NN_INFER (parent), event);
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
  gst_pad_set_event_full_function (self->sinkpad, gst_nn_infer_sink_event);
  gst_pad_set_query_function (self->sinkpad, gst_nn_infer_sink_query);
  gst_pad_set_activatemode_function (self->sinkpad, gst_nn_infer_activate_sink);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_event_function (self->srcpad, gst_nn_infer_src_event);
  gst_pad_set_query_function (self->srcpad, gst_nn_infer_src_query);
  gst_pad_set_activatemode_function (self->srcpad, gst_nn_infer_activate_src);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
}
