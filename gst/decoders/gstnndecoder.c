/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnndecoder.h"

#include <math.h>
#include <string.h>

/* Probed in order: the more particular first. */
const GstNnDecoder gst_nn_decoders[] = {
  { "boxes-scores", "boxes [1,N,4] and class scores [1,N,C] (UltraFace, SSD)",
    gst_nn_probe_boxes_scores, gst_nn_decode_boxes_scores },
  { "yolox", "grid cells [1,N,5+C] at strides 8, 16, 32 (YOLOX)", gst_nn_probe_yolox,
    gst_nn_decode_yolox },
  { "yolov5", "three anchors a cell, decoded, [1,N,5+C] (YOLOv5, v7)", gst_nn_probe_yolov5,
    gst_nn_decode_yolov5 },
  { "yolov8", "boxes and scores, transposed, [1,4+C,N] (YOLOv8, v9, v11)", gst_nn_probe_yolov8,
    gst_nn_decode_yolov8 },
  { "nanodet", "grid cells with distance distributions [1,N,C+32] (NanoDet)", gst_nn_probe_nanodet,
    gst_nn_decode_nanodet },
  { "classification", "one score per class", gst_nn_probe_classification,
    gst_nn_decode_classification },
};
const guint gst_nn_n_decoders = G_N_ELEMENTS (gst_nn_decoders);

const GstNnDecoder *
gst_nn_decoder_find (const gchar *name)
{
  for (guint i = 0; i < gst_nn_n_decoders; i++)
    if (g_str_equal (gst_nn_decoders[i].name, name))
      return &gst_nn_decoders[i];
  return NULL;
}

const GstNnDecoder *
gst_nn_decoder_probe (const GstNnDecodeInput *in)
{
  for (guint i = 0; i < gst_nn_n_decoders; i++)
    if (gst_nn_decoders[i].probe (in))
      return &gst_nn_decoders[i];
  return NULL;
}

/* Cells of the grids at strides 8, 16 and 32. */
gint64
gst_nn_count_cells (gint width, gint height)
{
  gint64 n = 0;
  for (gint s = 8; s <= 32; s *= 2)
    n += (gint64)((width + s - 1) / s) * ((height + s - 1) / s);
  return n;
}

void
gst_nn_add_object (GArray *objects, gdouble x, gdouble y, gdouble width, gdouble height,
                   gdouble score, gint class_id)
{
  GstNnObject object = {
    .x = x, .y = y, .width = width, .height = height, .score = score, .class_id = class_id
  };
  if (isfinite (x) && isfinite (y) && width > 0 && height > 0 && isfinite (width + height))
    g_array_append_val (objects, object);
}

static gint
compare_score (gconstpointer a, gconstpointer b)
{
  gdouble x = ((const GstNnObject *)a)->score, y = ((const GstNnObject *)b)->score;
  return x < y ? 1 : x > y ? -1 : 0;
}

static gdouble
overlap (const GstNnObject *a, const GstNnObject *b)
{
  gdouble w = MIN (a->x + a->width, b->x + b->width) - MAX (a->x, b->x);
  gdouble h = MIN (a->y + a->height, b->y + b->height) - MAX (a->y, b->y);
  if (w <= 0 || h <= 0)
    return 0;
  return w * h / (a->width * a->height + b->width * b->height - w * h);
}

void
gst_nn_suppress (GArray *objects, gdouble iou_threshold, guint max_objects)
{
  guint kept = 0;
  g_array_sort (objects, compare_score);
  for (guint i = 0; i < objects->len && kept < max_objects; i++) {
    GstNnObject candidate = g_array_index (objects, GstNnObject, i);
    gboolean keep = TRUE;
    for (guint k = 0; keep && k < kept; k++) {
      const GstNnObject *o = &g_array_index (objects, GstNnObject, k);
      keep = o->class_id != candidate.class_id || overlap (o, &candidate) <= iou_threshold;
    }
    if (keep)
      g_array_index (objects, GstNnObject, kept++) = candidate;
  }
  g_array_set_size (objects, kept);
}
