/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Depthwise convolution of floats by filters of 3, 5 or (where there are registers for it) 7
 * columns, row by row, compiled per instruction set. A tile is some pixels of a row: of each row of
 * the filter it reads every vector of the source once, for all the taps that it meets, where a
 * pixel by itself reads it once for each. Columns outside of the picture are zeros, so that the
 * edges are in tiles like all others. */
#include "floatstrip.h"

/* Vectors of channels that are computed row by row together: pieces of 512 bytes and more of a
 * pixel, which memory gives fast. */
#define GROUP (512 / CPU_VECTOR)

/* Columns of a vector that are computed at once: with more of them more is read in order, with
 * fewer the next vector finds the lines of this one in the first cache. */
#define PIECE (1536 / CPU_VECTOR)

/* A vector of channels, or two side by side that fill a line of the cache: it is read once, though
 * pixels that lie a power of two apart leave it hardly any place there. */
typedef struct {
  const gfloat *x, *w, *bias, *slopes;
  gsize y;           /* element of the destination */
  gsize tap;         /* elements of weights from one to the next */
  gint mr, channels; /* vectors, channels that there are */
} Vector;

/* What vectors share: some rows and columns of the result. */
typedef struct {
  const CpuConv *conv;
  const gfloat *end; /* of the source's memory */
  CpuFloatTile tile; /* of a whole vector, as the next two */
  CpuFloatOut out;
  gboolean is_plain;
  gint y0, y1, x0, x1;
} Block;

/* A row, and the rows of the filter that have something to meet. */
typedef struct {
  const gfloat *x; /* what the first of them meets, in column 0 */
  const gfloat *w; /* of that one */
  gint n;
  gsize next; /* elements of the source from one to the next */
} Line;

/* How a tile reads its columns: all are there; at either side as many as half of the filter are
 * outside of the picture; or any may be, or lie at the end of memory, where a vector reaches
 * beyond. */
enum { INSIDE, EDGE, END };

/* Read once: else GCC reads what several sums take once for each. */
#if defined(CPU_EMULATED)
#define KEEP(v)
#elif defined(__x86_64__)
#define KEEP(v) __asm__("" : "+v"(v))
#elif defined(__aarch64__)
#define KEEP(v) __asm__("" : "+w"(v))
#else
#define KEEP(v)
#endif

#define CASE(n, place)                                                                             \
  case n:                                                                                          \
    sum_tile (out, v, b, l, column, place, kernel, stride, mr, n);                                 \
    break;
#define TILES(place) CASE (8, place) CASE (7, place) CASE (4, place) CASE (2, place) CASE (1, place)
#define PAIRS(place) CASE (4, place) CASE (3, place) CASE (2, place) CASE (1, place)
#define ALL_TILES(place)                                                                           \
  if (mr == 2)                                                                                     \
    switch (nr) {                                                                                  \
      PAIRS (place)                                                                                \
    }                                                                                              \
  else                                                                                             \
    switch (nr) {                                                                                  \
      TILES (place)                                                                                \
    }

/* Of @column, or zeros. */
CPU_INLINE VF32
read_column (const Block *b, const gfloat *p, gint column, gint place, gboolean outer)
{
  if ((place == END || (place == EDGE && outer)) && (guint)column >= (guint)b->conv->in_w)
    return splat_float (0);
  return place != END || p + CPU_LANES <= b->end ? vector_load (p)
                                                 : vector_load_part (p, b->end - p);
}

/* @nr pixels; @column: what tap 0 of the first one meets. */
CPU_INLINE void
sum_tile (const CpuFloatOut *out, const Vector *vector, const Block *b, const Line *l, gint column,
          gint place, gint kernel, gint stride, gint mr, gint nr)
{
  const gsize pixel = b->conv->x_pixel;
  const gint n = (nr - 1) * stride + kernel;
  const gfloat *from = l->x + (gssize)column * (gssize)pixel, *w = l->w;
  CpuFloatSums s[2];
#pragma GCC unroll 2
  for (gint m = 0; m < mr; m++)
#pragma GCC unroll 8
    for (gint j = 0; j < nr; j++)
      s[m][j] = vector_load (vector->bias + m * CPU_LANES);
  for (gint y = 0; y < l->n; y++, from += l->next, w += (gsize)kernel * vector->tap) {
    const gfloat *p = from;
    VF32 f[2][7];
#pragma GCC unroll 2
    for (gint m = 0; m < mr; m++)
#pragma GCC unroll 7
      for (gint k = 0; k < kernel; k++)
        f[m][k] = vector_load (w + (gsize)k * vector->tap + m * CPU_LANES);
#pragma GCC unroll 24
    for (gint i = 0; i < n; i++, p += pixel)
#pragma GCC unroll 2
      for (gint m = 0; m < mr; m++) {
        VF32 v = read_column (b, p + m * CPU_LANES, column + i, place,
                              i < kernel / 2 || i >= n - kernel / 2);
        KEEP (v);
#pragma GCC unroll 8
        for (gint j = 0; j < nr; j++)
          if (i >= j * stride && i < j * stride + kernel)
            s[m][j] += v * f[m][i - j * stride];
      }
  }
  float_put (out, s, mr, nr);
}

