/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Depthwise convolution of bytes, compiled per instruction set.
 *
 * Channels are the lanes: a strip is two vectors of them, or what is left. The bytes of two rows of
 * the filter become the halves of 32-bit lanes, so that one product takes two taps; what a column
 * of the source gives is used for all pixels of a block that meet it. Where the processor
 * multiplies in fours a strip is four vectors (int8fours.c). Narrow pictures are copied with their
 * padding, a part at once; of others what lies inside is read where it is. Where channels leave
 * much of a strip empty, some pixels side by side are as one (CpuInt8Conv.joined). What is computed
 * beyond channels and pixels is not stored.
 */
#include "int8depthwise.h"
#include "int8finish.h"
#include "int8rows.h"

#define PIXELS CPU_INT8_DEPTHWISE_PIXELS /* of a block, or half of them */
#define BLOCKS_AT_ONCE 8                 /* whose sums become results together */

/* One column: of two rows, or of one. */
CPU_INLINE void
load_column (VI32 *v, const guint8 *x, gsize row, gboolean two, gboolean is_signed, gint mr)
{
  if (mr == 2 && two) {
    interleave_bytes (v, x, x + row, is_signed);
    return;
  }
#pragma GCC unroll 2
  for (gint i = 0; i < mr; i++, x += CPU_LANES) {
    v[i] = widen_bytes (x, is_signed);
    if (two)
      v[i] = (v[i] & 0xffff) | (widen_bytes (x + row, is_signed) << 16);
  }
}

/* One or two rows of a filter whose width, and from which column to the next pixels of a block are,
 * are constants. */
CPU_INLINE void
add_rows (VI32 s[2][PIXELS], const guint8 *x, const CpuInt8Block *b, const VI32 *w, gint kernel_w,
          gint step, gboolean two, gboolean is_signed, gint mr, gint nr)
{
#pragma GCC unroll 20
  for (gint column = 0; column < (nr - 1) * step + kernel_w; column++, x += b->column) {
    VI32 v[2];
    load_column (v, x, b->row, two, is_signed, mr);
#pragma GCC unroll 8
    for (gint j = 0; j < nr; j++) {
      const gint tap = column - j * step;
      if (tap < 0 || tap >= kernel_w)
        continue;
#pragma GCC unroll 2
      for (gint i = 0; i < mr; i++)
        s[i][j] = dot2 (s[i][j], v[i], w[2 * tap + i]);
    }
  }
}

/* Of any filter. */
CPU_INLINE void
add_rows_of_any (VI32 s[2][PIXELS], const guint8 *x, const CpuInt8Block *b, const VI32 *w,
                 const CpuInt8Conv *c, gboolean two, gboolean is_signed, gint mr, gint nr)
{
  gsize step = (gsize)(c->shape.stride_w * c->joined) * b->column;
  for (gint tap = 0; tap < c->shape.kernel_w; tap++, w += 2) {
    const guint8 *at = x + (gsize)(tap * c->shape.dilation_w) * b->column;
#pragma GCC unroll 8
    for (gint j = 0; j < nr; j++, at += step) {
      VI32 v[2];
      load_column (v, at, b->row, two, is_signed, mr);
#pragma GCC unroll 2
      for (gint i = 0; i < mr; i++)
        s[i][j] = dot2 (s[i][j], v[i], w[i]);
    }
  }
}

CPU_INLINE void
sum_block (gint32 *out, const CpuInt8Block *b, const VI32 *w, const gint32 *bias,
           const CpuInt8Conv *c, gint kernel_w, gint step, gboolean is_signed, gint mr, gint nr)
{
  const guint8 *x = b->data;
  VI32 s[2][PIXELS];
#pragma GCC unroll 8
  for (gint j = 0; j < nr; j++)
#pragma GCC unroll 2
    for (gint i = 0; i < mr; i++)
      s[i][j] = *(const VI32 *)(bias + i * CPU_LANES);
  for (gint rows = c->shape.kernel_h; rows > 0;
       rows -= 2, x += 2 * b->row, w += 2 * c->shape.kernel_w)
    if (kernel_w == 0 && rows > 1)
      add_rows_of_any (s, x, b, w, c, TRUE, is_signed, mr, nr);
    else if (kernel_w == 0)
      add_rows_of_any (s, x, b, w, c, FALSE, is_signed, mr, nr);
    else if (rows > 1)
      add_rows (s, x, b, w, kernel_w, step, TRUE, is_signed, mr, nr);
    else
      add_rows (s, x, b, w, kernel_w, step, FALSE, is_signed, mr, nr);
#pragma GCC unroll 8
  for (gint j = 0; j < nr; j++)
#pragma GCC unroll 2
    for (gint i = 0; i < mr; i++)
      *(VI32 *)(out + (j * mr + i) * CPU_LANES) = s[i][j];
}

