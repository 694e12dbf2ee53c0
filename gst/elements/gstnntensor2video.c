/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nntensor2video
 * @title: nntensor2video
 *
 * Makes video of what a model draws: super-resolution, low light, style. Takes frames with the raw
 * outputs that nninfer attached, or tensors; the first output that is a picture ([1,C,H,W] or
 * [1,H,W,C] with 1, 3 or 4 channels) becomes a frame of its own size, with the time and rate of the
 * frame that it was made of. The bars of a letterbox are left out.
 *
 * |[
 * gst-launch-1.0 filesrc location=cat.png ! pngdec ! videoconvert !
 *     nninfer model=superres.onnx color=gray scale="<255>" ! nntensor2video ! videoconvert !
 * autovideosink
 * ]|
 *
 * One channel is luma: where the frames have colour, it gets theirs, scaled to its size, as I420;
 * with keep-chroma=false, and from tensors, it is GRAY8. What the model's description calls a matte
 * is GRAY8, white where all of a pixel is the person. Frames without outputs, which nninfer left
 * out, repeat the last picture.
 *
 * Threads: everything in the streaming thread; properties may change at any time.
 */
#include "caps/gstnncaps.h"
#include "frame/gstnntensorpicture.h"
#include "frame/gstnntensors.h"
#include "gstnnelement.h"

GST_DEBUG_CATEGORY_STATIC (gst_nn_tensor_2_video_debug);
#define GST_CAT_DEFAULT gst_nn_tensor_2_video_debug

struct _GstNnTensor2Video {
  GstElement parent_instance;
  GstPad *sink, *src;
  GstNnPictureRange range; /* object lock */
  gboolean keep_chroma;    /* object lock */
  /* streaming thread */
  GstSegment segment;
  GstCaps *caps;   /* of the sink */
  GstVideoInfo in; /* of video; format unknown: tensors come */
  gint fps_n, fps_d;
  GArray *types, *shapes; /* of tensors */
  GQueue waiting;   /* GstEvent: sticky ones that come after the caps, which wait for a tensor */
  GstVideoInfo out; /* format unknown: no caps yet */
  GstBufferPool *pool;
  GstVideoConverter *converter; /* of chroma */
  GstBuffer *last;
  gboolean warned;
};

G_DECLARE_FINAL_TYPE (GstNnTensor2Video, gst_nn_tensor_2_video, GST, NN_TENSOR_2_VIDEO, GstElement)
G_DEFINE_TYPE (GstNnTensor2Video, gst_nn_tensor_2_video, GST_TYPE_ELEMENT)
GST_NN_ELEMENT_REGISTER_DEFINE (nntensor2video, gst_nn_tensor_2_video_get_type ())

enum { PROP_RANGE = 1, PROP_KEEP_CHROMA };

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw; " GST_NN_TENSOR_TEMPLATE));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY8, I420, RGB, BGR, RGBA, BGRA }")));

static GType
range_get_type (void)
{
  static GEnumValue values[] = {
    { GST_NN_PICTURE_RANGE_AUTO, N_ ("that of the model's input"), "auto" },
    { GST_NN_PICTURE_RANGE_UNIT, N_ ("0 to 1"), "unit" },
    { GST_NN_PICTURE_RANGE_BYTE, N_ ("0 to 255"), "byte" },
    { GST_NN_PICTURE_RANGE_SIGNED, N_ ("-1 to 1"), "signed" },
    { 0, NULL, NULL },
  };
  static gsize type;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_nn_enum_register ("GstNnPictureRange", values));
  return type;
}

static void
forget_output (GstNnTensor2Video *self)
{
  if (self->pool != NULL)
    gst_buffer_pool_set_active (self->pool, FALSE);
  gst_clear_object (&self->pool);
  g_clear_pointer (&self->converter, gst_video_converter_free);
  gst_clear_buffer (&self->last);
  gst_video_info_init (&self->out);
}

static gboolean
take_caps (GstNnTensor2Video *self, GstCaps *caps)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  g_autoptr (GError) error = NULL;
  if (self->caps != NULL && gst_caps_is_equal (self->caps, caps))
    return TRUE;
  gst_caps_replace (&self->caps, caps);
  forget_output (self);
  gst_video_info_init (&self->in);
  g_array_set_size (self->types, 0);
  g_array_set_size (self->shapes, 0);
  if (!gst_structure_get_fraction (s, "framerate", &self->fps_n, &self->fps_d)) {
    self->fps_n = 0;
    self->fps_d = 1;
  }
  if (gst_structure_has_name (s, "video/x-raw"))
    return gst_video_info_from_caps (&self->in, caps);
  if (gst_nn_tensor_caps_parse (caps, self->types, self->shapes, &error))
    return TRUE;
  gst_nn_post_error (GST_ELEMENT (self), error);
  return FALSE;
}

