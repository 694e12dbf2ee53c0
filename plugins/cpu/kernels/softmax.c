/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Softmax and LogSoftmax of f32 along any axis, in any order without gaps. */
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

/* Elements that are worth a thread; places of a plane at a time. */
#define PARALLEL 4096
#define CHUNK 128

typedef struct {
  CpuLines lines;
  CpuSoftmaxKind kind;
  const CpuSoftmax *loops;
} SoftmaxPlan;

/* Of one run. */
typedef struct {
  const SoftmaxPlan *plan;
  const gfloat *x;
  gfloat *y;
} SoftmaxRun;

static void
softmax_rows (gpointer data, gint64 first, gint64 end)
{
  const SoftmaxRun *run = data;
  gint64 n = run->plan->lines.n;
  run->plan->loops->rows[run->plan->kind](run->y + first * n, run->x + first * n, end - first, n);
}

static void
softmax_chunks (gpointer data, gint64 first, gint64 end)
{
  const SoftmaxRun *run = data;
  const CpuLines *l = &run->plan->lines;
  gint64 chunks = (l->inner + CHUNK - 1) / CHUNK;
  for (gint64 i = first; i < end; i++) {
    gint64 from = i % chunks * CHUNK, at = i / chunks * l->n * l->inner + from;
    run->plan->loops->planes[run->plan->kind](run->y + at, run->x + at,
                                              MIN (CHUNK, l->inner - from), l->n, l->inner);
  }
}

static void
run_softmax (const CpuStep *step, const CpuInstance *instance)
{
  const SoftmaxPlan *p = step->data;
  const CpuLines *l = &p->lines;
  SoftmaxRun run = { p, cpu_tensor_data (instance, step->in[0]),
                     cpu_tensor_data (instance, step->out[0]) };
  if (l->inner == 1)
    cpu_parallel_ranges (l->outer, PARALLEL / l->n + 1, softmax_rows, &run);
  else
    cpu_parallel_ranges (l->outer * ((l->inner + CHUNK - 1) / CHUNK), PARALLEL / l->n / CHUNK + 1,
                         softmax_chunks, &run);
}

static gboolean
build_softmax (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  SoftmaxPlan p = { .kind = (CpuSoftmaxKind)plan->row->kind,
                    .loops = cpu_isa_get ()->vector->softmax };
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *x, *y;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32)
    return FALSE;
  x = cpu_lines_input (plan, node, AXON_DTYPE_F32, &p.lines, &md);
  if (x == NULL)
    return FALSE;
  y = cpu_plan_output (plan, node, 0, md);
  cpu_plan_add_step (plan, run_softmax, g_memdup2 (&p, sizeof p), g_free, "own", &x, 1, &y, 1);
  return TRUE;
}

const CpuKernel cpu_softmax_kernels[] = {
  { .name = "Softmax", .impl = "own", .build = build_softmax, .kind = CPU_SOFTMAX },
  { .name = "LogSoftmax", .impl = "own", .build = build_softmax, .kind = CPU_LOG_SOFTMAX },
  { 0 },
};
