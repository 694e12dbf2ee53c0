/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The source of a convolution after Winograd, at the points of winograd.c. */
#include "vectorpart.h"
#include "winogradplace.h"

/* One dimension, @x to @y. */
CPU_INLINE void
transform_source (const VF32 *x, VF32 *y, gint size)
{
  if (size == 1) {
    y[0] = x[0];
  } else if (size == 4) {
    VF32 even = x[4] - 2 * x[2], odd = HALF * x[3] - ROOT * x[1];
    VF32 even2 = x[4] - 0.5f * x[2], odd2 = ROOT * x[3] - HALF * x[1];
    y[0] = x[0] - 2.5f * x[2] + x[4];
    y[1] = even + odd;
    y[2] = even - odd;
    y[3] = even2 + odd2;
    y[4] = even2 - odd2;
    y[5] = x[1] - 2.5f * x[3] + x[5];
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
               gint columns)
{
  const gint height = cpu_winograd_side (rows), width = cpu_winograd_side (columns);
  VF32 turned[MOST][MOST], in[MOST], out[MOST];
#pragma GCC unroll 6
  for (gint i = 0; i < width; i++) {
#pragma GCC unroll 6
    for (gint j = 0; j < height; j++)
      in[j] = vector_load (x + (gsize)j * row + (gsize)i * pixel);
    transform_source (in, out, rows);
#pragma GCC unroll 6
    for (gint j = 0; j < height; j++)
      turned[j][i] = out[j];
  }
#pragma GCC unroll 6
  for (gint j = 0; j < height; j++) {
    transform_source (turned[j], out, columns);
#pragma GCC unroll 6
    for (gint i = 0; i < width; i++)
      vector_store (to + (gsize)(j * width + i) * step, out[i]);
  }
}

/* The pixels of a tile that are inside the frame, and how many channels of a vector there are. */
typedef struct {
  gint y0, y1, x0, x1, channels;
} Inside;

/* What is outside is 0. */
static void
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

CPU_INLINE void
source_tile (const CpuWinograd *w, const gfloat *x, gint tile, gfloat *to, gint rows, gint columns)
{
  const CpuConv *c = &w->conv;
  const gint height = cpu_winograd_side (rows), width = cpu_winograd_side (columns);
  gsize row = c->x_row * (gsize)c->dilation_h, pixel = c->x_pixel * (gsize)c->dilation_w;
  Place place = place_of (w, tile);
  gint top = place.y - c->pad_top, left = place.x - c->pad_left;
  Inside in = { met_of (MAX (-top, 0), c->dilation_h),
                MIN (met_of (c->in_h - top, c->dilation_h), height),
                met_of (MAX (-left, 0), c->dilation_w),
                MIN (met_of (c->in_w - left, c->dilation_w), width), 0 };
  gboolean all = in.y0 == 0 && in.x0 == 0 && in.y1 == height && in.x1 == width;
  x += (gssize)((gsize)place.frame * c->x_frame) + (gssize)top * (gssize)c->x_row +
       (gssize)left * (gssize)c->x_pixel;
  for (gint i = 0; i * CPU_LANES < c->channels; i++, to += CPU_LANES) {
    const gfloat *from = x + cpu_conv_channel_at (c, c->x_block, i * CPU_LANES);
    VF32 laid[MOST * MOST];
    in.channels = MIN (c->channels - i * CPU_LANES, CPU_LANES);
    if (all && in.channels == CPU_LANES) {
      source_vector (from, row, pixel, to, w->source_step, rows, columns);
    } else {
      lay_out (w, from, &in, height, width, laid);
      source_vector ((const gfloat *)laid, (gsize)width * CPU_LANES, CPU_LANES, to, w->source_step,
                     rows, columns);
    }
  }
}

#define SOURCE(rows, columns)                                                                      \
  static void source_##rows##x##columns (const CpuWinograd *w, const gfloat *x, gint tile0,        \
                                         gint tile1, gfloat *to)                                   \
  {                                                                                                \
    for (gint t = tile0; t < tile1; t++, to += w->source_tile)                                     \
      source_tile (w, x, t, to, rows, columns);                                                    \
  }
#define NAME(rows, columns) [rows][columns] = source_##rows##x##columns,

CPU_WINOGRAD_TILES (SOURCE)
static void (*const sources[][5]) (const CpuWinograd *w, const gfloat *x, gint tile0, gint tile1,
                                   gfloat *to) = { CPU_WINOGRAD_TILES (NAME) };

void
CPU_NAME (cpu_winograd_source) (const CpuWinograd *w, const gfloat *x, gint tile0, gint tile1,
                                gfloat *to)
{
  sources[w->tile.rows][w->tile.columns](w, x, tile0, tile1, to);
}