/* Downstream's pool, or one of our own. */
static gboolean
make_pool (GstNnTensor2Video *self, GstCaps *caps)
{
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  guint size = (guint)self->out.size, least = 2, most = 0;
  GstStructure *config;
  if (gst_pad_peer_query (self->src, query) && gst_query_get_n_allocation_pools (query) > 0)
    gst_query_parse_nth_allocation_pool (query, 0, &self->pool, &size, &least, &most);
  gst_query_unref (query);
  if (self->pool == NULL)
    self->pool = gst_video_buffer_pool_new ();
  size = MAX (size, (guint)self->out.size);
  config = gst_buffer_pool_get_config (self->pool);
  gst_buffer_pool_config_set_params (config, caps, size, least, most);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  return gst_buffer_pool_set_config (self->pool, config) &&
         gst_buffer_pool_set_active (self->pool, TRUE);
}

static gboolean
negotiate (GstNnTensor2Video *self, const GstVideoInfo *info)
{
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (info);
  GstEvent *event;
  forget_output (self);
  GST_DEBUG_OBJECT (self, "%" GST_PTR_FORMAT, caps);
  if (!gst_pad_push_event (self->src, gst_event_new_caps (caps)))
    return FALSE;
  self->out = *info;
  while ((event = g_queue_pop_head (&self->waiting)) != NULL)
    gst_pad_push_event (self->src, event);
  if (GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_I420)
    self->converter = gst_video_converter_new (&self->in, info, NULL);
  return make_pool (self, caps) &&
         (self->converter != NULL || GST_VIDEO_INFO_FORMAT (info) != GST_VIDEO_FORMAT_I420);
}

/* The frame in the picture's size: its chroma stays. */
static gboolean
draw_chroma (GstNnTensor2Video *self, GstBuffer *from, GstVideoFrame *to)
{
  GstVideoFrame frame;
  if (!gst_video_frame_map (&frame, &self->in, from, GST_MAP_READ))
    return FALSE;
  gst_video_converter_frame (self->converter, &frame, to);
  gst_video_frame_unmap (&frame);
  return TRUE;
}

