/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nnoverlay
 * @title: nnoverlay
 *
 * Draws boxes, labels and scores of #GstNnResultMeta into the frame, in any format that GStreamer
 * can blend on. Each object is drawn by cairo into a small picture and blended.
 *
 * Threads: streaming thread.
 */
#include "gstnnelement.h"

#include <cairo.h>
#include <gst/video/gstvideofilter.h>
#include <math.h>
#include <pango/pangocairo.h>

GST_DEBUG_CATEGORY_STATIC (gst_nn_overlay_debug);
#define GST_CAT_DEFAULT gst_nn_overlay_debug

struct _GstNnOverlay {
  GstVideoFilter parent_instance;
  gboolean labels, scores; /* object lock */
  guint thickness;         /* object lock */
  PangoContext *pango;     /* streaming thread, with a font map of its own */
  PangoFontDescription *font;
};

G_DECLARE_FINAL_TYPE (GstNnOverlay, gst_nn_overlay, GST, NN_OVERLAY, GstVideoFilter)
G_DEFINE_TYPE (GstNnOverlay, gst_nn_overlay, GST_TYPE_VIDEO_FILTER)
GST_NN_ELEMENT_REGISTER_DEFINE (nnoverlay, gst_nn_overlay_get_type ())

enum { PROP_LABELS = 1, PROP_SCORES, PROP_THICKNESS };

#define OVERLAY_CAPS GST_VIDEO_CAPS_MAKE (GST_VIDEO_OVERLAY_COMPOSITION_BLEND_FORMATS)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (OVERLAY_CAPS));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (OVERLAY_CAPS));

/* Colours that stay apart, by class. */
static const guint32 palette[] = { 0x2ecc71, 0xe74c3c, 0x3498db, 0xf1c40f, 0x9b59b6,
                                   0x1abc9c, 0xe67e22, 0xec407a, 0x8bc34a, 0x00bcd4 };

typedef struct {
  gboolean labels, scores;
  gint thickness, font_size;
} Style;

static void
set_color (cairo_t *cr, gint class_id)
{
  guint32 c = palette[(guint)MAX (class_id, 0) % G_N_ELEMENTS (palette)];
  cairo_set_source_rgb (cr, (c >> 16) / 255., (c >> 8 & 255) / 255., (c & 255) / 255.);
}

static gchar *
caption (GQuark label, gint class_id, gdouble score, const Style *style)
{
  g_autoptr (GString) s = g_string_new (NULL);
  if (style->labels && label != 0) {
    g_autofree gchar *valid = g_utf8_make_valid (g_quark_to_string (label), -1);
    g_string_append (s, valid);
  } else if (style->labels && class_id >= 0) {
    g_string_append_printf (s, "%d", class_id);
  }
  if (style->scores)
    g_string_append_printf (s, "%s%.0f %%", s->len ? " " : "", score * 100);
  return g_string_free (g_steal_pointer (&s), FALSE);
}

/* @cr's origin is the place of the text's background. */
static void
draw_text (GstNnOverlay *self, cairo_t *cr, const gchar *text, gint class_id)
{
  g_autoptr (PangoLayout) layout = pango_layout_new (self->pango);
  PangoRectangle box;
  pango_layout_set_font_description (layout, self->font);
  pango_layout_set_text (layout, text, -1);
  pango_layout_get_pixel_extents (layout, NULL, &box);
  set_color (cr, class_id);
  cairo_rectangle (cr, 0, 0, box.width + 6, box.height + 2);
  cairo_fill (cr);
  cairo_set_source_rgb (cr, 0, 0, 0);
  cairo_move_to (cr, 3, 1);
  pango_cairo_show_layout (cr, layout);
}

