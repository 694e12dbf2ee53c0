/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dense and grouped convolution of floats, compiled per instruction set.
 *
 * A row of the filter is one run of consecutive elements of the source, so that every filter is a
 * list of runs. A tile of pixels x vectors of output channels stays in registers over all of them.
 * What a part reads is laid out with its padding first, unless it can be read where it lies. */
#include "floatfinish.h"
#include "level.h"

#include <string.h>

/* Pixels of a tile by its vectors of output channels: together they fill the registers. */
#if CPU_REGISTERS == 32
static const gint tile_pixels[CPU_FLOAT_VECTORS] = { 12, 12, 8, 6 };
#else
static const gint tile_pixels[CPU_FLOAT_VECTORS] = { 12, 6 };
#endif

/* Sums of @nr pixels, @step elements apart, and @mr vectors of channels. */
CPU_INLINE void
tile (gfloat *out, const gfloat *p, gsize step, const gint *taps, gint n_taps, gint n,
      const gfloat *w, const gfloat *bias, gint mr, gint nr)
{
  VF32 c[CPU_FLOAT_VECTORS][CPU_FLOAT_PIXELS];
#pragma GCC unroll 4
  for (gint i = 0; i < mr; i++)
#pragma GCC unroll 12
    for (gint j = 0; j < nr; j++)
      c[i][j] = *(const VF32 *)(bias + i * CPU_LANES);
  for (gint t = 0; t < n_taps; t++) {
    const gfloat *q = p + taps[t];
    for (gint m = n; m > 0; m--, q++, w += mr * CPU_LANES) {
      VF32 x[CPU_FLOAT_VECTORS];
#pragma GCC unroll 4
      for (gint i = 0; i < mr; i++)
        x[i] = *(const VF32 *)(w + i * CPU_LANES);
#pragma GCC unroll 12
      for (gint j = 0; j < nr; j++) {
        VF32 b = splat_float (q[(gsize)j * step]);
#pragma GCC unroll 4
        for (gint i = 0; i < mr; i++)
          c[i][j] += b * x[i];
      }
    }
  }
#pragma GCC unroll 12
  for (gint j = 0; j < nr; j++)
#pragma GCC unroll 4
    for (gint i = 0; i < mr; i++)
      *(VF32 *)(out + (j * mr + i) * CPU_LANES) = c[i][j];
}

typedef void (*TileFunc) (gfloat *out, const gfloat *p, gsize step, const gint *taps, gint n_taps,
                          gint n, const gfloat *w, const gfloat *bias);

#define TILE(mr, nr)                                                                               \
  static void tile_##mr##_##nr (gfloat *out, const gfloat *p, gsize step, const gint *taps,        \
                                gint n_taps, gint n, const gfloat *w, const gfloat *bias)          \
  {                                                                                                \
    tile (out, p, step, taps, n_taps, n, w, bias, mr, nr);                                         \
  }
#define NAME(mr, nr) tile_##mr##_##nr,
#define TO_6(M, mr) M (mr, 1) M (mr, 2) M (mr, 3) M (mr, 4) M (mr, 5) M (mr, 6)
#define TO_8(M, mr) TO_6 (M, mr) M (mr, 7) M (mr, 8)
#define TO_12(M, mr) TO_8 (M, mr) M (mr, 9) M (mr, 10) M (mr, 11) M (mr, 12)

#if CPU_REGISTERS == 32
TO_12 (TILE, 1)
TO_12 (TILE, 2)
TO_8 (TILE, 3)
TO_6 (TILE, 4)
static const TileFunc tiles[CPU_FLOAT_VECTORS][CPU_FLOAT_PIXELS] = {
  { TO_12 (NAME, 1) }, { TO_12 (NAME, 2) }, { TO_8 (NAME, 3) }, { TO_6 (NAME, 4) }
};
#else
TO_12 (TILE, 1)
TO_6 (TILE, 2)
static const TileFunc tiles[CPU_FLOAT_VECTORS][CPU_FLOAT_PIXELS] = { { TO_12 (NAME, 1) },
                                                                     { TO_6 (NAME, 2) } };
#endif

/* The source as the tiles read it: where the part's first pixel is, and how far it is to others. */
typedef struct {
  const gfloat *data;
  gsize pixel, row; /* elements from one output pixel to the next, one output row to the next */
} Patch;

/* One row of the source: @width pixels from column @left on. */
static void
lay_row (const CpuConv *c, const gfloat *x, gint left, gint width, gfloat *to)
{
  gint from = CLAMP (-left, 0, width), until = CLAMP (c->in_w - left, from, width);
  gsize n = (gsize)c->channels;
  memset (to, 0, (gsize)from * n * sizeof *to);
  x += (gssize)(left + from) * (gssize)c->x_pixel;
  to += (gsize)from * n;
  if (c->x_pixel == n)
    memcpy (to, x, (gsize)(until - from) * n * sizeof *to);
  else
    for (gint i = 0; i < until - from; i++)
      memcpy (to + (gsize)i * n, x + (gsize)i * c->x_pixel, n * sizeof *to);
  to += (gsize)(until - from) * n;
  memset (to, 0, (gsize)(width - until) * n * sizeof *to);
}

