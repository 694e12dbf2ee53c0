/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nnoverlay
 * @title: nnoverlay
 *
 * Draws what models said of a frame into it: boxes (rotated ones, too) with labels, scores,
 * attributes, texts and tracks, keypoints with their skeletons, masks, and the classes of the whole
 * frame; zones and lines of nnanalytics with their counts, and where objects are most. Takes every
 * format whose components lie apart.
 *
 * Threads: streaming thread.
 */
#include "gstnnelement.h"
#include "overlay/gstnncanvas.h"
#include "overlay/gstnncaptions.h"

#include <gst/video/gstvideofilter.h>
#include <math.h>

GST_DEBUG_CATEGORY_STATIC (gst_nn_overlay_debug);
#define GST_CAT_DEFAULT gst_nn_overlay_debug

/* By class: colours that colour-blind people tell apart, too (Okabe and Ito, "Color universal
 * design", 2008), and gray. */
static const guint32 palette[] = { 0x009e73, 0xd55e00, 0x56b4e9, 0xf0e442,
                                   0xcc79a7, 0xe69f00, 0x0072b2, 0x999999 };
#define N_COLORS G_N_ELEMENTS (palette)
#define HOT 1 /* where objects are most */
/* For numbers: cividis, which grows lighter with them and looks the same to colour-blind people
 * (Nunez et al., 2018). */
static const guint32 ramp[] = { 0x00224e, 0x002c6a, 0x1e3870, 0x34456d, 0x45516d, 0x545c6e,
                                0x626870, 0x707574, 0x7e8178, 0x8d8e78, 0x9e9b75, 0xafa870,
                                0xc1b668, 0xd4c45c, 0xe8d44c, 0xfee838 };
#define N_STEPS G_N_ELEMENTS (ramp)
#define LEAST_KEYPOINT_SCORE 0.3

struct _GstNnOverlay {
  GstVideoFilter parent_instance;
  gboolean labels, scores; /* object lock */
  guint thickness;         /* object lock */
  /* streaming thread, for the format of the frames */
  GstNnCaptions *captions;
  GstNnColor colors[N_COLORS], steps[N_STEPS];
  gint font_size;
};

G_DECLARE_FINAL_TYPE (GstNnOverlay, gst_nn_overlay, GST, NN_OVERLAY, GstVideoFilter)
G_DEFINE_TYPE (GstNnOverlay, gst_nn_overlay, GST_TYPE_VIDEO_FILTER)
GST_NN_ELEMENT_REGISTER_DEFINE (nnoverlay, gst_nn_overlay_get_type ())

enum { PROP_LABELS = 1, PROP_SCORES, PROP_THICKNESS };

typedef struct {
  gboolean labels, scores;
  gint thickness;
} Style;

static guint
color_index (gint class_id)
{
  return (guint)MAX (class_id, 0) % N_COLORS;
}

static void
append_words (GString *s, const gchar *words)
{
  g_autofree gchar *valid = g_utf8_make_valid (words, -1);
  g_string_append_printf (s, "%s%s", s->len ? " " : "", valid);
}

static void
append_class (GString *s, const gchar *label, gint class_id, gdouble score, const Style *style)
{
  if (style->labels && label != NULL)
    append_words (s, label);
  else if (style->labels && class_id >= 0)
    g_string_append_printf (s, "%s%d", s->len ? " " : "", class_id);
  if (style->scores)
    g_string_append_printf (s, "%s%.0f %%", s->len ? " " : "", score * 100);
}

static void
append_attribute (GString *s, const GstNnAttribute *a, const Style *style)
{
  append_class (s, gst_nn_attribute_get_value (a), gst_nn_attribute_get_class_id (a),
                gst_nn_attribute_get_score (a), style);
}

