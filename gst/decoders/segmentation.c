/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Semantic segmentation: of each pixel the class with the largest score (Long et al., "Fully
 * convolutional networks for semantic segmentation", 2015; DeepLab, BiSeNet, SegFormer decode
 * alike), or the class itself where the export ends with ArgMax. */
#include "gstnnmap.h"

#include <glib/gi18n-lib.h>

#define MOST_CLASSES 256 /* a mask has bytes */

static gboolean
fits (const GstNnDecodeInput *in)
{
  GstNnMap map;
  return gst_nn_map_find (&map, in, 1, MOST_CLASSES);
}

/* Class by class along the row: that is how the numbers lie where channels are first. */
static void
best_of_row (const GstNnMap *map, const GstNnMapPart *part, gint64 row, gdouble *best,
             guint8 *classes)
{
  for (gint64 c = 0; c < part->columns; c++) {
    best[c] = gst_nn_map_at (map, 0, row, part->column + c);
    classes[c] = 0;
  }
  for (gint64 k = 1; k < map->channels; k++)
    for (gint64 c = 0; c < part->columns; c++) {
      gdouble v = gst_nn_map_at (map, k, row, part->column + c);
      if (v > best[c]) {
        best[c] = v;
        classes[c] = (guint8)k;
      }
    }
}

/* What is no class is the background. */
static void
classes_of_row (const GstNnMap *map, const GstNnMapPart *part, gint64 row, guint8 *classes)
{
  for (gint64 c = 0; c < part->columns; c++) {
    gdouble v = gst_nn_map_at (map, 0, row, part->column + c);
    classes[c] = v > 0 && v < MOST_CLASSES ? (guint8)v : 0;
  }
}

/* The classes that cover most; the share of the picture is the score. */
static void
say_shares (const GstNnDecodeInput *in, GstNnObject *target, const guint8 *classes, gsize n)
{
  gsize counts[MOST_CLASSES] = { 0 };
  for (gsize i = 0; i < n; i++)
    counts[classes[i]]++;
  for (guint rank = 0; rank < in->top_k; rank++) {
    guint best = 0;
    for (guint k = 1; k < MOST_CLASSES; k++)
      if (counts[k] > counts[best])
        best = k;
    if (counts[best] == 0)
      return;
    gst_nn_say_class (in, target, "segmentation", (gint)best, NULL,
                      (gdouble)counts[best] / (gdouble)n);
    counts[best] = 0;
  }
}

static void
whole (const GstNnDecodeInput *in, GstNnObject *target)
{
  g_autofree gdouble *best = NULL;
  GstNnMapPart part;
  guint8 *classes;
  GstNnMap map;
  if (!gst_nn_map_find (&map, in, 1, MOST_CLASSES))
    return;
  part = gst_nn_map_part (&map, in, target);
  classes = g_malloc ((gsize)(part.rows * part.columns));
  best = g_new (gdouble, part.columns);
  for (gint64 r = 0; r < part.rows; r++)
    if (map.channels > 1)
      best_of_row (&map, &part, part.row + r, best, classes + r * part.columns);
    else
      classes_of_row (&map, &part, part.row + r, classes + r * part.columns);
  say_shares (in, target, classes, (gsize)(part.rows * part.columns));
  gst_nn_say_mask (in, target, GST_NN_MASK_CLASSES, (guint)part.columns, (guint)part.rows, classes,
                   part.area);
}

const GstNnDecoder gst_nn_decoder_segmentation = {
  .name = "segmentation",
  .blurb = N_ ("scores of classes for each pixel [1,C,H,W], or the classes [1,H,W]"),
  .fits = fits,
  .recognises = gst_nn_by_name_only,
  .whole = whole,
};
