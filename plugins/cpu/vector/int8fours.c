/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Depthwise convolution of bytes in fours, compiled per instruction set.
 *
 * Bytes of four rows become the 32-bit lanes of four vectors, so that one product takes four taps
 * of a column. They are interleaved within each 128 bits, as sums are packed to bytes in the end:
 * nothing is put in order between (cpu_int8_place()). What a column of the source gives is used for
 * all pixels of a block that meet it.
 */
#include "int8depthwise.h"
#include "int8finish.h"

#define PIXELS CPU_INT8_FOURS_PIXELS

#if CPU_DOT4

/* Up to four rows of a filter whose width, and from which column to the next pixels of a block are,
 * are constants. */
CPU_INLINE void
add_rows (VI32 s[PIXELS][4], const guint8 *x, const CpuInt8Block *b, const VI32 *w, gint kernel_w,
          gint step, gint rows, gint nr)
{
#pragma GCC unroll 20
  for (gint column = 0; column < (nr - 1) * step + kernel_w; column++, x += b->column) {
    VI32 v[4];
    interleave_fours (v, x, b->row, rows);
#pragma GCC unroll 8
    for (gint j = 0; j < nr; j++) {
      const gint tap = column - j * step;
      if (tap < 0 || tap >= kernel_w)
        continue;
#pragma GCC unroll 4
      for (gint i = 0; i < 4; i++)
        s[j][i] = dot4 (s[j][i], v[i], w[4 * tap + i]);
    }
  }
}

/* Up to four rows of any filter. */
CPU_INLINE void
add_rows_of_any (VI32 s[PIXELS][4], const guint8 *x, const CpuInt8Block *b, const VI32 *w,
                 const CpuInt8Conv *c, gint rows, gint nr)
{
  gsize step = (gsize)(c->shape.stride_w * c->joined) * b->column;
  for (gint tap = 0; tap < c->shape.kernel_w; tap++, w += 4) {
    const guint8 *at = x + (gsize)(tap * c->shape.dilation_w) * b->column;
#pragma GCC unroll 8
    for (gint j = 0; j < nr; j++, at += step) {
      VI32 v[4];
      interleave_fours (v, at, b->row, rows);
#pragma GCC unroll 4
      for (gint i = 0; i < 4; i++)
        s[j][i] = dot4 (s[j][i], v[i], w[i]);
    }
  }
}

CPU_INLINE void
add_any (VI32 s[PIXELS][4], const guint8 *x, const CpuInt8Block *b, const VI32 *w,
         const CpuInt8Conv *c, gint nr)
{
  gint rows = c->shape.kernel_h;
  for (; rows >= 4; rows -= 4, x += 4 * b->row, w += 4 * c->shape.kernel_w)
    add_rows_of_any (s, x, b, w, c, 4, nr);
  if (rows == 3)
    add_rows_of_any (s, x, b, w, c, 3, nr);
  else if (rows == 2)
    add_rows_of_any (s, x, b, w, c, 2, nr);
  else if (rows == 1)
    add_rows_of_any (s, x, b, w, c, 1, nr);
}

/* Bytes stay in fours; what becomes something else is put in order. */
CPU_INLINE void
store_sums (gint32 *out, const VI32 s[4], gboolean in_fours)
{
  if (in_fours) {
#pragma GCC unroll 4
    for (gint i = 0; i < 4; i++)
      *(VI32 *)(out + i * CPU_LANES) = s[i];
    return;
  }
  for (gint o = 0; o < CPU_VECTOR; o += 4)
    memcpy (out + o, (const gint32 *)(gconstpointer)s + cpu_int8_place (o, CPU_LANES),
            4 * sizeof *out);
}

/* @size: 3 or 5, whose sums stay in registers; 0: of any filter. */
CPU_INLINE void
sum_block (gint32 *out, const CpuInt8Block *b, const VI32 *w, const gint32 *bias,
           const CpuInt8Conv *c, gint size, gint step, gint nr)
{
  const guint8 *x = b->data;
  VI32 s[PIXELS][4];
#pragma GCC unroll 8
  for (gint j = 0; j < nr; j++)
#pragma GCC unroll 4
    for (gint i = 0; i < 4; i++)
      s[j][i] = *(const VI32 *)(bias + i * CPU_LANES);
  if (size == 0) {
    add_any (s, x, b, w, c, nr);
  } else {
    add_rows (s, x, b, w, size, step, MIN (size, 4), nr);
    if (size > 4)
      add_rows (s, x + 4 * b->row, b, w + 4 * size, size, step, size - 4, nr);
  }
#pragma GCC unroll 8
  for (gint j = 0; j < nr; j++, out += CPU_VECTOR)
    store_sums (out, s[j], cpu_int8_makes_bytes (&c->finish));
}

#define BLOCK(size, step, half)                                                                    \
  static void block_##size##_##step##_##half (gint32 *out, const CpuInt8Block *b, const VI32 *w,   \
                                              const gint32 *bias, const CpuInt8Conv *c)            \
  {                                                                                                \
    sum_block (out, b, w, bias, c, size, step, PIXELS / (half));                                   \
  }
#define BLOCKS(size, step) BLOCK (size, step, 1) BLOCK (size, step, 2)
#define NAMES(size, step)                                                                          \
  {                                                                                                \
    block_##size##_##step##_1, block_##size##_##step##_2                                           \
  }

BLOCKS (0, 0)
BLOCKS (3, 1)
BLOCKS (3, 2)
BLOCKS (5, 1)
BLOCKS (5, 2)

const CpuInt8BlockFunc *
CPU_NAME (cpu_int8_fours) (const CpuInt8Conv *c)
{
  static const CpuInt8BlockFunc blocks[][2] = { NAMES (0, 0), NAMES (3, 1), NAMES (3, 2),
                                                NAMES (5, 1), NAMES (5, 2) };
  return blocks[c->shape.kernel_h == c->shape.kernel_w ? int8_filter_of (c) : 0];
}

#else

/* Nothing multiplies in fours: no layer is packed so. */
const CpuInt8BlockFunc *
CPU_NAME (cpu_int8_fours) (const CpuInt8Conv *c)
{
  (void)c;
  return NULL;
}

#endif
