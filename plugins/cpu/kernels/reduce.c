/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reduce* of row-major f32 over the last dimensions. */
#include "kernels.h"
#include "../cpuisa.h"
#include "../cpupool.h"

#include <math.h>

#define PARALLEL 16384

/* What follows the loop over a row. */
typedef enum { AS_IS, MEAN, ROOT } Then;

typedef struct {
  gint loop; /* CPU_REDUCE_ */
  Then then;
} Reduction;

typedef struct {
  gint64 rows, n;
  CpuReduceFunc func;
  Then then;
} ReducePlan;

/* Of one run. */
typedef struct {
  const ReducePlan *plan;
  const gfloat *x;
  gfloat *y;
} ReduceRun;

static void
reduce_rows (gpointer data, gint64 first, gint64 end)
{
  const ReduceRun *run = data;
  const ReducePlan *p = run->plan;
  for (gint64 r = first; r < end; r++) {
    gfloat v = p->func (run->x + r * p->n, p->n);
    run->y[r] = p->then == MEAN ? v / (gfloat)p->n : p->then == ROOT ? sqrtf (v) : v;
  }
}

static void
run_reduce (const CpuStep *step, const CpuInstance *instance)
{
  const ReducePlan *p = step->data;
  ReduceRun run = { p, cpu_tensor_data (instance, step->in[0]),
                    cpu_tensor_data (instance, step->out[0]) };
  cpu_parallel_ranges (p->rows, PARALLEL / MAX (p->n, 1) + 1, reduce_rows, &run);
}

/* The number of last dimensions that are reduced; 0 where others are too. */
static gint
trailing_axes (const AxonNode *node, const AxonShape *x)
{
  gint64 axes[AXON_MAX_RANK];
  gboolean marks[AXON_MAX_RANK] = { 0 };
  guint n;
  gint first;
  if (!cpu_node_axes (node, axes, &n))
    return 0;
  for (guint i = 0; i < n; i++)
    marks[axes[i] < 0 ? axes[i] + x->rank : axes[i]] = TRUE;
  if (n == 0)
    return axon_node_get_int (node, "noop_with_empty_axes") ? 0 : x->rank;
  for (first = x->rank; first > 0 && marks[first - 1]; first--)
    ;
  for (gint d = 0; d < first; d++)
    if (marks[d])
      return 0;
  return x->rank - first;
}

static gboolean
build_reduce (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  const Reduction *reduction = plan->row->data;
  ReducePlan p = { 1, 1, cpu_isa_get ()->vector->reduce->row[reduction->loop], reduction->then };
  gint last = trailing_axes (node, x);
  CpuTensor *src, *dst;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 || last == 0 || axon_shape_get_numel (x) == 0)
    return FALSE;
  for (gint d = 0; d < x->rank; d++)
    *(d < x->rank - last ? &p.rows : &p.n) *= x->dims[d];
  src = cpu_plan_input_as (plan, node, 0, NULL);
  dst = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run_reduce, g_memdup2 (&p, sizeof p), g_free, "own", &src, 1, &dst, 1);
  return TRUE;
}

const CpuKernel cpu_reduce_kernels[] = {
  { .name = "ReduceMean",
    .impl = "own",
    .build = build_reduce,
    .data = &(const Reduction){ CPU_REDUCE_SUM, MEAN } },
  { .name = "ReduceSum",
    .impl = "own",
    .build = build_reduce,
    .data = &(const Reduction){ CPU_REDUCE_SUM, AS_IS } },
  { .name = "ReduceMax",
    .impl = "own",
    .build = build_reduce,
    .data = &(const Reduction){ CPU_REDUCE_MAX, AS_IS } },
  { .name = "ReduceMin",
    .impl = "own",
    .build = build_reduce,
    .data = &(const Reduction){ CPU_REDUCE_MIN, AS_IS } },
  { .name = "ReduceL1",
    .impl = "own",
    .build = build_reduce,
    .data = &(const Reduction){ CPU_REDUCE_ABS, AS_IS } },
  { .name = "ReduceL2",
    .impl = "own",
    .build = build_reduce,
    .data = &(const Reduction){ CPU_REDUCE_SQUARE, ROOT } },
  { .name = "ReduceSumSquare",
    .impl = "own",
    .build = build_reduce,
    .data = &(const Reduction){ CPU_REDUCE_SQUARE, AS_IS } },
  { 0 },
};
