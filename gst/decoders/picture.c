/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Models whose output is a picture: there is nothing to say of the frame, and nntensor2video shows
 * it. */
#include "gstnnmap.h"

#include <glib/gi18n-lib.h>

static gboolean
fits (const GstNnDecodeInput *in)
{
  GstNnMap map;
  return gst_nn_map_find (&map, in, 1, 4);
}

const GstNnDecoder gst_nn_decoder_picture = {
  .name = "picture",
  .blurb = N_ ("a picture, for nntensor2video: [1,C,H,W] or [1,H,W,C] with 1, 3 or 4 channels"),
  .fits = fits,
  .recognises = gst_nn_by_name_only,
};
