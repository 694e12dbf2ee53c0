/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pooling, matrix products, normalisation, softmax, resampling. They take the layout that the data
 * is in; TRUE means that a step was added, FALSE that the next row of the kernel table is asked. */
#include "dnn-private.h"
#include "../cpueltwise.h"
#include "../kernels/kernels.h"

#include <math.h>

static gboolean
is_f32 (const AxonNode *node)
{
  return node->inputs[0]->type.dtype == AXON_DTYPE_F32 &&
         axon_shape_get_numel (&node->inputs[0]->type.shape) > 0 &&
         axon_shape_get_numel (&node->outputs[0]->type.shape) > 0;
}

/* One source, one destination in the layout that the primitive likes. Takes over @pd. */
static gboolean
add_simple (CpuPlan *plan, const AxonNode *node, CpuTensor *src, dnnl_primitive_desc_t pd)
{
  DnnCall call = { .pd = pd };
  if (pd == NULL)
    return FALSE;
  dnn_call_arg (&call, DNNL_ARG_SRC, src, FALSE);
  dnn_call_arg (&call, DNNL_ARG_DST,
                cpu_plan_output (plan, node, 0, dnn_query (pd, dnnl_query_dst_md, 0)), TRUE);
  dnn_call_add (plan, &call);
  return TRUE;
}

static dnnl_primitive_desc_t
pd_of (const void *desc)
{
  dnnl_primitive_attr_t attr = dnn_attr_new ();
  dnnl_primitive_desc_t pd = dnn_pd_new (desc, attr);
  dnnl_primitive_attr_destroy (attr);
  return pd;
}

static gboolean
build_pool (CpuPlan *plan, const AxonNode *node, dnnl_alg_kind_t alg, const gint64 *kernel)
{
  const AxonShape *y = &node->outputs[0]->type.shape;
  CpuTensor *src = cpu_plan_input (plan, node, 0);
  AxonDType dtype = node->inputs[0]->type.dtype;
  dnnl_memory_desc_t in = dnn_md (src), out = dnn_md_any (dtype, y);
  dnnl_pooling_v2_desc_t desc;
  dnnl_primitive_desc_t pd;
  DnnWindow w;
  dnn_window (&w, node, &node->inputs[0]->type.shape, y, kernel);
  if (dnnl_pooling_v2_forward_desc_init (&desc, dnnl_forward_inference, alg, &in, &out, w.stride,
                                         w.kernel, w.dilation, w.pad, w.pad_end) != dnnl_success)
    return FALSE;
  pd = pd_of (&desc);
  if (pd == NULL) { /* no kernel for this layout: channels last has one */
    CpuMd *md = cpu_md_channels_last (dtype, &node->inputs[0]->type.shape);
    src = cpu_plan_input_as (plan, node, 0, md);
    in = md->d;
    cpu_md_free (md);
    if (dnnl_pooling_v2_forward_desc_init (&desc, dnnl_forward_inference, alg, &in, &out, w.stride,
                                           w.kernel, w.dilation, w.pad, w.pad_end) == dnnl_success)
      pd = pd_of (&desc);
  }
  return add_simple (plan, node, src, pd);
}

gboolean
cpu_dnn_build_pool (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  guint n;
  const gint64 *kernel = axon_node_get_ints (node, "kernel_shape", &n);
  gboolean max = axon_node_is (node, "MaxPool");
  gboolean pad = axon_node_get_int (node, "count_include_pad") != 0;
  if (!cpu_dnn_has_type (node->inputs[0]->type.dtype) || node->n_outputs > 1 ||
      axon_shape_get_numel (&node->outputs[0]->type.shape) < 1 ||
      (pad && axon_node_get_int (node, "ceil_mode") != 0))
    return FALSE;
  return build_pool (plan, node,
                     max   ? dnnl_pooling_max
                     : pad ? dnnl_pooling_avg_include_padding
                           : dnnl_pooling_avg_exclude_padding,
                     kernel);
}

