/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What convolutions and products of XNNPACK ask of pthreadpool, answered by the stream's own
 * threads. They are given no pool, with which pthreadpool itself works on the calling thread alone:
 * so do its functions that are not here, and all of them where the program itself brought it in.
 * Else the loader looks them up in the module first that brought XNNPACK in, this one; then calls
 * of others in the process come here, too, and run on the thread that they come from. */
#include "../cpupool.h"

#include <pthreadpool.h>

#define ENTRY __attribute__ ((visibility ("default")))
#define DIMS 4

typedef struct _Grid Grid;

/* Calls the function for the tile of @n elements that begins with @at. */
typedef void (*TileFunc) (const Grid *grid, const gsize *at, const gsize *n);

struct _Grid {
  TileFunc call;
  union {
    pthreadpool_task_1d_tile_1d_t line;
    pthreadpool_task_2d_t points;
    pthreadpool_task_2d_tile_2d_t two;
    pthreadpool_task_3d_tile_2d_t three;
    pthreadpool_task_4d_tile_2d_t four;
    pthreadpool_task_2d_tile_2d_with_id_t two_with_id;
    pthreadpool_task_3d_tile_2d_with_id_t three_with_id;
    pthreadpool_task_4d_tile_2d_with_id_t four_with_id;
  } func;
  gpointer context;
  guint32 id; /* of the kind of core that a kernel is for */
  gsize range[DIMS], tile[DIMS], tiles[DIMS];
};

static void
run_tile (const Grid *g, gsize index)
{
  gsize at[DIMS], n[DIMS], left = index;
  for (gint d = DIMS - 1; d >= 0; d--) {
    at[d] = left % g->tiles[d] * g->tile[d];
    n[d] = MIN (g->tile[d], g->range[d] - at[d]);
    left /= g->tiles[d];
  }
  g->call (g, at, n);
}

static void
run_tiles (gpointer data, gint64 first, gint64 end)
{
  for (gint64 i = first; i < end; i++)
    run_tile (data, (gsize)i);
}

/* Tiles are a few pixels: a part is many of them, side by side. */
static void
run (Grid *g)
{
  gsize all = 1;
  for (guint d = 0; d < DIMS; d++) {
    g->tiles[d] = (g->range[d] + g->tile[d] - 1) / g->tile[d];
    all *= g->tiles[d];
  }
  cpu_parallel_ranges ((gint64)all, 1, run_tiles, g);
}

static void
call_line (const Grid *g, const gsize *at, const gsize *n)
{
  g->func.line (g->context, at[3], n[3]);
}

static void
call_points (const Grid *g, const gsize *at, G_GNUC_UNUSED const gsize *n)
{
  g->func.points (g->context, at[2], at[3]);
}

static void
call_two (const Grid *g, const gsize *at, const gsize *n)
{
  g->func.two (g->context, at[2], at[3], n[2], n[3]);
}

static void
call_three (const Grid *g, const gsize *at, const gsize *n)
{
  g->func.three (g->context, at[1], at[2], at[3], n[2], n[3]);
}

static void
call_four (const Grid *g, const gsize *at, const gsize *n)
{
  g->func.four (g->context, at[0], at[1], at[2], at[3], n[2], n[3]);
}

static void
call_two_with_id (const Grid *g, const gsize *at, const gsize *n)
{
  g->func.two_with_id (g->context, g->id, at[2], at[3], n[2], n[3]);
}

static void
call_three_with_id (const Grid *g, const gsize *at, const gsize *n)
{
  g->func.three_with_id (g->context, g->id, at[1], at[2], at[3], n[2], n[3]);
}

static void
call_four_with_id (const Grid *g, const gsize *at, const gsize *n)
{
  g->func.four_with_id (g->context, g->id, at[0], at[1], at[2], at[3], n[2], n[3]);
}

ENTRY size_t
pthreadpool_get_threads_count (G_GNUC_UNUSED pthreadpool_t pool)
{
  return cpu_parallel_width ();
}

