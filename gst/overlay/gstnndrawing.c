/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnndrawing.h"

#include "gstnnlabels.h"

#include <math.h>

#define LEAST_KEYPOINT_SCORE 0.3
#define FIRST_SCENE 3 /* colour: the first classes are drawn most often */

guint
gst_nn_style_get_thickness (const GstNnStyle *style, gint height)
{
  return style->thickness ? style->thickness : (guint)MAX (2, height / 240);
}

guint
gst_nn_style_get_text_size (const GstNnStyle *style, gint height)
{
  return style->text_size ? style->text_size : (guint)MAX (9, height / 45);
}

static const GstNnPaint *
paint_of (const GstNnDrawing *d, const GstNnObject *o)
{
  return gst_nn_palette_get (d->palette, gst_nn_object_get_class_id (o),
                             gst_nn_object_get_label (o));
}

static void
draw_line (const GstNnDrawing *d, const GstNnPaint *paint, gdouble x0, gdouble y0, gdouble x1,
           gdouble y1)
{
  d->surface->line (d->surface, paint, d->thickness, x0, y0, x1, y1);
}

/* The edges lie around the box. */
static void
draw_upright (const GstNnDrawing *d, const GstNnPaint *paint, const GstNnObject *o)
{
  gdouble x, y, w, h;
  gint t = d->thickness, left, top, right, bottom;
  gst_nn_object_get_box (o, &x, &y, &w, &h);
  left = gst_nn_pixel (x);
  top = gst_nn_pixel (y);
  right = gst_nn_pixel (ceil (x + w));
  bottom = gst_nn_pixel (ceil (y + h));
  d->surface->fill (d->surface, paint, left - t, top - t, right - left + 2 * t, t);
  d->surface->fill (d->surface, paint, left - t, bottom, right - left + 2 * t, t);
  d->surface->fill (d->surface, paint, left - t, top, t, bottom - top);
  d->surface->fill (d->surface, paint, right, top, t, bottom - top);
}

static void
draw_edges (const GstNnDrawing *d, const GstNnPaint *paint, const GstNnObject *o)
{
  gdouble x, y, w, h, angle;
  if (!gst_nn_object_get_rotated_box (o, &x, &y, &w, &h, &angle) || angle == 0) {
    draw_upright (d, paint, o);
    return;
  }
  for (guint i = 0; i < 4; i++) { /* corners in turn */
    gdouble u0 = (i == 1 || i == 2 ? w : -w) / 2, v0 = (i >= 2 ? h : -h) / 2;
    gdouble u1 = (i == 0 || i == 1 ? w : -w) / 2, v1 = (i == 1 || i == 2 ? h : -h) / 2;
    gdouble c = cos (angle), s = sin (angle);
    draw_line (d, paint, x + u0 * c - v0 * s, y + u0 * s + v0 * c, x + u1 * c - v1 * s,
               y + u1 * s + v1 * c);
  }
}

static void
draw_keypoints (const GstNnDrawing *d, const GstNnObject *o)
{
  const GstNnSkeleton *skeleton = gst_nn_object_get_skeleton (o);
  guint n = gst_nn_object_get_n_keypoints (o), from, to;
  /* those of a mesh are too near to each other for more */
  gint t = n > 100 ? MAX (1, d->thickness / 2) : d->thickness;
  gdouble x, y, x1, y1, score, score1;
  for (guint i = 0; skeleton != NULL && i < gst_nn_skeleton_get_n_bones (skeleton); i++) {
    gst_nn_skeleton_get_bone (skeleton, i, &from, &to);
    if (gst_nn_object_get_keypoint (o, from, &x, &y, &score) &&
        gst_nn_object_get_keypoint (o, to, &x1, &y1, &score1) &&
        MIN (score, score1) >= LEAST_KEYPOINT_SCORE)
      draw_line (d, gst_nn_palette_get (d->palette, (gint)(i % 8), NULL), x, y, x1, y1);
  }
  for (guint i = 0; i < n; i++)
    if (gst_nn_object_get_keypoint (o, i, &x, &y, &score) && score >= LEAST_KEYPOINT_SCORE)
      d->surface->fill (d->surface,
                        gst_nn_palette_get (d->palette, n > 100 ? 0 : (gint)(i % 8), NULL),
                        gst_nn_pixel (x) - t, gst_nn_pixel (y) - t, 2 * t, 2 * t);
}

static void
tint (const GstNnDrawing *d, const GstNnPaints *paints, const GstNnMask *mask)
{
  d->surface->tint (d->surface, paints, (guint)(d->style->mask_opacity * 256 + .5), mask);
}

