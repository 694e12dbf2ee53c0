/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Depthwise convolution of floats, compiled per instruction set. Channels are the lanes; the source
 * is read where it lies. Taps that are outside of the picture are left out, column by column at its
 * edges. */
#include "floatfinish.h"
#include "level.h"

#define VECTORS CPU_FLOAT_STRIP
#define PIXELS 6

/* The taps that a pixel or some pixels have. */
typedef struct {
  gint y0, y1, x0, x1;
} Taps;

/* Sums of @nr pixels, @step elements apart; @x: what tap 0, 0 of the first one meets. */
CPU_INLINE void
sum_pixels (const CpuConv *c, gfloat *out, const gfloat *x, gsize step, const Taps *taps,
            const gfloat *w, const gfloat *bias, gint mr, gint nr)
{
  const gsize column = (gsize)c->dilation_w * c->x_pixel;
  VF32 s[VECTORS][PIXELS];
#pragma GCC unroll 2
  for (gint i = 0; i < mr; i++)
#pragma GCC unroll 6
    for (gint j = 0; j < nr; j++)
      s[i][j] = *(const VF32 *)(bias + i * CPU_LANES);
  for (gint ky = taps->y0; ky < taps->y1; ky++) {
    const gfloat *p =
        x + (gssize)ky * c->dilation_h * (gssize)c->x_row + (gssize)taps->x0 * (gssize)column;
    const gfloat *v = w + (ky * c->kernel_w + taps->x0) * mr * CPU_LANES;
    for (gint kx = taps->x0; kx < taps->x1; kx++, p += column, v += mr * CPU_LANES) {
      VF32 f[VECTORS];
#pragma GCC unroll 2
      for (gint i = 0; i < mr; i++)
        f[i] = *(const VF32 *)(v + i * CPU_LANES);
#pragma GCC unroll 6
      for (gint j = 0; j < nr; j++)
#pragma GCC unroll 2
        for (gint i = 0; i < mr; i++)
          s[i][j] += *(const VF32 *)(p + (gsize)j * step + i * CPU_LANES) * f[i];
    }
  }
#pragma GCC unroll 6
  for (gint j = 0; j < nr; j++)
#pragma GCC unroll 2
    for (gint i = 0; i < mr; i++)
      *(VF32 *)(out + (j * mr + i) * CPU_LANES) = s[i][j];
}

/* Of one pixel at the end of memory: no more than the @n channels that there are is read. */
static void
sum_last_pixel (const CpuConv *c, gfloat *out, const gfloat *x, const Taps *taps, const gfloat *w,
                const gfloat *bias, gint mr, gint n)
{
  VF32 s[VECTORS], v[VECTORS] = { splat_float (0), splat_float (0) };
  memcpy (s, bias, (gsize)mr * CPU_VECTOR);
  for (gint ky = taps->y0; ky < taps->y1; ky++)
    for (gint kx = taps->x0; kx < taps->x1; kx++) {
      const VF32 *f = (const VF32 *)(w + (ky * c->kernel_w + kx) * mr * CPU_LANES);
      memcpy (v,
              x + (gssize)ky * c->dilation_h * (gssize)c->x_row +
                  (gssize)kx * c->dilation_w * (gssize)c->x_pixel,
              (gsize)n * sizeof *x);
      for (gint i = 0; i < mr; i++)
        s[i] += v[i] * f[i];
    }
  memcpy (out, s, (gsize)mr * CPU_VECTOR);
}

typedef void (*SumFunc) (const CpuConv *c, gfloat *out, const gfloat *x, gsize step,
                         const Taps *taps, const gfloat *w, const gfloat *bias);

#define SUM(mr, nr)                                                                                \
  static void sum_##mr##_##nr (const CpuConv *c, gfloat *out, const gfloat *x, gsize step,         \
                               const Taps *taps, const gfloat *w, const gfloat *bias)              \
  {                                                                                                \
    sum_pixels (c, out, x, step, taps, w, bias, mr, nr);                                           \
  }
#define NAME(mr, nr) sum_##mr##_##nr,
#define FOR_PIXELS(M, mr) M (mr, 1) M (mr, 2) M (mr, 3) M (mr, 4) M (mr, 5) M (mr, 6)
FOR_PIXELS (SUM, 1)
FOR_PIXELS (SUM, 2)
static const SumFunc sum_funcs[VECTORS][PIXELS] = { { FOR_PIXELS (NAME, 1) },
                                                    { FOR_PIXELS (NAME, 2) } };

/* The taps of an output place that meet one of @in places; @from: what tap 0 meets. */
static void
clip_taps (gint from, gint kernel, gint dilation, gint in, gint *first, gint *end)
{
  *first = from < 0 ? MIN ((-from + dilation - 1) / dilation, kernel) : 0;
  *end = from + (kernel - 1) * dilation >= in
             ? CLAMP ((in - from + dilation - 1) / dilation, *first, kernel)
             : kernel;
}

