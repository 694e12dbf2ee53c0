/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Depthwise convolution of floats, compiled per instruction set. Channels are the lanes; the source
 * is read where it lies. Taps that are outside of the picture are left out, column by column at its
 * edges. Pixels of few channels that meet all columns of the filter are computed some at a time, as
 * one of more channels. */
#include "floatstrip.h"

#define VECTORS CPU_FLOAT_STRIP
#define PIXELS 6

/* The taps that some pixels have: how far from tap 0, 0 each reads, and where its weights are. */
typedef struct {
  gint y0, y1, x0, x1, n;
  gint *offsets; /* elements of the source */
  gint *places;  /* of the filter */
} Taps;

/* Sums of @nr pixels, @step elements apart; @x: what tap 0, 0 of the first one meets. */
CPU_INLINE void
sum_pixels (const CpuFloatOut *out, const gfloat *x, gsize step, const Taps *taps, const gfloat *w,
            const gfloat *bias, gint mr, gint nr)
{
  const gsize bytes = step * sizeof *x; /* two places and their distance address all six pixels */
  CpuFloatSums s[VECTORS];
#pragma GCC unroll 2
  for (gint i = 0; i < mr; i++)
#pragma GCC unroll 6
    for (gint j = 0; j < nr; j++)
      s[i][j] = *(const VF32 *)(bias + i * CPU_LANES);
  for (gint t = 0; t < taps->n; t++) {
    const gfloat *p = x + taps->offsets[t], *v = w + taps->places[t] * mr * CPU_LANES;
    const guint8 *at[2] = { (const guint8 *)p, (const guint8 *)(p + 3 * step) };
    VF32 f[VECTORS];
#pragma GCC unroll 2
    for (gint i = 0; i < mr; i++)
      f[i] = *(const VF32 *)(v + i * CPU_LANES);
#pragma GCC unroll 6
    for (gint j = 0; j < nr; j++)
#pragma GCC unroll 2
      for (gint i = 0; i < mr; i++)
        s[i][j] += *(const VF32 *)(at[j / 3] + (gsize)(j % 3) * bytes + i * CPU_VECTOR) * f[i];
  }
  float_put (out, s, mr, nr);
}

/* Of one pixel at the end of memory: no more than the @n channels that there are is read. */
static void
sum_last_pixel (gfloat *out, const gfloat *x, const Taps *taps, const gfloat *w, const gfloat *bias,
                gint mr, gint n)
{
  VF32 s[VECTORS], v[VECTORS] = { splat_float (0), splat_float (0) };
  memcpy (s, bias, (gsize)mr * CPU_VECTOR);
  for (gint t = 0; t < taps->n; t++) {
    const VF32 *f = (const VF32 *)(w + taps->places[t] * mr * CPU_LANES);
    memcpy (v, x + taps->offsets[t], (gsize)n * sizeof *x);
    for (gint i = 0; i < mr; i++)
      s[i] += v[i] * f[i];
  }
  memcpy (out, s, (gsize)mr * CPU_VECTOR);
}

/* Pixels that have the same taps: runs of @n of them, one run for each row. */
typedef struct {
  gint n, rows;
  gsize step;         /* elements of the source from one to the next */
  gsize x_row, y_row; /* elements from one run to the next */
} Pixels;

CPU_INLINE void
sum_run (CpuFloatOut *out, const gfloat *x, gsize step, const Taps *taps, const gfloat *w,
         const gfloat *bias, gint n, gint mr)
{
  for (; n >= PIXELS; n -= PIXELS, x += PIXELS * step, out->y += PIXELS * out->pixel)
    sum_pixels (out, x, step, taps, w, bias, mr, PIXELS);
  if (n >= 3) {
    sum_pixels (out, x, step, taps, w, bias, mr, 3);
    n -= 3, x += 3 * step, out->y += 3 * out->pixel;
  }
  if (n >= 2) {
    sum_pixels (out, x, step, taps, w, bias, mr, 2);
    n -= 2, x += 2 * step, out->y += 2 * out->pixel;
  }
  if (n > 0)
    sum_pixels (out, x, step, taps, w, bias, mr, 1);
}

CPU_INLINE void
sum_rows (const CpuFloatOut *first, const gfloat *x, const Pixels *p, const Taps *taps,
          const gfloat *w, const gfloat *bias, gint mr)
{
  CpuFloatOut out = *first;
  for (gint i = 0; i < p->rows; i++) {
    out.y = first->y + (gsize)i * p->y_row;
    sum_run (&out, x + (gsize)i * p->x_row, p->step, taps, w, bias, p->n, mr);
  }
}