/* @paint: of what is one thing */
static void
draw_mask (const GstNnDrawing *d, const GstNnMask *mask, const GstNnPaint *paint)
{
  GstNnPaints paints;
  if (gst_nn_mask_get_kind (mask) == GST_NN_MASK_VALUES)
    gst_nn_paints_of_values (&paints, d->palette, TRUE);
  else if (gst_nn_mask_get_kind (mask) == GST_NN_MASK_CLASSES)
    gst_nn_paints_of_classes (&paints, d->palette);
  else
    gst_nn_paints_of_coverage (&paints, paint);
  tint (d, &paints, mask);
}

/* Where nothing was, nothing is drawn. */
static void
draw_heat (const GstNnDrawing *d, const GstNnMask *heat)
{
  GstNnPaints paints;
  gst_nn_paints_of_values (&paints, d->palette, FALSE);
  tint (d, &paints, heat);
}

/* Thinner the longer ago. */
static void
draw_tail (const GstNnDrawing *d, const GstNnPaint *paint, const GstNnObject *o)
{
  const GstNnTail *tail;
  gdouble x, y, w, h;
  if (gst_nn_object_get_track_id (o) == 0)
    return;
  gst_nn_object_get_box (o, &x, &y, &w, &h);
  tail = gst_nn_tails_add (d->tails, gst_nn_object_get_track_id (o), x + w / 2, y + h / 2);
  for (guint i = 1; tail != NULL && i < tail->n; i++)
    d->surface->line (d->surface, paint, MAX (1, d->thickness * (gint)(i + 1) / (gint)tail->n),
                      tail->x[i - 1], tail->y[i - 1], tail->x[i], tail->y[i]);
}

static void
draw_object (const GstNnDrawing *d, const GstNnObject *o)
{
  const GstNnPaint *paint = paint_of (d, o);
  if (d->style->tail_length > 0)
    draw_tail (d, paint, o);
  if (d->style->boxes)
    draw_edges (d, paint, o);
  if (d->style->keypoints)
    draw_keypoints (d, o);
}

static void
draw_caption (const GstNnDrawing *d, GstNnLabels *labels, const GstNnObject *o)
{
  gdouble x, y, h;
  gst_nn_object_get_box (o, &x, &y, NULL, &h);
  gst_nn_labels_begin (labels);
  gst_nn_labels_add_object (labels, o);
  gst_nn_labels_draw_beside (labels, paint_of (d, o), gst_nn_pixel (x) - d->thickness,
                             gst_nn_pixel (y) - d->thickness, gst_nn_pixel (h) + 2 * d->thickness);
}

/* Masks under everything, captions over it; the best is last, so on top, but its caption has the
 * first choice of places. */
static void
draw_objects (const GstNnDrawing *d, GstNnLabels *labels, GstNnResultMeta *meta)
{
  guint n = gst_nn_result_meta_get_n_objects (meta);
  for (guint i = n; d->style->masks && i-- > 0;) {
    const GstNnObject *o = gst_nn_result_meta_get_object (meta, i);
    if (gst_nn_object_get_mask (o) != NULL)
      draw_mask (d, gst_nn_object_get_mask (o), paint_of (d, o));
  }
  for (guint i = n; i-- > 0;)
    draw_object (d, gst_nn_result_meta_get_object (meta, i));
  for (guint i = 0; i < n; i++)
    draw_caption (d, labels, gst_nn_result_meta_get_object (meta, i));
}

/* What was said of the frame as a whole: its classes are lines of text. */
static void
draw_whole (const GstNnDrawing *d, GstNnLabels *labels, const GstNnObject *whole)
{
  gint text_size = (gint)gst_nn_style_get_text_size (d->style, d->surface->height);
  gint x = text_size / 2, y = x;
  const GstNnAttribute *a;
  for (guint i = 0; (a = gst_nn_object_get_attribute (whole, i)) != NULL; i++) {
    gst_nn_labels_begin (labels);
    gst_nn_labels_add_attribute (labels, a);
    y += gst_nn_labels_draw (labels,
                             gst_nn_palette_get (d->palette, gst_nn_attribute_get_class_id (a),
                                                 gst_nn_attribute_get_value (a)),
                             x, y);
  }
  if (d->style->labels && gst_nn_object_get_text (whole) != NULL) {
    gst_nn_labels_begin (labels);
    gst_nn_labels_add (labels, gst_nn_object_get_text (whole));
    gst_nn_labels_draw (labels, &d->palette->classes[0], x, y);
  }
  if (d->style->keypoints)
    draw_keypoints (d, whole);
}