static gchar *
caption (const GstNnObject *o, const Style *style)
{
  g_autoptr (GString) s = g_string_new (NULL);
  const GstNnAttribute *a;
  append_class (s, gst_nn_object_get_label (o), gst_nn_object_get_class_id (o),
                gst_nn_object_get_score (o), style);
  if (style->labels && gst_nn_object_get_track_id (o) != 0)
    g_string_append_printf (s, "%s#%" G_GUINT64_FORMAT, s->len ? " " : "",
                            gst_nn_object_get_track_id (o));
  if (style->labels && gst_nn_object_get_text (o) != NULL)
    append_words (s, gst_nn_object_get_text (o));
  for (guint i = 0; (a = gst_nn_object_get_attribute (o, i)) != NULL; i++)
    append_attribute (s, a, style);
  return g_string_free (g_steal_pointer (&s), FALSE);
}

/* Returns its height. */
static gint
draw_text (GstNnOverlay *self, GstVideoFrame *frame, const gchar *text, guint color, gint x, gint y,
           gboolean above)
{
  const GstVideoFrame *picture =
      *text ? gst_nn_captions_get (self->captions, text, palette[color]) : NULL;
  gint height = picture ? GST_VIDEO_FRAME_HEIGHT (picture) : 0;
  if (picture != NULL)
    gst_nn_canvas_copy (frame, picture, x, above && y >= height ? y - height : y);
  return height;
}

static void
draw_edges (GstNnOverlay *self, GstVideoFrame *frame, const GstNnObject *o, guint color, gint t)
{
  gdouble x, y, w, h, angle;
  if (!gst_nn_object_get_rotated_box (o, &x, &y, &w, &h, &angle)) {
    gst_nn_canvas_box (frame, &self->colors[color], t, (gint)floor (x - w / 2) - t,
                       (gint)floor (y - h / 2) - t, (gint)ceil (w) + 2 * t, (gint)ceil (h) + 2 * t);
    return;
  }
  for (guint i = 0; i < 4; i++) { /* corners in turn */
    gdouble u0 = (i == 1 || i == 2 ? w : -w) / 2, v0 = (i >= 2 ? h : -h) / 2;
    gdouble u1 = (i == 0 || i == 1 ? w : -w) / 2, v1 = (i == 1 || i == 2 ? h : -h) / 2;
    gdouble c = cos (angle), s = sin (angle);
    gst_nn_canvas_line (frame, &self->colors[color], t, x + u0 * c - v0 * s, y + u0 * s + v0 * c,
                        x + u1 * c - v1 * s, y + u1 * s + v1 * c);
  }
}

static void
draw_keypoints (GstNnOverlay *self, GstVideoFrame *frame, const GstNnObject *o, gint t)
{
  const GstNnSkeleton *skeleton = gst_nn_object_get_skeleton (o);
  gdouble x, y, x1, y1, score, score1;
  guint from, to;
  for (guint i = 0; skeleton != NULL && i < gst_nn_skeleton_get_n_bones (skeleton); i++) {
    gst_nn_skeleton_get_bone (skeleton, i, &from, &to);
    if (gst_nn_object_get_keypoint (o, from, &x, &y, &score) &&
        gst_nn_object_get_keypoint (o, to, &x1, &y1, &score1) &&
        MIN (score, score1) >= LEAST_KEYPOINT_SCORE)
      gst_nn_canvas_line (frame, &self->colors[i % N_COLORS], t, x, y, x1, y1);
  }
  for (guint i = 0; gst_nn_object_get_keypoint (o, i, &x, &y, &score); i++)
    if (score >= LEAST_KEYPOINT_SCORE)
      gst_nn_canvas_fill (frame, &self->colors[i % N_COLORS], (gint)x - t, (gint)y - t, 2 * t,
                          2 * t);
}

/* @color: of what is one thing */
static void
draw_mask (GstNnOverlay *self, GstVideoFrame *frame, const GstNnObject *o, guint color)
{
  const GstNnMask *mask = gst_nn_object_get_mask (o);
  if (mask == NULL)
    return;
  if (gst_nn_mask_get_kind (mask) == GST_NN_MASK_VALUES)
    gst_nn_canvas_tint (frame, self->steps, N_STEPS, mask);
  else if (gst_nn_mask_get_kind (mask) == GST_NN_MASK_CLASSES)
    gst_nn_canvas_tint (frame, self->colors, N_COLORS, mask);
  else
    gst_nn_canvas_tint (frame, &self->colors[color], 1, mask);
}

