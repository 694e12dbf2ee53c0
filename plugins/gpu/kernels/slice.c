/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Slice. */
#include "kernels.h"

/* Numbers of Slice, by attribute (1) or by inputs 1 to 4 (10 and later). */
static gboolean
slice_numbers (const AxonNode *node, gint64 *starts, gint64 *axes, gint64 *steps, guint *n)
{
  guint n_ends, n_axes, n_steps;
  gint64 ends[2 * AXON_MAX_RANK];
  gboolean attrs = axon_node_has_form (node, AXON_FORM_ATTRIBUTES);
  if (!gpu_node_constant_ints (node, attrs ? G_MAXUINT : 1, attrs ? "starts" : NULL, starts, n) ||
      !gpu_node_constant_ints (node, attrs ? G_MAXUINT : 2, attrs ? "ends" : NULL, ends, &n_ends) ||
      !gpu_node_constant_ints (node, attrs ? G_MAXUINT : 3, attrs ? "axes" : NULL, axes, &n_axes) ||
      !gpu_node_constant_ints (node, attrs ? G_MAXUINT : 4, NULL, steps, &n_steps))
    return FALSE;
  for (guint i = n_axes; i < *n; i++)
    axes[i] = i;
  for (guint i = n_steps; i < *n; i++)
    steps[i] = 1;
  return TRUE;
}

static gboolean
build_slice (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  GpuTensor *x, *y;
  gint64 starts[2 * AXON_MAX_RANK], axes[2 * AXON_MAX_RANK], steps[2 * AXON_MAX_RANK];
  gint64 xs[AXON_MAX_RANK], ys[AXON_MAX_RANK], x0 = 0;
  guint n;
  if (!slice_numbers (node, starts, axes, steps, &n)) {
    *why = g_strdup ("starts, ends, axes or steps are " GPU_NOT_CONSTANT);
    return FALSE;
  }
  x = gpu_plan_input (plan, node, 0);
  y = gpu_plan_output (plan, node, 0);
  gpu_strides (&x->shape, xs);
  gpu_strides (&y->shape, ys);
  for (guint i = 0; i < n; i++) {
    gint axis = (gint)(axes[i] < 0 ? axes[i] + x->shape.rank : axes[i]);
    gint64 size = x->shape.dims[axis];
    gint64 start = starts[i] < 0 ? starts[i] + size : starts[i];
    start = steps[i] < 0 ? CLAMP (start, 0, size - 1) : CLAMP (start, 0, size);
    x0 += start * xs[axis];
    xs[axis] *= CLAMP (steps[i], -size, size);
  }
  gpu_move (plan, x, x0, y, 0, y->shape.rank, y->shape.dims, xs, ys);
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "Slice", .impl = "move", .build = build_slice },
};

GPU_DEFINE_FAMILY (slice, rows)