/* An arrow across a line: the way that is counted first, from its left to its right. */
static void
draw_arrow (const GstNnDrawing *d, const GstNnPaint *paint, gdouble x0, gdouble y0, gdouble x1,
            gdouble y1)
{
  gdouble length = hypot (x1 - x0, y1 - y0), size = 6. * d->thickness;
  gdouble x = (x0 + x1) / 2, y = (y0 + y1) / 2, u, v, tip_x, tip_y;
  if (!(length > 0))
    return;
  u = (x1 - x0) / length * size;
  v = (y1 - y0) / length * size;
  tip_x = x - v;
  tip_y = y + u;
  draw_line (d, paint, x + v, y - u, tip_x, tip_y);
  draw_line (d, paint, tip_x, tip_y, x + u / 2 - v / 2, y + v / 2 + u / 2);
  draw_line (d, paint, tip_x, tip_y, x - u / 2 - v / 2, y - v / 2 + u / 2);
}

static void
draw_shape (const GstNnDrawing *d, GstNnLabels *labels, const GstNnShape *shape,
            const GstNnPaint *paint)
{
  gdouble width = d->surface->width, height = d->surface->height, x0, y0, x1, y1;
  guint n = gst_nn_shape_get_n_points (shape), n_edges = gst_nn_shape_is_zone (shape) ? n : n - 1;
  for (guint i = 0; i < n_edges; i++) {
    gst_nn_shape_get_point (shape, i, &x0, &y0);
    gst_nn_shape_get_point (shape, (i + 1) % n, &x1, &y1);
    draw_line (d, paint, x0 * width, y0 * height, x1 * width, y1 * height);
    if (!gst_nn_shape_is_zone (shape))
      draw_arrow (d, paint, x0 * width, y0 * height, x1 * width, y1 * height);
  }
  gst_nn_labels_begin (labels);
  gst_nn_labels_add_shape (labels, shape);
  gst_nn_shape_get_point (shape, 0, &x0, &y0);
  gst_nn_labels_draw_beside (labels, paint, gst_nn_pixel (x0 * width), gst_nn_pixel (y0 * height),
                             0);
}

static void
draw_legend (const GstNnDrawing *d, GstNnLabels *labels, GstNnResultMeta *meta, const gchar *rate)
{
  gint height = (gint)gst_nn_style_get_text_size (d->style, d->surface->height);
  gint x = height / 2, y = d->surface->height - height / 2;
  if (*rate != '\0') {
    gst_nn_labels_begin (labels);
    gst_nn_labels_add (labels, rate);
    y -= gst_nn_labels_get_height (labels);
    gst_nn_labels_draw (labels, &d->palette->black, x, y);
  }
  for (guint i = 0; i < GST_NN_PALETTE_CLASSES && meta != NULL; i++) {
    const GstNnPaint *paint = &d->palette->classes[i];
    const gchar *label = NULL;
    guint n = 0;
    for (guint k = 0; k < gst_nn_result_meta_get_n_objects (meta); k++) {
      const GstNnObject *o = gst_nn_result_meta_get_object (meta, k);
      if (paint_of (d, o) == paint && n++ == 0)
        label = gst_nn_object_get_label (o);
    }
    if (n == 0)
      continue;
    gst_nn_labels_begin (labels);
    gst_nn_labels_add_count (labels, label, (gint)i, n);
    y -= gst_nn_labels_get_height (labels);
    gst_nn_labels_draw (labels, paint, x, y);
  }
}

void
gst_nn_drawing_run (const GstNnDrawing *d, GstNnResultMeta *meta, const GstNnSceneMeta *scene,
                    GstClockTime time, const gchar *rate)
{
  const GstNnObject *whole = meta ? gst_nn_result_meta_get_frame (meta) : NULL;
  GstNnLabels labels;
  gst_nn_labels_init (&labels, d);
  gst_nn_captions_trim (d->captions);
  gst_nn_tails_begin (d->tails, time, (guint64)(d->style->tail_length * GST_SECOND));
  if (d->style->scene && scene != NULL && scene->heat_map != NULL)
    draw_heat (d, scene->heat_map);
  if (whole != NULL && d->style->masks && gst_nn_object_get_mask (whole) != NULL)
    draw_mask (d, gst_nn_object_get_mask (whole), &d->palette->classes[0]);
  for (guint i = 0; d->style->scene && scene != NULL && i < scene->shapes->len; i++)
    draw_shape (d, &labels, g_ptr_array_index (scene->shapes, i),
                &d->palette->classes[(i + FIRST_SCENE) % GST_NN_PALETTE_CLASSES]);
  if (meta != NULL)
    draw_objects (d, &labels, meta);
  if (whole != NULL)
    draw_whole (d, &labels, whole);
  if (d->style->legend)
    draw_legend (d, &labels, meta, rate);
}
