/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* QLinearConv: sums of whole numbers, four channels at once where the weights are known. */
#include "conv.h"

#include <string.h>

#define BYTES 4 /* of one dot product */

gboolean
gpu_has_integer_conv (const AxonNode *node)
{
  static const guint known[] = { 1, 2, 3, 4, 5, 6, 7 };
  if (!axon_node_is (node, "QLinearConv"))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (axon_node_get_input (node, known[i]) != NULL && gpu_node_constant (node, known[i]) == NULL)
      return FALSE;
  return TRUE;
}

/* Least and most result less its zero point, then x_scale * w_scale / y_scale of every output. */
static GpuTensor *
scales (GpuPlan *plan, const AxonNode *node, const AxonQuant *q)
{
  gint64 n = node->outputs[0]->type.shape.dims[1];
  const AxonShape shape = AXON_SHAPE (n + 2);
  g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  gboolean is_signed = node->outputs[0]->type.dtype == AXON_DTYPE_I8;
  gfloat *data = axon_tensor_get_data (t);
  guint n_clip;
  const gint64 *clip = axon_node_get_ints (node, "axon.clip", &n_clip);
  data[0] = (gfloat)((clip ? clip[0] : is_signed ? -128 : 0) - q->y_zero);
  data[1] = (gfloat)((clip ? clip[1] : is_signed ? 127 : 255) - q->y_zero);
  for (gint64 i = 0; i < n; i++)
    data[i + 2] = q->x_scale * q->w_scale[q->n_w > 1 ? i : 0] / q->y_scale;
  return gpu_plan_constant_tensor (plan, t);
}

/* [group][block of 8 outputs][4 inputs][tap][8], four bytes each. */
static GpuTensor *
dot_weights (GpuPlan *plan, const AxonShape *ws, gint64 groups, const gint8 *w)
{
  gint64 taps = axon_shape_get_numel (ws) / (ws->dims[0] * ws->dims[1]), inputs = ws->dims[1];
  gint64 outputs = ws->dims[0] / groups, blocks = (outputs + 7) / 8;
  gint64 quads = (inputs + BYTES - 1) / BYTES;
  const AxonShape shape = AXON_SHAPE (groups * blocks * quads * taps * 8);
  g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_U32, &shape, NULL);
  guint32 *to = axon_tensor_get_data (t);
  memset (to, 0, (gsize)shape.dims[0] * sizeof *to);
  for (gint64 o = 0; o < ws->dims[0]; o++)
    for (gint64 i = 0; i < inputs * taps; i++) {
      gint64 channel = i / taps, tap = i % taps, block = o / outputs * blocks + o % outputs / 8;
      gint64 at = ((block * quads + channel / BYTES) * taps + tap) * 8 + o % outputs % 8;
      to[at] |= (guint32)(guint8)w[o * inputs * taps + i] << (8 * (channel % BYTES));
    }
  return gpu_plan_constant_tensor (plan, t);
}

/* The bias less what the zero point of x adds to every sum. */
static GpuTensor *
dot_bias (GpuPlan *plan, const AxonNode *node, const AxonShape *ws, const gint8 *w, gint32 zero)
{
  const AxonTensor *bias = gpu_node_constant (node, 8);
  gint64 n = ws->dims[0], depth = axon_shape_get_numel (ws) / n;
  const AxonShape shape = AXON_SHAPE (n);
  g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_I32, &shape, NULL);
  gint32 *to = axon_tensor_get_data (t);
  for (gint64 o = 0; o < n; o++) {
    gint64 sum = bias ? (gint64)axon_tensor_get_value (bias, (gsize)o) : 0;
    for (gint64 i = 0; i < depth; i++)
      sum -= (gint64)zero * w[o * depth + i];
    to[o] = (gint32)sum;
  }
  return gpu_plan_constant_tensor (plan, t);
}

