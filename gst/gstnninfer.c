/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nninfer
 * @title: nninfer
 *
 * Runs an ONNX model on every frame, or on tensors, and attaches its outputs. Several requests run
 * at once; frames leave in order. Video of any size and the listed formats is scaled, converted and
 * normalised by the model's own first step, so no converter is needed before it.
 *
 * |[
 * gst-launch-1.0 filesrc location=video.mp4 ! decodebin ! nninfer model=face.onnx ! nndecode !
 *     nnoverlay ! videoconvert ! autovideosink
 * ]|
 *
 * Threads: see gstnninferqueue.c.
 */
#include "gstnninfer.h"

GST_DEBUG_CATEGORY (gst_nn_infer_debug);
#define GST_CAT_DEFAULT gst_nn_infer_debug

G_DEFINE_TYPE (GstNnInfer, gst_nn_infer, GST_TYPE_ELEMENT)

enum {
  PROP_MODEL = 1,
  PROP_DEVICE,
  PROP_NIREQ,
  PROP_INTERVAL,
  PROP_CONFIG,
  PROP_LATENCY,
  PROP_EXTENSIONS
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS (GST_NN_VIDEO_CAPS "; " GST_NN_TENSOR_TEMPLATE));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS (GST_NN_VIDEO_CAPS "; " GST_NN_TENSOR_TEMPLATE));

static void
gst_nn_infer_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstNnInfer *self = GST_NN_INFER (object);
  GST_OBJECT_LOCK (self);
  switch (id) {
  case PROP_MODEL:
    g_free (self->model_path);
    self->model_path = g_value_dup_string (value);
    break;
  case PROP_DEVICE:
    g_free (self->device);
    self->device = g_value_dup_string (value);
    self->device_is_set = TRUE;
    break;
  case PROP_EXTENSIONS:
    g_free (self->extensions);
    self->extensions = g_value_dup_string (value);
    break;
  case PROP_NIREQ:
    self->nireq = g_value_get_uint (value);
    break;
  case PROP_INTERVAL:
    self->interval = g_value_get_uint (value);
    break;
  case PROP_CONFIG:
    g_clear_pointer (&self->config, gst_structure_free);
    self->config = g_value_dup_boxed (value);
    break;
  default:
    if (!gst_nn_model_props_set (&self->props, id, value))
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_infer_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstNnInfer *self = GST_NN_INFER (object);
  if (id == PROP_LATENCY) {
    g_mutex_lock (&self->lock);
    g_value_set_uint64 (value, self->latency);
    g_mutex_unlock (&self->lock);
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
  case PROP_MODEL:
    g_value_set_string (value, self->model_path);
    break;
  case PROP_DEVICE:
    g_value_set_string (value, self->device);
    break;
  case PROP_EXTENSIONS:
    g_value_set_string (value, self->extensions);
    break;
  case PROP_NIREQ:
    g_value_set_uint (value, self->nireq);
    break;
  case PROP_INTERVAL:
    g_value_set_uint (value, self->interval);
    break;
  case PROP_CONFIG:
    g_value_set_boxed (value, self->config);
    break;
  default:
    if (!gst_nn_model_props_get (&self->props, id, value))
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

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
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);
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

/* Compiling starts here where the kind of stream can be guessed and no size has to be known first;
 * a wrong guess is mended when the caps come. */
static gboolean
start_early (GstNnInfer *self)
{
  g_autoptr (GstCaps) video = gst_caps_from_string (GST_NN_VIDEO_CAPS);
  g_autoptr (GstCaps) peer = gst_pad_peer_query_caps (self->sinkpad, NULL);
  gboolean is_video = peer == NULL || gst_caps_can_intersect (peer, video);
  gboolean free_size = gst_nn_infer_has_free_size (self);
  self->frame_count = 0;
  self->is_video = is_video;
  self->compiled_width = self->compiled_height = 0;
  return free_size || gst_nn_infer_start_compile (self, is_video, 0, 0);
}

static GstStateChangeReturn
gst_nn_infer_change_state (GstElement *element, GstStateChange transition)
{
  GstNnInfer *self = GST_NN_INFER (element);
  GstStateChangeReturn result;
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !gst_nn_infer_open (self))
    return GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start_early (self))
    return GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    gst_nn_infer_set_flushing (self, TRUE);
  result = GST_ELEMENT_CLASS (gst_nn_infer_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED && result == GST_STATE_CHANGE_FAILURE)) {
    gst_nn_infer_stop_compile (self);
    gst_nn_infer_drop_requests (self);
  }
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    gst_nn_infer_close (self);
  return result;
}