gboolean
cpu_dnn_build_global_pool (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  if (!is_f32 (node) || x->rank < 3 || x->rank > 5)
    return FALSE;
  return build_pool (plan, node,
                     axon_node_is (node, "GlobalMaxPool") ? dnnl_pooling_max
                                                          : dnnl_pooling_avg_exclude_padding,
                     x->dims + 2);
}

/* ReduceMean and others over constant axes. */
gboolean
cpu_dnn_build_reduce (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  static const struct {
    const gchar *name;
    dnnl_alg_kind_t alg;
  } kinds[] = { { "ReduceMean", dnnl_reduction_mean },
                { "ReduceSum", dnnl_reduction_sum },
                { "ReduceMax", dnnl_reduction_max },
                { "ReduceMin", dnnl_reduction_min } };
  AxonShape kept = node->inputs[0]->type.shape;
  gint64 axes[AXON_MAX_RANK];
  guint n, k = 0;
  CpuTensor *src, *dst;
  dnnl_memory_desc_t in, out;
  dnnl_reduction_desc_t desc;
  DnnCall call = { 0 };
  if (!is_f32 (node) || !cpu_node_axes (node, axes, &n) || n == 0 || kept.rank > 5)
    return FALSE;
  for (guint i = 0; i < n; i++)
    kept.dims[axes[i] < 0 ? axes[i] + kept.rank : axes[i]] = 1;
  while (!axon_node_is (node, kinds[k].name))
    k++;
  src = cpu_plan_input (plan, node, 0);
  in = dnn_md (src);
  out = dnn_md_plain (AXON_DTYPE_F32, &kept);
  if (dnnl_reduction_desc_init (&desc, kinds[k].alg, &in, &out, 0, 0) != dnnl_success)
    return FALSE;
  call.pd = pd_of (&desc);
  if (call.pd == NULL)
    return FALSE;
  dst = cpu_plan_output (plan, node, 0, NULL); /* row-major: dropped dimensions change nothing */
  dnn_call_arg (&call, DNNL_ARG_SRC, src, FALSE);
  dnn_call_arg (&call, DNNL_ARG_DST, dst, TRUE);
  dnn_call_add (plan, &call);
  return TRUE;
}

/* Softmax of the early opsets flattens; the same as one axis where all inner dimensions are 1. */
gboolean
cpu_dnn_build_softmax (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  CpuTensor *src;
  dnnl_memory_desc_t md;
  dnnl_softmax_desc_t desc;
  gint axis = (gint)axon_node_get_int (node, "axis");
  axis += axis < 0 ? x->rank : 0;
  if (!is_f32 (node))
    return FALSE;
  for (gint d = axis + 1; node->op->until != 0 && d < x->rank; d++)
    if (x->dims[d] != 1)
      return FALSE;
  src = cpu_plan_input (plan, node, 0);
  md = dnn_md (src);
  if ((axon_node_is (node, "LogSoftmax") ? dnnl_logsoftmax_forward_desc_init
                                         : dnnl_softmax_forward_desc_init) (
          &desc, dnnl_forward_inference, &md, axis) != dnnl_success)
    return FALSE;
  return add_simple (plan, node, src, pd_of (&desc));
}

/* Nearest by whole factors and half-pixel linear are what oneDNN computes. */
static gboolean
resampling_alg (const AxonNode *node, dnnl_alg_kind_t *alg)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  const gchar *mode = axon_node_get_string (node, "mode");
  const gchar *ct = axon_node_get_string (node, "coordinate_transformation_mode");
  const gchar *nm = axon_node_get_string (node, "nearest_mode");
  gboolean half = g_str_equal (ct, "half_pixel"), whole = TRUE, above_one = TRUE;
  if (x->rank < 3 || x->rank > 5 || x->dims[0] != y->dims[0] || x->dims[1] != y->dims[1])
    return FALSE;
  for (gint d = 2; d < x->rank; d++) {
    whole = whole && y->dims[d] % x->dims[d] == 0;
    above_one = above_one && y->dims[d] > 1;
  }
  *alg = g_str_equal (mode, "nearest") ? dnnl_resampling_nearest : dnnl_resampling_linear;
  if (g_str_equal (mode, "nearest"))
    return whole && ((g_str_equal (ct, "asymmetric") && g_str_equal (nm, "floor")) ||
                     (half && g_str_has_prefix (nm, "round")));
  return g_str_equal (mode, "linear") &&
         (half || (g_str_equal (ct, "pytorch_half_pixel") && above_one));
}

