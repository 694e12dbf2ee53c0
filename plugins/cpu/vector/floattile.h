/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Products that are summed in registers: a tile of pixels (or rows of a matrix) by vectors of
 * output channels. */
#pragma once

#include "level.h"

/* Pixels of a tile by its vectors of output channels: together they fill the registers. Where a
 * product takes an element of a vector, those of all pixels are in registers, too. */
#if defined(CPU_NEON) && CPU_REGISTERS == 32
static const gint float_tile_pixels[CPU_FLOAT_VECTORS] = { 12, 10, 7, 6 };
#elif CPU_REGISTERS == 32
static const gint float_tile_pixels[CPU_FLOAT_VECTORS] = { 12, 12, 8, 6 };
#else
static const gint float_tile_pixels[CPU_FLOAT_VECTORS] = { 12, 6 };
#endif

#if defined(CPU_NEON)
#define CPU_BY_ELEMENT TRUE
#else
#define CPU_BY_ELEMENT FALSE
#endif

/* CPU_LANES elements of each of @nr pixels, read at once. */
CPU_INLINE void
float_add_vectors (VF32 c[][CPU_FLOAT_PIXELS], const gfloat *q, gsize step, const gfloat *w,
                   const gfloat *ahead, gsize each, gint mr, gint nr)
{
  VF32 b[CPU_FLOAT_PIXELS];
#pragma GCC unroll 12
  for (gint j = 0; j < nr; j++)
    b[j] = *(const VF32 *)(q + (gsize)j * step);
#pragma GCC unroll 4
  for (gint k = 0; k < CPU_LANES; k++, w += mr * CPU_LANES) {
    __builtin_prefetch (ahead + (gsize)k * each, 0, 2);
#pragma GCC unroll 4
    for (gint i = 0; i < mr; i++) {
      VF32 x = *(const VF32 *)(w + i * CPU_LANES);
#pragma GCC unroll 12
      for (gint j = 0; j < nr; j++)
        c[i][j] += x * b[j][k];
    }
  }
}

/* Adds @n elements of each of @nr pixels, @step elements apart, times their weights for @mr vectors
 * of channels. @ahead: weights that come next, of which @each are fetched with each element, a line
 * at most. */
CPU_INLINE void
float_add_products (VF32 c[][CPU_FLOAT_PIXELS], const gfloat *q, gsize step, const gfloat *w,
                    gint n, const gfloat *ahead, gsize each, gint mr, gint nr)
{
  for (; CPU_BY_ELEMENT && n >= CPU_LANES; n -= CPU_LANES, q += CPU_LANES) {
    float_add_vectors (c, q, step, w, ahead, each, mr, nr);
    w += mr * CPU_LANES * CPU_LANES;
    ahead += CPU_LANES * each;
  }
  for (; n > 0; n--, q++, w += mr * CPU_LANES, ahead += each) {
    VF32 x[CPU_FLOAT_VECTORS];
    __builtin_prefetch (ahead, 0, 2);
#pragma GCC unroll 4
    for (gint i = 0; i < mr; i++)
      x[i] = *(const VF32 *)(w + i * CPU_LANES);
#pragma GCC unroll 12
    for (gint j = 0; j < nr; j++) {
      VF32 b = splat_float (q[(gsize)j * step]);
#pragma GCC unroll 4
      for (gint i = 0; i < mr; i++)
        c[i][j] += b * x[i];
    }
  }
}
