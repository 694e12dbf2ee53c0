/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Weights of a product of bytes as the kernels read them (../vector/int8.h), and what belongs to
 * their output channels. */
#include "int8-private.h"

#include <string.h>

#define ROUND_UP(n) (((n) + 63) & ~(gsize)63)

#define WORDS 64          /* of each output channel that are packed at once */
#define TAKEN (4 * WORDS) /* weights */

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

/* Weights of @n input channels from @first on at a tap (row * kernel_w + column), less the zero
 * point; their sum. One that the model lacks is 0. */
static guint32
take_inputs (const Channel *c, gint tap, gint first, gint n, gint16 *to)
{
  gint t = c->w->taps ? c->w->taps[tap] : tap;
  gsize in = c->w->in;
  const guint8 *at = c->data + (gsize)first * in + (gsize)MAX (t, 0) * c->w->tap;
  gint32 flip = c->w->is_signed ? 0x80 : 0, less = c->zero + flip, sum = 0;
  if (t < 0) {
    memset (to, 0, (gsize)n * sizeof *to);
    return 0;
  }
  if (in == 1)
    for (gint i = 0; i < n; i++)
      to[i] = (gint16)((at[i] ^ flip) - less);
  else
    for (gint i = 0; i < n; i++)
      to[i] = (gint16)((at[(gsize)i * in] ^ flip) - less);
  for (gint i = 0; i < n; i++)
    sum += to[i];
  return (guint32)sum;
}

static gboolean
channel_fits_s8 (const CpuConv *c, const Channel *channel)
{
  gint16 weights[TAKEN];
  gint32 least = 0, most = 0;
  gint channels = c->depthwise ? 1 : c->channels;
  for (gint t = 0; t < c->kernel_h * c->kernel_w; t++)
    for (gint first = 0; first < channels; first += TAKEN) {
      gint n = MIN (TAKEN, channels - first);
      take_inputs (channel, t, first, n, weights);
      for (gint i = 0; i < n; i++) {
        least = MIN (least, weights[i]);
        most = MAX (most, weights[i]);
      }
    }
  return least >= -128 && most <= 127;
}

gboolean
cpu_int8_fits_s8 (const CpuInt8Spec *spec)
{
  const CpuConv *c = &spec->conv.shape;
  gint n = c->depthwise ? c->channels : c->groups * c->out_channels;
  for (gsize o = 0; o < (gsize)n; o++) {
    Channel channel = channel_of (&spec->weights, o);
    if (!(spec->weights.is_signed && channel.zero == 0) && !channel_fits_s8 (c, &channel))
      return FALSE;
  }
  return TRUE;
}

/* Elements @first to @first + @n of a run, which begins at @tap: columns, of each its channels. */
static guint32
take_run (const CpuConv *c, const Channel *channel, gint tap, gint first, gint n, gint16 *to)
{
  gint i = first % c->channels, some;
  guint32 sum = 0;
  for (tap += first / c->channels; n > 0; tap++, i = 0, n -= some, to += some) {
    some = MIN (n, c->channels - i);
    sum += take_inputs (channel, tap, i, some, to);
  }
  return sum;
}

/* Of a run that all output channels have. */
typedef struct {
  const CpuInt8Conv *conv;
  const CpuMove *move;
  gint tap, length, each; /* elements, and those of a word */
} Words;

/* @n words from @first on of one output channel; the sum of what they hold. */
static guint32
take_words (const Words *w, const Channel *channel, gint first, gint n, guint32 *to)
{
  gint16 weights[TAKEN] = { 0 };
  gint elements = MIN (n * w->each, w->length - first * w->each);
  guint32 sum = take_run (&w->conv->shape, channel, w->tap, first * w->each, elements, weights);
  guint8 *bytes = (guint8 *)to;
  if (w->each == 2)
    memcpy (to, weights, (gsize)n * sizeof *to);
  else
    for (gint i = 0; i < n * w->each; i++)
      bytes[i] = (guint8)weights[i];
  return sum;
}

/* Some words of output channels @o to @o + @n, a vector or two of which lie side by side. */
static void
pack_words (const CpuInt8Spec *spec, const Words *w, gsize o, gint n, gint first, gint wide,
            gint32 *sums, guint8 *to)
{
  guint32 rows[2 * CPU_MOST_LANES][WORDS];
  gint some = MIN (WORDS, w->conv->n_groups - first);
  for (gint i = 0; i < n; i++) {
    Channel channel = channel_of (&spec->weights, o + (gsize)i);
    sums[i] = (gint32)((guint32)sums[i] + take_words (w, &channel, first, some, rows[i]));
  }
  w->move->turn[sizeof (guint32)](to + (gsize)(first * wide) * 4, wide, rows, WORDS, n, some);
}

