/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conv, ConvTranspose and QLinearConv. Layouts are left to oneDNN (`any`): nhwc with brgemm kernels
 * on AVX-512, blocked elsewhere. An implementation called "ref" is refused and the fused work is
 * split off; only where nothing else exists is it taken, and the profile names it. */
#include "dnn-private.h"
#include "int8bounds.h"
#include "../kernels/convchoice.h"
#include "../kernels/convfinish.h"
#include "../kernels/kernels.h"
#include "../cpueltwise.h"

enum { DIRECT, TRANSPOSED };

typedef struct {
  AxonShape x, y, w; /* ONNX shapes */
  gint64 group;
  gboolean transposed;
  AxonDType x_type, y_type, w_type;
  AxonDType products; /* what source and weights are multiplied as, of floats; else x_type */
  DnnWindow window;
  gboolean small;
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

static gdouble
products (const ConvShape *c)
{
  const AxonShape *pixels = c->transposed ? &c->x : &c->y;
  return (gdouble)axon_shape_get_numel (&c->w) * (gdouble)axon_shape_get_numel (pixels) /
         (gdouble)pixels->dims[1];
}

static gboolean
conv_shape (ConvShape *c, const CpuPlan *plan, const AxonNode *node, guint weight_input)
{
  const AxonTensor *w = cpu_node_constant (node, weight_input);
  if (w == NULL || axon_node_find_attr (node, "output_shape") != NULL)
    return FALSE;
  *c = (ConvShape){ .x = node->inputs[0]->type.shape,
                    .y = node->outputs[0]->type.shape,
                    .w = *axon_tensor_get_shape (w),
                    .group = axon_node_get_int (node, "group"),
                    .transposed = plan->row->kind == TRANSPOSED,
                    .x_type = node->inputs[0]->type.dtype,
                    .y_type = node->outputs[0]->type.dtype,
                    .w_type = axon_tensor_get_dtype (w) };
  c->products = c->x_type;
  if (!cpu_dnn_has_type (c->x_type) || axon_shape_get_numel (&c->x) < 1 ||
      axon_shape_get_numel (&c->y) < 1)
    return FALSE;
  weight_dims (c);
  c->small = products (c) < CPU_CONV_SMALL * plan->n_threads;
  return dnn_window_init (&c->window, node, c->transposed ? &c->y : &c->x,
                          c->transposed ? &c->x : &c->y, c->w.dims + 2);
}

static DnnPd *
conv_pd (const ConvShape *c, gboolean has_bias, const DnnAttr *attr)
{
  const dnnl_dims_t channels = { c->y.dims[1] };
  dnnl_data_type_t bias_type = c->x_type == AXON_DTYPE_F32 ? dnnl_f32 : dnnl_s32;
  AxonDType w_type = c->products == AXON_DTYPE_BF16 ? c->products : c->w_type;
  g_autoptr (CpuMd) src = dnn_md_any (c->products, &c->x), dst = dnn_md_any (c->y_type, &c->y);
  g_autoptr (CpuMd) weights =
      dnn_md_new_tagged (dnn_type (w_type), c->w_rank, c->w_dims, dnnl_format_tag_any);
  g_autoptr (CpuMd) bias = has_bias ? dnn_md_new_tagged (bias_type, 1, channels, dnnl_x) : NULL;
  const DnnConv conv = { c->transposed, src, weights, bias, dst, &c->window, c->small };
  return dnn_pd_new_conv (&conv, attr);
}

static CpuTensor *
pack_weights (CpuPlan *plan, const ConvShape *c, gconstpointer data, const DnnPd *pd)
{
  g_autoptr (CpuMd) plain =
      dnn_md_new_strided (dnn_type (c->w_type), c->w_rank, c->w_dims, c->w_strides);
  return dnn_pack (plan, plain, data, dnn_pd_get_md (pd, dnnl_query_weights_md));
}

/* Source, weights and bias of a convolution; the destination is the caller's. */
static void
add_operands (CpuPlan *plan, const AxonNode *node, const ConvShape *c, gconstpointer weights,
              const AxonTensor *bias, DnnCall *call)
{
  dnn_call_add_arg (
      call, DNNL_ARG_SRC,
      cpu_plan_input_of (plan, node, 0, c->products, dnn_pd_get_md (call->pd, dnnl_query_src_md)),
      FALSE);
  dnn_call_add_arg (call, DNNL_ARG_WEIGHTS, pack_weights (plan, c, weights, call->pd), FALSE);
  if (bias != NULL)
    dnn_call_add_arg (call, DNNL_ARG_BIAS,
                      dnn_copy_constant (plan, bias, axon_tensor_get_shape (bias)), FALSE);
}

/* A slope for each channel below 0. */
static void
add_slopes (CpuPlan *plan, const AxonNode *node, CpuTensor *dst, const CpuMd *md, DnnCall *call)
{
  AxonShape shape = { .rank = dst->shape.rank };
  g_autoptr (CpuMd) slopes = NULL;
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = i == 1 ? dst->shape.dims[1] : 1;
  slopes = dnn_md_plain (AXON_DTYPE_F32, &shape);
  call->pd = dnn_pd_new_prelu (md, slopes);
  dnn_call_add_arg (call, DNNL_ARG_SRC, dst, FALSE);
  dnn_call_add_arg (call, DNNL_ARG_WEIGHTS,
                    dnn_copy_constant (plan, cpu_node_constant (node, CPU_CONV_SLOPES), &shape),
                    FALSE);
}

/* In place: @dst becomes @dst + the residual, or an activation of it. */
static void
add_post (CpuPlan *plan, const AxonNode *node, CpuTensor *dst, const gchar *name,
          const gfloat *args)
{
  g_autoptr (CpuMd) md = dnn_md_of (dst);
  DnnCall call = { 0 };
  DnnEltwise eltwise;
  if (dnn_eltwise_init (&eltwise, name, args[0], args[1])) {
    call.pd = dnn_pd_new_eltwise (&eltwise, md);
    dnn_call_add_arg (&call, DNNL_ARG_SRC, dst, FALSE);
  } else if (g_str_equal (name, "PRelu")) {
    add_slopes (plan, node, dst, md, &call);
  } else { /* "sum" */
    call.pd = dnn_pd_new_binary (dnnl_binary_add, md, md, md, NULL);
    dnn_call_add_arg (&call, DNNL_ARG_SRC_0, dst, FALSE);
    dnn_call_add_arg (&call, DNNL_ARG_SRC_1,
                      cpu_plan_input_as (plan, node, CPU_CONV_RESIDUAL, dst->md), FALSE);
  }
  dnn_call_add_arg (&call, DNNL_ARG_DST, dst, TRUE);
  dnn_call_finish (plan, &call);
}

/* Fused work that the convolution would not take: steps of its own. */
static void
add_posts_separately (CpuPlan *plan, const AxonNode *node, CpuTensor *dst)
{
  const AxonAttr *posts = axon_node_find_attr (node, "axon.posts");
  const AxonAttr *args = axon_node_find_attr (node, "axon.post_args");
  if (cpu_conv_is_finished_apart (node)) {
    cpu_finish_conv (plan, node, dst);
    return;
  }
  for (guint i = 0; posts != NULL && i < posts->n; i++)
    add_post (plan, node, dst, posts->strings[i], args->floats + 2 * i);
}

/* The residual's memory becomes the destination: in place where nobody needs it later. */
static CpuTensor *
residual_destination (CpuPlan *plan, const AxonNode *node, const CpuMd *md)
{
  CpuTensor *first = cpu_plan_input (plan, node, CPU_CONV_RESIDUAL);
  CpuTensor *other = cpu_plan_input_as (plan, node, CPU_CONV_RESIDUAL, md), *copy;
  if (other == first && cpu_plan_is_last_use (plan, other))
    return cpu_plan_alias (plan, node, 0, other, md);
  copy = cpu_plan_output (plan, node, 0, md);
  cpu_add_reorder (plan, other, copy);
  return copy;
}

/* With everything fused; else bare; the reference implementation only where nothing else is. */
static DnnPd *
choose_float_pd (const ConvShape *c, const AxonNode *node, gboolean has_bias, gboolean *fused,
                 gboolean *has_sum)
{
  g_autoptr (DnnAttr) attr = dnn_attr_new ();
  DnnPd *pd = NULL;
  *has_sum = FALSE;
  if (!cpu_conv_is_finished_apart (node) && dnn_attr_set_posts (attr, node, has_sum))
    pd = dnn_pd_if_fast (conv_pd (c, has_bias, attr));
  *fused = pd != NULL;
  if (pd == NULL)
    pd = dnn_pd_if_fast (conv_pd (c, has_bias, NULL));
  return pd ? pd : conv_pd (c, has_bias, NULL);
}

/* NULL: not by tiles of bf16, which alone are faster. */
static DnnPd *
choose_bf16_pd (ConvShape *c, const AxonNode *node, gboolean has_bias, gboolean *fused,
                gboolean *has_sum)
{
  g_autoptr (DnnPd) pd = NULL;
  c->products = AXON_DTYPE_BF16;
  pd = choose_float_pd (c, node, has_bias, fused, has_sum);
  if (pd != NULL && dnn_pd_has_tiles (pd))
    return g_steal_pointer (&pd);
  c->products = AXON_DTYPE_F32;
  return NULL;
}

static gboolean
build_conv (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonTensor *bias = cpu_node_constant (node, 2);
  gboolean has_sum, fused;
  DnnCall call = { 0 };
  const CpuMd *dst_md;
  CpuTensor *dst;
  ConvShape c;
  if (!conv_shape (&c, plan, node, 1) || c.w_type != AXON_DTYPE_F32 || c.x_type != AXON_DTYPE_F32 ||
      (axon_node_get_input (node, 2) != NULL && bias == NULL))
    return FALSE;
  if (cpu_conv_takes_bf16 (plan, node))
    call.pd = choose_bf16_pd (&c, node, bias != NULL, &fused, &has_sum);
  if (call.pd == NULL)
    call.pd = choose_float_pd (&c, node, bias != NULL, &fused, &has_sum);
  if (plan->choice == CPU_ONEDNN) /* others are there */
    call.pd = dnn_pd_if_fast (call.pd);
  if (call.pd == NULL)
    return FALSE;
  add_operands (plan, node, &c, axon_tensor_get_data (cpu_node_constant (node, 1)), bias, &call);
  dst_md = dnn_pd_get_md (call.pd, dnnl_query_dst_md);
  dst = fused && has_sum ? residual_destination (plan, node, dst_md)
                         : cpu_plan_output (plan, node, 0, dst_md);
  dnn_call_add_arg (&call, DNNL_ARG_DST, dst, TRUE);
  dnn_call_finish (plan, &call);
  if (!fused)
    add_posts_separately (plan, node, dst);
  return TRUE;
}

/* y = saturate (round (clip (acc + bias) * xs * ws / ys) + yz), all in the primitive. What it wants
 * of that when it runs becomes an argument of @call. */
static DnnAttr *
quantized_attr (CpuPlan *plan, const AxonNode *node, const AxonQuant *q, const ConvShape *c,
                DnnCall *call)
{
  const DnnEltwise round = { dnnl_eltwise_round, 0, 0 };
  g_autoptr (DnnPosts) posts = dnn_posts_new ();
  guint n_clip, n = q->n_w > 1 ? (guint)c->y.dims[1] : 1;
  const gint64 *bounds = axon_node_get_ints (node, "axon.clip", &n_clip);
  g_autofree gfloat *scales = g_new (gfloat, n);
  DnnAttr *attr = dnn_attr_new ();
  for (guint i = 0; i < n; i++)
    scales[i] = q->x_scale * q->w_scale[i] / q->y_scale;
  dnn_scale_sums (plan, call, attr, posts, scales, n, c->y.rank);
  dnn_set_zero_point (plan, call, attr, DNNL_ARG_SRC, q->x_zero);
  dnn_set_zero_point (plan, call, attr, DNNL_ARG_DST, q->y_zero);
  if (q->y_zero != 0) /* half to even before the zero point is added, not after */
    dnn_posts_add_eltwise (posts, &round);
  if (bounds != NULL) {
    const DnnEltwise clip = { dnnl_eltwise_clip, (gfloat)(bounds[0] - q->y_zero),
                              (gfloat)(bounds[1] - q->y_zero) };
    dnn_posts_add_eltwise (posts, &clip);
  }
  dnnl_primitive_attr_set_post_ops (attr, posts);
  return attr;
}

/* Without VNNI oneDNN adds pairs of products in 16 bits, and halves the weights of s8 sources. It
 * adds the bias to the sum as floats. */
static gboolean
is_exact (const ConvShape *c, const AxonQuant *q, const gint8 *weights, const AxonTensor *bias)
{
  gsize n_channels = (gsize)c->w.dims[0];
  gsize n_each = (gsize)axon_shape_get_numel (&c->w) / n_channels;
  gint low = c->x_type == AXON_DTYPE_U8 ? 0 : -128;
  if (!cpu_dnn_has_exact_int8 () &&
      (c->x_type != AXON_DTYPE_U8 || !dnn_pairs_fit (weights, n_channels, n_each)))
    return FALSE;
  return bias == NULL || dnn_bias_adds_exactly (weights, n_channels, n_each, low - q->x_zero,
                                                low + 255 - q->x_zero, axon_tensor_get_data (bias));
}

gboolean
cpu_dnn_build_qlinear_conv (CpuPlan *plan, const AxonNode *node, gboolean tiles)
{
  const AxonTensor *bias = cpu_node_constant (node, 8);
  g_auto (AxonQuant) q = { 0 };
  g_autofree gint8 *weights = NULL;
  g_autoptr (DnnAttr) attr = NULL;
  DnnCall call = { 0 };
  ConvShape c;
  if (!conv_shape (&c, plan, node, 3) || (tiles && c.small) || !axon_quant_init (&q, node) ||
      (axon_node_get_input (node, 8) && !bias))
    return FALSE;
  weights = axon_quant_weights (node);
  if (weights == NULL || !is_exact (&c, &q, weights, bias))
    return FALSE;
  c.w_type = AXON_DTYPE_I8;
  attr = quantized_attr (plan, node, &q, &c, &call);
  call.pd = dnn_pd_if_fast (conv_pd (&c, bias != NULL, attr));
  if (call.pd == NULL)
    return FALSE;
  if (tiles && !dnn_pd_has_tiles (call.pd)) {
    dnnl_primitive_desc_destroy (call.pd);
    return FALSE;
  }
  add_operands (plan, node, &c, weights, bias, &call);
  dnn_call_add_arg (&call, DNNL_ARG_DST,
                    cpu_plan_output (plan, node, 0, dnn_pd_get_md (call.pd, dnnl_query_dst_md)),
                    TRUE);
  dnn_call_finish (plan, &call);
  return TRUE;
}

const CpuKernel cpu_dnn_conv_kernels[] = {
  { .name = "Conv", .impl = "onednn", .build = build_conv },
  { .name = "ConvTranspose", .impl = "onednn", .build = build_conv, .kind = TRANSPOSED },
  { 0 },
};