#define BLOCK(kernel_w, step, is_signed, mr, half)                                                 \
  static void block_##kernel_w##_##step##_##is_signed##_##mr##_##half (                            \
      gint32 *out, const CpuInt8Block *b, const VI32 *w, const gint32 *bias, const CpuInt8Conv *c) \
  {                                                                                                \
    sum_block (out, b, w, bias, c, kernel_w, step, is_signed, mr, PIXELS / (half));                \
  }
#define NAME(kernel_w, step, is_signed, mr, half)                                                  \
  block_##kernel_w##_##step##_##is_signed##_##mr##_##half,
#define SIZES(M, kernel_w, step, is_signed)                                                        \
  M (kernel_w, step, is_signed, 1, 1)                                                              \
  M (kernel_w, step, is_signed, 1, 2)                                                              \
  M (kernel_w, step, is_signed, 2, 1) M (kernel_w, step, is_signed, 2, 2)
#define BLOCKS(M, kernel_w, step) SIZES (M, kernel_w, step, 0) SIZES (M, kernel_w, step, 1)

BLOCKS (BLOCK, 0, 0)
BLOCKS (BLOCK, 3, 1)
BLOCKS (BLOCK, 3, 2)
BLOCKS (BLOCK, 5, 1)
BLOCKS (BLOCK, 5, 2)

/* By filter; unsigned and signed, by vectors, all pixels and half of them. */
static const CpuInt8BlockFunc blocks[][8] = {
  { BLOCKS (NAME, 0, 0) }, { BLOCKS (NAME, 3, 1) }, { BLOCKS (NAME, 3, 2) },
  { BLOCKS (NAME, 5, 1) }, { BLOCKS (NAME, 5, 2) },
};

/* Pixels of a block. */
static gint
block_of (const CpuInt8Conv *c)
{
  return c->pairs ? PIXELS : CPU_INT8_FOURS_PIXELS;
}

/* Bytes of a strip. */
static gint
strip_of (const CpuInt8Conv *c)
{
  return c->pairs ? CPU_BYTES : CPU_VECTOR;
}

/* Pixels @x to @end of row @y, and the bytes that they are made of, from the first one's first tap
 * on. */
typedef struct {
  const CpuInt8Conv *conv;
  const CpuInt8Run *run;
  gint frame, y, x, end;
  CpuInt8Block source;
} Pixels;

/* Channels of all joined pixels; the sums of a pixel, and what computes them. */
typedef struct {
  gint first, n, width;
  const CpuInt8BlockFunc *funcs; /* of a block, of half of it */
} Strip;

static Strip
strip_at (const CpuInt8Conv *c, gint first)
{
  gint n = MIN (c->shape.channels * c->joined - first, strip_of (c)), mr = n > CPU_LANES ? 2 : 1;
  if (!c->pairs)
    return (Strip){ first, n, CPU_VECTOR, CPU_NAME (cpu_int8_fours) (c) };
  return (Strip){ first, n, mr * CPU_LANES,
                  &blocks[int8_filter_of (c)][(c->is_signed ? 4 : 0) + 2 * (mr - 1)] };
}

/* @nr pixels, or as many joined ones, of @n channels from element @at of the result on. */
static void
finish_some (const Pixels *p, const Strip *s, gsize at, gsize stride, const gint32 *sums, gint nr,
             gint n)
{
  const CpuInt8Finish *f = &p->conv->finish;
  const gfloat *scale = p->run->scale ? p->run->scale + s->first : NULL;
  const gfloat *shift = p->run->shift ? p->run->shift + s->first : NULL;
  if (nr <= 0 || n <= 0)
    return;
  if (!p->conv->pairs && cpu_int8_makes_bytes (f))
    finish_fours (f, (guint8 *)p->run->y + at, stride, sums, scale, nr, n);
  else
    finish_tile (f, p->run->y, at, stride, sums, scale, shift, nr, s->width, n);
}

/* @n pixels from @x on, of which some are joined. */
static void
finish (const Pixels *p, const Strip *s, gint x, gint n, const gint32 *sums)
{
  const CpuConv *c = &p->conv->shape;
  gint joined = p->conv->joined, whole = n / joined, rest = n % joined;
  gsize stride = (gsize)joined * c->y_pixel;
  gsize at = (gsize)p->frame * c->y_frame + (gsize)p->y * c->y_row + (gsize)x * c->y_pixel +
             (gsize)s->first;
  finish_some (p, s, at, stride, sums, whole, s->n);
  finish_some (p, s, at + (gsize)whole * stride, stride, sums + whole * s->width, rest > 0,
               MIN (rest * c->channels - s->first, s->n));
}

