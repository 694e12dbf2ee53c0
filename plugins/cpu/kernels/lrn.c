/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LRN of f32 in the order of its source. */
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

/* Elements that are worth a thread; places of a channel at a time, so that its neighbours are read
 * from the cache. */
#define PARALLEL 4096
#define CHUNK 1024

typedef struct {
  CpuLines lines;
  CpuLrnPlan how;
  const CpuLrn *loops;
} LrnPlan;

/* Of one run. */
typedef struct {
  const LrnPlan *plan;
  const gfloat *x;
  gfloat *y;
} LrnRun;

static void
lrn_rows (gpointer data, gint64 first, gint64 end)
{
  const LrnRun *run = data;
  const LrnPlan *p = run->plan;
  gint64 n = p->lines.n;
  p->loops->rows (run->y + first * n, run->x + first * n, end - first, n, &p->how);
}

/* All channels of a chunk, one after the other. */
static void
lrn_chunks (gpointer data, gint64 first, gint64 end)
{
  const LrnRun *run = data;
  const LrnPlan *p = run->plan;
  const CpuLines *l = &p->lines;
  gint64 chunks = (l->inner + CHUNK - 1) / CHUNK;
  for (gint64 i = first; i < end; i++) {
    gint64 from = i % chunks * CHUNK, at = i / chunks * l->n * l->inner + from;
    for (gint64 c = 0; c < l->n; c++, at += l->inner)
      p->loops->plane (run->y + at, run->x + at, MIN (CHUNK, l->inner - from), l->inner,
                       -MIN (c, p->how.before), MIN (l->n - 1 - c, p->how.after), &p->how);
  }
}

static void
run_lrn (const CpuStep *step, const CpuInstance *instance)
{
  const LrnPlan *p = step->data;
  const CpuLines *l = &p->lines;
  LrnRun run = { p, cpu_tensor_data (instance, step->in[0]),
                 cpu_tensor_data (instance, step->out[0]) };
  if (l->inner == 1)
    cpu_parallel_ranges (l->outer, PARALLEL / l->n + 1, lrn_rows, &run);
  else
    cpu_parallel_ranges (l->outer * ((l->inner + CHUNK - 1) / CHUNK),
                         PARALLEL / l->n / MIN (CHUNK, l->inner) + 1, lrn_chunks, &run);
}

static gboolean
build_lrn (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *shape = &node->inputs[0]->type.shape;
  gint64 size = axon_node_get_int (node, "size");
  LrnPlan p = { .how = { .before = (size - 1) / 2,
                         .after = size - 1 - (size - 1) / 2,
                         .alpha = (gfloat)(axon_node_get_float (node, "alpha") / (gdouble)size),
                         .beta = (gfloat)axon_node_get_float (node, "beta"),
                         .bias = (gfloat)axon_node_get_float (node, "bias") },
                .loops = cpu_isa_get ()->vector->lrn };
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *x, *y;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 || axon_shape_get_numel (shape) == 0 ||
      p.how.after > CPU_LRN_MOST)
    return FALSE;
  x = cpu_dense_input (plan, node, 0, AXON_DTYPE_F32, &md);
  cpu_lines_init (&p.lines, x, 1);
  y = cpu_plan_output (plan, node, 0, md);
  cpu_plan_add_step (plan, run_lrn, g_memdup2 (&p, sizeof p), g_free, "own", &x, 1, &y, 1);
  return TRUE;
}

const CpuKernel cpu_lrn_kernels[] = {
  { .name = "LRN", .impl = "own", .build = build_lrn },
  { 0 },
};
