/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tiles of a depthwise convolution of floats by filters of 3, 5 or (where there are registers for
 * it) 7 columns: some pixels of a row, and the same ones of the rows below. Of each row of the
 * filter a tile reads every vector of the source once, for all the taps that it meets, where a
 * pixel by itself reads it once for each. Columns outside of the picture are zeros, so that the
 * edges are in tiles like all others. */
#pragma once

#include "floatstrip.h"

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
  gint y0, y1, x0, x1;
  gint together;    /* rows that a tile computes, at most */
  gboolean is_bare; /* nothing but limits follows; else a tile computes one */
} Block;

/* A row and those below that meet as many rows of the filter: @n, of which @x and @w are what the
 * first one meets, in column 0, and its weights. */
typedef struct {
  const gfloat *x, *w;
  gint n;
  gsize next; /* elements of the source from one to the next */
  gint rows;  /* of the result */
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

/* What a tile reads: copies, which no store may change, so that they stay in registers. */
typedef struct {
  const gfloat *from; /* what tap 0 of the first pixel meets, in the first row of the filter */
  const gfloat *w, *bias;
  const gfloat *end; /* of the source's memory */
  gsize pixel, next, tap;
  gint n, column, in_w; /* rows of the filter that count; the column of @from */
} Reads;

/* Of @column, or zeros. */
CPU_INLINE VF32
read_column (const Reads *r, const gfloat *p, gint column, gint place, gboolean outer)
{
  if ((place == END || (place == EDGE && outer)) && (guint)column >= (guint)r->in_w)
    return splat_float (0);
  return place != END || p + CPU_LANES <= r->end ? vector_load (p)
                                                 : vector_load_part (p, r->end - p);
}

/* Sums of @nr pixels of a row. */
CPU_INLINE void
sum_pixels (CpuFloatSums *s, const Reads *r, gint place, gint kernel, gint stride, gint mr, gint nr)
{
  const gint n = (nr - 1) * stride + kernel;
  const gfloat *from = r->from, *w = r->w;
#pragma GCC unroll 2
  for (gint m = 0; m < mr; m++)
#pragma GCC unroll 8
    for (gint j = 0; j < nr; j++)
      s[m][j] = vector_load (r->bias + m * CPU_LANES);
  for (gint y = 0; y < r->n; y++, from += r->next, w += (gsize)kernel * r->tap) {
    const gfloat *p = from;
    VF32 f[2][7];
#pragma GCC unroll 2
    for (gint m = 0; m < mr; m++)
#pragma GCC unroll 7
      for (gint k = 0; k < kernel; k++)
        f[m][k] = vector_load (w + (gsize)k * r->tap + m * CPU_LANES);
#pragma GCC unroll 24
    for (gint i = 0; i < n; i++, p += r->pixel)
#pragma GCC unroll 2
      for (gint m = 0; m < mr; m++) {
        VF32 v = read_column (r, p + m * CPU_LANES, r->column + i, place,
                              i < kernel / 2 || i >= n - kernel / 2);
        KEEP (v);
#pragma GCC unroll 8
        for (gint j = 0; j < nr; j++)
          if (i >= j * stride && i < j * stride + kernel)
            s[m][j] += v * f[m][i - j * stride];
      }
  }
}

/* Where more than limits follows: a call of its own, for all tiles of a size. */
#define PUT(mr, nr)                                                                                \
  static void __attribute__ ((noinline)) put_##mr##_##nr (const CpuFloatOut *out, CpuFloatSums *s) \
  {                                                                                                \
    float_put (out, s, mr, nr);                                                                    \
  }

typedef void (*PutFunc) (const CpuFloatOut *out, CpuFloatSums *s);

CPU_INLINE void
put_bare (gfloat *y, gsize pixel, CpuFloatSums *s, VF32 lo, VF32 hi, gint mr, gint nr)
{
#pragma GCC unroll 8
  for (gint j = 0; j < nr; j++, y += pixel)
#pragma GCC unroll 2
    for (gint i = 0; i < mr; i++)
      vector_store (y + i * CPU_LANES, vector_at_most (vector_at_least (s[i][j], lo), hi));
}

/* @nr pixels of all rows of @l, one below the other; @column: what tap 0 of the first one meets. */
CPU_INLINE void
sum_tile (const CpuFloatOut *out, const Vector *v, const Block *b, const Line *l, gint column,
          gint place, gint kernel, gint stride, PutFunc put, gint mr, gint nr)
{
  const CpuConv *c = b->conv;
  const gsize pixel = out->pixel, row = c->y_row, step = (gsize)c->stride_h * c->x_row;
  const VF32 lo = out->lo, hi = out->hi;
  const gboolean is_bare = b->is_bare;
  Reads r = { .from = l->x + (gssize)column * (gssize)c->x_pixel,
              .w = l->w,
              .bias = v->bias,
              .end = b->end,
              .pixel = c->x_pixel,
              .next = l->next,
              .tap = v->tap,
              .n = l->n,
              .column = column,
              .in_w = c->in_w };
  gfloat *to = out->y;
  for (gint rows = l->rows; rows > 0; rows--, r.from += step, to += row) {
    CpuFloatSums s[2];
    sum_pixels (s, &r, place, kernel, stride, mr, nr);
    if (is_bare) {
      put_bare (to, pixel, s, lo, hi, mr, nr);
    } else { /* sums themselves stay in registers */
      CpuFloatSums copy[2];
#pragma GCC unroll 2
      for (gint i = 0; i < mr; i++)
#pragma GCC unroll 8
        for (gint j = 0; j < nr; j++)
          copy[i][j] = s[i][j];
      put (out, copy);
    }
  }
}

typedef void (*TileFunc) (const CpuFloatOut *out, const Vector *v, const Block *b, const Line *l,
                          gint column);

#define TILE(mr, nr, place, kernel, stride)                                                        \
  static void tile_##mr##_##nr##_##place##_##kernel##_##stride (                                   \
      const CpuFloatOut *out, const Vector *v, const Block *b, const Line *l, gint column)         \
  {                                                                                                \
    sum_tile (out, v, b, l, column, place, kernel, stride, put_##mr##_##nr, mr, nr);               \
  }
#define NAME(mr, nr, place, kernel, stride) [nr] = tile_##mr##_##nr##_##place##_##kernel##_##stride,
#define OF_ONE(M, place, kernel, stride)                                                           \
  M (1, 8, place, kernel, stride)                                                                  \
  M (1, 7, place, kernel, stride)                                                                  \
  M (1, 4, place, kernel, stride) M (1, 2, place, kernel, stride) M (1, 1, place, kernel, stride)
#define OF_TWO(M, place, kernel, stride)                                                           \
  M (2, 4, place, kernel, stride)                                                                  \
  M (2, 3, place, kernel, stride) M (2, 2, place, kernel, stride) M (2, 1, place, kernel, stride)
#define TILES(number, mr, kernel, stride)                                                          \
  number (TILE, INSIDE, kernel, stride) number (TILE, EDGE, kernel, stride)                        \
      TILE (mr, 1, END, kernel, stride)
#define NAMES(number, mr, kernel, stride)                                                          \
  {                                                                                                \
    { number (NAME, INSIDE, kernel, stride) }, { number (NAME, EDGE, kernel, stride) },            \
    {                                                                                              \
      NAME (mr, 1, END, kernel, stride)                                                            \
    }                                                                                              \
  }

#if CPU_VECTOR == 32 /* two fill a line of the cache */
#define LINE(kernel, stride) TILES (OF_ONE, 1, kernel, stride) TILES (OF_TWO, 2, kernel, stride)
#define ROW(kernel, stride)                                                                        \
  { kernel, stride, 2, { NAMES (OF_ONE, 1, kernel, stride), NAMES (OF_TWO, 2, kernel, stride) } },
#else
#define LINE(kernel, stride) TILES (OF_ONE, 1, kernel, stride)
#define ROW(kernel, stride) { kernel, stride, 1, { NAMES (OF_ONE, 1, kernel, stride) } },
#endif
#if CPU_REGISTERS == 32
#define ALL(M) M (3, 1) M (3, 2) M (5, 1) M (5, 2) M (7, 1)
#else
#define ALL(M) M (3, 1) M (3, 2) M (5, 1) M (5, 2)
#endif

typedef struct {
  gint kernel, stride;
  gint vectors;            /* that a tile has at most */
  TileFunc tiles[2][3][9]; /* by vectors, place and pixels */
} Kernel;

/* clang-format off */
PUT (1, 8) PUT (1, 7) PUT (1, 4) PUT (1, 2) PUT (1, 1)
#if CPU_VECTOR == 32
PUT (2, 4) PUT (2, 3) PUT (2, 2) PUT (2, 1)
#endif
ALL (LINE)
    /* clang-format on */

    static const Kernel kernels[] = { ALL (ROW) };
