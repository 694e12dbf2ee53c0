/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pooling along a row whose columns are joined already (by reduce.h), or of small windows at once.
 */
#pragma once

#include <glib.h>

/* Windows of @taps pixels, @tap apart, a window begins @step after the last; distances in
 * elements. */
typedef struct {
  gint64 run; /* elements of a pixel */
  gint64 step, taps, tap;
  gfloat scale;
} CpuWindows;

#define CPU_POOL_BYTES 16

typedef enum { CPU_POOL_MAX, CPU_POOL_SUM, CPU_N_POOLS } CpuPoolKind;

typedef struct {
  /* @n windows become @n pixels: the largest, or the sum times the scale. */
  void (*along[CPU_N_POOLS]) (gfloat *restrict y, const gfloat *restrict x, gint64 n,
                              const CpuWindows *w);
  /* The same of windows of @n_rows such rows, which begin @rows elements behind a window's first.
   */
  void (*at_once[CPU_N_POOLS]) (gfloat *restrict y, const gfloat *restrict x, gint64 n,
                                const CpuWindows *w, const gint64 *rows, gint64 n_rows);
  /* Every so many pixels, w->step elements apart. */
  void (*pick) (gfloat *restrict y, const gfloat *restrict x, gint64 n, const CpuWindows *w);
  /* The larger of either byte; u8, i8. */
  void (*raise[2]) (gpointer restrict y, gconstpointer x, gint64 n);
  /* As along, the largest bytes; of pixels of CPU_POOL_BYTES bytes or more. */
  void (*raise_along[2]) (gpointer restrict y, gconstpointer x, gint64 n, const CpuWindows *w);
} CpuPooling;
