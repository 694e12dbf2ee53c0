/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filters of 3x3, 1x3 and 3x1 at the points of winograd.c, in doubles. */
#include "winograd.h"
#include "level.h"

#define TAPS 3
#define ROOT 1.41421356237309504880

#define LANES (CPU_VECTOR / 8)
typedef gdouble VF64 __attribute__ ((vector_size (CPU_VECTOR)));
typedef gfloat Floats __attribute__ ((vector_size (CPU_VECTOR / 2), aligned (4), may_alias));

/* The outer taps of a filter, which every second pixel meets. */
CPU_INLINE void
transform_outer (VF64 first, VF64 last, VF64 *y, gint size)
{
  if (size == 4) {
    y[0] = -(ROOT / 3) * first - (1. / 3) * last;
    y[1] = (ROOT / 3) * first - (1. / 3) * last;
    y[2] = (ROOT / 6) * first + (1. / 3) * last;
    y[3] = (1. / 3) * last - (ROOT / 6) * first;
  } else {
    y[0] = first;
    y[1] = first + last;
  }
  y[size] = last;
}

/* One dimension, @x to @y. */
CPU_INLINE void
transform (const VF64 *x, VF64 *y, gint size, gint stride)
{
  y[0] = x[0];
  if (size == 1)
    return;
  if (stride == 2) {
    transform_outer (x[0], x[2], y, size);
    y[size + 1] = size == 4 ? (1. / 3) * x[1] : x[1]; /* as winogradsource.c wants it */
  } else if (size == 4) {
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
transform_filters (const gfloat *from, gsize tap, gfloat *to, gsize step, gint rows, gint columns,
                   gint stride)
{
  const gint height = cpu_winograd_filters (rows), width = cpu_winograd_filters (columns);
  const gint taps_h = rows > 1 ? TAPS : 1, taps_w = columns > 1 ? TAPS : 1;
  VF64 turned[CPU_WINOGRAD_POINTS][TAPS], in[TAPS], out[CPU_WINOGRAD_POINTS];
#pragma GCC unroll 3
  for (gint i = 0; i < taps_w; i++) {
#pragma GCC unroll 3
    for (gint j = 0; j < taps_h; j++)
      in[j] =
          __builtin_convertvector(*(const Floats *)(from + (gsize)(j * taps_w + i) * tap), VF64);
    transform (in, out, rows, stride);
#pragma GCC unroll 6
    for (gint j = 0; j < height; j++)
      turned[j][i] = out[j];
  }
#pragma GCC unroll 6
  for (gint j = 0; j < height; j++) {
    transform (turned[j], out, columns, stride);
#pragma GCC unroll 6
    for (gint i = 0; i < width; i++)
      *(Floats *)(to + (gsize)(j * width + i) * step) = __builtin_convertvector(out[i], Floats);
  }
}

#define TILE(rows, columns, stride)                                                                \
  static void transform_##rows##x##columns##_##stride (const gfloat *from, gsize tap, gfloat *to,  \
                                                       gsize step)                                 \
  {                                                                                                \
    transform_filters (from, tap, to, step, rows, columns, stride);                                \
  }
#define NAME(rows, columns, stride)                                                                \
  [stride][rows][columns] = transform_##rows##x##columns##_##stride,

CPU_WINOGRAD_TILES (TILE)
static void (*const transforms CPU_WINOGRAD_TABLE) (const gfloat *, gsize, gfloat *,
                                                    gsize) = { CPU_WINOGRAD_TILES (NAME) };

void
CPU_NAME (cpu_winograd_weights) (CpuWinogradTile tile, const gfloat *from, gint n, gfloat *to,
                                 gsize step)
{
  for (gint i = 0; i < n; i += LANES)
    transforms[tile.stride][tile.rows][tile.columns](from + i, (gsize)n, to + i, step);
}
