/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The usual numbers of streams are constants, of which the compiler makes shuffles of vectors. */
#include "move.h"
#include "level.h"

#include <string.h>

#define LONG_RUN 1024 /* bytes that are worth a call of memcpy () */

#define INTERLEAVE(type)                                                                           \
  CPU_INLINE void streams_of_##type (type *restrict y, const type *restrict x, gint64 streams,     \
                                     gint64 step, gint64 n)                                        \
  {                                                                                                \
    for (gint64 i = 0; i < n; i++)                                                                 \
      for (gint64 s = 0; s < streams; s++)                                                         \
        y[i * streams + s] = x[s * step + i];                                                      \
  }                                                                                                \
  static void interleave_##type (gpointer y, gconstpointer x, gint64 streams, gint64 step,         \
                                 gint64 n)                                                         \
  {                                                                                                \
    if (streams == 2)                                                                              \
      streams_of_##type (y, x, 2, step, n);                                                        \
    else if (streams == 3)                                                                         \
      streams_of_##type (y, x, 3, step, n);                                                        \
    else if (streams == 4)                                                                         \
      streams_of_##type (y, x, 4, step, n);                                                        \
    else if (streams == 8)                                                                         \
      streams_of_##type (y, x, 8, step, n);                                                        \
    else                                                                                           \
      streams_of_##type (y, x, streams, step, n);                                                  \
  }
INTERLEAVE (guint8)
INTERLEAVE (guint16)
INTERLEAVE (guint32)
#undef INTERLEAVE

/* Runs of @some bytes and more: the end is copied again with what is before it, so that nobody asks
 * how long it is. */
CPU_INLINE void
copy_runs_of (guint8 *y, gsize y_step, const guint8 *x, gsize x_step, gsize bytes, gint64 n,
              gsize some)
{
  for (; n > 0; n--, y += y_step, x += x_step) {
    for (gsize i = 0; i + some < bytes; i += some)
      memcpy (y + i, x + i, some);
    memcpy (y + bytes - some, x + bytes - some, some);
  }
}

static void
copy_runs (guint8 *y, gsize y_step, const guint8 *x, gsize x_step, gsize bytes, gint64 n)
{
#define RUNS(some)                                                                                 \
  if (bytes >= (some)) {                                                                           \
    copy_runs_of (y, y_step, x, x_step, bytes, n, some);                                           \
    return;                                                                                        \
  }
  if (bytes >= LONG_RUN) {
    for (; n > 0; n--, y += y_step, x += x_step)
      memcpy (y, x, bytes);
    return;
  }
#if CPU_VECTOR == 64
  RUNS (64)
#endif
#if CPU_VECTOR >= 32
  RUNS (32)
#endif
  RUNS (16)
  RUNS (8)
  RUNS (4)
  RUNS (2)
  RUNS (1)
#undef RUNS
}

const CpuMove CPU_NAME (cpu_move) = {
  .copy_runs = copy_runs,
  .interleave = { [1] = interleave_guint8, [2] = interleave_guint16, [4] = interleave_guint32 },
};
