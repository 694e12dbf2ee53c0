/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nntrack
 * @title: nntrack
 *
 * Gives objects numbers that stay: the same thing has the same track on every frame, also behind
 * frames on which no model found it. Frames that were not inferred get the objects where they are
 * expected; such an object has the timestamp of the frame that it was found on
 * (gst_nn_object_get_pts()). The method is ByteTrack's; objects that carry embeddings are
 * compared by their looks, too. It needs weak objects to be good: give nndecode a low threshold.
 * Where the camera moves, camera-motion looks at the pictures to tell its motion from theirs.
 *
 * |[
 * gst-launch-1.0 filesrc location=video.mp4 ! decodebin ! nninfer model=yolox.onnx
 * inference-interval=3 ! nndecode threshold=0.1 ! nntrack ! nnoverlay ! videoconvert !
 * autovideosink
 * ]|
 *
 * Only objects that lie in no other object are tracked, each model's by themselves. A flush, a seek
 * or new caps ends all tracks; numbers are not used twice before READY.
 *
 * Threads: streaming thread; properties may change at any time.
 */
#include "caps/gstnncaps.h"
#include "frame/gstnnregion.h"
#include "gstnnelement.h"
#include "track/gstnntrackedmodel.h"

GST_DEBUG_CATEGORY_STATIC (gst_nn_track_debug);
#define GST_CAT_DEFAULT gst_nn_track_debug

#define USUAL_DURATION (GST_SECOND / 30) /* of a frame where the caps do not tell */

struct _GstNnTrack {
  GstBaseTransform parent_instance;
  GstNnTrackerConfig config; /* object lock */
  GstClockTime lost_time;    /* object lock */
  gboolean predicts;         /* object lock */
  gboolean moves;            /* object lock: the camera does */
  /* for statistics, object lock */
  guint64 n_frames, n_predicted; /* objects without results of their own */
  GstNnTrackerCounts counts;
  /* streaming thread */
  GstClockTime frame_duration, now; /* now: of the last frame */
  GPtrArray *models;                /* GstNnTrackedModel */
  guint64 last_id;
  GstVideoInfo video;
  gboolean is_readable; /* pictures of @video are looked at, as far as one knows */
  GstNnCamera *camera;  /* or NULL: it stands still */
};

G_DECLARE_FINAL_TYPE (GstNnTrack, gst_nn_track, GST, NN_TRACK, GstBaseTransform)
G_DEFINE_TYPE (GstNnTrack, gst_nn_track, GST_TYPE_BASE_TRANSFORM)
GST_NN_ELEMENT_REGISTER_DEFINE (nntrack, gst_nn_track_get_type ())

enum {
  PROP_HIGH_SCORE = 1,
  PROP_LOW_SCORE,
  PROP_NEW_SCORE,
  PROP_IOU,
  PROP_APPEARANCE,
  PROP_MIN_HITS,
  PROP_CLASS_AWARE,
  PROP_LOST_TIME,
  PROP_PREDICT,
  PROP_CAMERA_MOTION,
  PROP_STATS
};

/* Numbers between 0 and 1, by their property; the values are ByteTrack's and BoT-SORT's. */
static const struct {
  const gchar *name, *nick, *blurb;
  gdouble value;
  gsize offset;
} fractions[] = {
  [PROP_HIGH_SCORE] = { "high-score", "High score",
                        N_ ("Objects of at least this score are matched first"), 0.5,
                        G_STRUCT_OFFSET (GstNnTrackerConfig, high_score) },
  [PROP_LOW_SCORE] = { "low-score", "Low score",
                       N_ ("Objects of at least this score may continue a track"), 0.1,
                       G_STRUCT_OFFSET (GstNnTrackerConfig, low_score) },
  [PROP_NEW_SCORE] = { "new-score", "New score",
                       N_ ("Objects of at least this score may begin a track"), 0.6,
                       G_STRUCT_OFFSET (GstNnTrackerConfig, new_score) },
  [PROP_IOU] = { "iou-threshold", "IoU threshold",
                 N_ ("Least overlap of an object with where its track expects it, times its score"),
                 0.2, G_STRUCT_OFFSET (GstNnTrackerConfig, iou_threshold) },
  [PROP_APPEARANCE] = { "appearance-threshold", "Appearance threshold",
                        N_ ("Half of the cosine distance within which embeddings are of the same "
                            "thing; 0: they do not count"),
                        0.25, G_STRUCT_OFFSET (GstNnTrackerConfig, appearance_threshold) },
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS ("video/x-raw(ANY); " GST_NN_TENSOR_TEMPLATE));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS ("video/x-raw(ANY); " GST_NN_TENSOR_TEMPLATE));

