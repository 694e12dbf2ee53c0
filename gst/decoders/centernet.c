/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CenterNet: Zhou et al., arXiv:1904.07850. A cell that is the largest of its neighbours is an
 * object's centre: nothing else is suppressed. Exports may lack the sigmoid. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>
#include <math.h>

typedef struct {
  const gfloat *heat, *sizes, *offsets;
  gint64 c, h, w;
  gdouble sx, sy;
} Maps;

/* Named, or in the published order: heat, sizes, offsets. */
static gboolean
find_maps (const GstNnDecodeInput *in, Maps *m)
{
  gint64 c[3], h[3], w[3];
  guint heat = 3, sizes, offsets;
  if (in->tensors->len != 3)
    return FALSE;
  for (guint i = 3; i-- > 0;) {
    if (!gst_nn_is_map (gst_nn_shape_at (in, i), &c[i], &h[i], &w[i]))
      return FALSE;
    if (c[i] != 2 || heat == 3)
      heat = i;
  }
  for (guint i = 0; i < 3; i++)
    if (gst_nn_is_called (in, i, "hm") || gst_nn_is_called (in, i, "heat"))
      heat = i;
  sizes = heat == 0 ? 1 : 0;
  offsets = 3 - heat - sizes;
  if (gst_nn_is_called (in, sizes, "reg") || gst_nn_is_called (in, sizes, "off")) {
    sizes = offsets;
    offsets = 3 - heat - sizes;
  }
  *m = (Maps){ gst_nn_data_at (in, heat),
               gst_nn_data_at (in, sizes),
               gst_nn_data_at (in, offsets),
               c[heat],
               h[heat],
               w[heat],
               (gdouble)in->width / (gdouble)w[heat],
               (gdouble)in->height / (gdouble)h[heat] };
  return c[sizes] == 2 && c[offsets] == 2 && h[0] == h[1] && h[1] == h[2] && w[0] == w[1] &&
         w[1] == w[2];
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  Maps maps;
  return find_maps (in, &maps);
}

static gboolean
is_peak (const gfloat *map, const Maps *m, gint64 x, gint64 y)
{
  gfloat v = map[y * m->w + x];
  for (gint64 j = MAX (y - 1, 0); j <= MIN (y + 1, m->h - 1); j++)
    for (gint64 i = MAX (x - 1, 0); i <= MIN (x + 1, m->w - 1); i++)
      if (map[j * m->w + i] > v)
        return FALSE;
  return TRUE;
}

/* Sizes and offsets are in cells. */
static void
add_peak (const Maps *m, gint64 i, gdouble score, gint class_id, GArray *objects)
{
  gint64 plane = m->h * m->w;
  gdouble w = (gdouble)m->sizes[i], h = (gdouble)m->sizes[plane + i];
  gdouble x = (gdouble)(i % m->w) + (gdouble)m->offsets[i];
  gdouble y = (gdouble)(i / m->w) + (gdouble)m->offsets[plane + i];
  gst_nn_add_object (objects, (x - w / 2) * m->sx, (y - h / 2) * m->sy, w * m->sx, h * m->sy, score,
                     class_id);
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  gboolean is_logit;
  gdouble least;
  Maps m;
  find_maps (in, &m);
  is_logit = in->activation ? g_str_equal (in->activation, "sigmoid")
                            : !gst_nn_are_shares (m.heat, m.c * m.h * m.w);
  least = is_logit ? log (in->threshold / (1 - in->threshold)) : in->threshold;
  for (gint64 k = 0; k < m.c; k++) {
    const gfloat *map = m.heat + k * m.h * m.w;
    for (gint64 i = 0; i < m.h * m.w; i++)
      if ((gdouble)map[i] >= least && is_peak (map, &m, i % m.w, i / m.w))
        add_peak (&m, i, is_logit ? gst_nn_sigmoid ((gdouble)map[i]) : (gdouble)map[i], (gint)k,
                  objects);
  }
}

const GstNnDecoder gst_nn_decoder_centernet = {
  .name = "centernet",
  .blurb = N_ ("peaks of heat maps [1,C,H,W] with sizes and offsets [1,2,H,W] (CenterNet)"),
  .fits = fits,
  .decode = decode,
  .is_final = TRUE,
};
