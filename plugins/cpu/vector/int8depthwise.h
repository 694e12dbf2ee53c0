/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks of pixels of a depthwise convolution of bytes: what computes their sums. */
#pragma once

#include "level.h"

/* What a block of pixels reads: where its first tap is, and bytes from a column of the source to
 * the next, from a row of the filter to the next. */
typedef struct {
  const guint8 *data;
  gsize column, row;
} CpuInt8Block;

typedef void (*CpuInt8BlockFunc) (gint32 *out, const CpuInt8Block *block, const VI32 *w,
                                  const gint32 *bias, const CpuInt8Conv *conv);

/* Which table of a kind is for a filter: any, 3 wide and one or two columns from a pixel of a block
 * to the next, 5 wide likewise. */
CPU_INLINE gint
int8_filter_of (const CpuInt8Conv *c)
{
  const CpuConv *s = &c->shape;
  gint step = s->stride_w * c->joined;
  if (s->dilation_w > 1 || step > 2)
    return 0;
  return s->kernel_w == 3 ? step : s->kernel_w == 5 ? step + 2 : 0;
}

/* In fours: of CPU_INT8_FOURS_PIXELS pixels, and half of them. */
const CpuInt8BlockFunc *CPU_NAME (cpu_int8_fours) (const CpuInt8Conv *conv);
