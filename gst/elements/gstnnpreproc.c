/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nnpreproc
 * @title: nnpreproc
 *
 * Turns video frames into the tensor that a model wants: one pass for crop, scale, letterbox,
 * colour, mean and scale. Size and type come from downstream's caps, else from the model, else from
 * width and height, else from the frame.
 *
 * |[
 * gst-launch-1.0 filesrc location=video.mp4 ! decodebin ! nnpreproc mean="<127>" scale="<128>" !
 *     nninfer model=face.onnx ! nndecode ! nnpublish ! fakesink
 * ]|
 *
 * Threads: everything in the streaming thread.
 */
#include "gstnnelement.h"
#include "gstnnmodelprops.h"
#include "caps/gstnncaps.h"
#include "frame/gstnnframe.h"
#include "frame/gstnntensors.h"
#include "infer/gstnnload.h"

#include <gst/base/gstbasetransform.h>
#include <string.h>

GST_DEBUG_CATEGORY_STATIC (gst_nn_preproc_debug);
#define GST_CAT_DEFAULT gst_nn_preproc_debug

struct _GstNnPreproc {
  GstBaseTransform parent_instance;
  gchar *model_path, *device; /* object lock */
  GstNnModelProps props;      /* object lock */
  GstNnDescription *description;
  AxonModel *model; /* NULL: none was named */
  GstVideoInfo video;
  AxonInferRequest *request;
  gint width, height; /* of the tensor */
};

G_DECLARE_FINAL_TYPE (GstNnPreproc, gst_nn_preproc, GST, NN_PREPROC, GstBaseTransform)
G_DEFINE_TYPE (GstNnPreproc, gst_nn_preproc, GST_TYPE_BASE_TRANSFORM)
GST_NN_ELEMENT_REGISTER_DEFINE (nnpreproc, gst_nn_preproc_get_type ())

enum { PROP_MODEL = 1, PROP_DEVICE };

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_NN_VIDEO_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_NN_TENSOR_TEMPLATE));

static GstCaps *
gst_nn_preproc_transform_caps (GstBaseTransform *base, GstPadDirection direction,
                               G_GNUC_UNUSED GstCaps *caps, GstCaps *filter)
{
  GstPad *other = direction == GST_PAD_SINK ? base->srcpad : base->sinkpad;
  g_autoptr (GstCaps) all = gst_pad_get_pad_template_caps (other);
  return filter ? gst_caps_intersect_full (filter, all, GST_CAPS_INTERSECT_FIRST)
                : g_steal_pointer (&all);
}

/* The tensor that leaves. */
typedef struct {
  AxonDType dtype;
  AxonPictureShape picture;
} Target;

static gboolean
target_from_caps (GstNnPreproc *self, GstCaps *caps, Target *t, GError **error)
{
  g_autoptr (GArray) types = g_array_new (FALSE, FALSE, sizeof (AxonDType));
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (AxonShape));
  if (!gst_nn_tensor_caps_parse (caps, types, shapes, error))
    return FALSE;
  t->dtype = g_array_index (types, AxonDType, 0);
  if (axon_picture_shape_init (&t->picture, &g_array_index (shapes, AxonShape, 0),
                               self->description->color, NULL) &&
      types->len == 1)
    return TRUE;
  g_autofree gchar *text = gst_caps_to_string (caps);
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
               _ ("caps %s are no picture tensor: expected width:height:%d:1 or %d:width:height:1"),
               text, t->picture.channels, t->picture.channels);
  return FALSE;
}

/* The tensor that the model wants, else an RGB or gray one of floats; free sizes are -1. */
static void
find_model_input (GstNnPreproc *self, AxonDType *type, AxonPictureShape *picture)
{
  const gchar *color = self->description->color;
  AxonShape any = AXON_SHAPE (1, -1, -1, -1);
  *type = AXON_DTYPE_F32;
  if (self->model == NULL) {
    axon_picture_shape_init (picture, &any, color, NULL);
    return;
  }
  *type = axon_model_get_input_dtype (self->model, 0);
  axon_picture_shape_init (picture, axon_model_get_input_shape (self->model, 0), color, NULL);
}

static gint
choose_size (gint of_model, gint of_description, gint of_frame, gint other_of_frame,
             gint other_of_model)
{
  return of_model > 0         ? of_model
         : of_description > 0 ? of_description
                              : gst_nn_frame_choose_size (of_frame, other_of_frame, other_of_model);
}

/* Type and dimensions where downstream left them open. */
static void
set_own_dimensions (GstNnPreproc *self, const GstStructure *in, GstStructure *s)
{
  const GstNnDescription *d = self->description;
  AxonPictureShape p;
  AxonDType type;
  gint width = 0, height = 0, given[2];
  gst_structure_get_int (in, "width", &width);
  gst_structure_get_int (in, "height", &height);
  find_model_input (self, &type, &p);
  given[0] = p.width;
  given[1] = p.height;
  p.width = choose_size (given[0], d->width, width, height, given[1]);
  p.height = choose_size (given[1], d->height, height, width, given[0]);
  AxonShape shape = p.channels_last ? AXON_SHAPE (1, p.height, p.width, p.channels)
                                    : AXON_SHAPE (1, p.channels, p.height, p.width);
  g_autoptr (GstCaps) own = gst_nn_tensor_caps_new (1, &type, &shape);
  GstStructure *o = gst_caps_get_structure (own, 0);
  gst_structure_set (s, "num_tensors", G_TYPE_INT, 1, "types", G_TYPE_STRING,
                     gst_structure_get_string (o, "types"), "dimensions", G_TYPE_STRING,
                     gst_structure_get_string (o, "dimensions"), NULL);
}

