/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The passes of normalisation. */
#include "level.h"
#include "vectorpart.h"

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

static void
scale_each (gfloat *restrict y, const gfloat *restrict x, const gfloat *restrict scale,
            const gfloat *restrict bias, gint64 n, gfloat mean, gfloat rate)
{
  if (bias != NULL)
    for (gint64 i = 0; i < n; i++)
      y[i] = (x[i] - mean) * rate * scale[i] + bias[i];
  else
    for (gint64 i = 0; i < n; i++)
      y[i] = (x[i] - mean) * rate * scale[i];
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
#define LOAD_PART(p) vector_load_part (p, n - i)
#define STORE_PART(p, v) vector_store_part (p, v, n - i)

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

const CpuNormalize CPU_NAME (cpu_normalize) = { square_sum, scale_each, scale_plane,
                                                square_planes };