/* Frames without a timestamp follow each other. */
static GstClockTime
time_of (GstNnTrack *self, GstBuffer *buffer)
{
  GstClockTime pts = GST_BUFFER_PTS (buffer);
  if (!GST_CLOCK_TIME_IS_VALID (pts))
    pts = GST_CLOCK_TIME_IS_VALID (self->now) ? self->now + self->frame_duration : 0;
  self->now = pts;
  return pts;
}

static void
add_model (GstNnTrack *self, const gchar *name)
{
  for (guint i = 0; i < self->models->len; i++)
    if (gst_nn_tracked_model_has_name (g_ptr_array_index (self->models, i), name))
      return;
  g_ptr_array_add (self->models, gst_nn_tracked_model_new (name, &self->last_id));
}

static void
find_models (GstNnTrack *self, GstBuffer *buffer)
{
  GstNnResultMeta *result = gst_buffer_get_nn_result_meta (buffer);
  const gchar *name, *last = NULL;
  GstNnObject *o;
  for (guint i = 0; result != NULL && (o = gst_nn_result_meta_get_object (result, i)) != NULL;
       i++) {
    name = gst_nn_object_get_model_name (o);
    if (gst_nn_object_get_parent_id (o) == 0 && (i == 0 || name != last))
      add_model (self, name);
    last = name;
  }
}

static void
get_config (GstNnTrack *self, GstNnTrackedModelConfig *config)
{
  GST_OBJECT_LOCK (self);
  config->tracker = self->config;
  config->tracker.lost_frames = (gdouble)self->lost_time / (gdouble)self->frame_duration;
  config->predicts = self->predicts;
  GST_OBJECT_UNLOCK (self);
  config->frame_duration = self->frame_duration;
  config->camera = self->camera;
}

static void
count (GstNnTrack *self, guint n_predicted)
{
  GstNnTrackerCounts counts = { 0 };
  for (guint i = 0; i < self->models->len; i++)
    gst_nn_tracked_model_add_counts (g_ptr_array_index (self->models, i), &counts);
  GST_OBJECT_LOCK (self);
  self->n_frames++;
  self->n_predicted += n_predicted;
  self->counts = counts;
  GST_OBJECT_UNLOCK (self);
}

static void
reset (GstNnTrack *self)
{
  for (guint i = 0; i < self->models->len; i++)
    gst_nn_tracked_model_reset (g_ptr_array_index (self->models, i));
  if (self->camera != NULL)
    gst_nn_camera_reset (self->camera);
  self->now = GST_CLOCK_TIME_NONE;
}

static void
refuse_to_look (GstNnTrack *self)
{
  self->is_readable = FALSE;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
                       (_ ("camera-motion cannot look at these pictures: it needs 8 bits of "
                           "brightness or green in system memory")),
                       (_ ("put videoconvert before nntrack; objects are tracked as if the camera "
                           "stood still")));
}

/* Places are kept otherwise where the camera moves. */
static void
follow_property (GstNnTrack *self)
{
  gboolean moves;
  GST_OBJECT_LOCK (self);
  moves = self->moves;
  GST_OBJECT_UNLOCK (self);
  if (moves == (self->camera != NULL))
    return;
  g_clear_pointer (&self->camera, gst_nn_camera_free);
  if (moves)
    self->camera = gst_nn_camera_new ();
  reset (self);
}

static void
look (GstNnTrack *self, GstBuffer *buffer, GstClockTime now)
{
  GstVideoFrame frame;
  if (self->camera == NULL || !self->is_readable)
    return;
  if (!gst_nn_camera_reads (&self->video) ||
      !gst_video_frame_map (&frame, &self->video, buffer,
                            GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)) {
    refuse_to_look (self);
    return;
  }
  gst_nn_camera_look (self->camera, &frame, gst_buffer_get_nn_result_meta (buffer), now);
  gst_video_frame_unmap (&frame);
}

