/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pose by heatmaps: each joint lies at the peak of its map, a quarter of a cell towards the higher
 * neighbour; cell i stands for i times the stride (Xiao et al., "Simple baselines for human pose
 * estimation and tracking", 2018; HRNet, Sun et al., 2019; get_final_preds of
 * github.com/microsoft/human-pose-estimation.pytorch). */
#include "gstnnmap.h"

#include <glib/gi18n-lib.h>

static gboolean
fits (const GstNnDecodeInput *in)
{
  GstNnMap map;
  return gst_nn_map_find (&map, in, 2, G_MAXINT16);
}

/* FALSE: no number is above 0. */
static gboolean
find_peak (const GstNnMap *map, gint64 joint, gint64 *row, gint64 *column)
{
  gdouble best = 0;
  for (gint64 r = 0; r < map->rows; r++)
    for (gint64 c = 0; c < map->columns; c++) {
      gdouble v = gst_nn_map_at (map, joint, r, c);
      if (v > best) {
        best = v;
        *row = r;
        *column = c;
      }
    }
  return best > 0;
}

static gdouble
quarter (gdouble before, gdouble after)
{
  return after > before ? 0.25 : after < before ? -0.25 : 0;
}

static void
say_joint (const GstNnMap *map, const GstNnDecodeInput *in, GstNnObject *target, gint64 joint)
{
  gint64 r = 0, c = 0;
  gdouble x, y;
  if (!find_peak (map, joint, &r, &c)) {
    gst_nn_say_keypoint (in, target, 0, 0, 0);
    return;
  }
  x = (gdouble)c;
  y = (gdouble)r;
  if (c > 0 && c < map->columns - 1)
    x += quarter (gst_nn_map_at (map, joint, r, c - 1), gst_nn_map_at (map, joint, r, c + 1));
  if (r > 0 && r < map->rows - 1)
    y += quarter (gst_nn_map_at (map, joint, r - 1, c), gst_nn_map_at (map, joint, r + 1, c));
  gst_nn_say_keypoint (in, target, x * gst_nn_map_cell_width (map, in),
                       y * gst_nn_map_cell_height (map, in), gst_nn_map_at (map, joint, r, c));
}

static void
whole (const GstNnDecodeInput *in, GstNnObject *target)
{
  GstNnMap map;
  if (!gst_nn_map_find (&map, in, 2, G_MAXINT16))
    return;
  for (gint64 joint = 0; joint < map.channels; joint++)
    say_joint (&map, in, target, joint);
  if (map.channels == 17)
    gst_nn_say_skeleton (target, "coco17");
}

const GstNnDecoder gst_nn_decoder_heatmap_pose = {
  .name = "heatmap-pose",
  .blurb = N_ ("a map [1,K,H,W] for each joint of one person (SimplePose, HRNet)"),
  .fits = fits,
  .recognises = gst_nn_by_name_only,
  .whole = whole,
};