/* A transparent picture of w x h on a buffer that the overlay rectangle can take over. */
static cairo_surface_t *
new_canvas (gint w, gint h, GstBuffer **buffer, GstMapInfo *map)
{
  *buffer = gst_buffer_new_allocate (NULL, (gsize)w * (gsize)h * 4, NULL);
  gst_buffer_memset (*buffer, 0, 0, (gsize)w * (gsize)h * 4);
  gst_buffer_add_video_meta (*buffer, GST_VIDEO_FRAME_FLAG_NONE,
                             GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, (guint)w, (guint)h);
  gst_buffer_map (*buffer, map, GST_MAP_READWRITE);
  return cairo_image_surface_create_for_data (map->data, CAIRO_FORMAT_ARGB32, w, h, w * 4);
}

static void
add_rectangle (GstVideoOverlayComposition *composition, GstBuffer *buffer, gint x, gint y, gint w,
               gint h)
{
  GstVideoOverlayRectangle *r = gst_video_overlay_rectangle_new_raw (
      buffer, x, y, (guint)w, (guint)h, GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA);
  gst_video_overlay_composition_add_rectangle (composition, r);
  gst_video_overlay_rectangle_unref (r);
  gst_buffer_unref (buffer);
}

static void
draw_object (GstNnOverlay *self, GstVideoOverlayComposition *composition, const GstNnObject *o,
             const Style *style)
{
  g_autofree gchar *text = caption (o->label, o->class_id, o->score, style);
  gint t = style->thickness, text_height = *text ? style->font_size * 2 : 0;
  gint x = (gint)floor (o->x) - t, y = (gint)floor (o->y) - t;
  gint w = (gint)ceil (o->width) + 2 * t, h = (gint)ceil (o->height) + 2 * t;
  gint above = o->y >= text_height ? text_height : 0; /* else inside the box */
  gint canvas_w = MAX (w, style->font_size * 14);
  GstBuffer *buffer;
  GstMapInfo map;
  cairo_surface_t *surface = new_canvas (canvas_w, h + above, &buffer, &map);
  cairo_t *cr = cairo_create (surface);
  set_color (cr, o->class_id);
  cairo_set_line_width (cr, t);
  cairo_rectangle (cr, t / 2., above + t / 2., w - t, h - t);
  cairo_stroke (cr);
  if (*text) {
    cairo_translate (cr, 0, above ? above - text_height + style->font_size / 4. : t);
    draw_text (self, cr, text, o->class_id);
  }
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
  gst_buffer_unmap (buffer, &map);
  add_rectangle (composition, buffer, x, y - above, canvas_w, h + above);
}

static void
draw_classes (GstNnOverlay *self, GstVideoOverlayComposition *composition,
              const GstNnResultMeta *meta, const Style *style)
{
  gint line = style->font_size * 2, n = (gint)meta->classes->len;
  GstBuffer *buffer;
  GstMapInfo map;
  cairo_surface_t *surface = new_canvas (style->font_size * 24, line * n, &buffer, &map);
  cairo_t *cr = cairo_create (surface);
  for (gint i = 0; i < n; i++) {
    const GstNnClass *c = &g_array_index (meta->classes, GstNnClass, i);
    g_autofree gchar *text = caption (c->label, c->class_id, c->score, style);
    draw_text (self, cr, text, c->class_id);
    cairo_translate (cr, 0, line);
  }
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
  gst_buffer_unmap (buffer, &map);
  add_rectangle (composition, buffer, 8, 8, style->font_size * 24, line * n);
}

static Style
get_style (GstNnOverlay *self, gint height)
{
  Style style;
  GST_OBJECT_LOCK (self);
  style.labels = self->labels;
  style.scores = self->scores;
  style.thickness = self->thickness ? (gint)self->thickness : MAX (2, height / 240);
  GST_OBJECT_UNLOCK (self);
  style.font_size = MAX (9, height / 45);
  pango_font_description_set_absolute_size (self->font, style.font_size * PANGO_SCALE);
  return style;
}

