/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators of one input that are a loop of two, the second a constant. */
#include "kernels.h"
#include "../cpuisa.h"
#include "../cpupool.h"

#include <math.h>

/* Elements that are worth a thread. */
#define PARALLEL 16384

typedef union {
  guint64 bits;
  gfloat number;
} Constant;

typedef struct {
  CpuPairFunc func;
  Constant b;
  gint64 n;
  gsize size, out_size; /* of an element */
} ConstantPlan;

/* Of one run. */
typedef struct {
  const ConstantPlan *plan;
  guint8 *y;
  const guint8 *x;
} ConstantRun;

static void
elements (gpointer data, gint64 first, gint64 end)
{
  const ConstantRun *run = data;
  const ConstantPlan *p = run->plan;
  p->func (run->y + (gsize)first * p->out_size, run->x + (gsize)first * p->size, &p->b, end - first,
           1, 0);
}

static void
run_constant (const CpuStep *step, const CpuInstance *instance)
{
  const ConstantPlan *p = step->data;
  ConstantRun run = { p, cpu_tensor_data (instance, step->out[0]),
                      cpu_tensor_data (instance, step->in[0]) };
  cpu_parallel_ranges (p->n, PARALLEL, elements, &run);
}

static gboolean
add_constant (CpuPlan *plan, const AxonNode *node, CpuPairFunc func, Constant b)
{
  ConstantPlan p = { .func = func, .b = b };
  CpuTensor *x = cpu_plan_input_as (plan, node, 0, NULL);
  CpuTensor *y = cpu_plan_output (plan, node, 0, NULL);
  p.n = axon_shape_get_numel (&x->shape);
  p.size = axon_dtype_get_size (x->dtype);
  p.out_size = axon_dtype_get_size (y->dtype);
  cpu_plan_add_step (plan, run_constant, g_memdup2 (&p, sizeof p), g_free, "own", &x, 1, &y, 1);
  return TRUE;
}

/* A bool is 0 or 1. */
static gboolean
build_not (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gsize size = axon_dtype_get_size (node->inputs[0]->type.dtype);
  Constant b = { .bits = plan->row->kind ? 1 : G_MAXUINT64 };
  return add_constant (
      plan, node, cpu_isa_get ()->vector->eltwise->bits[CPU_BITS_XOR][g_bit_nth_lsf (size, -1)], b);
}

static gboolean
build_is_nan (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  Constant b = { .number = 0 };
  return node->inputs[0]->type.dtype == AXON_DTYPE_F32 &&
         add_constant (plan, node, cpu_isa_get ()->vector->eltwise->pair[CPU_PAIR_UNORDERED], b);
}

static gboolean
build_is_inf (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gboolean negative = axon_node_get_int (node, "detect_negative") != 0;
  gboolean positive = axon_node_get_int (node, "detect_positive") != 0;
  gint kind = negative && positive ? CPU_PAIR_SAME_SIZE : CPU_PAIR_EQUAL;
  Constant b = { .number = positive ? INFINITY : negative ? -INFINITY : NAN }; /* NaN: never */
  return node->inputs[0]->type.dtype == AXON_DTYPE_F32 &&
         add_constant (plan, node, cpu_isa_get ()->vector->eltwise->pair[kind], b);
}

const CpuKernel cpu_constant_kernels[] = {
  { .name = "Not", .impl = "own", .build = build_not, .kind = TRUE },
  { .name = "BitwiseNot", .impl = "own", .build = build_not, .kind = FALSE },
  { .name = "IsNaN", .impl = "own", .build = build_is_nan },
  { .name = "IsInf", .impl = "own", .build = build_is_inf },
  { 0 },
};
