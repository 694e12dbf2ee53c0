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
#include "gstnnfields.h"
#include "infer/gstnnadvice.h"

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
  PROP_MAX_LATENCY,
  PROP_MAX_SIZE_BUFFERS,
  PROP_MAX_SIZE_BYTES,
  PROP_STATS,
  PROP_STATS_INTERVAL,
  PROP_INSTANCE_ID,
  PROP_MAX_MEMORY,
  PROP_INFERENCE_TIMEOUT,
  PROP_MAX_ERRORS
};

static const gchar *const counts[] = { "frames",  "inferred", "late", "passed",
                                       "dropped", "failed",   NULL };
static const gchar *const times[] = { "queueing", "preprocessing", "inference", "total", NULL };

#define MOST_BUFFERS 32         /* that pass, queued */
#define MOST_BYTES (256u << 20) /* of frames queued */

#define GST_TYPE_NN_DROP_POLICY (gst_nn_drop_policy_get_type ())

static GType
gst_nn_drop_policy_get_type (void)
{
  static GEnumValue values[] = {
    { GST_NN_DROP_AUTO,
      N_ ("Newest where the source is live, else all but what sinks call too late"), "auto" },
    { GST_NN_DROP_NONE, N_ ("Every frame is inferred, however long it waits"), "none" },
    { GST_NN_DROP_NEWEST, N_ ("No frame waits for longer than a frame lasts"), "newest" },
    { 0, NULL, NULL }
  };
  static gsize type;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_nn_enum_register ("GstNnDropPolicy", values));
  return type;
}

/* Where properties are kept, under the object lock. */
static const GstNnField fields[] = {
  { PROP_MODEL, G_STRUCT_OFFSET (GstNnInfer, model_path) },
  { PROP_DEVICE, G_STRUCT_OFFSET (GstNnInfer, device) },
  { PROP_EXTENSIONS, G_STRUCT_OFFSET (GstNnInfer, extensions) },
  { PROP_INSTANCE_ID, G_STRUCT_OFFSET (GstNnInfer, instance_id) },
  { PROP_NIREQ, G_STRUCT_OFFSET (GstNnInfer, nireq) },
  { PROP_MAX_MEMORY, G_STRUCT_OFFSET (GstNnInfer, max_memory) },
  { PROP_INFERENCE_TIMEOUT, G_STRUCT_OFFSET (GstNnInfer, inference_timeout) },
  { PROP_MAX_ERRORS, G_STRUCT_OFFSET (GstNnInfer, max_errors) },
  { PROP_INTERVAL, G_STRUCT_OFFSET (GstNnInfer, interval) },
  { PROP_MAX_SIZE_BUFFERS, G_STRUCT_OFFSET (GstNnInfer, max_size_buffers) },
  { PROP_MAX_SIZE_BYTES, G_STRUCT_OFFSET (GstNnInfer, max_size_bytes) },
  { PROP_LATENCY, G_STRUCT_OFFSET (GstNnInfer, latency) },
  { PROP_MAX_LATENCY, G_STRUCT_OFFSET (GstNnInfer, max_latency) },
  { PROP_STATS_INTERVAL, G_STRUCT_OFFSET (GstNnInfer, stats_interval) },
  { PROP_DROP_POLICY, G_STRUCT_OFFSET (GstNnInfer, drop_policy) },
  { PROP_CONFIG, G_STRUCT_OFFSET (GstNnInfer, config) },
};

static gboolean
is_of_model (guint id)
{
  return id == PROP_MODEL || id == PROP_DEVICE || id == PROP_EXTENSIONS || id == PROP_NIREQ ||
         id == PROP_CONFIG || id == PROP_INSTANCE_ID || id == PROP_MAX_MEMORY ||
         id == PROP_INFERENCE_TIMEOUT ||
         (id >= GST_NN_MODEL_PROP_FIRST && id < GST_NN_REGION_PROP_FIRST);
}

