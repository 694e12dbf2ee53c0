/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Weights of convolutions of floats in the order in which their kernels read them: by panels of
 * output channels, by taps and input channels, the panel's vectors side by side. */
#include "convparts.h"
#include "floatconv-private.h"

#include <string.h>

#define PATCH (64 * 1024)  /* bytes of the source that a part lays out: well inside L2 */
#define STRIP (512 * 1024) /* bytes of the source that a depthwise part reads */

static gint
channels_of (const CpuConv *c)
{
  return c->depthwise ? c->channels : c->out_channels;
}

void
cpu_float_conv_setup (CpuConv *c, const CpuFloatConvKernels *k, guint threads)
{
  gboolean by_rows = c->kernel_w == 1 || c->dilation_w == 1;
  gsize pixel = (gsize)c->channels * sizeof (gfloat), patch;
  gint vectors = cpu_ceil_div (channels_of (c), k->lanes);
  gint each = c->depthwise ? k->strip : k->vectors;
  cpu_conv_flatten (c);
  c->n_taps = by_rows ? c->kernel_h : c->kernel_h * c->kernel_w;
  c->direct = c->depthwise || cpu_conv_reads_inside (c);
  c->padded = vectors * k->lanes;
  c->n_panels = cpu_ceil_div (vectors, each);
  cpu_conv_cut (c, &(const CpuConvCut){ .pixel = pixel,
                                        .patch = c->depthwise ? STRIP : PATCH,
                                        .step = 1,
                                        .tile = k->pixels,
                                        .panels = 1,
                                        .threads = threads });
  patch = (gsize)cpu_conv_patch_rows (c) * (gsize)cpu_conv_patch_columns (c) * pixel;
  c->scratch = ((gsize)c->n_taps * sizeof (gint) + 127) / 64 * 64 +
               (c->direct ? 0 : (patch + 127) / 64 * 64);
}

gsize
cpu_float_weights_size (const CpuConv *c)
{
  gsize taps = (gsize)(c->kernel_h * c->kernel_w);
  return (gsize)c->groups * (gsize)c->padded * taps * (gsize)(c->depthwise ? 1 : c->channels) *
         sizeof (gfloat);
}

static gfloat
weight_at (const CpuFloatWeights *w, gsize o, gsize i, gint tap)
{
  gsize group = w->per_group ? o / w->per_group * w->group : 0;
  gint t = w->taps ? w->taps[tap] : tap;
  return t < 0 ? 0 : w->data[o * w->out + group + i * w->in + (gsize)t * w->tap];
}

/* All of one output channel, @step elements apart. */
static void
pack_channel (const CpuConv *c, const CpuFloatWeights *w, gsize o, gfloat *to, gsize step)
{
  gint inputs = c->depthwise ? 1 : c->channels;
  for (gint t = 0; t < c->kernel_h * c->kernel_w; t++)
    for (gint i = 0; i < inputs; i++, to += step)
      *to = weight_at (w, o, (gsize)i, t);
}

void
cpu_float_weights_pack (const CpuConv *c, const CpuFloatWeights *from, const CpuFloatConvKernels *k,
                        gfloat *to)
{
  gsize each = (gsize)(c->kernel_h * c->kernel_w) * (gsize)(c->depthwise ? 1 : c->channels);
  gint channels = channels_of (c);
  memset (to, 0, cpu_float_weights_size (c));
  for (gint g = 0; g < c->groups; g++)
    for (gint p = 0; p < c->n_panels; p++) {
      gint first = cpu_conv_panel_start (c, k->lanes, p) * k->lanes;
      gint end = cpu_conv_panel_start (c, k->lanes, p + 1) * k->lanes;
      gfloat *panel = to + ((gsize)g * (gsize)c->padded + (gsize)first) * each;
      for (gint o = first; o < MIN (end, channels); o++)
        pack_channel (c, from, (gsize)(g * channels + o), panel + (o - first),
                      (gsize)(end - first));
    }
}

void
cpu_float_array_pack (const CpuConv *c, const gfloat *from, gfloat *to)
{
  gint channels = channels_of (c);
  memset (to, 0, (gsize)(c->groups * c->padded) * sizeof *to);
  for (gint g = 0; g < c->groups; g++)
    memcpy (to + g * c->padded, from + g * channels, (gsize)channels * sizeof *to);
}