gboolean
cpu_dnn_build_resize (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  CpuTensor *src;
  dnnl_memory_desc_t in, out = dnn_md_any (AXON_DTYPE_F32, &node->outputs[0]->type.shape);
  dnnl_resampling_desc_t desc;
  dnnl_alg_kind_t alg;
  if (!is_f32 (node) || !cpu_resize_is_plain (node) || !resampling_alg (node, &alg))
    return FALSE;
  src = cpu_plan_input (plan, node, 0);
  in = dnn_md (src);
  if (dnnl_resampling_forward_desc_init (&desc, dnnl_forward_inference, alg, NULL, &in, &out) !=
      dnnl_success)
    return FALSE;
  return add_simple (plan, node, src, pd_of (&desc));
}

/* What passes left of BatchNormalization: y = scale * x + shift. */
gboolean
cpu_dnn_build_batch_norm (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  gdouble epsilon = axon_node_get_float (node, "epsilon");
  AxonShape scale_shape, stat_shape;
  gint64 c = x->rank > 1 ? x->dims[1] : 0;
  CpuTensor *src, *stats[3];
  gfloat *scale_shift;
  dnnl_memory_desc_t md;
  dnnl_batch_normalization_desc_t desc;
  DnnCall call = { 0 };
  for (guint i = 1; i < 5; i++)
    if (cpu_node_constant (node, i) == NULL)
      return FALSE;
  if (!is_f32 (node) || x->rank < 3 || axon_node_get_int (node, "training_mode") != 0)
    return FALSE;
  src = cpu_plan_input (plan, node, 0);
  md = dnn_md (src);
  dnnl_batch_normalization_forward_desc_init (&desc, dnnl_forward_inference, &md, (gfloat)epsilon,
                                              dnnl_use_global_stats | dnnl_use_scaleshift);
  call.pd = pd_of (&desc);
  if (call.pd == NULL)
    return FALSE;
  scale_shape = AXON_SHAPE (2, c);
  stat_shape = AXON_SHAPE (c);
  scale_shift = g_new (gfloat, (gsize)(2 * c));
  memcpy (scale_shift, axon_tensor_get_data (cpu_node_constant (node, 1)), (gsize)c * 4);
  memcpy (scale_shift + c, axon_tensor_get_data (cpu_node_constant (node, 2)), (gsize)c * 4);
  stats[0] = cpu_plan_constant (plan, AXON_DTYPE_F32, &scale_shape, scale_shift);
  for (guint i = 0; i < 2; i++)
    stats[1 + i] = cpu_plan_constant (
        plan, AXON_DTYPE_F32, &stat_shape,
        g_memdup2 (axon_tensor_get_data (cpu_node_constant (node, 3 + i)), (gsize)c * 4));
  dnn_call_arg (&call, DNNL_ARG_SRC, src, FALSE);
  dnn_call_arg (&call, DNNL_ARG_SCALE_SHIFT, stats[0], FALSE);
  dnn_call_arg (&call, DNNL_ARG_MEAN, stats[1], FALSE);
  dnn_call_arg (&call, DNNL_ARG_VARIANCE, stats[2], FALSE);
  dnn_call_arg (&call, DNNL_ARG_DST, cpu_plan_output (plan, node, 0, src->md), TRUE);
  dnn_call_add (plan, &call);
  return TRUE;
}

