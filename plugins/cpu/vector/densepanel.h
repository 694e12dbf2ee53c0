/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dense and grouped convolution around its tiles, for floats (floatdense.c) and halves
 * (halfdense.c), which define `tiles`, `tile_pixels` and lay_elements () before this.
 *
 * A row of the filter is one run of consecutive elements of the source, so that every filter is a
 * list of runs. A tile of pixels x vectors of output channels stays in registers over all of them.
 * What a part reads is laid out with its padding first, unless it can be read where it lies. Where
 * channels of the source are planes, a run is a row of the filter in one of them. */
#pragma once

#include "densetile.h"

#include <string.h>

/* The source as the tiles read it: where the part's first pixel is, and how far it is to others. */
typedef struct {
  const DENSE_SOURCE *data;
  gsize pixel, row; /* elements from one output pixel to the next, one output row to the next */
} Patch;

/* What a part reads of the source, with its padding. */
typedef struct {
  gint top, left, rows, width;
} Area;

/* One row of the source, whose pixels have @n elements. */
static void
lay_row (const CpuConv *c, const gfloat *x, gsize n, const Area *a, DENSE_SOURCE *to)
{
  gint from = CLAMP (-a->left, 0, a->width), until = CLAMP (c->in_w - a->left, from, a->width);
  memset (to, 0, (gsize)from * n * sizeof *to);
  x += (gssize)(a->left + from) * (gssize)c->x_pixel;
  to += (gsize)from * n;
  if (c->x_pixel == n)
    lay_elements (to, x, (gsize)(until - from) * n);
  else
    for (gint i = 0; i < until - from; i++)
      lay_elements (to + (gsize)i * n, x + (gsize)i * c->x_pixel, n);
  to += (gsize)(until - from) * n;
  memset (to, 0, (gsize)(a->width - until) * n * sizeof *to);
}

static void
lay_plane (const CpuConv *c, const gfloat *x, gsize n, const Area *a, DENSE_SOURCE *to)
{
  gsize row = (gsize)a->width * n;
  for (gint y = a->top; y < a->top + a->rows; y++, to += row)
    if (y < 0 || y >= c->in_h)
      memset (to, 0, row * sizeof *to);
    else
      lay_row (c, x + (gsize)y * c->x_row, n, a, to);
}

/* Where the runs begin, in rows and planes so many elements long. */
static void
list_taps (const CpuConv *c, gsize pixel, gsize row, gsize plane, gint *taps)
{
  gint n = c->n_taps / cpu_conv_count_planes (c), columns = n / c->kernel_h;
  for (gint t = 0; t < c->n_taps; t++)
    taps[t] = (gint)(t / n * (gssize)plane + t % n / columns * c->dilation_h * (gssize)row +
                     t % columns * c->dilation_w * (gssize)pixel);
}

static Patch
lay_out (const CpuConv *c, const CpuFloatConvRun *run, const CpuConvPart *part, gint *taps,
         DENSE_SOURCE *scratch)
{
  const gfloat *x = run->x + (gsize)part->frame * c->x_frame +
                    cpu_conv_channel_at (c, c->x_block, part->group * c->channels);
  Area a = { .top = part->y0 * c->stride_h - c->pad_top,
             .left = part->x0 * c->stride_w - c->pad_left,
             .rows =
                 (part->y1 - part->y0 - 1) * c->stride_h + (c->kernel_h - 1) * c->dilation_h + 1,
             .width =
                 (part->x1 - part->x0 - 1) * c->stride_w + (c->kernel_w - 1) * c->dilation_w + 1 };
  gint planes = cpu_conv_count_planes (c);
  gsize pixel = c->direct ? c->x_pixel : (gsize)(c->channels / planes);
  gsize row = c->direct ? c->x_row : (gsize)a.width * pixel;
  gsize plane = c->direct ? cpu_conv_get_plane (c) : (gsize)a.rows * row;
  Patch patch = { scratch, (gsize)c->stride_w * pixel, (gsize)c->stride_h * row };
  list_taps (c, pixel, row, plane, taps);
  if (c->direct) /* of floats only */
    patch.data = (const DENSE_SOURCE *)(gconstpointer)(x + (gssize)a.top * (gssize)row +
                                                       (gssize)a.left * (gssize)pixel);
  else
    for (gint i = 0; i < planes; i++)
      lay_plane (c, x + (gsize)i * cpu_conv_get_plane (c), pixel, &a, scratch + (gsize)i * plane);
  return patch;
}

/* The output channels of one panel, of one part. */
typedef struct {
  const CpuConv *conv;
  const CpuFloatConvRun *run;
  const CpuConvPart *part;
  Patch patch;
  CpuFloatTile tile;
  gint first;                /* output channel of the group */
  gboolean is_plain, is_end; /* is_end: the part's last panel */
  gint at;                   /* of the one tap of a chunk */
} Panel;

/* All pixels of the part by some of what they are sums of. @sums: of all pixels, or of one tile
 * where all is summed at once. */
