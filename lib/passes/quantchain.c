/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "quantchain.h"

#include <float.h>
#include <math.h>

/* Room for a bias that is rounded: sums of products take the rest of 32 bits. */
#define LARGEST_BIAS 1073741824.0
#define SCALE_TOLERANCE 1e-6

static gboolean
is_scalar (const AxonValue *value)
{
  return value == NULL ||
         (axon_value_is_constant (value) && axon_tensor_get_numel (value->type.value) == 1);
}

static gboolean
is_byte (const AxonValue *value)
{
  return (AXON_DTYPE_BIT (value->type.dtype) & AXON_DTYPES_BYTE) != 0;
}

AxonNode *
axon_match_dequantize (const AxonNode *node, guint index)
{
  AxonNode *dq = axon_match_input (node, index, "DequantizeLinear");
  if (dq == NULL || !is_scalar (dq->inputs[1]) || !is_scalar (axon_node_get_input (dq, 2)) ||
      !is_byte (dq->inputs[0]))
    return NULL;
  return dq;
}

AxonNode *
axon_match_dequantized_constant (const AxonNode *node, guint index, gint axis)
{
  AxonNode *dq = axon_match_input (node, index, "DequantizeLinear");
  AxonValue *zero = dq ? axon_node_get_input (dq, 2) : NULL;
  gint64 along;
  if (dq == NULL || !axon_value_is_constant (dq->inputs[0]) ||
      !axon_value_is_constant (dq->inputs[1]) || dq->inputs[1]->type.shape.rank > 1 ||
      (zero != NULL && !axon_value_is_constant (zero)) || !is_byte (dq->inputs[0]))
    return NULL;
  along = axon_node_get_int (dq, "axis");
  if (along < 0)
    along += dq->inputs[0]->type.shape.rank;
  return axon_tensor_get_numel (dq->inputs[1]->type.value) == 1 || along == axis ? dq : NULL;
}

gboolean
axon_match_quantize (const AxonNode *node, AxonQuantTail *t)
{
  AxonNode *next = axon_match_only_user (node->outputs[0], NULL);
  *t = (AxonQuantTail){ .lo = -FLT_MAX, .hi = FLT_MAX };
  if (next != NULL && (axon_node_is (next, "Relu") || axon_node_is (next, "Clip"))) {
    t->act = next;
    if (axon_node_is (next, "Relu"))
      t->lo = 0;
    else if (!axon_match_clip (next, &t->lo, &t->hi))
      return FALSE;
    next = axon_match_only_user (next->outputs[0], NULL);
  }
  t->q = next;
  return next != NULL && axon_node_is (next, "QuantizeLinear") && is_scalar (next->inputs[1]) &&
         axon_node_get_input (next, 2) != NULL && is_scalar (next->inputs[2]) &&
         is_byte (next->inputs[2]);
}

AxonValue *
axon_quant_repeat (AxonModel *model, AxonValue *value, gint64 times)
{
  const AxonTensor *from = value->type.value;
  gsize n = axon_tensor_get_numel (from);
  AxonShape shape = AXON_SHAPE ((gint64)n * times);
  g_autoptr (AxonTensor) out = NULL;
  if (n == 1 || times == 1)
    return value;
  out = axon_tensor_new (value->type.dtype, &shape, NULL);
  for (gsize i = 0; i < n * (gsize)times; i++)
    axon_dtype_store (value->type.dtype, axon_tensor_get_data (out), i,
                      axon_tensor_get_value (from, i % n));
  return axon_model_add_constant (model, NULL, out);
}

AxonValue *
axon_quant_zero (AxonModel *model, const AxonNode *dequantize)
{
  AxonValue *zero = axon_node_get_input (dequantize, 2);
  return zero ? zero : axon_pass_add_scalar (model, dequantize->inputs[0]->type.dtype, 0);
}

static gdouble
value_at (const AxonTensor *tensor, gsize i)
{
  return axon_tensor_get_value (tensor, axon_tensor_get_numel (tensor) > 1 ? i : 0);
}

static gdouble
product_scale (const AxonTensor *x_scale, const AxonTensor *w_scale, gsize channel)
{
  return (gdouble)((gfloat)value_at (x_scale, 0) * (gfloat)value_at (w_scale, channel));
}

/* The DequantizeLinear of i32 that makes @bias. */
static AxonNode *
dequantized_bias (const AxonValue *bias)
{
  AxonNode *dq = bias->producer;
  AxonValue *zero = dq ? axon_node_get_input (dq, 2) : NULL;
  if (dq == NULL || !axon_node_is (dq, "DequantizeLinear") ||
      dq->inputs[0]->type.dtype != AXON_DTYPE_I32 || !axon_value_is_constant (dq->inputs[1]) ||
      (zero != NULL && !axon_value_is_constant (zero)))
    return NULL;
  return dq;
}

