/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Anomaly maps: how strange each pixel is, and beside it the score of the picture; where that is
 * missing, it is the largest of the map (PatchCore, Roth et al., 2022; the exports of
 * github.com/open-edge-platform/anomalib have both, normalised to 0..1). */
#include "gstnnmap.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

static gboolean
fits (const GstNnDecodeInput *in)
{
  GstNnMap map;
  return gst_nn_map_find (&map, in, 1, 1);
}

/* The single number that is called a score, else the first one. */
static gint
find_score (const GstNnDecodeInput *in)
{
  gint first = -1;
  for (guint i = 0; i < in->tensors->len; i++) {
    if (axon_tensor_get_numel (gst_nn_tensor_at (in, i)) != 1)
      continue;
    if (in->names != NULL && strstr (in->names[i], "score") != NULL)
      return (gint)i;
    first = first < 0 ? (gint)i : first;
  }
  return first;
}

static void
whole (const GstNnDecodeInput *in, GstNnObject *target)
{
  gint at = find_score (in);
  gdouble minimum, score;
  gboolean is_strange;
  GstNnMap map;
  if (!gst_nn_map_find (&map, in, 1, 1))
    return;
  score = gst_nn_map_say_values (&map, in, target, &minimum);
  if (at >= 0)
    score = (gdouble) * (const gfloat *)axon_tensor_get_data (gst_nn_tensor_at (in, (guint)at));
  if (!isfinite (score))
    return;
  is_strange = score >= in->threshold;
  gst_nn_say_class (in, target, "anomaly", is_strange,
                    in->n_labels == 2 ? NULL
                    : is_strange      ? "anomalous"
                                      : "normal",
                    score);
}

const GstNnDecoder gst_nn_decoder_anomaly = {
  .name = "anomaly",
  .blurb = N_ ("how strange each pixel is [1,1,H,W], perhaps with a score of the picture"),
  .fits = fits,
  .recognises = gst_nn_by_name_only,
  .whole = whole,
};
