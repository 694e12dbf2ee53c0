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
 * Threads: see infer/gstnninferqueue.h.
 */
#include "infer/gstnninfer.h"
#include "caps/gstnncaps.h"
#include "infer/gstnnload.h"

GST_DEBUG_CATEGORY (gst_nn_infer_debug);
#define GST_CAT_DEFAULT gst_nn_infer_debug

G_DEFINE_TYPE (GstNnInfer, gst_nn_infer, GST_TYPE_ELEMENT)
GST_NN_ELEMENT_REGISTER_DEFINE (nninfer, GST_TYPE_NN_INFER)

enum {
  PROP_MODEL = 1,
  PROP_DEVICE,
  PROP_NIREQ,
  PROP_INTERVAL,
  PROP_CONFIG,
  PROP_LATENCY,
  PROP_EXTENSIONS,
  PROP_DROP_POLICY,
  PROP_STATS,
  PROP_STATS_INTERVAL
};

#define GST_TYPE_NN_DROP_POLICY (gst_nn_drop_policy_get_type ())

static GType
gst_nn_drop_policy_get_type (void)
{
  static const GEnumValue values[] = {
    { GST_NN_DROP_AUTO, N_ ("Newest where the source is live, else none"), "auto" },
    { GST_NN_DROP_NONE, N_ ("Every frame is inferred, however long it waits"), "none" },
    { GST_NN_DROP_NEWEST, N_ ("No frame waits for longer than a frame lasts"), "newest" },
    { 0, NULL, NULL }
  };
  static gsize type;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstNnDropPolicy", values));
  return type;
}

static void
gst_nn_infer_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstNnInfer *self = GST_NN_INFER (object);
  gboolean waits = (pspec->flags & GST_PARAM_MUTABLE_READY) != 0;
  GST_OBJECT_LOCK (self);
  if (waits && GST_STATE (self) > GST_STATE_READY)
    GST_WARNING_OBJECT (self, "%s takes effect after READY", pspec->name);
  self->is_stale |= waits;
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
  case PROP_DROP_POLICY:
    self->drop_policy = (GstNnDropPolicy)g_value_get_enum (value);
    break;
  case PROP_STATS_INTERVAL:
    self->stats_interval = g_value_get_uint64 (value);
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
  GST_OBJECT_LOCK (self);
  switch (id) {
  case PROP_LATENCY:
    g_value_set_uint64 (value, self->latency);
    break;
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
  case PROP_DROP_POLICY:
    g_value_set_enum (value, self->drop_policy);
    break;
  case PROP_STATS:
    g_value_take_boxed (value, gst_nn_infer_stats_get (self->stats));
    break;
  case PROP_STATS_INTERVAL:
    g_value_set_uint64 (value, self->stats_interval);
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
  gst_nn_infer_stats_reset (self->stats);
  self->is_video = is_video;
  self->goal = gst_nn_infer_find_goal (self);
  self->compiled_width = self->compiled_height = 0;
  return free_size || gst_nn_infer_start_compile (self, is_video, 0, 0);
}

/* What was changed in READY is another model, or the same one described otherwise. */
static gboolean
reopen (GstNnInfer *self)
{
  gboolean is_stale;
  GST_OBJECT_LOCK (self);
  is_stale = self->is_stale;
  GST_OBJECT_UNLOCK (self);
  if (!is_stale)
    return TRUE;
  gst_nn_infer_close (self);
  return gst_nn_infer_open (self);
}

static GstStateChangeReturn
gst_nn_infer_change_state (GstElement *element, GstStateChange transition)
{
  GstNnInfer *self = GST_NN_INFER (element);
  GstStateChangeReturn result;
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !gst_nn_infer_open (self))
    return GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !(reopen (self) && start_early (self)))
    return GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    gst_nn_infer_queue_set_flushing (self->queue, TRUE);
  result = GST_ELEMENT_CLASS (gst_nn_infer_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED && result == GST_STATE_CHANGE_FAILURE)) {
    gst_nn_infer_stop_compile (self);
    gst_nn_infer_forget_compiled (self);
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
  gst_nn_infer_queue_free (self->queue);
  gst_nn_infer_stats_free (self->stats);
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
      klass, PROP_DROP_POLICY,
      g_param_spec_enum ("drop-policy", "Drop policy",
                         _ ("What happens to frames that come faster than they can be inferred"),
                         GST_TYPE_NN_DROP_POLICY, GST_NN_DROP_AUTO, ready));
  g_object_class_install_property (
      klass, PROP_CONFIG,
      g_param_spec_boxed ("config", "Configuration",
                          _ ("Properties of the device, such as config,INFERENCE_NUM_THREADS=1"),
                          GST_TYPE_STRUCTURE, ready));
  g_object_class_install_property (
      klass, PROP_LATENCY,
      g_param_spec_uint64 ("latency", "Latency", _ ("Measured time of one frame in nanoseconds"), 0,
                           G_MAXUINT64, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (
      klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
                          _ ("Frames, and percentiles of times of the last 256 of them"),
                          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (
      klass, PROP_STATS_INTERVAL,
      g_param_spec_uint64 ("stats-interval", "Interval of statistics",
                           _ ("Time between messages with the statistics, nanoseconds; 0: none"), 0,
                           G_MAXUINT64, 0,
                           G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING));
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
  gst_type_mark_as_plugin_api (GST_TYPE_NN_DROP_POLICY, 0);
  element_class->change_state = gst_nn_infer_change_state;
  element_class->set_context = gst_nn_infer_set_context;
  gst_nn_infer_add_pad_templates (element_class);
  gst_element_class_set_static_metadata (element_class, "Neural-network inference",
                                         "Filter/Analyzer/Video", "Runs an ONNX model on frames",
                                         "The Axon developers");
}

static void
gst_nn_infer_init (GstNnInfer *self)
{
  self->queue = gst_nn_infer_queue_new ();
  self->stats = gst_nn_infer_stats_new ();
  self->device = g_strdup ("CPU");
  self->interval = 1;
  gst_segment_init (&self->segment, GST_FORMAT_TIME);
  gst_nn_model_props_init (&self->props);
  gst_nn_infer_add_pads (self);
}
