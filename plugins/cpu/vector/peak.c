/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Peaks of one instruction set. So many sums are on their way at once that none waits for its
 * predecessor, and so few that all stay in registers. */
#include "level.h"

#define SUMS 12

static gfloat
floats (gint64 turns)
{
  VF32 sums[SUMS], x = splat_float (0.5f), y = splat_float (1.0f);
  gfloat total = 0;
  for (gint i = 0; i < SUMS; i++)
    sums[i] = splat_float ((gfloat)i);
  __asm__ volatile("" : "+m"(x), "+m"(y)); /* no constants to the compiler */
  for (gint64 t = 0; t < turns; t++)
#pragma GCC unroll 12
    for (gint i = 0; i < SUMS; i++)
      sums[i] = sums[i] * x + y;
  for (gint i = 0; i < SUMS; i++)
    total += sums[i][0];
  return total;
}

#if CPU_DOT4
#define DOT dot4
#define PRODUCTS 4
#else
#define DOT dot2
#define PRODUCTS 2
#endif

/* A sum is its own factor, so that nothing could be computed before the loop. */
static gint32
bytes (gint64 turns)
{
  VI32 sums[SUMS], y = splat (0x00010001);
  gint32 total = 0;
  for (gint i = 0; i < SUMS; i++)
    sums[i] = splat (i);
  __asm__ volatile("" : "+m"(y));
  for (gint64 t = 0; t < turns; t++)
#pragma GCC unroll 12
    for (gint i = 0; i < SUMS; i++)
      sums[i] = DOT (sums[i], sums[i], y);
  for (gint i = 0; i < SUMS; i++)
    total += sums[i][0];
  return total;
}

static void
move (gfloat *restrict y, const gfloat *restrict x, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    y[i] = -x[i];
}

const CpuPeak CPU_NAME (cpu_peak) = {
  .float_operations = 2.0 * SUMS * CPU_LANES,
  .byte_operations = 2.0 * SUMS * CPU_LANES * PRODUCTS,
  .floats = floats,
  .bytes = bytes,
  .move = move,
};
