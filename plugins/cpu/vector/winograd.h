/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution of floats by 3x3, 1x3 and 3x1 filters after Winograd: a tile of the result, of size x
 * size pixels, takes (size + 2) x (size + 2) products for each pair of channels, not 9 x size x
 * size (docs/design/winograd.md); one of size pixels in a line size + 2, not 3 x size. The source
 * of some tiles is transformed, then as many products of matrices [tile, input channel] x [input
 * channel, output channel] are made as a tile has products, and their results are transformed.
 * Pixels of a tile are as far apart as filters are dilated.
 *
 * With stride 2 the even pixels of the source meet the outer taps, and the odd ones the tap between
 * them. Both are transformed to the same points, where their products are summed: size + 1 for the
 * first, and size for the others.
 *
 * Weights are transformed and packed by winogradpack.c. Calls with different tiles or panels may
 * run at once. */
#pragma once

#include "floatconv.h"

/* Terms of a tile in one dimension, and points and filters, at most. */
#define CPU_WINOGRAD_TERMS 9
#define CPU_WINOGRAD_POINTS 6
#define CPU_WINOGRAD_WIDE (2 * CPU_MOST_LANES) /* output channels of a panel, at most */

/* Pixels of a tile: 2 or 4, or 1 where filters have one tap; and the stride, 1 or 2, where they
 * have more. */
typedef struct {
  gint rows, columns, stride;
} CpuWinogradTile;

typedef struct {
  CpuConv conv; /* padded and n_panels are set, nothing else of what is set up */
  CpuWinogradTile tile;
  gint tiles_h, tiles_w;          /* of a frame */
  gint n_tiles;                   /* of all frames */
  gint block;                     /* tiles that are transformed together, at most */
  gint panels;                    /* whose results are transformed together, at most */
  gsize source_tile, source_step; /* of what was transformed: elements from one tile to the next,
                                     from one term to the next */
  gsize result_step;              /* of the products: elements from one point to the next */
  gsize weights_step;
} CpuWinograd;

/* All tiles that there are: M (rows, columns, stride); and what a table of them is indexed by. */
#define CPU_WINOGRAD_TILES(M) CPU_WINOGRAD_TILES_OF (M, 1) CPU_WINOGRAD_TILES_OF (M, 2)
#define CPU_WINOGRAD_TILES_OF(M, stride)                                                           \
  M (4, 4, stride)                                                                                 \
  M (2, 2, stride)                                                                                 \
  M (1, 4, stride) M (4, 1, stride) M (1, 2, stride) M (2, 1, stride)
#define CPU_WINOGRAD_TABLE [3][5][5] /* stride, rows, columns */

/* Of @size pixels in one dimension: points at which polynomials are evaluated, and so products
 * whose sums are transformed; */
static inline gint
cpu_winograd_points (gint size, gint stride)
{
  return size == 1 ? 1 : stride == 2 ? size + 1 : size + 2;
}

/* pixels of the source that are read, and what they are transformed to: with stride 2 two for all
 * points but the last; */
static inline gint
cpu_winograd_terms (gint size, gint stride)
{
  return size == 1 ? 1 : stride == 2 ? 2 * size + 1 : size + 2;
}

/* what filters are transformed to: with stride 2 one for each point, and one for all. */
static inline gint
cpu_winograd_filters (gint size)
{
  return size == 1 ? 1 : size + 2;
}

static inline gint
cpu_winograd_count_points (CpuWinogradTile tile)
{
  return cpu_winograd_points (tile.rows, tile.stride) *
         cpu_winograd_points (tile.columns, tile.stride);
}

static inline gint
cpu_winograd_count_terms (CpuWinogradTile tile)
{
  return cpu_winograd_terms (tile.rows, tile.stride) *
         cpu_winograd_terms (tile.columns, tile.stride);
}

static inline gint
cpu_winograd_count_filters (CpuWinogradTile tile)
{
  return cpu_winograd_filters (tile.rows) * cpu_winograd_filters (tile.columns);
}

/* What a call computes of the result. */
typedef struct {
  gint tile0, tile1, panel0, panel1;
} CpuWinogradPart;

typedef struct {
  gint lanes;          /* of a vector */
  gint vectors;        /* of output channels, of a panel */
  const CpuMove *move; /* by which weights are packed */
  /* Transforms @n filters, whole vectors of them: tap t of all at @from + t * @n; what f comes of
   * all goes to @to + f * @step. */
  void (*weights) (CpuWinogradTile tile, const gfloat *from, gint n, gfloat *to, gsize step);
  /* Transforms the source of tiles @tile0 to @tile1; that of @tile0 goes to @to. */
  void (*source) (const CpuWinograd *winograd, const gfloat *x, gint tile0, gint tile1, gfloat *to);
  /* From the transformed source, which begins with the part's first tile, to the destination.
   * @products: memory for those of `block` tiles and `panels` panels. */
  void (*result) (const CpuWinograd *winograd, const CpuFloatConvRun *run,
                  const CpuWinogradPart *part, const gfloat *source, gfloat *products);
} CpuWinogradKernels;
