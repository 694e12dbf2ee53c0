/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies from one layout to another: runs that stay together (heads of an attention, anchors of a
 * detector), pixels whose few channels are put side by side (a picture that becomes channels last),
 * elements a few apart that follow each other then (the other way round, or every second channel
 * after a shuffle), and words of many channels, either way, the same into blocks of channels and
 * out of them where they are few. oneDNN has the others. */
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"
#include "../cpupool.h"

#include <string.h>

#define FAMILY "reorder"
#define SHORT 16       /* elements of a row, bytes of a run */
#define FARTHEST 8     /* elements from one to the next */
#define MOST_STREAMS 4 /* channels that come side by side */
#define SQUARE 4       /* words by as many that are turned together; of bytes 4 times as many */
#define PART 16384     /* elements that are worth a thread */
#define FEW 4096       /* elements that are copied while oneDNN begins */
#define BLOCK 64       /* parts of a dimension have so many elements, or a multiple */

typedef enum { NONE, RUNS, SPACED, INTERLEAVED, TURNED } Kind;

/* Dimensions as they lie in the result, whose last has no gaps. */
typedef struct {
  CpuRows rows;
  gint other; /* the dimension that has no gaps in the source */
  gint split; /* of both the one that is cut into parts */
  gint64 part;
  const CpuMove *move;
  gsize size; /* bytes of an element */
} Reorder;

/* Of one run. */
typedef struct {
  const Reorder *plan;
  guint8 *y;
  const guint8 *x;
} Run;

static Run
begin (const CpuStep *step, const CpuInstance *instance)
{
  return (Run){ step->data, cpu_tensor_data (instance, step->out[0]),
                cpu_tensor_data (instance, step->in[0]) };
}

static void
copy_runs (gpointer data, const gint64 *at, G_GNUC_UNUSED const gint64 *step, gint64 n,
           const gint64 *next, gint64 count)
{
  const Run *run = data;
  const Reorder *r = run->plan;
  gsize size = r->size;
  r->move->copy_runs (run->y + (gsize)at[0] * size, (gsize)next[0] * size,
                      run->x + (gsize)at[1] * size, (gsize)next[1] * size, (gsize)n * size, count);
}

static void
run_runs (const CpuStep *step, const CpuInstance *instance)
{
  Run run = begin (step, instance);
  cpu_rows_run_blocks (&run.plan->rows, copy_runs, &run);
}

static void
take_row (gpointer data, const gint64 *at, const gint64 *step, gint64 n)
{
  const Run *run = data;
  const Reorder *r = run->plan;
  r->move->take[r->size](run->y + (gsize)at[0] * r->size, run->x + (gsize)at[1] * r->size, step[1],
                         n);
}

static void
run_spaced (const CpuStep *step, const CpuInstance *instance)
{
  Run run = begin (step, instance);
  cpu_rows_run (&run.plan->rows, take_row, &run);
}

/* Where set @index of both dimensions begins. */
static void
find_set (const Reorder *r, gint64 index, gint64 *at)
{
  at[0] = at[1] = 0;
  for (gint d = r->rows.rank - 2; d >= 0; d--) {
    if (d == r->other)
      continue;
    for (guint k = 0; k < 2; k++)
      at[k] += index % r->rows.dims[d] * r->rows.strides[k][d];
    index /= r->rows.dims[d];
  }
}

static gint64
count_parts (const Reorder *r)
{
  return (r->rows.dims[r->split] + r->part - 1) / r->part;
}

static void
run_parts (gpointer data, gint64 first, gint64 end)
{
  const Run *run = data;
  const Reorder *r = run->plan;
  gint last = r->rows.rank - 1;
  gint64 parts = count_parts (r), step = r->rows.strides[1][last];
  for (gint64 i = first; i < end; i++) {
    gint64 at[2], from = i % parts * r->part, n = MIN (r->part, r->rows.dims[r->split] - from);
    guint8 *y;
    const guint8 *x;
    find_set (r, i / parts, at);
    y = run->y + (gsize)(at[0] + from * r->rows.strides[0][r->split]) * r->size;
    x = run->x + (gsize)(at[1] + from * r->rows.strides[1][r->split]) * r->size;
    if (r->split == last)
      r->move->turn[r->size](y, r->rows.strides[0][r->other], x, step, n, r->rows.dims[r->other]);
    else
      r->move->interleave[r->size](y, x, r->rows.dims[last], step, n);
  }
}

static void
run_split (const CpuStep *step, const CpuInstance *instance)
{
  const Reorder *r = step->data;
  gint64 both = r->rows.dims[r->other] * r->rows.dims[r->rows.rank - 1];
  gint64 sets = r->rows.rows * r->rows.n / both, parts = count_parts (r);
  Run run = begin (step, instance);
  cpu_parallel_ranges (sets * parts, PART / (both / parts + 1) + 1, run_parts, &run);
}

