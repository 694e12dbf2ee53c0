/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a convolution after Winograd is cut into parts, the parts, and its weights. */
#include "winograd-private.h"

#include "convparts.h"

#include <string.h>

/* Parts of the second cache: the transformed source of a block, and the products of some panels. */
#define SOURCE(l2) ((l2) / 2)
#define PRODUCTS(l2) ((l2) / 4 * 3)

/* Products that a weight is used for at least each time that it is read, one of a tile in most:
 * from where there is room for all of them, and from further away. */
#define LEAST_NEAR 24
#define LEAST_FAR 72

#define RANGES_PER_THREAD 4

#define TAPS 9 /* at most */
#define SOME 8 /* input channels, of whose filters the first cache holds those of a panel */

typedef struct {
  const CpuWinograd *shape;
  const CpuWinogradKernels *kernels;
  const gfloat *from;
} CpuWinogradWeights;

/* What is apart by a multiple of so many lines falls on few of a cache's places. */
#define FEW_PLACES 8

/* Elements from one row to the next, in whole lines of the cache. */
static gsize
spaced (gsize elements)
{
  gsize lines = (elements + 15) / 16;
  return (lines % FEW_PLACES == 0 ? lines + 1 : lines) * 16;
}

gsize
cpu_winograd_weights_size (const CpuWinograd *w, gint lanes)
{
  gsize padded = (gsize)(cpu_ceil_div (w->conv.out_channels, lanes) * lanes);
  return (gsize)cpu_winograd_count_filters (w->tile) * padded * (gsize)w->conv.channels *
         sizeof (gfloat);
}

/* Each of the pictures of every n-th pixel, of which there are no more than pixels, has tiles of
 * its own. */
static gint
count_tiles (gint pixels, gint size, gint dilation)
{
  return MIN (dilation, pixels) * cpu_ceil_div (cpu_ceil_div (pixels, dilation), size);
}

void
cpu_winograd_init (CpuWinograd *w, const CpuConv *conv, gint size)
{
  CpuConv *c = &w->conv;
  *c = *conv;
  if (c->kernel_h == 1)
    c->dilation_h = 1;
  if (c->kernel_w == 1)
    c->dilation_w = 1;
  w->tile = (CpuWinogradTile){ c->kernel_h > 1 ? size : 1, c->kernel_w > 1 ? size : 1,
                               c->kernel_h > 1 ? c->stride_h : c->stride_w };
  w->tiles_h = count_tiles (c->out_h, w->tile.rows, c->dilation_h);
  w->tiles_w = count_tiles (c->out_w, w->tile.columns, c->dilation_w);
  w->n_tiles = c->frames * w->tiles_h * w->tiles_w;
}

/* Blocks of tiles of equal size, as many for each thread. */
static void
cut_blocks (CpuWinogradCut *cut, gsize l2)
{
  CpuWinograd *w = &cut->shape;
  gint threads = (gint)cut->threads, least, most;
  gsize tile = (gsize)cpu_winograd_count_terms (w->tile) * w->source_tile * sizeof (gfloat);
  gint filters = cpu_winograd_count_filters (w->tile);
  gsize weights = (gsize)filters * w->weights_step * sizeof (gfloat);
  least = weights > l2 / 2 ? LEAST_FAR : LEAST_NEAR;
  least = cpu_ceil_div (least * filters, cpu_winograd_count_terms (w->tile));
  most = (gint)MIN (SOURCE (l2) / tile, G_MAXINT / 2);
  most = MAX (most, least);
  cut->n_blocks = cpu_ceil_div (w->n_tiles, most);
  if (threads > 1 && cut->n_blocks < threads && w->n_tiles < least * threads &&
      w->conv.n_panels >= threads) {
    cut->n_blocks = 1;
    cut->n_ranges = MIN (w->n_tiles, threads * RANGES_PER_THREAD);
  } else {
    cut->n_blocks = MIN (cpu_ceil_div (cut->n_blocks, threads) * threads, w->n_tiles);
  }
  w->block = cpu_ceil_div (w->n_tiles, cut->n_blocks);
  cut->n_blocks = cpu_ceil_div (w->n_tiles, w->block);
}

static void
cut_panels (CpuWinogradCut *cut, const CpuWinogradKernels *k, gsize l2)
{
  CpuWinograd *w = &cut->shape;
  gsize panel = (gsize)cpu_winograd_count_points (w->tile) *
                (gsize)(w->block * k->vectors * k->lanes) * sizeof (gfloat);
  w->panels = (gint)CLAMP (PRODUCTS (l2) / panel, 1, (gsize)w->conv.n_panels);
  if (cut->n_ranges > 0)
    w->panels = CLAMP (w->conv.n_panels / (gint)cut->threads, 1, w->panels);
  cut->n_shares = cut->n_ranges > 0 ? cpu_ceil_div (w->conv.n_panels, w->panels) : 1;
}