static GstFlowReturn
gst_nn_track_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  GstNnTrack *self = (GstNnTrack *)base;
  GstNnTrackedModelConfig config;
  GstNnResultMeta *result;
  GstClockTime now;
  guint n_predicted = 0;
  follow_property (self);
  now = time_of (self, buffer);
  look (self, buffer, now);
  find_models (self, buffer);
  get_config (self, &config);
  for (guint i = 0; i < self->models->len; i++)
    n_predicted +=
        gst_nn_tracked_model_process (g_ptr_array_index (self->models, i), &config, buffer, now);
  result = gst_buffer_get_nn_result_meta (buffer);
  if (result != NULL)
    gst_nn_region_update_all (buffer, result);
  count (self, n_predicted);
  GST_LOG_OBJECT (self, "%u objects predicted on %" GST_PTR_FORMAT, n_predicted, buffer);
  return GST_FLOW_OK;
}

/* Objects are in pixels of the frame. */
static gboolean
gst_nn_track_set_caps (GstBaseTransform *base, GstCaps *in, G_GNUC_UNUSED GstCaps *out)
{
  GstNnTrack *self = (GstNnTrack *)base;
  gint n, d;
  reset (self);
  self->frame_duration = USUAL_DURATION;
  self->is_readable = gst_video_info_from_caps (&self->video, in);
  if (gst_structure_get_fraction (gst_caps_get_structure (in, 0), "framerate", &n, &d) && n > 0 &&
      d > 0)
    self->frame_duration = MAX (gst_util_uint64_scale_int (GST_SECOND, d, n), 1);
  return TRUE;
}

static gboolean
gst_nn_track_sink_event (GstBaseTransform *base, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT || GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    reset ((GstNnTrack *)base);
  return GST_BASE_TRANSFORM_CLASS (gst_nn_track_parent_class)->sink_event (base, event);
}

