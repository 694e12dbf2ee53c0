/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a part reads of the source, laid out with its padding: as bytes, or as 16-bit numbers. */
#pragma once

#include "int8.h"
#include "vector.h"

#include <string.h>

CPU_INLINE void
int8_copy_elements (const CpuInt8Conv *c, gboolean wide, guint8 *restrict to,
                    const guint8 *restrict from, gsize n)
{
  gint16 *halves = (gint16 *)(gpointer)to;
  if (wide && c->is_signed)
    for (gsize i = 0; i < n; i++)
      halves[i] = (gint8)from[i];
  else if (wide)
    for (gsize i = 0; i < n; i++)
      halves[i] = from[i];
  else if (c->offset != 0) /* of the other sign: 128 more or less, and so is the zero point */
    for (gsize i = 0; i < n; i++)
      to[i] = from[i] ^ 0x80;
  else
    memcpy (to, from, n);
}

CPU_INLINE void
int8_fill_elements (guint8 *to, gsize n, gboolean wide, gint32 value)
{
  gint16 *halves = (gint16 *)(gpointer)to;
  if (wide)
    for (gsize i = 0; i < n; i++)
      halves[i] = (gint16)value;
  else
    memset (to, value, n);
}

/* Rows @top and those below, of @width pixels from column @left on. */
typedef struct {
  gint top, rows, left, width;
  gboolean wide;
  gint32 zero; /* outside */
} Int8Place;

/* What a part reads. */
CPU_INLINE Int8Place
int8_place_of (const CpuConv *c, const CpuConvPart *part, gboolean wide, gint32 zero)
{
  return (Int8Place){
    .top = part->y0 * c->stride_h - c->pad_top,
    .rows = (part->y1 - part->y0 - 1) * c->stride_h + (c->kernel_h - 1) * c->dilation_h + 1,
    .left = part->x0 * c->stride_w - c->pad_left,
    .width = (part->x1 - part->x0 - 1) * c->stride_w + (c->kernel_w - 1) * c->dilation_w + 1,
    .wide = wide,
    .zero = zero,
  };
}

CPU_INLINE void
int8_lay_row (const CpuInt8Conv *c, const guint8 *x, const Int8Place *p, guint8 *to)
{
  gsize n = (gsize)c->shape.channels, pixel = n * (p->wide ? 2 : 1);
  gint from = CLAMP (-p->left, 0, p->width),
       until = CLAMP (c->shape.in_w - p->left, from, p->width);
  int8_fill_elements (to, (gsize)from * n, p->wide, p->zero);
  x += (gssize)(p->left + from) * (gssize)c->shape.x_pixel;
  if (c->shape.x_pixel == n)
    int8_copy_elements (c, p->wide, to + (gsize)from * pixel, x, (gsize)(until - from) * n);
  else
    for (gint i = from; i < until; i++, x += c->shape.x_pixel)
      int8_copy_elements (c, p->wide, to + (gsize)i * pixel, x, n);
  int8_fill_elements (to + (gsize)until * pixel, (gsize)(p->width - until) * n, p->wide, p->zero);
}

/* @x: the first element of the frame. Returns bytes from a row to the next. */
CPU_INLINE gsize
int8_lay_rows (const CpuInt8Conv *c, const guint8 *x, const Int8Place *p, guint8 *to)
{
  gsize n = (gsize)p->width * (gsize)c->shape.channels, row = n * (p->wide ? 2 : 1);
  for (gint r = p->top; r < p->top + p->rows; r++, to += row)
    if (r < 0 || r >= c->shape.in_h)
      int8_fill_elements (to, n, p->wide, p->zero);
    else
      int8_lay_row (c, x + (gsize)r * c->shape.x_row, p, to);
  return row;
}
