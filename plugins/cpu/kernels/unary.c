/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators of one input on f32 that oneDNN lacks, by the loops of the level in use. */
#include "kernels.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

/* Rows of this many elements are worth a thread. */
#define PARALLEL 16384

/* Either function. */
typedef struct {
  CpuUnaryFunc func;
  CpuHardSigmoidFunc hard_sigmoid;
  gfloat alpha, beta; /* of hard_sigmoid */
  gint64 n;
} UnaryPlan;

/* Of one run. */
typedef struct {
  const UnaryPlan *plan;
  gfloat *y;
  const gfloat *x;
} UnaryRun;

static void
unary_elements (gpointer data, gint64 first, gint64 end)
{
  const UnaryRun *run = data;
  const UnaryPlan *p = run->plan;
  if (p->func != NULL)
    p->func (run->y + first, run->x + first, end - first);
  else
    p->hard_sigmoid (run->y + first, run->x + first, end - first, p->alpha, p->beta);
}

static void
run_unary (const CpuStep *step, const CpuInstance *instance)
{
  const UnaryPlan *p = step->data;
  UnaryRun run = { p, cpu_tensor_data (instance, step->out[0]),
                   cpu_tensor_data (instance, step->in[0]) };
  cpu_parallel_ranges (p->n, PARALLEL, unary_elements, &run);
}

static gboolean
add_unary (CpuPlan *plan, const AxonNode *node, UnaryPlan p)
{
  CpuMd *md;
  CpuTensor *src, *dst;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32)
    return FALSE;
  p.n = axon_shape_get_numel (&node->inputs[0]->type.shape);
  src = cpu_dense_input (plan, node, 0, AXON_DTYPE_F32, &md);
  dst = cpu_plan_output (plan, node, 0, md);
  cpu_md_free (md);
  cpu_plan_add_step (plan, run_unary, g_memdup2 (&p, sizeof p), g_free, "own", &src, 1, &dst, 1);
  return TRUE;
}

static gboolean
add_unary_of (CpuPlan *plan, const AxonNode *node, gint kind)
{
  return add_unary (plan, node,
                    (UnaryPlan){ .func = cpu_isa_get ()->vector->eltwise->unary[kind] });
}

static gboolean
build_hard_sigmoid (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  UnaryPlan p = { .hard_sigmoid = cpu_isa_get ()->vector->eltwise->hard_sigmoid,
                  .alpha = (gfloat)axon_node_get_float (node, "alpha"),
                  .beta = (gfloat)axon_node_get_float (node, "beta") };
  return add_unary (plan, node, p);
}

static gboolean
build_unary (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  return add_unary_of (plan, node, plan->row->kind);
}

/* By erf, where oneDNN's is not right for infinity; by tanh it is. */
static gboolean
build_gelu (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  return g_str_equal (axon_node_get_string (node, "approximate"), "none") &&
         add_unary_of (plan, node, plan->row->kind);
}

/* Pow by 2 or by a half. */
static gboolean
build_power (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gdouble exponent;
  return axon_match_scalar (node->inputs[1], &exponent) && (exponent == 2 || exponent == 0.5) &&
         node->inputs[1]->type.shape.rank <= node->inputs[0]->type.shape.rank &&
         add_unary_of (plan, node, exponent == 2 ? CPU_UNARY_SQUARE : CPU_UNARY_SQRT);
}

const CpuKernel cpu_unary_kernels[] = {
  { .name = "Ceil", .impl = "own", .build = build_unary, .kind = CPU_UNARY_CEIL },
  { .name = "Cos", .impl = "own", .build = build_unary, .kind = CPU_UNARY_COS },
  { .name = "Erf", .impl = "own", .build = build_unary, .kind = CPU_UNARY_ERF },
  { .name = "Floor", .impl = "own", .build = build_unary, .kind = CPU_UNARY_FLOOR },
  { .name = "Neg", .impl = "own", .build = build_unary, .kind = CPU_UNARY_NEG },
  { .name = "Reciprocal", .impl = "own", .build = build_unary, .kind = CPU_UNARY_RECIPROCAL },
  { .name = "Round", .impl = "own", .build = build_unary, .kind = CPU_UNARY_ROUND },
  { .name = "Sign", .impl = "own", .build = build_unary, .kind = CPU_UNARY_SIGN },
  { .name = "Sin", .impl = "own", .build = build_unary, .kind = CPU_UNARY_SIN },
  { .name = "Softsign", .impl = "own", .build = build_unary, .kind = CPU_UNARY_SOFTSIGN },
  { .name = "Gelu", .impl = "own", .build = build_gelu, .kind = CPU_UNARY_GELU },
  { .name = "HardSigmoid", .impl = "own", .build = build_hard_sigmoid },
  { .name = "Pow", .impl = "own", .build = build_power },
  { 0 },
};
