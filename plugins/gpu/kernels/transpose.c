/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Axes in another order. */
#include "kernels.h"

static gboolean
build_transpose (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *y = gpu_plan_output (plan, node, 0);
  gint64 own[AXON_MAX_RANK], xs[AXON_MAX_RANK], ys[AXON_MAX_RANK];
  guint n;
  const gint64 *perm = axon_node_get_ints (node, "perm", &n);
  gpu_strides (&x->shape, own);
  gpu_strides (&y->shape, ys);
  for (gint d = 0; d < y->shape.rank; d++)
    xs[d] = own[perm ? perm[d] < 0 ? perm[d] + y->shape.rank : perm[d] : y->shape.rank - 1 - d];
  gpu_move (plan, x, 0, y, 0, y->shape.rank, y->shape.dims, xs, ys);
  return TRUE;
}

/* Six axes: batch, block row, block column, channel, row, column, in the order of the picture that
 * has depth; DepthToSpace and SpaceToDepth read them both ways. */
static gboolean
build_depth_space (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *y = gpu_plan_output (plan, node, 0);
  gboolean to_space = g_str_equal (node->op->name, "DepthToSpace");
  gint64 b = axon_node_get_int (node, "blocksize");
  const AxonShape *flat = to_space ? &x->shape : &y->shape;
  gint64 c = flat->dims[1] / (b * b), h = flat->dims[2], w = flat->dims[3];
  gboolean crd = to_space && g_strcmp0 (axon_node_get_string (node, "mode"), "CRD") == 0;
  gint64 dims[] = { flat->dims[0], b, b, c, h, w };
  gint64 deep[] = { c * b * b * h * w,
                    (crd ? b : b * c) * h * w,
                    (crd ? 1 : c) * h * w,
                    (crd ? b * b : 1) * h * w,
                    w,
                    1 };
  gint64 wide[] = { c * b * b * h * w, w * b, 1, h * b * w * b, b * w * b, b };
  gpu_move (plan, x, 0, y, 0, 6, dims, to_space ? deep : wide, to_space ? wide : deep);
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "Transpose", .impl = "move", .build = build_transpose },
  { .name = "DepthToSpace", .impl = "move", .build = build_depth_space },
  { .name = "SpaceToDepth", .impl = "move", .build = build_depth_space },
};

GPU_DEFINE_FAMILY (transpose, rows)