static void
run_chunk (Panel *p, const Chunk *chunk, gfloat *sums, gboolean is_first, gboolean is_last)
{
  const CpuConv *c = p->conv;
  CpuFloatTile *t = &p->tile;
  gint cols = p->part->x1 - p->part->x0, vectors = t->mr / DENSE_WIDE;
  gint most = tile_pixels[vectors - 1];
  gint blocks = (cols + most - 1) / most, least = cols / blocks, larger = cols % blocks;
  gsize pixel = (gsize)(t->mr * CPU_LANES);
  gsize products = (gsize)(chunk->n_taps * chunk->n), ahead = 0;
  gsize n_tiles = (gsize)((p->part->y1 - p->part->y0) * blocks);
  gsize channel = cpu_conv_channel_at (c, c->y_block, p->part->group * c->out_channels + p->first);
  const DENSE_WEIGHT *next = p->is_end && is_last ? chunk->w : chunk->w + products * pixel;
  const gboolean at_once = is_last && p->is_plain;
  CpuFloatOut out = at_once ? float_out_plain (t) : float_out_to (sums, pixel);
  Chunk k = *chunk;
  k.each = fetched_by_product (pixel, n_tiles, DENSE_LINE);
  for (gint y = p->part->y0; y < p->part->y1; y++)
    for (gint b = 0, x = 0; b < blocks; b++, x += t->nr) { /* of nearly the same size */
      t->nr = least + (b < larger);
      gsize at = (gsize)p->part->frame * c->y_frame + (gsize)y * c->y_row +
                 (gsize)(p->part->x0 + x) * c->y_pixel + channel;
      if (at_once)
        float_out_move (&out, p->run, at);
      else
        out.y = sums;
      k.ahead = next + ahead;
      ahead = ahead + products * k.each < products * pixel ? ahead + products * k.each : 0;
      if (!is_first) {
        k.from = sums;
        k.again = pixel;
      }
      tiles[vectors - 1][t->nr - 1](
          &out, p->patch.data + (gsize)(y - p->part->y0) * p->patch.row + (gsize)x * p->patch.pixel,
          p->patch.pixel, &k);
      if (is_last && !p->is_plain)
        float_finish (t, sums, at);
      if (!is_first || !is_last)
        sums += (gsize)t->nr * pixel;
    }
}

/* Taps one by one, each in chunks that leave their weights in the cache. */
static void
run_chunks (Panel *p, Chunk *k, gint *taps, gfloat *sums)
{
  const CpuConv *c = p->conv;
  gint n_taps = c->n_taps, length = c->tap_size;
  k->n_taps = 1;
  for (gint t = 0; t < n_taps; t++)
    for (gint from = 0; from < length; from += c->chunk) {
      p->at = taps[t] + from;
      k->taps = &p->at;
      k->n = MIN (c->chunk, length - from);
      run_chunk (p, k, sums, t == 0 && from == 0, t == n_taps - 1 && from + k->n == length);
      k->w += (gsize)(k->n * p->tile.mr * CPU_LANES);
    }
}

static void
run_panel (Panel *p, gint *taps, gint panel, gfloat *scratch)
{
  gfloat sums[DENSE_SUMS] __attribute__ ((aligned (64)));
  const CpuConv *c = p->conv;
  CpuFloatTile *t = &p->tile;
  gint vector = cpu_conv_panel_start (c, DENSE_LANES, panel);
  Chunk k = { .taps = taps, .n_taps = c->n_taps, .n = c->tap_size };
  gsize at;
  p->first = vector * DENSE_LANES;
  t->mr = (cpu_conv_panel_start (c, DENSE_LANES, panel + 1) - vector) * DENSE_WIDE;
  t->channels = MIN (c->out_channels - p->first, t->mr * CPU_LANES);
  at = (gsize)p->part->group * (gsize)c->padded + (gsize)p->first;
  t->slopes = p->run->slopes ? p->run->slopes + at : NULL;
  p->is_plain = float_is_plain (t);
  p->is_end = panel + 1 == p->part->panel1;
  k.w = (const DENSE_WEIGHT *)(gconstpointer)p->run->weights +
        at * (gsize)c->n_taps * (gsize)c->tap_size;
  k.from = p->run->bias + at;
  k.factors = p->run->factors ? p->run->factors + at : NULL;
  if (c->chunk == 0)
    run_chunk (p, &k, sums, TRUE, TRUE);
  else
    run_chunks (p, &k, taps, scratch);
}

static void
run_panels (const CpuConv *c, const CpuFloatConvRun *run, const CpuConvPart *part, guint8 *scratch)
{
  gint *taps = (gint *)(gpointer)scratch;
  gfloat *sums = (gfloat *)(gpointer)(scratch + c->heads[0]);
  Panel p = { .conv = c, .run = run, .part = part };
  p.tile = (CpuFloatTile){ .run = run,
                           .pixel = c->y_pixel,
                           .vector = c->block == CPU_LANES ? c->y_block : CPU_LANES };
  p.patch = lay_out (c, run, part, taps, (DENSE_SOURCE *)(gpointer)(scratch + c->heads[1]));
  for (gint i = part->panel0; i < part->panel1; i++)
    run_panel (&p, taps, i, sums);
}