static void
run_strip (const Pixels *p, const Strip *s)
{
  gint32 sums[BLOCKS_AT_ONCE * 2 * CPU_LANES * PIXELS] __attribute__ ((aligned (64)));
  const CpuConv *c = &p->conv->shape;
  gsize words = (gsize)(p->conv->row_words * c->kernel_w);
  const VI32 *w = (const VI32 *)(p->run->weights + (gsize)s->first * 4 * words);
  const gint pixels = block_of (p->conv), joined = p->conv->joined;
  CpuInt8Block block = p->source;
  block.data += s->first;
  for (gint x = p->x, first; x < p->end;) {
    gint32 *to = sums;
    first = x;
    for (gint i = 0; i < BLOCKS_AT_ONCE && x < p->end; i++) {
      gboolean half = p->end - x <= pixels / 2 * joined;
      gint n = half ? pixels / 2 : pixels;
      s->funcs[half](to, &block, w, p->run->bias + s->first, p->conv);
      to += n * s->width;
      x += n * joined;
      block.data += (gsize)(n * joined * c->stride_w) * block.column;
    }
    finish (p, s, first, MIN (x, p->end) - first, sums);
  }
}

static void
run_pixels (const Pixels *p)
{
  gint channels = p->conv->shape.channels * p->conv->joined, width = strip_of (p->conv);
  for (gint first = 0; first < channels; first += width) {
    const Strip strip = strip_at (p->conv, first);
    run_strip (p, &strip);
  }
}

/* From a copy of what they read. */
static void
run_copied (const Pixels *p, guint8 *copy)
{
  const CpuConv *c = &p->conv->shape;
  const CpuConvPart part = { .y0 = p->y, .y1 = p->y + 1, .x0 = p->x, .x1 = p->end };
  Int8Place place = int8_place_of (c, &part, FALSE, p->run->x_zero + p->conv->offset);
  Pixels copied = *p;
  if (p->x >= p->end)
    return;
  copied.source =
      (CpuInt8Block){ copy, (gsize)c->channels,
                      (gsize)c->dilation_h *
                          int8_lay_rows (p->conv, p->run->x + (gsize)p->frame * c->x_frame, &place,
                                         copy) };
  run_pixels (&copied);
}

/* Of a row, the pixels whose blocks read nothing outside: from the first one's to the last one's.
 */
static void
find_inside (const CpuInt8Conv *conv, gint y, gint x0, gint x1, gint *first, gint *end)
{
  const CpuConv *c = &conv->shape;
  gint block = block_of (conv) * conv->joined, strip = strip_of (conv),
       top = y * c->stride_h - c->pad_top;
  gint beyond = c->channels * conv->joined % strip ? strip / c->channels + 1 : 0;
  gint width = (block - 1) * c->stride_w + (c->kernel_w - 1) * c->dilation_w + 1 + beyond;
  gint most = c->in_w - width + c->pad_left; /* column where a block may begin */
  *first = *end = x0;
  if (top < 0 || top + (c->kernel_h - 1) * c->dilation_h >= c->in_h)
    return;
  while (*first * c->stride_w < c->pad_left)
    *first += block;
  for (*end = *first; *end + block <= x1 && *end * c->stride_w <= most; *end += block)
    ;
}

static void
run_where_it_lies (const Pixels *p, guint8 *copy)
{
  const CpuConv *c = &p->conv->shape;
  Pixels before = *p, inside = *p, after = *p;
  find_inside (p->conv, p->y, p->x, p->end, &inside.x, &inside.end);
  if (inside.x >= inside.end) {
    run_copied (p, copy);
    return;
  }
  before.end = inside.x;
  after.x = inside.end;
  inside.source = (CpuInt8Block){ p->run->x + (gsize)p->frame * c->x_frame +
                                      (gsize)(p->y * c->stride_h - c->pad_top) * c->x_row +
                                      (gsize)(inside.x * c->stride_w - c->pad_left) * c->x_pixel,
                                  c->x_pixel, (gsize)c->dilation_h * c->x_row };
  run_copied (&before, copy);
  run_pixels (&inside);
  run_copied (&after, copy);
}

void
CPU_NAME (cpu_int8_depthwise) (const CpuInt8Conv *c, const CpuInt8Run *run, const CpuConvPart *part,
                               guint8 *scratch)
{
  Int8Place place = int8_place_of (&c->shape, part, FALSE, run->x_zero + c->offset);
  Pixels p = { c, run, part->frame, part->y0, part->x0, part->x1, { scratch, 0, 0 } };
  gsize row = 0;
  if (!c->shape.direct)
    row = int8_lay_rows (c, run->x + (gsize)part->frame * c->shape.x_frame, &place, scratch);
  p.source.column = (gsize)c->shape.channels;
  p.source.row = (gsize)c->shape.dilation_h * row;
  for (; p.y < part->y1; p.y++) {
    if (c->shape.direct)
      run_where_it_lies (&p, scratch);
    else
      run_pixels (&p);
    p.source.data += (gsize)c->shape.stride_h * row;
  }
}