void
cpu_winograd_setup (CpuWinogradCut *cut, const CpuWinogradKernels *k, guint threads)
{
  CpuWinograd *w = &cut->shape;
  CpuConv *c = &w->conv;
  gint vectors = cpu_ceil_div (c->out_channels, k->lanes);
  gsize l2 = cpu_second_cache ();
  cut->threads = threads;
  c->padded = vectors * k->lanes;
  c->n_panels = cpu_ceil_div (vectors, k->vectors);
  w->source_tile = spaced ((gsize)c->channels);
  w->weights_step = (gsize)c->padded * (gsize)c->channels;
  cut_blocks (cut, l2);
  cut_panels (cut, k, l2);
  w->source_step = spaced ((gsize)w->block * w->source_tile);
  w->result_step = spaced ((gsize)(w->block * w->panels * k->vectors * k->lanes));
  cut->source = (gsize)cpu_winograd_count_terms (w->tile) * w->source_step * sizeof (gfloat);
  cut->products = (gsize)cpu_winograd_count_points (w->tile) * w->result_step * sizeof (gfloat);
  cut->scratch = cut->n_ranges > 0 ? cut->source + cut->products * threads
                                   : (cut->source + cut->products) * threads;
}

gint
cpu_winograd_count_parts (const CpuWinogradCut *cut, gint phase)
{
  if (phase == 0)
    return cut->n_ranges > 0 ? cut->n_ranges : cut->n_blocks;
  return cut->n_ranges > 0 ? cut->n_shares : 0;
}

static gfloat *
floats_at (const CpuWinogradRun *r, gsize n_bytes)
{
  return (gfloat *)(gpointer)(r->scratch + n_bytes);
}

/* All of some tiles. */
static void
run_block (const CpuWinogradRun *r, gint index, guint thread)
{
  const CpuWinograd *w = &r->cut->shape;
  gsize own = thread * (r->cut->source + r->cut->products);
  CpuWinogradPart part = { index * w->block, MIN ((index + 1) * w->block, w->n_tiles), 0,
                           w->conv.n_panels };
  r->kernels->source (w, r->run.x, part.tile0, part.tile1, floats_at (r, own));
  r->kernels->result (w, &r->run, &part, floats_at (r, own), floats_at (r, own + r->cut->source));
}

/* The source of some tiles. */
static void
run_range (const CpuWinogradRun *r, gint index)
{
  const CpuWinograd *w = &r->cut->shape;
  gint64 n = w->n_tiles, first = n * index / r->cut->n_ranges;
  r->kernels->source (w, r->run.x, (gint)first, (gint)(n * (index + 1) / r->cut->n_ranges),
                      floats_at (r, 0) + (gsize)first * w->source_tile);
}

/* Some output channels of all tiles. */
static void
run_share (const CpuWinogradRun *r, gint index, guint thread)
{
  const CpuWinograd *w = &r->cut->shape;
  CpuWinogradPart part = { 0, w->n_tiles, index * w->panels,
                           MIN ((index + 1) * w->panels, w->conv.n_panels) };
  r->kernels->result (w, &r->run, &part, floats_at (r, 0),
                      floats_at (r, r->cut->source + thread * r->cut->products));
}

void
cpu_winograd_run_part (const CpuWinogradRun *r, gint phase, gint index, guint thread)
{
  if (r->cut->n_ranges == 0)
    run_block (r, index, thread);
  else if (phase == 0)
    run_range (r, index);
  else
    run_share (r, index, thread);
}

/* Some output channels, @first and those that follow, of some input channels: the filters side by
 * side, which are then transformed. */
static void
pack_inputs (const CpuWinogradWeights *p, gint first, gint wide, gint input, gint n_inputs,
             gfloat *to)
{
  const CpuConv *c = &p->shape->conv;
  gfloat turned[SOME * TAPS * CPU_WINOGRAD_WIDE];
  gint taps = c->kernel_h * c->kernel_w;
  gsize filters = (gsize)(c->channels * taps);
  gint n = MIN (c->out_channels - first, wide);
  if (n < wide)
    memset (turned, 0, sizeof turned);
  p->kernels->move->turn[sizeof (gfloat)](turned, wide,
                                          p->from + (gsize)first * filters + (gsize)(input * taps),
                                          (gint64)filters, n, (gint64)n_inputs * taps);
  for (gint i = 0; i < n_inputs; i++)
    p->kernels->weights (p->shape->tile, turned + (gsize)(i * taps * wide), wide,
                         to + (gsize)(i * wide), p->shape->weights_step);
}

void
cpu_winograd_weights_pack (const CpuWinograd *w, const gfloat *weights, const CpuWinogradKernels *k,
                           gfloat *to)
{
  const CpuConv *c = &w->conv;
  const CpuWinogradWeights all = { w, k, weights };
  for (gint p = 0; p < c->n_panels; p++) {
    gint first = cpu_conv_panel_start (c, k->lanes, p) * k->lanes;
    gint wide = cpu_conv_panel_start (c, k->lanes, p + 1) * k->lanes - first;
    gfloat *panel = to + (gsize)first * (gsize)c->channels;
    for (gint i = 0; i < c->channels; i += SOME)
      pack_inputs (&all, first, wide, i, MIN (SOME, c->channels - i), panel + (gsize)(i * wide));
  }
}
