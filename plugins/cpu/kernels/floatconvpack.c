/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Weights of convolutions of floats in the order in which their kernels read them: by panels of
 * output channels, by planes of the source, by taps, by the input channels of a plane, the panel's
 * vectors side by side. */
#include "convparts.h"
#include "floatconv-private.h"

#include <string.h>

/* Parts of the second cache: what a part lays out of its source, that of all groups (of planes, as
 * they come in from memory: what the first cache holds), what a depthwise part reads, and the
 * weights of a panel that are used for all of a part's pixels, then the next ones. */
#define PATCH(l2) ((l2) / 4)
#define PLANES(l2) ((l2) / 32)
#define STRIP(l2) ((l2) / 8)
#define BAND(l2) ((l2) / 8)
#define WEIGHTS(l2) ((l2) / 16)

#define GAIN 0.75 /* that is worth laying the source out */

#define MOST_PIXELS 8 /* that are computed as one */

#define TURNED 4096 /* elements of some channels, which the first cache holds */

/* Input channels that an output channel is made of. */
static gint
inputs_of (const CpuConv *c)
{
  return c->depthwise ? 1 : c->spread > 0 ? c->spread : c->channels;
}

static gint
inputs_of_plane (const CpuConv *c)
{
  return c->depthwise || c->spread > 0 ? inputs_of (c) : c->channels / cpu_conv_count_planes (c);
}

static gint
channels_of (const CpuConv *c)
{
  return c->depthwise ? c->channels : c->out_channels;
}

static gsize
round_up (gsize n_bytes)
{
  return (n_bytes + 63) / 64 * 64;
}

/* Many weights and few pixels: channels are cut, so that all pixels of a frame use a weight that
 * was read. */
static gboolean
has_more_weights (const CpuConv *c)
{
  return (gint64)c->out_channels * c->kernel_h * c->kernel_w > (gint64)c->in_h * c->in_w;
}

/* Where sums, and then the patch, stand in a thread's memory. */
static void
place_scratch (CpuConv *c, const CpuFloatConvKernels *k, gsize pixel)
{
  gsize pixels = (gsize)(c->band_h * c->band_w), vector = (gsize)k->lanes * sizeof (gfloat);
  gsize patch = (gsize)cpu_conv_patch_rows (c) * (gsize)cpu_conv_patch_columns (c) * pixel;
  c->heads[0] = round_up ((gsize)(MAX (2, cpu_conv_count_planes (c)) * c->kernel_h * c->kernel_w) *
                          sizeof (gint));
  c->heads[1] = c->heads[0] + (c->chunk > 0 ? round_up (pixels * vector * (gsize)k->vectors) : 0);
  c->scratch = c->heads[1] + (c->direct ? 0 : round_up (patch + 64));
}

/* Products, and vectors that are laid out, for a vector of a pixel's channels: side by side against
 * group by group. */
static gboolean
gains_by_spreading (const CpuConv *c, gint groups)
{
  gint taps = c->kernel_h * c->kernel_w, pixels = c->stride_h * c->stride_w;
  return taps + 2 * pixels < GAIN * taps * groups;
}

void
cpu_float_conv_spread (CpuConv *c, const CpuFloatConvKernels *k)
{
  gint n = c->out_channels;
  if (c->depthwise || (c->channels != n && c->channels != 1) || (n != 2 && n != 4 && n != 8) ||
      n >= k->lanes || c->groups % (k->lanes / n) != 0 || !gains_by_spreading (c, k->lanes / n))
    return;
  c->spread = c->channels;
  c->repeat = c->channels == 1 ? n : 0;
  c->groups /= k->lanes / n;
  c->channels *= k->lanes / n;
  c->out_channels = k->lanes;
}

static void
setup_spread (CpuConv *c, const CpuFloatConvKernels *k, guint threads)
{
  gsize vector = (gsize)k->lanes * sizeof (gfloat), pixel = (gsize)c->spread * vector;
  CpuConvCut cut = { .pixel = pixel + (gsize)(c->block > 0 ? 1 : c->groups) * vector,
                     .patch = PATCH (cpu_second_cache ()),
                     .step = 1,
                     .tile = k->pixels,
                     .panels = 1,
                     .threads = threads };
  c->n_taps = c->kernel_h * c->kernel_w;
  c->tap_size = c->spread;
  c->padded = k->lanes;
  c->n_panels = 1;
  cpu_conv_cut (c, &cut);
  place_scratch (c, k, pixel);
}