/* Times, and results in the picture's size. */
static void
copy_metadata (GstNnTensor2Video *self, GstBuffer *from, GstBuffer *to)
{
  GstNnResultMeta *results = gst_buffer_get_nn_result_meta (from);
  gst_buffer_copy_into (to, from, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  if (results != NULL && GST_VIDEO_INFO_FORMAT (&self->in) != GST_VIDEO_FORMAT_UNKNOWN)
    gst_nn_result_meta_append (gst_buffer_add_nn_result_meta (to, GST_VIDEO_INFO_WIDTH (&self->out),
                                                              GST_VIDEO_INFO_HEIGHT (&self->out)),
                               results);
}

static GstFlowReturn
push_picture (GstNnTensor2Video *self, GstBuffer *from, const GstNnTensorPicture *picture)
{
  GstBuffer *to = NULL;
  GstVideoFrame frame;
  gboolean ok = TRUE;
  GstFlowReturn flow = gst_buffer_pool_acquire_buffer (self->pool, &to, NULL);
  if (flow != GST_FLOW_OK)
    return flow;
  if (!gst_video_frame_map (&frame, &self->out, to, GST_MAP_WRITE)) {
    gst_buffer_unref (to);
    return GST_FLOW_ERROR;
  }
  if (self->converter != NULL)
    ok = draw_chroma (self, from, &frame);
  gst_nn_tensor_picture_write (picture, &frame);
  gst_video_frame_unmap (&frame);
  if (!ok) {
    GST_ELEMENT_ERROR (self, STREAM, FAILED,
                       (_ ("the frame cannot be mapped: its buffer does not fit the caps")),
                       (NULL));
    gst_buffer_unref (to);
    return GST_FLOW_ERROR;
  }
  copy_metadata (self, from, to);
  gst_buffer_replace (&self->last, to);
  return gst_pad_push (self->src, to);
}

static GstFlowReturn
repeat_last (GstNnTensor2Video *self, GstBuffer *frame)
{
  GstBuffer *copy;
  if (self->last == NULL) {
    if (!self->warned)
      GST_ELEMENT_WARNING (self, STREAM, DECODE,
                           (_ ("frames come without outputs of a model and are dropped: put "
                               "nninfer before; nndecode passes them with keep-tensors=true")),
                           (NULL));
    self->warned = TRUE;
    return GST_FLOW_OK;
  }
  copy = gst_buffer_copy (self->last);
  gst_buffer_copy_into (copy, frame, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  return gst_pad_push (self->src, copy);
}

static GstFlowReturn
complain (GstNnTensor2Video *self, GPtrArray *tensors)
{
  g_autoptr (GString) got = g_string_new (NULL);
  for (guint i = 0; i < tensors->len; i++) {
    g_autofree gchar *shape =
        axon_shape_to_string (axon_tensor_get_shape (g_ptr_array_index (tensors, i)));
    g_string_append_printf (got, "%s%s", i > 0 ? " " : "", shape);
  }
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
                     (_ ("no output is a picture: expected [1,C,H,W] or [1,H,W,C] with 1, 3 or 4 "
                         "channels, got %s"),
                      got->str),
                     (NULL));
  return GST_FLOW_ERROR;
}

static GstFlowReturn
show (GstNnTensor2Video *self, GstBuffer *buffer, GPtrArray *tensors)
{
  const GstNnTensorMeta *meta = gst_buffer_get_nn_tensor_meta (buffer);
  GstFlowReturn flow = GST_FLOW_NOT_NEGOTIATED;
  GstNnPictureRange range;
  GstNnTensorPicture picture;
  GstVideoInfo info;
  gboolean keep_chroma;
  GST_OBJECT_LOCK (self);
  range = self->range;
  keep_chroma = self->keep_chroma;
  GST_OBJECT_UNLOCK (self);
  if (!gst_nn_tensor_picture_init (&picture, tensors, meta, range))
    return complain (self, tensors);
  info = gst_nn_tensor_picture_describe (&picture, &self->in, meta ? &meta->geometry : NULL,
                                         keep_chroma);
  info.fps_n = self->fps_n;
  info.fps_d = self->fps_d;
  if (gst_pad_check_reconfigure (self->src) || !gst_video_info_is_equal (&info, &self->out)) {
    if (negotiate (self, &info))
      flow = push_picture (self, buffer, &picture);
    else
      gst_pad_mark_reconfigure (self->src);
  } else {
    flow = push_picture (self, buffer, &picture);
  }
  gst_nn_tensor_picture_clear (&picture);
  return flow;
}

static GstFlowReturn
gst_nn_tensor_2_video_chain (G_GNUC_UNUSED GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstNnTensor2Video *self = (GstNnTensor2Video *)parent;
  g_auto (GStrv) names = NULL;
  g_autoptr (GPtrArray) tensors = NULL;
  GstFlowReturn flow;
  gst_nn_sync_values (GST_ELEMENT (self), &self->segment, buffer);
  tensors = gst_nn_buffer_get_tensors (buffer, self->types, self->shapes, &names);
  flow = tensors->len > 0 || self->types->len > 0 ? show (self, buffer, tensors)
                                                  : repeat_last (self, buffer);
  gst_buffer_unref (buffer);
  return flow;
}

/* Caps wait for the first picture, and what must come after them does. */
static gboolean
gst_nn_tensor_2_video_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstNnTensor2Video *self = (GstNnTensor2Video *)parent;
  gboolean has_caps = GST_VIDEO_INFO_FORMAT (&self->out) != GST_VIDEO_FORMAT_UNKNOWN;
  GstEventType type = GST_EVENT_TYPE (event);
  if (type == GST_EVENT_CAPS) {
    GstCaps *caps;
    gboolean ok;
    gst_event_parse_caps (event, &caps);
    ok = take_caps (self, caps);
    gst_event_unref (event);
    return ok;
  }
  if (type == GST_EVENT_SEGMENT)
    gst_event_copy_segment (event, &self->segment);
  if (type == GST_EVENT_FLUSH_STOP) {
    g_queue_clear_full (&self->waiting, (GDestroyNotify)gst_event_unref);
    gst_clear_buffer (&self->last);
  }
  if (!has_caps && GST_EVENT_IS_STICKY (event) && type > GST_EVENT_CAPS && type != GST_EVENT_EOS) {
    g_queue_push_tail (&self->waiting, event);
    return TRUE;
  }
  if (!has_caps && type == GST_EVENT_GAP) {
    gst_event_unref (event);
    return TRUE;
  }
  return gst_pad_event_default (pad, parent, event);
}

