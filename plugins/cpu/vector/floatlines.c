/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Depthwise convolution of floats row by row, or some rows together, compiled per instruction set:
 * which tiles (linetile.h) rows are made of, and in which order vectors of channels have theirs. */
#include "linetile.h"

/* Vectors of channels that are computed row by row together: pieces of 512 bytes and more of a
 * pixel, which memory gives fast. */
#define GROUP (512 / CPU_VECTOR)

/* Columns of a vector that are computed at once: with more of them more is read in order, with
 * fewer the next vector finds the lines of this one in the first cache. */
#define PIECE (1536 / CPU_VECTOR)

/* The same in blocks of channels, where a vector's pixels are side by side. */
#define PIECE_OF_BLOCK 128

/* Rows that a tile computes of those, where the first cache does not hold all. */
#define TOGETHER 6

/* The largest tile for @n pixels, of one vector (but 14 are two of 7) or of two. */
static gint
choose_size (gint n, gint mr)
{
  if (mr == 2)
    return MIN (n, 4);
  return n >= 8 && n != 14 ? 8 : n >= 7 ? 7 : n >= 4 ? 4 : n >= 2 ? 2 : 1;
}

/* Of a row. */
typedef struct {
  TileFunc run;
  gint column, n; /* what tap 0 of the first pixel meets; pixels */
  gsize end;      /* of what is read of a row of the source, in elements */
} Tile;

/* That @n pixels meet. */
static gint
count_columns (const CpuConv *c, gint n)
{
  return (n - 1) * c->stride_w + c->kernel_w;
}

/* As far as the picture alone says it. */
static gint
place_of (const CpuConv *c, gint column, gint n)
{
  gint over = MAX (-column, column + count_columns (c, n) - c->in_w);
  return over > c->kernel_w / 2 ? END : over > 0 ? EDGE : INSIDE;
}

/* Tiles of all rows of the block. */
static gint
list_tiles (const Kernel *k, const Block *b, gint mr, Tile *tiles)
{
  const CpuConv *c = b->conv;
  gint n = 0;
  for (gint x = b->x0; x < b->x1; x += tiles[n++].n) {
    gint column = x * c->stride_w - c->pad_left, nr = choose_size (b->x1 - x, mr);
    gint place = place_of (c, column, nr), last;
    if (place == END) { /* seldom: pixel by pixel */
      nr = 1;
      place = place_of (c, column, nr);
    }
    last = MIN (column + count_columns (c, nr), c->in_w) - 1;
    tiles[n] = (Tile){ .run = k->tiles[mr - 1][place][nr],
                       .column = column,
                       .n = nr,
                       .end = (gsize)MAX (last, 0) * c->x_pixel + (gsize)(mr * CPU_LANES) };
  }
  return n;
}

/* Of the same columns of all rows; by vectors of a tile. */
typedef struct {
  gint x0, x1;
  Tile all[2][PIECE_OF_BLOCK];
  gint n[2];
} Tiles;

static void
tiles_update (Tiles *self, const Kernel *k, const Block *b)
{
  if (self->x0 == b->x0 && self->x1 == b->x1)
    return;
  self->x0 = b->x0;
  self->x1 = b->x1;
  for (gint i = 0; i < k->vectors; i++)
    self->n[i] = list_tiles (k, b, i + 1, self->all[i]);
}

/* What the tiles of a row of one vector, or of two, have in common. */
typedef struct {
  const Kernel *kernel;
  const Vector *vector;
  Block *block;
  CpuFloatTile tile;
  CpuFloatOut out;
  gboolean is_plain, is_simple; /* is_simple: nothing but limits follows */
} Row;

static void
run_tile (Row *r, const Line *l, TileFunc run, gint column, gint n, gsize at)
{
  if (r->is_plain)
    float_out_move (&r->out, r->tile.run, at);
  run (&r->out, r->vector, r->block, l, column);
  r->tile.nr = n;
  if (!r->is_plain)
    float_finish (&r->tile, r->out.y, at);
}

/* A vector reaches beyond the end of memory: pixel by pixel, seldom. */
static void
run_last (Row *r, const Line *l, const Tile *t, gsize at)
{
  const CpuConv *c = r->block->conv;
  TileFunc run = r->kernel->tiles[r->vector->mr - 1][END][1];
  for (gint i = 0; i < t->n; i++)
    run_tile (r, l, run, t->column + i * c->stride_w, 1, at + (gsize)i * c->y_pixel);
}

static void
sum_line (Row *r, const Line *l, const Tile *tiles, gint n, gsize at)
{
  const gfloat *last = l->x + (gsize)(MAX (l->n, 1) - 1) * l->next +
                       (gsize)((l->rows - 1) * r->block->conv->stride_h) * r->block->conv->x_row;
  const gsize room = r->block->end > last ? (gsize)(r->block->end - last) : 0;
  const gsize pixel = r->block->conv->y_pixel;
  for (const Tile *t = tiles; t < tiles + n; at += (gsize)t->n * pixel, t++)
    if (t->end <= room)
      run_tile (r, l, t->run, t->column, t->n, at);
    else
      run_last (r, l, t, at);
}

/* Rows from @y on, of which the next ones meet the same rows of the filter. */
static Line
find_line (const Vector *v, const Block *b, gint y, gboolean one)
{
  const CpuConv *c = b->conv;
  gint from = y * c->stride_h - c->pad_top, reach = (c->kernel_h - 1) * c->dilation_h, first, end;
  Line l = { .next = (gsize)c->dilation_h * c->x_row };
  strip_clip_taps (from, c->kernel_h, c->dilation_h, c->in_h, &first, &end);
  l.n = end - first;
  l.x = v->x + (gssize)(from + first * c->dilation_h) * (gssize)c->x_row;
  l.w = v->w + (gsize)(first * c->kernel_w) * v->tap;
  l.rows = 1;
  if (!one && l.n == c->kernel_h)
    l.rows = MIN (MIN (b->together, b->y1 - y), (c->in_h - 1 - reach - from) / c->stride_h + 1);
  return l;
}

