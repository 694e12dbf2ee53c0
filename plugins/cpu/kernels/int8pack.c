/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Weights of a product of bytes as the kernels read them (../vector/int8.h), and what belongs to
 * their output channels. */
#include "int8-private.h"

#include <string.h>

#define ROUND_UP(n) (((n) + 63) & ~(gsize)63)

/* What the weights of an output channel share. */
typedef struct {
  const CpuInt8Weights *w;
  const guint8 *data;
  gint32 zero;
} Channel;

static Channel
channel_of (const CpuInt8Weights *w, gsize o)
{
  gsize group = w->per_group ? o / w->per_group * w->group : 0;
  gint32 zero = w->n_zero == 0 ? 0 : w->zero[w->n_zero > 1 ? o : 0];
  return (Channel){ w, w->data + o * w->out + group, zero };
}

/* Weight less its zero point; @tap is row * kernel_w + column. A tap that the model lacks is 0. */
static inline gint32
weight_at (const Channel *c, gsize i, gint tap)
{
  gint t = c->w->taps ? c->w->taps[tap] : tap;
  const guint8 *at = c->data + i * c->w->in;
  if (t < 0)
    return 0;
  at += (gsize)t * c->w->tap;
  return (c->w->is_signed ? (gint32)(gint8)*at : (gint32)*at) - c->zero;
}

gboolean
cpu_int8_fits_s8 (const CpuInt8Spec *spec)
{
  const CpuInt8Conv *c = &spec->conv;
  for (gsize o = 0; o < (gsize)(c->shape.groups * c->shape.out_channels); o++) {
    Channel channel = channel_of (&spec->weights, o);
    if (spec->weights.is_signed && channel.zero == 0)
      continue;
    for (gsize i = 0; i < (gsize)c->shape.channels; i++)
      for (gint t = 0; t < c->shape.kernel_h * c->shape.kernel_w; t++) {
        gint32 v = weight_at (&channel, i, t);
        if (v < -128 || v > 127)
          return FALSE;
      }
  }
  return TRUE;
}

/* One output channel of a dense layer: word by word, @step bytes apart. */
static void
pack_channel (const CpuInt8Spec *spec, gsize o, guint8 *to, gsize step)
{
  const CpuInt8Conv *c = &spec->conv;
  gboolean by_rows = c->shape.n_taps == c->shape.kernel_h;
  gint run = by_rows ? c->shape.channels * c->shape.kernel_w : c->shape.channels,
       each = c->pairs ? 2 : 4;
  Channel channel = channel_of (&spec->weights, o);
  for (gint t = 0; t < c->shape.n_taps; t++) {
    gint i = 0, tap = by_rows ? t * c->shape.kernel_w : t;
    for (gint m = 0; m < c->n_groups; m++, to += step)
      for (gint e = 0; e < each && m * each + e < run; e++) {
        gint32 v = weight_at (&channel, (gsize)i, tap);
        if (c->pairs)
          ((gint16 *)(gpointer)to)[e] = (gint16)v;
        else
          to[e] = (guint8)v;
        if (++i == c->shape.channels) { /* the next column of the row */
          i = 0;
          tap++;
        }
      }
  }
}

static void
pack_dense (const CpuInt8Spec *spec, const CpuInt8Kernels *k, guint8 *to)
{
  const CpuInt8Conv *c = &spec->conv;
  gsize words = (gsize)c->shape.n_taps * (gsize)c->n_groups;
  for (gint g = 0; g < c->shape.groups; g++)
    for (gint o = 0; o < c->shape.out_channels; o++) {
      gint panel = o / (2 * k->lanes) * 2 * k->lanes;
      gint vectors = c->shape.padded - panel > k->lanes ? 2 : 1;
      guint8 *at = to + ((gsize)g * (gsize)c->shape.padded + (gsize)panel) * words * 4 +
                   (gsize)(o - panel) * 4;
      pack_channel (spec, (gsize)(g * c->shape.out_channels + o), at,
                    (gsize)(vectors * k->lanes) * 4);
    }
}

/* For each channel. */
static gsize
depthwise_words (const CpuInt8Conv *c)
{
  return (gsize)(c->step * c->pairs_of_rows * c->shape.kernel_w);
}