gboolean
cpu_dnn_build_prelu (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonTensor *slope = cpu_node_constant (node, 1);
  const AxonShape *x = &node->inputs[0]->type.shape;
  AxonShape shape = { .rank = x->rank };
  CpuTensor *src;
  dnnl_memory_desc_t md, w;
  dnnl_prelu_desc_t desc;
  DnnCall call = { 0 };
  gint lead;
  if (!is_f32 (node) || slope == NULL)
    return FALSE;
  lead = x->rank - axon_tensor_get_shape (slope)->rank;
  for (gint d = 0; d < x->rank; d++)
    shape.dims[d] = d < lead ? 1 : axon_tensor_get_dim (slope, (guint)(d - lead));
  src = cpu_plan_input (plan, node, 0);
  md = dnn_md (src);
  w = dnn_md_plain (AXON_DTYPE_F32, &shape);
  if (dnnl_prelu_forward_desc_init (&desc, dnnl_forward_inference, &md, &w) != dnnl_success)
    return FALSE;
  call.pd = pd_of (&desc);
  if (call.pd == NULL)
    return FALSE;
  dnn_call_arg (&call, DNNL_ARG_SRC, src, FALSE);
  dnn_call_arg (
      &call, DNNL_ARG_WEIGHTS,
      cpu_plan_constant (plan, AXON_DTYPE_F32, &shape,
                         g_memdup2 (axon_tensor_get_data (slope), axon_tensor_get_n_bytes (slope))),
      FALSE);
  dnn_call_arg (&call, DNNL_ARG_DST, cpu_plan_output (plan, node, 0, src->md), TRUE);
  dnn_call_add (plan, &call);
  return TRUE;
}

/* The memory of @t under another description. */
static CpuTensor *
view_as (CpuPlan *plan, CpuTensor *t, const dnnl_memory_desc_t *md)
{
  CpuTensor *view = g_new0 (CpuTensor, 1);
  *view = *t;
  view->md = g_memdup2 (md, sizeof *md);
  g_ptr_array_add (plan->tensors, view);
  return view;
}

typedef struct {
  gboolean trans_a, trans_b;
  gfloat alpha, beta;
  const AxonTensor *bias;
} MatMul;

/* Gemm's C must be a row [N] (or a scalar) for the primitive. */
static gboolean
matmul_args (MatMul *m, const AxonNode *node, const AxonShape *y)
{
  gint64 n = y->dims[y->rank - 1];
  *m = (MatMul){ .alpha = 1, .beta = 1 };
  if (axon_node_is (node, "MatMul"))
    return TRUE;
  m->trans_a = axon_node_get_int (node, "transA") != 0;
  m->trans_b = axon_node_get_int (node, "transB") != 0;
  m->alpha = (gfloat)axon_node_get_float (node, "alpha");
  m->beta = (gfloat)axon_node_get_float (node, "beta");
  m->bias = cpu_node_constant (node, 2);
  if (axon_node_get_input (node, 2) == NULL)
    return TRUE;
  return m->bias != NULL && m->alpha == 1 && (gint64)axon_tensor_get_numel (m->bias) == n &&
         axon_tensor_get_dim (m->bias, (guint)MAX (axon_tensor_get_shape (m->bias)->rank - 1, 0)) ==
             n;
}

/* @t's matrix as oneDNN dims: padded to @rank with ones, last two swapped where transposed. */
static dnnl_memory_desc_t
matrix_md (const AxonShape *shape, gint rank, gboolean transposed, gboolean any)
{
  dnnl_memory_desc_t md;
  dnnl_dims_t dims, strides;
  gint64 row[AXON_MAX_RANK] = { 0 }, at = 1;
  gint lead = rank - shape->rank;
  for (gint i = shape->rank - 1; i >= 0; i--) {
    row[i] = at;
    at *= shape->dims[i];
  }
  for (gint i = 0; i < rank; i++) {
    gint s = i - lead;
    if (transposed && i >= rank - 2)
      s = i == rank - 2 ? shape->rank - 1 : shape->rank - 2;
    dims[i] = i < lead ? 1 : shape->dims[s];
    strides[i] = i < lead ? at : row[s];
  }
  if (any)
    dnnl_memory_desc_init_by_tag (&md, rank, dims, dnnl_f32, dnnl_format_tag_any);
  else
    dnnl_memory_desc_init_by_strides (&md, rank, dims, dnnl_f32, strides);
  return md;
}

