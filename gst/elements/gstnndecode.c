/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nndecode
 * @title: nndecode
 *
 * Reads the raw outputs that nninfer attached and adds what they mean: objects and classes in
 * pixels of the frame, as #GstNnResultMeta and #GstVideoRegionOfInterestMeta. The decoder comes
 * from the model's description, or from the shapes of the outputs: it is chosen once, and again
 * when they change. Outputs that no decoder knows are a warning, and the frames pass without
 * results. Where nothing says how a frame became the model's input, it was stretched to it; where
 * not even the frame's size is known, boxes are fractions of a frame of 1x1.
 *
 * Threads: streaming thread; thresholds may change at any time.
 */
#include "gstnndecode.h"
#include "caps/gstnncaps.h"
#include "decoders/gstnnfloats.h"
#include "frame/gstnnrelation.h"
#include "gstnnbehind.h"
#include "gstnnelement.h"

GST_DEBUG_CATEGORY (gst_nn_decode_debug);
#define GST_CAT_DEFAULT gst_nn_decode_debug

G_DEFINE_TYPE (GstNnDecode, gst_nn_decode, GST_TYPE_BASE_TRANSFORM)
GST_NN_ELEMENT_REGISTER_DEFINE (nndecode, gst_nn_decode_get_type ())

enum {
  PROP_THRESHOLD = 1,
  PROP_IOU,
  PROP_MAX,
  PROP_KEEP,
  PROP_HOLD_TIME,
  PROP_STATS,
  PROP_TOP_K,
  PROP_GALLERY
};

static const gchar *const counts[] = { "decoded", "reused", "with-results", NULL };
static const gchar *const times[] = { "decoding", NULL };

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS (GST_NN_ANY_VIDEO_CAPS "; " GST_NN_TENSOR_TEMPLATE));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS (GST_NN_ANY_VIDEO_CAPS "; " GST_NN_TENSOR_TEMPLATE));

static GstFlowReturn
gst_nn_decode_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  GstNnDecode *self = (GstNnDecode *)base;
  GstNnResultMeta *result;
  gboolean keep;
  if (!gst_nn_decode_frame (self, buffer))
    return GST_FLOW_ERROR;
  result = gst_buffer_get_nn_result_meta (buffer);
  if (result != NULL)
    gst_nn_track_memory_recall (self->memory, result);
  GST_OBJECT_LOCK (self);
  keep = self->keep_tensors;
  GST_OBJECT_UNLOCK (self);
  for (guint i = 0; !keep && i < self->parts->len; i++)
    gst_buffer_remove_meta (buffer, g_ptr_array_index (self->parts, i));
  if (!keep && self->parts->len > 0)
    gst_nn_unshare_tensors (buffer);
  return GST_FLOW_OK;
}

static void
forget_results (GstNnDecode *self)
{
  gst_clear_buffer (&self->held);
  gst_nn_track_memory_clear (self->memory);
}

/* New caps, new news. */
static gboolean
gst_nn_decode_set_caps (GstBaseTransform *base, GstCaps *in, G_GNUC_UNUSED GstCaps *out)
{
  GstNnDecode *self = (GstNnDecode *)base;
  const GstStructure *s = gst_caps_get_structure (in, 0);
  gst_nn_decoder_choice_clear (&self->choice);
  forget_results (self);
  self->width = self->height = 0;
  gst_structure_get_int (s, "width", &self->width);
  gst_structure_get_int (s, "height", &self->height);
  gst_nn_warn_if_moved_behind (GST_ELEMENT (self), base->srcpad);
  return TRUE;
}

