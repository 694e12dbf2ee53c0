/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Winograd's convolution, compiled per instruction set.
 *
 * Polynomials are evaluated at 0, 1/sqrt 2, -1/sqrt 2, sqrt 2, -sqrt 2 and infinity (4x4), or at 0,
 * 1, -1 and infinity (2x2); with stride 2 at those of 4x4 but 0, or at 0, 1 and infinity. Of the
 * points for 4x4 that need few operations these lose least: most factors are powers of 2. */
#include "floattile.h"
#include "winogradplace.h"

/* From the points that are neither 0 nor infinity, and from that. */
CPU_INLINE void
transform_five (const VF32 *x, VF32 *y)
{
  VF32 sum = x[0] + x[1], difference = x[0] - x[1];
  VF32 sum2 = x[2] + x[3], difference2 = x[2] - x[3];
  y[0] = sum + sum2;
  y[1] = HALF * difference + ROOT * difference2;
  y[2] = 0.5f * sum + 2 * sum2;
  y[3] = (HALF / 2) * difference + (ROOT * 2) * difference2 + x[4];
}

/* One dimension of the result's transform, @x to @y. */
CPU_INLINE void
transform_result (const VF32 *x, VF32 *y, gint size, gint stride)
{
  if (size == 1) {
    y[0] = x[0];
  } else if (size == 4 && stride == 2) {
    transform_five (x, y);
  } else if (size == 4) {
    transform_five (x + 1, y);
    y[0] += x[0];
  } else if (stride == 2) {
    y[0] = x[0] + x[1];
    y[1] = x[1] + x[2];
  } else {
    y[0] = x[0] + x[1] + x[2];
    y[1] = x[1] - x[2] - x[3];
  }
}

/* What is summed at one point: sources and their weights. */
typedef struct {
  const gfloat *v[4], *u[4];
  gint n;
} Terms;

/* Elements from where the terms begin: of the source and of weights; and of those that are needed
 * next, of which @each are fetched with each product. */
typedef struct {
  gsize v, u, next, each;
} Offsets;

/* @nr tiles by @mr vectors of output channels. */
CPU_INLINE void
product (const CpuWinograd *w, const Terms *terms, const Offsets *at, gfloat *to, gint mr, gint nr)
{
  VF32 c[CPU_FLOAT_VECTORS][CPU_FLOAT_PIXELS];
#pragma GCC unroll 4
  for (gint i = 0; i < mr; i++)
#pragma GCC unroll 12
    for (gint j = 0; j < nr; j++)
      c[i][j] = splat_float (0);
  for (gint t = 0; t < terms->n; t++)
    float_add_products (c, terms->v[t] + at->v, w->source_tile, terms->u[t] + at->u,
                        w->conv.channels, terms->u[t] + at->next, at->each, mr, nr);
#pragma GCC unroll 12
  for (gint j = 0; j < nr; j++)
#pragma GCC unroll 4
    for (gint i = 0; i < mr; i++)
      vector_store (to + (j * mr + i) * CPU_LANES, c[i][j]);
}

typedef void (*ProductFunc) (const CpuWinograd *w, const Terms *terms, const Offsets *at,
                             gfloat *to);

