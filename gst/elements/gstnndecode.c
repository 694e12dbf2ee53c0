/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nndecode
 * @title: nndecode
 *
 * Reads the raw outputs that nninfer attached and adds what they mean: objects and classes in
 * pixels of the frame, as #GstNnResultMeta and #GstVideoRegionOfInterestMeta. The decoder comes
 * from the model's description, or from the shapes of the outputs: it is chosen once, and again
 * when they change. Outputs that no decoder knows are a warning, and the frames pass without
 * results.
 *
 * Threads: streaming thread; thresholds may change at any time.
 */
#include "caps/gstnncaps.h"
#include "decoders/gstnnchoice.h"
#include "gstnnelement.h"
#include "gstnnmodelprops.h"

#include <gst/base/gstbasetransform.h>

GST_DEBUG_CATEGORY_STATIC (gst_nn_decode_debug);
#define GST_CAT_DEFAULT gst_nn_decode_debug

struct _GstNnDecode {
  GstBaseTransform parent_instance;
  gdouble threshold, iou_threshold; /* object lock */
  guint max_objects;                /* object lock */
  gboolean keep_tensors;            /* object lock */
  GstNnModelProps props;            /* object lock */
  GstNnDescription *override;       /* what the properties say */
  GstNnDecoderChoice choice;
  GArray *objects, *classes; /* scratch */
  GstClockTime hold_time;    /* object lock */
  GstBuffer *held;           /* without data: the last results, as they were attached */
};

G_DECLARE_FINAL_TYPE (GstNnDecode, gst_nn_decode, GST, NN_DECODE, GstBaseTransform)
G_DEFINE_TYPE (GstNnDecode, gst_nn_decode, GST_TYPE_BASE_TRANSFORM)
GST_NN_ELEMENT_REGISTER_DEFINE (nndecode, gst_nn_decode_get_type ())

enum { PROP_THRESHOLD = 1, PROP_IOU, PROP_MAX, PROP_KEEP, PROP_HOLD_TIME };

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw; " GST_NN_TENSOR_TEMPLATE));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw; " GST_NN_TENSOR_TEMPLATE));

/* A new choice is news: a decoder that the user named and that does not exist or does not fit is an
 * error. One that the library concluded may be newer than these elements, and a guess may be wrong:
 * a warning, once for each change of shapes. */
static gboolean
choose_decoder (GstNnDecode *self, const GstNnDecodeInput *in, const GstNnDescription *described)
{
  const gchar *name = self->override->decoder ? self->override->decoder
                      : described             ? described->decoder
                                              : NULL;
  gboolean is_guess = FALSE;
  g_autofree gchar *said =
      described ? gst_nn_description_get (described, "decoder", NULL, &is_guess) : NULL;
  g_autofree gchar *known = gst_nn_decoder_list ();
  g_autofree gchar *outputs = NULL;
  const GstNnDecoder *decoder = gst_nn_decoder_choose (&self->choice, in, name);
  if (decoder == NULL && self->override->decoder == NULL && name != NULL &&
      (is_guess || gst_nn_decoder_find (name) == NULL)) {
    GST_INFO_OBJECT (self, "decoder %s is not used: shapes decide", name);
    name = NULL;
    decoder = gst_nn_decoder_choose (&self->choice, in, NULL);
  }
  outputs = gst_nn_decoder_choice_to_string (&self->choice);
  if (decoder != NULL) {
    GST_DEBUG_OBJECT (self, "decoder %s for %s, %s", decoder->name, outputs,
                      self->override->decoder ? "as the property says"
                      : name                  ? "as the model's description says"
                                              : "by their shapes");
    return TRUE;
  }
  if (name == NULL) {
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
                       (_ ("decoder %s cannot decode %s; decoders: %s"), name, outputs, known),
                       (NULL));
  gst_nn_decoder_choice_clear (&self->choice);
  return FALSE;
}

