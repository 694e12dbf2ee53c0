/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pooling along rows, and of small windows. */
#include "level.h"
#include "vectorextreme.h"
#include "vectorpart.h"

#include <math.h>
#include <string.h>

#define LARGEST(a, b) vector_larger (a, b)
#define ADD(a, b) ((a) + (b))
#define AS_IS(v) (v)
#define SCALED(v) ((v)*splat_float (scale))
#define LOAD_PART(p) vector_load_part (p, w->run - i)

/* A vector of a pixel of the result. */
#define JOIN_TAPS(LOAD, JOIN, FINISH, start)                                                       \
  ({                                                                                               \
    VF32 v = splat_float (start);                                                                  \
    for (gint64 r = 0; r < n_rows; r++)                                                            \
      for (gint64 k = 0; k < taps; k++)                                                            \
        v = JOIN (v, LOAD (from + rows[r] + i + k * tap));                                         \
    FINISH (v);                                                                                    \
  })

/* With the numbers of rows and taps known where it is usual. */
#define WINDOWS(name, JOIN, FINISH, start)                                                         \
  CPU_INLINE void name##_by (gfloat *restrict y, const gfloat *restrict x, gint64 n,               \
                             const CpuWindows *w, const gint64 *rows, gint64 n_rows, gint64 taps)  \
  {                                                                                                \
    gint64 tap = w->tap;                                                                           \
    gfloat scale = w->scale;                                                                       \
    (void)scale;                                                                                   \
    for (gint64 o = 0; o < n; o++) {                                                               \
      const gfloat *from = x + o * w->step;                                                        \
      gfloat *to = y + o * w->run;                                                                 \
      gint64 i = 0;                                                                                \
      for (; i + CPU_LANES <= w->run; i += CPU_LANES)                                              \
        vector_store (to + i, JOIN_TAPS (vector_load, JOIN, FINISH, start));                       \
      if (i < w->run)                                                                              \
        vector_store_part (to + i, JOIN_TAPS (LOAD_PART, JOIN, FINISH, start), w->run - i);        \
    }                                                                                              \
  }                                                                                                \
  static void name##_along (gfloat *restrict y, const gfloat *restrict x, gint64 n,                \
                            const CpuWindows *w)                                                   \
  {                                                                                                \
    static const gint64 row = 0;                                                                   \
    if (w->taps == 2)                                                                              \
      name##_by (y, x, n, w, &row, 1, 2);                                                          \
    else if (w->taps == 3)                                                                         \
      name##_by (y, x, n, w, &row, 1, 3);                                                          \
    else                                                                                           \
      name##_by (y, x, n, w, &row, 1, w->taps);                                                    \
  }                                                                                                \
  static void name##_at_once (gfloat *restrict y, const gfloat *restrict x, gint64 n,              \
                              const CpuWindows *w, const gint64 *rows, gint64 n_rows)              \
  {                                                                                                \
    if (w->taps == 2 && n_rows == 2)                                                               \
      name##_by (y, x, n, w, rows, 2, 2);                                                          \
    else if (w->taps == 3 && n_rows == 3)                                                          \
      name##_by (y, x, n, w, rows, 3, 3);                                                          \
    else                                                                                           \
      name##_by (y, x, n, w, rows, n_rows, w->taps);                                               \
  }
WINDOWS (largest, LARGEST, AS_IS, -INFINITY)
WINDOWS (sum, ADD, SCALED, 0)

static void
pick (gfloat *restrict y, const gfloat *restrict x, gint64 n, const CpuWindows *w)
{
  if (w->run == 1 && w->step == 2)
    for (gint64 o = 0; o < n; o++)
      y[o] = x[2 * o];
  else
    for (gint64 o = 0; o < n; o++)
      for (gint64 i = 0; i < w->run; i++)
        y[o * w->run + i] = x[o * w->step + i];
}

#define RAISE(name, type)                                                                          \
  static void name (gpointer restrict y_, gconstpointer x_, gint64 n)                              \
  {                                                                                                \
    const type *restrict x = x_;                                                                   \
    type *restrict y = y_;                                                                         \
    for (gint64 i = 0; i < n; i++)                                                                 \
      y[i] = MAX (y[i], x[i]);                                                                     \
  }
RAISE (raise_u8, guint8)
RAISE (raise_i8, gint8)
#undef RAISE

/* The last bytes of a pixel again with some before them, so that no vector reaches beyond it. */
#define RAISE_ALONG(name, type)                                                                    \
  typedef type name##_vector __attribute__ ((vector_size (CPU_POOL_BYTES), aligned (1)));          \
  static void name (gpointer restrict y_, gconstpointer x_, gint64 n, const CpuWindows *w)         \
  {                                                                                                \
    const gint64 last = w->run - CPU_POOL_BYTES;                                                   \
    const type *x = x_;                                                                            \
    type *restrict y = y_;                                                                         \
    for (gint64 o = 0; o < n; o++, x += w->step, y += w->run)                                      \
      for (gint64 c = 0; c < w->run; c += CPU_POOL_BYTES) {                                        \
        const type *from = x + MIN (c, last);                                                      \
        name##_vector most = *(const name##_vector *)(gconstpointer)from;                          \
        for (gint64 t = 1; t < w->taps; t++) {                                                     \
          name##_vector v = *(const name##_vector *)(gconstpointer)(from + t * w->tap);            \
          name##_vector larger = (name##_vector) (v > most);                                       \
          most = (v & larger) | (most & ~larger);                                                  \
        }                                                                                          \
        *(name##_vector *)(gpointer)(y + MIN (c, last)) = most;                                    \
      }                                                                                            \
  }
RAISE_ALONG (raise_u8_along, guint8)
RAISE_ALONG (raise_i8_along, gint8)
#undef RAISE_ALONG

const CpuPooling CPU_NAME (cpu_pooling) = {
  .along = { [CPU_POOL_MAX] = largest_along, [CPU_POOL_SUM] = sum_along },
  .at_once = { [CPU_POOL_MAX] = largest_at_once, [CPU_POOL_SUM] = sum_at_once },
  .pick = pick,
  .raise = { raise_u8, raise_i8 },
  .raise_along = { raise_u8_along, raise_i8_along },
};