/* The largest tile for @n pixels, of one vector (but 14 are two of 7) or of two. */
CPU_INLINE gint
choose_size (gint n, gint mr)
{
  if (mr == 2)
    return MIN (n, 4);
  return n >= 8 && n != 14 ? 8 : n >= 7 ? 7 : n >= 4 ? 4 : n >= 2 ? 2 : 1;
}

/* @n columns from @column on. */
CPU_INLINE gint
place_of (const Block *b, const Line *l, gint column, gint n, gint kernel, gint mr)
{
  const CpuConv *c = b->conv;
  gint last = MIN (column + n, c->in_w) - 1, over = MAX (-column, column + n - c->in_w);
  const gfloat *end = l->x + (gsize)(MAX (l->n, 1) - 1) * l->next +
                      (gssize)last * (gssize)c->x_pixel + mr * CPU_LANES;
  return end > b->end || over > kernel / 2 ? END : over > 0 ? EDGE : INSIDE;
}

/* A row of the block. */
CPU_INLINE void
sum_line (const Vector *v, CpuFloatTile *tile, CpuFloatOut *out, gboolean is_plain, const Block *b,
          const Line *l, gsize at, gint kernel, gint stride, gint mr)
{
  const CpuConv *c = b->conv;
  for (gint x = b->x0, nr; x < b->x1; x += nr, at += (gsize)nr * c->y_pixel) {
    gint column = x * stride - c->pad_left, place;
    nr = choose_size (b->x1 - x, mr);
    place = place_of (b, l, column, (nr - 1) * stride + kernel, kernel, mr);
    if (place == END) { /* seldom: pixel by pixel */
      nr = 1;
      place = place_of (b, l, column, kernel, kernel, mr);
    }
    if (is_plain)
      float_out_move (out, tile->run, at);
    if (place == INSIDE) {
      ALL_TILES (INSIDE)
    } else if (place == EDGE) {
      ALL_TILES (EDGE)
    } else {
      sum_tile (out, v, b, l, column, END, kernel, stride, mr, 1);
    }
    tile->nr = nr;
    if (!is_plain)
      float_finish (tile, out->y, at);
  }
}

CPU_INLINE void
sum_lines (const Vector *v, const Block *b, gint kernel, gint stride, gint mr)
{
  gfloat sums[8 * CPU_LANES] __attribute__ ((aligned (64)));
  const CpuConv *c = b->conv;
  CpuFloatTile tile = b->tile;
  CpuFloatOut out = b->out;
  gboolean is_plain = b->is_plain && v->channels > (mr - 1) * CPU_LANES;
  tile.mr = mr;
  tile.channels = v->channels;
  tile.slopes = v->slopes;
  if (is_plain) {
    out.last = v->channels - (mr - 1) * CPU_LANES;
    out.slopes = v->slopes;
  } else {
    out = float_out_to (sums, (gsize)(mr * CPU_LANES));
  }
  for (gint y = b->y0; y < b->y1; y++) {
    gint from = y * c->stride_h - c->pad_top, first, end;
    Line l = { .next = (gsize)c->dilation_h * c->x_row };
    strip_clip_taps (from, c->kernel_h, c->dilation_h, c->in_h, &first, &end);
    l.n = end - first;
    l.x = v->x + (gssize)(from + first * c->dilation_h) * (gssize)c->x_row;
    l.w = v->w + (gsize)(first * kernel) * v->tap;
    sum_line (v, &tile, &out, is_plain, b, &l,
              v->y + (gsize)y * c->y_row + (gsize)b->x0 * c->y_pixel, kernel, stride, mr);
  }
}

typedef void (*LineFunc) (const Vector *v, const Block *b);

