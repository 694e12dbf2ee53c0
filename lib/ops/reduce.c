/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reduce*: axes by attribute, from 13 (ReduceSum) or 18 by input. */
#include "ops-private.h"

#include <math.h>

typedef enum { MEAN, SUM, TOP, LOW, PROD, L1, L2, LOG_SUM, LOG_SUM_EXP, SUM_SQUARE } Reduction;

static gboolean
reduced_axes (const AxonNode *node, const AxonTypeInfo *in, gint rank, gboolean *marks,
              gboolean *known, GError **error)
{
  gint64 axes[AXON_MAX_RANK];
  guint n = 0;
  *known = TRUE;
  if (!axon_node_has_form (node, AXON_FORM_ATTRIBUTES)) {
    if (axon_is_given (node, in, 1))
      *known = axon_const_ints (&in[1], axes, AXON_MAX_RANK, &n);
  } else {
    const gint64 *attr = axon_node_get_ints (node, "axes", &n);
    n = MIN (n, AXON_MAX_RANK);
    for (guint i = 0; i < n; i++)
      axes[i] = attr[i];
  }
  for (gint i = 0; i < rank; i++)
    marks[i] = n == 0 && axon_node_get_int (node, "noop_with_empty_axes") == 0;
  for (guint i = 0; *known && i < n; i++) {
    gint axis;
    if (!axon_check_axis (axes[i], rank, &axis, error))
      return FALSE;
    marks[axis] = TRUE;
  }
  return TRUE;
}

static gboolean
infer_reduce (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gboolean marks[AXON_MAX_RANK], known, keep = axon_node_get_int (node, "keepdims") != 0;
  AxonShape shape = { 0 };
  out[0].dtype = in[0].dtype;
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!reduced_axes (node, in, in[0].shape.rank, marks, &known, error))
    return FALSE;
  if (!known) {
    if (keep)
      out[0].shape.rank = in[0].shape.rank;
    for (gint i = 0; i < out[0].shape.rank; i++)
      out[0].shape.dims[i] = -1;
    return TRUE;
  }
  for (gint i = 0; i < in[0].shape.rank; i++)
    if (!marks[i])
      shape.dims[shape.rank++] = in[0].shape.dims[i];
    else if (keep)
      shape.dims[shape.rank++] = 1;
  out[0].shape = shape;
  return TRUE;
}

static gdouble
start_value (Reduction how, AxonDType dtype)
{
  if (dtype == AXON_DTYPE_BOOL)
    return how == LOW;
  return how == TOP || how == LOG_SUM_EXP ? -INFINITY : how == LOW ? INFINITY : how == PROD;
}

static gdouble
accumulate (Reduction how, gdouble y, gdouble x)
{
  switch (how) {
  case TOP:
    return isnan (x) || x > y ? x : y;
  case LOW:
    return isnan (x) || x < y ? x : y;
  case L1:
    return y + fabs (x);
  case L2:
  case SUM_SQUARE:
    return y + x * x;
  case LOG_SUM_EXP: {          /* kept as the logarithm, so that nothing overflows */
    gdouble top = fmax (y, x); /* the other where one is no number */
    return isnan (x) || isnan (y) ? x + y
           : isinf (top)          ? top
                                  : top + log (exp (y - top) + exp (x - top));
  }
  default:
    return y + x;
  }
}

/* Only products leave the range of a double on the way. */
static void
join (Reduction how, AxonProduct *y, gdouble x)
{
  if (how == PROD)
    axon_product_multiply (y, x);
  else
    y->mantissa = accumulate (how, y->mantissa, x);
}

static gdouble
finish (Reduction how, const AxonProduct *joined, gdouble n)
{
  gdouble y = axon_product_value (joined);
  return how == MEAN ? y / n : how == L2 ? sqrt (y) : how == LOG_SUM ? log (y) : y;
}

/* noop_with_empty_axes: each element is a set of its own, as the operator's text of opset 18 says
 * "performs the reduction on each element". */
static gboolean
eval_reduce (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, Reduction how,
             GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]);
  AxonTypeInfo infos[2] = { 0 };
  AXON_AUTO_SCRATCH gdouble *v = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  gsize n_in = axon_tensor_get_numel (in[0]), n_out = axon_tensor_get_numel (out[0]);
  AXON_AUTO_SCRATCH gdouble *y = axon_scratch_new (n_out + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  AXON_AUTO_SCRATCH AxonProduct *joined = axon_scratch_new (n_out + 1, sizeof *joined, error);
  if (*error != NULL)
    return FALSE;
  gint64 strides[AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 }, step = 1;
  gboolean marks[AXON_MAX_RANK], known;
  axon_infos_of (node, in, infos);
  if (!reduced_axes (node, infos, x->rank, marks, &known, error))
    return FALSE;
  for (gint d = x->rank - 1; d >= 0; d--) {
    strides[d] = marks[d] ? 0 : step;
    step *= marks[d] ? 1 : x->dims[d];
  }
  for (gsize i = 0; i < n_out && WANTED (i); i++)
    joined[i] = (AxonProduct){ start_value (how, axon_tensor_get_dtype (in[0])), 0 };
  for (gsize i = 0; i < n_in && WANTED (i); i++) {
    gint64 at = 0;
    for (gint d = 0; d < x->rank; d++)
      at += index[d] * strides[d];
    join (how, &joined[at], v[i]);
    axon_next_index (index, x);
  }
  for (gsize i = 0; i < n_out && WANTED (i); i++)
    y[i] = finish (how, &joined[i], (gdouble)n_in / (gdouble)n_out);
  axon_store_doubles (out[0], y);
  return TRUE;
}

