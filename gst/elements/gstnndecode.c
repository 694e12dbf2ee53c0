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
#include "decoders/gstnnresults.h"
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
  GArray *candidates;     /* scratch */
  GstClockTime hold_time; /* object lock */
  GstBuffer *held;        /* without data: the last results, as they were attached */
};

G_DECLARE_FINAL_TYPE (GstNnDecode, gst_nn_decode, GST, NN_DECODE, GstBaseTransform)
G_DEFINE_TYPE (GstNnDecode, gst_nn_decode, GST_TYPE_BASE_TRANSFORM)
GST_NN_ELEMENT_REGISTER_DEFINE (nndecode, gst_nn_decode_get_type ())

enum { PROP_THRESHOLD = 1, PROP_IOU, PROP_MAX, PROP_KEEP, PROP_HOLD_TIME };

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS (GST_NN_ANY_VIDEO_CAPS "; " GST_NN_TENSOR_TEMPLATE));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS (GST_NN_ANY_VIDEO_CAPS "; " GST_NN_TENSOR_TEMPLATE));

/* A new choice is news: a named decoder that does not exist or does not fit is an error, shapes
 * that no decoder knows a warning, once for each change of shapes. */
static gboolean
choose_decoder (GstNnDecode *self, const GstNnDecodeInput *in, const GstNnDescription *described)
{
  const gchar *name = self->override->decoder ? self->override->decoder
                      : described             ? described->decoder
                                              : NULL;
  g_autofree gchar *known = gst_nn_decoder_list ();
  g_autofree gchar *outputs = NULL;
  const GstNnDecoder *decoder = gst_nn_decoder_choose (&self->choice, in, name);
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

/* Labels that the properties say, else those of the description. */
static void
describe_labels (GstNnDecode *self, GstNnDecodeInput *in)
{
  gchar **labels = self->override->labels;
  if (labels == NULL && in->description != NULL)
    labels = in->description->labels;
  in->labels = (const gchar *const *)labels;
  in->n_labels = labels != NULL ? g_strv_length (labels) : 0;
}

/* Results stay, for frames that were not inferred. */
static void
decode (GstNnDecode *self, GstBuffer *buffer, const GstNnTensorMeta *meta,
        const GstNnDecodeInput *in)
{
  GstClockTime pts = GST_CLOCK_TIME_IS_VALID (meta->pts) ? meta->pts : GST_BUFFER_PTS (buffer);
  gdouble iou;
  guint max;
  GST_OBJECT_LOCK (self);
  iou = self->iou_threshold;
  max = self->max_objects;
  GST_OBJECT_UNLOCK (self);
  gst_clear_buffer (&self->held);
  self->held = gst_buffer_new ();
  GST_BUFFER_PTS (self->held) = pts;
  gst_nn_decode_into (gst_buffer_add_nn_result_meta (self->held, meta->width, meta->height),
                      self->choice.decoder, in, iou, max, pts, self->candidates);
  gst_nn_results_attach (buffer, self->held);
  GST_LOG_OBJECT (self, "%u candidates on %" GST_PTR_FORMAT, self->candidates->len, buffer);
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
      gst_nn_results_attach (buffer, self->held);
    return GST_FLOW_OK; /* a frame that was not inferred */
  }
  floats = as_floats (meta->tensors);
  GST_OBJECT_LOCK (self);
  in.threshold = self->threshold;
  keep = self->keep_tensors;
  GST_OBJECT_UNLOCK (self);
  in.tensors = floats;
  in.names = (const gchar *const *)meta->names;
  in.description = meta->description;
  in.model_name = meta->description ? meta->description->model_name : NULL;
  describe_labels (self, &in);
  gst_nn_decode_input_place (&in, meta);
  if (!gst_nn_decoder_choice_holds (&self->choice, &in) &&
      !choose_decoder (self, &in, meta->description))
    return GST_FLOW_ERROR;
  if (self->choice.decoder != NULL)
    decode (self, buffer, meta, &in);
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
  g_array_unref (self->candidates);
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
  self->candidates = g_array_new (FALSE, TRUE, sizeof (GstNnDetection));
  gst_nn_model_props_init (&self->props);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
