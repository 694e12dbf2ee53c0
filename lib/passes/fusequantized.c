/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DequantizeLinear, operator, QuantizeLinear become one quantised node: Conv with its activation a
 * QLinearConv, Add a QLinearAdd. A clamp before quantising is a clamp of the quantised numbers, for
 * rounding keeps order: it becomes the attribute axon.clip. */
#include "axonpass.h"

#include <float.h>
#include <math.h>

static gboolean
is_scalar (const AxonValue *value)
{
  return value == NULL ||
         (axon_value_is_constant (value) && axon_tensor_get_numel (value->type.value) == 1);
}

/* A per-tensor byte-sized DequantizeLinear of something that is computed. */
static AxonNode *
match_dequantize (const AxonNode *node, guint index)
{
  AxonNode *dq = axon_match_input (node, index, "DequantizeLinear");
  if (dq == NULL || !is_scalar (dq->inputs[1]) || !is_scalar (axon_node_get_input (dq, 2)) ||
      !(AXON_DTYPE_BIT (dq->inputs[0]->type.dtype) & AXON_DTYPES_BYTE))
    return NULL;
  return dq;
}

typedef struct {
  AxonNode *act; /* or NULL */
  AxonNode *q;
  gfloat lo, hi; /* of the activation, in real numbers */
} Tail;

static gboolean
match_tail (const AxonNode *node, Tail *t)
{
  AxonNode *next = axon_match_only_user (node->outputs[0], NULL);
  *t = (Tail){ .lo = -FLT_MAX, .hi = FLT_MAX };
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
         (AXON_DTYPE_BIT (next->inputs[2]->type.dtype) & AXON_DTYPES_BYTE) != 0;
}

static void
set_clip (AxonNode *node, const Tail *t)
{
  gdouble scale = axon_tensor_get_value (t->q->inputs[1]->type.value, 0);
  gdouble zero = axon_tensor_get_value (t->q->inputs[2]->type.value, 0);
  gboolean is_signed = t->q->inputs[2]->type.dtype == AXON_DTYPE_I8;
  gint64 lo = is_signed ? -128 : 0, hi = is_signed ? 127 : 255;
  gint64 clip[2] = { (gint64)CLAMP (rint ((gdouble)t->lo / scale) + zero, lo, hi),
                     (gint64)CLAMP (rint ((gdouble)t->hi / scale) + zero, lo, hi) };
  if (clip[0] > lo || clip[1] < hi)
    axon_node_set_ints (node, "axon.clip", clip, 2);
}

static void
inherit (AxonNode *node, const Tail *t, AxonNode *from)
{
  axon_node_add_origins (node, from);
  if (t->act != NULL)
    axon_node_add_origins (node, t->act);
  axon_node_add_origins (node, t->q);
}

/* The i32 bias: as it stands behind its DequantizeLinear, or rounded from floats. */
static AxonValue *
quantized_bias (AxonModel *model, const AxonNode *conv, const AxonNode *x, const AxonNode *w)
{
  AxonValue *bias = axon_node_get_input (conv, 2);
  const AxonTensor *xs = x->inputs[1]->type.value, *ws = w->inputs[1]->type.value;
  g_autoptr (AxonTensor) out = NULL;
  gsize n;
  if (bias->producer != NULL && axon_node_is (bias->producer, "DequantizeLinear") &&
      bias->producer->inputs[0]->type.dtype == AXON_DTYPE_I32)
    return bias->producer->inputs[0];
  if (!axon_value_is_constant (bias))
    return NULL;
  out = axon_tensor_new (AXON_DTYPE_I32, &bias->type.shape, NULL);
  n = axon_tensor_get_numel (out);
  for (gsize i = 0; i < n; i++)
    axon_dtype_store (AXON_DTYPE_I32, axon_tensor_get_data (out), i,
                      rint (axon_tensor_get_value (bias->type.value, i) /
                            (axon_tensor_get_value (xs, 0) *
                             axon_tensor_get_value (ws, axon_tensor_get_numel (ws) > 1 ? i : 0))));
  return axon_model_add_constant (model, NULL, out);
}

static void
copy_window (AxonNode *to, const AxonNode *from)
{
  static const gchar *const names[] = { "dilations", "kernel_shape", "pads", "strides" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    guint n;
    const gint64 *values = axon_node_get_ints (from, names[i], &n);
    if (values != NULL)
      axon_node_set_ints (to, names[i], values, n);
  }
  axon_node_set_int (to, "group", axon_node_get_int (from, "group"));
  axon_node_set_string (to, "auto_pad", axon_node_get_string (from, "auto_pad"));
}

