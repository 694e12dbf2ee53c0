/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Concat and Split. */
#include "kernels.h"

static gboolean
build_split (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0);
  gint axis = gpu_node_axis (node, x->shape.rank);
  gint64 xs[AXON_MAX_RANK], ys[AXON_MAX_RANK], at = 0;
  gpu_strides (&x->shape, xs);
  for (guint i = 0; i < node->n_outputs; i++) {
    GpuTensor *y = gpu_plan_output (plan, node, i);
    if (y == NULL) {
      *why = g_strdup ("an output in between is left out");
      return FALSE;
    }
    gpu_strides (&y->shape, ys);
    gpu_move (plan, x, at * xs[axis], y, 0, y->shape.rank, y->shape.dims, xs, ys);
    at += y->shape.dims[axis];
  }
  return TRUE;
}

static gboolean
build_concat (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *y = gpu_plan_output (plan, node, 0);
  gint axis = gpu_node_axis (node, y->shape.rank);
  gint64 xs[AXON_MAX_RANK], ys[AXON_MAX_RANK], at = 0;
  gpu_strides (&y->shape, ys);
  for (guint i = 0; i < node->n_inputs; i++) {
    GpuTensor *x = gpu_plan_input (plan, node, i);
    gpu_strides (&x->shape, xs);
    gpu_move (plan, x, 0, y, at * ys[axis], x->shape.rank, x->shape.dims, xs, ys);
    at += x->shape.dims[axis];
  }
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "Split", .impl = "move", .build = build_split },
  { .name = "Concat", .impl = "move", .build = build_concat },
};

GPU_DEFINE_FAMILY (concat, rows)