/* A strip of channels of one frame. */
typedef struct {
  const CpuConv *conv;
  const gfloat *x, *w, *bias;
  CpuFloatTile tile;
  gsize y;             /* element of the destination */
  const gfloat *end;   /* of the source's memory */
  gint inner0, inner1; /* output columns that meet all taps */
} Strip;

/* TRUE if whole vectors would be read from where no memory of the source is. */
static gboolean
reaches_beyond (const Strip *s, const gfloat *from, gsize step, const Taps *taps)
{
  const CpuConv *c = s->conv;
  gint vectors = s->tile.mr * CPU_LANES;
  const gfloat *last = from + (gssize)(s->tile.nr - 1) * (gssize)step +
                       (gssize)(taps->y1 - 1) * c->dilation_h * (gssize)c->x_row +
                       (gssize)(taps->x1 - 1) * c->dilation_w * (gssize)c->x_pixel;
  return s->tile.channels < vectors && taps->y1 > taps->y0 && taps->x1 > taps->x0 &&
         last + vectors > s->end;
}

/* Output columns @x0 to @x1 of row @y, all with the same taps. */
static void
run_columns (Strip *s, gint y, gint x0, gint x1, Taps *taps)
{
  const CpuConv *c = s->conv;
  gfloat sums[VECTORS * PIXELS * CPU_LANES] __attribute__ ((aligned (64)));
  const gfloat *row = s->x + (gssize)(y * c->stride_h - c->pad_top) * (gssize)c->x_row;
  gsize step = (gsize)c->stride_w * c->x_pixel;
  for (gint x = x0; x < x1; x += s->tile.nr) {
    const gfloat *from = row + (gssize)(x * c->stride_w - c->pad_left) * (gssize)c->x_pixel;
    s->tile.nr = MIN (x1 - x, PIXELS);
    if (reaches_beyond (s, from, step, taps)) {
      s->tile.nr = 1;
      sum_last_pixel (c, sums, from, taps, s->w, s->bias, s->tile.mr, s->tile.channels);
    } else {
      sum_funcs[s->tile.mr - 1][s->tile.nr - 1](c, sums, from, step, taps, s->w, s->bias);
    }
    float_finish (&s->tile, sums, s->y + (gsize)y * c->y_row + (gsize)x * c->y_pixel);
  }
}

static void
run_row (Strip *s, const CpuConvPart *part, gint y)
{
  const CpuConv *c = s->conv;
  Taps taps;
  clip_taps (y * c->stride_h - c->pad_top, c->kernel_h, c->dilation_h, c->in_h, &taps.y0, &taps.y1);
  for (gint x = part->x0; x < part->x1;) {
    gboolean inner = x >= s->inner0 && x < s->inner1;
    gint end = inner ? MIN (s->inner1, part->x1) : x + 1;
    clip_taps (x * c->stride_w - c->pad_left, c->kernel_w, c->dilation_w, c->in_w, &taps.x0,
               &taps.x1);
    run_columns (s, y, x, end, &taps);
    x = end;
  }
}

void
CPU_NAME (cpu_float_depthwise) (const CpuConv *c, const CpuFloatConvRun *run,
                                const CpuConvPart *part, G_GNUC_UNUSED guint8 *scratch)
{
  gint reach = (c->kernel_w - 1) * c->dilation_w;
  Strip s = { .conv = c, .tile = { .run = run, .pixel = c->y_pixel } };
  s.end = run->x + (gsize)(c->frames - 1) * c->x_frame + (gsize)(c->in_h - 1) * c->x_row +
          (gsize)(c->in_w - 1) * c->x_pixel + (gsize)c->channels;
  s.inner0 = (c->pad_left + c->stride_w - 1) / c->stride_w;
  s.inner1 =
      c->in_w + c->pad_left > reach ? (c->in_w + c->pad_left - reach - 1) / c->stride_w + 1 : 0;
  for (gint p = part->panel0; p < part->panel1; p++) {
    gint vector = cpu_conv_panel_start (c, CPU_LANES, p), first = vector * CPU_LANES;
    s.tile.mr = cpu_conv_panel_start (c, CPU_LANES, p + 1) - vector;
    s.tile.channels = MIN (c->channels - first, s.tile.mr * CPU_LANES);
    s.tile.at = (gsize)first;
    s.x = run->x + (gsize)part->frame * c->x_frame + (gsize)first;
    s.y = (gsize)part->frame * c->y_frame + (gsize)first;
    s.w = run->weights + (gsize)first * (gsize)(c->kernel_h * c->kernel_w);
    s.bias = run->bias + first;
    for (gint y = part->y0; y < part->y1; y++)
      run_row (&s, part, y);
  }
}
