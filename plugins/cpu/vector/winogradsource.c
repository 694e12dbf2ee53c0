/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The source of a convolution after Winograd, at the points of winograd.c. */
#include "vectorpart.h"
#include "winogradplace.h"

/* Five pixels, @apart, at the points that are neither 0 nor infinity, and at that. */
CPU_INLINE void
transform_five (const VF32 *x, gint apart, VF32 *y)
{
  VF32 even = x[3 * apart] - 2 * x[apart], odd = HALF * x[2 * apart] - ROOT * x[0];
  VF32 even2 = x[3 * apart] - 0.5f * x[apart], odd2 = ROOT * x[2 * apart] - HALF * x[0];
  y[0] = even + odd;
  y[1] = even - odd;
  y[2] = even2 + odd2;
  y[3] = even2 - odd2;
  y[4] = x[0] - 2.5f * x[2 * apart] + x[4 * apart];
}

/* Those between them, for one tap, at the points that are not infinity: what the result's transform
 * puts together again. The tap's weight has the factor that is left out here. */
CPU_INLINE void
transform_between (const VF32 *x, VF32 *y, gint size)
{
  if (size == 4) {
    VF32 even = 2 * x[0] - x[4], odd = (2 * ROOT) * x[2] - ROOT * x[6];
    VF32 even2 = x[4] - 0.5f * x[0], odd2 = HALF * x[6] - (HALF / 2) * x[2];
    y[0] = even + odd;
    y[1] = even - odd;
    y[2] = even2 + odd2;
    y[3] = even2 - odd2;
  } else {
    y[0] = x[0] - x[2];
    y[1] = x[2];
  }
}

/* One dimension, @x to @y, with stride 2: first what the outer taps meet. */
CPU_INLINE void
transform_by_two (const VF32 *x, VF32 *y, gint size)
{
  if (size == 4) {
    transform_five (x, 2, y);
  } else {
    y[0] = x[0] - x[2];
    y[1] = x[2];
    y[2] = x[4] - x[2];
  }
  transform_between (x + 1, y + size + 1, size);
}

/* One dimension, @x to @y. */
CPU_INLINE void
transform_source (const VF32 *x, VF32 *y, gint size, gint stride)
{
  if (size == 1) {
    y[0] = x[0];
  } else if (stride == 2) {
    transform_by_two (x, y, size);
  } else if (size == 4) {
    y[0] = x[0] - 2.5f * x[2] + x[4];
    transform_five (x + 1, 1, y + 1);
  } else {
    y[0] = x[0] - x[2];
    y[1] = x[1] + x[2];
    y[2] = x[2] - x[1];
    y[3] = x[1] - x[3];
  }
}

/* One vector of channels of one tile: pixels @pixel, rows @row elements apart. */
CPU_INLINE void
source_vector (const gfloat *x, gsize row, gsize pixel, gfloat *to, gsize step, gint rows,
               gint columns, gint stride)
{
  const gint height = cpu_winograd_terms (rows, stride),
             width = cpu_winograd_terms (columns, stride);
  VF32 turned[CPU_WINOGRAD_TERMS][CPU_WINOGRAD_TERMS], in[CPU_WINOGRAD_TERMS],
      out[CPU_WINOGRAD_TERMS];
  for (gint j = 0; j < height; j++, x += row) {
#pragma GCC unroll 9
    for (gint i = 0; i < width; i++)
      in[i] = vector_load (x + (gsize)i * pixel);
    transform_source (in, turned[j], columns, stride);
  }
  for (gint i = 0; i < width; i++, to += step) {
#pragma GCC unroll 9
    for (gint j = 0; j < height; j++)
      in[j] = turned[j][i];
    transform_source (in, out, rows, stride);
#pragma GCC unroll 9
    for (gint j = 0; j < height; j++)
      vector_store (to + (gsize)(j * width) * step, out[j]);
  }
}

/* The pixels of a tile that are inside the frame, and how many channels of a vector there are. */
typedef struct {
  gint y0, y1, x0, x1, channels;
} Inside;

