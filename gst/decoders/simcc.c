/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SimCC: for each joint a row of scores over places along x and one along y, finer than pixels by
 * one factor; the joint lies at both peaks, and the lower of them is its score (Li et al., "SimCC:
 * a simple coordinate classification perspective for human pose estimation", 2022;
 * get_simcc_maximum of MMPose, as RTMPose uses it). */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>

typedef struct {
  guint x, y; /* the outputs */
  gint64 joints, x_places, y_places;
} Head;

/* Which output is along x is told by the shape of the input; of a square one x is first. */
static gboolean
find_head (const GstNnDecodeInput *in, Head *head)
{
  gint64 rows[2], places[2];
  if (in->tensors->len != 2 || in->width <= 0 || in->height <= 0 ||
      !gst_nn_is_table (gst_nn_shape_at (in, 0), &rows[0], &places[0]) ||
      !gst_nn_is_table (gst_nn_shape_at (in, 1), &rows[1], &places[1]) || rows[0] != rows[1] ||
      rows[0] < 1)
    return FALSE;
  head->joints = rows[0];
  for (guint x = 0; x < 2; x++)
    if (places[x] >= in->width && places[x] * in->height == places[1 - x] * in->width) {
      head->x = x;
      head->y = 1 - x;
      head->x_places = places[x];
      head->y_places = places[1 - x];
      return TRUE;
    }
  return FALSE;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  Head head;
  return find_head (in, &head);
}

static void
whole (const GstNnDecodeInput *in, GstNnObject *target)
{
  const gfloat *x, *y;
  Head head;
  if (!find_head (in, &head))
    return;
  x = axon_tensor_get_data (gst_nn_tensor_at (in, head.x));
  y = axon_tensor_get_data (gst_nn_tensor_at (in, head.y));
  for (gint64 i = 0; i < head.joints; i++, x += head.x_places, y += head.y_places) {
    gint64 column = gst_nn_best_class (x, head.x_places, 1);
    gint64 row = gst_nn_best_class (y, head.y_places, 1);
    gdouble score = (gdouble)MIN (x[column], y[row]);
    gst_nn_say_keypoint (in, target, (gdouble)(column * in->width) / (gdouble)head.x_places,
                         (gdouble)(row * in->height) / (gdouble)head.y_places, MAX (score, 0));
  }
  if (head.joints == 17)
    gst_nn_say_skeleton (target, "coco17");
}

const GstNnDecoder gst_nn_decoder_simcc = {
  .name = "simcc",
  .blurb = N_ ("scores of places along x [1,K,W] and y [1,K,H] for each joint (RTMPose)"),
  .fits = fits,
  .whole = whole,
};