#define EVAL(name, how)                                                                            \
  static gboolean eval_##name (const AxonNode *node, AxonTensor *const *in,                        \
                               AxonTensor *const *out, GError **error)                             \
  {                                                                                                \
    return eval_reduce (node, in, out, how, error);                                                \
  }
EVAL (mean, MEAN)
EVAL (sum, SUM)
EVAL (max, TOP)
EVAL (min, LOW)
EVAL (prod, PROD)
EVAL (l1, L1)
EVAL (l2, L2)
EVAL (log_sum, LOG_SUM)
EVAL (log_sum_exp, LOG_SUM_EXP)
EVAL (sum_square, SUM_SQUARE)

#define N AXON_DTYPES_NUMERIC
#define ALL AXON_DTYPES_ALL

/* What the rows of a table share. */
#define REDUCE .outputs = { 1, 1 }, .same_type_inputs = 1, .infer = infer_reduce
#define AXES_ATTRIBUTE                                                                             \
  .since = 1, .form = AXON_FORM_ATTRIBUTES, .inputs = { 1, 1 },                                    \
  .attrs = ATTRS (ATTR_INTS ("axes"), ATTR_I ("keepdims", 1))
#define AXES_INPUT                                                                                 \
  .inputs = { 1, 2 }, .operands = ".l",                                                            \
  .attrs = ATTRS (ATTR_I ("keepdims", 1), ATTR_I ("noop_with_empty_axes", 0))

static const AxonOp rows[] = {
  { REDUCE, .name = "ReduceMean", .until = 17, .types = N, .eval = eval_mean, AXES_ATTRIBUTE },
  { REDUCE, .name = "ReduceMean", .since = 18, .types = N, .eval = eval_mean, AXES_INPUT },
  { REDUCE, .name = "ReduceSum", .until = 12, .types = N, .eval = eval_sum, AXES_ATTRIBUTE },
  { REDUCE, .name = "ReduceSum", .since = 13, .types = N, .eval = eval_sum, AXES_INPUT },
  { REDUCE, .name = "ReduceMax", .until = 17, .types = ALL, .eval = eval_max, AXES_ATTRIBUTE },
  { REDUCE, .name = "ReduceMax", .since = 18, .types = ALL, .eval = eval_max, AXES_INPUT },
  { REDUCE, .name = "ReduceMin", .until = 17, .types = ALL, .eval = eval_min, AXES_ATTRIBUTE },
  { REDUCE, .name = "ReduceMin", .since = 18, .types = ALL, .eval = eval_min, AXES_INPUT },
  { REDUCE, .name = "ReduceProd", .until = 17, .types = N, .eval = eval_prod, AXES_ATTRIBUTE },
  { REDUCE, .name = "ReduceProd", .since = 18, .types = N, .eval = eval_prod, AXES_INPUT },
  { REDUCE, .name = "ReduceL1", .until = 17, .types = N, .eval = eval_l1, AXES_ATTRIBUTE },
  { REDUCE, .name = "ReduceL1", .since = 18, .types = N, .eval = eval_l1, AXES_INPUT },
  { REDUCE, .name = "ReduceL2", .until = 17, .types = N, .eval = eval_l2, AXES_ATTRIBUTE },
  { REDUCE, .name = "ReduceL2", .since = 18, .types = N, .eval = eval_l2, AXES_INPUT },
  { REDUCE, .name = "ReduceLogSum", .until = 17, .types = N, .eval = eval_log_sum, AXES_ATTRIBUTE },
  { REDUCE, .name = "ReduceLogSum", .since = 18, .types = N, .eval = eval_log_sum, AXES_INPUT },
  { REDUCE, .name = "ReduceLogSumExp", .until = 17, .types = N, .eval = eval_log_sum_exp,
    AXES_ATTRIBUTE },
  { REDUCE, .name = "ReduceLogSumExp", .since = 18, .types = N, .eval = eval_log_sum_exp,
    AXES_INPUT },
  { REDUCE, .name = "ReduceSumSquare", .until = 17, .types = N, .eval = eval_sum_square,
    AXES_ATTRIBUTE },
  { REDUCE, .name = "ReduceSumSquare", .since = 18, .types = N, .eval = eval_sum_square,
    AXES_INPUT },
};

DEFINE_FAMILY (reduce, rows)
