/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Depthwise convolution of bytes, compiled per instruction set.
 *
 * Channels are the lanes. A strip of two vectors of channels is laid out with row r and row r +
 * dilation as the halves of a 32-bit lane, so that one product takes two taps. Without dilation
 * the rows come in twos (step is 2), each but once; an output row that begins with the second of
 * two has weights of its own, a row later. Else the strip has a row for each of the picture (step
 * is 1). Rows of the filter that are not there have weights of 0.
 */
#include "int8finish.h"
#include "level.h"

#define PIXELS 4

/* Columns @from to @until of a row of the strip, from two rows of the source; NULL: outside of the
 * picture. What is beyond @n channels is of no account. */
CPU_INLINE void
lay_columns (const CpuInt8Conv *c, const guint8 *a, const guint8 *b, gint32 zero, gint from,
             gint until, gint n, gboolean is_signed, VI32 *to)
{
  guint8 zeros[CPU_BYTES], bytes[2][CPU_BYTES];
  gsize skip_a = a ? c->shape.x_pixel : 0, skip_b = b ? c->shape.x_pixel : 0;
  memset (zeros, zero, sizeof zeros);
  memset (bytes, zero, sizeof bytes);
  a = a ? a + (gssize)from * (gssize)skip_a : zeros;
  b = b ? b + (gssize)from * (gssize)skip_b : zeros;
  for (gint i = from; i < until; i++, a += skip_a, b += skip_b)
    if (n == CPU_BYTES) {
      interleave_bytes (to + 2 * i, a, b, is_signed);
    } else {
      memcpy (bytes[0], a, (gsize)n);
      memcpy (bytes[1], b, (gsize)n);
      interleave_bytes (to + 2 * i, bytes[0], bytes[1], is_signed);
    }
}

static void
lay_row (const CpuInt8Conv *c, const guint8 *a, const guint8 *b, gint32 x_zero, gint left,
         gint width, gint n, VI32 *to)
{
  gint from = CLAMP (-left, 0, width), until = CLAMP (c->shape.in_w - left, from, width);
  VI32 both = splat ((x_zero & 0xffff) | (gint32)((guint32)x_zero << 16));
  gssize skip = (gssize)left * (gssize)c->shape.x_pixel;
  for (gint i = 0; i < 2 * from; i++)
    to[i] = both;
  a = a ? a + skip : NULL;
  b = b ? b + skip : NULL;
  if (n < CPU_BYTES)
    lay_columns (c, a, b, x_zero, from, until, n, c->is_signed, to);
  else if (c->is_signed)
    lay_columns (c, a, b, x_zero, from, until, CPU_BYTES, TRUE, to);
  else
    lay_columns (c, a, b, x_zero, from, until, CPU_BYTES, FALSE, to);
  for (gint i = 2 * until; i < 2 * width; i++)
    to[i] = both;
}

static void
lay_out (const CpuInt8Conv *c, const guint8 *x, gint32 x_zero, gint top, gint rows, gint left,
         gint width, gint n, VI32 *to)
{
  for (gint r = 0; r < rows; r++, to += 2 * width) {
    gint ya = top + r * c->step, yb = ya + c->shape.dilation_h;
    lay_row (c, ya >= 0 && ya < c->shape.in_h ? x + (gsize)ya * c->shape.x_row : NULL,
             yb >= 0 && yb < c->shape.in_h ? x + (gsize)yb * c->shape.x_row : NULL, x_zero, left,
             width, n, to);
  }
}

/* Sums of @nr pixels of one strip. @in: the first pixel's first column and row. */
CPU_INLINE void
sum_pixels (gint32 *out, const VI32 *in, gsize row, gint column, gint pixel, gint pairs,
            gint kernel_w, const VI32 *w, const gint32 *bias, gint nr)
{
  VI32 s[2][PIXELS];
#pragma GCC unroll 4
  for (gint j = 0; j < nr; j++) {
    s[0][j] = *(const VI32 *)bias;
    s[1][j] = *(const VI32 *)(bias + CPU_LANES);
  }
#pragma GCC unroll 2
  for (gint p = 0; p < pairs; p++, in += row)
#pragma GCC unroll 3
    for (gint k = 0; k < kernel_w; k++, w += 2) {
      const VI32 *x = in + k * column;
      VI32 w0 = w[0], w1 = w[1];
#pragma GCC unroll 4
      for (gint j = 0; j < nr; j++) {
        s[0][j] = dot2 (s[0][j], x[j * pixel], w0);
        s[1][j] = dot2 (s[1][j], x[j * pixel + 1], w1);
      }
    }
#pragma GCC unroll 4
  for (gint j = 0; j < nr; j++) {
    *(VI32 *)(out + 2 * j * CPU_LANES) = s[0][j];
    *(VI32 *)(out + (2 * j + 1) * CPU_LANES) = s[1][j];
  }
}