/* @panel: the first of its output channels. */
static void
pack_panel (const CpuInt8Spec *spec, const CpuInt8Kernels *k, gint group, gint panel,
            CpuInt8Layer *layer)
{
  const CpuInt8Conv *c = &spec->conv;
  gboolean by_rows = c->shape.n_taps == c->shape.kernel_h;
  gint wide = c->shape.padded - panel > k->lanes ? 2 * k->lanes : k->lanes;
  gint n = MIN (c->shape.out_channels - panel, wide);
  gsize at = (gsize)group * (gsize)c->shape.padded + (gsize)panel;
  gsize o = (gsize)group * (gsize)c->shape.out_channels + (gsize)panel;
  Words w = { c, k->move, 0, c->shape.channels * (by_rows ? c->shape.kernel_w : 1),
              c->pairs ? 2 : 4 };
  guint8 *to = layer->weights + at * (gsize)c->shape.n_taps * (gsize)c->n_groups * 4;
  for (gint t = 0; t < c->shape.n_taps; t++, to += (gsize)(c->n_groups * wide) * 4) {
    w.tap = by_rows ? t * c->shape.kernel_w : t;
    for (gint first = 0; first < c->n_groups; first += WORDS)
      pack_words (spec, &w, o, n, first, wide, layer->sums + at, to);
  }
}

static void
pack_dense (const CpuInt8Spec *spec, const CpuInt8Kernels *k, CpuInt8Layer *layer)
{
  const CpuConv *c = &spec->conv.shape;
  for (gint g = 0; g < c->groups; g++)
    for (gint panel = 0; panel < c->out_channels; panel += 2 * k->lanes)
      pack_panel (spec, k, g, panel, layer);
}

/* For each channel. */
static gsize
depthwise_words (const CpuInt8Conv *c)
{
  return (gsize)(c->row_words * c->shape.kernel_w);
}

/* Where the arrays have what belongs to a channel. */
static gint
place_of (const CpuInt8Conv *c, const CpuInt8Kernels *k, gint o)
{
  gboolean in_fours = c->shape.depthwise && !c->pairs;
  return in_fours ? cpu_int8_place (o, k->lanes) : o;
}

/* Two or four rows of the filter in a word, for the channels of all joined pixels. */
static void
pack_depthwise (const CpuInt8Spec *spec, const CpuInt8Kernels *k, CpuInt8Layer *layer)
{
  const CpuInt8Conv *c = &spec->conv;
  gint each = c->pairs ? 2 : 4, width = each * k->lanes, kernel_w = c->shape.kernel_w;
  gsize words = depthwise_words (c);
  for (gint o = 0; o < c->shape.channels * c->joined; o++) {
    gint place = place_of (c, k, o);
    guint8 *at = layer->weights + ((gsize)(place / width * width) * words + place % width) * 4;
    Channel channel = channel_of (&spec->weights, (gsize)(o % c->shape.channels));
    for (gint t = 0; t < c->shape.kernel_h * kernel_w; t++) {
      gint row = t / kernel_w, i = row % each;
      guint8 *to = at + (row / each * kernel_w + t % kernel_w) * width * 4;
      gint16 weight;
      layer->sums[place] += (gint32)take_inputs (&channel, t, 0, 1, &weight);
      if (c->pairs)
        memcpy (to + 2 * i, &weight, sizeof weight);
      else
        to[i] = (guint8)weight;
    }
  }
}

/* Arrays by group and channel, padded as the kernels read them. */
static void
fill_arrays (CpuInt8Layer *layer, const CpuInt8Spec *spec, const CpuInt8Kernels *k)
{
  const CpuInt8Conv *c = &layer->conv;
  gint channels = c->shape.depthwise ? c->shape.channels : c->shape.out_channels;
  for (gint g = 0; g < c->shape.groups; g++)
    for (gint i = 0; i < channels * c->joined; i++) {
      gsize o = (gsize)(g * channels + i % channels), at = (gsize)(g * c->shape.padded + i);
      gsize place = (gsize)(g * c->shape.padded + place_of (c, k, i));
      layer->bias[place] = spec->bias ? spec->bias[o] : 0;
      at = cpu_int8_makes_bytes (&c->finish) ? place : at;
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
  fill_arrays (layer, &own, k);
  if (own.conv.shape.depthwise)
    pack_depthwise (&own, k, layer);
  else
    pack_dense (&own, k, layer);
}
