/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filters of 3x3 at the points of winograd.c, in doubles. */
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
transform_filters (const gfloat *from, gsize tap, gfloat *to, gsize step, gint size)
{
  const gint n = size + 2;
  VF64 turned[MOST][TAPS], in[TAPS], out[MOST];
#pragma GCC unroll 3
  for (gint i = 0; i < TAPS; i++) {
#pragma GCC unroll 3
    for (gint j = 0; j < TAPS; j++)
      in[j] = __builtin_convertvector(*(const Floats *)(from + (gsize)(j * TAPS + i) * tap), VF64);
    transform (in, out, size);
#pragma GCC unroll 6
    for (gint j = 0; j < n; j++)
      turned[j][i] = out[j];
  }
#pragma GCC unroll 6
  for (gint j = 0; j < n; j++) {
    transform (turned[j], out, size);
#pragma GCC unroll 6
    for (gint i = 0; i < n; i++)
      *(Floats *)(to + (gsize)(j * n + i) * step) = __builtin_convertvector(out[i], Floats);
  }
}

void
CPU_NAME (cpu_winograd_weights) (gint size, const gfloat *from, gint n, gfloat *to, gsize step)
{
  for (gint i = 0; i < n; i += LANES)
    if (size == 4)
      transform_filters (from + i, (gsize)n, to + i, step, 4);
    else
      transform_filters (from + i, (gsize)n, to + i, step, 2);
}
