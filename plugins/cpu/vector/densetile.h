/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a tile of a dense convolution computes from. Who includes this has defined DENSE_SOURCE and
 * DENSE_WEIGHT, the elements of the source as tiles read it and of weights, and DENSE_LANES, the
 * output channels of a vector of weights. */
#pragma once

#include "floatfinish.h"

#define DENSE_WIDE (DENSE_LANES / CPU_LANES)          /* vectors of floats of a vector of weights */
#define DENSE_LINE (64 / (gint)sizeof (DENSE_WEIGHT)) /* weights that memory gives at once */

/* What a tile adds: @n elements of each run, from the taps' places on, and their weights. */
typedef struct {
  const gint *taps;
  gint n_taps, n;
  const DENSE_WEIGHT *w;
  const gfloat *from; /* what it is added to: for each pixel @again elements further */
  gsize again;
  const gfloat *factors;     /* of the channels' products; weights of floats have none */
  const DENSE_WEIGHT *ahead; /* that come next, of which each product fetches @each */
  gsize each;
} Chunk;

typedef void (*TileFunc) (const CpuFloatOut *out, const DENSE_SOURCE *p, gsize step,
                          const Chunk *k);

#define TILE(mr, nr)                                                                               \
  static void tile_##mr##_##nr (const CpuFloatOut *out, const DENSE_SOURCE *p, gsize step,         \
                                const Chunk *k)                                                    \
  {                                                                                                \
    tile (out, p, step, k, mr, nr);                                                                \
  }
#define NAME(mr, nr) tile_##mr##_##nr,
#define TO_6(M, mr) M (mr, 1) M (mr, 2) M (mr, 3) M (mr, 4) M (mr, 5) M (mr, 6)
#define TO_8(M, mr) TO_6 (M, mr) M (mr, 7) M (mr, 8)
#define TO_12(M, mr) TO_8 (M, mr) M (mr, 9) M (mr, 10) M (mr, 11) M (mr, 12)