static GstFlowReturn
gst_nn_overlay_transform_frame_ip (GstVideoFilter *filter, GstVideoFrame *frame)
{
  GstNnOverlay *self = (GstNnOverlay *)filter;
  GstNnResultMeta *meta = gst_buffer_get_nn_result_meta (frame->buffer);
  GstVideoOverlayComposition *composition;
  Style style;
  if (meta == NULL || (meta->objects->len == 0 && meta->classes->len == 0))
    return GST_FLOW_OK;
  style = get_style (self, GST_VIDEO_FRAME_HEIGHT (frame));
  GST_LOG_OBJECT (self, "draws %u objects, %u classes", meta->objects->len, meta->classes->len);
  composition = gst_video_overlay_composition_new (NULL);
  for (guint i = meta->objects->len; i-- > 0;) /* best last, so on top */
    draw_object (self, composition, &g_array_index (meta->objects, GstNnObject, i), &style);
  if (meta->classes->len > 0)
    draw_classes (self, composition, meta, &style);
  gst_video_overlay_composition_blend (composition, frame);
  gst_video_overlay_composition_unref (composition);
  return GST_FLOW_OK;
}

/* Pango's font maps may not be shared by threads, and its default one is the calling thread's. */
static gboolean
gst_nn_overlay_start (GstBaseTransform *base)
{
  GstNnOverlay *self = (GstNnOverlay *)base;
  g_autoptr (PangoFontMap) fonts = pango_cairo_font_map_new ();
  self->pango = pango_font_map_create_context (fonts);
  return TRUE;
}

static gboolean
gst_nn_overlay_stop (GstBaseTransform *base)
{
  g_clear_object (&((GstNnOverlay *)base)->pango);
  return TRUE;
}

static void
gst_nn_overlay_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstNnOverlay *self = (GstNnOverlay *)object;
  GST_OBJECT_LOCK (self);
  switch (id) {
  case PROP_LABELS:
    self->labels = g_value_get_boolean (value);
    break;
  case PROP_SCORES:
    self->scores = g_value_get_boolean (value);
    break;
  case PROP_THICKNESS:
    self->thickness = g_value_get_uint (value);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_overlay_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstNnOverlay *self = (GstNnOverlay *)object;
  GST_OBJECT_LOCK (self);
  switch (id) {
  case PROP_LABELS:
    g_value_set_boolean (value, self->labels);
    break;
  case PROP_SCORES:
    g_value_set_boolean (value, self->scores);
    break;
  case PROP_THICKNESS:
    g_value_set_uint (value, self->thickness);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_overlay_finalize (GObject *object)
{
  GstNnOverlay *self = (GstNnOverlay *)object;
  pango_font_description_free (self->font);
  G_OBJECT_CLASS (gst_nn_overlay_parent_class)->finalize (object);
}

static void
gst_nn_overlay_class_init (GstNnOverlayClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING |
                        GST_PARAM_CONTROLLABLE;
  GST_DEBUG_CATEGORY_INIT (gst_nn_overlay_debug, "nnoverlay", 0, "draws results");
  object_class->set_property = gst_nn_overlay_set_property;
  object_class->get_property = gst_nn_overlay_get_property;
  object_class->finalize = gst_nn_overlay_finalize;
  g_object_class_install_property (
      object_class, PROP_LABELS,
      g_param_spec_boolean ("labels", "Labels", _ ("Draw class names"), TRUE, playing));
  g_object_class_install_property (
      object_class, PROP_SCORES,
      g_param_spec_boolean ("scores", "Scores", _ ("Draw scores"), TRUE, playing));
  g_object_class_install_property (object_class, PROP_THICKNESS,
                                   g_param_spec_uint ("thickness", "Thickness",
                                                      _ ("Of lines in pixels; 0: by frame size"), 0,
                                                      64, 0, playing));
  GST_BASE_TRANSFORM_CLASS (klass)->start = gst_nn_overlay_start;
  GST_BASE_TRANSFORM_CLASS (klass)->stop = gst_nn_overlay_stop;
  GST_VIDEO_FILTER_CLASS (klass)->transform_frame_ip = gst_nn_overlay_transform_frame_ip;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Draws results", "Filter/Editor/Video",
                                         "Draws boxes, labels and scores", "The Axon developers");
}

static void
gst_nn_overlay_init (GstNnOverlay *self)
{
  self->labels = self->scores = TRUE;
  self->font = pango_font_description_from_string ("Sans Bold 10");
}