/* Nothing in a whole stream is more often a wrong setting than an empty street. */
static void
warn_if_nothing_was_found (GstNnDecode *self)
{
  guint64 n = gst_nn_stats_get_count (self->stats, COUNT_DECODED);
  const GstNnDecoder *decoder = self->choice.decoder;
  if (n == 0 || gst_nn_stats_get_count (self->stats, COUNT_WITH_RESULTS) > 0)
    return;
  if (decoder != NULL && decoder->decode == NULL && decoder->whole == NULL) {
    GST_ELEMENT_WARNING (
        self, STREAM, DECODE,
        (_ ("decoder %s has nothing to say of frames: nntensor2video shows what the model draws"),
         decoder->name),
        (NULL));
    return;
  }
  GST_ELEMENT_WARNING (self, STREAM, DECODE,
                       (_ ("nothing reached threshold %g in %llu frames, decoded as %s: lower it, "
                           "or see whether nninfer's color, "
                           "resize, mean and scale are those of the model"),
                        self->used_threshold, (unsigned long long)n, decoder ? decoder->name : "?"),
                       (NULL));
}

/* What was seen before a seek is not what is there after it. */
static gboolean
gst_nn_decode_sink_event (GstBaseTransform *base, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT || GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    forget_results ((GstNnDecode *)base);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    warn_if_nothing_was_found ((GstNnDecode *)base);
  return GST_BASE_TRANSFORM_CLASS (gst_nn_decode_parent_class)->sink_event (base, event);
}

static gboolean
gst_nn_decode_start (GstBaseTransform *base)
{
  GstNnDecode *self = (GstNnDecode *)base;
  g_autoptr (GError) error = NULL;
  gst_nn_stats_reset (self->stats);
  self->override = gst_nn_model_props_describe (&self->props, NULL, NULL, &error);
  if (error == NULL && self->gallery_path != NULL)
    self->gallery = gst_nn_gallery_load (self->gallery_path, &error);
  if (error == NULL) {
    gst_nn_floats_open ();
    return TRUE;
  }
  gst_nn_post_error (GST_ELEMENT (self), error);
  g_clear_pointer (&self->override, gst_nn_description_unref);
  return FALSE;
}

static gboolean
gst_nn_decode_stop (GstBaseTransform *base)
{
  GstNnDecode *self = (GstNnDecode *)base;
  g_clear_pointer (&self->override, gst_nn_description_unref);
  g_clear_pointer (&self->gallery, gst_nn_gallery_free);
  gst_nn_decoder_choice_clear (&self->choice);
  forget_results (self);
  gst_nn_floats_close ();
  return TRUE;
}

