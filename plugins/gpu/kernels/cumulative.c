/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CumSum, CumProd, ReverseSequence: what runs along an axis. */
#include "kernels.h"

#include "config.h"
#include <glib/gi18n-lib.h>

static gboolean
build_cumulate (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  gboolean sum = g_str_equal (node->op->name, "CumSum");
  gint64 axis[2 * AXON_MAX_RANK];
  GpuTensor *x, *y;
  GpuLines lines;
  GpuStep *step;
  g_autofree gchar *name = NULL;
  guint n;
  if (!gpu_node_constant_ints (node, 1, NULL, axis, &n) || n != 1) {
    *why = g_strdup ("the axis is " GPU_NOT_CONSTANT);
    return FALSE;
  }
  x = gpu_plan_input (plan, node, 0);
  y = gpu_plan_output (plan, node, 0);
  lines = gpu_lines (&x->shape, (gint)(axis[0] < 0 ? axis[0] + x->shape.rank : axis[0]));
  name = gpu_kernel_for (plan, node->op->name, "cumulate", x->dtype, "INIT", sum ? "0" : "1", "ACC",
                         sum ? "a + v" : "a * v", NULL);
  const GpuCumulateParams params = { .line = gpu_line_params (&lines),
                                     .exclusive = axon_node_get_int (node, "exclusive") != 0,
                                     .reverse = axon_node_get_int (node, "reverse") != 0 };
  step = gpu_plan_step (plan, name, GPU_PARAMS_OF (plan, params), lines.outer * lines.inner, 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
  return TRUE;
}

static gboolean
build_reverse_sequence (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *lengths = gpu_plan_input (plan, node, 1);
  GpuTensor *y = gpu_plan_output (plan, node, 0);
  g_autofree gchar *name = gpu_kernel_for (plan, "reverse", "reverse", x->dtype, NULL);
  const GpuReverseParams params = { .size = { gpu_int (x->shape.dims[0]),
                                              gpu_int (x->shape.dims[1]) },
                                    .inner = gpu_int (gpu_lines (&x->shape, 1).inner),
                                    .time_first = axon_node_get_int (node, "time_axis") == 0 };
  GpuStep *step = gpu_each_element (plan, name, GPU_PARAMS_OF (plan, params),
                                    (GpuTensor *[]){ x, lengths }, 2, y);
  gpu_step_complaint (plan, step, _ ("a length is out of range"));
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "ReverseSequence", .impl = "move", .build = build_reverse_sequence },
  { .name = "CumSum", .impl = "cumulate", .build = build_cumulate },
  { .name = "CumProd", .impl = "cumulate", .build = build_cumulate },
};

GPU_DEFINE_FAMILY (cumulative, rows)
