/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cast between halves and floats. */
#include "kernels.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

/* Elements that are worth a thread. */
#define PARALLEL 32768

/* Of one run. */
typedef struct {
  const CpuHalf *half;
  gboolean widens;
  gconstpointer x;
  gpointer y;
} CastRun;

static void
cast_elements (gpointer data, gint64 first, gint64 end)
{
  const CastRun *run = data;
  if (run->widens)
    run->half->to_floats ((gfloat *)run->y + first, (const guint16 *)run->x + first, end - first);
  else
    run->half->from_floats ((guint16 *)run->y + first, (const gfloat *)run->x + first, end - first);
}

static void
run_cast (const CpuStep *step, const CpuInstance *instance)
{
  CastRun run = { step->data, step->in[0]->dtype == AXON_DTYPE_F16,
                  cpu_tensor_data (instance, step->in[0]),
                  cpu_tensor_data (instance, step->out[0]) };
  cpu_parallel_ranges (axon_shape_get_numel (&step->out[0]->shape), PARALLEL, cast_elements, &run);
}

static gboolean
build_cast (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  AxonDType from = node->inputs[0]->type.dtype, to = node->outputs[0]->type.dtype;
  CpuTensor *x, *y;
  if (!((from == AXON_DTYPE_F16 && to == AXON_DTYPE_F32) ||
        (from == AXON_DTYPE_F32 && to == AXON_DTYPE_F16)))
    return FALSE;
  x = cpu_plan_input_as (plan, node, 0, NULL);
  y = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run_cast, (gpointer)cpu_isa_get ()->vector->half, NULL, "own", &x, 1, &y,
                     1);
  return TRUE;
}

const CpuKernel cpu_cast_kernels[] = {
  { .name = "Cast", .impl = "own", .build = build_cast },
  { .name = "CastLike", .impl = "own", .build = build_cast },
  { 0 },
};
