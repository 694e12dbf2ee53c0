/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* QuantizeLinear and DequantizeLinear: 10 per tensor, 13 per axis. */
#include "ops-private.h"

#include <math.h>

static gboolean
check_parameters (const AxonNode *node, const AxonTypeInfo *in, GError **error)
{
  gint axis;
  gint64 n = axon_shape_get_numel (&in[1].shape);
  if (!axon_check_rank (in, 1, 0, 1, error))
    return FALSE;
  if (n <= 1 || in[0].shape.rank < 0)
    return TRUE;
  if (node->op->since < 13)
    FAIL (MODEL, "per-axis scales need opset 13");
  if (!axon_check_axis (axon_node_get_int (node, "axis"), in[0].shape.rank, &axis, error))
    return FALSE;
  if (in[0].shape.dims[axis] >= 0 && in[0].shape.dims[axis] != n)
    FAIL (MODEL, "%" G_GINT64_FORMAT " scales for a dimension of %" G_GINT64_FORMAT, n,
          in[0].shape.dims[axis]);
  if (node->n_inputs > 2 && axon_shape_is_static (&in[2].shape) &&
      axon_shape_get_numel (&in[2].shape) != n)
    FAIL (MODEL, "the zero point must have as many elements as the scale");
  return TRUE;
}

static gboolean
infer_quantize (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  AxonDType zero = node->n_inputs > 2 ? in[2].dtype : AXON_DTYPE_UNDEFINED;
  out[0].dtype = zero ? zero : AXON_DTYPE_U8;
  out[0].shape = in[0].shape;
  if (!(AXON_DTYPE_BIT (out[0].dtype) & AXON_DTYPES_BYTE))
    FAIL (UNSUPPORTED, "quantising to %s", axon_dtype_get_name (out[0].dtype));
  return check_parameters (node, in, error);
}

static gboolean
infer_dequantize (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  out[0].dtype = in[1].dtype;
  out[0].shape = in[0].shape;
  return check_parameters (node, in, error);
}

/* scale and zero point of element @i */
typedef struct {
  const AxonTensor *scale, *zero;
  gsize n, inner;
} Params;

static Params
get_params (const AxonNode *node, AxonTensor *const *in)
{
  Params p = { in[1], node->n_inputs > 2 ? in[2] : NULL, axon_tensor_get_numel (in[1]), 1 };
  const AxonShape *x = axon_tensor_get_shape (in[0]);
  gint axis = 0;
  if (p.n > 1 && axon_check_axis (axon_node_get_int (node, "axis"), x->rank, &axis, NULL))
    for (gint d = axis + 1; d < x->rank; d++)
      p.inner *= (gsize)x->dims[d];
  return p;
}

static gdouble
param_scale (const Params *p, gsize i)
{
  return axon_tensor_get_value (p->scale, p->n > 1 ? i / p->inner % p->n : 0);
}

static gdouble
param_zero (const Params *p, gsize i)
{
  return p->zero ? axon_tensor_get_value (p->zero, p->n > 1 ? i / p->inner % p->n : 0) : 0;
}

static gboolean
eval_quantize (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
               G_GNUC_UNUSED GError **error)
{
  Params p = get_params (node, in);
  g_autofree gdouble *x = axon_load_doubles (in[0]);
  gsize n = axon_tensor_get_numel (in[0]);
  for (gsize i = 0; i < n; i++) {
    /* Divide in single precision as the specification's f32 tensors do, for the same ties. */
    gdouble q = (gdouble)((gfloat)x[i] / (gfloat)param_scale (&p, i));
    x[i] = fabs (q) < 1e9 ? (gdouble)axon_round_even (q) + param_zero (&p, i) : q;
  }
  axon_store_doubles (out[0], x);
  return TRUE;
}

static gboolean
eval_dequantize (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                 G_GNUC_UNUSED GError **error)
{
  Params p = get_params (node, in);
  g_autofree gdouble *x = axon_load_doubles (in[0]);
  gsize n = axon_tensor_get_numel (in[0]);
  for (gsize i = 0; i < n; i++)
    x[i] = (x[i] - param_zero (&p, i)) * param_scale (&p, i);
  axon_store_doubles (out[0], x);
  return TRUE;
}

#define QUANTIZE_TYPES (AXON_DTYPES_FLOAT | AXON_DTYPE_BIT (AXON_DTYPE_I32))
#define DEQUANTIZE_TYPES (AXON_DTYPES_BYTE | AXON_DTYPE_BIT (AXON_DTYPE_I32))

static const AxonOp rows[] = {
  { "QuantizeLinear", NULL, 10, 12, 2, 3, 1, 1, QUANTIZE_TYPES, 1, NULL, infer_quantize,
    eval_quantize, AXON_OP_NONE },
  { "QuantizeLinear", NULL, 13, 18, 2, 3, 1, 1, QUANTIZE_TYPES, 1, ATTRS (ATTR_I ("axis", 1)),
    infer_quantize, eval_quantize, AXON_OP_NONE },
  { "DequantizeLinear", NULL, 10, 12, 2, 3, 1, 1, DEQUANTIZE_TYPES, 1, NULL, infer_dequantize,
    eval_dequantize, AXON_OP_NONE },
  { "DequantizeLinear", NULL, 13, 18, 2, 3, 1, 1, DEQUANTIZE_TYPES, 1, ATTRS (ATTR_I ("axis", 1)),
    infer_dequantize, eval_dequantize, AXON_OP_NONE },
};

DEFINE_FAMILY (quantize, rows)
