/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pad. */
#include "kernels.h"

#include <string.h>

static gint
pad_mode (const AxonNode *node)
{
  static const gchar *const modes[] = { "constant", "edge", "reflect", "wrap" };
  const gchar *mode = axon_node_get_string (node, "mode");
  for (gint i = 0; i < (gint)G_N_ELEMENTS (modes); i++)
    if (g_strcmp0 (mode, modes[i]) == 0)
      return i;
  return -1;
}

/* Where x begins in y, by axis. FALSE: not known. */
static gboolean
pad_starts (const AxonNode *node, gint rank, gint64 *starts)
{
  gint64 pads[2 * AXON_MAX_RANK], axes[2 * AXON_MAX_RANK];
  guint n, n_axes = 0;
  gboolean attrs = axon_node_has_form (node, AXON_FORM_ATTRIBUTES);
  if (!gpu_node_constant_ints (node, attrs ? G_MAXUINT : 1,
                               !attrs                                          ? NULL
                               : axon_node_has_form (node, AXON_FORM_PADDINGS) ? "paddings"
                                                                               : "pads",
                               pads, &n) ||
      (!attrs && !gpu_node_constant_ints (node, 3, NULL, axes, &n_axes)))
    return FALSE;
  memset (starts, 0, (gsize)rank * sizeof *starts);
  for (guint i = 0; i < n / 2; i++) {
    gint64 axis = n_axes > 0 ? axes[i] : (gint64)i;
    starts[axis < 0 ? axis + rank : axis] = pads[i];
  }
  return TRUE;
}

/* Of a value that is an attribute, as the kernel writes it. */
static gboolean
value_bits (const AxonNode *node, gint mode, gint32 *bits)
{
  AxonDType dtype = node->inputs[0]->type.dtype;
  *bits = 0;
  if (!axon_node_has_form (node, AXON_FORM_ATTRIBUTES) || mode != 0 ||
      axon_node_get_float (node, "value") == 0)
    return TRUE;
  if (axon_dtype_get_size (dtype) > sizeof *bits)
    return FALSE;
  axon_dtype_store (dtype, bits, 0, axon_node_get_float (node, "value"));
  return TRUE;
}

static gboolean
build_pad (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  gint rank = node->inputs[0]->type.shape.rank, mode = pad_mode (node);
  gint64 starts[AXON_MAX_RANK], xs[AXON_MAX_RANK];
  g_autofree gchar *name = NULL;
  GpuPadParams params = { .rank = rank, .mode = mode };
  gint32 bits;
  GpuTensor *x, *y, *value;
  GpuStep *step;
  if (mode < 0 || !pad_starts (node, rank, starts) || !value_bits (node, mode, &bits)) {
    *why = g_strdup ("pads are " GPU_NOT_CONSTANT);
    return FALSE;
  }
  x = gpu_plan_input (plan, node, 0);
  value = gpu_plan_input (plan, node, 2);
  y = gpu_plan_output (plan, node, 0);
  name = gpu_kernel_for (plan, "pad", "pad", x->dtype, NULL);
  gpu_strides (&x->shape, xs);
  for (gint d = 0; d < rank; d++)
    params.axis[d] = (GpuPadAxis){ .size = gpu_int (y->shape.dims[d]),
                                   .x_size = gpu_int (x->shape.dims[d]),
                                   .x_step = gpu_int (xs[d]),
                                   .start = gpu_int (starts[d]) };
  step = gpu_plan_step (plan, name, GPU_PARAMS_OF (plan, params), axon_shape_get_numel (&y->shape),
                        1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_read (plan, step, value);
  gpu_step_write (plan, step, y);
  gpu_step_number (step, value != NULL);
  gpu_step_number (step, bits);
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "Pad", .impl = "pad", .build = build_pad },
};

GPU_DEFINE_FAMILY (pad, rows)
