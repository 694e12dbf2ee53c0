/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dense and grouped convolution of bytes, compiled per instruction set.
 *
 * A part is a band of output rows. What it reads of the source is laid out once, padded, as
 * bytes or as 16-bit numbers; there a row of the filter is one run of consecutive elements, so that
 * every filter is a list of runs. A tile of pixels x two vectors of output channels stays in
 * registers over all of them. */
#include "int8finish.h"
#include "int8rows.h"
#include "level.h"

#define PIXELS CPU_INT8_PIXELS
#define TILES_AT_ONCE 4 /* whose sums become results together */

typedef VI32 (*DotFunc) (VI32 c, VI32 a, VI32 b);

/* Sums of @nr pixels, @step bytes apart, and @mr vectors of channels. */
CPU_INLINE void
tile (DotFunc dot, gint32 *out, const guint8 *p, gsize step, const gint32 *taps, gint n_taps,
      gint n, const guint8 *w, const gint32 *bias, gint mr, gint nr)
{
  VI32 c[2][PIXELS];
#pragma GCC unroll 2
  for (gint i = 0; i < mr; i++)
#pragma GCC unroll 12
    for (gint j = 0; j < nr; j++)
      c[i][j] = *(const VI32 *)(bias + i * CPU_LANES);
  for (gint t = 0; t < n_taps; t++) {
    const guint8 *q = p + taps[t];
    for (gint m = n; m > 0; m--, q += 4, w += mr * CPU_VECTOR) {
      VI32 x[2];
#pragma GCC unroll 2
      for (gint i = 0; i < mr; i++)
        x[i] = *(const VI32 *)(w + i * CPU_VECTOR);
#pragma GCC unroll 12
      for (gint j = 0; j < nr; j++) {
        gint32 four;
        __builtin_memcpy (&four, q + (gsize)j * step, 4);
        VI32 b = splat (four);
#pragma GCC unroll 2
        for (gint i = 0; i < mr; i++)
          c[i][j] = dot (c[i][j], b, x[i]);
      }
    }
  }
#pragma GCC unroll 12
  for (gint j = 0; j < nr; j++)
#pragma GCC unroll 2
    for (gint i = 0; i < mr; i++)
      *(VI32 *)(out + (j * mr + i) * CPU_LANES) = c[i][j];
}

typedef void (*TileFunc) (gint32 *out, const guint8 *p, gsize step, const gint32 *taps, gint n_taps,
                          gint n, const guint8 *w, const gint32 *bias);

#define TILE(dot, mr, nr)                                                                          \
  static void tile_##dot##_##mr##_##nr (gint32 *out, const guint8 *p, gsize step,                  \
                                        const gint32 *taps, gint n_taps, gint n, const guint8 *w,  \
                                        const gint32 *bias)                                        \
  {                                                                                                \
    tile (dot, out, p, step, taps, n_taps, n, w, bias, mr, nr);                                    \
  }
#define NAME(dot, mr, nr) tile_##dot##_##mr##_##nr,
#if CPU_INT8_PIXELS == 12
#define FOR_PIXELS(M, dot, mr)                                                                     \
  M (dot, mr, 1)                                                                                   \
  M (dot, mr, 2)                                                                                   \
  M (dot, mr, 3)                                                                                   \
  M (dot, mr, 4)                                                                                   \
  M (dot, mr, 5)                                                                                   \
  M (dot, mr, 6)                                                                                   \
  M (dot, mr, 7)                                                                                   \
  M (dot, mr, 8) M (dot, mr, 9) M (dot, mr, 10) M (dot, mr, 11) M (dot, mr, 12)
#else
#define FOR_PIXELS(M, dot, mr)                                                                     \
  M (dot, mr, 1)                                                                                   \
  M (dot, mr, 2)                                                                                   \
  M (dot, mr, 3)                                                                                   \
  M (dot, mr, 4) M (dot, mr, 5) M (dot, mr, 6)
#endif

FOR_PIXELS (TILE, dot2, 1)
FOR_PIXELS (TILE, dot2, 2)
#if CPU_DOT4
FOR_PIXELS (TILE, dot4, 1)
FOR_PIXELS (TILE, dot4, 2)
#endif

/* By pairs or fours, vectors less one, pixels less one. */
static const TileFunc tiles[][2][PIXELS] = {
  { { FOR_PIXELS (NAME, dot2, 1) }, { FOR_PIXELS (NAME, dot2, 2) } },
#if CPU_DOT4
  { { FOR_PIXELS (NAME, dot4, 1) }, { FOR_PIXELS (NAME, dot4, 2) } },
#endif
};

/* The source as the tiles read it: where the part's first pixel is, and how far it is to others. */
typedef struct {
  const guint8 *data;
  gsize pixel, row; /* bytes from one output pixel to the next, one output row to the next */
} Patch;