/* Decoders read f32. */
static GPtrArray *
as_floats (GPtrArray *tensors)
{
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  for (guint i = 0; i < tensors->len; i++) {
    AxonTensor *t = axon_tensor_convert (g_ptr_array_index (tensors, i), AXON_DTYPE_F32, NULL);
    if (t != NULL)
      g_ptr_array_add (list, t);
  }
  return list;
}

/* Input pixels to frame pixels, clipped to the frame. */
static void
to_frame (GstNnDetection *o, const GstNnTensorMeta *meta)
{
  const AxonImageGeometry *g = &meta->geometry;
  gdouble x0 = (o->x - g->dst_x) * g->scale_x + g->x;
  gdouble y0 = (o->y - g->dst_y) * g->scale_y + g->y;
  gdouble x1 = x0 + o->width * g->scale_x, y1 = y0 + o->height * g->scale_y;
  x0 = CLAMP (x0, 0, meta->width);
  y0 = CLAMP (y0, 0, meta->height);
  o->x = x0;
  o->y = y0;
  o->width = CLAMP (x1, 0, meta->width) - x0;
  o->height = CLAMP (y1, 0, meta->height) - y0;
}

static const gchar *
label_of (GstNnDecode *self, const GstNnTensorMeta *meta, gint class_id)
{
  const gchar *label = gst_nn_description_get_label (self->override, class_id);
  return label ? label : gst_nn_description_get_label (meta->description, class_id);
}

/* For others: the region meta with DL Streamer's parameters. */
static void
add_region (GstBuffer *buffer, const GstNnObject *o, const GstNnResultMeta *result)
{
  const gchar *label = gst_nn_object_get_label (o), *model = gst_nn_object_get_model_name (o);
  gdouble x, y, width, height, w = MAX (result->width, 1), h = MAX (result->height, 1);
  GstVideoRegionOfInterestMeta *roi;
  gst_nn_object_get_box (o, &x, &y, &width, &height);
  roi = gst_buffer_add_video_region_of_interest_meta (buffer, label ? label : "object",
                                                      (guint)(x + 0.5), (guint)(y + 0.5),
                                                      (guint)(width + 0.5), (guint)(height + 0.5));
  roi->id = (gint)gst_nn_object_get_id (o);
  roi->parent_id = (gint)gst_nn_object_get_parent_id (o);
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new (
               "detection", "x_min", G_TYPE_DOUBLE, x / w, "x_max", G_TYPE_DOUBLE, (x + width) / w,
               "y_min", G_TYPE_DOUBLE, y / h, "y_max", G_TYPE_DOUBLE, (y + height) / h,
               "confidence", G_TYPE_DOUBLE, gst_nn_object_get_score (o), "label_id", G_TYPE_INT,
               gst_nn_object_get_class_id (o), "label", G_TYPE_STRING, label ? label : "object",
               "model_name", G_TYPE_STRING, model ? model : "", NULL));
}

/* The frame may have another size by now than it had when the model saw it. */
static void
attach_objects (GstNnDecode *self, GstBuffer *buffer, const GstNnTensorMeta *meta,
                GstNnResultMeta *result, const gchar *model)
{
  gdouble sx = meta->width > 0 ? (gdouble)result->width / meta->width : 1;
  gdouble sy = meta->height > 0 ? (gdouble)result->height / meta->height : 1;
  for (guint i = 0; i < self->objects->len; i++) {
    GstNnDetection d = g_array_index (self->objects, GstNnDetection, i);
    GstNnObject *o;
    to_frame (&d, meta);
    if (d.width <= 0 || d.height <= 0)
      continue;
    o = gst_nn_result_meta_add_object (result, 0);
    gst_nn_object_set_box (o, d.x * sx, d.y * sy, d.width * sx, d.height * sy);
    gst_nn_object_set_class (o, d.class_id, label_of (self, meta, d.class_id), d.score);
    gst_nn_object_set_origin (
        o, model, GST_CLOCK_TIME_IS_VALID (meta->pts) ? meta->pts : GST_BUFFER_PTS (buffer));
    add_region (buffer, o, result);
  }
}

