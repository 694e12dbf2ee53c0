/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Winograd's convolution, compiled per instruction set.
 *
 * Polynomials are evaluated at 0, 1/sqrt 2, -1/sqrt 2, sqrt 2, -sqrt 2 and infinity (4x4), or at 0,
 * 1, -1 and infinity (2x2). Of the points for 4x4 that need few operations these lose least: most
 * factors are powers of 2. */
#include "winograd.h"
#include "floatfinish.h"
#include "floattile.h"
#include "vectorpart.h"

#define MOST CPU_WINOGRAD_MOST
#define ROOT 1.41421356237309504880f
#define HALF 0.70710678118654752440f

/* One dimension of the source's transform, @x to @y. */
CPU_INLINE void
transform_source (const VF32 *x, VF32 *y, gint size)
{
  if (size == 4) {
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

/* Of the result's. */
CPU_INLINE void
transform_result (const VF32 *x, VF32 *y, gint size)
{
  if (size == 4) {
    VF32 sum = x[1] + x[2], difference = x[1] - x[2];
    VF32 sum2 = x[3] + x[4], difference2 = x[3] - x[4];
    y[0] = x[0] + sum + sum2;
    y[1] = HALF * difference + ROOT * difference2;
    y[2] = 0.5f * sum + 2 * sum2;
    y[3] = (HALF / 2) * difference + (ROOT * 2) * difference2 + x[5];
  } else {
    y[0] = x[0] + x[1] + x[2];
    y[1] = x[1] - x[2] - x[3];
  }
}

/* Where a tile lies. */
typedef struct {
  gint frame, y, x; /* of the first pixel of the result */
} Place;

CPU_INLINE Place
place_of (const CpuWinograd *w, gint tile)
{
  gint row = tile / w->tiles_w;
  return (Place){ row / w->tiles_h, row % w->tiles_h * w->size,
                  (tile - row * w->tiles_w) * w->size };
}

/* One vector of channels of one tile: pixels @pixel, rows @row elements apart. */
CPU_INLINE void
source_vector (const gfloat *x, gsize row, gsize pixel, gfloat *to, gsize step, gint size)
{
  const gint n = size + 2;
  VF32 turned[MOST][MOST], in[MOST], out[MOST];
#pragma GCC unroll 6
  for (gint i = 0; i < n; i++) {
#pragma GCC unroll 6
    for (gint j = 0; j < n; j++)
      in[j] = vector_load (x + (gsize)j * row + (gsize)i * pixel);
    transform_source (in, out, size);
#pragma GCC unroll 6
    for (gint j = 0; j < n; j++)
      turned[j][i] = out[j];
  }
#pragma GCC unroll 6
  for (gint j = 0; j < n; j++) {
    transform_source (turned[j], out, size);
#pragma GCC unroll 6
    for (gint i = 0; i < n; i++)
      vector_store (to + (gsize)(j * n + i) * step, out[i]);
  }
}

/* The pixels of a tile that are inside the frame, and how many channels of a vector there are. */
typedef struct {
  gint y0, y1, x0, x1, channels;
} Inside;

/* What is outside is 0. */
static void
lay_out (const CpuWinograd *w, const gfloat *x, const Inside *in, gint n, VF32 *to)
{
  for (gint j = 0; j < n; j++)
    for (gint i = 0; i < n; i++) {
      const gfloat *from =
          x + (gssize)j * (gssize)w->conv.x_row + (gssize)i * (gssize)w->conv.x_pixel;
      if (j < in->y0 || j >= in->y1 || i < in->x0 || i >= in->x1)
        to[j * n + i] = splat_float (0);
      else if (in->channels < CPU_LANES)
        to[j * n + i] = vector_load_part (from, in->channels);
      else
        to[j * n + i] = vector_load (from);
    }
}

CPU_INLINE void
source_tile (const CpuWinograd *w, const gfloat *x, gint tile, gfloat *to, gint size)
{
  const CpuConv *c = &w->conv;
  const gint n = size + 2;
  Place place = place_of (w, tile);
  gint top = place.y - c->pad_top, left = place.x - c->pad_left;
  Inside in = { MAX (-top, 0), MIN (c->in_h - top, n), MAX (-left, 0), MIN (c->in_w - left, n), 0 };
  gboolean all = in.y0 == 0 && in.x0 == 0 && in.y1 == n && in.x1 == n;
  x += (gssize)((gsize)place.frame * c->x_frame) + (gssize)top * (gssize)c->x_row +
       (gssize)left * (gssize)c->x_pixel;
  for (gint i = 0; i * CPU_LANES < c->channels; i++, to += CPU_LANES) {
    const gfloat *from = x + cpu_winograd_vector_at (w, CPU_LANES, w->x_block, i);
    VF32 laid[MOST * MOST];
    in.channels = MIN (c->channels - i * CPU_LANES, CPU_LANES);
    if (all && in.channels == CPU_LANES) {
      source_vector (from, c->x_row, c->x_pixel, to, w->source_step, size);
    } else {
      lay_out (w, from, &in, n, laid);
      source_vector ((const gfloat *)laid, (gsize)n * CPU_LANES, CPU_LANES, to, w->source_step,
                     size);
    }
  }
}

static void
source (const CpuWinograd *w, const gfloat *x, gint tile0, gint tile1, gfloat *to)
{
  for (gint t = tile0; t < tile1; t++, to += w->source_tile)
    if (w->size == 4)
      source_tile (w, x, t, to, 4);
    else
      source_tile (w, x, t, to, 2);
}

/* @nr tiles by @mr vectors of output channels. */
CPU_INLINE void
product (const gfloat *v, gsize step, const gfloat *u, gint n, const gfloat *next, gfloat *to,
         gint mr, gint nr)
{
  VF32 c[CPU_FLOAT_VECTORS][CPU_FLOAT_PIXELS];
#pragma GCC unroll 4
  for (gint i = 0; i < mr; i++)
#pragma GCC unroll 12
    for (gint j = 0; j < nr; j++)
      c[i][j] = splat_float (0);
  float_add_products (c, v, step, u, n, next, mr, nr);
#pragma GCC unroll 12
  for (gint j = 0; j < nr; j++)
#pragma GCC unroll 4
    for (gint i = 0; i < mr; i++)
      vector_store (to + (j * mr + i) * CPU_LANES, c[i][j]);
}

typedef void (*ProductFunc) (const gfloat *v, gsize step, const gfloat *u, gint n,
                             const gfloat *next, gfloat *to);

#define PRODUCT(mr, nr)                                                                            \
  static void product_##mr##_##nr (const gfloat *v, gsize step, const gfloat *u, gint n,           \
                                   const gfloat *next, gfloat *to)                                 \
  {                                                                                                \
    product (v, step, u, n, next, to, mr, nr);                                                     \
  }
#define NAME(mr, nr) product_##mr##_##nr,
#define TO_6(M, mr) M (mr, 1) M (mr, 2) M (mr, 3) M (mr, 4) M (mr, 5) M (mr, 6)
#define TO_12(M, mr) TO_6 (M, mr) M (mr, 7) M (mr, 8) M (mr, 9) M (mr, 10) M (mr, 11) M (mr, 12)

TO_12 (PRODUCT, 1)
#if CPU_REGISTERS == 32
TO_12 (PRODUCT, 2)
#define TWO TO_12
#else
TO_6 (PRODUCT, 2)
#define TWO TO_6
#endif
static const ProductFunc products[CPU_WINOGRAD_VECTORS][CPU_FLOAT_PIXELS] = { { TO_12 (NAME, 1) },
                                                                              { TWO (NAME, 2) } };

/* Vectors of output channels of panels, and those of a panel. */
typedef struct {
  gint first, n;
} Vectors;

CPU_INLINE Vectors
vectors_of (const CpuWinograd *w, gint panel0, gint panel1)
{
  gint first = cpu_conv_panel_start (&w->conv, CPU_LANES, panel0);
  return (Vectors){ first, cpu_conv_panel_start (&w->conv, CPU_LANES, panel1) - first };
}

/* One product of @n tiles and a panel, whose weights @u stay in the cache over all tiles, while
 * those that are needed next, @next, come. */
static void
multiply_panel (const CpuWinograd *w, const gfloat *v, const gfloat *u, const gfloat *next, gint n,
                gint mr, gfloat *to)
{
  gint most = float_tile_pixels[mr - 1], groups = (n + most - 1) / most;
  gsize weights = (gsize)(w->conv.channels * mr * CPU_LANES),
        share = (gsize)w->conv.channels * CPU_LINE;
  for (gint g = 0; g < groups; g++) { /* of nearly the same size */
    gint first = n * g / groups, some = n * (g + 1) / groups - first;
    gsize ahead = MIN ((gsize)g * share, weights);
    products[mr - 1][some - 1](v + (gsize)first * w->source_tile, w->source_tile, u,
                               w->conv.channels, next + ahead, to + first * mr * CPU_LANES);
  }
}

/* All products of @n tiles and some panels, one after the other: what they read of the source stays
 * near. */
static void
multiply (const CpuWinograd *w, const gfloat *v, const gfloat *u, gint n, gint panel0, gint panel1,
          gfloat *m)
{
  gint all = (w->size + 2) * (w->size + 2);
  for (gint p = 0; p < all; p++, v += w->source_step, u += w->weights_step, m += w->result_step) {
    const gfloat *first =
        u + (gsize)(vectors_of (w, panel0, panel0).first * CPU_LANES) * (gsize)w->conv.channels;
    gfloat *to = m;
    for (gint i = panel0; i < panel1; i++) {
      Vectors vectors = vectors_of (w, i, i + 1);
      const gfloat *now = u + (gsize)(vectors.first * CPU_LANES) * (gsize)w->conv.channels;
      const gfloat *next = i + 1 < panel1
                               ? now + (gsize)(vectors.n * CPU_LANES) * (gsize)w->conv.channels
                               : first + w->weights_step;
      multiply_panel (w, v, now, next, n, vectors.n, to);
      to += (gsize)(n * vectors.n) * CPU_LANES;
    }
  }
}

/* The way of a tile's results to memory, one vector of channels. */
typedef struct {
  CpuFloatTile tile;
  CpuFloatOut out;
  VF32 bias;
  gboolean is_plain;
  gint rows; /* that are inside the frame */
} Finish;

CPU_INLINE void
put_row (Finish *f, CpuFloatSums *sums, gsize at, gint size)
{
  CpuFloatTile *t = &f->tile;
  CpuFloatOut out = f->out;
  CpuFloatSums one[1];
  if (!f->is_plain) {
    float_finish (t, (gfloat *)sums, at);
    return;
  }
  out.y += at;
  out.residual = out.residual ? out.residual + at : NULL;
  if (t->nr == size) {
    float_put (&out, sums, 1, size);
    return;
  }
  for (gint i = 0; i < t->nr; i++, out.y += out.pixel) {
    one[0][0] = sums[0][i];
    float_put (&out, one, 1, 1);
    out.residual = out.residual ? out.residual + out.pixel : NULL;
  }
}

/* @m: the products, @step elements apart; @at: the first element of the destination. */
CPU_INLINE void
result_vector (const CpuWinograd *w, Finish *f, const gfloat *m, gsize at, gint size)
{
  const gint n = size + 2;
  VF32 turned[4][MOST], in[MOST], out[4];
  CpuFloatSums sums[1];
#pragma GCC unroll 6
  for (gint i = 0; i < n; i++) {
#pragma GCC unroll 6
    for (gint j = 0; j < n; j++)
      in[j] = vector_load (m + (gsize)(j * n + i) * w->result_step);
    transform_result (in, out, size);
#pragma GCC unroll 4
    for (gint j = 0; j < size; j++)
      turned[j][i] = out[j];
  }
  for (gint j = 0; j < f->rows; j++, at += w->conv.y_row) {
    transform_result (turned[j], sums[0], size);
#pragma GCC unroll 4
    for (gint i = 0; i < size; i++)
      sums[0][i] += f->bias;
    put_row (f, sums, at, size);
  }
}

/* All tiles of one vector of channels, whose products are @apart elements apart. */
CPU_INLINE void
result_channels (const CpuWinograd *w, Finish *f, const CpuWinogradPart *part, const gfloat *m,
                 gsize apart, gsize channel, gint size)
{
  const CpuConv *c = &w->conv;
  f->out = float_out_plain (&f->tile);
  for (gint t = part->tile0; t < part->tile1; t++, m += apart) {
    Place place = place_of (w, t);
    f->rows = MIN (c->out_h - place.y, size);
    f->tile.nr = MIN (c->out_w - place.x, size);
    result_vector (w, f, m,
                   channel + (gsize)place.frame * c->y_frame + (gsize)place.y * c->y_row +
                       (gsize)place.x * c->y_pixel,
                   size);
  }
}

static void
finish_panel (const CpuWinograd *w, const CpuFloatConvRun *run, const CpuWinogradPart *part,
              const Vectors *vectors, const gfloat *m)
{
  gsize apart = (gsize)(vectors->n * CPU_LANES);
  for (gint i = vectors->first; i < vectors->first + vectors->n; i++, m += CPU_LANES) {
    gint first = i * CPU_LANES;
    gsize channel = cpu_winograd_vector_at (w, CPU_LANES, w->y_block, i);
    Finish f = { .tile = { .run = run,
                           .mr = 1,
                           .channels = MIN (w->conv.out_channels - first, CPU_LANES),
                           .pixel = w->conv.y_pixel,
                           .slopes = run->slopes ? run->slopes + first : NULL },
                 .bias = vector_load (run->bias + first) };
    f.is_plain = float_is_plain (&f.tile);
    if (w->size == 4)
      result_channels (w, &f, part, m, apart, channel, 4);
    else
      result_channels (w, &f, part, m, apart, channel, 2);
  }
}

static void
result (const CpuWinograd *w, const CpuFloatConvRun *run, const CpuWinogradPart *part,
        const gfloat *v, gfloat *m)
{
  gint n = part->tile1 - part->tile0;
  for (gint p = part->panel0; p < part->panel1; p += w->panels) {
    gint end = MIN (p + w->panels, part->panel1);
    const gfloat *from = m;
    multiply (w, v, run->weights, n, p, end, m);
    for (gint i = p; i < end; i++) {
      Vectors vectors = vectors_of (w, i, i + 1);
      finish_panel (w, run, part, &vectors, from);
      from += (gsize)(n * vectors.n) * CPU_LANES;
    }
  }
}

G_STATIC_ASSERT (CPU_WINOGRAD_VECTORS *CPU_LANES <= CPU_WINOGRAD_WIDE);

const CpuWinogradKernels CPU_NAME (cpu_winograd) = {
  .lanes = CPU_LANES,
  .vectors = CPU_WINOGRAD_VECTORS,
  .move = &CPU_NAME (cpu_move),
  .weights = CPU_NAME (cpu_winograd_weights),
  .source = source,
  .result = result,
};
