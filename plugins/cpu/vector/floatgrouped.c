/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution of floats in groups of few channels, compiled per instruction set.
 *
 * Groups whose channels are a vector together are computed as one. Lane by lane their sums take
 * other channels of the source, so a part lays these out: for each pixel as many vectors as a group
 * has channels, of which the n-th has the n-th channel of every group in all of its lanes. Of
 * groups of one channel that make some, that is one vector, in which each is repeated. */
#include "floatfinish.h"

#include <string.h>

/* M of each lane and what follows. */
#define EACH_4(M, i, ...)                                                                          \
  M (i, __VA_ARGS__), M ((i) + 1, __VA_ARGS__), M ((i) + 2, __VA_ARGS__), M ((i) + 3, __VA_ARGS__)
#define EACH_8(M, i, ...) EACH_4 (M, i, __VA_ARGS__), EACH_4 (M, (i) + 4, __VA_ARGS__)
#if CPU_VECTOR == 64
#define EACH_LANE(M, ...) EACH_8 (M, 0, __VA_ARGS__), EACH_8 (M, 8, __VA_ARGS__)
#elif CPU_VECTOR == 32
#define EACH_LANE(M, ...) EACH_8 (M, 0, __VA_ARGS__)
#else
#define EACH_LANE(M, ...) EACH_4 (M, 0, __VA_ARGS__)
#endif

/* Lane i: channel @n of its group of @of; channel i / @of. */
#define CHANNEL(i, of, n) ((i) & ~((of)-1)) + (n)
#define REPEATED(i, of) (i) / (of)

#define SPREAD(of, n)                                                                              \
  vector_store (to + (n)*CPU_LANES, __builtin_shufflevector (x, x, EACH_LANE (CHANNEL, of, n)))

static void
spread_2 (VF32 x, gfloat *to)
{
  SPREAD (2, 0);
  SPREAD (2, 1);
}

#if CPU_LANES > 4
static void
spread_4 (VF32 x, gfloat *to)
{
  SPREAD (4, 0);
  SPREAD (4, 1);
  SPREAD (4, 2);
  SPREAD (4, 3);
}
#endif

#if CPU_LANES > 8
static void
spread_8 (VF32 x, gfloat *to)
{
  SPREAD (8, 0);
  SPREAD (8, 1);
  SPREAD (8, 2);
  SPREAD (8, 3);
  SPREAD (8, 4);
  SPREAD (8, 5);
  SPREAD (8, 6);
  SPREAD (8, 7);
}
#endif

/* No more is read than there is. */
#define REPEAT(of)                                                                                 \
  case of:                                                                                         \
    for (gint i = 0; i < n; i++, x += c->x_pixel, to += CPU_LANES) {                               \
      VF32 v = splat_float (0);                                                                    \
      memcpy (&v, x, CPU_VECTOR / (of));                                                           \
      vector_store (to, __builtin_shufflevector (v, v, EACH_LANE (REPEATED, of)));                 \
    }                                                                                              \
    break;

/* @n pixels of the source, whose channels are repeated */
static void
repeat_pixels (const CpuConv *c, const gfloat *x, gint n, gfloat *to)
{
  switch (c->repeat) {
#if CPU_LANES > 8
    REPEAT (8)
#endif
#if CPU_LANES > 4
    REPEAT (4)
#endif
  default:
    REPEAT (2)
  }
}

#define ROW(of)                                                                                    \
  case of:                                                                                         \
    for (gint i = 0; i < n; i++, x += c->x_pixel, to += (of)*CPU_LANES)                            \
      spread_##of (vector_load (x), to);                                                           \
    break;

/* @n pixels of the source */
static void
spread_pixels (const CpuConv *c, const gfloat *x, gint n, gfloat *to)
{
  switch (c->spread) {
#if CPU_LANES > 8
    ROW (8)
#endif
#if CPU_LANES > 4
    ROW (4)
#endif
  default:
    ROW (2)
  }
}

/* @x: the frame's, from the part's first channel on; @pixel: elements of one that is laid out */
static gfloat *
lay_row (const CpuConv *c, const gfloat *x, gint y, gint left, gint width, gsize pixel, gfloat *to)
{
  gint from = CLAMP (-left, 0, width), until = CLAMP (c->in_w - left, from, width);
  if (y < 0 || y >= c->in_h)
    from = until = width;
  memset (to, 0, (gsize)from * pixel * sizeof *to);
  if (from < until)
    (c->repeat > 0 ? repeat_pixels
                   : spread_pixels) (c, x + (gsize)y * c->x_row + (gsize)(left + from) * c->x_pixel,
                                     until - from, to + (gsize)from * pixel);
  memset (to + (gsize)until * pixel, 0, (gsize)(width - until) * pixel * sizeof *to);
  return to + (gsize)width * pixel;
}

/* The source of a part, and where its pixels are. */
typedef struct {
  const gfloat *data;
  gsize pixel, row;
} Patch;

