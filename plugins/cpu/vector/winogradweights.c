/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filters of 3x3, 1x3 and 3x1 at the points of winograd.c, in doubles. */
#include "winograd.h"
#include "level.h"

#define MOST CPU_WINOGRAD_MOST
#define TAPS 3
#define ROOT 1.41421356237309504880

#define LANES (CPU_VECTOR / 8)
typedef gdouble VF64 __attribute__ ((vector_size (CPU_VECTOR)));
typedef gfloat Floats __attribute__ ((vector_size (CPU_VECTOR / 2), aligned (4), may_alias));

/* One dimension, @x to @y. */
CPU_INLINE void
transform (const VF64 *x, VF64 *y, gint size)
{
  y[0] = x[0];
  if (size == 1)
    return;
  if (size == 4) {
    const VF64 near = (2. / 3) * x[0] + (1. / 3) * x[2], far = (1. / 6) * x[0] + (1. / 3) * x[2];
    const VF64 middle = (ROOT / 3) * x[1], half = (ROOT / 6) * x[1];
    y[1] = -near - middle;
    y[2] = middle - near;
    y[3] = far + half;
    y[4] = far - half;
    y[5] = x[2];
  } else {
    const VF64 ends = x[0] + x[2];
    y[1] = 0.5 * (ends + x[1]);
    y[2] = 0.5 * (ends - x[1]);
    y[3] = x[2];
  }
}

CPU_INLINE void
transform_filters (const gfloat *from, gsize tap, gfloat *to, gsize step, gint rows, gint columns)
{
  const gint height = cpu_winograd_side (rows), width = cpu_winograd_side (columns);
  const gint taps_h = rows > 1 ? TAPS : 1, taps_w = columns > 1 ? TAPS : 1;
  VF64 turned[MOST][TAPS], in[TAPS], out[MOST];
#pragma GCC unroll 3
  for (gint i = 0; i < taps_w; i++) {
#pragma GCC unroll 3
    for (gint j = 0; j < taps_h; j++)
      in[j] =
          __builtin_convertvector(*(const Floats *)(from + (gsize)(j * taps_w + i) * tap), VF64);
    transform (in, out, rows);
#pragma GCC unroll 6
    for (gint j = 0; j < height; j++)
      turned[j][i] = out[j];
  }
#pragma GCC unroll 6
  for (gint j = 0; j < height; j++) {
    transform (turned[j], out, columns);
#pragma GCC unroll 6
    for (gint i = 0; i < width; i++)
      *(Floats *)(to + (gsize)(j * width + i) * step) = __builtin_convertvector(out[i], Floats);
  }
}

#define TILE(rows, columns)                                                                        \
  static void transform_##rows##x##columns (const gfloat *from, gsize tap, gfloat *to, gsize step) \
  {                                                                                                \
    transform_filters (from, tap, to, step, rows, columns);                                        \
  }
#define NAME(rows, columns) [rows][columns] = transform_##rows##x##columns,

CPU_WINOGRAD_TILES (TILE)
static void (*const transforms[][5]) (const gfloat *, gsize, gfloat *,
                                      gsize) = { CPU_WINOGRAD_TILES (NAME) };

void
CPU_NAME (cpu_winograd_weights) (CpuWinogradTile tile, const gfloat *from, gint n, gfloat *to,
                                 gsize step)
{
  for (gint i = 0; i < n; i += LANES)
    transforms[tile.rows][tile.columns](from + i, (gsize)n, to + i, step);
}