static void __attribute__ ((noinline))
sum_one_vector (const CpuFloatOut *out, const gfloat *x, const Pixels *p, const Taps *taps,
                const gfloat *w, const gfloat *bias)
{
  sum_rows (out, x, p, taps, w, bias, 1);
}

static void __attribute__ ((noinline))
sum_two_vectors (const CpuFloatOut *out, const gfloat *x, const Pixels *p, const Taps *taps,
                 const gfloat *w, const gfloat *bias)
{
  sum_rows (out, x, p, taps, w, bias, 2);
}

/* TRUE if whole vectors would be read from where no memory of the source is. */
static gboolean
reaches_beyond (const Strip *s, const gfloat *from, gsize step, gint n, const Taps *taps)
{
  gint vectors = s->tile.mr * CPU_LANES;
  return s->tile.channels < vectors && taps->n > 0 &&
         from + (gssize)(n - 1) * (gssize)step + taps->offsets[taps->n - 1] + vectors > s->end;
}

static void
sum_vectors (const Strip *s, const CpuFloatOut *out, const gfloat *from, const Pixels *p,
             const Taps *taps)
{
  if (s->tile.mr == 2)
    sum_two_vectors (out, from, p, taps, s->w, s->bias);
  else
    sum_one_vector (out, from, p, taps, s->w, s->bias);
}

/* Some pixels of a row by way of the stack; @reaches: one that reaches beyond the source's memory.
 */
static void
run_tile (Strip *s, const gfloat *from, const Pixels *p, const Taps *taps, gsize at,
          gboolean reaches)
{
  gfloat sums[VECTORS * PIXELS * CPU_LANES] __attribute__ ((aligned (64)));
  CpuFloatOut out = float_out_to (sums, (gsize)(s->tile.mr * CPU_LANES));
  s->tile.nr = p->n;
  if (reaches)
    sum_last_pixel (sums, from, taps, s->w, s->bias, s->tile.mr, s->tile.channels);
  else
    sum_vectors (s, &out, from, p, taps);
  float_finish (&s->tile, sums, at);
}

static void
run_row (Strip *s, const gfloat *from, const Pixels *p, const Taps *taps, gsize at)
{
  Pixels some = { .rows = 1, .step = p->step };
  for (gint n = p->n; n > 0; n -= some.n) {
    gboolean reaches;
    some.n = MIN (n, PIXELS);
    reaches = reaches_beyond (s, from, p->step, some.n, taps);
    some.n = reaches ? 1 : some.n;
    run_tile (s, from, &some, taps, at, reaches);
    from += (gsize)some.n * p->step;
    at += (gsize)some.n * s->tile.pixel;
  }
}

/* @n pixels (wide ones) of @rows rows from @y, @x on, side by side or one below the other, all with
 * the same taps. */
static void
run_pixels (Strip *s, gint y, gint rows, gint x, gint n, gboolean down, const Taps *taps)
{
  const CpuConv *c = s->conv;
  const gfloat *from = s->x + (gssize)(y * c->stride_h - c->pad_top) * (gssize)c->x_row +
                       (gssize)(x * c->stride_w - c->pad_left) * (gssize)c->x_pixel;
  gsize at = s->y + (gsize)y * c->y_row + (gsize)x * c->y_pixel;
  Pixels p = { n, rows, (gsize)(c->stride_w * s->wide.pixels) * c->x_pixel,
               (gsize)c->stride_h * c->x_row, c->y_row };
  s->tile.pixel = down ? c->y_row : (gsize)s->wide.pixels * c->y_pixel;
  p.step = down ? p.x_row : p.step;
  if (s->is_plain && !reaches_beyond (s, from + (gsize)(rows - 1) * p.x_row, p.step, n, taps)) {
    CpuFloatOut out = float_out_plain (&s->tile);
    float_out_move (&out, s->tile.run, at);
    sum_vectors (s, &out, from, &p, taps);
    return;
  }
  for (gint i = 0; i < rows; i++, from += p.x_row, at += p.y_row)
    run_row (s, from, &p, taps, at);
}

static void
list_taps (const CpuConv *c, Taps *taps)
{
  taps->n = 0;
  for (gint y = taps->y0; y < taps->y1; y++)
    for (gint x = taps->x0; x < taps->x1; x++, taps->n++) {
      taps->offsets[taps->n] = (gint)((gssize)(y * c->dilation_h) * (gssize)c->x_row +
                                      (gssize)(x * c->dilation_w) * (gssize)c->x_pixel);
      taps->places[taps->n] = y * c->kernel_w + x;
    }
}