/* What is outside is 0. */
CPU_INLINE void
lay_out (const CpuWinograd *w, const gfloat *x, const Inside *in, gint height, gint width, VF32 *to)
{
  gssize row = (gssize)w->conv.x_row * w->conv.dilation_h;
  gssize pixel = (gssize)w->conv.x_pixel * w->conv.dilation_w;
  for (gint j = 0; j < height; j++)
    for (gint i = 0; i < width; i++) {
      const gfloat *from = x + j * row + i * pixel;
      if (j < in->y0 || j >= in->y1 || i < in->x0 || i >= in->x1)
        to[j * width + i] = splat_float (0);
      else if (in->channels < CPU_LANES)
        to[j * width + i] = vector_load_part (from, in->channels);
      else
        to[j * width + i] = vector_load (from);
    }
}

/* @width pixels of each row that only the next tile reads: too many streams for the processor to
 * foresee. Where a line of the cache holds two, the first of them came with the one before. */
CPU_INLINE void
fetch (const gfloat *x, gsize row, gsize pixel, gint height, gint width)
{
  for (gint j = 0; j < height; j++, x += row) {
#pragma GCC unroll 4
    for (gint i = 1; i < width; i += 2)
      __builtin_prefetch (x + (gsize)i * pixel);
    if (pixel < CPU_LINE)
      continue;
#pragma GCC unroll 4
    for (gint i = 0; i < width; i += 2)
      __builtin_prefetch (x + (gsize)i * pixel);
  }
}

CPU_INLINE void
source_tile (const CpuWinograd *w, const gfloat *x, gint tile, gfloat *to, gint rows, gint columns,
             gint stride)
{
  const CpuConv *c = &w->conv;
  const gint height = cpu_winograd_terms (rows, stride),
             width = cpu_winograd_terms (columns, stride);
  gsize row = c->x_row * (gsize)c->dilation_h, pixel = c->x_pixel * (gsize)c->dilation_w;
  Place place = place_of (w, tile);
  gint top = place.y * c->stride_h - c->pad_top, left = place.x * c->stride_w - c->pad_left;
  Inside in = { met_of (MAX (-top, 0), c->dilation_h),
                MIN (met_of (c->in_h - top, c->dilation_h), height),
                met_of (MAX (-left, 0), c->dilation_w),
                MIN (met_of (c->in_w - left, c->dilation_w), width), 0 };
  gboolean all = in.y0 == 0 && in.x0 == 0 && in.y1 == height && in.x1 == width;
  x += (gssize)((gsize)place.frame * c->x_frame) + (gssize)top * (gssize)c->x_row +
       (gssize)left * (gssize)c->x_pixel;
  for (gint i = 0; i * CPU_LANES < c->channels; i++, to += CPU_LANES) {
    const gfloat *from = x + cpu_conv_channel_at (c, c->x_block, i * CPU_LANES);
    VF32 laid[CPU_WINOGRAD_TERMS * CPU_WINOGRAD_TERMS];
    in.channels = MIN (c->channels - i * CPU_LANES, CPU_LANES);
    fetch (from + (gsize)width * pixel, row, pixel, height, columns * stride);
    if (all && in.channels == CPU_LANES) {
      source_vector (from, row, pixel, to, w->source_step, rows, columns, stride);
    } else {
      lay_out (w, from, &in, height, width, laid);
      source_vector ((const gfloat *)laid, (gsize)width * CPU_LANES, CPU_LANES, to, w->source_step,
                     rows, columns, stride);
    }
  }
}

#define SOURCE(rows, columns, stride)                                                              \
  static void source_##rows##x##columns##_##stride (const CpuWinograd *w, const gfloat *x,         \
                                                    gint tile0, gint tile1, gfloat *to)            \
  {                                                                                                \
    for (gint t = tile0; t < tile1; t++, to += w->source_tile)                                     \
      source_tile (w, x, t, to, rows, columns, stride);                                            \
  }
#define NAME(rows, columns, stride) [stride][rows][columns] = source_##rows##x##columns##_##stride,

CPU_WINOGRAD_TILES (SOURCE)
static void (*const sources CPU_WINOGRAD_TABLE) (const CpuWinograd *w, const gfloat *x, gint tile0,
                                                 gint tile1,
                                                 gfloat *to) = { CPU_WINOGRAD_TILES (NAME) };

void
CPU_NAME (cpu_winograd_source) (const CpuWinograd *w, const gfloat *x, gint tile0, gint tile1,
                                gfloat *to)
{
  sources[w->tile.stride][w->tile.rows][w->tile.columns](w, x, tile0, tile1, to);
}