static void
gst_nn_infer_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstNnInfer *self = GST_NN_INFER (object);
  g_autoptr (GError) error = NULL;
  gboolean runs;
  GST_OBJECT_LOCK (self);
  if (gst_nn_region_props_set (&self->region_props, id, value))
    gst_nn_region_props_check (&self->region_props, &error);
  else if (!gst_nn_fields_set (fields, G_N_ELEMENTS (fields), self, id, value) &&
           !gst_nn_model_props_set (&self->props, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  self->is_stale |= is_of_model (id);
  self->patience_is_stale |= id == PROP_DROP_POLICY || id == PROP_MAX_LATENCY;
  self->device_is_set |= id == PROP_DEVICE;
  if (id == PROP_MAX_SIZE_BUFFERS || id == PROP_MAX_SIZE_BYTES)
    gst_nn_infer_queue_set_limits (self->queue, self->max_size_buffers, self->max_size_bytes);
  runs = GST_STATE (self) > GST_STATE_READY;
  GST_OBJECT_UNLOCK (self);
  if (error != NULL && runs) /* before, the change to READY fails */
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
}

static void
gst_nn_infer_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstNnInfer *self = GST_NN_INFER (object);
  if (id == PROP_STATS) {
    g_value_take_boxed (value, gst_nn_infer_make_stats (self));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (!gst_nn_fields_get (fields, G_N_ELEMENTS (fields), self, id, value) &&
      !gst_nn_model_props_get (&self->props, id, value) &&
      !gst_nn_region_props_get (&self->region_props, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
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
  self->frame_count = 0;
  self->n_errors = 0;
  gst_nn_stats_reset (self->stats);
  gst_nn_infer_forget_qos (self);
  return gst_nn_infer_model_needs_caps (self->opened, is_video) ||
         gst_nn_infer_set_stream (self, is_video, NULL);
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
    gst_nn_infer_regions_forget (&self->regions);
    gst_caps_replace (&self->caps, NULL);
    gst_caps_replace (&self->refused, NULL);
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
  g_free (self->instance_id);
  g_free (self->assumed_for);
  g_clear_pointer (&self->affinities, gst_structure_free);
  g_clear_pointer (&self->config, gst_structure_free);
  gst_nn_model_props_clear (&self->props);
  gst_nn_region_props_clear (&self->region_props);
  gst_nn_infer_regions_clear (&self->regions);
  gst_nn_infer_queue_free (self->queue);
  gst_nn_stats_free (self->stats);
  G_OBJECT_CLASS (gst_nn_infer_parent_class)->finalize (object);
}

static void
install (GObjectClass *klass, guint id, GParamSpec *spec)
{
  g_object_class_install_property (klass, id, spec);
}

#define PLAYING (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)
#define READ_ONLY (G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)

static void
install_model_properties (GObjectClass *klass)
{
  install (klass, PROP_MODEL,
           g_param_spec_string ("model", "Model",
                                _ ("Path of an ONNX file, or of one that axon-compile wrote"), NULL,
                                PLAYING));
  install (
      klass, PROP_DEVICE,
      g_param_spec_string ("device", "Device",
                           _ ("Where to run it: CPU, GPU.1, HETERO:GPU,CPU, MULTI:GPU,CPU, AUTO; "
                              "axon-inspect lists devices"),
                           "CPU", PLAYING));
  install (klass, PROP_CONFIG,
           g_param_spec_boxed (
               "config", "Configuration",
               _ ("Properties of the device, such as "
                  "config,INFERENCE_NUM_THREADS=1; axon-inspect --device=NAME lists them"),
               GST_TYPE_STRUCTURE, PLAYING));
  install (klass, PROP_EXTENSIONS,
           g_param_spec_string ("extensions", "Extensions",
                                _ ("Paths of libraries of operators and kernels, by commas"), NULL,
                                PLAYING));
  install (klass, PROP_INSTANCE_ID,
           g_param_spec_string ("model-instance-id", "Model instance",
                                _ ("Elements with the same one have one model in memory"), NULL,
                                PLAYING));
  install (klass, PROP_NIREQ,
           g_param_spec_uint ("nireq", "Requests",
                              _ ("Frames inferred at the same time; 0: as many as suit the device"),
                              0, 1024, 0, PLAYING));
  install (klass, PROP_MAX_MEMORY,
           g_param_spec_uint ("max-memory", "Maximum memory",
                              _ ("MiB of host memory that the model and its requests may take; 0: "
                                 "what the process may"),
                              0, G_MAXINT, 0, PLAYING));
  install (klass, PROP_INFERENCE_TIMEOUT,
           g_param_spec_uint ("inference-timeout", "Inference timeout",
                              _ ("Milliseconds after which a frame whose device does not return "
                                 "is an error; 0: never"),
                              0, G_MAXINT, 0, PLAYING));
  gst_nn_model_props_install (klass, GST_NN_MODEL_PICTURES | GST_NN_MODEL_RESULTS,
                              GST_PARAM_MUTABLE_PLAYING);
}

static void
install_live_properties (GObjectClass *klass)
{
  install (klass, PROP_INTERVAL,
           g_param_spec_uint ("inference-interval", "Inference interval",
                              _ ("Infer every Nth frame; the others pass"), 1, G_MAXUINT, 1,
                              PLAYING | GST_PARAM_CONTROLLABLE));
  install (
      klass, PROP_DROP_POLICY,
      g_param_spec_enum ("drop-policy", "Drop policy",
                         _ ("What happens to frames that come faster than they can be inferred"),
                         GST_TYPE_NN_DROP_POLICY, GST_NN_DROP_AUTO, PLAYING));
  install (
      klass, PROP_MAX_LATENCY,
      g_param_spec_uint64 ("max-latency", "Maximum latency",
                           _ ("How long a frame waits for its result where drop-policy lets it "
                              "pass, nanoseconds; 0: as long as it is shown"),
                           0, G_MAXINT64, 0, PLAYING));
  install (klass, PROP_MAX_SIZE_BUFFERS,
           g_param_spec_uint ("max-size-buffers", "Maximum size, buffers",
                              _ ("Most frames queued behind those being inferred; 0: any number"),
                              0, G_MAXUINT, MOST_BUFFERS, PLAYING));
  install (klass, PROP_MAX_SIZE_BYTES,
           g_param_spec_uint ("max-size-bytes", "Maximum size, bytes",
                              _ ("Most bytes of frames queued, if more than one is; 0: any number"),
                              0, G_MAXUINT, MOST_BYTES, PLAYING));
}

static void
install_errors (GObjectClass *klass)
{
  install (klass, PROP_MAX_ERRORS,
           g_param_spec_uint ("max-errors", "Maximum errors",
                              _ ("Frames one after another that may fail to be inferred: they pass "
                                 "without a result, the next one stops the stream"),
                              0, G_MAXUINT, 0, PLAYING));
}

static void
install_statistics (GObjectClass *klass)
{
  install (klass, PROP_LATENCY,
           g_param_spec_uint64 ("latency", "Latency",
                                _ ("Measured time of one inference, nanoseconds; 0: none yet"), 0,
                                G_MAXUINT64, 0, READ_ONLY));
  install (klass, PROP_STATS,
           g_param_spec_boxed ("stats", "Statistics",
                               _ ("Frames, percentiles of times of the last 256 of them, queue"),
                               GST_TYPE_STRUCTURE, READ_ONLY));
  install (
      klass, PROP_STATS_INTERVAL,
      g_param_spec_uint64 ("stats-interval", "Interval of statistics",
                           _ ("Time between messages with the statistics, nanoseconds; 0: none"), 0,
                           G_MAXUINT64, 0, PLAYING));
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
  install_model_properties (object_class);
  install_live_properties (object_class);
  install_errors (object_class);
  install_statistics (object_class);
  gst_nn_region_props_install (object_class);
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
  self->stats = gst_nn_stats_new ("nninfer-stats", counts, times);
  self->device = g_strdup ("CPU");
  self->interval = 1;
  self->max_size_buffers = MOST_BUFFERS;
  self->max_size_bytes = MOST_BYTES;
  gst_nn_infer_queue_set_limits (self->queue, MOST_BUFFERS, MOST_BYTES);
  gst_nn_infer_forget_qos (self);
  gst_segment_init (&self->segment, GST_FORMAT_TIME);
  gst_nn_model_props_init (&self->props);
  gst_nn_region_props_init (&self->region_props);
  gst_nn_infer_regions_init (&self->regions);
  gst_nn_infer_add_pads (self);
}