static void
replace_tail (AxonModel *model, AxonNode *node, const Tail *t)
{
  AxonValue *y = t->q->outputs[0];
  AxonNode *q = t->q;
  axon_node_set_output (q, 0, NULL);
  axon_node_set_output (node, 0, y);
  axon_model_remove_node (model, q);
}

static gboolean
fuse_conv (AxonModel *model, AxonNode *conv)
{
  AxonNode *x = match_dequantize (conv, 0), *w = axon_match_input (conv, 1, "DequantizeLinear"), *q;
  AxonValue *bias = NULL;
  AxonValue *zero_w;
  Tail t;
  gint axis;
  if (x == NULL || w == NULL || !axon_value_is_constant (w->inputs[0]) ||
      !axon_value_is_constant (w->inputs[1]) || w->inputs[1]->type.shape.rank > 1 ||
      !(AXON_DTYPE_BIT (w->inputs[0]->type.dtype) & AXON_DTYPES_BYTE) || !match_tail (conv, &t))
    return FALSE;
  axis = (gint)axon_node_get_int (w, "axis");
  if (axon_tensor_get_numel (w->inputs[1]->type.value) > 1 && axis != 0 &&
      axis != -w->inputs[0]->type.shape.rank)
    return FALSE;
  if (axon_node_get_input (conv, 2) != NULL) {
    bias = quantized_bias (model, conv, x, w);
    if (bias == NULL)
      return FALSE;
  }
  zero_w = axon_node_get_input (w, 2);
  if (zero_w == NULL)
    zero_w = axon_pass_add_scalar (model, w->inputs[0]->type.dtype, 0);
  AxonValue *zero_x = axon_node_get_input (x, 2)
                          ? x->inputs[2]
                          : axon_pass_add_scalar (model, x->inputs[0]->type.dtype, 0);
  AxonValue *in[] = { x->inputs[0], x->inputs[1],   zero_x,         w->inputs[0], w->inputs[1],
                      zero_w,       t.q->inputs[1], t.q->inputs[2], bias };
  q = axon_pass_add_node (model, conv, NULL, "QLinearConv", 10, in, bias ? 9 : 8,
                          axon_model_add_value (model, NULL));
  copy_window (q, conv);
  inherit (q, &t, x);
  axon_node_add_origins (q, w);
  set_clip (q, &t);
  replace_tail (model, q, &t);
  return TRUE;
}

static gboolean
fuse_add (AxonModel *model, AxonNode *add)
{
  AxonNode *a = match_dequantize (add, 0), *b = match_dequantize (add, 1), *q;
  Tail t;
  if (a == NULL || b == NULL || !match_tail (add, &t) ||
      a->inputs[0]->type.dtype != b->inputs[0]->type.dtype ||
      a->inputs[0]->type.dtype != t.q->inputs[2]->type.dtype)
    return FALSE;
  AxonValue *in[] = { a->inputs[0],   a->inputs[1],  axon_node_get_input (a, 2),
                      b->inputs[0],   b->inputs[1],  axon_node_get_input (b, 2),
                      t.q->inputs[1], t.q->inputs[2] };
  q = axon_pass_add_node (model, add, AXON_DOMAIN_MICROSOFT, "QLinearAdd", 1, in, 8,
                          axon_model_add_value (model, NULL));
  inherit (q, &t, a);
  axon_node_add_origins (q, b);
  set_clip (q, &t);
  replace_tail (model, q, &t);
  return TRUE;
}

static gboolean
fuse_all (AxonModel *model, const gchar *name, gboolean (*fuse) (AxonModel *, AxonNode *),
          GError **error)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    if (axon_node_is (node, name))
      fuse (model, node);
  }
  return axon_model_sort (model, error) && axon_pass_remove_dead_code (model, error) &&
         axon_model_infer_shapes (model, error);
}

gboolean
axon_pass_fuse_quantized_convolutions (AxonModel *model, GError **error)
{
  return fuse_all (model, "Conv", fuse_conv, error);
}

gboolean
axon_pass_fuse_quantized_sums (AxonModel *model, GError **error)
{
  return fuse_all (model, "Add", fuse_add, error);
}
