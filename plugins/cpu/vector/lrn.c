/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LRN. Roots make the powers that networks have. */
#include "level.h"
#include "vectormath.h"
#include "vectorpart.h"

#define CHUNK 256 /* channels whose squares are kept */

/* x / (bias + alpha * sum)^beta */
CPU_INLINE VF32
respond (VF32 x, VF32 sum, const CpuLrnPlan *p)
{
  VF32 v = sum * p->alpha + p->bias;
  if (p->beta == 0.75f) {
    VF32 root = vector_sqrt (v);
    v = root * vector_sqrt (root);
  } else if (p->beta == 0.5f)
    v = vector_sqrt (v);
  else if (p->beta != 1)
    v = vector_exp (vector_log (v) * p->beta);
  return x / v;
}

/* Of the @n channels from @first on, and of their neighbours; 0 where there are none. */
static void
square_channels (gfloat *restrict squares, const gfloat *restrict x, gint64 first, gint64 n,
                 gint64 channels, const CpuLrnPlan *p)
{
  gint64 from = first - p->before, end = first + n + p->after;
  gint64 inner = MAX (from, 0), inner_end = MIN (end, channels);
  for (gint64 c = from; c < inner; c++)
    squares[c - from] = 0;
  for (gint64 c = inner; c < inner_end; c++)
    squares[c - from] = x[c] * x[c];
  for (gint64 c = inner_end; c < end; c++)
    squares[c - from] = 0;
}

/* The channels of a pixel from @first on. */
CPU_INLINE void
respond_to_channels (gfloat *restrict y, const gfloat *restrict x, gint64 first, gint64 n,
                     gint64 channels, const CpuLrnPlan *p)
{
  gfloat squares[CHUNK + 2 * CPU_LRN_MOST + CPU_LANES];
  square_channels (squares, x, first, n, channels, p);
  for (gint64 i = 0; i < n; i += CPU_LANES) {
    VF32 sum = splat_float (0);
    for (gint64 k = 0; k <= p->before + p->after; k++)
      sum += vector_load (squares + i + k);
    if (n - i >= CPU_LANES)
      vector_store (y + first + i, respond (vector_load (x + first + i), sum, p));
    else
      vector_store_part (y + first + i, respond (vector_load_part (x + first + i, n - i), sum, p),
                         n - i);
  }
}

static void
lrn_rows (gfloat *restrict y, const gfloat *restrict x, gint64 rows, gint64 n, const CpuLrnPlan *p)
{
  for (gint64 r = 0; r < rows; r++)
    for (gint64 c = 0; c < n; c += CHUNK)
      respond_to_channels (y + r * n, x + r * n, c, MIN (CHUNK, n - c), n, p);
}

#define RESPOND(LOAD)                                                                              \
  ({                                                                                               \
    VF32 sum = splat_float (0);                                                                    \
    for (gint64 k = first; k <= last; k++)                                                         \
      sum += LOAD (x + i + k * stride) * LOAD (x + i + k * stride);                                \
    respond (LOAD (x + i), sum, p);                                                                \
  })
#define LOAD_PART(p) vector_load_part (p, n - i)

static void
lrn_plane (gfloat *restrict y, const gfloat *restrict x, gint64 n, gint64 stride, gint64 first,
           gint64 last, const CpuLrnPlan *p)
{
  gint64 i = 0;
  for (; i + CPU_LANES <= n; i += CPU_LANES)
    vector_store (y + i, RESPOND (vector_load));
  if (i < n)
    vector_store_part (y + i, RESPOND (LOAD_PART), n - i);
}

const CpuLrn CPU_NAME (cpu_lrn) = { lrn_rows, lrn_plane };
