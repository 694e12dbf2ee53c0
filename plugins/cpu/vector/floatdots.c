/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution of floats with few output channels of many input channels, compiled per instruction
 * set.
 *
 * By themselves the output channels would leave most of a vector empty. So the lanes are input
 * channels: each result has a vector of sums of its own, and as many vectors as have lanes, of
 * neighbours in the destination, are turned into the vector of their totals. */
#include "floatfinish.h"

/* Lane i of @a where bit @by of i is 0, of @b where it is 1; and lane i ^ @by of them. */
#define KEPT(by, i) ((i) & (by) ? CPU_LANES + (i) : (i))
#define MOVED(by, i) ((i) & (by) ? CPU_LANES + ((i) ^ (by)) : (i) ^ (by))
#define FOUR(M, by, i) M (by, i), M (by, (i) + 1), M (by, (i) + 2), M (by, (i) + 3)
#if CPU_LANES == 16
#define ALL(M, by) FOUR (M, by, 0), FOUR (M, by, 4), FOUR (M, by, 8), FOUR (M, by, 12)
#elif CPU_LANES == 8
#define ALL(M, by) FOUR (M, by, 0), FOUR (M, by, 4)
#else
#define ALL(M, by) FOUR (M, by, 0)
#endif

/* Half as many vectors: lane i has what its vector, that of bit @by of i, has there and at i ^ @by.
 */
#define HALVE(v, by)                                                                               \
  _Pragma ("GCC unroll 8") for (gint i = 0; i < (by); i++) v[i] =                                  \
      __builtin_shufflevector (v[i], v[i + (by)], ALL (KEPT, by)) +                                \
      __builtin_shufflevector (v[i], v[i + (by)], ALL (MOVED, by))

/* Lane i is the total of v[i]. */
CPU_INLINE VF32
totals (VF32 v[CPU_LANES])
{
#if CPU_LANES > 8
  HALVE (v, 8);
#endif
#if CPU_LANES > 4
  HALVE (v, 4);
#endif
  HALVE (v, 2);
  HALVE (v, 1);
  return v[0];
}

/* Totals of @outs channels of as many pixels as fill a vector. @y, @x: of the source, below the
 * filter's first tap; @n: pixels that there are, where some of what lies below is outside, else
 * @is_inside. */
CPU_INLINE VF32
tile (const CpuConv *c, const gfloat *frame, const gfloat *w, gint y, gint x, gint n, gint outs,
      gboolean is_inside)
{
  const gint pixels = CPU_LANES / outs, vectors = c->channels / CPU_LANES;
  const gsize step = (gsize)c->stride_w * c->x_pixel;
  VF32 sums[CPU_LANES];
#pragma GCC unroll 16
  for (gint i = 0; i < CPU_LANES; i++)
    sums[i] = splat_float (0);
  for (gint r = 0; r < c->kernel_h; r++, y += c->dilation_h) {
    if (y < 0 || y >= c->in_h) {
      w += (gsize)(c->kernel_w * outs) * (gsize)c->channels;
      continue;
    }
    for (gint k = 0, at = x; k < c->kernel_w; k++, at += c->dilation_w) {
      const gfloat *from = frame + (gssize)y * (gssize)c->x_row + at * (gssize)c->x_pixel;
      for (gint v = 0; v < vectors; v++, from += CPU_LANES, w += outs * CPU_LANES)
#pragma GCC unroll 16
        for (gint p = 0; p < pixels; p++) {
          gint column = at + p * c->stride_w;
          VF32 source = splat_float (0);
          if (is_inside || (p < n && column >= 0 && column < c->in_w))
            source = vector_load (from + (gsize)p * step);
#pragma GCC unroll 4
          for (gint o = 0; o < outs; o++)
            sums[p * outs + o] += source * vector_load (w + o * CPU_LANES);
        }
    }
  }
  return totals (sums);
}

/* Pixels of one row of a part. */
CPU_INLINE void
sum_row (const CpuConv *c, const CpuFloatConvRun *run, const CpuConvPart *part, gint row, gint outs,
         gfloat *sums)
{
  const gint pixels = CPU_LANES / outs;
  const gfloat *frame = run->x + (gsize)part->frame * c->x_frame;
  const VF32 bias = vector_load (run->bias);
  gint y = row * c->stride_h - c->pad_top;
  for (gint at = part->x0; at < part->x1; at += pixels, sums += pixels * outs) {
    gint x = at * c->stride_w - c->pad_left, n = part->x1 - at;
    gint last = x + (pixels - 1) * c->stride_w + (c->kernel_w - 1) * c->dilation_w;
    if (n >= pixels && x >= 0 && last < c->in_w)
      vector_store (sums, bias + tile (c, frame, run->weights, y, x, n, outs, TRUE));
    else
      vector_store (sums, bias + tile (c, frame, run->weights, y, x, n, outs, FALSE));
  }
}

typedef void (*RowFunc) (const CpuConv *c, const CpuFloatConvRun *run, const CpuConvPart *part,
                         gint row, gfloat *sums);

#define ROW(outs)                                                                                  \
  static void row_##outs (const CpuConv *c, const CpuFloatConvRun *run, const CpuConvPart *part,   \
                          gint row, gfloat *sums)                                                  \
  {                                                                                                \
    sum_row (c, run, part, row, outs, sums);                                                       \
  }
ROW (1)
ROW (2)
ROW (3)
ROW (4)
static const RowFunc rows[CPU_FLOAT_DOTS] = { row_1, row_2, row_3, row_4 };

void
CPU_NAME (cpu_float_dots) (const CpuConv *c, const CpuFloatConvRun *run, const CpuConvPart *part,
                           guint8 *scratch)
{
  gfloat *sums = (gfloat *)(gpointer)scratch;
  for (gint y = part->y0; y < part->y1; y++) {
    rows[c->out_channels - 1](c, run, part, y, sums);
    float_finish_row (run, sums, (part->x1 - part->x0) * c->out_channels,
                      (gsize)part->frame * c->y_frame + (gsize)y * c->y_row +
                          (gsize)part->x0 * c->y_pixel);
  }
}
