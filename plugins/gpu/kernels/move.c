/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements from one place to another, by one kernel or as a copy. */
#include "kernels.h"

typedef struct {
  gint rank;
  gint64 dims[2 * AXON_MAX_RANK], xs[2 * AXON_MAX_RANK], ys[2 * AXON_MAX_RANK];
} Move;

/* Axes of one element go, and axes that follow each other in both become one. */
static void
simplify (Move *m, gint rank, const gint64 *dims, const gint64 *xs, const gint64 *ys)
{
  m->rank = 0;
  for (gint d = 0; d < rank; d++) {
    gint last = m->rank - 1;
    if (dims[d] == 1)
      continue;
    if (last >= 0 && m->xs[last] == dims[d] * xs[d] && m->ys[last] == dims[d] * ys[d]) {
      m->dims[last] *= dims[d];
      m->xs[last] = xs[d];
      m->ys[last] = ys[d];
      continue;
    }
    m->dims[m->rank] = dims[d];
    m->xs[m->rank] = xs[d];
    m->ys[m->rank++] = ys[d];
  }
}

static GpuStep *
add_move (GpuPlan *plan, const GpuTensor *from, gint64 x0, const GpuTensor *to, gint64 y0, gint64 n,
          const Move *m)
{
  const gchar *type = gpu_size_type (from->dtype);
  const gchar *const words[] = { "S", type, NULL };
  g_autofree gchar *name = g_strdup_printf ("move_%s", type);
  GpuMoveParams params = { .rank = m->rank, .from = gpu_int (x0), .to = gpu_int (y0) };
  GpuStep *step;
  gpu_ints (m->dims, m->rank, params.size);
  gpu_ints (m->xs, m->rank, params.x_step);
  gpu_ints (m->ys, m->rank, params.y_step);
  gpu_plan_template (plan, name, "move", words);
  step = gpu_plan_step (plan, name, GPU_PARAMS_OF (plan, params), n, 1, 1);
  gpu_step_read (plan, step, from);
  gpu_step_write (plan, step, to);
  return step;
}

void
gpu_copy (GpuPlan *plan, const GpuTensor *from, const GpuTensor *to)
{
  gint64 n = axon_shape_get_numel (&to->shape);
  const Move all = { .rank = 1, .dims = { n }, .xs = { 1 }, .ys = { 1 } };
  add_move (plan, from, 0, to, 0, n, &all);
}

void
gpu_move (GpuPlan *plan, const GpuTensor *from, gint64 x0, const GpuTensor *to, gint64 y0,
          gint rank, const gint64 *dims, const gint64 *xs, const gint64 *ys)
{
  gint64 n = 1;
  GpuStep *step;
  Move m;
  for (gint d = 0; d < rank; d++)
    n *= dims[d];
  simplify (&m, rank, dims, xs, ys);
  step = add_move (plan, from, x0, to, y0, n, &m);
  if (m.rank == 0 || (m.rank == 1 && m.xs[0] == 1 && m.ys[0] == 1)) {
    gsize size = axon_dtype_get_size (from->dtype);
    step->copy_from = from->buffer;
    step->copy_to = to->buffer;
    step->copy_from_offset = (gsize)x0 * size;
    step->copy_to_offset = (gsize)y0 * size;
    step->copy_bytes = (gsize)n * size;
  }
}
