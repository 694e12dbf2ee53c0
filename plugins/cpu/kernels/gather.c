/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gather over row-major memory, by runs of bytes. Indices are constant and checked when building;
 * others go to the reference kernel. */
#include "kernels.h"

#include <string.h>

typedef struct {
  gsize outer, n, dim, row; /* bytes per row */
  gint64 *index;
} GatherPlan;

static void
gather_free (gpointer data)
{
  g_free (((GatherPlan *)data)->index);
  g_free (data);
}

static void
run_gather (const CpuStep *step, const CpuInstance *instance)
{
  const GatherPlan *g = step->data;
  const guint8 *x = cpu_tensor_data (instance, step->in[0]);
  guint8 *y = cpu_tensor_data (instance, step->out[0]);
  for (gsize o = 0; o < g->outer; o++)
    for (gsize i = 0; i < g->n; i++)
      memcpy (y + (o * g->n + i) * g->row, x + (o * g->dim + (gsize)g->index[i]) * g->row, g->row);
}

static gboolean
build_gather (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonTensor *indices = cpu_node_constant (node, 1);
  const AxonShape *x = &node->inputs[0]->type.shape;
  gint axis = (gint)axon_node_get_int (node, "axis");
  CpuTensor *src, *dst;
  GatherPlan *g;
  if (indices == NULL)
    return FALSE;
  axis += axis < 0 ? x->rank : 0;
  g = g_new0 (GatherPlan, 1);
  *g = (GatherPlan){ 1, axon_tensor_get_numel (indices), (gsize)x->dims[axis],
                     axon_dtype_get_size (node->inputs[0]->type.dtype), NULL };
  g->index = g_new (gint64, g->n + 1);
  for (gint d = 0; d < x->rank; d++)
    if (d != axis)
      *(d < axis ? &g->outer : &g->row) *= (gsize)x->dims[d];
  for (gsize i = 0; i < g->n; i++) {
    gint64 at =
        axon_dtype_load_int (axon_tensor_get_dtype (indices), axon_tensor_get_data (indices), i);
    g->index[i] = at < 0 ? at + x->dims[axis] : at;
    if (g->index[i] < 0 || g->index[i] >= x->dims[axis]) {
      gather_free (g);
      return FALSE;
    }
  }
  src = cpu_plan_input_as (plan, node, 0, NULL);
  if (g->n == 1 && g->outer == 1) { /* one run: a view */
    gsize offset = (gsize)g->index[0] * g->row;
    gather_free (g);
    if (src->buffer->place == CPU_ARENA) {
      dst = cpu_plan_alias (plan, node, 0, src, NULL);
      dst->offset += offset;
      return TRUE;
    }
    return FALSE;
  }
  dst = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run_gather, g, gather_free, "own", &src, 1, &dst, 1);
  return TRUE;
}

const CpuKernel cpu_gather_kernels[] = {
  { .name = "Gather", .impl = "own", .build = build_gather },
  { 0 },
};
