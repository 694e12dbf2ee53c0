/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nnoverlay
 * @title: nnoverlay
 *
 * Draws what models said of a frame into it: boxes (rotated ones, too) with labels, scores,
 * attributes, texts and tracks with their tails, keypoints with their skeletons, masks, the classes
 * of the whole frame, and the zones, lines and heat map of nnanalytics. Blurs or pixelates what may
 * not be seen.
 *
 * |[
 * gst-launch-1.0 filesrc location=street.mp4 ! decodebin ! nninfer model=yolox.onnx ! nndecode !
 *     nntrack ! nnoverlay legend=true blur=person ! videoconvert ! autovideosink
 * ]|
 *
 * Frames are drawn into as they are, in every format whose components lie apart. Where downstream
 * names the feature meta:GstVideoOverlayComposition, results are attached instead, in any format
 * and memory, and whoever shows the frame blends them; what is blurred is blurred in the frame.
 *
 * Threads: everything in the streaming thread; properties may change at any time.
 */
#include "gstnnelement.h"
#include "overlay/gstnndrawing.h"
#include "overlay/gstnnmeter.h"
#include "overlay/gstnnoverlaycaps.h"
#include "overlay/gstnnveil.h"

#include <gst/video/gstvideofilter.h>

GST_DEBUG_CATEGORY_STATIC (gst_nn_overlay_debug);
#define GST_CAT_DEFAULT gst_nn_overlay_debug

/* What can be set while frames flow. */
typedef struct {
  GstNnStyle style;
  GstNnVeil veil;
} Settings;

struct _GstNnOverlay {
  GstVideoFilter parent_instance;
  Settings settings;      /* object lock */
  gboolean composition;   /* object lock */
  gchar *blur, *pixelate; /* object lock */
  /* streaming thread, for the format of the frames */
  gboolean attaches;
  GstNnPalette palette;
  GHashTable *pixels;
  GstNnCaptions *captions;
  guint text_size; /* of the captions */
  GstNnTails *tails;
  GstNnMeter meter;
  GstClockTime time; /* of the last frame that had one */
};

G_DECLARE_FINAL_TYPE (GstNnOverlay, gst_nn_overlay, GST, NN_OVERLAY, GstVideoFilter)
G_DEFINE_TYPE (GstNnOverlay, gst_nn_overlay, GST_TYPE_VIDEO_FILTER)
GST_NN_ELEMENT_REGISTER_DEFINE (nnoverlay, gst_nn_overlay_get_type ())

/* What can be switched on and off. */
static const struct {
  const gchar *name, *nick, *blurb;
  gsize offset; /* in GstNnStyle */
  gboolean is_on;
} parts[] = {
#define PART(member) G_STRUCT_OFFSET (GstNnStyle, member)
  { "boxes", "Boxes", N_ ("Draw the edges of objects"), PART (boxes), TRUE },
  { "labels", "Labels", N_ ("Draw class names, attributes and texts"), PART (labels), TRUE },
  { "scores", "Scores", N_ ("Draw scores"), PART (scores), TRUE },
  { "tracks", "Tracks", N_ ("Draw the numbers of tracks"), PART (tracks), TRUE },
  { "keypoints", "Keypoints", N_ ("Draw keypoints and skeletons"), PART (keypoints), TRUE },
  { "masks", "Masks", N_ ("Draw masks and maps"), PART (masks), TRUE },
  { "scene", "Scene", N_ ("Draw the zones, lines and heat map of nnanalytics"), PART (scene),
    TRUE },
  { "legend", "Legend",
    N_ ("Draw frames per second, the latency of live sources, and how many objects of each class"),
    PART (legend), FALSE },
};

enum {
  PROP_THICKNESS = G_N_ELEMENTS (parts) + 1, /* after one for each part, from 1 on */
  PROP_TEXT_SIZE,
  PROP_MASK_OPACITY,
  PROP_TAIL_LENGTH,
  PROP_BLUR,
  PROP_PIXELATE,
  PROP_FAIL_CLOSED,
  PROP_COMPOSITION
};

static void
copy_settings (GstNnOverlay *self, Settings *settings)
{
  GST_OBJECT_LOCK (self);
  settings->style = self->settings.style;
  gst_nn_veil_copy (&settings->veil, &self->settings.veil);
  GST_OBJECT_UNLOCK (self);
}