static GstCaps *
gst_nn_preproc_fixate_caps (GstBaseTransform *base, G_GNUC_UNUSED GstPadDirection direction,
                            GstCaps *caps, GstCaps *othercaps)
{
  GstNnPreproc *self = (GstNnPreproc *)base;
  GstStructure *in = gst_caps_get_structure (caps, 0), *s;
  gint num, den;
  othercaps = gst_caps_make_writable (gst_caps_truncate (othercaps));
  s = gst_caps_get_structure (othercaps, 0);
  if (!gst_structure_has_name (s, "other/tensors"))
    return gst_caps_fixate (othercaps);
  if (!gst_structure_has_field (s, "dimensions"))
    set_own_dimensions (self, in, s);
  if (!gst_structure_get_fraction (in, "framerate", &num, &den)) {
    num = 0;
    den = 1;
  }
  gst_structure_set (s, "framerate", GST_TYPE_FRACTION, num, den, NULL);
  return gst_caps_fixate (othercaps);
}

static gboolean
compile (GstNnPreproc *self, const Target *t, GError **error)
{
  g_autoptr (AxonPreprocess) pp = gst_nn_preprocess_new (self->description);
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autofree gchar *steps = NULL;
  axon_preprocess_set_size (pp, t->picture.width, t->picture.height);
  axon_preprocess_set_dtype (pp, t->dtype);
  axon_preprocess_set_layout (pp, t->picture.channels_last ? "nhwc" : "nchw");
  model = axon_preprocess_build (pp, NULL, 0, error);
  compiled = model ? axon_core_compile_model (axon_core_get_default (), model, self->device, NULL,
                                              NULL, NULL, NULL, error)
                   : NULL;
  if (compiled == NULL)
    return FALSE;
  g_clear_object (&self->request);
  self->request = axon_compiled_model_create_infer_request (compiled);
  self->width = t->picture.width;
  self->height = t->picture.height;
  steps = axon_preprocess_to_string (pp);
  GST_DEBUG_OBJECT (self, "%dx%d %s%s on %s: %s", self->width, self->height,
                    axon_dtype_get_name (t->dtype),
                    t->picture.channels_last ? ", channels last" : "", self->device, steps);
  return TRUE;
}

static gboolean
gst_nn_preproc_set_caps (GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
  GstNnPreproc *self = (GstNnPreproc *)base;
  g_autoptr (GError) error = NULL;
  Target target;
  if (gst_nn_video_set_caps (&self->video, GST_ELEMENT (self), in, &error) &&
      target_from_caps (self, out, &target, &error) && compile (self, &target, &error))
    return TRUE;
  gst_nn_post_error (GST_ELEMENT (self), error);
  return FALSE;
}

/* Frames may lie anywhere in their memory, and show less than they have. */
static gboolean
gst_nn_preproc_propose_allocation (GstBaseTransform *base, GstQuery *decide, GstQuery *query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_add_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL);
  return GST_BASE_TRANSFORM_CLASS (gst_nn_preproc_parent_class)
      ->propose_allocation (base, decide, query);
}

/* The output tensor is the output buffer's memory. */
static GstFlowReturn
gst_nn_preproc_prepare_output_buffer (G_GNUC_UNUSED GstBaseTransform *base,
                                      G_GNUC_UNUSED GstBuffer *in, GstBuffer **out)
{
  *out = gst_buffer_new ();
  return GST_FLOW_OK;
}

static gboolean
run (GstNnPreproc *self, GstBuffer *in, GstNnFrame *frame, GError **error)
{
  return gst_nn_frame_bind (frame, &self->video, in, self->request, 0, error) &&
         axon_infer_request_infer (self->request, error);
}