static Patch
lay_out (const CpuConv *c, const CpuFloatConvRun *run, const CpuConvPart *part, gint *taps,
         gfloat *scratch)
{
  const gfloat *x =
      run->x + (gsize)part->frame * c->x_frame + (gsize)part->group * (gsize)c->channels;
  gint top = part->y0 * c->stride_h - c->pad_top, left = part->x0 * c->stride_w - c->pad_left;
  gint rows = (part->y1 - part->y0 - 1) * c->stride_h + (c->kernel_h - 1) * c->dilation_h + 1;
  gint width = (part->x1 - part->x0 - 1) * c->stride_w + (c->kernel_w - 1) * c->dilation_w + 1;
  gsize pixel = c->direct ? c->x_pixel : (gsize)c->channels;
  gsize row = c->direct ? c->x_row : (gsize)width * pixel;
  gboolean by_rows = c->n_taps == c->kernel_h;
  for (gint t = 0; t < c->n_taps; t++)
    taps[t] = by_rows ? (gint)(t * c->dilation_h * (gssize)row)
                      : (gint)(t / c->kernel_w * c->dilation_h * (gssize)row +
                               t % c->kernel_w * c->dilation_w * (gssize)pixel);
  if (c->direct)
    return (Patch){ x + (gssize)top * (gssize)row + (gssize)left * (gssize)pixel,
                    (gsize)c->stride_w * pixel, (gsize)c->stride_h * row };
  for (gint r = 0; r < rows; r++) {
    gfloat *to = scratch + (gsize)r * row;
    if (top + r < 0 || top + r >= c->in_h)
      memset (to, 0, row * sizeof *to);
    else
      lay_row (c, x + (gsize)(top + r) * c->x_row, left, width, to);
  }
  return (Patch){ scratch, (gsize)c->stride_w * pixel, (gsize)c->stride_h * row };
}

/* All pixels of the part by the output channels of one panel. */
static void
run_panel (const CpuConv *c, const CpuFloatConvRun *run, const CpuConvPart *part,
           const Patch *patch, const gint *taps, gint panel)
{
  gfloat sums[CPU_FLOAT_SUMS] __attribute__ ((aligned (64)));
  gint vector = cpu_conv_panel_start (c, CPU_LANES, panel);
  gint mr = cpu_conv_panel_start (c, CPU_LANES, panel + 1) - vector, first = vector * CPU_LANES;
  gint n = MIN (c->out_channels - first, mr * CPU_LANES), cols = part->x1 - part->x0;
  gint length = c->n_taps == c->kernel_h ? c->kernel_w * c->channels : c->channels;
  gint blocks = (cols + tile_pixels[mr - 1] - 1) / tile_pixels[mr - 1];
  gsize at = (gsize)part->group * (gsize)c->padded + (gsize)first;
  const gfloat *w = run->weights + at * (gsize)c->n_taps * (gsize)length;
  CpuFloatTile t = { .run = run, .mr = mr, .channels = n, .pixel = c->y_pixel, .at = at };
  for (gint y = part->y0; y < part->y1; y++)
    for (gint b = 0; b < blocks; b++) { /* of nearly the same size */
      gint x = (gint)((gint64)cols * b / blocks);
      t.nr = (gint)((gint64)cols * (b + 1) / blocks) - x;
      tiles[mr - 1][t.nr - 1](
          sums, patch->data + (gsize)(y - part->y0) * patch->row + (gsize)x * patch->pixel,
          patch->pixel, taps, c->n_taps, length, w, run->bias + at);
      float_finish (&t, sums,
                    (gsize)part->frame * c->y_frame + (gsize)y * c->y_row +
                        (gsize)(part->x0 + x) * c->y_pixel +
                        (gsize)(part->group * c->out_channels + first));
    }
}

void
CPU_NAME (cpu_float_dense) (const CpuConv *c, const CpuFloatConvRun *run, const CpuConvPart *part,
                            guint8 *scratch)
{
  gint *taps = (gint *)(gpointer)scratch;
  gsize head = ((gsize)c->n_taps * sizeof *taps + 63) & ~(gsize)63;
  Patch patch = lay_out (c, run, part, taps, (gfloat *)(gpointer)(scratch + head));
  for (gint p = part->panel0; p < part->panel1; p++)
    run_panel (c, run, part, &patch, taps, p);
}
