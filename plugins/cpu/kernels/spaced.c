/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies of views whose elements are a few apart, as every second channel is after a shuffle of
 * channels that lie last. */
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"

#define SHORT 16   /* elements of a row */
#define FARTHEST 8 /* elements from one to the next */

typedef struct {
  CpuRows rows;
  CpuTakeFunc take;
  gsize size; /* bytes of an element */
} Spaced;

/* Of one run. */
typedef struct {
  const Spaced *plan;
  guint8 *y;
  const guint8 *x;
} SpacedRun;

static void
take_row (gpointer data, const gint64 *at, const gint64 *step, gint64 n)
{
  const SpacedRun *run = data;
  gsize size = run->plan->size;
  run->plan->take (run->y + (gsize)at[0] * size, run->x + (gsize)at[1] * size, step[1], n);
}

static void
run_spaced (const CpuStep *step, const CpuInstance *instance)
{
  const Spaced *s = step->data;
  SpacedRun run = { s, cpu_tensor_data (instance, step->out[0]),
                    cpu_tensor_data (instance, step->in[0]) };
  cpu_rows_run (&s->rows, take_row, &run);
}

gboolean
cpu_add_spaced_copy (CpuPlan *plan, CpuTensor *from, CpuTensor *to)
{
  const CpuMove *loops = cpu_isa_get ()->vector->move;
  gint64 strides[2][AXON_MAX_RANK];
  Spaced s = { .size = axon_dtype_get_size (from->dtype) };
  gint last;
  if (from->dtype != to->dtype || s.size >= G_N_ELEMENTS (loops->take) ||
      loops->take[s.size] == NULL || !cpu_md_get_strides (to->md, &to->shape, strides[0]) ||
      !cpu_md_get_strides (from->md, &from->shape, strides[1]))
    return FALSE;
  s.take = loops->take[s.size];
  cpu_rows_init_any (&s.rows, &to->shape, (const gint64 (*)[AXON_MAX_RANK])strides, 2);
  last = s.rows.rank - 1;
  if (s.rows.n < SHORT || s.rows.strides[0][last] != 1 || s.rows.strides[1][last] < 2 ||
      s.rows.strides[1][last] > FARTHEST)
    return FALSE;
  cpu_plan_add_step (plan, run_spaced, g_memdup2 (&s, sizeof s), g_free, "own", &from, 1, &to, 1);
  return TRUE;
}
