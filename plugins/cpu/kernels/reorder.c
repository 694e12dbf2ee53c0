/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies from one layout to another. Ours are those of a few channels: pixels whose channels come
 * side by side (a picture that becomes channels last), and elements a few apart that follow each
 * other then (the other way round, or every second channel after a shuffle). oneDNN has the others.
 */
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"
#include "../cpupool.h"

#define SHORT 16       /* elements of a row */
#define FARTHEST 8     /* elements from one to the next */
#define MOST_STREAMS 4 /* channels that come side by side */
#define PART 16384     /* elements that are worth a thread */

typedef struct {
  CpuRows rows;
  CpuTakeFunc take;
  CpuInterleaveFunc interleave;
  gsize size;           /* bytes of an element */
  gint64 outer, pixels; /* interleaved: @outer times so many, of so many streams, @step apart */
  gint64 streams, step;
} Reorder;

/* Of one run. */
typedef struct {
  const Reorder *plan;
  guint8 *y;
  const guint8 *x;
  gint64 parts; /* of a plane of pixels */
} Run;

static void
take_row (gpointer data, const gint64 *at, const gint64 *step, gint64 n)
{
  const Run *run = data;
  gsize size = run->plan->size;
  run->plan->take (run->y + (gsize)at[0] * size, run->x + (gsize)at[1] * size, step[1], n);
}

static void
run_spaced (const CpuStep *step, const CpuInstance *instance)
{
  const Reorder *r = step->data;
  Run run = { r, cpu_tensor_data (instance, step->out[0]), cpu_tensor_data (instance, step->in[0]),
              0 };
  cpu_rows_run (&r->rows, take_row, &run);
}

/* Where set @index of the outer dimensions begins. */
static void
find_set (const CpuRows *rows, gint64 index, gint64 *at)
{
  at[0] = at[1] = 0;
  for (gint d = rows->rank - 3; d >= 0; d--) {
    gint64 i = index % rows->dims[d];
    index /= rows->dims[d];
    for (guint k = 0; k < 2; k++)
      at[k] += i * rows->strides[k][d];
  }
}

static void
interleave_parts (gpointer data, gint64 first, gint64 end)
{
  const Run *run = data;
  const Reorder *r = run->plan;
  for (gint64 i = first; i < end; i++) {
    gint64 at[2], part = (r->pixels + run->parts - 1) / run->parts;
    gint64 from = i % run->parts * part, n = MIN (part, r->pixels - from);
    find_set (&r->rows, i / run->parts, at);
    if (n > 0)
      r->interleave (run->y + (gsize)(at[0] + from * r->streams) * r->size,
                     run->x + (gsize)(at[1] + from) * r->size, r->streams, r->step, n);
  }
}

static void
run_interleaved (const CpuStep *step, const CpuInstance *instance)
{
  const Reorder *r = step->data;
  gint64 elements = r->pixels * r->streams;
  Run run = { r, cpu_tensor_data (instance, step->out[0]), cpu_tensor_data (instance, step->in[0]),
              (elements + PART - 1) / PART };
  cpu_parallel_ranges (r->outer * run.parts, PART / elements + 1, interleave_parts, &run);
}

/* Dimensions as they lie in the result; FALSE where bytes or layouts are not ours. */
static gboolean
reorder_init (Reorder *r, const CpuTensor *from, const CpuTensor *to)
{
  const CpuMove *loops = cpu_isa_get ()->vector->move;
  gint64 strides[2][AXON_MAX_RANK];
  *r = (Reorder){ .size = axon_dtype_get_size (from->dtype) };
  if (from->dtype != to->dtype || r->size >= G_N_ELEMENTS (loops->take) ||
      loops->take[r->size] == NULL || !cpu_md_get_strides (to->md, &to->shape, strides[0]) ||
      !cpu_md_get_strides (from->md, &from->shape, strides[1]))
    return FALSE;
  r->take = loops->take[r->size];
  r->interleave = loops->interleave[r->size];
  cpu_rows_init_any (&r->rows, &to->shape, (const gint64 (*)[AXON_MAX_RANK])strides, 2);
  return r->rows.strides[0][r->rows.rank - 1] == 1;
}

static gboolean
is_spaced (const Reorder *r)
{
  gint64 step = r->rows.strides[1][r->rows.rank - 1];
  return r->rows.n >= SHORT && step > 1 && step <= FARTHEST;
}

static gboolean
is_interleaved (Reorder *r)
{
  gint last = r->rows.rank - 1;
  if (last < 1 || r->rows.n < 2 || r->rows.n > MOST_STREAMS ||
      r->rows.strides[0][last - 1] != r->rows.n || r->rows.strides[1][last - 1] != 1 ||
      r->rows.dims[last - 1] < SHORT)
    return FALSE;
  r->streams = r->rows.n;
  r->step = r->rows.strides[1][last];
  r->pixels = r->rows.dims[last - 1];
  r->outer = r->rows.rows / r->pixels;
  return TRUE;
}

void
cpu_add_reorder (CpuPlan *plan, CpuTensor *from, CpuTensor *to)
{
  Reorder r;
  CpuStepFunc run = NULL;
  if (reorder_init (&r, from, to))
    run = is_spaced (&r) ? run_spaced : is_interleaved (&r) ? run_interleaved : NULL;
  if (run != NULL)
    cpu_plan_add_step (plan, run, g_memdup2 (&r, sizeof r), g_free, "own", &from, 1, &to, 1);
  else
    cpu_dnn_add_reorder (plan, from, to);
}
