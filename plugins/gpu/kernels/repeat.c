/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Expand and Tile: elements that are repeated. */
#include "kernels.h"

static gboolean
build_expand (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *y = gpu_plan_output (plan, node, 0);
  gint64 own[AXON_MAX_RANK], xs[AXON_MAX_RANK] = { 0 }, ys[AXON_MAX_RANK];
  gpu_strides (&x->shape, own);
  gpu_strides (&y->shape, ys);
  for (gint d = 0; d < x->shape.rank; d++)
    xs[y->shape.rank - x->shape.rank + d] = x->shape.dims[d] == 1 ? 0 : own[d];
  gpu_move (plan, x, 0, y, 0, y->shape.rank, y->shape.dims, xs, ys);
  return TRUE;
}

/* Every axis becomes two: how often, and the axis itself. */
static gboolean
build_tile (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *y = gpu_plan_output (plan, node, 0);
  gint64 own[AXON_MAX_RANK], to[AXON_MAX_RANK];
  gint64 dims[2 * AXON_MAX_RANK], xs[2 * AXON_MAX_RANK], ys[2 * AXON_MAX_RANK];
  gpu_strides (&x->shape, own);
  gpu_strides (&y->shape, to);
  for (gint d = 0; d < x->shape.rank; d++) {
    dims[2 * d] = y->shape.dims[d] / MAX (x->shape.dims[d], 1);
    dims[2 * d + 1] = x->shape.dims[d];
    xs[2 * d] = 0;
    xs[2 * d + 1] = own[d];
    ys[2 * d] = to[d] * x->shape.dims[d];
    ys[2 * d + 1] = to[d];
  }
  gpu_move (plan, x, 0, y, 0, 2 * x->shape.rank, dims, xs, ys);
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "Expand", .impl = "move", .build = build_expand },
  { .name = "Tile", .impl = "move", .build = build_tile },
};

GPU_DEFINE_FAMILY (repeat, rows)
