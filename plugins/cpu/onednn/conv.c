/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conv, ConvTranspose and QLinearConv. Layouts are left to oneDNN (`any`): nhwc with brgemm kernels
 * on AVX-512, blocked elsewhere. An implementation called "ref" is refused and the fused work is
 * split off; only where nothing else exists is it taken, and the profile names it. */
#include "dnn-private.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
  AxonShape x, y, w; /* ONNX shapes */
  gint64 group;
  gboolean transposed;
  AxonDType x_type, y_type, w_type;
  DnnWindow window;
  int w_rank;
  dnnl_dims_t w_dims, w_strides; /* as oneDNN orders them, over row-major ONNX weights */
} ConvShape;

/* ONNX Conv [O, I/g, k...] is [g, O/g, I/g, k...]; ConvTranspose [I, O/g, k...] swaps O and I. */
static void
weight_dims (ConvShape *c)
{
  gint64 spatial = 1;
  int n = c->w.rank - 2, lead = c->group > 1 ? 1 : 0;
  gint64 first = c->w.dims[0] / c->group, second = c->w.dims[1], inner;
  for (gint i = 2; i < c->w.rank; i++)
    spatial *= c->w.dims[i];
  inner = second * spatial;
  c->w_rank = 2 + n + lead;
  if (lead) {
    c->w_dims[0] = c->group;
    c->w_strides[0] = first * inner;
  }
  c->w_dims[lead] = c->transposed ? second : first;
  c->w_strides[lead] = c->transposed ? spatial : inner;
  c->w_dims[lead + 1] = c->transposed ? first : second;
  c->w_strides[lead + 1] = c->transposed ? inner : spatial;
  for (int i = n - 1; i >= 0; i--) {
    c->w_dims[lead + 2 + i] = c->w.dims[2 + i];
    c->w_strides[lead + 2 + i] = i == n - 1 ? 1 : c->w_strides[lead + 3 + i] * c->w.dims[3 + i];
  }
}

static gboolean
conv_shape (ConvShape *c, const AxonNode *node, guint weight_input)
{
  const AxonTensor *w = cpu_node_constant (node, weight_input);
  if (w == NULL || axon_node_find_attr (node, "output_shape") != NULL)
    return FALSE;
  *c = (ConvShape){ .x = node->inputs[0]->type.shape,
                    .y = node->outputs[0]->type.shape,
                    .w = *axon_tensor_get_shape (w),
                    .group = axon_node_get_int (node, "group"),
                    .transposed = axon_node_is (node, "ConvTranspose"),
                    .x_type = node->inputs[0]->type.dtype,
                    .y_type = node->outputs[0]->type.dtype,
                    .w_type = axon_tensor_get_dtype (w) };
  if (!cpu_dnn_has_type (c->x_type) || axon_shape_get_numel (&c->x) < 1 ||
      axon_shape_get_numel (&c->y) < 1)
    return FALSE;
  weight_dims (c);
  return dnn_window (&c->window, node, c->transposed ? &c->y : &c->x, c->transposed ? &c->x : &c->y,
                     c->w.dims + 2);
}

static dnnl_primitive_desc_t
conv_pd (const ConvShape *c, gboolean bias, dnnl_primitive_attr_t attr, gboolean accept_ref)
{
  dnnl_memory_desc_t src = dnn_md_any (c->x_type, &c->x), dst = dnn_md_any (c->y_type, &c->y), w, b;
  dnnl_dims_t oc = { c->y.dims[1] };
  const DnnWindow *win = &c->window;
  dnnl_primitive_desc_t pd = NULL;
  dnnl_convolution_desc_t conv;
  dnnl_deconvolution_desc_t deconv;
  const void *desc = c->transposed ? (void *)&deconv : (void *)&conv;
  dnnl_memory_desc_init_by_tag (&w, c->w_rank, c->w_dims, dnn_type (c->w_type),
                                dnnl_format_tag_any);
  dnnl_memory_desc_init_by_tag (&b, 1, oc, c->x_type == AXON_DTYPE_F32 ? dnnl_f32 : dnnl_s32,
                                dnnl_x);
  if ((c->transposed
           ? dnnl_dilated_deconvolution_forward_desc_init (
                 &deconv, dnnl_forward_inference, dnnl_deconvolution_direct, &src, &w,
                 bias ? &b : NULL, &dst, win->stride, win->dilation, win->pad, win->pad_end)
           : dnnl_dilated_convolution_forward_desc_init (
                 &conv, dnnl_forward_inference, dnnl_convolution_direct, &src, &w, bias ? &b : NULL,
                 &dst, win->stride, win->dilation, win->pad, win->pad_end)) != dnnl_success)
    return NULL;
  if (!accept_ref)
    return dnn_pd_new (desc, attr);
  dnnl_primitive_desc_create (&pd, desc, attr, dnn_engine (), NULL);
  return pd;
}

