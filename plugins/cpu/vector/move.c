/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The usual numbers of streams are constants, of which the compiler makes shuffles of vectors. */
#include "move.h"
#include "level.h"

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

const CpuMove CPU_NAME (cpu_move) = {
  .interleave = { [1] = interleave_guint8, [2] = interleave_guint16, [4] = interleave_guint32 },
};
