/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The usual numbers of streams are constants, of which the compiler makes shuffles of vectors. */
#include "move.h"
#include "level.h"
#include "vectorfour.h"

#include <string.h>

#define LONG_RUN 1024     /* bytes that are worth a call of memcpy () */
#define SHARED_PITCH 1024 /* words of a row */
#define TURNED_ROWS 64

/* Four elements of each of four streams. */
CPU_INLINE void
turn_square (guint32 *restrict y, gint64 pitch, const guint32 *restrict x, gint64 step)
{
  CpuFour v[4];
#pragma GCC unroll 4
  for (gint i = 0; i < 4; i++)
    v[i] = *(const CpuFour *)(x + i * step);
  vector_turn_four (v);
#pragma GCC unroll 4
  for (gint i = 0; i < 4; i++)
    *(CpuFour *)(y + i * pitch) = v[i];
}

/* Streams @s to @s + 3 of some. */
static void
four_streams (guint32 *restrict y, const guint32 *restrict x, gint64 streams, gint64 step, gint64 n)
{
  gint64 i = 0;
  for (; i + 4 <= n; i += 4)
    turn_square (y + i * streams, streams, x + i, step);
  for (; i < n; i++)
    for (gint64 s = 0; s < 4; s++)
      y[i * streams + s] = x[s * step + i];
}

/* Streams @first to @end, all of so many elements. */
static void
turn_block (guint32 *restrict y, gint64 pitch, const guint32 *restrict x, gint64 step, gint64 first,
            gint64 end, gint64 n)
{
  gint64 whole = end - (end - first) % 4, i = 0;
  for (; i + 4 <= n; i += 4)
    for (gint64 s = first; s < whole; s += 4)
      turn_square (y + i * pitch + s, pitch, x + s * step + i, step);
  for (gint64 s = first; s < end; s++)
    for (gint64 k = s < whole ? i : 0; k < n; k++)
      y[k * pitch + s] = x[s * step + k];
}

/* Rows of the result that the first cache holds, and of them a line of the cache at a time, or some
 * where all rows share the few places that the cache has for them. */
static void
turn_words (gpointer y, gint64 pitch, gconstpointer x, gint64 step, gint64 streams, gint64 n)
{
  gint64 block = pitch % SHARED_PITCH ? 16 : 64;
  for (gint64 i = 0; i < n; i += TURNED_ROWS)
    for (gint64 first = 0; first < streams; first += block)
      turn_block ((guint32 *)y + i * pitch, pitch, (const guint32 *)x + i, step, first,
                  MIN (first + block, streams), MIN (TURNED_ROWS, n - i));
}

#define SQUARE 16

typedef guint8 Sixteen __attribute__ ((vector_size (SQUARE), aligned (1), may_alias));

/* As many bytes of each of as many streams. What all vectors hold one behind the other is shuffled
 * perfectly, by which its first bit of place becomes the last, until streams and bytes have changed
 * places. */
CPU_INLINE void
turn_byte_square (guint8 *y, gint64 pitch, const guint8 *x, gint64 step)
{
  Sixteen v[SQUARE], shuffled[SQUARE];
#pragma GCC unroll 16
  for (gint i = 0; i < SQUARE; i++)
    v[i] = *(const Sixteen *)(x + i * step);
#pragma GCC unroll 4
  for (gint bit = 1; bit < SQUARE; bit *= 2) {
#pragma GCC unroll 8
    for (gint i = 0; i < SQUARE / 2; i++) {
      const Sixteen a = v[i], b = v[i + SQUARE / 2];
      shuffled[2 * i] =
          __builtin_shufflevector (a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      shuffled[2 * i + 1] = __builtin_shufflevector (a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                                                     29, 14, 30, 15, 31);
    }
    memcpy (v, shuffled, sizeof v);
  }
#pragma GCC unroll 16
  for (gint i = 0; i < SQUARE; i++)
    *(Sixteen *)(y + i * pitch) = v[i];
}

static void
turn_bytes (gpointer y_, gint64 pitch, gconstpointer x_, gint64 step, gint64 streams, gint64 n)
{
  guint8 *restrict y = y_;
  const guint8 *restrict x = x_;
  gint64 whole = streams - streams % SQUARE, i = 0;
  for (; i + SQUARE <= n; i += SQUARE)
    for (gint64 s = 0; s < whole; s += SQUARE)
      turn_byte_square (y + i * pitch + s, pitch, x + s * step + i, step);
  for (gint64 s = 0; s < streams; s++)
    for (gint64 k = s < whole ? i : 0; k < n; k++)
      y[k * pitch + s] = x[s * step + k];
}

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

/* Any number: four by four. */
static void
interleave_words (gpointer y, gconstpointer x, gint64 streams, gint64 step, gint64 n)
{
  guint32 *to = y;
  const guint32 *from = x;
  gint64 s = 0;
  if (streams < 5 || streams == 8) {
    interleave_guint32 (y, x, streams, step, n);
    return;
  }
  for (; s + 4 <= streams; s += 4)
    four_streams (to + s, from + s * step, streams, step, n);
  for (; s < streams; s++)
    for (gint64 i = 0; i < n; i++)
      to[i * streams + s] = from[s * step + i];
}

#define TAKE(type)                                                                                 \
  CPU_INLINE void each_##type (type *restrict y, const type *restrict x, gint64 step, gint64 n)    \
  {                                                                                                \
    for (gint64 i = 0; i < n; i++)                                                                 \
      y[i] = x[i * step];                                                                          \
  }                                                                                                \
  static void take_##type (gpointer y, gconstpointer x, gint64 step, gint64 n)                     \
  {                                                                                                \
    if (step == 2)                                                                                 \
      each_##type (y, x, 2, n);                                                                    \
    else if (step == 3)                                                                            \
      each_##type (y, x, 3, n);                                                                    \
    else if (step == 4)                                                                            \
      each_##type (y, x, 4, n);                                                                    \
    else                                                                                           \
      each_##type (y, x, step, n);                                                                 \
  }
TAKE (guint8)
TAKE (guint16)
TAKE (guint32)
#undef TAKE

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
  if (bytes == 4 && y_step == 4 && x_step == 8) {
    take_guint32 (y, x, 2, n);
    return;
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
  .interleave = { [1] = interleave_guint8, [2] = interleave_guint16, [4] = interleave_words },
  .turn = { [1] = turn_bytes, [4] = turn_words },
  .take = { [1] = take_guint8, [2] = take_guint16, [4] = take_guint32 },
};
