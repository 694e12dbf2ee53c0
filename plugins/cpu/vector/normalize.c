/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The passes of normalisation. */
#include "level.h"
#include "vectorpart.h"
#include "vectorturn.h"

#include <math.h>

static gfloat
square_sum (const gfloat *restrict x, gint64 n, gfloat mean)
{
  gfloat part[16] = { 0 }, sum = 0;
  gint64 i = 0;
  for (; i + 16 <= n; i += 16)
    for (gint k = 0; k < 16; k++)
      part[k] += (x[i + k] - mean) * (x[i + k] - mean);
  for (; i < n; i++)
    sum += (x[i] - mean) * (x[i] - mean);
  for (gint k = 0; k < 16; k++)
    sum += part[k];
  return sum;
}

#define UNROLL 4 /* vectors of sums */

/* Of x - mean, or its squares, in all lanes. */
CPU_INLINE VF32
sum_line (const gfloat *x, gint64 n, VF32 mean, gboolean squares)
{
  VF32 sum[UNROLL] = { 0 }, v;
  gint64 i = 0;
#define ADD(to, LOADED)                                                                            \
  v = LOADED - mean;                                                                               \
  if (squares)                                                                                     \
    v *= v;                                                                                        \
  to += v
  for (; i + UNROLL * CPU_LANES <= n; i += UNROLL * CPU_LANES)
    for (gint u = 0; u < UNROLL; u++) {
      ADD (sum[u], vector_load (x + i + u * CPU_LANES));
    }
  for (; i + CPU_LANES <= n; i += CPU_LANES) {
    ADD (sum[0], vector_load (x + i));
  }
  if (i < n) {
    ADD (sum[1], vector_load_part_over (mean, x + i, n - i));
  }
#undef ADD
  return vector_sum_of_all ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

#define LOAD_PART(p) vector_load_part (p, n - i)
#define STORE_PART(p, v) vector_store_part (p, v, n - i)
/* @bias: nullable */
#define SCALE(LOAD, STORE)                                                                         \
  v = (LOAD (x + i) - mean) * rate * LOAD (scale + i);                                             \
  if (bias != NULL)                                                                                \
    v += LOAD (bias + i);                                                                          \
  STORE (y + i, v)

static void
scale_rows (gfloat *restrict y, const gfloat *restrict x, const gfloat *restrict scale,
            const gfloat *restrict bias, gint64 rows, gint64 n, gfloat epsilon, gboolean centred)
{
  for (gint64 r = 0; r < rows; r++, x += n, y += n) {
    VF32 mean = splat_float (0), rate, v;
    gint64 i = 0;
    if (centred)
      mean = sum_line (x, n, mean, FALSE) / (gfloat)n;
    rate = splat_float (1 / sqrtf (sum_line (x, n, mean, TRUE)[0] / (gfloat)n + epsilon));
    for (; i + CPU_LANES <= n; i += CPU_LANES) {
      SCALE (vector_load, vector_store);
    }
    if (i < n) {
      SCALE (LOAD_PART, STORE_PART);
    }
  }
}

static void
scale_plane (gfloat *restrict y, const gfloat *restrict x, gint64 n, gfloat factor, gfloat shift)
{
  for (gint64 i = 0; i < n; i++)
    y[i] = x[i] * factor + shift;
}

/* A vector of each plane at a time. */
#define SQUARES(LOAD, STORE)                                                                       \
  {                                                                                                \
    VF32 all = splat_float (0);                                                                    \
    for (gint64 k = 0; k < count; k++) {                                                           \
      VF32 apart = LOAD (x + k * n + i) - LOAD (mean + i);                                         \
      all += apart * apart;                                                                        \
    }                                                                                              \
    STORE (sum + i, all);                                                                          \
  }

static void
square_planes (gfloat *restrict sum, const gfloat *restrict x, const gfloat *restrict mean,
               gint64 n, gint64 count)
{
  gint64 i = 0;
  for (; i + CPU_LANES <= n; i += CPU_LANES)
    SQUARES (vector_load, vector_store)
  if (i < n)
    SQUARES (LOAD_PART, STORE_PART)
}

const CpuNormalize CPU_NAME (cpu_normalize) = { square_sum, scale_rows, scale_plane,
                                                square_planes };
