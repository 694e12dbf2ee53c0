/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mattes: how much of each pixel belongs to the person. One channel of alpha from 0 to 1 (MODNet,
 * Ke et al., 2022; U2-Net, Qin et al., 2020, whose first output is the fused one), or background
 * and person, of which the softmax is taken where the export leaves it out (SINet, Park et al.,
 * 2020). */
#include "gstnnmap.h"

#include <glib/gi18n-lib.h>
#include <math.h>

static gboolean
fits (const GstNnDecodeInput *in)
{
  GstNnMap map;
  return gst_nn_map_find (&map, in, 1, 2);
}

static void
whole (const GstNnDecodeInput *in, GstNnObject *target)
{
  gboolean are_logits;
  GstNnMapPart part;
  guint8 *bytes, *to;
  GstNnMap map;
  if (!gst_nn_map_find (&map, in, 1, 2))
    return;
  part = gst_nn_map_part (&map, in, target);
  are_logits = map.channels == 2 && !gst_nn_map_has_shares (&map);
  to = bytes = g_malloc ((gsize)(part.rows * part.columns));
  for (gint64 r = part.row; r < part.row + part.rows; r++)
    for (gint64 c = part.column; c < part.column + part.columns; c++) {
      gdouble v = gst_nn_map_at (&map, map.channels - 1, r, c);
      if (are_logits)
        v = 1 / (1 + exp (gst_nn_map_at (&map, 0, r, c) - v));
      *to++ = v > 0 ? (guint8)(MIN (v, 1) * 255 + 0.5) : 0; /* NaN is not above 0 */
    }
  gst_nn_say_mask (in, target, GST_NN_MASK_COVERAGE, (guint)part.columns, (guint)part.rows, bytes,
                   part.area);
}

const GstNnDecoder gst_nn_decoder_matte = {
  .name = "matte",
  .blurb = N_ ("how much of each pixel is the person: [1,1,H,W], or [1,2,H,W] with the background"),
  .fits = fits,
  .recognises = gst_nn_by_name_only,
  .whole = whole,
};
