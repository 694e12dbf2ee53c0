/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators of one input on f32, by the loops of the level in use: whatever the layout,
 * and in place where nobody needs the input later. */
#include "kernels.h"
#include "../cpueltwise.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

/* Elements that are worth a thread. */
#define PARALLEL 16384

typedef struct {
  CpuPostFunc func;
  CpuPost post;
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
  run->plan->func (run->y + first, run->x + first, end - first, &run->plan->post);
}

static void
run_unary (const CpuStep *step, const CpuInstance *instance)
{
  const UnaryPlan *p = step->data;
  UnaryRun run = { p, cpu_tensor_data (instance, step->out[0]),
                   cpu_tensor_data (instance, step->in[0]) };
  cpu_parallel_ranges (p->n, PARALLEL, unary_elements, &run);
}

static gint64
count_floats (const CpuTensor *t)
{
  return (gint64)(cpu_tensor_get_bytes (t) / sizeof (gfloat));
}

/* What fills blocks has to stay 0, for oneDNN adds it up. */
static gboolean
keeps_zero (const UnaryPlan *p)
{
  gfloat zero = 0;
  p->func (&zero, &zero, 1, &p->post);
  return zero == 0;
}

/* The input as it lies: without gaps, or in blocks. */
static CpuTensor *
find_input (CpuPlan *plan, const AxonNode *node, const UnaryPlan *p)
{
  CpuTensor *t = cpu_plan_input (plan, node, 0);
  gint64 strides[AXON_MAX_RANK];
  gboolean in_blocks = !cpu_md_get_strides (t->md, &t->shape, strides);
  g_autoptr (CpuMd) md = NULL;
  return count_floats (t) == axon_shape_get_numel (&t->shape) || (in_blocks && keeps_zero (p))
             ? t
             : cpu_dense_input (plan, node, 0, AXON_DTYPE_F32, &md);
}

static gboolean
add_unary (CpuPlan *plan, const AxonNode *node, CpuPost post)
{
  UnaryPlan p = { .func = cpu_isa_get ()->vector->eltwise->post, .post = post };
  CpuTensor *src, *dst;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32)
    return FALSE;
  src = find_input (plan, node, &p);
  p.n = count_floats (src);
  dst = cpu_plan_is_last_use (plan, src) ? cpu_plan_alias (plan, node, 0, src, src->md)
                                         : cpu_plan_output (plan, node, 0, src->md);
  cpu_plan_add_step (plan, run_unary, g_memdup2 (&p, sizeof p), g_free, "own", &src, 1, &dst, 1);
  return TRUE;
}

static gboolean
build_unary (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  CpuPost post;
  return cpu_post_of_node (&post, node) && add_unary (plan, node, post);
}

#define UNARY(op)                                                                                  \
  {                                                                                                \
    .name = op, .impl = "own", .build = build_unary                                                \
  }

const CpuKernel cpu_unary_kernels[] = {
  UNARY ("Abs"),
  UNARY ("Acos"),
  UNARY ("Acosh"),
  UNARY ("Asin"),
  UNARY ("Asinh"),
  UNARY ("Atan"),
  UNARY ("Atanh"),
  UNARY ("Ceil"),
  UNARY ("Celu"),
  UNARY ("Clip"),
  UNARY ("Cos"),
  UNARY ("Cosh"),
  UNARY ("Elu"),
  UNARY ("Erf"),
  UNARY ("Exp"),
  UNARY ("Floor"),
  UNARY ("Gelu"),
  UNARY ("HardSigmoid"),
  UNARY ("HardSwish"),
  UNARY ("LeakyRelu"),
  UNARY ("Log"),
  UNARY ("Mish"),
  UNARY ("Neg"),
  UNARY ("Pow"),
  UNARY ("Reciprocal"),
  UNARY ("Relu"),
  UNARY ("Round"),
  UNARY ("Selu"),
  UNARY ("Shrink"),
  UNARY ("Sigmoid"),
  UNARY ("Sign"),
  UNARY ("Sin"),
  UNARY ("Sinh"),
  UNARY ("Softplus"),
  UNARY ("Softsign"),
  UNARY ("Sqrt"),
  UNARY ("Swish"),
  UNARY ("Tan"),
  UNARY ("Tanh"),
  UNARY ("ThresholdedRelu"),
  { 0 },
};
