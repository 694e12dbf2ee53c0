/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LRN: x / (bias + alpha * squares of neighbouring channels)^beta. */
#pragma once

#include <glib.h>

#define CPU_LRN_MOST 64 /* neighbours on either side, of channels that lie last */

typedef struct {
  gint64 before, after; /* neighbours */
  gfloat alpha, beta, bias;
} CpuLrnPlan;

typedef struct {
  /* Rows of @n channels. */
  void (*rows) (gfloat *restrict y, const gfloat *restrict x, gint64 rows, gint64 n,
                const CpuLrnPlan *p);
  /* @n elements of one channel, whose neighbours from @first to @last are @stride apart. */
  void (*plane) (gfloat *restrict y, const gfloat *restrict x, gint64 n, gint64 stride,
                 gint64 first, gint64 last, const CpuLrnPlan *p);
} CpuLrn;
