/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Softmax and LogSoftmax: opset 1 and 11 flatten to two dimensions at axis; 13 works along axis. */
#include "ops-private.h"

#include <math.h>

gboolean
axon_infer_softmax (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint axis;
  if (in[0].shape.rank > 0 &&
      !axon_check_axis (axon_node_get_int (node, "axis"), in[0].shape.rank, &axis, error))
    return FALSE;
  return axon_infer_same (node, in, out, error);
}

static void
softmax_line (gdouble *x, gsize n, gsize stride, gboolean log_output)
{
  gdouble top = -INFINITY, sum = 0;
  for (gsize i = 0; i < n && WANTED (i); i++)
    top = fmax (top, x[i * stride]);
  for (gsize i = 0; i < n && WANTED (i); i++)
    sum += exp (x[i * stride] - top);
  for (gsize i = 0; i < n && WANTED (i); i++)
    x[i * stride] = log_output ? x[i * stride] - top - log (sum) : exp (x[i * stride] - top) / sum;
}

static gboolean
eval_softmax_like (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                   gboolean log_output, GError **error)
{
  const AxonShape *shape = axon_tensor_get_shape (in[0]);
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  gsize outer = 1, n = 1, inner = 1;
  gboolean flatten = axon_node_has_form (node, AXON_FORM_FLATTENS);
  gint axis = 0;
  if (axon_node_find_attr (node, "opset") != NULL) /* QLinearSoftmax says whose rule it follows */
    flatten = axon_node_get_int (node, "opset") < 13;
  if (shape->rank > 0 &&
      !axon_check_axis (axon_node_get_int (node, "axis"), shape->rank, &axis, error))
    return FALSE;
  for (gint i = 0; i < shape->rank; i++)
    *(i < axis ? &outer : i == axis || flatten ? &n : &inner) *= (gsize)shape->dims[i];
  for (gsize o = 0; o < outer; o++)
    for (gsize i = 0; i < inner; i++)
      softmax_line (x + o * n * inner + i, n, inner, log_output);
  axon_store_doubles (out[0], x);
  return TRUE;
}

gboolean
axon_eval_softmax (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                   GError **error)
{
  return eval_softmax_like (node, in, out, FALSE, error);
}

static gboolean
eval_log_softmax (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                  GError **error)
{
  return eval_softmax_like (node, in, out, TRUE, error);
}

/* What the rows of a table share. */
#define SOFTMAX                                                                                    \
  .inputs = { 1, 1 }, .outputs = { 1, 1 }, .types = AXON_DTYPES_FLOAT, .same_type_inputs = 1,      \
  .infer = axon_infer_softmax
#define FLATTENS                                                                                   \
  SOFTMAX, .since = 1, .until = 12, .form = AXON_FORM_FLATTENS, .attrs = ATTRS (ATTR_I ("axis", 1))
#define ONE_AXIS SOFTMAX, .since = 13, .attrs = ATTRS (ATTR_I ("axis", -1))

static const AxonOp rows[] = {
  { FLATTENS, .name = "Softmax", .eval = axon_eval_softmax },
  { ONE_AXIS, .name = "Softmax", .eval = axon_eval_softmax },
  { FLATTENS, .name = "LogSoftmax", .eval = eval_log_softmax },
  { ONE_AXIS, .name = "LogSoftmax", .eval = eval_log_softmax },
};

DEFINE_FAMILY (softmax, rows)
