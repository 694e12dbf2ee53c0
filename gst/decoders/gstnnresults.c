/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnresults.h"
#include "frame/gstnnregion.h"
#include "frame/gstnnrelation.h"

#include <math.h>

void
gst_nn_decode_input_place (GstNnDecodeInput *in, const AxonImageGeometry *g, gint frame_width,
                           gint frame_height)
{
  const GstNnDescription *d = in->description;
  gdouble x[3] = { 0, 1, 0 }, y[3] = { 0, 0, 1 }; /* the origin, a step right, a step down */
  memset (in->to_frame, 0, sizeof in->to_frame);
  if (g->width == 0) {
    gboolean is_said = d != NULL && d->width > 0 && d->height > 0;
    in->width = is_said ? d->width : frame_width;
    in->height = is_said ? d->height : frame_height;
    in->to_frame[0] = (gdouble)frame_width / in->width;
    in->to_frame[4] = (gdouble)frame_height / in->height;
    return;
  }
  in->width = g->width;
  in->height = g->height;
  for (guint i = 0; i < 3; i++)
    axon_image_geometry_to_picture (g, &x[i], &y[i]);
  in->to_frame[0] = x[1] - x[0];
  in->to_frame[1] = x[2] - x[0];
  in->to_frame[2] = x[0];
  in->to_frame[3] = y[1] - y[0];
  in->to_frame[4] = y[2] - y[0];
  in->to_frame[5] = y[0];
}

void
gst_nn_to_frame (const GstNnDecodeInput *in, gdouble *x, gdouble *y)
{
  const gdouble *m = in->to_frame, ix = *x, iy = *y;
  *x = m[0] * ix + m[1] * iy + m[2];
  *y = m[3] * ix + m[4] * iy + m[5];
}

const gchar *
gst_nn_label_at (const GstNnDecodeInput *in, gint class_id)
{
  gboolean is_known = in->labels != NULL && class_id >= 0 && (guint)class_id < in->n_labels;
  return is_known ? in->labels[class_id] : NULL;
}

void
gst_nn_say_keypoint (const GstNnDecodeInput *in, GstNnObject *object, gdouble x, gdouble y,
                     gdouble score)
{
  gst_nn_to_frame (in, &x, &y);
  if (!isfinite (x) || !isfinite (y) || !isfinite (score))
    x = y = score = 0;
  gst_nn_object_add_keypoint (object, x, y, score);
}

/* The upright box around a part of the input, on the frame. */
static void
area_to_frame (const GstNnDecodeInput *in, const gdouble area[4], gdouble box[4])
{
  gdouble x1 = -G_MAXDOUBLE, y1 = -G_MAXDOUBLE;
  box[0] = box[1] = G_MAXDOUBLE;
  for (gint corner = 0; corner < 4; corner++) {
    gdouble x = area[0] + (corner & 1 ? area[2] : 0), y = area[1] + (corner & 2 ? area[3] : 0);
    gst_nn_to_frame (in, &x, &y);
    box[0] = MIN (box[0], x);
    box[1] = MIN (box[1], y);
    x1 = MAX (x1, x);
    y1 = MAX (y1, y);
  }
  box[2] = x1 - box[0];
  box[3] = y1 - box[1];
}

void
gst_nn_say_values (const GstNnDecodeInput *in, GstNnObject *object, guint columns, guint rows,
                   guint8 *values, const gdouble area[4], gdouble minimum, gdouble maximum)
{
  g_autoptr (GBytes) bytes = g_bytes_new_take (values, (gsize)columns * rows);
  g_autoptr (GstNnMask) mask = NULL;
  gdouble box[4];
  area_to_frame (in, area, box);
  mask = gst_nn_mask_new_values (columns, rows, bytes, box[0], box[1], box[2], box[3], minimum,
                                 maximum);
  gst_nn_object_set_mask (object, mask);
}

void
gst_nn_say_mask (const GstNnDecodeInput *in, GstNnObject *object, GstNnMaskKind kind, guint columns,
                 guint rows, guint8 *values, const gdouble area[4])
{
  g_autoptr (GBytes) bytes = g_bytes_new_take (values, (gsize)columns * rows);
  g_autoptr (GstNnMask) mask = NULL;
  gdouble box[4];
  area_to_frame (in, area, box);
  mask = gst_nn_mask_new (kind, columns, rows, bytes, box[0], box[1], box[2], box[3]);
  gst_nn_object_set_mask (object, mask);
}