/* nnquery's advice: which device for which node. */
static void
gst_nn_infer_set_context (GstElement *element, GstContext *context)
{
  GstNnInfer *self = GST_NN_INFER (element);
  if (gst_context_has_context_type (context, GST_NN_QUERY_CONTEXT)) {
    GST_OBJECT_LOCK (self);
    g_clear_pointer (&self->affinities, gst_structure_free);
    self->affinities = gst_structure_copy (gst_context_get_structure (context));
    GST_OBJECT_UNLOCK (self);
  }
  GST_ELEMENT_CLASS (gst_nn_infer_parent_class)->set_context (element, context);
}

static void
gst_nn_infer_finalize (GObject *object)
{
  GstNnInfer *self = GST_NN_INFER (object);
  g_free (self->model_path);
  g_free (self->device);
  g_free (self->extensions);
  g_clear_pointer (&self->affinities, gst_structure_free);
  g_clear_pointer (&self->config, gst_structure_free);
  gst_nn_model_props_clear (&self->props);
  g_ptr_array_unref (self->idle);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  G_OBJECT_CLASS (gst_nn_infer_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *klass)
{
  GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
  g_object_class_install_property (
      klass, PROP_MODEL,
      g_param_spec_string ("model", "Model", _ ("ONNX file, or a file that axon-compile wrote"),
                           NULL, ready));
  g_object_class_install_property (
      klass, PROP_DEVICE,
      g_param_spec_string ("device", "Device",
                           _ ("Where to run it: CPU, GPU.1, HETERO:GPU,CPU, MULTI:GPU,CPU, AUTO; "
                              "axon-inspect lists devices"),
                           "CPU", ready));
  g_object_class_install_property (
      klass, PROP_EXTENSIONS,
      g_param_spec_string ("extensions", "Extensions",
                           _ ("Libraries of operators and kernels, separated by commas"), NULL,
                           ready));
  g_object_class_install_property (
      klass, PROP_NIREQ,
      g_param_spec_uint ("nireq", "Requests",
                         _ ("Frames inferred at the same time; 0: as many as suit the device"), 0,
                         1024, 0, ready));
  g_object_class_install_property (
      klass, PROP_INTERVAL,
      g_param_spec_uint ("inference-interval", "Inference interval",
                         _ ("Infer every Nth frame; the others pass"), 1, G_MAXUINT, 1,
                         G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING |
                             GST_PARAM_CONTROLLABLE));
  g_object_class_install_property (
      klass, PROP_CONFIG,
      g_param_spec_boxed ("config", "Configuration",
                          _ ("Properties of the device, such as config,INFERENCE_NUM_THREADS=1"),
                          GST_TYPE_STRUCTURE, ready));
  g_object_class_install_property (
      klass, PROP_LATENCY,
      g_param_spec_uint64 ("latency", "Latency", _ ("Measured time of one frame in nanoseconds"), 0,
                           G_MAXUINT64, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  gst_nn_model_props_install (klass);
}

static void
gst_nn_infer_class_init (GstNnInferClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (gst_nn_infer_debug, "nninfer", 0, "neural-network inference");
  object_class->set_property = gst_nn_infer_set_property;
  object_class->get_property = gst_nn_infer_get_property;
  object_class->finalize = gst_nn_infer_finalize;
  install_properties (object_class);
  element_class->change_state = gst_nn_infer_change_state;
  element_class->set_context = gst_nn_infer_set_context;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Neural-network inference",
                                         "Filter/Analyzer/Video", "Runs an ONNX model on frames",
                                         "The Axon developers");
}

static void
gst_nn_infer_init (GstNnInfer *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  self->idle = g_ptr_array_new_with_free_func (g_object_unref);
  self->device = g_strdup ("CPU");
  self->interval = 1;
  self->flushing = TRUE;
  gst_nn_model_props_init (&self->props);
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
