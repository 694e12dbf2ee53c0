/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Concat of row-major data of any type: whole runs are copied. */
#include "kernels.h"
#include "../cpupool.h"

#include <string.h>

#define PARALLEL_BYTES (1 << 18)

typedef struct {
  gint64 outer;
  gsize row;     /* bytes of a run of the output */
  gsize parts[]; /* bytes of a run of each input */
} ConcatPlan;

/* Of one run. */
typedef struct {
  const CpuStep *step;
  const CpuInstance *instance;
} ConcatRun;

static void
concat_rows (gpointer data, gint64 first, gint64 end)
{
  const ConcatRun *run = data;
  const ConcatPlan *p = run->step->data;
  guint8 *y = cpu_tensor_data (run->instance, run->step->out[0]);
  for (guint i = 0; i < run->step->n_in; i++) {
    const guint8 *x = cpu_tensor_data (run->instance, run->step->in[i]);
    gsize part = p->parts[i];
    for (gint64 o = first; o < end; o++)
      memcpy (y + (gsize)o * p->row, x + (gsize)o * part, part);
    y += part;
  }
}

static void
run_concat (const CpuStep *step, const CpuInstance *instance)
{
  const ConcatPlan *p = step->data;
  ConcatRun run = { step, instance };
  cpu_parallel_ranges (p->outer, PARALLEL_BYTES / (gint64)MAX (p->row, 1) + 1, concat_rows, &run);
}

static gboolean
build_concat (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *y = &node->outputs[0]->type.shape;
  gint axis = (gint)axon_node_get_int (node, "axis");
  g_autofree CpuTensor **in = g_new0 (CpuTensor *, node->n_inputs);
  ConcatPlan *p = g_malloc0 (sizeof *p + node->n_inputs * sizeof (gsize));
  CpuTensor *out;
  axis += axis < 0 ? y->rank : 0;
  p->outer = 1;
  for (gint d = 0; d < axis; d++)
    p->outer *= y->dims[d];
  for (guint i = 0; i < node->n_inputs; i++) {
    gsize bytes = (gsize)axon_shape_get_numel (&node->inputs[i]->type.shape) *
                  axon_dtype_get_size (node->inputs[i]->type.dtype);
    p->parts[i] = bytes / (gsize)MAX (p->outer, 1);
    p->row += p->parts[i];
    in[i] = cpu_plan_input_as (plan, node, i, NULL);
  }
  out = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run_concat, p, g_free, "own", in, node->n_inputs, &out, 1);
  return TRUE;
}

const CpuKernel cpu_concat_kernels[] = {
  { .name = "Concat", .impl = "own", .build = build_concat },
  { 0 },
};
