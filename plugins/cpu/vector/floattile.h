/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Products that are summed in registers: a tile of pixels (or rows of a matrix) by vectors of
 * output channels. */
#pragma once

#include "level.h"

/* Pixels of a tile by its vectors of output channels: together they fill the registers. */
#if CPU_REGISTERS == 32
static const gint float_tile_pixels[CPU_FLOAT_VECTORS] = { 12, 12, 8, 6 };
#else
static const gint float_tile_pixels[CPU_FLOAT_VECTORS] = { 12, 6 };
#endif

/* Floats of what memory gives at once. */
#define CPU_LINE (64 / sizeof (gfloat))

/* Adds @n elements of each of @nr pixels, @step elements apart, times their weights for @mr vectors
 * of channels. @ahead: weights that come next, of
 * which a line is fetched with each element. */
CPU_INLINE void
float_add_products (VF32 c[][CPU_FLOAT_PIXELS], const gfloat *q, gsize step, const gfloat *w,
                    gint n, const gfloat *ahead, gint mr, gint nr)
{
  for (; n > 0; n--, q++, w += mr * CPU_LANES, ahead += CPU_LINE) {
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