static gboolean
gst_nn_track_start (GstBaseTransform *base)
{
  GstNnTrack *self = (GstNnTrack *)base;
  g_ptr_array_set_size (self->models, 0);
  self->frame_duration = USUAL_DURATION;
  self->now = GST_CLOCK_TIME_NONE;
  self->last_id = 0;
  GST_OBJECT_LOCK (self);
  self->n_frames = self->n_predicted = 0;
  self->counts = (GstNnTrackerCounts){ 0 };
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gdouble *
fraction_at (GstNnTrack *self, guint id)
{
  return (gdouble *)(gpointer)((gchar *)&self->config + fractions[id].offset);
}

static GstStructure *
get_stats (const GstNnTrack *self)
{
  return gst_structure_new ("nntrack-stats", "frames", G_TYPE_UINT64, self->n_frames, "predicted",
                            G_TYPE_UINT64, self->n_predicted, "tracks", G_TYPE_UINT64,
                            self->counts.n_tracks, "found-again", G_TYPE_UINT64,
                            self->counts.n_found_again, "seen", G_TYPE_UINT, self->counts.n_seen,
                            "lost", G_TYPE_UINT, self->counts.n_lost, NULL);
}

static void
gst_nn_track_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstNnTrack *self = (GstNnTrack *)object;
  GST_OBJECT_LOCK (self);
  switch (id) {
  case PROP_MIN_HITS:
    self->config.min_hits = g_value_get_uint (value);
    break;
  case PROP_CLASS_AWARE:
    self->config.class_aware = g_value_get_boolean (value);
    break;
  case PROP_LOST_TIME:
    self->lost_time = g_value_get_uint64 (value);
    break;
  case PROP_PREDICT:
    self->predicts = g_value_get_boolean (value);
    break;
  case PROP_CAMERA_MOTION:
    self->moves = g_value_get_boolean (value);
    break;
  default:
    if (id < G_N_ELEMENTS (fractions))
      *fraction_at (self, id) = g_value_get_double (value);
    else
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_track_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstNnTrack *self = (GstNnTrack *)object;
  GST_OBJECT_LOCK (self);
  switch (id) {
  case PROP_MIN_HITS:
    g_value_set_uint (value, self->config.min_hits);
    break;
  case PROP_CLASS_AWARE:
    g_value_set_boolean (value, self->config.class_aware);
    break;
  case PROP_LOST_TIME:
    g_value_set_uint64 (value, self->lost_time);
    break;
  case PROP_PREDICT:
    g_value_set_boolean (value, self->predicts);
    break;
  case PROP_CAMERA_MOTION:
    g_value_set_boolean (value, self->moves);
    break;
  case PROP_STATS:
    g_value_take_boxed (value, get_stats (self));
    break;
  default:
    if (id < G_N_ELEMENTS (fractions))
      g_value_set_double (value, *fraction_at (self, id));
    else
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_track_finalize (GObject *object)
{
  g_ptr_array_unref (((GstNnTrack *)object)->models);
  g_clear_pointer (&((GstNnTrack *)object)->camera, gst_nn_camera_free);
  G_OBJECT_CLASS (gst_nn_track_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *klass)
{
  GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING |
                        GST_PARAM_CONTROLLABLE;
  for (guint id = 1; id < G_N_ELEMENTS (fractions); id++)
    g_object_class_install_property (klass, id,
                                     g_param_spec_double (fractions[id].name, fractions[id].nick,
                                                          _ (fractions[id].blurb), 0, 1,
                                                          fractions[id].value, playing));
  g_object_class_install_property (
      klass, PROP_MIN_HITS,
      g_param_spec_uint ("min-hits", "Hits", _ ("How often a thing is seen before it has a track"),
                         1, 1000, 2, playing));
  g_object_class_install_property (
      klass, PROP_CLASS_AWARE,
      g_param_spec_boolean ("class-aware", "Class-aware",
                            _ ("A track keeps its class; otherwise a car may become a truck"), TRUE,
                            playing));
  g_object_class_install_property (
      klass, PROP_LOST_TIME,
      g_param_spec_uint64 (
          "lost-time", "Lost time",
          _ ("How long a track waits for its object to be seen again, nanoseconds"), 0, G_MAXUINT64,
          GST_SECOND, playing));
  g_object_class_install_property (
      klass, PROP_PREDICT,
      g_param_spec_boolean ("predict", "Predict",
                            _ ("On frames that were not inferred objects are where they are "
                               "expected, instead of where they were"),
                            TRUE, playing));
  g_object_class_install_property (
      klass, PROP_CAMERA_MOTION,
      g_param_spec_boolean ("camera-motion", "Camera motion",
                            _ ("The camera moves: pictures are looked at to tell how"), FALSE,
                            playing));
  g_object_class_install_property (
      klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
                          _ ("Frames, objects that were predicted, tracks so far, tracks that were "
                             "found again, and those seen and lost now"),
                          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_nn_track_class_init (GstNnTrackClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (gst_nn_track_debug, "nntrack", 0, "tracks of objects");
  object_class->set_property = gst_nn_track_set_property;
  object_class->get_property = gst_nn_track_get_property;
  object_class->finalize = gst_nn_track_finalize;
  install_properties (object_class);
  base->sink_event = gst_nn_track_sink_event;
  base->set_caps = gst_nn_track_set_caps;
  base->transform_ip = gst_nn_track_transform_ip;
  base->before_transform = gst_nn_before_transform;
  base->propose_allocation = gst_nn_propose_allocation;
  base->start = gst_nn_track_start;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (
      element_class, "Tracker of objects", "Filter/Analyzer/Video",
      "Numbers objects, the same on all frames", "The Axon developers");
}

static void
gst_nn_track_init (GstNnTrack *self)
{
  for (guint id = 1; id < G_N_ELEMENTS (fractions); id++)
    *fraction_at (self, id) = fractions[id].value;
  self->config.min_hits = 2;
  self->config.class_aware = TRUE;
  self->lost_time = GST_SECOND;
  self->predicts = TRUE;
  self->frame_duration = USUAL_DURATION;
  self->now = GST_CLOCK_TIME_NONE;
  self->models = g_ptr_array_new_with_free_func ((GDestroyNotify)gst_nn_tracked_model_free);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
