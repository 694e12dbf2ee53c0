/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Softmax, LogSoftmax, Hardmax. */
#include "kernels.h"

/* In the form that flattens, the axis begins a line that reaches to the end. */
static gboolean
build_softmax (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  static const gchar *const results[][2] = { { "Softmax", "exp(v) / sum" },
                                             { "LogSoftmax", "v - log(sum)" },
                                             { "Hardmax", "j == best ? 1 : 0" } };
  GpuTensor *x = gpu_plan_input (plan, node, 0), *y = gpu_plan_output (plan, node, 0);
  gint axis = gpu_node_axis (node, x->shape.rank);
  GpuLines lines = { 1, 1, 1 };
  g_autofree gchar *base = NULL;
  g_autofree gchar *name = NULL;
  const gchar *result = NULL;
  gboolean group;
  gint64 n;
  GpuStep *step;
  if (x->shape.rank > 0 && axis < x->shape.rank)
    lines = gpu_lines (&x->shape, axis);
  if (axon_node_has_form (node, AXON_FORM_FLATTENS)) {
    lines.length *= lines.inner;
    lines.inner = 1;
  }
  for (guint i = 0; i < G_N_ELEMENTS (results); i++)
    if (g_str_equal (results[i][0], node->op->name))
      result = results[i][1];
  n = lines.outer * lines.inner;
  group = lines.length >= GPU_GROUP && !g_str_equal (node->op->name, "Hardmax") &&
          n * GPU_GROUP < G_MAXINT32;
  base = g_strconcat (node->op->name, group ? "_group" : "", NULL);
  name = gpu_kernel_for (plan, base, group ? "softmaxgroup" : "softmax", x->dtype, "RESULT", result,
                         NULL);
  const GpuLineParams params = gpu_line_params (&lines);
  step = gpu_plan_step (plan, name, GPU_PARAMS_OF (plan, params), group ? n * GPU_GROUP : n, 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "Softmax", .impl = "softmax", .build = build_softmax },
  { .name = "LogSoftmax", .impl = "softmax", .build = build_softmax },
  { .name = "Hardmax", .impl = "softmax", .build = build_softmax },
};

GPU_DEFINE_FAMILY (softmax, rows)