/* In us since the frame was taken, as far as the clock tells; negative: it does not. */
static gint64
get_latency (GstNnOverlay *self, GstBuffer *buffer)
{
  g_autoptr (GstClock) clock = gst_element_get_clock (GST_ELEMENT (self));
  guint64 running = gst_segment_to_running_time (&GST_BASE_TRANSFORM (self)->segment,
                                                 GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
  GstClockTimeDiff since;
  if (clock == NULL || !GST_CLOCK_TIME_IS_VALID (running))
    return -1;
  since = GST_CLOCK_DIFF (gst_element_get_base_time (GST_ELEMENT (self)) + running,
                          gst_clock_get_time (clock));
  return since >= 0 ? GST_TIME_AS_USECONDS (since) : -1;
}

static void
draw (GstNnOverlay *self, const Settings *settings, GstNnSurface *surface, GstBuffer *buffer)
{
  guint text_size = gst_nn_style_get_text_size (&settings->style, surface->height);
  GstNnDrawing drawing = {
    .surface = surface, .palette = &self->palette, .tails = self->tails, .style = &settings->style
  };
  drawing.thickness = (gint)gst_nn_style_get_thickness (&settings->style, surface->height);
  if (self->captions == NULL || text_size != self->text_size) {
    g_clear_pointer (&self->captions, gst_nn_captions_free);
    self->captions = gst_nn_captions_new ((gint)text_size, surface->width);
    self->text_size = text_size;
  }
  drawing.captions = self->captions;
  if (GST_BUFFER_PTS_IS_VALID (buffer))
    self->time = GST_BUFFER_PTS (buffer);
  if (settings->style.legend)
    gst_nn_meter_add (&self->meter, g_get_monotonic_time (), get_latency (self, buffer));
  else
    self->meter = (GstNnMeter){ 0 };
  gst_nn_drawing_run (&drawing, gst_buffer_get_nn_result_meta (buffer),
                      gst_buffer_get_nn_scene_meta (buffer), self->time, self->meter.text);
}

static void
attach (GstNnOverlay *self, const Settings *settings, GstBuffer *buffer)
{
  const GstVideoInfo *info = &GST_VIDEO_FILTER (self)->in_info;
  GstNnLayers layers;
  gst_nn_layers_init (&layers, self->pixels, GST_VIDEO_INFO_WIDTH (info),
                      GST_VIDEO_INFO_HEIGHT (info));
  draw (self, settings, &layers.surface, buffer);
  gst_nn_layers_attach (&layers, buffer);
}

static GstFlowReturn
draw_into (GstNnOverlay *self, const Settings *settings, GstBuffer *buffer, gboolean is_veiled)
{
  const GstVideoInfo *info = &GST_VIDEO_FILTER (self)->in_info;
  GstNnFrameSurface surface;
  GstVideoFrame frame;
  if (!gst_nn_plane_is_drawable (info->finfo) ||
      !gst_video_frame_map (&frame, info, buffer,
                            GST_MAP_READWRITE | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
                       (_ ("nnoverlay cannot write into frames of %s in this memory; put "
                           "videoconvert in front of it"),
                        GST_VIDEO_INFO_NAME (info)),
                       (NULL));
    return GST_FLOW_ERROR;
  }
  if (is_veiled)
    gst_nn_veil_draw (&settings->veil, &frame, gst_buffer_get_nn_result_meta (buffer));
  gst_nn_frame_surface_init (&surface, &frame);
  if (!self->attaches)
    draw (self, settings, &surface.surface, buffer);
  gst_video_frame_unmap (&frame);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_nn_overlay_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  GstNnOverlay *self = (GstNnOverlay *)base;
  GstNnResultMeta *meta = gst_buffer_get_nn_result_meta (buffer);
  gboolean is_something = (meta != NULL && !gst_nn_result_meta_is_empty (meta)) ||
                          gst_buffer_get_nn_scene_meta (buffer) != NULL;
  GstFlowReturn flow = GST_FLOW_OK;
  gboolean is_veiled;
  Settings settings;
  if (!GST_VIDEO_FILTER (base)->negotiated)
    return GST_FLOW_NOT_NEGOTIATED;
  if (meta == NULL)
    gst_nn_warn_if_undecoded (GST_ELEMENT (self), buffer);
  copy_settings (self, &settings);
  is_something = is_something || settings.style.legend;
  is_veiled = gst_nn_veil_needs_frame (&settings.veil, meta);
  GST_LOG_OBJECT (self, "draws %u objects", meta ? gst_nn_result_meta_get_n_objects (meta) : 0);
  if (is_veiled || (is_something && !self->attaches))
    flow = draw_into (self, &settings, buffer, is_veiled);
  if (flow == GST_FLOW_OK && is_something && self->attaches)
    attach (self, &settings, buffer);
  gst_nn_veil_clear (&settings.veil);
  return flow;
}

static GstCaps *
gst_nn_overlay_transform_caps (GstBaseTransform *base, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  GstNnOverlay *self = (GstNnOverlay *)base;
  g_autoptr (GstCaps) all = gst_pad_get_pad_template_caps (base->sinkpad);
  g_autoptr (GstCaps) drawable = gst_caps_copy_nth (all, 0), others = NULL;
  gboolean attaches;
  GST_OBJECT_LOCK (self);
  attaches = self->composition;
  GST_OBJECT_UNLOCK (self);
  others = gst_nn_overlay_caps_other (caps, direction, drawable, attaches);
  if (filter == NULL)
    return g_steal_pointer (&others);
  return gst_caps_intersect_full (filter, others, GST_CAPS_INTERSECT_FIRST);
}

static GstCaps *
gst_nn_overlay_fixate_caps (GstBaseTransform *base, GstPadDirection direction,
                            G_GNUC_UNUSED GstCaps *caps, GstCaps *others)
{
  g_autoptr (GstCaps) peer = NULL;
  if (direction == GST_PAD_SINK)
    peer = gst_pad_peer_query_caps (base->srcpad, NULL);
  return gst_nn_overlay_caps_choose (others, peer);
}

static gboolean
gst_nn_overlay_set_info (GstVideoFilter *filter, G_GNUC_UNUSED GstCaps *in_caps,
                         GstVideoInfo *in_info, GstCaps *out_caps,
                         G_GNUC_UNUSED GstVideoInfo *out_info)
{
  GstNnOverlay *self = (GstNnOverlay *)filter;
  GST_OBJECT_LOCK (self);
  self->attaches = self->composition && gst_nn_overlay_caps_attach (out_caps);
  GST_OBJECT_UNLOCK (self);
  GST_DEBUG_OBJECT (self, self->attaches ? "attaches a composition" : "draws into the frames");
  g_clear_pointer (&self->captions, gst_nn_captions_free);
  gst_nn_palette_init (&self->palette, in_info);
  return TRUE;
}

static gboolean
gst_nn_overlay_start (GstBaseTransform *base)
{
  GstNnOverlay *self = (GstNnOverlay *)base;
  self->tails = gst_nn_tails_new ();
  self->pixels = gst_nn_layers_pixels_new ();
  self->meter = (GstNnMeter){ 0 };
  self->time = 0;
  return TRUE;
}

static gboolean
gst_nn_overlay_stop (GstBaseTransform *base)
{
  GstNnOverlay *self = (GstNnOverlay *)base;
  g_clear_pointer (&self->captions, gst_nn_captions_free);
  g_clear_pointer (&self->tails, gst_nn_tails_free);
  g_clear_pointer (&self->pixels, g_hash_table_unref);
  return TRUE;
}

static void
set_names (gchar **text, GPtrArray **names, const GValue *value)
{
  g_free (*text);
  *text = g_value_dup_string (value);
  g_clear_pointer (names, g_ptr_array_unref);
  *names = gst_nn_veil_parse (*text);
}

static void
gst_nn_overlay_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstNnOverlay *self = (GstNnOverlay *)object;
  GstNnStyle *style = &self->settings.style;
  GST_OBJECT_LOCK (self);
  if (id < PROP_THICKNESS)
    G_STRUCT_MEMBER (gboolean, style, parts[id - 1].offset) = g_value_get_boolean (value);
  else if (id == PROP_THICKNESS)
    style->thickness = g_value_get_uint (value);
  else if (id == PROP_TEXT_SIZE)
    style->text_size = g_value_get_uint (value);
  else if (id == PROP_MASK_OPACITY)
    style->mask_opacity = g_value_get_double (value);
  else if (id == PROP_TAIL_LENGTH)
    style->tail_length = g_value_get_double (value);
  else if (id == PROP_BLUR)
    set_names (&self->blur, &self->settings.veil.blurred, value);
  else if (id == PROP_PIXELATE)
    set_names (&self->pixelate, &self->settings.veil.pixelated, value);
  else if (id == PROP_FAIL_CLOSED)
    self->settings.veil.fail_closed = g_value_get_boolean (value);
  else if (id == PROP_COMPOSITION)
    self->composition = g_value_get_boolean (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
  if (id == PROP_COMPOSITION)
    gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
}

static void
gst_nn_overlay_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstNnOverlay *self = (GstNnOverlay *)object;
  const GstNnStyle *style = &self->settings.style;
  GST_OBJECT_LOCK (self);
  if (id < PROP_THICKNESS)
    g_value_set_boolean (value, G_STRUCT_MEMBER (gboolean, style, parts[id - 1].offset));
  else if (id == PROP_THICKNESS)
    g_value_set_uint (value, style->thickness);
  else if (id == PROP_TEXT_SIZE)
    g_value_set_uint (value, style->text_size);
  else if (id == PROP_MASK_OPACITY)
    g_value_set_double (value, style->mask_opacity);
  else if (id == PROP_TAIL_LENGTH)
    g_value_set_double (value, style->tail_length);
  else if (id == PROP_BLUR)
    g_value_set_string (value, self->blur);
  else if (id == PROP_PIXELATE)
    g_value_set_string (value, self->pixelate);
  else if (id == PROP_FAIL_CLOSED)
    g_value_set_boolean (value, self->settings.veil.fail_closed);
  else if (id == PROP_COMPOSITION)
    g_value_set_boolean (value, self->composition);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_overlay_finalize (GObject *object)
{
  GstNnOverlay *self = (GstNnOverlay *)object;
  gst_nn_veil_clear (&self->settings.veil);
  g_free (self->blur);
  g_free (self->pixelate);
  G_OBJECT_CLASS (gst_nn_overlay_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *klass)
{
  GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING |
                        GST_PARAM_CONTROLLABLE;
  GParamFlags plain = playing & ~(GParamFlags)GST_PARAM_CONTROLLABLE;
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    g_object_class_install_property (klass, i + 1,
                                     g_param_spec_boolean (parts[i].name, parts[i].nick,
                                                           _ (parts[i].blurb), parts[i].is_on,
                                                           playing));
#define INSTALL(id, spec) g_object_class_install_property (klass, id, spec)
  INSTALL (PROP_THICKNESS,
           g_param_spec_uint ("thickness", "Thickness", _ ("Of lines in pixels; 0: by frame size"),
                              0, 64, 0, playing));
  INSTALL (PROP_TEXT_SIZE,
           g_param_spec_uint ("text-size", "Text size",
                              _ ("Of letters in pixels; 0: by frame size"), 0, 256, 0, playing));
  INSTALL (PROP_MASK_OPACITY, g_param_spec_double ("mask-opacity", "Mask opacity",
                                                   _ ("How much of a masked pixel is its colour"),
                                                   0, 1, 0.5, playing));
  INSTALL (PROP_TAIL_LENGTH,
           g_param_spec_double ("tail-length", "Tail length",
                                _ ("Seconds that the tails of tracks go back; 0: none"), 0, 60, 1,
                                playing));
  INSTALL (PROP_BLUR, g_param_spec_string (
                          "blur", "Blur",
                          _ ("Blur objects of these classes, by comma; numbers, too; *: of all"),
                          NULL, plain));
  INSTALL (PROP_PIXELATE,
           g_param_spec_string ("pixelate", "Pixelate",
                                _ ("Pixelate objects of these classes, as by blur"), NULL, plain));
  INSTALL (PROP_FAIL_CLOSED,
           g_param_spec_boolean ("fail-closed", "Fail closed",
                                 _ ("Blur or pixelate all of a frame that has no results"), FALSE,
                                 playing));
  INSTALL (PROP_COMPOSITION,
           g_param_spec_boolean ("composition", "Composition",
                                 _ ("Attach what is drawn where downstream blends it"), TRUE,
                                 plain));
#undef INSTALL
}

static void
gst_nn_overlay_class_init (GstNnOverlayClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base_class = GST_BASE_TRANSFORM_CLASS (klass);
  g_autoptr (GstCaps) caps = gst_caps_from_string (GST_VIDEO_CAPS_MAKE (
      GST_VIDEO_FORMATS_ALL) ";" GST_VIDEO_CAPS_MAKE_WITH_FEATURES ("ANY", GST_VIDEO_FORMATS_ALL));
  GValue formats = G_VALUE_INIT;
  GST_DEBUG_CATEGORY_INIT (gst_nn_overlay_debug, "nnoverlay", 0, "draws results");
  gst_nn_plane_formats (&formats);
  gst_structure_take_value (gst_caps_get_structure (caps, 0), "format", &formats);
  object_class->set_property = gst_nn_overlay_set_property;
  object_class->get_property = gst_nn_overlay_get_property;
  object_class->finalize = gst_nn_overlay_finalize;
  install_properties (object_class);
  base_class->before_transform = gst_nn_before_transform;
  base_class->propose_allocation = gst_nn_propose_allocation;
  base_class->transform_caps = gst_nn_overlay_transform_caps;
  base_class->fixate_caps = gst_nn_overlay_fixate_caps;
  base_class->transform_ip = gst_nn_overlay_transform_ip;
  base_class->start = gst_nn_overlay_start;
  base_class->stop = gst_nn_overlay_stop;
  GST_VIDEO_FILTER_CLASS (klass)->set_info = gst_nn_overlay_set_info;
  gst_element_class_add_pad_template (
      element_class, gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (
      element_class, gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_element_class_set_static_metadata (element_class, "Draws results", "Filter/Editor/Video",
                                         "Draws boxes, labels, keypoints, masks and zones; blurs",
                                         "The Axon developers");
}

static void
gst_nn_overlay_init (GstNnOverlay *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    G_STRUCT_MEMBER (gboolean, &self->settings.style, parts[i].offset) = parts[i].is_on;
  self->settings.style.mask_opacity = 0.5;
  self->settings.style.tail_length = 1;
  self->composition = TRUE;
}
