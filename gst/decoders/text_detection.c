/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text by differentiable binarization (Liao et al., "Real-time scene text detection with
 * differentiable binarization", 2020; DBPostProcess of github.com/PaddlePaddle/PaddleOCR, whose
 * constants these are). The map says where the core of a text is; the smallest rectangle around a
 * core grows on all sides by area * ratio / perimeter. The score is the mean of the core. */
#include "gstnnregions.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define BINARY_THRESHOLD 0.3
#define UNCLIP_RATIO 1.5
#define LEAST_SIDE 3 /* cells */

static gboolean
fits (const GstNnDecodeInput *in)
{
  GstNnMap map;
  return gst_nn_map_find (&map, in, 1, 1);
}

/* In pixels of the input, whose cells need not be square. */
static void
add_text (const GstNnDecodeInput *in, const GstNnMap *map, const GstNnRegion *r, GArray *objects)
{
  gdouble cw = gst_nn_map_cell_width (map, in), ch = gst_nn_map_cell_height (map, in);
  gdouble grow = 2 * r->width * r->height * UNCLIP_RATIO / (2 * (r->width + r->height));
  gdouble c = cos (r->angle), s = sin (r->angle);
  gdouble width = (r->width + grow) * hypot (c * cw, s * ch);
  gdouble height = (r->height + grow) * hypot (s * cw, c * ch);
  gdouble angle = atan2 (s * ch, c * cw);
  gdouble w = fabs (width * cos (angle)) + fabs (height * sin (angle));
  gdouble h = fabs (width * sin (angle)) + fabs (height * cos (angle));
  GstNnDetection *found =
      gst_nn_add_object (objects, r->x * cw - w / 2, r->y * ch - h / 2, w, h, r->mean, 0);
  if (found == NULL)
    return;
  found->is_rotated = TRUE;
  found->rotated_width = width;
  found->rotated_height = height;
  found->angle = angle;
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  g_autoptr (GArray) regions = NULL;
  GstNnMap map;
  if (!gst_nn_map_find (&map, in, 1, 1))
    return;
  regions = gst_nn_map_find_regions (&map, BINARY_THRESHOLD);
  for (guint i = 0; i < regions->len; i++) {
    const GstNnRegion *r = &g_array_index (regions, GstNnRegion, i);
    if (MIN (r->width, r->height) >= LEAST_SIDE && r->mean >= in->threshold)
      add_text (in, &map, r, objects);
  }
}

const GstNnDecoder gst_nn_decoder_text_detection = {
  .name = "text-detection",
  .blurb = N_ ("probability of text for each pixel [1,1,H,W] (DBNet, PaddleOCR)"),
  .fits = fits,
  .recognises = gst_nn_by_name_only,
  .decode = decode,
  .is_final = TRUE,
};