#define PRODUCT(mr, nr)                                                                            \
  static void product_##mr##_##nr (const CpuWinograd *w, const Terms *terms, const Offsets *at,    \
                                   gfloat *to)                                                     \
  {                                                                                                \
    product (w, terms, at, to, mr, nr);                                                            \
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

/* One point of @n tiles and a panel, whose weights stay in the cache over all tiles, while those
 * that are needed next come: evenly, since memory gives less at once than products could ask for.
 */
static void
multiply_panel (const CpuWinograd *w, const Terms *terms, gsize u, gsize next, gint n, gint mr,
                gfloat *to)
{
  gint most = float_tile_pixels[mr - 1], groups = (n + most - 1) / most;
  Offsets at = { 0, u, next, fetched_by_product ((gsize)mr * CPU_LANES, (gsize)groups, CPU_LINE) };
  for (gint g = 0; g < groups; g++) { /* of nearly the same size */
    gint first = n * g / groups, some = n * (g + 1) / groups - first;
    at.v = (gsize)first * w->source_tile;
    products[mr - 1][some - 1](w, terms, &at, to + first * mr * CPU_LANES);
    at.next += (gsize)w->conv.channels * at.each;
  }
}

/* One point of @n tiles and some panels, one after the other: what they read of the source stays
 * near. */
static void
multiply_panels (const CpuWinograd *w, const Terms *terms, gint n, gint panel0, gint panel1,
                 gfloat *to)
{
  gsize vector = (gsize)CPU_LANES * (gsize)w->conv.channels;
  gsize first = (gsize)vectors_of (w, panel0, panel0).first * vector;
  for (gint i = panel0; i < panel1; i++) {
    Vectors vectors = vectors_of (w, i, i + 1);
    gsize now = (gsize)vectors.first * vector;
    gsize next = i + 1 < panel1 ? now + (gsize)vectors.n * vector : first + w->weights_step;
    multiply_panel (w, terms, now, next, n, vectors.n, to);
    to += (gsize)(n * vectors.n) * CPU_LANES;
  }
}

/* Which source, and which filter, in one dimension: term @t of point @i. */
typedef struct {
  gint source, filter;
} Term;

CPU_INLINE Term
term_of (gint i, gint t, gint size)
{
  return t == 0 ? (Term){ i, i } : (Term){ size + 1 + i, size + 1 };
}

/* With stride 2 all points but the last have two terms. */
CPU_INLINE gint
count_terms (gint i, gint size, gint stride)
{
  return size > 1 && stride == 2 && i < size ? 2 : 1;
}

static Terms
terms_of (const CpuWinograd *w, const gfloat *v, const gfloat *u, gint y, gint x)
{
  const CpuWinogradTile *tile = &w->tile;
  gint width = cpu_winograd_terms (tile->columns, tile->stride);
  Terms terms = { .n = 0 };
  for (gint j = 0; j < count_terms (y, tile->rows, tile->stride); j++)
    for (gint i = 0; i < count_terms (x, tile->columns, tile->stride); i++, terms.n++) {
      Term row = term_of (y, j, tile->rows), column = term_of (x, i, tile->columns);
      gint filter = row.filter * cpu_winograd_filters (tile->columns) + column.filter;
      terms.v[terms.n] = v + (gsize)(row.source * width + column.source) * w->source_step;
      terms.u[terms.n] = u + (gsize)filter * w->weights_step;
    }
  return terms;
}

/* All points of @n tiles and some panels. */
static void
multiply (const CpuWinograd *w, const gfloat *v, const gfloat *u, gint n, gint panel0, gint panel1,
          gfloat *m)
{
  for (gint y = 0; y < cpu_winograd_points (w->tile.rows, w->tile.stride); y++)
    for (gint x = 0; x < cpu_winograd_points (w->tile.columns, w->tile.stride); x++) {
      Terms terms = terms_of (w, v, u, y, x);
      multiply_panels (w, &terms, n, panel0, panel1, m);
      m += w->result_step;
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
put_row (Finish *f, CpuFloatSums *sums, gsize at, gint columns)
{
  CpuFloatTile *t = &f->tile;
  CpuFloatOut out = f->out;
  CpuFloatSums one[1];
  const gint pixels = MIN (t->nr, columns);
  if (!f->is_plain) {
    float_finish (t, (gfloat *)sums, at);
    return;
  }
  out.y += at;
  out.residual = out.residual ? out.residual + at : NULL;
  if (pixels == columns) {
    float_put (&out, sums, 1, columns);
    return;
  }
  for (gint i = 0; i < pixels; i++, out.y += out.pixel) {
    one[0][0] = sums[0][i];
    float_put (&out, one, 1, 1);
    out.residual = out.residual ? out.residual + out.pixel : NULL;
  }
}

/* @m: the products; @at: the first element of the destination. */
CPU_INLINE void
result_vector (const CpuWinograd *w, Finish *f, const gfloat *m, gsize at, gint rows, gint columns,
               gint stride)
{
  const gint height = cpu_winograd_points (rows, stride),
             width = cpu_winograd_points (columns, stride);
  VF32 turned[4][CPU_WINOGRAD_POINTS], in[CPU_WINOGRAD_POINTS], out[4];
  CpuFloatSums sums[1];
  for (gint i = 0; i < width; i++, m += w->result_step) {
#pragma GCC unroll 6
    for (gint j = 0; j < height; j++)
      in[j] = vector_load (m + (gsize)(j * width) * w->result_step);
    transform_result (in, out, rows, stride);
#pragma GCC unroll 4
    for (gint j = 0; j < rows; j++)
      turned[j][i] = out[j];
  }
  for (gint j = 0; j < f->rows; j++, at += w->conv.y_row * (gsize)w->conv.dilation_h) {
    transform_result (turned[j], sums[0], columns, stride);
#pragma GCC unroll 4
    for (gint i = 0; i < columns; i++)
      sums[0][i] += f->bias;
    put_row (f, sums, at, columns);
  }
}

/* Of a line, along which the pixels that are put together lie. */
CPU_INLINE void
result_line (const CpuWinograd *w, Finish *f, const gfloat *m, gsize at, gint pixels, gint stride)
{
  VF32 in[CPU_WINOGRAD_POINTS];
  CpuFloatSums sums[1];
#pragma GCC unroll 6
  for (gint i = 0; i < cpu_winograd_points (pixels, stride); i++)
    in[i] = vector_load (m + (gsize)i * w->result_step);
  transform_result (in, sums[0], pixels, stride);
#pragma GCC unroll 4
  for (gint i = 0; i < pixels; i++)
    sums[0][i] += f->bias;
  put_row (f, sums, at, pixels);
}

/* All tiles of one vector of channels, whose products are @apart elements apart. */
CPU_INLINE void
result_channels (const CpuWinograd *w, Finish *f, const CpuWinogradPart *part, const gfloat *m,
                 gsize apart, gsize channel, gint rows, gint columns, gint stride)
{
  const CpuConv *c = &w->conv;
  f->out = float_out_plain (&f->tile);
  for (gint t = part->tile0; t < part->tile1; t++, m += apart) {
    Place place = place_of (w, t);
    gsize at = channel + (gsize)place.frame * c->y_frame + (gsize)place.y * c->y_row +
               (gsize)place.x * c->y_pixel;
    f->rows = MIN (met_of (c->out_h - place.y, c->dilation_h), rows);
    f->tile.nr = MIN (met_of (c->out_w - place.x, c->dilation_w), columns);
    if (f->tile.nr <= 0 || f->rows <= 0) /* of dilated filters some tiles may be outside */
      continue;
    if (columns == 1)
      f->tile.nr = f->rows;
    if (rows == 1 || columns == 1)
      result_line (w, f, m, at, MAX (rows, columns), stride);
    else
      result_vector (w, f, m, at, rows, columns, stride);
  }
}

#define RESULT(rows, columns, stride)                                                              \
  static void result_##rows##x##columns##_##stride (const CpuWinograd *w, Finish *f,               \
                                                    const CpuWinogradPart *part, const gfloat *m,  \
                                                    gsize apart, gsize channel)                    \
  {                                                                                                \
    result_channels (w, f, part, m, apart, channel, rows, columns, stride);                        \
  }
#define RESULT_NAME(rows, columns, stride)                                                         \
  [stride][rows][columns] = result_##rows##x##columns##_##stride,

CPU_WINOGRAD_TILES (RESULT)
static void (*const results CPU_WINOGRAD_TABLE) (
    const CpuWinograd *w, Finish *f, const CpuWinogradPart *part, const gfloat *m, gsize apart,
    gsize channel) = { CPU_WINOGRAD_TILES (RESULT_NAME) };

static void
finish_panel (const CpuWinograd *w, const CpuFloatConvRun *run, const CpuWinogradPart *part,
              const Vectors *vectors, const gfloat *m)
{
  const CpuConv *c = &w->conv;
  gsize apart = (gsize)(vectors->n * CPU_LANES);
  gsize pixel = w->tile.columns > 1 ? c->y_pixel * (gsize)c->dilation_w
                                    : c->y_row * (gsize)c->dilation_h; /* down a line */
  for (gint i = vectors->first; i < vectors->first + vectors->n; i++, m += CPU_LANES) {
    gint first = i * CPU_LANES;
    gsize channel = cpu_conv_channel_at (c, c->y_block, first);
    Finish f = { .tile = { .run = run,
                           .mr = 1,
                           .channels = MIN (c->out_channels - first, CPU_LANES),
                           .pixel = pixel,
                           .vector = CPU_LANES,
                           .slopes = run->slopes ? run->slopes + first : NULL },
                 .bias = vector_load (run->bias + first) };
    f.is_plain = float_is_plain (&f.tile);
    results[w->tile.stride][w->tile.rows][w->tile.columns](w, &f, part, m, apart, channel);
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
  .source = CPU_NAME (cpu_winograd_source),
  .result = result,
};