static void
draw_object (GstNnOverlay *self, GstVideoFrame *frame, const GstNnObject *o, const Style *style)
{
  g_autofree gchar *text = caption (o, style);
  guint color = color_index (gst_nn_object_get_class_id (o));
  gdouble x, y;
  gst_nn_object_get_box (o, &x, &y, NULL, NULL);
  draw_mask (self, frame, o, color);
  draw_edges (self, frame, o, color, style->thickness);
  draw_keypoints (self, frame, o, style->thickness);
  draw_text (self, frame, text, color, (gint)floor (x) - style->thickness,
             (gint)floor (y) - style->thickness, TRUE);
}

/* What was said of the frame as a whole: its mask under everything, its classes as lines. */
static void
draw_frame (GstNnOverlay *self, GstVideoFrame *frame, const GstNnObject *whole, const Style *style)
{
  const GstNnAttribute *a;
  gint y = self->font_size / 2;
  for (guint i = 0; (a = gst_nn_object_get_attribute (whole, i)) != NULL; i++) {
    g_autoptr (GString) s = g_string_new (NULL);
    append_attribute (s, a, style);
    y += draw_text (self, frame, s->str, color_index (gst_nn_attribute_get_class_id (a)),
                    self->font_size / 2, y, FALSE);
  }
  if (style->labels && gst_nn_object_get_text (whole) != NULL) {
    g_autofree gchar *valid = g_utf8_make_valid (gst_nn_object_get_text (whole), -1);
    draw_text (self, frame, valid, 0, self->font_size / 2, y, FALSE);
  }
  draw_keypoints (self, frame, whole, style->thickness);
}

/* A zone's name with how many are in it, a line's with how many went each way. */
static gchar *
shape_caption (const GstNnShape *shape)
{
  guint64 count = gst_nn_shape_get_count (shape), back = gst_nn_shape_get_count_back (shape);
  g_autofree gchar *name = g_utf8_make_valid (gst_nn_shape_get_name (shape), -1);
  if (gst_nn_shape_is_zone (shape))
    return g_strdup_printf ("%s: %" G_GUINT64_FORMAT, name, count);
  return g_strdup_printf ("%s: %" G_GUINT64_FORMAT " / %" G_GUINT64_FORMAT, name, count, back);
}

static void
draw_scene (GstNnOverlay *self, GstVideoFrame *frame, const GstNnSceneMeta *scene,
            const Style *style)
{
  gdouble width = GST_VIDEO_FRAME_WIDTH (frame), height = GST_VIDEO_FRAME_HEIGHT (frame);
  if (scene->heat_map != NULL)
    gst_nn_canvas_tint (frame, &self->colors[HOT], 1, scene->heat_map);
  for (guint i = 0; i < scene->shapes->len; i++) {
    const GstNnShape *shape = g_ptr_array_index (scene->shapes, i);
    guint n = gst_nn_shape_get_n_points (shape), color = color_index ((gint)i);
    g_autofree gchar *text = style->labels ? shape_caption (shape) : g_strdup ("");
    gdouble x0, y0, x1, y1;
    for (guint j = 0; j < (gst_nn_shape_is_zone (shape) ? n : n - 1); j++) {
      gst_nn_shape_get_point (shape, j, &x0, &y0);
      gst_nn_shape_get_point (shape, (j + 1) % n, &x1, &y1);
      gst_nn_canvas_line (frame, &self->colors[color], style->thickness, x0 * width, y0 * height,
                          x1 * width, y1 * height);
    }
    gst_nn_shape_get_point (shape, 0, &x0, &y0);
    draw_text (self, frame, text, color, (gint)(x0 * width), (gint)(y0 * height), FALSE);
  }
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
  return style;
}

