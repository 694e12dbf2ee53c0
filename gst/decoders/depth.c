/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Depth from one picture: a number for each pixel, metric or, as of MiDaS (Ranftl et al., 2020) and
 * Depth Anything (Yang et al., 2024), relative and larger for what is near. The frame gets all of
 * them as bytes between the least and the largest, which an attribute names. */
#include "gstnnmap.h"

#include <glib/gi18n-lib.h>

static gboolean
fits (const GstNnDecodeInput *in)
{
  GstNnMap map;
  return gst_nn_map_find (&map, in, 1, 1);
}

static void
whole (const GstNnDecodeInput *in, GstNnObject *target)
{
  gchar low[G_ASCII_DTOSTR_BUF_SIZE], high[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree gchar *range = NULL;
  gdouble minimum, maximum;
  GstNnMap map;
  if (!gst_nn_map_find (&map, in, 1, 1))
    return;
  maximum = gst_nn_map_say_values (&map, in, target, &minimum);
  range = g_strdup_printf ("%s..%s", g_ascii_formatd (low, sizeof low, "%.4g", minimum),
                           g_ascii_formatd (high, sizeof high, "%.4g", maximum));
  gst_nn_say_class (in, target, "depth", -1, range, 1);
}

const GstNnDecoder gst_nn_decoder_depth = {
  .name = "depth",
  .blurb = N_ ("how near or far each pixel is: [1,1,H,W] or [1,H,W]"),
  .fits = fits,
  .recognises = gst_nn_by_name_only,
  .whole = whole,
};