/* Four channels of x as one number, all signed: [batch][4 channels][pixels]. */
static GpuTensor *
dot_pixels (GpuPlan *plan, GpuTensor *x)
{
  gint64 channels = x->shape.dims[1], quads = (channels + BYTES - 1) / BYTES;
  gint64 pixels = axon_shape_get_numel (&x->shape) / (x->shape.dims[0] * channels);
  const AxonShape shape = AXON_SHAPE (x->shape.dims[0], quads, pixels);
  const GpuPackBytesParams params = { .channels = gpu_int (channels),
                                      .quads = gpu_int (quads),
                                      .pixels = gpu_int (pixels) };
  GpuTensor *y = gpu_plan_scratch (plan, AXON_DTYPE_U32, &shape);
  g_autofree gchar *name = gpu_kernel_for (plan, "packbytes", "packbytes", x->dtype, "FLIP",
                                           x->dtype == AXON_DTYPE_U8 ? "0x80808080u" : "0", NULL);
  GpuStep *step =
      gpu_plan_step (plan, name, GPU_PARAMS_OF (plan, params), axon_shape_get_numel (&shape), 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
  return y;
}

/* The node's operands as bytes in fours. */
static GpuConvOperands
dot_operands (GpuPlan *plan, const AxonNode *node, const AxonQuant *q, const gint8 *w)
{
  const AxonShape *ws = &node->inputs[3]->type.shape;
  GpuTensor *x = gpu_plan_input (plan, node, 0);
  gint32 zero = x->dtype == AXON_DTYPE_U8 ? q->x_zero - 128 : q->x_zero;
  return (GpuConvOperands){ .kind = GPU_CONV_DOT,
                            .x = dot_pixels (plan, x),
                            .w = dot_weights (plan, ws, axon_node_get_int (node, "group"), w),
                            .bias = dot_bias (plan, node, ws, w, zero),
                            .scale = scales (plan, node, q),
                            .x_zero = (gint32)((guint32)(guint8)zero * 0x01010101u),
                            .y_zero = q->y_zero };
}

/* Weights less their zero points, which are 9 bits wide. */
static GpuTensor *
whole_weights (GpuPlan *plan, const AxonNode *node)
{
  const AxonTensor *w = gpu_node_constant (node, 3), *zero = gpu_node_constant (node, 5);
  g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_I16, axon_tensor_get_shape (w), NULL);
  gsize n = axon_tensor_get_numel (w), n_zero = zero ? axon_tensor_get_numel (zero) : 0;
  gsize depth = n / (gsize)MAX (axon_tensor_get_dim (w, 0), 1);
  gint16 *to = axon_tensor_get_data (t);
  for (gsize i = 0; i < n; i++)
    to[i] = (gint16)(axon_tensor_get_value (w, i) -
                     (n_zero ? axon_tensor_get_value (zero, n_zero > 1 ? i / depth : 0) : 0));
  return gpu_plan_constant_tensor (plan, t);
}

static GpuConvOperands
whole_operands (GpuPlan *plan, const AxonNode *node, const AxonQuant *q)
{
  return (GpuConvOperands){ .kind = GPU_CONV_WHOLE,
                            .x = gpu_plan_input (plan, node, 0),
                            .w = whole_weights (plan, node),
                            .bias = gpu_plan_input (plan, node, 8),
                            .scale = scales (plan, node, q),
                            .x_zero = q->x_zero,
                            .y_zero = q->y_zero };
}

static gboolean
build_qlinear_conv (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  g_auto (AxonQuant) q = { 0 };
  g_autofree gint8 *w = NULL;
  AxonShape ws = node->inputs[3]->type.shape;
  gboolean bias_known =
      axon_node_get_input (node, 8) == NULL || gpu_node_constant (node, 8) != NULL;
  GpuConvOperands o;
  if (!gpu_has_integer_conv (node) || !axon_quant_init (&q, node)) {
    *why = g_strdup ("scales, zero points or weights are " GPU_NOT_CONSTANT);
    return FALSE;
  }
  w = axon_quant_weights (node);
  if (w != NULL && bias_known &&
      (ws.dims[1] % BYTES == 0 || axon_node_get_int (node, "group") == 1)) {
    o = dot_operands (plan, node, &q, w);
    ws.dims[1] = (ws.dims[1] + BYTES - 1) / BYTES;
  } else {
    o = whole_operands (plan, node, &q);
  }
  return gpu_add_convolution (plan, node, &ws, &o, why);
}

static const GpuKernel rows[] = {
  { .name = "QLinearConv", .impl = "conv", .build = build_qlinear_conv },
};

GPU_DEFINE_FAMILY (qlinearconv, rows)