static CpuTensor *
pack_weights (CpuPlan *plan, const ConvShape *c, gconstpointer data, dnnl_primitive_desc_t pd)
{
  dnnl_memory_desc_t plain;
  dnnl_memory_desc_init_by_strides (&plain, c->w_rank, c->w_dims, dnn_type (c->w_type),
                                    c->w_strides);
  return dnn_pack (plan, &plain, data, dnn_query (pd, dnnl_query_weights_md, 0));
}

/* Fused work that the convolution would not take: steps of its own, in place. */
static void
add_posts_separately (CpuPlan *plan, const AxonNode *node, CpuTensor *dst)
{
  const AxonAttr *posts = axon_node_find_attr (node, "axon.posts");
  const AxonAttr *args = axon_node_find_attr (node, "axon.post_args");
  for (guint i = 0; posts != NULL && i < posts->n; i++) {
    dnnl_memory_desc_t md = dnn_md (dst);
    dnnl_primitive_attr_t attr = dnn_attr_new ();
    DnnCall call = { 0 };
    if (g_str_equal (posts->strings[i], "sum")) {
      CpuTensor *other = cpu_plan_input_as (plan, node, node->n_inputs - 1, dst->md);
      dnnl_binary_desc_t desc;
      dnnl_binary_desc_init (&desc, dnnl_binary_add, &md, &md, &md);
      dnnl_primitive_desc_create (&call.pd, &desc, attr, dnn_engine (), NULL);
      dnn_call_arg (&call, DNNL_ARG_SRC_0, dst, FALSE);
      dnn_call_arg (&call, DNNL_ARG_SRC_1, other, FALSE);
    } else {
      dnnl_eltwise_desc_t desc;
      dnnl_alg_kind_t alg;
      gfloat a, b;
      dnn_eltwise_of (posts->strings[i], args->floats[2 * i], args->floats[2 * i + 1], &alg, &a,
                      &b);
      dnnl_eltwise_forward_desc_init (&desc, dnnl_forward_inference, alg, &md, a, b);
      dnnl_primitive_desc_create (&call.pd, &desc, attr, dnn_engine (), NULL);
      dnn_call_arg (&call, DNNL_ARG_SRC, dst, FALSE);
    }
    dnn_call_arg (&call, DNNL_ARG_DST, dst, TRUE);
    dnn_call_add (plan, &call);
    dnnl_primitive_attr_destroy (attr);
  }
}

/* The residual's memory becomes the destination: in place where nobody needs it later. */
static CpuTensor *
residual_destination (CpuPlan *plan, const AxonNode *node, const CpuMd *md)
{
  guint index = node->n_inputs - 1;
  CpuTensor *first = cpu_plan_input (plan, node, index);
  CpuTensor *other = cpu_plan_input_as (plan, node, index, md), *copy;
  if (other == first && cpu_plan_is_last_use (plan, other))
    return cpu_plan_alias (plan, node, 0, other, md);
  copy = cpu_plan_output (plan, node, 0, md);
  cpu_dnn_add_reorder (plan, other, copy);
  return copy;
}

static CpuTensor *
pack_bias (CpuPlan *plan, const AxonTensor *bias)
{
  AxonShape shape = AXON_SHAPE ((gint64)axon_tensor_get_numel (bias));
  return cpu_plan_constant (
      plan, axon_tensor_get_dtype (bias), &shape,
      g_memdup2 (axon_tensor_get_data (bias), axon_tensor_get_n_bytes (bias)));
}