/* Rows of the filter in pairs; where rows of the strip come in twos, once more a row later. */
static void
pack_depthwise (const CpuInt8Spec *spec, const CpuInt8Kernels *k, guint8 *to)
{
  const CpuInt8Conv *c = &spec->conv;
  gint width = 2 * k->lanes;
  gsize words = depthwise_words (c);
  for (gint o = 0; o < c->shape.channels; o++) {
    gint16 *at =
        (gint16 *)(gpointer)(to + (gsize)(o / width * width) * 4 * words) + 2 * (o % width);
    Channel channel = channel_of (&spec->weights, (gsize)o);
    for (gint odd = 0; odd < c->step; odd++)
      for (gint t = 0; t < c->shape.kernel_h * c->shape.kernel_w; t++) {
        gint row = odd * (2 * c->pairs_of_rows + 1) + t / c->shape.kernel_w,
             x = t % c->shape.kernel_w;
        at[(gsize)((row / 2 * c->shape.kernel_w + x) * width) * 2 + (gsize)(row % 2)] =
            (gint16)weight_at (&channel, 0, t);
      }
  }
}

/* Arrays by group and channel, padded as the kernels read them. */
static void
fill_arrays (CpuInt8Layer *layer, const CpuInt8Spec *spec)
{
  const CpuInt8Conv *c = &layer->conv;
  gint channels = c->shape.depthwise ? c->shape.channels : c->shape.out_channels,
       in = c->shape.depthwise ? 1 : c->shape.channels;
  for (gint g = 0; g < c->shape.groups; g++)
    for (gint i = 0; i < channels; i++) {
      gsize o = (gsize)(g * channels + i), at = (gsize)(g * c->shape.padded + i);
      Channel channel = channel_of (&spec->weights, o);
      guint32 sum = 0; /* of 32 bits, as the products' sums are */
      for (gint k = 0; k < in; k++)
        for (gint t = 0; t < c->shape.kernel_h * c->shape.kernel_w; t++)
          sum += (guint32)weight_at (&channel, (gsize)k, t);
      layer->sums[at] = (gint32)sum;
      layer->bias[at] = spec->bias ? spec->bias[o] : 0;
      layer->scale[at] = spec->scale ? spec->scale[spec->n_scale > 1 ? o : 0] : 1;
      layer->shift[at] = spec->shift ? spec->shift[o] : 0;
    }
}

gsize
cpu_int8_layer_plan (CpuInt8Layer *layer, const CpuInt8Conv *conv)
{
  gsize words = conv->shape.depthwise ? depthwise_words (conv)
                                      : (gsize)conv->shape.n_taps * (gsize)conv->n_groups;
  layer->conv = *conv;
  layer->n = (gsize)conv->shape.groups * (gsize)conv->shape.padded;
  layer->n_weights = layer->n * words * 4;
  return ROUND_UP (layer->n_weights) + 4 * ROUND_UP (layer->n * 4);
}

void
cpu_int8_layer_place (CpuInt8Layer *layer, guint8 *memory)
{
  gsize array = ROUND_UP (layer->n * 4);
  layer->weights = memory;
  memory += ROUND_UP (layer->n_weights);
  layer->bias = (gint32 *)(gpointer)memory;
  layer->sums = (gint32 *)(gpointer)(memory + array);
  layer->scale = (gfloat *)(gpointer)(memory + 2 * array);
  layer->shift = (gfloat *)(gpointer)(memory + 3 * array);
}

void
cpu_int8_layer_fill (CpuInt8Layer *layer, const CpuInt8Spec *spec, const CpuInt8Kernels *k)
{
  CpuInt8Spec own = *spec;
  own.conv = layer->conv;
  memset (layer->weights, 0, layer->n_weights);
  memset (layer->bias, 0, 4 * ROUND_UP (layer->n * 4)); /* all arrays: channels that only pad */
  fill_arrays (layer, &own);
  if (own.conv.shape.depthwise)
    pack_depthwise (&own, k, layer->weights);
  else
    pack_dense (&own, k, layer->weights);
}
