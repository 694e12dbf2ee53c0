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
#include "caps/gstnncaps.h"
#include "decoders/gstnnchoice.h"
#include "decoders/gstnnresults.h"
#include "decoders/gstnntiles.h"
#include "decoders/gstnntrackmemory.h"
#include "frame/gstnnrelation.h"
#include "gstnnbehind.h"
#include "gstnnelement.h"
#include "gstnnmodelprops.h"
#include "gstnnstats.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

GST_DEBUG_CATEGORY_STATIC (gst_nn_decode_debug);
#define GST_CAT_DEFAULT gst_nn_decode_debug

struct _GstNnDecode {
  GstBaseTransform parent_instance;
  gdouble threshold, iou_threshold; /* object lock */
  guint max_objects, top_k;         /* object lock */
  gchar *gallery_path;              /* object lock */
  GstNnGallery *gallery;            /* from start to stop */
  gboolean keep_tensors;            /* object lock */
  GstNnModelProps props;            /* object lock */
  GstNnDescription *override;       /* what the properties say */
  GstNnDecoderChoice choice;
  GstNnStats *stats;
  gdouble used_threshold; /* of the last frame */
  GArray *candidates;     /* scratch */
  GstClockTime hold_time; /* object lock */
  GstBuffer *held;        /* without data: the last results, as they were attached */
  GstNnTrackMemory *memory;
  GPtrArray *parts;   /* scratch: GstNnTensorMeta */
  GArray *tiles;      /* scratch: GstNnTile */
  gint width, height; /* of frames, as caps say; 0: tensors */
};

G_DECLARE_FINAL_TYPE (GstNnDecode, gst_nn_decode, GST, NN_DECODE, GstBaseTransform)
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

/* What a description says of outputs that no decoder knows, whatever their shapes. */
#define NO_DECODER "none"
#define DEFAULT_THRESHOLD 0.5
#define DEFAULT_IOU_THRESHOLD 0.45

enum { COUNT_DECODED, COUNT_REUSED, COUNT_WITH_RESULTS };
static const gchar *const counts[] = { "decoded", "reused", "with-results", NULL };
enum { TIME_DECODING };
static const gchar *const times[] = { "decoding", NULL };

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS (GST_NN_ANY_VIDEO_CAPS "; " GST_NN_TENSOR_TEMPLATE));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS (GST_NN_ANY_VIDEO_CAPS "; " GST_NN_TENSOR_TEMPLATE));

/* A decoder that somebody named and that does not exist or does not fit is an error, shapes that no
 * decoder knows a warning, until there were others that one does. */
static gboolean
complain (GstNnDecode *self, const gchar *name, gboolean is_new)
{
  g_autofree gchar *known = gst_nn_decoder_list ();
  g_autofree gchar *outputs = gst_nn_decoder_choice_to_string (&self->choice);
  if (name == NULL) {
    if (is_new)
      GST_ELEMENT_WARNING (
          self, STREAM, DECODE,
          (_ ("no decoder knows %s: frames pass without results; decoders: %s"), outputs, known),
          (NULL));
    return TRUE;
  }
  if (gst_nn_decoder_find (name) == NULL)
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
                       (_ ("there is no decoder \"%s\"; there are %s"), name, known), (NULL));
  else
    GST_ELEMENT_ERROR (self, STREAM, DECODE,
                       (_ ("decoder %s cannot decode %s: it reads %s; decoders: %s"), name, outputs,
                        _ (gst_nn_decoder_find (name)->blurb), known),
                       (NULL));
  gst_nn_decoder_choice_clear (&self->choice);
  return FALSE;
}

/* What the library concluded may be newer than these elements, and a guess may be wrong. */
static gboolean
is_guess (GstNnDecode *self, const GstNnDescription *described)
{
  gboolean doubtful = FALSE;
  g_autofree gchar *said = NULL;
  if (self->override->decoder != NULL || described == NULL || described->decoder == NULL ||
      g_str_equal (described->decoder, NO_DECODER))
    return FALSE;
  said = gst_nn_description_get (described, "decoder", NULL, &doubtful);
  return doubtful || gst_nn_decoder_find (described->decoder) == NULL;
}