/* Sizes and memory of the two sides have nothing to do with each other. */
static gboolean
gst_nn_tensor_2_video_sink_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstCaps *filter, *caps;
  if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION)
    return FALSE;
  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS)
    return gst_pad_query_default (pad, parent, query);
  gst_query_parse_caps (query, &filter);
  caps = gst_pad_get_pad_template_caps (pad);
  if (filter != NULL) {
    GstCaps *both = gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
    gst_caps_replace (&caps, both);
    gst_caps_unref (both);
  }
  gst_query_set_caps_result (query, caps);
  gst_caps_unref (caps);
  return TRUE;
}

static GstStateChangeReturn
gst_nn_tensor_2_video_change_state (GstElement *element, GstStateChange transition)
{
  GstNnTensor2Video *self = (GstNnTensor2Video *)element;
  GstStateChangeReturn result =
      GST_ELEMENT_CLASS (gst_nn_tensor_2_video_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    forget_output (self);
    gst_caps_replace (&self->caps, NULL);
    g_queue_clear_full (&self->waiting, (GDestroyNotify)gst_event_unref);
    gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
    self->warned = FALSE;
  }
  return result;
}

static void
gst_nn_tensor_2_video_set_property (GObject *object, guint id, const GValue *value,
                                    GParamSpec *pspec)
{
  GstNnTensor2Video *self = (GstNnTensor2Video *)object;
  GST_OBJECT_LOCK (self);
  if (id == PROP_RANGE)
    self->range = (GstNnPictureRange)g_value_get_enum (value);
  else if (id == PROP_KEEP_CHROMA)
    self->keep_chroma = g_value_get_boolean (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_tensor_2_video_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstNnTensor2Video *self = (GstNnTensor2Video *)object;
  GST_OBJECT_LOCK (self);
  if (id == PROP_RANGE)
    g_value_set_enum (value, self->range);
  else if (id == PROP_KEEP_CHROMA)
    g_value_set_boolean (value, self->keep_chroma);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_tensor_2_video_finalize (GObject *object)
{
  GstNnTensor2Video *self = (GstNnTensor2Video *)object;
  forget_output (self);
  gst_caps_replace (&self->caps, NULL);
  g_queue_clear_full (&self->waiting, (GDestroyNotify)gst_event_unref);
  g_array_unref (self->types);
  g_array_unref (self->shapes);
  G_OBJECT_CLASS (gst_nn_tensor_2_video_parent_class)->finalize (object);
}

static void
gst_nn_tensor_2_video_class_init (GstNnTensor2VideoClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING |
                        GST_PARAM_CONTROLLABLE;
  GST_DEBUG_CATEGORY_INIT (gst_nn_tensor_2_video_debug, "nntensor2video", 0, "tensors to video");
  object_class->set_property = gst_nn_tensor_2_video_set_property;
  object_class->get_property = gst_nn_tensor_2_video_get_property;
  object_class->finalize = gst_nn_tensor_2_video_finalize;
  g_object_class_install_property (
      object_class, PROP_RANGE,
      g_param_spec_enum ("range", "Range", _ ("What numbers are black and white"),
                         range_get_type (), GST_NN_PICTURE_RANGE_AUTO, playing));
  g_object_class_install_property (
      object_class, PROP_KEEP_CHROMA,
      g_param_spec_boolean ("keep-chroma", "Keep chroma",
                            _ ("Give a picture of one channel the colours of its frame"), TRUE,
                            playing));
  gst_type_mark_as_plugin_api (range_get_type (), 0);
  element_class->change_state = gst_nn_tensor_2_video_change_state;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Tensors to video",
                                         "Filter/Converter/Video",
                                         "Makes video of a model's output", "The Axon developers");
}

static void
gst_nn_tensor_2_video_init (GstNnTensor2Video *self)
{
  self->sink = gst_pad_new_from_static_template (&sink_template, "sink");
  self->src = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_chain_function (self->sink, gst_nn_tensor_2_video_chain);
  gst_pad_set_event_function (self->sink, gst_nn_tensor_2_video_sink_event);
  gst_pad_set_query_function (self->sink, gst_nn_tensor_2_video_sink_query);
  gst_element_add_pad (GST_ELEMENT (self), self->sink);
  gst_element_add_pad (GST_ELEMENT (self), self->src);
  self->keep_chroma = TRUE;
  self->fps_d = 1;
  self->types = g_array_new (FALSE, FALSE, sizeof (AxonDType));
  self->shapes = g_array_new (FALSE, FALSE, sizeof (AxonShape));
  g_queue_init (&self->waiting);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  gst_video_info_init (&self->in);
  gst_video_info_init (&self->out);
}
