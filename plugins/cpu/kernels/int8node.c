/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a node says of a product of bytes: weights, zero points, scales and bias by the operator's
 * form, the source's layout, the range of the result, a convolution's geometry. */
#include "convshape.h"
#include "int8.h"
#include "../cpueltwise.h"
#include "../onednn/cpudnn.h"

#include <string.h>

const CpuInt8Form cpu_int8_qlinear = {
  .x_scale = 1, .x_zero = 2, .w = 3, .w_scale = 4, .w_zero = 5, .y_scale = 6, .y_zero = 7, .bias = 8
};
const CpuInt8Form cpu_int8_integer = { .w = 1,
                                       .x_zero = 2,
                                       .w_zero = 3,
                                       .x_scale = -1,
                                       .w_scale = -1,
                                       .y_scale = -1,
                                       .y_zero = -1,
                                       .bias = -1 };
const CpuInt8Form cpu_int8_to_float = { .w = 1,
                                        .x_scale = 2,
                                        .w_scale = 3,
                                        .x_zero = 4,
                                        .w_zero = 5,
                                        .bias = 6,
                                        .y_scale = -1,
                                        .y_zero = -1 };

static const AxonTensor *
constant (const AxonNode *node, gint index)
{
  return index < 0 ? NULL : cpu_node_constant (node, (guint)index);
}

static gboolean
is_given (const AxonNode *node, gint index)
{
  return index >= 0 && axon_node_get_input (node, (guint)index) != NULL;
}

/* A number that is constant, or else a source of the step. FALSE: an array of several. */
static gboolean
read_number (CpuInt8Node *self, CpuPlan *plan, const AxonNode *node, gint index, gdouble *value,
             guint *at_run_time)
{
  gdouble constant_value;
  if (!is_given (node, index))
    return TRUE;
  if (axon_shape_get_numel (&node->inputs[index]->type.shape) != 1)
    return FALSE;
  if (axon_quant_scalar (node, (guint)index, &constant_value)) {
    *value = constant_value;
    return TRUE;
  }
  *at_run_time = self->n_in;
  self->in[self->n_in++] = cpu_plan_input_as (plan, node, (guint)index, NULL);
  return TRUE;
}

static gboolean
read_weights (CpuInt8Node *self, const AxonNode *node, const CpuInt8Form *form)
{
  const AxonTensor *w = constant (node, form->w), *zero = constant (node, form->w_zero);
  AxonDType dtype = node->inputs[form->w]->type.dtype;
  CpuInt8Weights *weights = &self->spec.weights;
  if (!(AXON_DTYPE_BIT (dtype) & AXON_DTYPES_BYTE) ||
      (is_given (node, form->w_zero) && zero == NULL))
    return FALSE;
  weights->data = w ? axon_tensor_get_data ((AxonTensor *)w) : NULL;
  weights->is_signed = dtype == AXON_DTYPE_I8;
  weights->n_zero = zero ? (guint)axon_tensor_get_numel (zero) : 0;
  self->zeros = g_new (gint32, weights->n_zero + 1);
  for (guint i = 0; i < weights->n_zero; i++)
    self->zeros[i] = (gint32)axon_tensor_get_value (zero, i);
  weights->zero = self->zeros;
  return TRUE;
}

/* x_scale * w_scale [/ y_scale], in single precision and in this order, as the reference does. */
static gboolean
read_scales (CpuInt8Node *self, CpuPlan *plan, const AxonNode *node, const CpuInt8Form *form)
{
  const AxonTensor *ws = constant (node, form->w_scale);
  gdouble xs = 1, ys = 1;
  guint unknown = 0;
  if (form->x_scale < 0)
    return TRUE;
  if (ws == NULL || !read_number (self, plan, node, form->x_scale, &xs, &self->runtime.scale) ||
      (is_given (node, form->y_scale) &&
       (!read_number (self, plan, node, form->y_scale, &ys, &unknown) || ys == 0 ||
        self->runtime.scale != 0)) ||
      unknown != 0)
    return FALSE;
  if (axon_node_find_attr (node, "alpha") != NULL)
    xs = (gdouble)((gfloat)axon_node_get_float (node, "alpha") * (gfloat)xs);
  self->spec.n_scale = (guint)axon_tensor_get_numel (ws);
  self->scales = g_new (gfloat, self->spec.n_scale + 1);
  for (guint i = 0; i < self->spec.n_scale; i++)
    self->scales[i] = (gfloat)xs * (gfloat)axon_tensor_get_value (ws, i) / (gfloat)ys;
  self->spec.scale = self->scales;
  return TRUE;
}

