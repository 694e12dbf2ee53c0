/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ArgMax and ArgMin of f32 along any axis, channels last and row-major. */
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

/* Elements that are worth a thread; places at a time. */
#define PARALLEL 16384
#define CHUNK 512

enum { MOST, LEAST };

typedef struct {
  CpuLines lines;
  gfloat sign;   /* -1: ArgMin */
  gboolean last; /* of equal ones the last */
  const CpuReduce *loops;
} ArgPlan;

/* Of one run. */
typedef struct {
  const ArgPlan *plan;
  const gfloat *x;
  gint64 *y;
} ArgRun;

static void
arg_rows (gpointer data, gint64 first, gint64 end)
{
  const ArgRun *run = data;
  const ArgPlan *p = run->plan;
  p->loops->best_of_rows (run->y + first, run->x + first * p->lines.n, end - first, p->lines.n,
                          p->sign, p->last);
}

static void
arg_chunks (gpointer data, gint64 first, gint64 end)
{
  const ArgRun *run = data;
  const ArgPlan *p = run->plan;
  const CpuLines *l = &p->lines;
  gint64 chunks = (l->inner + CHUNK - 1) / CHUNK;
  gfloat best[CHUNK];
  gint32 at[CHUNK];
  for (gint64 i = first; i < end; i++) {
    gint64 from = i % chunks * CHUNK, n = MIN (CHUNK, l->inner - from);
    const gfloat *x = run->x + i / chunks * l->n * l->inner + from;
    gint64 *y = run->y + i / chunks * l->inner + from;
    for (gint64 k = 0; k < n; k++) {
      best[k] = x[k] * p->sign;
      at[k] = 0;
    }
    for (gint64 k = 1; k < l->n; k++)
      p->loops->keep_best (best, at, x + k * l->inner, n, (gint32)k, p->sign, p->last);
    for (gint64 k = 0; k < n; k++)
      y[k] = at[k];
  }
}

static void
run_arg (const CpuStep *step, const CpuInstance *instance)
{
  const ArgPlan *p = step->data;
  const CpuLines *l = &p->lines;
  ArgRun run = { p, cpu_tensor_data (instance, step->in[0]),
                 cpu_tensor_data (instance, step->out[0]) };
  if (l->inner == 1)
    cpu_parallel_ranges (l->outer, PARALLEL / l->n + 1, arg_rows, &run);
  else
    cpu_parallel_ranges (l->outer * ((l->inner + CHUNK - 1) / CHUNK), PARALLEL / l->n / CHUNK + 1,
                         arg_chunks, &run);
}

static gboolean
build_arg (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  ArgPlan p = { .sign = plan->row->kind == LEAST ? -1 : 1,
                .last = axon_node_get_int (node, "select_last_index") != 0,
                .loops = cpu_isa_get ()->vector->reduce };
  CpuTensor *x, *y;
  gboolean last;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 ||
      (x = cpu_axis_input (plan, node, &p.lines, &last)) == NULL || p.lines.n > G_MAXINT32)
    return FALSE;
  if (last)
    p.lines = (CpuLines){ p.lines.outer * p.lines.inner, p.lines.n, 1 };
  y = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run_arg, g_memdup2 (&p, sizeof p), g_free, "own", &x, 1, &y, 1);
  return TRUE;
}

const CpuKernel cpu_arg_kernels[] = {
  { .name = "ArgMax", .impl = "own", .build = build_arg, .kind = MOST },
  { .name = "ArgMin", .impl = "own", .build = build_arg, .kind = LEAST },
  { 0 },
};