#define LINES(name, mr, kernel, stride)                                                            \
  static void __attribute__ ((noinline))                                                           \
  name##_##kernel##_##stride (const Vector *v, const Block *b)                                     \
  {                                                                                                \
    sum_lines (v, b, kernel, stride, mr);                                                          \
  }
#if CPU_VECTOR == 32
#define LINE(kernel, stride)                                                                       \
  LINES (lines, 1, kernel, stride)                                                                 \
  LINES (pairs, 2, kernel, stride)
#define ROW(kernel, stride)                                                                        \
  { kernel, stride, { lines_##kernel##_##stride, pairs_##kernel##_##stride } },
#else
#define LINE(kernel, stride) LINES (lines, 1, kernel, stride)
#define ROW(kernel, stride) { kernel, stride, { lines_##kernel##_##stride, NULL } },
#endif
#if CPU_REGISTERS == 32
#define ALL(M) M (3, 1) M (3, 2) M (5, 1) M (5, 2) M (7, 1)
#else
#define ALL(M) M (3, 1) M (3, 2) M (5, 1) M (5, 2)
#endif

ALL (LINE)

typedef struct {
  gint kernel, stride;
  LineFunc run[2]; /* by vectors; nullable */
} Kernel;

static const Kernel kernels[] = { ALL (ROW) };

static const Kernel *
find_kernel (const CpuConv *c)
{
  for (guint i = 0; c->dilation_w == 1 && i < G_N_ELEMENTS (kernels); i++)
    if (kernels[i].kernel == c->kernel_w && kernels[i].stride == c->stride_w)
      return &kernels[i];
  return NULL;
}

/* The vectors of panels @p to @end, without those that only pad the last panel. */
static gint
list_vectors (const Kernel *k, Strip *s, const CpuConvPart *part, gint p, gint end, Vector *vectors)
{
  gint n = 0;
  for (; p < end; p++) {
    gint step;
    strip_set_panel (s, part, p);
    step = k->run[1] != NULL && s->tile.channels == 2 * CPU_LANES ? 2 : 1;
    for (gint i = 0; i < s->tile.mr && i * CPU_LANES < s->tile.channels; i += step) {
      Vector *v = &vectors[n++];
      gint first = i * CPU_LANES;
      *v = (Vector){ .x = s->x + first,
                     .w = s->w + first,
                     .bias = s->bias + first,
                     .slopes = s->tile.slopes ? s->tile.slopes + first : NULL,
                     .y = s->y + (gsize)first,
                     .tap = (gsize)(s->tile.mr * CPU_LANES),
                     .mr = step,
                     .channels = MIN (s->tile.channels - first, step * CPU_LANES) };
    }
  }
  return n;
}

/* All columns of some rows of some vectors: short rows together, long ones piece by piece. */
static void
run_vectors (const Kernel *k, Vector *vectors, gint n, const CpuConvPart *part, Block *b)
{
  gint columns = MIN (PIECE, part->x1 - part->x0), rows = MAX (2 * PIECE / columns, 1);
  for (b->x0 = part->x0; b->x0 < part->x1; b->x0 = b->x1) {
    b->x1 = MIN (b->x0 + columns, part->x1);
    for (b->y0 = part->y0; b->y0 < part->y1; b->y0 = b->y1) {
      b->y1 = MIN (b->y0 + rows, part->y1);
      for (gint i = 0; i < n; i++)
        k->run[vectors[i].mr - 1](&vectors[i], b);
    }
  }
}

gboolean
CPU_NAME (cpu_float_lines) (Strip *s, const CpuConvPart *part)
{
  const CpuConv *c = s->conv;
  const CpuFloatConvRun *run = s->tile.run;
  const Kernel *k = find_kernel (c);
  Block b = { .conv = c, .end = s->end, .tile = s->tile };
  gint panels = GROUP / CPU_FLOAT_STRIP;
  if (k == NULL || run->wide.conv != NULL)
    return FALSE;
  b.tile.mr = 1;
  b.tile.channels = CPU_LANES;
  b.is_plain = float_is_plain (&b.tile);
  b.out = float_out_plain (&b.tile);
  s->wide = (CpuFloatWide){ c, 1, run->weights, run->bias, run->slopes };
  for (gint p = part->panel0; p < part->panel1; p += panels) {
    Vector vectors[GROUP];
    gint n = list_vectors (k, s, part, p, MIN (p + panels, part->panel1), vectors);
    run_vectors (k, vectors, n, part, &b);
  }
  return TRUE;
}