static GstFlowReturn
gst_nn_overlay_transform_frame_ip (GstVideoFilter *filter, GstVideoFrame *frame)
{
  GstNnOverlay *self = (GstNnOverlay *)filter;
  GstNnResultMeta *meta = gst_buffer_get_nn_result_meta (frame->buffer);
  const GstNnSceneMeta *scene = gst_buffer_get_nn_scene_meta (frame->buffer);
  const GstNnObject *whole;
  Style style = get_style (self, GST_VIDEO_FRAME_HEIGHT (frame));
  guint n;
  if (meta == NULL)
    gst_nn_warn_if_undecoded (GST_ELEMENT (self), frame->buffer);
  if (scene != NULL)
    draw_scene (self, frame, scene, &style);
  if (meta == NULL || gst_nn_result_meta_is_empty (meta))
    return GST_FLOW_OK;
  n = gst_nn_result_meta_get_n_objects (meta);
  whole = gst_nn_result_meta_get_frame (meta);
  GST_LOG_OBJECT (self, "draws %u objects", n);
  draw_mask (self, frame, whole, 0);
  for (guint i = n; i-- > 0;) /* best last, so on top */
    draw_object (self, frame, gst_nn_result_meta_get_object (meta, i), &style);
  draw_frame (self, frame, whole, &style);
  return GST_FLOW_OK;
}

static gboolean
gst_nn_overlay_set_info (GstVideoFilter *filter, G_GNUC_UNUSED GstCaps *in_caps,
                         GstVideoInfo *in_info, G_GNUC_UNUSED GstCaps *out_caps,
                         G_GNUC_UNUSED GstVideoInfo *out_info)
{
  GstNnOverlay *self = (GstNnOverlay *)filter;
  self->font_size = MAX (9, GST_VIDEO_INFO_HEIGHT (in_info) / 45);
  g_clear_pointer (&self->captions, gst_nn_captions_free);
  self->captions = gst_nn_captions_new (in_info, self->font_size);
  for (guint i = 0; i < N_COLORS; i++)
    self->colors[i] = gst_nn_canvas_color (in_info, palette[i]);
  for (guint i = 0; i < N_STEPS; i++)
    self->steps[i] = gst_nn_canvas_color (in_info, ramp[i]);
  return TRUE;
}

static gboolean
gst_nn_overlay_stop (GstBaseTransform *base)
{
  g_clear_pointer (&((GstNnOverlay *)base)->captions, gst_nn_captions_free);
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
gst_nn_overlay_class_init (GstNnOverlayClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING |
                        GST_PARAM_CONTROLLABLE;
  g_autoptr (GstCaps) caps = gst_nn_canvas_caps ();
  GST_DEBUG_CATEGORY_INIT (gst_nn_overlay_debug, "nnoverlay", 0, "draws results");
  object_class->set_property = gst_nn_overlay_set_property;
  object_class->get_property = gst_nn_overlay_get_property;
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
  GST_BASE_TRANSFORM_CLASS (klass)->before_transform = gst_nn_before_transform;
  GST_BASE_TRANSFORM_CLASS (klass)->propose_allocation = gst_nn_propose_allocation;
  GST_BASE_TRANSFORM_CLASS (klass)->stop = gst_nn_overlay_stop;
  GST_VIDEO_FILTER_CLASS (klass)->set_info = gst_nn_overlay_set_info;
  GST_VIDEO_FILTER_CLASS (klass)->transform_frame_ip = gst_nn_overlay_transform_frame_ip;
  gst_element_class_add_pad_template (
      element_class, gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (
      element_class, gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_element_class_set_static_metadata (element_class, "Draws results", "Filter/Editor/Video",
                                         "Draws boxes, labels, keypoints and masks",
                                         "The Axon developers");
}

static void
gst_nn_overlay_init (GstNnOverlay *self)
{
  self->labels = self->scores = TRUE;
}
