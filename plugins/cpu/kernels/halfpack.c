/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Weights of convolutions in half precision. */
#include "floatconv-private.h"

#include <math.h>

/* Weights are scaled so that the largest of an output channel is at most 2 to this: products of
 * what networks compute then neither reach the largest half when they are summed, nor vanish. */
#define LARGEST_EXPONENT (-3)

/* A power of 2, by which a channel is divided without an error. @weights: of one channel, @step
 * elements apart. */
static gfloat
factor_of (const gfloat *weights, gsize n, gsize step)
{
  gfloat most = 0;
  for (gsize i = 0; i < n; i++)
    most = fmaxf (most, fabsf (weights[i * step]));
  return most > 0 && isfinite (most) ? exp2f ((gfloat)(ilogbf (most) + 1 - LARGEST_EXPONENT)) : 1;
}

/* One panel of @n elements of @channels each. */
static void
pack_panel (gfloat *panel, gsize n, gsize channels, const CpuHalf *half, guint16 *to,
            gfloat *factors)
{
  for (gsize o = 0; o < channels; o++) {
    factors[o] = factor_of (panel + o, n, channels);
    for (gsize i = 0; i < n; i++)
      panel[i * channels + o] /= factors[o];
  }
  half->from_floats (to, panel, (gint64)(n * channels));
}

void
cpu_half_weights_pack (const CpuConv *c, gfloat *packed, const CpuFloatConvKernels *k,
                       const CpuHalf *half, guint16 *to, gfloat *factors)
{
  gsize each = (gsize)(c->kernel_h * c->kernel_w * c->channels);
  for (gint g = 0; g < c->groups; g++)
    for (gint p = 0; p < c->n_panels; p++) {
      gint first = cpu_conv_panel_start (c, k->lanes, p) * k->lanes;
      gint end = cpu_conv_panel_start (c, k->lanes, p + 1) * k->lanes;
      gsize at = (gsize)(g * c->padded + first);
      pack_panel (packed + at * each, each, (gsize)(end - first), half, to + at * each,
                  factors + at);
    }
}