static GstFlowReturn
gst_nn_preproc_transform (GstBaseTransform *base, GstBuffer *in, GstBuffer *out)
{
  GstNnPreproc *self = (GstNnPreproc *)base;
  g_autoptr (AxonTensor) tensor = NULL;
  g_autoptr (GError) error = NULL;
  GstNnFrame frame = { 0 };
  GstNnTensorMeta *meta;
  gboolean ok;
  GST_LOG_OBJECT (self, "%" GST_PTR_FORMAT, in);
  ok = run (self, in, &frame, &error);
  gst_nn_frame_unmap (&frame);
  if (!ok) {
    gst_nn_post_error (GST_ELEMENT (self), error);
    return GST_FLOW_ERROR;
  }
  tensor = axon_infer_request_get_output_tensor (self->request, 0);
  gst_nn_buffer_append_tensor (out, tensor);
  gst_buffer_copy_into (out, in, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  meta = gst_buffer_add_nn_tensor_meta (out);
  gst_nn_frame_describe (&frame, self->description, self->width, self->height, meta);
  return GST_FLOW_OK;
}

static gboolean
check_model (GstNnPreproc *self, GError **error)
{
  AxonPictureShape picture;
  g_autofree gchar *text = NULL;
  if (axon_model_get_n_inputs (self->model) == 0) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("%s has no input"), self->model_path);
    return FALSE;
  }
  text = axon_shape_to_string (axon_model_get_input_shape (self->model, 0));
  if (axon_picture_shape_init (&picture, axon_model_get_input_shape (self->model, 0),
                               self->description->color, NULL))
    return TRUE;
  g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
               _ ("%s: input \"%s\" has shape %s, which holds no picture of color %s"),
               self->model_path, axon_model_get_input_name (self->model, 0), text,
               self->description->color);
  return FALSE;
}

static gboolean
open_model (GstNnPreproc *self, GError **error)
{
  if (self->model_path != NULL) {
    self->model = gst_nn_load_model (self->model_path, error);
    if (self->model == NULL)
      return FALSE;
  }
  self->description =
      gst_nn_model_props_describe (&self->props, self->model_path, self->model, error);
  return self->description != NULL && (self->model == NULL || check_model (self, error));
}

static gboolean
gst_nn_preproc_stop (GstBaseTransform *base)
{
  GstNnPreproc *self = (GstNnPreproc *)base;
  g_clear_object (&self->request);
  g_clear_object (&self->model);
  g_clear_pointer (&self->description, gst_nn_description_unref);
  memset (&self->video, 0, sizeof self->video);
  return TRUE;
}

static gboolean
gst_nn_preproc_start (GstBaseTransform *base)
{
  GstNnPreproc *self = (GstNnPreproc *)base;
  g_autoptr (GError) error = NULL;
  if (open_model (self, &error))
    return TRUE;
  gst_nn_preproc_stop (base);
  gst_nn_post_error (GST_ELEMENT (self), error);
  return FALSE;
}

static void
gst_nn_preproc_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstNnPreproc *self = (GstNnPreproc *)object;
  gchar **text = id == PROP_MODEL ? &self->model_path : id == PROP_DEVICE ? &self->device : NULL;
  GST_OBJECT_LOCK (self);
  if (text != NULL) {
    g_free (*text);
    *text = g_value_dup_string (value);
  } else if (!gst_nn_model_props_set (&self->props, id, value)) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_preproc_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstNnPreproc *self = (GstNnPreproc *)object;
  GST_OBJECT_LOCK (self);
  if (id == PROP_MODEL || id == PROP_DEVICE)
    g_value_set_string (value, id == PROP_MODEL ? self->model_path : self->device);
  else if (!gst_nn_model_props_get (&self->props, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_preproc_finalize (GObject *object)
{
  GstNnPreproc *self = (GstNnPreproc *)object;
  g_free (self->model_path);
  g_free (self->device);
  gst_nn_model_props_clear (&self->props);
  G_OBJECT_CLASS (gst_nn_preproc_parent_class)->finalize (object);
}

static void
gst_nn_preproc_class_init (GstNnPreprocClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS (klass);
  GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
  GST_DEBUG_CATEGORY_INIT (gst_nn_preproc_debug, "nnpreproc", 0, "frames to tensors");
  object_class->set_property = gst_nn_preproc_set_property;
  object_class->get_property = gst_nn_preproc_get_property;
  object_class->finalize = gst_nn_preproc_finalize;
  g_object_class_install_property (
      object_class, PROP_MODEL,
      g_param_spec_string (
          "model", "Model",
          _ ("Model whose input to make: ONNX file, or .axon file that axon-compile wrote"), NULL,
          ready));
  g_object_class_install_property (
      object_class, PROP_DEVICE,
      g_param_spec_string (
          "device", "Device",
          _ ("Device that prepares the pictures, such as CPU or GPU; axon-inspect lists devices"),
          "CPU", ready));
  gst_nn_model_props_install (object_class, GST_NN_MODEL_PICTURES, GST_PARAM_MUTABLE_READY);
  base->transform_caps = gst_nn_preproc_transform_caps;
  base->fixate_caps = gst_nn_preproc_fixate_caps;
  base->set_caps = gst_nn_preproc_set_caps;
  base->propose_allocation = gst_nn_preproc_propose_allocation;
  base->prepare_output_buffer = gst_nn_preproc_prepare_output_buffer;
  base->transform = gst_nn_preproc_transform;
  base->start = gst_nn_preproc_start;
  base->stop = gst_nn_preproc_stop;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (
      element_class, "Frames to tensors", "Filter/Converter/Video",
      "Scales and normalises frames for a model", "The Axon developers");
}

static void
gst_nn_preproc_init (GstNnPreproc *self)
{
  self->device = g_strdup ("CPU");
  gst_nn_model_props_init (&self->props);
}
