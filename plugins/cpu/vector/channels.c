/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions with parameters by channel. */
#include "level.h"
#include "vectorchoice.h"
#include "vectorpart.h"

#define AFFINE(x, a, b) ((x) * (a) + (b))
#define PRELU(x, a, b) vector_if_less (x, splat_float (0), (x) * (a), x)

#define FUNCTION(name, F)                                                                          \
  static void name##_each (gfloat *y, const gfloat *x, gint64 n, const gfloat *a, const gfloat *b) \
  {                                                                                                \
    gint64 i = 0;                                                                                  \
    (void)b;                                                                                       \
    for (; i + CPU_LANES <= n; i += CPU_LANES)                                                     \
      vector_store (y + i, F (vector_load (x + i), vector_load (a + i), vector_load (b + i)));     \
    if (i < n)                                                                                     \
      vector_store_part (y + i,                                                                    \
                         F (vector_load_part (x + i, n - i), vector_load_part (a + i, n - i),      \
                            vector_load_part (b + i, n - i)),                                      \
                         n - i);                                                                   \
  }                                                                                                \
  static void name##_plane (gfloat *y, const gfloat *x, gint64 n, gfloat a, gfloat b)              \
  {                                                                                                \
    gint64 i = 0;                                                                                  \
    (void)b;                                                                                       \
    for (; i + CPU_LANES <= n; i += CPU_LANES)                                                     \
      vector_store (y + i, F (vector_load (x + i), splat_float (a), splat_float (b)));             \
    if (i < n)                                                                                     \
      vector_store_part (                                                                          \
          y + i, F (vector_load_part (x + i, n - i), splat_float (a), splat_float (b)), n - i);    \
  }
FUNCTION (affine, AFFINE)
FUNCTION (prelu, PRELU)

const CpuChannels CPU_NAME (cpu_channels) = {
  .by = { [CPU_CHANNELS_AFFINE] = { affine_each, affine_plane },
          [CPU_CHANNELS_PRELU] = { prelu_each, prelu_plane } },
};
