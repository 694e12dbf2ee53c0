/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nnrecord
 * @title: nnrecord
 *
 * Makes a stream of records of a stream of frames: ONVIF's metadata or JSON, as the caps behind it
 * say. A frame of which nothing was said is a gap.
 *
 * |[
 * ... ! nndecode ! tee name=t  t. ! queue ! nnrecord ! application/x-onvif-metadata,parsed=true !
 *   rtponvifmetadatapay ! ...
 * ]|
 *
 * Threads: streaming thread.
 */
#include "gstnnelement.h"
#include "record/gstnnrecord.h"

#include <gst/base/gstbasetransform.h>

GST_DEBUG_CATEGORY_STATIC (gst_nn_record_debug);
#define GST_CAT_DEFAULT gst_nn_record_debug

static const struct {
  const gchar *media_type;
  GstNnRecordFunc write;
} formats[] = {
  { "application/x-onvif-metadata", gst_nn_record_onvif },
  { "application/json", gst_nn_record_new },
};

struct _GstNnRecordElement {
  GstBaseTransform parent_instance;
  GstNnRecordFunc write; /* streaming thread */
  guint64 n_frames;      /* streaming thread */
};

typedef struct _GstNnRecordElement GstNnRecordElement;
typedef struct {
  GstBaseTransformClass parent_class;
} GstNnRecordElementClass;

GType gst_nn_record_element_get_type (void);
G_DEFINE_TYPE (GstNnRecordElement, gst_nn_record_element, GST_TYPE_BASE_TRANSFORM)
GST_NN_ELEMENT_REGISTER_DEFINE (nnrecord, gst_nn_record_element_get_type ())

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS ("application/x-onvif-metadata,parsed=(boolean)true; "
                                              "application/json"));

static GstCaps *
gst_nn_record_transform_caps (GstBaseTransform *base, GstPadDirection direction,
                              G_GNUC_UNUSED GstCaps *caps, GstCaps *filter)
{
  GstPad *other = direction == GST_PAD_SINK ? base->srcpad : base->sinkpad;
  GstCaps *all = gst_pad_get_pad_template_caps (other);
  GstCaps *some = filter ? gst_caps_intersect_full (filter, all, GST_CAPS_INTERSECT_FIRST) : NULL;
  if (some == NULL)
    return all;
  gst_caps_unref (all);
  return some;
}

static gboolean
gst_nn_record_set_caps (GstBaseTransform *base, G_GNUC_UNUSED GstCaps *in, GstCaps *out)
{
  GstNnRecordElement *self = (GstNnRecordElement *)base;
  const GstStructure *s = gst_caps_get_structure (out, 0);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (gst_structure_has_name (s, formats[i].media_type))
      self->write = formats[i].write;
  return TRUE;
}

/* The record is the output. */
static GstFlowReturn
gst_nn_record_prepare_output_buffer (GstBaseTransform *base, GstBuffer *in, GstBuffer **out)
{
  GstNnRecordElement *self = (GstNnRecordElement *)base;
  GstNnResultMeta *meta = gst_buffer_get_nn_result_meta (in);
  GstNnRecordInfo info = { NULL };
  gchar *record;
  gst_nn_record_info_fill (&info, &base->segment, in, ++self->n_frames);
  if (meta == NULL && info.scene == NULL) {
    gst_nn_warn_if_undecoded (GST_ELEMENT (self), in);
    if (GST_BUFFER_PTS_IS_VALID (in))
      gst_pad_push_event (base->srcpad,
                          gst_event_new_gap (GST_BUFFER_PTS (in), GST_BUFFER_DURATION (in)));
    return GST_BASE_TRANSFORM_FLOW_DROPPED;
  }
  record = self->write (meta, &info);
  *out = gst_buffer_new_wrapped (record, strlen (record));
  gst_buffer_copy_into (*out, in, GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_FLAGS, 0, -1);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_nn_record_transform (G_GNUC_UNUSED GstBaseTransform *base, G_GNUC_UNUSED GstBuffer *in,
                         G_GNUC_UNUSED GstBuffer *out)
{
  return GST_FLOW_OK;
}

static gboolean
gst_nn_record_start (GstBaseTransform *base)
{
  ((GstNnRecordElement *)base)->n_frames = 0;
  return TRUE;
}

static void
gst_nn_record_element_class_init (GstNnRecordElementClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (gst_nn_record_debug, "nnrecord", 0, "records of frames");
  base->start = gst_nn_record_start;
  base->transform_caps = gst_nn_record_transform_caps;
  base->set_caps = gst_nn_record_set_caps;
  base->prepare_output_buffer = gst_nn_record_prepare_output_buffer;
  base->transform = gst_nn_record_transform;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Makes records of results", "Generic",
                                         "Turns frames into ONVIF's metadata or JSON",
                                         "The Axon developers");
}

static void
gst_nn_record_element_init (GstNnRecordElement *self)
{
  self->write = formats[0].write;
}
