/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Depthwise convolution of bytes, compiled per instruction set.
 *
 * Channels are the lanes. A strip of two vectors of channels is laid out with row r and row r +
 * dilation as the halves of a 32-bit lane, so that one product takes two taps; each such row serves
 * two rows of the filter where the stride is 1. A filter of odd height has a last row of weight 0.
 */
#include "int8finish.h"
#include "level.h"

#define PIXELS 4

/* @n channels as lanes; what is beyond them stays 0. */
CPU_INLINE VI32
load_channels (const guint8 *x, gint n, gboolean is_signed)
{
  guint8 bytes[CPU_LANES] = { 0 };
  VI32 wide;
  if (n < CPU_LANES) {
    memcpy (bytes, x, (gsize)n);
    x = bytes;
  }
  wide = load_u8 (x);
  if (is_signed)
    wide = ((wide ^ 0x80) - 0x80) & 0xffff;
  return wide;
}

/* Columns @from to @until of a row of the strip, from two rows of the source; NULL: outside of the
 * picture. */
CPU_INLINE void
lay_columns (const CpuInt8Conv *c, const guint8 *a, const guint8 *b, VI32 zero, gint from,
             gint until, gint n, gboolean is_signed, VI32 *to)
{
  for (gint i = from; i < until; i++) {
    gssize at = (gssize)i * (gssize)c->x_pixel;
    for (gint h = 0; h < 2; h++) {
      gint have = n - h * CPU_LANES, skip = h * CPU_LANES;
      VI32 lo = a && have > 0 ? load_channels (a + at + skip, have, is_signed) : zero;
      VI32 hi = b && have > 0 ? load_channels (b + at + skip, have, is_signed) : zero;
      to[2 * i + h] = lo | (hi << 16);
    }
  }
}

static void
lay_row (const CpuInt8Conv *c, const guint8 *a, const guint8 *b, gint32 x_zero, gint left,
         gint width, gint n, VI32 *to)
{
  gint from = CLAMP (-left, 0, width), until = CLAMP (c->in_w - left, from, width);
  VI32 zero = splat (x_zero & 0xffff), both = zero | (zero << 16);
  gssize skip = (gssize)left * (gssize)c->x_pixel;
  for (gint i = 0; i < 2 * from; i++)
    to[i] = both;
  if (a == NULL || b == NULL || n < 2 * CPU_LANES)
    lay_columns (c, a ? a + skip : NULL, b ? b + skip : NULL, zero, from, until, n, c->is_signed,
                 to);
  else if (c->is_signed)
    lay_columns (c, a + skip, b + skip, zero, from, until, 2 * CPU_LANES, TRUE, to);
  else
    lay_columns (c, a + skip, b + skip, zero, from, until, 2 * CPU_LANES, FALSE, to);
  for (gint i = 2 * until; i < 2 * width; i++)
    to[i] = both;
}

static void
lay_out (const CpuInt8Conv *c, const guint8 *x, gint32 x_zero, gint top, gint rows, gint left,
         gint width, gint n, VI32 *to)
{
  for (gint r = 0; r < rows; r++, to += 2 * width) {
    gint ya = top + r, yb = ya + c->dilation_h;
    lay_row (c, ya >= 0 && ya < c->in_h ? x + (gsize)ya * c->x_row : NULL,
             yb >= 0 && yb < c->in_h ? x + (gsize)yb * c->x_row : NULL, x_zero, left, width, n, to);
  }
}

/* Sums of @nr pixels of one strip. @in: the first pixel's first column and row. */
CPU_INLINE void
sum_pixels (const CpuInt8Conv *c, gint32 *out, const VI32 *in, gint width, const VI32 *w,
            const gint32 *bias, gint nr)
{
  VI32 s[2][PIXELS];
  gint pairs = (c->kernel_h + 1) / 2;
#pragma GCC unroll 4
  for (gint j = 0; j < nr; j++) {
    s[0][j] = *(const VI32 *)bias;
    s[1][j] = *(const VI32 *)(bias + CPU_LANES);
  }
  for (gint p = 0; p < pairs; p++) {
    const VI32 *row = in + (gsize)(2 * p * c->dilation_h) * (gsize)width * 2;
    for (gint k = 0; k < c->kernel_w; k++, w += 2, row += 2 * c->dilation_w) {
      VI32 w0 = w[0], w1 = w[1];
#pragma GCC unroll 4
      for (gint j = 0; j < nr; j++) {
        s[0][j] = dot2 (s[0][j], row[2 * j * c->stride_w], w0);
        s[1][j] = dot2 (s[1][j], row[2 * j * c->stride_w + 1], w1);
      }
    }
  }
#pragma GCC unroll 4
  for (gint j = 0; j < nr; j++) {
    *(VI32 *)(out + 2 * j * CPU_LANES) = s[0][j];
    *(VI32 *)(out + (2 * j + 1) * CPU_LANES) = s[1][j];
  }
}

static void
run_row (const CpuInt8Conv *c, const CpuInt8Run *run, const CpuInt8Part *part, const VI32 *in,
         gint width, gint y, gint first)
{
  gint32 sums[2 * CPU_LANES * PIXELS] __attribute__ ((aligned (64)));
  gint n = MIN (c->channels - first, 2 * CPU_LANES), pairs = (c->kernel_h + 1) / 2;
  const VI32 *w = (const VI32 *)(run->weights + (gsize)first * 4 * (gsize)(pairs * c->kernel_w));
  gsize at = (gsize)part->frame * c->y_frame + (gsize)y * c->y_row + (gsize)first;
  for (gint x = part->x0; x < part->x1; x += PIXELS) {
    const VI32 *from = in + (gsize)((x - part->x0) * c->stride_w) * 2;
    gint nr = MIN (PIXELS, part->x1 - x);
    if (nr == PIXELS)
      sum_pixels (c, sums, from, width, w, run->bias + first, PIXELS);
    else
      for (gint j = 0; j < nr; j++)
        sum_pixels (c, sums + 2 * j * CPU_LANES, from + 2 * j * c->stride_w, width, w,
                    run->bias + first, 1);
    finish_tile (&c->finish, run->y, at + (gsize)x * c->y_pixel, c->y_pixel, sums,
                 run->scale ? run->scale + first : NULL, run->shift ? run->shift + first : NULL, nr,
                 2 * CPU_LANES, n);
  }
}

void
CPU_NAME (cpu_int8_depthwise) (const CpuInt8Conv *c, const CpuInt8Run *run, const CpuInt8Part *part,
                               guint8 *scratch)
{
  VI32 *strip = (VI32 *)(gpointer)scratch;
  gint top = part->y0 * c->stride_h - c->pad_top, left = part->x0 * c->stride_w - c->pad_left;
  /* an odd filter's last pair reaches one row further */
  gint rows =
      (part->y1 - part->y0 - 1) * c->stride_h + (c->kernel_h - 1) / 2 * 2 * c->dilation_h + 1;
  gint width = (part->x1 - part->x0 - 1) * c->stride_w + (c->kernel_w - 1) * c->dilation_w + 1;
  for (gint p = part->panel0; p < part->panel1; p += 2) {
    gint first = p * CPU_LANES, n = MIN (c->channels - first, 2 * CPU_LANES);
    lay_out (c, run->x + (gsize)part->frame * c->x_frame + (gsize)first, run->x_zero, top, rows,
             left, width, n, strip);
    for (gint y = part->y0; y < part->y1; y++)
      run_row (c, run, part, strip + (gsize)((y - part->y0) * c->stride_h) * (gsize)width * 2,
               width, y, first);
  }
}