static gboolean
stands_as_it_is (const AxonNode *dq, const AxonTensor *x_scale, const AxonTensor *w_scale, gsize n)
{
  const AxonTensor *scale = dq->inputs[1]->type.value;
  const AxonValue *zero = axon_node_get_input (dq, 2);
  if (axon_shape_get_numel (&dq->inputs[0]->type.shape) != (gint64)n)
    return FALSE;
  for (gsize i = 0; i < n; i++) {
    gdouble wanted = product_scale (x_scale, w_scale, i);
    if (!(fabs (value_at (scale, i) - wanted) <= SCALE_TOLERANCE * fabs (wanted)) ||
        (zero != NULL && value_at (zero->type.value, i) != 0))
      return FALSE;
  }
  return TRUE;
}

/* The real value of element @i. */
static gdouble
real_bias (const AxonNode *dq, const AxonTensor *values, gsize i)
{
  const AxonValue *zero = dq ? axon_node_get_input (dq, 2) : NULL;
  gdouble v = value_at (values, i) - (zero ? value_at (zero->type.value, i) : 0);
  return dq ? v * value_at (dq->inputs[1]->type.value, i) : v;
}

AxonValue *
axon_quantize_bias (AxonModel *model, AxonValue *bias, gdouble factor, const AxonTensor *x_scale,
                    const AxonTensor *w_scale, gsize n, const AxonTensor *y_scale)
{
  AxonNode *dq = dequantized_bias (bias);
  AxonShape shape = AXON_SHAPE ((gint64)n);
  const AxonTensor *values = dq ? dq->inputs[0]->type.value : bias->type.value;
  g_autoptr (AxonTensor) out = NULL;
  if (dq != NULL && factor == 1 && dq->inputs[0]->type.shape.rank == 1 &&
      stands_as_it_is (dq, x_scale, w_scale, n))
    return dq->inputs[0];
  if (values == NULL ||
      (axon_tensor_get_numel (values) != 1 && axon_tensor_get_numel (values) != n))
    return NULL;
  out = axon_tensor_new (AXON_DTYPE_I32, &shape, NULL);
  for (gsize i = 0; i < n; i++) {
    gdouble scale = product_scale (x_scale, w_scale, i);
    gdouble v = real_bias (dq, values, i) * factor / scale;
    if (!(fabs (v) <= LARGEST_BIAS) || (v != rint (v) && scale > value_at (y_scale, 0)))
      return NULL;
    axon_dtype_store (AXON_DTYPE_I32, axon_tensor_get_data (out), i, rint (v));
  }
  return axon_model_add_constant (model, NULL, out);
}

/* What QuantizeLinear makes of @bound. */
static gint64
quantized_bound (const AxonQuantTail *t, gfloat bound, gint64 lo, gint64 hi)
{
  gfloat scale = (gfloat)axon_tensor_get_value (t->q->inputs[1]->type.value, 0);
  gdouble zero = axon_tensor_get_value (t->q->inputs[2]->type.value, 0);
  return (gint64)CLAMP (rint ((gdouble)(bound / scale)) + zero, (gdouble)lo, (gdouble)hi);
}

static void
set_clip (AxonNode *node, const AxonQuantTail *t)
{
  gboolean is_signed = t->q->inputs[2]->type.dtype == AXON_DTYPE_I8;
  gint64 lo = is_signed ? -128 : 0, hi = is_signed ? 127 : 255;
  gint64 clip[2] = { quantized_bound (t, MIN (t->lo, t->hi), lo, hi),
                     quantized_bound (t, t->hi, lo, hi) };
  if (clip[0] > lo || clip[1] < hi)
    axon_node_set_ints (node, "axon.clip", clip, 2);
}

void
axon_quant_replace (AxonModel *model, AxonNode *node, const AxonQuantTail *tail, AxonNode *a,
                    AxonNode *b)
{
  AxonValue *y = tail->q->outputs[0];
  axon_node_add_origins (node, a);
  if (tail->act != NULL)
    axon_node_add_origins (node, tail->act);
  axon_node_add_origins (node, tail->q);
  axon_node_add_origins (node, b);
  set_clip (node, tail);
  axon_node_set_output (tail->q, 0, NULL);
  axon_node_set_output (node, 0, y);
  axon_model_remove_node (model, tail->q);
}