static gboolean
read_bias (CpuInt8Node *self, const AxonNode *node, const CpuInt8Form *form, gsize channels)
{
  const AxonTensor *bias = constant (node, form->bias);
  if (!is_given (node, form->bias))
    return TRUE;
  if (bias == NULL || axon_tensor_get_numel (bias) != channels)
    return FALSE;
  if (axon_tensor_get_dtype (bias) == AXON_DTYPE_I32)
    self->spec.bias = axon_tensor_get_data ((AxonTensor *)bias);
  else if (axon_tensor_get_dtype (bias) == AXON_DTYPE_F32)
    self->spec.shift = axon_tensor_get_data ((AxonTensor *)bias);
  return self->spec.bias != NULL || self->spec.shift != NULL;
}

/* A result of bytes: the range of its type or of attribute axon.clip, and the zero point. */
static void
set_range (CpuInt8Finish *finish, const AxonNode *node, gint32 zero)
{
  gboolean is_signed = node->outputs[0]->type.dtype == AXON_DTYPE_I8;
  gint64 lo = is_signed ? -128 : 0, hi = is_signed ? 127 : 255;
  guint n;
  const gint64 *clip = axon_node_get_ints (node, "axon.clip", &n);
  if (clip != NULL) {
    lo = MAX (lo, clip[0]);
    hi = MIN (hi, clip[1]);
  }
  finish->type = is_signed ? CPU_INT8_I8 : CPU_INT8_U8;
  finish->zero = zero;
  finish->lo = (gfloat)(lo - zero);
  finish->hi = (gfloat)(hi - zero);
}

/* The activation that passes fused. FALSE: one that the kernels lack. */
static gboolean
set_activation (CpuInt8Finish *finish, const AxonNode *node)
{
#define KIND(name) CPU_POST_##name,
  static const CpuPostKind kinds[] = { CPU_INT8_ACTIVATIONS (KIND) };
#undef KIND
  const AxonAttr *posts = axon_node_find_attr (node, "axon.posts");
  const AxonAttr *args = axon_node_find_attr (node, "axon.post_args");
  finish->type = CPU_INT8_F32;
  if (posts == NULL)
    return TRUE;
  if (posts->n != 1 ||
      !cpu_post_init (&finish->post, posts->strings[0], args->floats[0], args->floats[1]))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (finish->post.kind == kinds[i])
      return TRUE;
  return FALSE;
}

static gboolean
read_finish (CpuInt8Node *self, CpuPlan *plan, const AxonNode *node, const CpuInt8Form *form)
{
  gdouble zero = 0;
  guint unknown = 0;
  if (form->x_scale < 0) {
    self->spec.conv.finish.type = CPU_INT8_I32;
    return TRUE;
  }
  if (!is_given (node, form->y_scale))
    return set_activation (&self->spec.conv.finish, node);
  if (!read_number (self, plan, node, form->y_zero, &zero, &unknown) || unknown != 0)
    return FALSE;
  set_range (&self->spec.conv.finish, node, (gint32)zero);
  return TRUE;
}

gboolean
cpu_int8_node_init (CpuInt8Node *self, CpuPlan *plan, const AxonNode *node, const CpuInt8Form *form,
                    gint64 channels)
{
  CpuInt8Conv conv = self->spec.conv;
  gdouble zero = 0;
  *self = (CpuInt8Node){ .n_in = 1 };
  self->spec.conv = conv;
  if (!read_weights (self, node, form) || !read_scales (self, plan, node, form) ||
      !read_bias (self, node, form, (gsize)channels) || !read_finish (self, plan, node, form) ||
      !read_number (self, plan, node, form->x_zero, &zero, &self->runtime.zero))
    return FALSE;
  self->spec.x_zero = (gint32)zero;
  return (self->spec.n_scale <= 1 || self->spec.n_scale == channels) &&
         (self->spec.weights.n_zero <= 1 || self->spec.weights.n_zero == channels);
}

void
cpu_int8_node_clear (CpuInt8Node *self)
{
  g_clear_pointer (&self->zeros, g_free);
  g_clear_pointer (&self->scales, g_free);
}

CpuTensor *
cpu_int8_source (CpuPlan *plan, const AxonNode *node, guint index, CpuInt8Conv *c)
{
  c->is_signed = node->inputs[index]->type.dtype == AXON_DTYPE_I8;
  return cpu_conv_source (plan, node, index, &c->shape);
}
