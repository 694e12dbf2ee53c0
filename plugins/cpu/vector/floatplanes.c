/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution of floats of few channels to few, as filters of pictures are, compiled per
 * instruction set.
 *
 * Vectors are pixels side by side of one channel. Rows of the source that a part needs are copied
 * with their padding, each channel by itself; of a convolution that steps over columns each n-th
 * column by itself, so that every tap of neighbours is a vector that lies together. */
#include "floatfinish.h"
#include "floatstrip.h"

/* Vectors of pixels whose sums stay in registers. */
#define TOGETHER CPU_FLOAT_PLANES_TOGETHER

/* Columns @first, @first + stride ... of a row of a channel, zeros where there is none. */
static void
read_columns (const CpuConv *c, const gfloat *from, gint first, gfloat *to, gint width)
{
  const gint stride = c->stride_w;
  gint start = first < 0 ? (stride - 1 - first) / stride : 0;
  gint end = c->in_w > first ? (c->in_w - first + stride - 1) / stride : 0;
  start = MIN (start, width);
  end = CLAMP (end, start, width);
  memset (to, 0, (gsize)start * sizeof *to);
  from += (gssize)(first + start * stride) * (gssize)c->x_pixel;
  if (stride * c->x_pixel == 1)
    memcpy (to + start, from, (gsize)(end - start) * sizeof *to);
  else
    CPU_NAME (cpu_move).take[sizeof *to](to + start, from, (gint64)(stride * c->x_pixel),
                                         end - start);
  memset (to + end, 0, (gsize)(width - end) * sizeof *to);
}

/* The rows of the source that a part needs; @top: the first, which may be above the picture. */
static void
read_rows (const CpuFloatPlanes *p, const CpuFloatConvRun *run, const CpuConvPart *part, gint top,
           gfloat *to)
{
  const CpuConv *c = &p->conv;
  const gsize channel = c->x_plane > 0 ? c->x_plane : 1;
  gint rows = (part->y1 - part->y0 - 1) * c->stride_h + (c->kernel_h - 1) * c->dilation_h + 1;
  gint left = part->x0 * c->stride_w - c->pad_left;
  for (gint y = top; y < top + rows; y++) {
    const gfloat *row = run->x + (gsize)part->frame * c->x_frame + (gssize)y * (gssize)c->x_row;
    if (y < 0 || y >= c->in_h) {
      to += p->row;
      continue;
    }
    for (gint i = 0; i < c->channels; i++)
      for (gint k = 0; k < c->stride_w; k++, to += p->width)
        read_columns (c, row + (gsize)i * channel, left + k, to, p->width);
  }
}

/* Rows of the source that an output row meets, and the weights of the first. */
typedef struct {
  const gfloat *x, *w;
  gint n;
  gsize next; /* elements from one to the next */
} Rows;

CPU_INLINE void
sum_pixels (const CpuFloatPlanes *p, const Rows *rows, const gfloat *bias, gint x, gfloat *sums,
            gint outs, gint vectors)
{
  const gfloat *row = rows->x + x, *w = rows->w;
  VF32 s[CPU_FLOAT_PLANES][TOGETHER], v[TOGETHER];
#pragma GCC unroll 4
  for (gint o = 0; o < outs; o++)
#pragma GCC unroll 8
    for (gint i = 0; i < vectors; i++)
      s[o][i] = splat_float (bias[o]);
  for (gint y = 0; y < rows->n; y++, row += rows->next)
    for (gint t = 0; t < p->n_taps; t++, w += outs) {
      const gfloat *at = row + p->offsets[t];
#pragma GCC unroll 8
      for (gint i = 0; i < vectors; i++)
        v[i] = vector_load (at + i * CPU_LANES);
#pragma GCC unroll 4
      for (gint o = 0; o < outs; o++)
#pragma GCC unroll 8
        for (gint i = 0; i < vectors; i++)
          s[o][i] += v[i] * splat_float (w[o]);
    }
#pragma GCC unroll 4
  for (gint o = 0; o < outs; o++)
#pragma GCC unroll 8
    for (gint i = 0; i < vectors; i++)
      vector_store (sums + (gsize)o * p->pitch + x + i * CPU_LANES, s[o][i]);
}

/* As many vectors as there are registers for, as long as less than one of them is in vain. */
#define ROW(outs, vectors)                                                                         \
  static void row_##outs (const CpuFloatPlanes *p, const Rows *rows, const gfloat *bias, gint n,   \
                          gfloat *sums)                                                            \
  {                                                                                                \
    gint x = 0;                                                                                    \
    for (; x + ((vectors)-1) * CPU_LANES < n; x += (vectors)*CPU_LANES)                            \
      sum_pixels (p, rows, bias, x, sums, outs, vectors);                                          \
    for (; x < n; x += CPU_LANES)                                                                  \
      sum_pixels (p, rows, bias, x, sums, outs, 1);                                                \
  }
ROW (1, TOGETHER)
ROW (2, 4)
ROW (3, CPU_REGISTERS / 8)
ROW (4, CPU_REGISTERS / 8)

typedef void (*RowFunc) (const CpuFloatPlanes *p, const Rows *rows, const gfloat *bias, gint n,
                         gfloat *sums);
static const RowFunc row_funcs[CPU_FLOAT_PLANES] = { row_1, row_2, row_3, row_4 };

/* @n pixels of all channels, the first of which is element @at of the destination. */
static void
finish_row (const CpuFloatPlanes *p, const CpuFloatConvRun *run, gfloat *sums, gfloat *joined,
            gint n, gsize at)
{
  const CpuConv *c = &p->conv;
  if (c->out_channels > 1 && p->y_plane == 0) {
    CPU_NAME (cpu_move).interleave[sizeof *sums](joined, sums, c->out_channels, (gint64)p->pitch,
                                                 n);
    float_finish_row (run, joined, n * c->out_channels, at);
    return;
  }
  for (gint o = 0; o < c->out_channels; o++, sums += p->pitch, at += p->y_plane)
    float_finish_row (run, sums, n, at);
}

void
CPU_NAME (cpu_float_planes) (const CpuFloatPlanes *p, const CpuFloatConvRun *run,
                             const CpuConvPart *part, guint8 *scratch)
{
  const CpuConv *c = &p->conv;
  gfloat *x = (gfloat *)(gpointer)scratch;
  gfloat *sums = (gfloat *)(gpointer)(scratch + p->heads[0]);
  gfloat *joined = (gfloat *)(gpointer)(scratch + p->heads[1]);
  const gint top = part->y0 * c->stride_h - c->pad_top, n = part->x1 - part->x0;
  Rows rows = { .next = (gsize)c->dilation_h * p->row };
  read_rows (p, run, part, top, x);
  for (gint y = part->y0; y < part->y1; y++) {
    gint from = y * c->stride_h - c->pad_top, first, end;
    strip_clip_taps (from, c->kernel_h, c->dilation_h, c->in_h, &first, &end);
    rows.x = x + (gsize)(from + first * c->dilation_h - top) * p->row;
    rows.w = run->weights + (gsize)(first * p->n_taps * c->out_channels);
    rows.n = end - first;
    row_funcs[c->out_channels - 1](p, &rows, run->bias, n, sums);
    finish_row (p, run, sums, joined, n,
                (gsize)part->frame * c->y_frame + (gsize)y * c->y_row +
                    (gsize)part->x0 * c->y_pixel);
  }
}