static void
attach_classes (GstNnDecode *self, GstNnResultMeta *result, const GstNnTensorMeta *meta)
{
  const gchar *model = meta->description ? meta->description->model_name : NULL;
  for (guint i = 0; i < self->classes->len; i++) {
    const GstNnScore *c = &g_array_index (self->classes, GstNnScore, i);
    g_autoptr (GstNnAttribute) attribute = gst_nn_attribute_new (
        "classification", label_of (self, meta, c->class_id), c->class_id, c->score, model);
    gst_nn_object_add_attribute (gst_nn_result_meta_get_frame (result), attribute);
  }
}

static guint
count_labels (GstNnDecode *self, const GstNnDescription *described)
{
  if (self->override->labels != NULL)
    return g_strv_length (self->override->labels);
  return described != NULL && described->labels != NULL ? g_strv_length (described->labels) : 0;
}

static void
decode (GstNnDecode *self, const GstNnDecodeInput *in)
{
  gdouble iou;
  guint max;
  GST_OBJECT_LOCK (self);
  iou = self->iou_threshold;
  max = self->max_objects;
  GST_OBJECT_UNLOCK (self);
  g_array_set_size (self->objects, 0);
  g_array_set_size (self->classes, 0);
  self->choice.decoder->decode (in, self->objects, self->classes);
  gst_nn_suppress (self->objects, iou, max);
}

/* Results stay for frames that were not inferred. */
static void
hold_results (GstNnDecode *self, GstBuffer *buffer, const GstNnTensorMeta *meta, guint first)
{
  GstNnResultMeta *result = gst_buffer_get_nn_result_meta (buffer), *kept;
  GstNnObject *o;
  gst_clear_buffer (&self->held);
  self->held = gst_buffer_new ();
  GST_BUFFER_PTS (self->held) =
      GST_CLOCK_TIME_IS_VALID (meta->pts) ? meta->pts : GST_BUFFER_PTS (buffer);
  kept = gst_buffer_add_nn_result_meta (self->held, result->width, result->height);
  for (guint i = first; (o = gst_nn_result_meta_get_object (result, i)) != NULL; i++)
    gst_nn_result_meta_add_copy (kept, 0, o);
  attach_classes (self, kept, meta);
}

static void
attach_results (GstNnDecode *self, GstBuffer *buffer, const GstNnTensorMeta *meta)
{
  GstNnResultMeta *result = gst_buffer_add_nn_result_meta (buffer, meta->width, meta->height);
  guint first = gst_nn_result_meta_get_n_objects (result);
  attach_objects (self, buffer, meta, result,
                  meta->description ? meta->description->model_name : NULL);
  attach_classes (self, result, meta);
  hold_results (self, buffer, meta, first);
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

static void
reuse_results (GstNnDecode *self, GstBuffer *buffer)
{
  GstNnResultMeta *kept = gst_buffer_get_nn_result_meta (self->held);
  GstNnResultMeta *result = gst_buffer_add_nn_result_meta (buffer, kept->width, kept->height);
  GstNnAttribute *attribute;
  GstNnObject *o;
  for (guint i = 0; (o = gst_nn_result_meta_get_object (kept, i)) != NULL; i++)
    add_region (buffer, gst_nn_result_meta_add_copy (result, 0, o), result);
  o = gst_nn_result_meta_get_frame (kept);
  for (guint i = 0; (attribute = gst_nn_object_get_attribute (o, i)) != NULL; i++)
    gst_nn_object_add_attribute (gst_nn_result_meta_get_frame (result), attribute);
}

static GstFlowReturn
gst_nn_decode_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  GstNnDecode *self = (GstNnDecode *)base;
  GstNnTensorMeta *meta = gst_buffer_get_nn_tensor_meta (buffer);
  g_autoptr (GPtrArray) floats = NULL;
  GstNnDecodeInput in = { 0 };
  gboolean keep;
  if (meta == NULL || meta->tensors->len == 0) {
    if (is_fresh (self, buffer))
      reuse_results (self, buffer);
    return GST_FLOW_OK; /* a frame that was not inferred */
  }
  floats = as_floats (meta->tensors);
  GST_OBJECT_LOCK (self);
  in.threshold = self->threshold;
  keep = self->keep_tensors;
  GST_OBJECT_UNLOCK (self);
  in.tensors = floats;
  in.n_labels = count_labels (self, meta->description);
  in.width = meta->geometry.width;
  in.height = meta->geometry.height;
  if (!gst_nn_decoder_choice_holds (&self->choice, &in) &&
      !choose_decoder (self, &in, meta->description))
    return GST_FLOW_ERROR;
  if (self->choice.decoder != NULL) {
    decode (self, &in);
    attach_results (self, buffer, meta);
    GST_LOG_OBJECT (self, "%u objects, %u classes on %" GST_PTR_FORMAT, self->objects->len,
                    self->classes->len, buffer);
  }
  if (!keep)
    gst_buffer_remove_meta (buffer, (GstMeta *)meta);
  return GST_FLOW_OK;
}