static CpuTensor *
row_bias (CpuPlan *plan, const MatMul *m, gint rank)
{
  gsize n = axon_tensor_get_numel (m->bias);
  AxonShape shape = { .rank = rank };
  gfloat *data = g_new (gfloat, n);
  for (gint i = 0; i < rank; i++)
    shape.dims[i] = i == rank - 1 ? (gint64)n : 1;
  for (gsize i = 0; i < n; i++)
    data[i] = m->beta * (gfloat)axon_tensor_get_value (m->bias, i);
  return cpu_plan_constant (plan, AXON_DTYPE_F32, &shape, data);
}

gboolean
cpu_dnn_build_matmul (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *a = &node->inputs[0]->type.shape, *b = &node->inputs[1]->type.shape;
  const AxonShape *y = &node->outputs[0]->type.shape;
  const AxonTensor *constant = cpu_node_constant (node, 1);
  dnnl_memory_desc_t md_a, md_b, md_y, md_bias, plain_b;
  dnnl_primitive_attr_t attr;
  dnnl_matmul_desc_t desc;
  DnnCall call = { 0 };
  gboolean no_sum;
  MatMul m;
  if (!is_f32 (node) || a->rank < 2 || b->rank < 2 || y->rank > 5 ||
      axon_shape_get_numel (b) == 0 || !matmul_args (&m, node, y) ||
      (m.bias != NULL && axon_tensor_get_dtype (m.bias) != AXON_DTYPE_F32))
    return FALSE;
  md_a = matrix_md (a, y->rank, m.trans_a, FALSE);
  plain_b = matrix_md (b, y->rank, m.trans_b, FALSE);
  md_b = constant ? matrix_md (b, y->rank, m.trans_b, TRUE) : plain_b;
  md_y = dnn_md_plain (AXON_DTYPE_F32, y);
  if (m.bias != NULL) {
    AxonShape row = { .rank = y->rank };
    for (gint i = 0; i < y->rank; i++)
      row.dims[i] = i == y->rank - 1 ? y->dims[i] : 1;
    md_bias = dnn_md_plain (AXON_DTYPE_F32, &row);
  }
  if (dnnl_matmul_desc_init (&desc, &md_a, &md_b, m.bias ? &md_bias : NULL, &md_y) != dnnl_success)
    return FALSE;
  attr = dnn_attr_new ();
  if (m.alpha != 1)
    dnnl_primitive_attr_set_output_scales (attr, 1, 0, &m.alpha);
  dnn_append_posts (attr, node, &no_sum);
  call.pd = dnn_pd_new (&desc, attr);
  dnnl_primitive_attr_destroy (attr);
  if (call.pd == NULL)
    return FALSE;
  dnn_call_arg (&call, DNNL_ARG_SRC, view_as (plan, cpu_plan_input_as (plan, node, 0, NULL), &md_a),
                FALSE);
  dnn_call_arg (&call, DNNL_ARG_WEIGHTS,
                constant ? dnn_pack (plan, &plain_b, axon_tensor_get_data (constant),
                                     dnn_query (call.pd, dnnl_query_weights_md, 0))
                         : view_as (plan, cpu_plan_input_as (plan, node, 1, NULL), &plain_b),
                FALSE);
  if (m.bias != NULL)
    dnn_call_arg (&call, DNNL_ARG_BIAS, row_bias (plan, &m, y->rank), FALSE);
  dnn_call_arg (&call, DNNL_ARG_DST, cpu_plan_output (plan, node, 0, NULL), TRUE);
  dnn_call_add (plan, &call);
  return TRUE;
}

static const gchar *
eltwise_name (const AxonNode *node)
{
  if (!axon_node_is (node, "Gelu"))
    return node->op->name;
  return g_str_equal (axon_node_get_string (node, "approximate"), "tanh") ? "GeluTanh" : "GeluErf";
}