/* @n pixels, side by side or one below the other, of @rows rows, of panels @p to @end. */
static void
run_panels (Strip *s, const CpuConvPart *part, gint p, gint end, gint y, gint rows, gint x, gint n,
            gboolean down, const Taps *taps)
{
  for (; n > 0 && p < end; p++) {
    strip_set_panel (s, part, p);
    run_pixels (s, y, rows, x, n, down, taps);
  }
}

/* Of the channels of the part. */
static void
run_block (Strip *s, const CpuConvPart *part, gint y, gint rows, gint x, gint n, gboolean down,
           const Taps *taps)
{
  const CpuFloatConvRun *run = s->tile.run;
  s->wide = (CpuFloatWide){ s->conv, 1, run->weights, run->bias, run->slopes };
  run_panels (s, part, part->panel0, part->panel1, y, rows, x, n, down, taps);
}

/* Pixels of some rows, wide ones as far as they go: then a part has all channels. */
static void
run_inner (Strip *s, const CpuConvPart *part, gint y, gint rows, gint x, gint n, const Taps *taps)
{
  const CpuFloatWide *wide = &s->tile.run->wide;
  gint some = wide->conv ? n / wide->pixels : 0;
  s->wide = *wide;
  if (some > 0)
    run_panels (s, part, 0, wide->conv->n_panels, y, rows, x, some, FALSE, taps);
  run_block (s, part, y, rows, x + some * wide->pixels, n - some * wide->pixels, FALSE, taps);
}

/* Rows @y0 to @y1, which all meet the same rows of the filter: columns at the edges from top to
 * bottom, for they have taps of their own; others in blocks, so that memory is read in order. */
static void
run_rows (Strip *s, const CpuConvPart *part, gint y0, gint y1, Taps *taps)
{
  const CpuConv *c = s->conv;
  const gint rows = strip_count_rows (c);
  strip_clip_taps (y0 * c->stride_h - c->pad_top, c->kernel_h, c->dilation_h, c->in_h, &taps->y0,
                   &taps->y1);
  for (gint x = part->x0; x < part->x1;) {
    gboolean inner = x >= s->inner_x0 && x < s->inner_x1;
    gint end = inner ? MIN (s->inner_x1, part->x1) : x + 1;
    strip_clip_taps (x * c->stride_w - c->pad_left, c->kernel_w, c->dilation_w, c->in_w, &taps->x0,
                     &taps->x1);
    list_taps (c, taps);
    if (!inner)
      run_block (s, part, y0, 1, x, y1 - y0, TRUE, taps);
    else
      for (gint y = y0; y < y1; y += rows)
        for (gint at = x; at < end; at += STRIP_BLOCK)
          run_inner (s, part, y, MIN (rows, y1 - y), at, MIN (STRIP_BLOCK, end - at), taps);
    x = end;
  }
}

/* Output places from @first to @end meet all taps. */
static void
find_inner (gint in, gint pad, gint stride, gint reach, gint *first, gint *end)
{
  *first = (pad + stride - 1) / stride;
  *end = in + pad > reach ? (in + pad - reach - 1) / stride + 1 : 0;
}

void
CPU_NAME (cpu_float_depthwise) (const CpuConv *c, const CpuFloatConvRun *run,
                                const CpuConvPart *part, guint8 *scratch)
{
  Taps taps = { .offsets = (gint *)(gpointer)scratch };
  Strip s = { .conv = c, .tile = { .run = run, .pixel = c->y_pixel, .vector = CPU_LANES } };
  taps.places = taps.offsets + c->kernel_h * c->kernel_w;
  s.end = run->x + (gsize)(c->frames - 1) * c->x_frame + (gsize)(c->in_h - 1) * c->x_row +
          (gsize)(c->in_w - 1) * c->x_pixel + cpu_conv_channel_at (c, c->x_block, c->channels - 1) +
          1;
  if (CPU_NAME (cpu_float_lines) (&s, part))
    return;
  find_inner (c->in_w, c->pad_left, c->stride_w, (c->kernel_w - 1) * c->dilation_w, &s.inner_x0,
              &s.inner_x1);
  find_inner (c->in_h, c->pad_top, c->stride_h, (c->kernel_h - 1) * c->dilation_h, &s.inner_y0,
              &s.inner_y1);
  for (gint y = part->y0, end; y < part->y1; y = end) {
    gboolean inner = y >= s.inner_y0 && y < s.inner_y1;
    end = inner ? MIN (s.inner_y1, part->y1) : y + 1;
    run_rows (&s, part, y, end, &taps);
  }
}