/* New caps, new news. */
static gboolean
gst_nn_decode_set_caps (GstBaseTransform *base, G_GNUC_UNUSED GstCaps *in,
                        G_GNUC_UNUSED GstCaps *out)
{
  gst_nn_decoder_choice_clear (&((GstNnDecode *)base)->choice);
  gst_clear_buffer (&((GstNnDecode *)base)->held);
  return TRUE;
}

/* What was seen before a seek is not what is there after it. */
static gboolean
gst_nn_decode_sink_event (GstBaseTransform *base, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT || GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    gst_clear_buffer (&((GstNnDecode *)base)->held);
  return GST_BASE_TRANSFORM_CLASS (gst_nn_decode_parent_class)->sink_event (base, event);
}

static gboolean
gst_nn_decode_start (GstBaseTransform *base)
{
  GstNnDecode *self = (GstNnDecode *)base;
  g_autoptr (GError) error = NULL;
  self->override = gst_nn_model_props_describe (&self->props, NULL, NULL, &error);
  if (self->override != NULL && self->override->decoder != NULL &&
      gst_nn_decoder_find (self->override->decoder) == NULL) {
    g_autofree gchar *known = gst_nn_decoder_list ();
    g_set_error (&error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("there is no decoder \"%s\"; there are %s"), self->override->decoder, known);
  }
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
  gst_nn_decoder_choice_clear (&self->choice);
  gst_clear_buffer (&self->held);
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
  g_array_unref (self->objects);
  g_array_unref (self->classes);
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
  g_object_class_install_property (object_class, PROP_THRESHOLD,
                                   g_param_spec_double ("threshold", "Threshold",
                                                        _ ("Least score of a result"), 0, 1, 0.5,
                                                        playing));
  g_object_class_install_property (
      object_class, PROP_IOU,
      g_param_spec_double ("iou-threshold", "IoU threshold",
                           _ ("Overlap above which the weaker object of a class is dropped"), 0, 1,
                           0.45, playing));
  g_object_class_install_property (object_class, PROP_MAX,
                                   g_param_spec_uint ("max-objects", "Objects",
                                                      _ ("Most objects per frame"), 1, 10000, 100,
                                                      playing));
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
  gst_nn_model_props_install (object_class);
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
  self->threshold = 0.5;
  self->iou_threshold = 0.45;
  self->max_objects = 100;
  self->hold_time = GST_SECOND;
  self->objects = g_array_new (FALSE, TRUE, sizeof (GstNnDetection));
  self->classes = g_array_new (FALSE, TRUE, sizeof (GstNnScore));
  gst_nn_model_props_init (&self->props);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
