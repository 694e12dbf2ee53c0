/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CumSum of row-major f32: some neighbouring lines together, summed in double precision. */
#include "kernels.h"
#include "../cpupool.h"

#define PARALLEL 16384
#define TOGETHER 64 /* lines */

typedef struct {
  gint64 n, inner, blocks; /* blocks of neighbouring lines */
  gboolean reverse, exclusive;
} Scan;

typedef struct {
  const Scan *plan;
  const gfloat *x;
  gfloat *y;
} ScanRun;

static void
scan_block (const Scan *s, const gfloat *x, gfloat *y, gint64 lines)
{
  gdouble sum[TOGETHER] = { 0 };
  for (gint64 k = 0; k < s->n; k++) {
    gint64 at = (s->reverse ? s->n - 1 - k : k) * s->inner;
    for (gint64 i = 0; s->exclusive && i < lines; i++)
      y[at + i] = (gfloat)sum[i];
    for (gint64 i = 0; i < lines; i++)
      sum[i] += (gdouble)x[at + i];
    for (gint64 i = 0; !s->exclusive && i < lines; i++)
      y[at + i] = (gfloat)sum[i];
  }
}

static void
scan_blocks (gpointer data, gint64 first, gint64 end)
{
  const ScanRun *run = data;
  const Scan *s = run->plan;
  for (gint64 b = first; b < end; b++) {
    gint64 line = b % s->blocks * TOGETHER, at = b / s->blocks * s->n * s->inner + line;
    scan_block (s, run->x + at, run->y + at, MIN (TOGETHER, s->inner - line));
  }
}

static void
run_scan (const CpuStep *step, const CpuInstance *instance)
{
  const Scan *s = step->data;
  ScanRun run = { s, cpu_tensor_data (instance, step->in[0]),
                  cpu_tensor_data (instance, step->out[0]) };
  gint64 outer = axon_shape_get_numel (&step->in[0]->shape) / (s->n * s->inner);
  cpu_parallel_ranges (outer * s->blocks, PARALLEL / (s->n * MIN (TOGETHER, s->inner)) + 1,
                       scan_blocks, &run);
}

static gboolean
build_scan (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  const AxonTensor *axes = cpu_node_constant (node, 1);
  Scan s = { .inner = 1,
             .reverse = axon_node_get_int (node, "reverse") != 0,
             .exclusive = axon_node_get_int (node, "exclusive") != 0 };
  CpuTensor *src, *dst;
  gint64 axis;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 || axes == NULL ||
      axon_tensor_get_numel (axes) != 1 || axon_shape_get_numel (x) < 1 || x->rank < 1)
    return FALSE;
  axis = axon_dtype_load_int (axon_tensor_get_dtype (axes), axon_tensor_get_data (axes), 0);
  axis += axis < 0 ? x->rank : 0;
  s.n = x->dims[axis];
  for (gint d = (gint)axis + 1; d < x->rank; d++)
    s.inner *= x->dims[d];
  s.blocks = (s.inner + TOGETHER - 1) / TOGETHER;
  src = cpu_plan_input_as (plan, node, 0, NULL);
  dst = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run_scan, g_memdup2 (&s, sizeof s), g_free, "own", &src, 1, &dst, 1);
  return TRUE;
}

const CpuKernel cpu_cumulative_kernels[] = {
  { .name = "CumSum", .impl = "own", .build = build_scan },
  { 0 },
};
