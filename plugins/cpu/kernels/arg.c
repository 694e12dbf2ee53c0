/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ArgMax and ArgMin of row-major f32 along any axis. */
#include "kernels.h"
#include "../cpuisa.h"

enum { MOST, LEAST };

typedef struct {
  gint64 outer, n, inner;
  gboolean least, last; /* ArgMin; of equal ones the last */
  const CpuReduce *loops;
} ArgPlan;

static void
run_arg (const CpuStep *step, const CpuInstance *instance)
{
  const ArgPlan *p = step->data;
  const gfloat *x = cpu_tensor_data (instance, step->in[0]);
  gint64 *y = cpu_tensor_data (instance, step->out[0]);
  gfloat *best = cpu_tensor_data (instance, step->out[1]);
  gfloat sign = p->least ? -1 : 1;
  for (gint64 o = 0; o < p->outer; o++, y += p->inner) {
    for (gint64 i = 0; i < p->inner; i++) {
      best[i] = x[o * p->n * p->inner + i] * sign;
      y[i] = 0;
    }
    for (gint64 k = 1; k < p->n; k++)
      p->loops->keep_best (best, y, x + (o * p->n + k) * p->inner, p->inner, k, sign, p->last);
  }
}

static gboolean
build_arg (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  gint axis = (gint)axon_node_get_int (node, "axis");
  ArgPlan p = { 1,
                1,
                1,
                plan->row->kind == LEAST,
                axon_node_get_int (node, "select_last_index") != 0,
                cpu_isa_get ()->vector->reduce };
  CpuTensor *src, *out[2];
  AxonShape row;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 || x->rank < 1 || axon_shape_get_numel (x) == 0)
    return FALSE;
  axis += axis < 0 ? x->rank : 0;
  for (gint d = 0; d < x->rank; d++)
    *(d < axis ? &p.outer : d == axis ? &p.n : &p.inner) *= x->dims[d];
  row = AXON_SHAPE (p.inner);
  src = cpu_plan_input_as (plan, node, 0, NULL);
  out[0] = cpu_plan_output (plan, node, 0, NULL);
  out[1] = cpu_plan_scratch (plan, AXON_DTYPE_F32, &row, NULL);
  cpu_plan_add_step (plan, run_arg, g_memdup2 (&p, sizeof p), g_free, "own", &src, 1, out, 2);
  return TRUE;
}

const CpuKernel cpu_arg_kernels[] = {
  { .name = "ArgMax", .impl = "own", .build = build_arg, .kind = MOST },
  { .name = "ArgMin", .impl = "own", .build = build_arg, .kind = LEAST },
  { 0 },
};