gboolean
cpu_dnn_build_unary (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  CpuTensor *src, *dst;
  dnnl_memory_desc_t md;
  dnnl_eltwise_desc_t desc;
  dnnl_alg_kind_t alg;
  gfloat alpha, beta, a, b;
  DnnCall call = { 0 };
  if (!is_f32 (node) || !cpu_eltwise_args (node, &alpha, &beta) ||
      !dnn_eltwise_of (eltwise_name (node), alpha, beta, &alg, &a, &b))
    return FALSE;
  src = cpu_plan_input (plan, node, 0);
  md = dnn_md (src);
  if (dnnl_eltwise_forward_desc_init (&desc, dnnl_forward_inference, alg, &md, a, b) !=
      dnnl_success)
    return FALSE;
  call.pd = pd_of (&desc);
  if (call.pd == NULL)
    return FALSE;
  dst = cpu_plan_is_last_use (plan, src) ? cpu_plan_alias (plan, node, 0, src, src->md)
                                         : cpu_plan_output (plan, node, 0, src->md);
  dnn_call_arg (&call, DNNL_ARG_SRC, src, FALSE);
  dnn_call_arg (&call, DNNL_ARG_DST, dst, TRUE);
  dnn_call_add (plan, &call);
  return TRUE;
}

/* The operand that has the result's shape leads the layout; the other broadcasts from row-major. */
gboolean
cpu_dnn_build_binary (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  static const struct {
    const gchar *name;
    dnnl_alg_kind_t alg;
    gboolean commutes;
  } kinds[] = { { "Add", dnnl_binary_add, TRUE },  { "Sum", dnnl_binary_add, TRUE },
                { "Sub", dnnl_binary_sub, FALSE }, { "Mul", dnnl_binary_mul, TRUE },
                { "Div", dnnl_binary_div, FALSE }, { "Max", dnnl_binary_max, TRUE },
                { "Min", dnnl_binary_min, TRUE } };
  const AxonShape *y = &node->outputs[0]->type.shape;
  guint k = 0, lead = 0, other = 1;
  AxonShape shape = { .rank = y->rank };
  CpuTensor *t[2];
  dnnl_memory_desc_t md[2];
  dnnl_binary_desc_t desc;
  dnnl_primitive_attr_t attr;
  gboolean no_sum;
  DnnCall call = { 0 };
  while (k < G_N_ELEMENTS (kinds) && !axon_node_is (node, kinds[k].name))
    k++;
  if (k == G_N_ELEMENTS (kinds) || !is_f32 (node) || node->n_inputs != 2 || y->rank > 5 ||
      y->rank < 1)
    return FALSE;
  if (!axon_shape_equal (&node->inputs[0]->type.shape, y) ||
      (kinds[k].commutes && axon_node_get_input (node, 0)->type.value != NULL &&
       axon_shape_equal (&node->inputs[1]->type.shape, y))) {
    lead = 1;
    other = 0;
  }
  if (!axon_shape_equal (&node->inputs[lead]->type.shape, y) || (lead == 1 && !kinds[k].commutes))
    return FALSE;
  t[0] = cpu_plan_input (plan, node, lead);
  md[0] = dnn_md (t[0]);
  if (axon_shape_equal (&node->inputs[other]->type.shape, y)) {
    t[1] = cpu_plan_input_as (plan, node, other, t[0]->md);
    md[1] = dnn_md (t[1]);
  } else {
    const AxonShape *s = &node->inputs[other]->type.shape;
    for (gint d = 0; d < y->rank; d++)
      shape.dims[d] = d < y->rank - s->rank ? 1 : s->dims[d - (y->rank - s->rank)];
    t[1] = cpu_plan_input_as (plan, node, other, NULL);
    md[1] = dnn_md_plain (AXON_DTYPE_F32, &shape);
  }
  if (dnnl_binary_desc_init (&desc, kinds[k].alg, &md[0], &md[1], &md[0]) != dnnl_success)
    return FALSE;
  attr = dnn_attr_new ();
  dnn_append_posts (attr, node, &no_sum);
  call.pd = dnn_pd_new (&desc, attr);
  dnnl_primitive_attr_destroy (attr);
  if (call.pd == NULL)
    return FALSE;
  dnn_call_arg (&call, DNNL_ARG_SRC_0, t[0], FALSE);
  dnn_call_arg (&call, DNNL_ARG_SRC_1, view_as (plan, t[1], &md[1]), FALSE);
  dnn_call_arg (&call, DNNL_ARG_DST, cpu_plan_output (plan, node, 0, t[0]->md), TRUE);
  dnn_call_add (plan, &call);
  return TRUE;
}