static Patch
lay_out (const CpuInt8Conv *c, const CpuInt8Run *run, const CpuConvPart *part, gint32 *taps,
         guint8 *scratch)
{
  const guint8 *x =
      run->x + (gsize)part->frame * c->shape.x_frame + (gsize)part->group * c->shape.channels;
  gsize pixel = (gsize)c->shape.channels * (c->pairs ? 2 : 1), row = c->shape.x_row;
  Int8Place place = int8_place_of (&c->shape, part, c->pairs, run->x_zero + c->offset);
  gboolean by_rows = c->shape.n_taps == c->shape.kernel_h;
  if (c->shape.direct) {
    pixel = c->shape.x_pixel;
    x += (gssize)place.top * (gssize)row + (gssize)place.left * (gssize)pixel;
  } else {
    row = int8_lay_rows (c, x, &place, scratch);
    x = scratch;
  }
  for (gint t = 0; t < c->shape.n_taps; t++)
    taps[t] = by_rows ? (gint)(t * c->shape.dilation_h * (gssize)row)
                      : (gint)(t / c->shape.kernel_w * c->shape.dilation_h * (gssize)row +
                               t % c->shape.kernel_w * c->shape.dilation_w * (gssize)pixel);
  return (Patch){ x, (gsize)c->shape.stride_w * pixel, (gsize)c->shape.stride_h * row };
}

/* The output channels of one panel, of one part. */
typedef struct {
  const CpuInt8Conv *conv;
  const CpuInt8Run *run;
  const CpuConvPart *part;
  const Patch *patch;
  const gint32 *taps;
  gint first, n, width; /* output channel of the group, how many, and how many are computed */
  gsize at;             /* of the first one in arrays */
} Panel;

/* A row of the part: a few tiles, then what follows their sums. */
static void
run_row (const Panel *p, const guint8 *w, gint y)
{
  gint32 sums[TILES_AT_ONCE * 2 * CPU_LANES * PIXELS] __attribute__ ((aligned (64)));
  const CpuConv *c = &p->conv->shape;
  const TileFunc *funcs = tiles[p->conv->pairs ? 0 : CPU_DOT4][p->width / CPU_LANES - 1];
  const gint cols = p->part->x1 - p->part->x0, blocks = (cols + PIXELS - 1) / PIXELS;
  const guint8 *row = p->patch->data + (gsize)(y - p->part->y0) * p->patch->row;
  const gfloat *scale = p->run->scale ? p->run->scale + p->at : NULL;
  const gfloat *shift = p->run->shift ? p->run->shift + p->at : NULL;
  gsize to = (gsize)p->part->frame * c->y_frame + (gsize)y * c->y_row +
             (gsize)p->part->x0 * c->y_pixel + (gsize)(p->part->group * c->out_channels + p->first);
  for (gint b = 0, x = 0, first; b < blocks;) {
    gint32 *sum = sums;
    first = x;
    for (gint i = 0; i < TILES_AT_ONCE && b < blocks; i++, b++) { /* of nearly the same size */
      gint nr = (gint)((gint64)cols * (b + 1) / blocks) - x;
      funcs[nr - 1](sum, row + (gsize)x * p->patch->pixel, p->patch->pixel, p->taps, c->n_taps,
                    p->conv->n_groups, w, p->run->bias + p->at);
      sum += nr * p->width;
      x += nr;
    }
    finish_tile (&p->conv->finish, p->run->y, to + (gsize)first * c->y_pixel, c->y_pixel, sums,
                 scale, shift, x - first, p->width, p->n);
  }
}

static void
run_panel (const CpuInt8Conv *c, const CpuInt8Run *run, const CpuConvPart *part, const Patch *patch,
           const gint32 *taps, gint first)
{
  gint width = c->shape.padded - first > CPU_LANES ? 2 * CPU_LANES : CPU_LANES;
  Panel p = { .conv = c,
              .run = run,
              .part = part,
              .patch = patch,
              .taps = taps,
              .first = first,
              .n = MIN (c->shape.out_channels - first, width),
              .width = width,
              .at = (gsize)part->group * (gsize)c->shape.padded + (gsize)first };
  const guint8 *w = run->weights + p.at * 4 * (gsize)c->shape.n_taps * (gsize)c->n_groups;
  for (gint y = part->y0; y < part->y1; y++)
    run_row (&p, w, y);
}

void
CPU_NAME (cpu_int8_dense) (const CpuInt8Conv *c, const CpuInt8Run *run, const CpuConvPart *part,
                           guint8 *scratch)
{
  gint32 *taps = (gint32 *)(gpointer)scratch;
  gsize head = ((gsize)c->shape.n_taps * sizeof *taps + 63) & ~(gsize)63;
  Patch patch = lay_out (c, run, part, taps, scratch + head);
  for (gint p = part->panel0; p < part->panel1; p += 2)
    run_panel (c, run, part, &patch, taps, p * CPU_LANES);
}