ENTRY void
pthreadpool_parallelize_1d_tile_1d (G_GNUC_UNUSED pthreadpool_t pool,
                                    pthreadpool_task_1d_tile_1d_t func, void *context, size_t i,
                                    size_t tile, G_GNUC_UNUSED uint32_t flags)
{
  run (&(Grid){ call_line, { .line = func }, context, 0, { 1, 1, 1, i }, { 1, 1, 1, tile } });
}

ENTRY void
pthreadpool_parallelize_2d (G_GNUC_UNUSED pthreadpool_t pool, pthreadpool_task_2d_t func,
                            void *context, size_t i, size_t j, G_GNUC_UNUSED uint32_t flags)
{
  run (&(Grid){ call_points, { .points = func }, context, 0, { 1, 1, i, j }, { 1, 1, 1, 1 } });
}

ENTRY void
pthreadpool_parallelize_2d_tile_2d (G_GNUC_UNUSED pthreadpool_t pool,
                                    pthreadpool_task_2d_tile_2d_t func, void *context, size_t i,
                                    size_t j, size_t tile_i, size_t tile_j,
                                    G_GNUC_UNUSED uint32_t flags)
{
  run (&(Grid){ call_two, { .two = func }, context, 0, { 1, 1, i, j }, { 1, 1, tile_i, tile_j } });
}

ENTRY void
pthreadpool_parallelize_3d_tile_2d (G_GNUC_UNUSED pthreadpool_t pool,
                                    pthreadpool_task_3d_tile_2d_t func, void *context, size_t i,
                                    size_t j, size_t k, size_t tile_j, size_t tile_k,
                                    G_GNUC_UNUSED uint32_t flags)
{
  run (&(Grid){
      call_three, { .three = func }, context, 0, { 1, i, j, k }, { 1, 1, tile_j, tile_k } });
}

ENTRY void
pthreadpool_parallelize_4d_tile_2d (G_GNUC_UNUSED pthreadpool_t pool,
                                    pthreadpool_task_4d_tile_2d_t func, void *context, size_t i,
                                    size_t j, size_t k, size_t l, size_t tile_k, size_t tile_l,
                                    G_GNUC_UNUSED uint32_t flags)
{
  run (
      &(Grid){ call_four, { .four = func }, context, 0, { i, j, k, l }, { 1, 1, tile_k, tile_l } });
}

/* On every core the kernel for those whose kind is the first: all kernels run on all of them. */
ENTRY void
pthreadpool_parallelize_2d_tile_2d_with_uarch (G_GNUC_UNUSED pthreadpool_t pool,
                                               pthreadpool_task_2d_tile_2d_with_id_t func,
                                               void *context, uint32_t id,
                                               G_GNUC_UNUSED uint32_t last_id, size_t i, size_t j,
                                               size_t tile_i, size_t tile_j,
                                               G_GNUC_UNUSED uint32_t flags)
{
  run (&(Grid){ call_two_with_id,
                { .two_with_id = func },
                context,
                id,
                { 1, 1, i, j },
                { 1, 1, tile_i, tile_j } });
}

ENTRY void
pthreadpool_parallelize_3d_tile_2d_with_uarch (G_GNUC_UNUSED pthreadpool_t pool,
                                               pthreadpool_task_3d_tile_2d_with_id_t func,
                                               void *context, uint32_t id,
                                               G_GNUC_UNUSED uint32_t last_id, size_t i, size_t j,
                                               size_t k, size_t tile_j, size_t tile_k,
                                               G_GNUC_UNUSED uint32_t flags)
{
  run (&(Grid){ call_three_with_id,
                { .three_with_id = func },
                context,
                id,
                { 1, i, j, k },
                { 1, 1, tile_j, tile_k } });
}

ENTRY void
pthreadpool_parallelize_4d_tile_2d_with_uarch (G_GNUC_UNUSED pthreadpool_t pool,
                                               pthreadpool_task_4d_tile_2d_with_id_t func,
                                               void *context, uint32_t id,
                                               G_GNUC_UNUSED uint32_t last_id, size_t i, size_t j,
                                               size_t k, size_t l, size_t tile_k, size_t tile_l,
                                               G_GNUC_UNUSED uint32_t flags)
{
  run (&(Grid){ call_four_with_id,
                { .four_with_id = func },
                context,
                id,
                { i, j, k, l },
                { 1, 1, tile_k, tile_l } });
}
