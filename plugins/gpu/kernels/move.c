/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that move elements and compute nothing. */
#include "kernels.h"

#include <string.h>

/* What follows from shapes: constants of the plan. */
gboolean
gpu_build_known (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  AxonTypeInfo in[8] = { 0 }, out[1] = { 0 };
  gboolean ok;
  for (guint i = 0; i < MIN (node->n_inputs, G_N_ELEMENTS (in)); i++)
    if (node->inputs[i] != NULL)
      in[i] = node->inputs[i]->type;
  ok = axon_node_infer (node, in, out, NULL);
  if (ok && out[0].value == NULL)
    out[0].value = gpu_plan_fold (node);
  if (ok && out[0].value != NULL)
    gpu_plan_constant (plan, node, 0, out[0].value);
  ok = out[0].value != NULL;
  g_clear_pointer (&out[0].value, axon_tensor_unref);
  if (!ok)
    *why = g_strdup ("its operands are " GPU_NOT_CONSTANT);
  return ok;
}

/* Where Dropout does nothing; the mask is TRUE everywhere. */
gboolean
gpu_build_dropout (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonTensor *training = gpu_node_constant (node, 2);
  g_autoptr (AxonTensor) ones = NULL;
  if (axon_node_get_input (node, 2) != NULL && training == NULL) {
    *why = g_strdup ("training_mode is " GPU_NOT_CONSTANT);
    return FALSE;
  }
  if (training != NULL && axon_tensor_get_value (training, 0) != 0) {
    *why = g_strdup ("it trains");
    return FALSE;
  }
  if (node->n_outputs > 1 && node->outputs[1] != NULL) {
    ones = axon_tensor_new (node->outputs[1]->type.dtype, &node->outputs[1]->type.shape, NULL);
    for (gsize i = 0; i < axon_tensor_get_numel (ones); i++)
      axon_dtype_store (axon_tensor_get_dtype (ones), axon_tensor_get_data (ones), i, 1);
    gpu_plan_constant (plan, node, 1, ones);
  }
  gpu_plan_alias (plan, node, 0, gpu_plan_input (plan, node, 0));
  return TRUE;
}

/* The same bytes in another shape. */
gboolean
gpu_build_view (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  for (guint i = 1; i < node->n_outputs; i++)
    if (node->outputs[i] != NULL) {
      *why = g_strdup_printf ("output %u is asked for", i);
      return FALSE;
    }
  gpu_plan_alias (plan, node, 0, gpu_plan_input (plan, node, 0));
  return TRUE;
}

gboolean
gpu_build_transpose (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
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

gboolean
gpu_build_slice (GpuPlan *plan, const AxonNode *node, gchar **why)
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

gboolean
gpu_build_split (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
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

gboolean
gpu_build_concat (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
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

gboolean
gpu_build_expand (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
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
gboolean
gpu_build_tile (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
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

/* Six axes: batch, block row, block column, channel, row, column, in the order of the picture that
 * has depth; DepthToSpace and SpaceToDepth read them both ways. */
gboolean
gpu_build_depth_space (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
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
                               !attrs                               ? NULL
                               : axon_node_find_attr (node, "pads") ? "pads"
                                                                    : "paddings",
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

gboolean
gpu_build_pad (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  gint rank = node->inputs[0]->type.shape.rank, mode = pad_mode (node);
  gint64 starts[AXON_MAX_RANK], xs[AXON_MAX_RANK];
  g_autofree gchar *name = NULL;
  GpuNumbers numbers = { .n = 0 };
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
  gpu_numbers_add (&numbers, rank);
  gpu_numbers_add (&numbers, mode);
  for (gint d = 0; d < rank; d++) {
    gpu_numbers_add (&numbers, y->shape.dims[d]);
    gpu_numbers_add (&numbers, x->shape.dims[d]);
    gpu_numbers_add (&numbers, xs[d]);
    gpu_numbers_add (&numbers, starts[d]);
  }
  step = gpu_plan_step (plan, name, gpu_numbers_write (&numbers, plan),
                        axon_shape_get_numel (&y->shape), 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_read (plan, step, value);
  gpu_step_write (plan, step, y);
  gpu_step_number (step, value != NULL);
  gpu_step_number (step, bits);
  return TRUE;
}