void
cpu_float_conv_setup (CpuConv *c, const CpuFloatConvKernels *k, guint threads)
{
  gboolean by_rows = c->kernel_w == 1 || c->dilation_w == 1;
  gsize l2 = cpu_second_cache (), pixel = (gsize)c->channels * sizeof (gfloat);
  gsize panel = (gsize)(c->kernel_h * c->kernel_w) * pixel * (gsize)(k->lanes * k->vectors);
  gint vectors = cpu_ceil_div (channels_of (c), k->lanes), planes = cpu_conv_count_planes (c);
  gint wide = c->block > k->lanes ? MIN (k->vectors, c->block / k->lanes) : k->vectors;
  CpuConvCut cut = { .pixel = pixel,
                     .patch = PATCH (l2),
                     .step = 1,
                     .tile = k->pixels,
                     .panels = 1,
                     .threads = threads };
  if (c->spread > 0) {
    setup_spread (c, k, threads);
    return;
  }
  c->n_taps = planes * (by_rows ? c->kernel_h : c->kernel_h * c->kernel_w);
  c->tap_size = c->channels / planes * (by_rows ? c->kernel_w : 1);
  c->direct = c->depthwise || (!k->is_half && cpu_conv_reads_inside (c));
  c->padded = vectors * k->lanes;
  c->n_panels = cpu_ceil_div (vectors, c->depthwise ? k->strip : wide);
  if (!c->depthwise && planes == 1 && panel > WEIGHTS (l2))
    c->chunk = (gint)(WEIGHTS (l2) / (gsize)(k->lanes * k->vectors) / sizeof (gfloat));
  if (c->depthwise && c->block > 0) {
    c->n_panels = cpu_ceil_div (vectors, MIN (k->strip, c->block / k->lanes));
    cut.patch = G_MAXINT; /* rows of a panel follow each other */
    cut.by_panels = TRUE;
  } else if (c->depthwise) { /* by channels where there are many, for bands have edges */
    cut.patch = STRIP (l2);
    cut.by_panels = (guint)c->n_panels >= 3 * threads;
  } else if (has_more_weights (c)) {
    cut.patch = l2;
    cut.by_panels = TRUE;
  } else if (planes > 1 || c->block > 0) {
    cut.patch = PLANES (l2);
  } else if (c->groups > 1) { /* those of all groups, which are read one after the other */
    cut.pixel *= (gsize)c->groups;
  } else if (c->direct) { /* what is read and what is written of a pixel, for all panels */
    cut.pixel += (gsize)c->out_channels * sizeof (gfloat);
    cut.patch = BAND (l2);
  }
  cpu_conv_cut (c, &cut);
  place_scratch (c, k, pixel);
}

/* A band's products are added while they are near. */
static void
cut_columns (CpuConv *products, gsize row)
{
  gint rows = (gint)CLAMP (PATCH (cpu_second_cache ()) / row, 1, (gsize)products->band_h);
  products->panels = products->n_panels;
  products->band_w = products->out_w;
  products->band_h =
      cpu_ceil_div (products->out_h, cpu_ceil_div (products->out_h, rows)); /* of equal size */
}

void
cpu_float_columns_setup (CpuFloatColumns *self, const CpuFloatConvKernels *k, guint threads)
{
  CpuConv *c = &self->conv, *p = &self->products;
  gsize row, pixel = (gsize)c->channels * sizeof (gfloat), lanes = (gsize)k->lanes;
  *p = *c;
  p->kernel_w = p->stride_w = p->dilation_w = 1;
  p->pad_left = 0;
  p->out_w = c->in_w;
  p->out_channels = cpu_ceil_div (self->rows * c->out_channels * c->kernel_w, k->lanes) * k->lanes;
  p->y_pixel = (gsize)p->out_channels;
  p->y_row = (gsize)p->out_w * p->y_pixel;
  row = p->y_row * sizeof (gfloat);
  cpu_float_conv_setup (p, k, threads);
  cut_columns (p, row);
  place_scratch (p, k, pixel);
  /* of the last pixel, and of the last sum, a vector is read and written that ends behind it */
  self->heads[0] = round_up (p->scratch);
  self->heads[1] = self->heads[0] + round_up ((gsize)p->band_h * row + lanes * sizeof (gfloat));
  c->scratch =
      self->heads[1] + round_up (((gsize)(c->out_w * c->out_channels) + lanes) * sizeof (gfloat));
  c->n_panels = c->panels = 1;
  c->band_h = p->band_h;
  c->band_w = c->out_w;
}

gint
cpu_float_conv_widen (CpuConv *wide, const CpuConv *c, const CpuFloatConvKernels *k)
{
  gint pixels = 1;
  if (!c->depthwise || c->n_panels > 1 || c->stride_w > 1 || c->x_pixel != (gsize)c->channels ||
      c->y_pixel != c->x_pixel)
    return 0;
  while (pixels * c->channels % k->lanes != 0)
    pixels *= 2;
  if (pixels == 1 || pixels > MOST_PIXELS || c->out_w < 4 * pixels)
    return 0;
  *wide = *c;
  wide->padded = wide->channels = c->channels * pixels;
  wide->n_panels = cpu_ceil_div (wide->padded / k->lanes, k->strip);
  return pixels;
}

gsize
cpu_float_weights_size (const CpuConv *c)
{
  gsize taps = (gsize)(c->kernel_h * c->kernel_w);
  return (gsize)c->groups * (gsize)c->padded * taps * (gsize)inputs_of (c) * sizeof (gfloat);
}