static gboolean
choose_decoder (GstNnDecode *self, const GstNnDecodeInput *in, const GstNnDescription *described)
{
  const gchar *name = self->override->decoder ? self->override->decoder
                      : described             ? described->decoder
                                              : NULL;
  const GstNnDecoder *before = self->choice.decoder;
  gboolean is_new = self->choice.shapes == NULL || before != NULL;
  gboolean may_differ = is_guess (self, described);
  const GstNnDecoder *decoder = gst_nn_decoder_choose (&self->choice, in, name, may_differ);
  if (decoder == NULL)
    return complain (self, may_differ || g_strcmp0 (name, NO_DECODER) == 0 ? NULL : name, is_new);
  if (decoder != before)
    GST_DEBUG_OBJECT (self, "decoder %s for %u outputs of an input of %dx%d, %s", decoder->name,
                      in->tensors->len, in->width, in->height,
                      self->override->decoder ? "as the property says"
                      : name != NULL && decoder == gst_nn_decoder_find (name)
                          ? "as the model's description says"
                          : "by their shapes");
  return TRUE;
}

/* Decoders read f32, one number after another. */
static AxonTensor *
as_dense_floats (AxonTensor *tensor)
{
  g_autoptr (AxonTensor) host = axon_tensor_to_host (tensor, NULL);
  return host != NULL ? axon_tensor_convert (host, AXON_DTYPE_F32, NULL) : NULL;
}

static GPtrArray *
as_floats (GPtrArray *tensors)
{
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  for (guint i = 0; i < tensors->len; i++) {
    AxonTensor *t = as_dense_floats (g_ptr_array_index (tensors, i));
    if (t != NULL)
      g_ptr_array_add (list, t);
  }
  return list;
}

/* What the properties say, else the description. */
static void
describe_outputs (GstNnDecode *self, GstNnDecodeInput *in)
{
  const GstNnDescription *first = self->override;
  const GstNnDescription *second = in->description ? in->description : first;
  const GstNnDescription *anchors = first->n_anchors > 0 ? first : second;
  const GstNnDescription *strides = first->n_strides > 0 ? first : second;
  gchar **labels = first->labels ? first->labels : second->labels;
  in->labels = (const gchar *const *)labels;
  in->n_labels = labels != NULL ? g_strv_length (labels) : 0;
  in->activation = first->activation ? first->activation : second->activation;
  in->anchors = anchors->anchors;
  in->n_anchors = anchors->n_anchors;
  in->strides = strides->strides;
  in->n_strides = strides->n_strides;
  in->gallery = self->gallery;
}

/* The property, else what the description says, else what is usual. Less than 0: not said. */
static gdouble
first_said (GstNnDecode *self, const gdouble *property, gdouble described, gdouble usual)
{
  gdouble said;
  GST_OBJECT_LOCK (self);
  said = *property;
  GST_OBJECT_UNLOCK (self);
  return said >= 0 ? said : described >= 0 ? described : usual;
}

static gdouble
threshold_of (GstNnDecode *self, const GstNnDescription *d)
{
  gdouble published = self->choice.decoder->threshold;
  return first_said (self, &self->threshold, d ? d->threshold : -1,
                     published > 0 ? published : DEFAULT_THRESHOLD);
}

static gdouble
iou_threshold_of (GstNnDecode *self, const GstNnDescription *d)
{
  return first_said (self, &self->iou_threshold, d ? d->iou_threshold : -1, DEFAULT_IOU_THRESHOLD);
}