/* The common filters have constants for their shape. */
CPU_INLINE void
sum_block (const CpuInt8Conv *c, gint32 *out, const VI32 *in, gint width, const VI32 *w,
           const gint32 *bias, gint nr)
{
  gsize row = (gsize)(2 * c->shape.dilation_h / c->step) * (gsize)width * 2;
  gboolean three = c->shape.kernel_h == 3 && c->shape.kernel_w == 3 && c->shape.dilation_w == 1;
  if (three && c->shape.stride_w == 1)
    sum_pixels (out, in, row, 2, 2, 2, 3, w, bias, nr);
  else if (three && c->shape.stride_w == 2)
    sum_pixels (out, in, row, 2, 4, 2, 3, w, bias, nr);
  else
    sum_pixels (out, in, row, 2 * c->shape.dilation_w, 2 * c->shape.stride_w, c->pairs_of_rows,
                c->shape.kernel_w, w, bias, nr);
}

static void
run_row (const CpuInt8Conv *c, const CpuInt8Run *run, const CpuConvPart *part, const VI32 *in,
         gint width, gint y, gint first)
{
  gint32 sums[2 * CPU_LANES * PIXELS] __attribute__ ((aligned (64)));
  gint n = MIN (c->shape.channels - first, 2 * CPU_LANES), top = (y - part->y0) * c->shape.stride_h;
  gsize words = (gsize)(c->pairs_of_rows * c->shape.kernel_w), odd = (gsize)(top % c->step);
  const VI32 *w =
      (const VI32 *)(run->weights + (gsize)first * 4 * (gsize)c->step * words) + odd * words * 2;
  gsize at = (gsize)part->frame * c->shape.y_frame + (gsize)y * c->shape.y_row + (gsize)first;
  in += (gsize)(top / c->step) * (gsize)width * 2;
  for (gint x = part->x0; x < part->x1; x += PIXELS) {
    const VI32 *from = in + (gsize)((x - part->x0) * c->shape.stride_w) * 2;
    gint nr = MIN (PIXELS, part->x1 - x);
    if (nr == PIXELS)
      sum_block (c, sums, from, width, w, run->bias + first, PIXELS);
    else
      for (gint j = 0; j < nr; j++)
        sum_block (c, sums + 2 * j * CPU_LANES, from + 2 * j * c->shape.stride_w, width, w,
                   run->bias + first, 1);
    finish_tile (&c->finish, run->y, at + (gsize)x * c->shape.y_pixel, c->shape.y_pixel, sums,
                 run->scale ? run->scale + first : NULL, run->shift ? run->shift + first : NULL, nr,
                 2 * CPU_LANES, n);
  }
}

void
CPU_NAME (cpu_int8_depthwise) (const CpuInt8Conv *c, const CpuInt8Run *run, const CpuConvPart *part,
                               guint8 *scratch)
{
  VI32 *strip = (VI32 *)(gpointer)scratch;
  gint top = part->y0 * c->shape.stride_h - c->shape.pad_top,
       left = part->x0 * c->shape.stride_w - c->shape.pad_left;
  gint rows = cpu_int8_strip_rows (c, part->y1 - part->y0);
  gint width = (part->x1 - part->x0 - 1) * c->shape.stride_w +
               (c->shape.kernel_w - 1) * c->shape.dilation_w + 1;
  for (gint p = part->panel0; p < part->panel1; p += 2) {
    gint first = p * CPU_LANES, n = MIN (c->shape.channels - first, 2 * CPU_LANES);
    lay_out (c, run->x + (gsize)part->frame * c->shape.x_frame + (gsize)first, run->x_zero, top,
             rows, left, width, n, strip);
    for (gint y = part->y0; y < part->y1; y++)
      run_row (c, run, part, strip, width, y, first);
  }
}
