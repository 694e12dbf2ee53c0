/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution of floats by 3x3, 1x3 and 3x1 filters of stride 1 after Winograd: a tile of the
 * result, of size x size pixels, takes (size + 2) x (size + 2) products for each pair of channels,
 * not 9 x size x size (docs/design/winograd.md); one of size pixels in a line size + 2, not 3 x
 * size. The source of some tiles is transformed, then as many products of matrices [tile, input
 * channel] x [input channel, output channel] are made as a tile has products, and their results are
 * transformed. Pixels of a tile are as far apart as filters are dilated.
 *
 * Weights are transformed and packed by winogradpack.c. Calls with different tiles or panels may
 * run at once. */
#pragma once

#include "floatconv.h"

#define CPU_WINOGRAD_MOST 6                    /* products of a tile in one dimension, at most */
#define CPU_WINOGRAD_WIDE (2 * CPU_MOST_LANES) /* output channels of a panel, at most */

/* Pixels of a tile: 2 or 4, or 1 where filters have one. */
typedef struct {
  gint rows, columns;
} CpuWinogradTile;

typedef struct {
  CpuConv conv; /* padded and n_panels are set, nothing else of what is set up */
  CpuWinogradTile tile;
  gint tiles_h, tiles_w;          /* of a frame */
  gint n_tiles;                   /* of all frames */
  gint block;                     /* tiles that are transformed together, at most */
  gint panels;                    /* whose results are transformed together, at most */
  gsize source_tile, source_step; /* of what was transformed: elements from one tile to the next,
                                     from one product to the next */
  gsize result_step;              /* of the products: elements from one to the next */
  gsize weights_step;
} CpuWinograd;

/* All tiles that there are: M (rows, columns). */
#define CPU_WINOGRAD_TILES(M) M (4, 4) M (2, 2) M (1, 4) M (4, 1) M (1, 2) M (2, 1)

/* Products, in one dimension, of @size pixels. */
static inline gint
cpu_winograd_side (gint size)
{
  return size > 1 ? size + 2 : 1;
}

static inline gint
cpu_winograd_products (CpuWinogradTile tile)
{
  return cpu_winograd_side (tile.rows) * cpu_winograd_side (tile.columns);
}

/* What a call computes of the result. */
typedef struct {
  gint tile0, tile1, panel0, panel1;
} CpuWinogradPart;

typedef struct {
  gint lanes;          /* of a vector */
  gint vectors;        /* of output channels, of a panel */
  const CpuMove *move; /* by which weights are packed */
  /* Transforms @n filters, whole vectors of them: tap t of all at @from + t * @n; product p of all
   * goes to @to + p * @step. */
  void (*weights) (CpuWinogradTile tile, const gfloat *from, gint n, gfloat *to, gsize step);
  /* Transforms the source of tiles @tile0 to @tile1; that of @tile0 goes to @to. */
  void (*source) (const CpuWinograd *winograd, const gfloat *x, gint tile0, gint tile1, gfloat *to);
  /* From the transformed source, which begins with the part's first tile, to the destination.
   * @products: memory for those of `block` tiles and `panels` panels. */
  void (*result) (const CpuWinograd *winograd, const CpuFloatConvRun *run,
                  const CpuWinogradPart *part, const gfloat *source, gfloat *products);
} CpuWinogradKernels;
