/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Slice: 1 (attributes), 10, 11, 13 (inputs, steps; negative steps walk backwards). */
#include "ops-private.h"

typedef struct {
  gint64 start[AXON_MAX_RANK], step[AXON_MAX_RANK], count[AXON_MAX_RANK];
} SlicePlan;

typedef struct {
  gint64 values[4][AXON_MAX_RANK]; /* starts, ends, axes, steps */
  guint n[4];
  gboolean known;
} SliceArgs;

static void
get_args (const AxonNode *node, const AxonTypeInfo *in, SliceArgs *args)
{
  static const gchar *const names[] = { "starts", "ends", "axes" };
  *args = (SliceArgs){ .known = TRUE };
  if (axon_node_has_form (node, AXON_FORM_ATTRIBUTES)) {
    for (guint k = 0; k < 3; k++) {
      const gint64 *attr = axon_node_get_ints (node, names[k], &args->n[k]);
      args->n[k] = MIN (args->n[k], AXON_MAX_RANK);
      for (guint i = 0; i < args->n[k]; i++)
        args->values[k][i] = attr[i];
    }
    return;
  }
  for (guint k = 0; k < 4; k++)
    if (k + 1 < node->n_inputs && in[k + 1].dtype != AXON_DTYPE_UNDEFINED &&
        !axon_const_ints (&in[k + 1], args->values[k], AXON_MAX_RANK, &args->n[k]))
      args->known = FALSE;
}

static void
plan_axis (SlicePlan *plan, gint axis, gint64 dim, gint64 start, gint64 end, gint64 step)
{
  gint64 lo = step > 0 ? 0 : -1, hi = step > 0 ? dim : dim - 1;
  start = start < 0 ? MAX (start + dim, step > 0 ? 0 : -1) : MIN (start, hi);
  end = end < 0 ? MAX (end + dim, lo) : MIN (end, dim);
  plan->start[axis] = start;
  plan->step[axis] = step;
  if (step > 0)
    plan->count[axis] = end > start ? (end - start - 1) / step + 1 : 0;
  else
    plan->count[axis] = start > end ? (start - end - 1) / -MAX (step, -G_MAXINT32) + 1 : 0;
}

static gboolean
make_plan (const SliceArgs *args, const AxonShape *x, SlicePlan *plan, GError **error)
{
  guint n = args->n[0];
  gboolean seen[AXON_MAX_RANK] = { 0 };
  if (args->n[1] != n || (args->n[2] && args->n[2] != n) || (args->n[3] && args->n[3] != n) ||
      n > (guint)x->rank)
    FAIL (MODEL, "starts, ends, axes and steps have %u, %u, %u and %u values", n, args->n[1],
          args->n[2], args->n[3]);
  for (gint d = 0; d < x->rank; d++) {
    plan->start[d] = 0;
    plan->step[d] = 1;
    plan->count[d] = x->dims[d];
  }
  for (guint i = 0; i < n; i++) {
    gint axis;
    gint64 step = args->n[3] ? args->values[3][i] : 1;
    if (!axon_check_axis (args->n[2] ? args->values[2][i] : (gint64)i, x->rank, &axis, error))
      return FALSE;
    if (step == 0 || seen[axis])
      FAIL (MODEL, step == 0 ? "step is 0" : "an axis is given twice");
    seen[axis] = TRUE;
    if (x->dims[axis] < 0)
      plan->count[axis] = -1;
    else
      plan_axis (plan, axis, x->dims[axis], args->values[0][i], args->values[1][i], step);
  }
  return TRUE;
}

static gboolean
infer_slice (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  SliceArgs args;
  SlicePlan plan;
  axon_infer_same (node, in, out, error);
  if (in[0].shape.rank < 0)
    return TRUE;
  get_args (node, in, &args);
  if (args.known && !make_plan (&args, &in[0].shape, &plan, error))
    return FALSE;
  for (gint d = 0; d < in[0].shape.rank; d++)
    out[0].shape.dims[d] = args.known ? plan.count[d] : -1;
  return TRUE;
}

static gboolean
eval_slice (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]);
  AxonTypeInfo infos[5] = { 0 };
  gint64 strides[AXON_MAX_RANK], at = 0;
  gsize size = axon_dtype_get_size (axon_tensor_get_dtype (in[0]));
  SliceArgs args;
  SlicePlan plan;
  for (guint i = 0; i < node->n_inputs; i++)
    if (in[i] != NULL)
      infos[i] =
          (AxonTypeInfo){ axon_tensor_get_dtype (in[i]), *axon_tensor_get_shape (in[i]), in[i] };
  get_args (node, infos, &args);
  if (!make_plan (&args, x, &plan, error))
    return FALSE;
  axon_row_strides (x, strides);
  for (gint d = 0; d < x->rank; d++) {
    at += plan.start[d] * strides[d];
    strides[d] *= plan.step[d];
  }
  if (axon_tensor_get_numel (out[0]) > 0)
    axon_strided_copy (axon_tensor_get_data (out[0]),
                       (guint8 *)axon_tensor_get_data (in[0]) + at * (gint64)size, size,
                       axon_tensor_get_shape (out[0]), strides);
  return TRUE;
}

static const AxonOp rows[] = {
  {
      .name = "Slice",
      .since = 1,
      .until = 9,
      .form = AXON_FORM_ATTRIBUTES,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (REQUIRED ("starts", AXON_ATTR_INTS), REQUIRED ("ends", AXON_ATTR_INTS),
                      ATTR_INTS ("axes")),
      .infer = infer_slice,
      .eval = eval_slice,
  },
  {
      .name = "Slice",
      .since = 10,
      .inputs = { 3, 5 },
      .operands = ".nnnn",
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .infer = infer_slice,
      .eval = eval_slice,
  },
};

DEFINE_FAMILY (slice, rows)