static void
gst_nn_decode_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstNnDecode *self = (GstNnDecode *)object;
  GST_OBJECT_LOCK (self);
  switch (id) {
  case PROP_THRESHOLD:
    self->threshold = g_value_get_double (value);
    break;
  case PROP_IOU:
    self->iou_threshold = g_value_get_double (value);
    break;
  case PROP_MAX:
    self->max_objects = g_value_get_uint (value);
    break;
  case PROP_KEEP:
    self->keep_tensors = g_value_get_boolean (value);
    break;
  case PROP_HOLD_TIME:
    self->hold_time = g_value_get_uint64 (value);
    break;
  case PROP_TOP_K:
    self->top_k = g_value_get_uint (value);
    break;
  case PROP_GALLERY:
    g_free (self->gallery_path);
    self->gallery_path = g_value_dup_string (value);
    break;
  default:
    if (!gst_nn_model_props_set (&self->props, id, value))
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_decode_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstNnDecode *self = (GstNnDecode *)object;
  GST_OBJECT_LOCK (self);
  switch (id) {
  case PROP_THRESHOLD:
    g_value_set_double (value, self->threshold);
    break;
  case PROP_IOU:
    g_value_set_double (value, self->iou_threshold);
    break;
  case PROP_MAX:
    g_value_set_uint (value, self->max_objects);
    break;
  case PROP_KEEP:
    g_value_set_boolean (value, self->keep_tensors);
    break;
  case PROP_HOLD_TIME:
    g_value_set_uint64 (value, self->hold_time);
    break;
  case PROP_STATS:
    g_value_take_boxed (value, gst_nn_stats_get (self->stats));
    break;
  case PROP_TOP_K:
    g_value_set_uint (value, self->top_k);
    break;
  case PROP_GALLERY:
    g_value_set_string (value, self->gallery_path);
    break;
  default:
    if (!gst_nn_model_props_get (&self->props, id, value))
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_decode_finalize (GObject *object)
{
  GstNnDecode *self = (GstNnDecode *)object;
  gst_nn_model_props_clear (&self->props);
  gst_nn_stats_free (self->stats);
  g_free (self->gallery_path);
  g_array_unref (self->candidates);
  g_ptr_array_unref (self->parts);
  g_array_unref (self->tiles);
  gst_nn_track_memory_free (self->memory);
  G_OBJECT_CLASS (gst_nn_decode_parent_class)->finalize (object);
}

static void
gst_nn_decode_class_init (GstNnDecodeClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS (klass);
  GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING |
                        GST_PARAM_CONTROLLABLE;
  GST_DEBUG_CATEGORY_INIT (gst_nn_decode_debug, "nndecode", 0, "results of a model");
  object_class->set_property = gst_nn_decode_set_property;
  object_class->get_property = gst_nn_decode_get_property;
  object_class->finalize = gst_nn_decode_finalize;
  g_object_class_install_property (
      object_class, PROP_THRESHOLD,
      g_param_spec_double ("threshold", "Threshold",
                           _ ("Least score of a result; -1: as the model's description says, "
                              "else as is usual for its decoder"),
                           -1, 1, -1, playing));
  g_object_class_install_property (
      object_class, PROP_IOU,
      g_param_spec_double (
          "iou-threshold", "IoU threshold",
          _ ("Overlap above which the weaker object of a class is dropped; -1: as the model's "
             "description says, else 0.45"),
          -1, 1, -1, playing));
  g_object_class_install_property (object_class, PROP_MAX,
                                   g_param_spec_uint ("max-objects", "Objects",
                                                      _ ("Most objects per frame"), 1,
                                                      GST_NN_MAX_OBJECTS, 100, playing));
  g_object_class_install_property (object_class, PROP_KEEP,
                                   g_param_spec_boolean ("keep-tensors", "Keep tensors",
                                                         _ ("Leave the raw outputs on the buffer"),
                                                         FALSE, playing));
  g_object_class_install_property (
      object_class, PROP_HOLD_TIME,
      g_param_spec_uint64 ("hold-time", "Hold time",
                           _ ("How long frames that were not inferred show the last results, "
                              "nanoseconds; 0: never"),
                           0, G_MAXUINT64, GST_SECOND, playing));
  g_object_class_install_property (
      object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
                          _ ("Frames, and percentiles of decoding the last 256 of them"),
                          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (object_class, PROP_TOP_K,
                                   g_param_spec_uint ("top-k", "Classes",
                                                      _ ("Most classes that are said of a picture"),
                                                      1, 10000, 5, playing));
  g_object_class_install_property (
      object_class, PROP_GALLERY,
      g_param_spec_string ("gallery", "Gallery",
                           _ ("File of known vectors that embeddings are compared with: each line "
                              "a name and numbers, separated by commas"),
                           NULL,
                           G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY));
  gst_nn_model_props_install (object_class, GST_NN_MODEL_RESULTS, GST_PARAM_MUTABLE_READY);
  base->sink_event = gst_nn_decode_sink_event;
  base->set_caps = gst_nn_decode_set_caps;
  base->transform_ip = gst_nn_decode_transform_ip;
  base->before_transform = gst_nn_before_transform;
  base->propose_allocation = gst_nn_propose_allocation;
  base->start = gst_nn_decode_start;
  base->stop = gst_nn_decode_stop;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (
      element_class, "Results of a model", "Filter/Analyzer/Video",
      "Turns raw outputs into objects and classes", "The Axon developers");
}

static void
gst_nn_decode_init (GstNnDecode *self)
{
  self->stats = gst_nn_stats_new ("nndecode-stats", counts, times);
  self->threshold = -1;
  self->iou_threshold = -1;
  self->max_objects = 100;
  self->top_k = 5;
  self->hold_time = GST_SECOND;
  self->memory = gst_nn_track_memory_new ();
  self->parts = g_ptr_array_new ();
  self->tiles = g_array_new (FALSE, TRUE, sizeof (GstNnTile));
  self->candidates = g_array_new (FALSE, TRUE, sizeof (GstNnDetection));
  gst_nn_model_props_init (&self->props);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