/* What the outputs mean, into @result. FALSE: an error was posted. */
static gboolean
decode (GstNnDecode *self, const GstNnTensorMeta *meta, GstClockTime pts, GstNnResultMeta *result)
{
  g_autoptr (GPtrArray) floats = as_floats (meta->tensors);
  GstNnDecodeInput in = { 0 };
  guint max;
  GST_OBJECT_LOCK (self);
  in.top_k = self->top_k;
  max = self->max_objects;
  GST_OBJECT_UNLOCK (self);
  in.tensors = floats;
  in.raw = floats->len == meta->tensors->len ? meta->tensors : NULL;
  in.names = (const gchar *const *)meta->names;
  in.description = meta->description;
  in.model_name = meta->description ? meta->description->model_name : NULL;
  describe_outputs (self, &in);
  gst_nn_decode_input_place (&in, &meta->geometry, result->width, result->height);
  if (!gst_nn_decoder_choice_holds (&self->choice, &in) &&
      !choose_decoder (self, &in, meta->description))
    return FALSE;
  if (self->choice.decoder == NULL)
    return TRUE;
  in.threshold = self->used_threshold = threshold_of (self, in.description);
  gst_nn_decode_into (result, self->choice.decoder, &in, iou_threshold_of (self, in.description),
                      max, pts, self->candidates);
  gst_nn_stats_count (self->stats, COUNT_DECODED);
  return TRUE;
}

/* For results of that inference. The picture's size, else that of the frame; unknown, places are
 * fractions of a frame of 1x1. */
static GstNnResultMeta *
add_results (GstNnDecode *self, GstBuffer *to, GstBuffer *frame, const GstNnTensorMeta *meta)
{
  const GstVideoMeta *video = gst_buffer_get_video_meta (frame);
  gint width = meta->width > 0 ? meta->width : video != NULL ? (gint)video->width : self->width;
  gint height = meta->height > 0 ? meta->height
                : video != NULL  ? (gint)video->height
                                 : self->height;
  return gst_buffer_add_nn_result_meta (to, MAX (width, 1), MAX (height, 1));
}

static void
note_tile (GstNnDecode *self, const GstNnTensorMeta *meta, GstNnResultMeta *result)
{
  const AxonImageGeometry *g = &meta->geometry;
  GstNnTile tile = { g->x, g->y, g->dst_width * g->scale_x, g->dst_height * g->scale_y,
                     gst_nn_result_meta_get_n_objects (result) };
  g_array_append_val (self->tiles, tile);
}

static void
count_results (GstNnDecode *self, GstNnResultMeta *result)
{
  if (!gst_nn_result_meta_is_empty (result))
    gst_nn_stats_count (self->stats, COUNT_WITH_RESULTS);
}

/* Of the frame, or of tiles that are one together. Results stay, for frames that were not inferred.
 */
static gboolean
decode_frame (GstNnDecode *self, GstBuffer *buffer, GstClockTime pts)
{
  const GstNnTensorMeta *first = g_ptr_array_index (self->parts, 0);
  GstNnResultMeta *result;
  gst_clear_buffer (&self->held);
  self->held = gst_buffer_new ();
  GST_BUFFER_PTS (self->held) = pts;
  result = add_results (self, self->held, buffer, first);
  g_array_set_size (self->tiles, 0);
  for (guint i = 0; i < self->parts->len; i++) {
    const GstNnTensorMeta *meta = g_ptr_array_index (self->parts, i);
    note_tile (self, meta, result);
    if (!decode (self, meta, pts, result))
      return FALSE;
  }
  if (self->choice.decoder == NULL) {
    gst_clear_buffer (&self->held);
    return TRUE;
  }
  if (self->parts->len > 1)
    gst_nn_tiles_merge (result, self->tiles, iou_threshold_of (self, first->description));
  count_results (self, result);
  gst_nn_results_attach (buffer, 0, self->held);
  return TRUE;
}