static void
set_vector (Row *r, const Vector *v)
{
  r->vector = v;
  r->tile.mr = v->mr;
  r->tile.channels = v->channels;
  r->tile.slopes = v->slopes;
  if (r->is_plain) {
    r->out.last = v->channels - (v->mr - 1) * CPU_LANES;
    r->out.slopes = v->slopes;
  } else {
    r->out.pixel = (gsize)(v->mr * CPU_LANES);
  }
  r->block->is_bare = !r->is_plain || (r->is_simple && r->out.last == CPU_LANES);
}

static void
sum_lines (Row *r, const Vector *v, const Tiles *tiles)
{
  const Block *b = r->block;
  const CpuConv *c = b->conv;
  const gint n = tiles->n[v->mr - 1];
  set_vector (r, v);
  for (gint y = b->y0, rows; y < b->y1; y += rows) {
    Line l = find_line (v, b, y, !r->is_simple || !b->is_bare);
    rows = l.rows;
    sum_line (r, &l, tiles->all[v->mr - 1], n,
              v->y + (gsize)y * c->y_row + (gsize)b->x0 * c->y_pixel);
  }
}

static const Kernel *
find_kernel (const CpuConv *c)
{
  for (guint i = 0; c->dilation_w == 1 && i < G_N_ELEMENTS (kernels); i++)
    if (kernels[i].kernel == c->kernel_w && kernels[i].stride == c->stride_w)
      return &kernels[i];
  return NULL;
}

gboolean
CPU_NAME (cpu_float_has_lines) (const CpuConv *c)
{
  return find_kernel (c) != NULL;
}

/* The vectors of panels @p to @end, without those that only pad the last panel. */
static gint
list_vectors (const Kernel *k, Strip *s, const CpuConvPart *part, gint p, gint end, Vector *vectors)
{
  gint n = 0;
  for (; p < end; p++) {
    gint step;
    strip_set_panel (s, part, p);
    step = k->vectors > 1 && s->tile.channels == 2 * CPU_LANES ? 2 : 1;
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

/* Rows of one vector, @columns each, whose source the first cache holds. */
static gint
near_rows (const CpuConv *c, gint columns)
{
  gsize row = (gsize)((columns - 1) * c->stride_w + c->kernel_w) * c->x_pixel * sizeof (gfloat);
  gint rows = (gint)(STRIP_NEAR / row) - (c->kernel_h - 1) * c->dilation_h;
  return MAX (rows / c->stride_h, 1);
}

/* All columns of some rows of some vectors: short rows together, long ones piece by piece; but all
 * rows of a vector where its pixels are side by side. */
static void
run_vectors (Row *r, Tiles *tiles, const Vector *vectors, gint n, const CpuConvPart *part)
{
  Block *b = r->block;
  const gboolean in_blocks = b->conv->block > 0;
  gint columns = MIN (in_blocks ? PIECE_OF_BLOCK : PIECE, part->x1 - part->x0);
  gint rows = in_blocks ? part->y1 - part->y0 : MAX (2 * PIECE / columns, 1);
  b->together = in_blocks && near_rows (b->conv, columns) < rows ? TOGETHER : rows;
  for (b->x0 = part->x0; b->x0 < part->x1; b->x0 = b->x1) {
    b->x1 = MIN (b->x0 + columns, part->x1);
    tiles_update (tiles, r->kernel, b);
    for (b->y0 = part->y0; b->y0 < part->y1; b->y0 = b->y1) {
      b->y1 = MIN (b->y0 + rows, part->y1);
      for (gint i = 0; i < n; i++)
        sum_lines (r, &vectors[i], tiles);
    }
  }
}

/* @sums: where float_finish () finds them. */
static void
set_following (Row *r, gfloat *sums)
{
  const CpuFloatConvRun *run = r->tile.run;
  r->tile.mr = 1;
  r->tile.channels = CPU_LANES;
  r->tile.slopes = NULL;
  r->is_plain = float_is_plain (&r->tile);
  r->out = r->is_plain ? float_out_plain (&r->tile) : float_out_to (sums, 0);
  r->is_simple = r->is_plain && run->residual == NULL && run->slopes == NULL && !r->out.hard_swish;
}

gboolean
CPU_NAME (cpu_float_lines) (Strip *s, const CpuConvPart *part)
{
  gfloat sums[8 * CPU_LANES] __attribute__ ((aligned (64)));
  const CpuConv *c = s->conv;
  const CpuFloatConvRun *run = s->tile.run;
  const Kernel *k = find_kernel (c);
  Block b = { .conv = c, .end = s->end };
  Row r = { .kernel = k, .block = &b, .tile = s->tile };
  gint panels = c->block > 0 ? 1 : GROUP / CPU_FLOAT_STRIP;
  Tiles tiles;
  if (k == NULL || run->wide.conv != NULL)
    return FALSE;
  tiles.x0 = tiles.x1 = 0; /* of no columns yet */
  set_following (&r, sums);
  s->wide = (CpuFloatWide){ c, 1, run->weights, run->bias, run->slopes };
  for (gint p = part->panel0; p < part->panel1; p += panels) {
    Vector vectors[GROUP];
    gint n = list_vectors (k, s, part, p, MIN (p + panels, part->panel1), vectors);
    run_vectors (&r, &tiles, vectors, n, part);
  }
  return TRUE;
}