/* All of one output channel, @step elements apart; what has no tap stays 0. */
static void
pack_channel (const CpuConv *c, const CpuFloatWeights *w, gsize o, gfloat *to, gsize step)
{
  gint taps = c->kernel_h * c->kernel_w, inputs = inputs_of (c);
  gint some = inputs_of_plane (c);
  gsize period = w->period ? o / w->period : 0;
  const gfloat *channel;
  o -= period * w->period;
  channel =
      w->data + period * w->again + o * w->out + (w->per_group ? o / w->per_group * w->group : 0);
  for (gint t = 0; t < taps; t++) {
    gint tap = w->taps ? w->taps[t] : t;
    const gfloat *from = channel + (gsize)MAX (tap, 0) * w->tap;
    for (gint i = 0; i < inputs && tap >= 0; i++)
      to[step * (gsize)((i / some * taps + t) * some + i % some)] = from[(gsize)i * w->in];
  }
}

/* The elements of a channel lie one behind the other: by inputs, of each by taps. */
static gboolean
is_in_rows (const CpuConv *c, const CpuFloatWeights *w)
{
  gsize taps = (gsize)(c->kernel_h * c->kernel_w);
  return w->taps == NULL && w->period == 0 && w->per_group == 0 && w->in == taps &&
         (taps == 1 || w->tap == 1);
}

/* @n channels of a panel of @wide, @out elements apart: a few elements of all of them at a time. */
static void
pack_rows (const CpuConv *c, const CpuFloatConvKernels *k, const gfloat *from, gsize out, gint n,
           gint wide, gfloat *to)
{
  gfloat turned[TURNED];
  gsize inputs = (gsize)inputs_of (c), row = (gsize)n * sizeof (gfloat);
  gsize taps = (gsize)(c->kernel_h * c->kernel_w), all = taps * inputs, some;
  gsize plane = (gsize)inputs_of_plane (c);
  for (gsize first = 0; first < all; first += some, from += some) {
    some = MIN ((gsize)(TURNED / n), all - first);
    k->move->turn[sizeof (gfloat)](turned, n, from, (gint64)out, n, (gint64)some);
    for (gsize e = 0; e < some; e++) {
      gsize input = (first + e) / taps, tap = (first + e) % taps;
      gsize at = (input / plane * taps + tap) * plane + input % plane;
      memcpy (to + at * (gsize)wide, turned + e * (gsize)n, row);
      memset (to + at * (gsize)wide + n, 0, (gsize)(wide - n) * sizeof (gfloat));
    }
  }
}

/* The same of one pixel, whose @n channels lie side by side for each input. */
static void
copy_rows (const gfloat *from, gsize row, gint inputs, gint n, gint wide, gfloat *to)
{
  for (gint i = 0; i < inputs; i++, from += row, to += wide) {
    memcpy (to, from, (gsize)n * sizeof *to);
    memset (to + n, 0, (gsize)(wide - n) * sizeof *to);
  }
}

void
cpu_float_panel_pack (const CpuConv *c, const CpuFloatWeights *from, const CpuFloatConvKernels *k,
                      gint group, gint panel, gfloat *to)
{
  gint first = cpu_conv_panel_start (c, k->lanes, panel) * k->lanes;
  gint wide = cpu_conv_panel_start (c, k->lanes, panel + 1) * k->lanes - first;
  gint inputs = inputs_of (c), taps = c->kernel_h * c->kernel_w, channels = channels_of (c);
  gint n = CLAMP (channels - first, 0, wide);
  gsize at = (gsize)group * (gsize)channels + (gsize)first;
  to += ((gsize)group * (gsize)c->padded + (gsize)first) * (gsize)(taps * inputs);
  if (taps == 1 && from->out == 1 && from->taps == NULL && from->period == 0 &&
      from->per_group == 0) {
    copy_rows (from->data + at, from->in, inputs, n, wide, to);
    return;
  }
  if (n > 0 && n <= TURNED && is_in_rows (c, from)) {
    pack_rows (c, k, from->data + at * from->out, from->out, n, wide, to);
    return;
  }
  memset (to, 0, (gsize)wide * (gsize)(taps * inputs) * sizeof *to);
  for (gint i = 0; i < n; i++)
    pack_channel (c, from, at + (gsize)i, to + i, (gsize)wide);
}

void
cpu_float_weights_pack (const CpuConv *c, const CpuFloatWeights *from, const CpuFloatConvKernels *k,
                        gfloat *to)
{
  for (gint g = 0; g < c->groups; g++)
    for (gint p = 0; p < c->n_panels; p++)
      cpu_float_panel_pack (c, from, k, g, p, to);
}

void
cpu_float_array_pack (const CpuConv *c, const gfloat *from, gint period, gfloat *to)
{
  gint channels = channels_of (c), again = period ? period : c->groups * channels;
  memset (to, 0, (gsize)(c->groups * c->padded) * sizeof *to);
  for (gint g = 0; g < c->groups; g++)
    for (gint i = 0; i < channels; i++)
      to[g * c->padded + i] = from[(g * channels + i) % again];
}