void
gst_nn_say_class (const GstNnDecodeInput *in, GstNnObject *object, const gchar *name, gint class_id,
                  const gchar *label, gdouble score)
{
  g_autoptr (GstNnAttribute) attribute = gst_nn_attribute_new (
      name, label ? label : gst_nn_label_at (in, class_id), class_id, score, in->model_name);
  gst_nn_object_add_attribute (object, attribute);
}

/* Turned about the centre of its upright box. */
static void
say_rotated_box (const GstNnDecodeInput *in, const GstNnDetection *d, GstNnObject *object)
{
  const gdouble *m = in->to_frame;
  gdouble cx = d->x + d->width / 2, cy = d->y + d->height / 2, c = cos (d->angle);
  gdouble s = sin (d->angle), ux = m[0] * c + m[1] * s, uy = m[3] * c + m[4] * s;
  gdouble vx = m[1] * c - m[0] * s, vy = m[4] * c - m[3] * s;
  gst_nn_to_frame (in, &cx, &cy);
  gst_nn_object_set_rotated_box (object, cx, cy, d->rotated_width * hypot (ux, uy),
                                 d->rotated_height * hypot (vx, vy), atan2 (uy, ux));
}

/* On the frame, clipped to it; FALSE if nothing is left. */
static gboolean
box_on_frame (const GstNnResultMeta *result, const GstNnDecodeInput *in, const GstNnDetection *d,
              gdouble box[4])
{
  const gdouble area[4] = { d->x, d->y, d->width, d->height };
  gdouble x1, y1;
  area_to_frame (in, area, box);
  x1 = CLAMP (box[0] + box[2], 0, result->width);
  y1 = CLAMP (box[1] + box[3], 0, result->height);
  box[0] = CLAMP (box[0], 0, result->width);
  box[1] = CLAMP (box[1], 0, result->height);
  box[2] = x1 - box[0];
  box[3] = y1 - box[1];
  return box[2] > 0 && box[3] > 0;
}

static void
add_objects (GstNnResultMeta *result, const GstNnDecoder *decoder, const GstNnDecodeInput *in,
             GstClockTime pts, GArray *found)
{
  for (guint i = 0; i < found->len; i++) {
    const GstNnDetection *d = &g_array_index (found, GstNnDetection, i);
    GstNnObject *o;
    gdouble box[4];
    if (!box_on_frame (result, in, d, box))
      continue;
    o = gst_nn_result_meta_add_object (result, 0);
    gst_nn_object_set_box (o, box[0], box[1], box[2], box[3]);
    gst_nn_object_set_class (o, d->class_id, gst_nn_label_at (in, d->class_id), d->score);
    gst_nn_object_set_origin (o, in->model_name, pts);
    if (d->is_rotated)
      say_rotated_box (in, d, o);
    if (decoder->detail != NULL)
      decoder->detail (in, d, o);
  }
}

void
gst_nn_decode_into (GstNnResultMeta *result, const GstNnDecoder *decoder,
                    const GstNnDecodeInput *in, gdouble iou_threshold, guint max_objects,
                    GstClockTime pts, GArray *candidates)
{
  g_array_set_size (candidates, 0);
  if (decoder->decode != NULL)
    decoder->decode (in, candidates);
  if (decoder->is_final)
    gst_nn_keep_best (candidates, max_objects);
  else
    gst_nn_suppress (candidates, iou_threshold, max_objects);
  add_objects (result, decoder, in, pts, candidates);
  if (decoder->whole != NULL)
    decoder->whole (in, gst_nn_result_meta_get_frame (result));
}

void
gst_nn_results_attach (GstBuffer *buffer, guint object_id, GstBuffer *from)
{
  const GstNnResultMeta *kept = gst_buffer_get_nn_result_meta (from);
  GstNnResultMeta *result = gst_buffer_add_nn_result_meta (buffer, kept->width, kept->height);
  guint first = gst_nn_result_meta_get_n_objects (result);
  GstNnObject *o;
  gst_nn_result_meta_append_inside (result, object_id, kept);
  if (result->width <= 1 && result->height <= 1)
    return;
  for (guint i = first; (o = gst_nn_result_meta_get_object (result, i)) != NULL; i++)
    gst_nn_region_add (buffer, o, result);
  gst_nn_relation_add_said (buffer, object_id, kept->frame);
}