static gint
find_other (const CpuRows *rows)
{
  gint d = rows->rank - 2;
  while (d >= 0 && rows->strides[1][d] != 1)
    d--;
  return d;
}

static void
split (Reorder *r, gint d)
{
  gint64 each = r->rows.dims[d == r->other ? r->rows.rank - 1 : r->other];
  r->split = d;
  r->part = (PART / each / BLOCK + 1) * BLOCK;
}

static Kind
find_kind (Reorder *r)
{
  gint last = r->rows.rank - 1;
  gint64 n = r->rows.dims[last], step = r->rows.strides[1][last], square;
  if (r->rows.strides[0][last] != 1 || step < 1)
    return NONE;
  if (step == 1)
    return (gsize)n * r->size >= SHORT ? RUNS : NONE;
  if (n >= SHORT && step <= FARTHEST)
    return SPACED;
  r->other = find_other (&r->rows);
  if (r->other < 0 || r->rows.dims[r->other] < SQUARE || n < 2)
    return NONE;
  if (n <= MOST_STREAMS && r->other == last - 1 && r->rows.strides[0][r->other] == n) {
    split (r, r->other);
    return INTERLEAVED;
  }
  square = r->size == 1 ? 4 * SQUARE : SQUARE;
  if (r->move->turn[r->size] == NULL || n < square || r->rows.dims[r->other] < square)
    return NONE;
  split (r, last);
  return TURNED;
}

/* Dimensions of @shape where @t has strides, or full blocks of @block channels, which are a
 * dimension of their own behind the other channels. */
static gboolean
find_strides (const CpuTensor *t, const AxonShape *shape, gint64 block, gint64 *strides)
{
  gint64 own[AXON_MAX_RANK], at = 1;
  if (block == 1)
    return cpu_md_get_strides (t->md, &t->shape, strides);
  if (cpu_md_get_strides (t->md, &t->shape, own)) {
    strides[0] = own[0], strides[1] = own[1] * block;
    memcpy (strides + 2, own + 1, (gsize)(t->shape.rank - 1) * sizeof *own);
    return TRUE;
  }
  strides[2] = at, at *= block;
  for (gint d = shape->rank - 1; d >= 0; d--)
    if (d != 2) {
      strides[d] = at;
      at *= shape->dims[d];
    }
  return cpu_md_get_block (t->md, t->dtype, &t->shape) == block;
}

/* Channels of a block, if one of both lies in such; else 1. */
static gint64
find_block (const CpuTensor *from, const CpuTensor *to)
{
  gint64 block = MAX (cpu_md_get_block (from->md, from->dtype, &from->shape),
                      cpu_md_get_block (to->md, to->dtype, &to->shape));
  return MAX (block, 1);
}

static AxonShape
split_channels (const AxonShape *shape, gint64 block)
{
  AxonShape s = *shape;
  if (block == 1)
    return s;
  s.rank++;
  s.dims[1] /= block;
  s.dims[2] = block;
  memcpy (s.dims + 3, shape->dims + 2, (gsize)(shape->rank - 2) * sizeof *s.dims);
  return s;
}

/* NONE where bytes or layouts are not ours. */
static Kind
reorder_init (Reorder *r, const CpuTensor *from, const CpuTensor *to)
{
  gint64 strides[2][AXON_MAX_RANK], block = find_block (from, to);
  AxonShape shape = split_channels (&to->shape, block);
  *r = (Reorder){ .size = axon_dtype_get_size (from->dtype), .move = cpu_isa_get ()->vector->move };
  if (from->dtype != to->dtype || (block > 1 && axon_shape_get_numel (&shape) > FEW) ||
      r->size >= G_N_ELEMENTS (r->move->take) || r->move->take[r->size] == NULL ||
      axon_shape_get_numel (&to->shape) < 1 ||
      axon_shape_get_numel (&shape) < axon_shape_get_numel (&to->shape) ||
      !find_strides (to, &shape, block, strides[0]) ||
      !find_strides (from, &shape, block, strides[1]))
    return NONE;
  cpu_rows_init_any (&r->rows, &shape, (const gint64 (*)[AXON_MAX_RANK])strides, 2);
  return find_kind (r);
}

void
cpu_add_reorder (CpuPlan *plan, CpuTensor *from, CpuTensor *to)
{
  Reorder r;
  static const CpuStepFunc funcs[] = {
    [RUNS] = run_runs, [SPACED] = run_spaced, [INTERLEAVED] = run_split, [TURNED] = run_split
  };
  gboolean left_out = g_strv_contains ((const gchar *const *)plan->disabled, FAMILY);
  Kind kind = left_out ? NONE : reorder_init (&r, from, to);
  if (kind == NONE)
    cpu_dnn_add_reorder (plan, from, to);
  else
    cpu_plan_add_step (plan, funcs[kind], g_memdup2 (&r, sizeof r), g_free, "own", &from, 1, &to,
                       1);
}

/* Of no operator: a name, by which it is left out. */
const CpuKernel cpu_reorder_kernels[] = { { 0 } };