static gboolean
build_conv (CpuPlan *plan, const AxonNode *node)
{
  dnnl_primitive_attr_t attr = dnn_attr_new (), bare = dnn_attr_new ();
  const AxonTensor *bias = cpu_node_constant (node, 2);
  gboolean has_sum = FALSE, fused, has_bias = axon_node_get_input (node, 2) != NULL;
  DnnCall call = { 0 };
  CpuTensor *src, *dst;
  const CpuMd *dst_md;
  ConvShape c;
  if (!conv_shape (&c, node, 1) || c.w_type != AXON_DTYPE_F32 || c.x_type != AXON_DTYPE_F32 ||
      (has_bias && bias == NULL)) {
    dnnl_primitive_attr_destroy (attr);
    dnnl_primitive_attr_destroy (bare);
    return FALSE;
  }
  fused = dnn_append_posts (attr, node, &has_sum);
  call.pd = fused ? conv_pd (&c, bias != NULL, attr, FALSE) : NULL;
  fused = call.pd != NULL;
  if (!fused)
    call.pd = conv_pd (&c, bias != NULL, bare, FALSE);
  if (call.pd == NULL)
    call.pd = conv_pd (&c, bias != NULL, bare, TRUE);
  dnnl_primitive_attr_destroy (attr);
  dnnl_primitive_attr_destroy (bare);
  if (call.pd == NULL)
    return FALSE;
  src = cpu_plan_input_as (plan, node, 0, dnn_query (call.pd, dnnl_query_src_md, 0));
  dst_md = dnn_query (call.pd, dnnl_query_dst_md, 0);
  dnn_call_arg (
      &call, DNNL_ARG_WEIGHTS,
      pack_weights (plan, &c, axon_tensor_get_data (cpu_node_constant (node, 1)), call.pd), FALSE);
  if (bias != NULL)
    dnn_call_arg (&call, DNNL_ARG_BIAS, pack_bias (plan, bias), FALSE);
  dst = fused && has_sum ? residual_destination (plan, node, dst_md)
                         : cpu_plan_output (plan, node, 0, dst_md);
  dnn_call_arg (&call, DNNL_ARG_SRC, src, FALSE);
  dnn_call_arg (&call, DNNL_ARG_DST, dst, TRUE);
  dnn_call_add (plan, &call);
  if (!fused)
    add_posts_separately (plan, node, dst);
  return TRUE;
}

gboolean
cpu_dnn_build_conv (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  return build_conv (plan, node);
}

gboolean
cpu_dnn_build_conv_transpose (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  return build_conv (plan, node);
}

/* y = saturate (round (clip (acc + bias) * xs * ws / ys) + yz), all in the primitive's attributes.
 */
static dnnl_primitive_attr_t
quantized_attr (const AxonNode *node, const AxonQuant *q, gint64 channels)
{
  dnnl_primitive_attr_t attr = dnn_attr_new ();
  g_autofree gfloat *scales = g_new (gfloat, (gsize)channels);
  guint n_clip, n = q->n_w > 1 ? (guint)channels : 1;
  const gint64 *clip = axon_node_get_ints (node, "axon.clip", &n_clip);
  dnnl_post_ops_t posts;
  for (guint i = 0; i < n; i++)
    scales[i] = q->x_scale * q->w_scale[i] / q->y_scale;
  dnnl_primitive_attr_set_output_scales (attr, n, n > 1 ? 2 : 0, scales);
  if (q->x_zero != 0)
    dnnl_primitive_attr_set_zero_points (attr, DNNL_ARG_SRC, 1, 0, &q->x_zero);
  if (q->y_zero != 0)
    dnnl_primitive_attr_set_zero_points (attr, DNNL_ARG_DST, 1, 0, &q->y_zero);
  dnnl_post_ops_create (&posts);
  if (q->y_zero != 0) /* half to even before the zero point is added, not after */
    dnnl_post_ops_append_eltwise (posts, 1, dnnl_eltwise_round, 0, 0);
  if (clip != NULL)
    dnnl_post_ops_append_eltwise (posts, 1, dnnl_eltwise_clip, (gfloat)(clip[0] - q->y_zero),
                                  (gfloat)(clip[1] - q->y_zero));
  dnnl_primitive_attr_set_post_ops (attr, posts);
  dnnl_post_ops_destroy (posts);
  return attr;
}

gboolean
cpu_dnn_build_qlinear_conv (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonTensor *bias = cpu_node_constant (node, 8);
  g_auto (AxonQuant) q = { 0 };
  g_autofree gint8 *weights = NULL;
  dnnl_primitive_attr_t attr;
  DnnCall call = { 0 };
  ConvShape c;
  if (!conv_shape (&c, node, 3) || !axon_quant_init (&q, node) ||
      (axon_node_get_input (node, 8) && !bias))
    return FALSE;
  weights = axon_quant_weights (node);
  if (weights == NULL)
    return FALSE;
  c.w_type = AXON_DTYPE_I8;
  attr = quantized_attr (node, &q, c.y.dims[1]);
  call.pd = conv_pd (&c, bias != NULL, attr, FALSE);
  dnnl_primitive_attr_destroy (attr);
  if (call.pd == NULL)
    return FALSE;
  dnn_call_arg (&call, DNNL_ARG_SRC,
                cpu_plan_input_as (plan, node, 0, dnn_query (call.pd, dnnl_query_src_md, 0)),
                FALSE);
  dnn_call_arg (&call, DNNL_ARG_WEIGHTS, pack_weights (plan, &c, weights, call.pd), FALSE);
  if (bias != NULL)
    dnn_call_arg (&call, DNNL_ARG_BIAS, pack_bias (plan, bias), FALSE);
  dnn_call_arg (&call, DNNL_ARG_DST,
                cpu_plan_output (plan, node, 0, dnn_query (call.pd, dnnl_query_dst_md, 0)), TRUE);
  dnn_call_add (plan, &call);
  return TRUE;
}