static Patch
lay_out (const CpuConv *c, const gfloat *x, const CpuConvPart *part, gfloat *to)
{
  gint top = part->y0 * c->stride_h - c->pad_top, left = part->x0 * c->stride_w - c->pad_left;
  gint rows = (part->y1 - part->y0 - 1) * c->stride_h + (c->kernel_h - 1) * c->dilation_h + 1;
  gint width = (part->x1 - part->x0 - 1) * c->stride_w + (c->kernel_w - 1) * c->dilation_w + 1;
  gsize pixel = (gsize)(c->spread * CPU_LANES);
  Patch patch = { to, pixel, (gsize)width * pixel };
  for (gint y = 0; y < rows; y++)
    to = lay_row (c, x, top + y, left, width, pixel, to);
  return patch;
}

/* Sums of @nr pixels whose filters begin at @p. */
CPU_INLINE void
tile (const CpuConv *c, const Patch *patch, const gfloat *p, const gfloat *w, const gfloat *bias,
      const CpuFloatOut *out, gint nr)
{
  const gsize step = (gsize)c->stride_w * patch->pixel;
  const gsize column = (gsize)c->dilation_w * patch->pixel;
  const gint n = c->spread;
  CpuFloatSums sums[1];
#pragma GCC unroll 12
  for (gint j = 0; j < nr; j++)
    sums[0][j] = vector_load (bias);
  for (gint y = 0; y < c->kernel_h; y++, p += (gsize)c->dilation_h * patch->row)
    for (gint x = 0; x < c->kernel_w; x++) {
      const gfloat *q = p + (gsize)x * column;
      for (gint i = 0; i < n; i++, q += CPU_LANES, w += CPU_LANES) {
        VF32 weight = vector_load (w);
#pragma GCC unroll 12
        for (gint j = 0; j < nr; j++)
          sums[0][j] += vector_load (q + (gsize)j * step) * weight;
      }
    }
  float_put (out, sums, 1, nr);
}

typedef void (*TileFunc) (const CpuConv *c, const Patch *patch, const gfloat *p, const gfloat *w,
                          const gfloat *bias, const CpuFloatOut *out);

#define TILE(nr)                                                                                   \
  static void tile_##nr (const CpuConv *c, const Patch *patch, const gfloat *p, const gfloat *w,   \
                         const gfloat *bias, const CpuFloatOut *out)                               \
  {                                                                                                \
    tile (c, patch, p, w, bias, out, nr);                                                          \
  }
#define NAME(nr) tile_##nr,
#define EACH(M) M (1) M (2) M (3) M (4) M (5) M (6) M (7) M (8) M (9) M (10) M (11) M (12)
EACH (TILE)
static const TileFunc tiles[CPU_FLOAT_PIXELS] = { EACH (NAME) };

/* Some columns of the part, whose filters are near then from one row to the next: @t->nr, from
 * @x on. */
static void
run_columns (const CpuConv *c, const CpuFloatConvRun *run, const CpuConvPart *part,
             const Patch *patch, CpuFloatTile *t, gint x)
{
  gfloat sums[CPU_FLOAT_PIXELS * CPU_LANES] __attribute__ ((aligned (64)));
  const gsize first = (gsize)part->group * CPU_LANES;
  const gsize channel = cpu_conv_channel_at (c, c->y_block, part->group * CPU_LANES);
  const gfloat *w = run->weights + first * (gsize)(c->n_taps * c->spread);
  const gfloat *p = patch->data + (gsize)(x * c->stride_w) * patch->pixel;
  gboolean is_plain = float_is_plain (t);
  CpuFloatOut out = is_plain ? float_out_plain (t) : float_out_to (sums, CPU_LANES);
  for (gint y = part->y0; y < part->y1; y++, p += (gsize)c->stride_h * patch->row) {
    gsize at = (gsize)part->frame * c->y_frame + (gsize)y * c->y_row +
               (gsize)(part->x0 + x) * c->y_pixel + channel;
    if (is_plain)
      float_out_move (&out, run, at);
    tiles[t->nr - 1](c, patch, p, w, run->bias + first, &out);
    if (!is_plain)
      float_finish (t, sums, at);
  }
}

void
CPU_NAME (cpu_float_grouped) (const CpuConv *c, const CpuFloatConvRun *run, const CpuConvPart *part,
                              guint8 *scratch)
{
  gsize first = (gsize)part->group * CPU_LANES;
  gint columns = part->x1 - part->x0;
  gint blocks = (columns + CPU_FLOAT_PIXELS - 1) / CPU_FLOAT_PIXELS;
  CpuFloatTile t = { .run = run,
                     .mr = 1,
                     .channels = CPU_LANES,
                     .pixel = c->y_pixel,
                     .vector = CPU_LANES,
                     .slopes = run->slopes ? run->slopes + first : NULL };
  Patch patch = lay_out (c,
                         run->x + (gsize)part->frame * c->x_frame +
                             cpu_conv_channel_at (c, c->x_block, part->group * c->channels),
                         part, (gfloat *)(gpointer)(scratch + c->heads[1]));
  for (gint b = 0; b < blocks; b++) { /* of nearly the same size */
    gint x = columns * b / blocks;
    t.nr = columns * (b + 1) / blocks - x;
    run_columns (c, run, part, &patch, &t, x);
  }
}