/* Of objects. What is said of one that has a track stays for its other frames. */
static gboolean
decode_objects (GstNnDecode *self, GstBuffer *buffer, GstClockTime pts)
{
  for (guint i = 0; i < self->parts->len; i++) {
    const GstNnTensorMeta *meta = g_ptr_array_index (self->parts, i);
    g_autoptr (GstBuffer) said = gst_buffer_new ();
    GstNnResultMeta *result = add_results (self, said, buffer, meta);
    if (!decode (self, meta, pts, result))
      return FALSE;
    if (self->choice.decoder == NULL)
      continue;
    count_results (self, result);
    gst_nn_results_attach (buffer, meta->object_id, said);
    gst_nn_track_memory_keep (self->memory, gst_buffer_get_nn_result_meta (buffer), meta->object_id,
                              g_steal_pointer (&said));
  }
  return TRUE;
}

/* The outputs of one model on one frame, which are on the buffer last. */
static void
find_parts (GstNnDecode *self, GstBuffer *buffer)
{
  const GstNnTensorMeta *last = gst_buffer_get_nn_tensor_meta (buffer);
  gpointer state = NULL;
  GstMeta *meta;
  g_ptr_array_set_size (self->parts, 0);
  if (last == NULL || last->tensors->len == 0)
    return;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state, GST_NN_TENSOR_META_API_TYPE))) {
    const GstNnTensorMeta *m = (const GstNnTensorMeta *)meta;
    if (m->tensors->len > 0 && m->description == last->description && m->pts == last->pts)
      g_ptr_array_add (self->parts, meta);
  }
}

static gboolean
is_fresh (GstNnDecode *self, GstBuffer *buffer)
{
  GstClockTime most, then, now = GST_BUFFER_PTS (buffer);
  GST_OBJECT_LOCK (self);
  most = self->hold_time;
  GST_OBJECT_UNLOCK (self);
  if (self->held == NULL || most == 0)
    return FALSE;
  then = GST_BUFFER_PTS (self->held);
  return GST_CLOCK_TIME_IS_VALID (now) && GST_CLOCK_TIME_IS_VALID (then) && now >= then &&
         now - then <= most;
}

/* A frame that was not inferred. */
static void
reuse_results (GstNnDecode *self, GstBuffer *buffer)
{
  if (!is_fresh (self, buffer))
    return;
  gst_nn_results_attach (buffer, 0, self->held);
  gst_nn_stats_count (self->stats, COUNT_REUSED);
}

static gboolean
use_results (GstNnDecode *self, GstBuffer *buffer)
{
  const GstNnTensorMeta *last = g_ptr_array_index (self->parts, self->parts->len - 1);
  GstClockTime pts = GST_CLOCK_TIME_IS_VALID (last->pts) ? last->pts : GST_BUFFER_PTS (buffer);
  gint64 begin = g_get_monotonic_time ();
  if (!(last->object_id != 0 ? decode_objects : decode_frame) (self, buffer, pts))
    return FALSE;
  gst_nn_stats_time (self->stats, TIME_DECODING, g_get_monotonic_time () - begin);
  GST_LOG_OBJECT (self, "decoded %u inferences on %" GST_PTR_FORMAT, self->parts->len, buffer);
  return TRUE;
}

static GstFlowReturn
gst_nn_decode_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  GstNnDecode *self = (GstNnDecode *)base;
  GstNnResultMeta *result;
  gboolean keep;
  find_parts (self, buffer);
  if (self->parts->len == 0)
    reuse_results (self, buffer);
  else if (!use_results (self, buffer))
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
  if (self->override != NULL && self->override->decoder != NULL &&
      gst_nn_decoder_find (self->override->decoder) == NULL) {
    g_autofree gchar *known = gst_nn_decoder_list ();
    g_set_error (&error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("there is no decoder \"%s\"; there are %s"), self->override->decoder, known);
  }
  if (error == NULL && self->gallery_path != NULL)
    self->gallery = gst_nn_gallery_load (self->gallery_path, &error);
  if (error == NULL)
    return TRUE;
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
