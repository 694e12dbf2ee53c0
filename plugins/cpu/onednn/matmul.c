/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MatMul and Gemm: matrices of float, with a row of bias and the activations behind it. */
#include "dnn-private.h"
#include "../kernels/kernels.h"

typedef struct {
  AxonShape a, b, y; /* vectors as matrices of one row or column */
  gboolean trans_a, trans_b;
  gfloat alpha, beta;
  const AxonTensor *bias;
} MatMul;

/* Gemm's C must be a row [N] (or a scalar) for the primitive. */
static gboolean
matmul_args (MatMul *m, const AxonNode *node)
{
  gint64 n = m->y.dims[m->y.rank - 1];
  if (axon_node_is (node, "Gemm")) {
    m->trans_a = axon_node_get_int (node, "transA") != 0;
    m->trans_b = axon_node_get_int (node, "transB") != 0;
    m->alpha = (gfloat)axon_node_get_float (node, "alpha");
    m->beta = (gfloat)axon_node_get_float (node, "beta");
  }
  if (axon_node_get_input (node, 2) == NULL)
    return TRUE;
  return m->bias != NULL && m->alpha == 1 && (gint64)axon_tensor_get_numel (m->bias) == n &&
         axon_tensor_get_dim (m->bias, (guint)MAX (axon_tensor_get_shape (m->bias)->rank - 1, 0)) ==
             n;
}

/* A matrix, or an array of them, as oneDNN sees it: padded to @rank with ones, the last two
 * dimensions swapped where transposed. @any: in the layout that oneDNN likes. */
static CpuMd *
matrix_md (const AxonShape *shape, gint rank, gboolean transposed, gboolean any)
{
  dnnl_dims_t dims = { 0 }, strides = { 0 };
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
  return any ? dnn_md_new_tagged (dnnl_f32, rank, dims, dnnl_format_tag_any)
             : dnn_md_new_strided (dnnl_f32, rank, dims, strides);
}

static AxonShape
row_shape (const AxonShape *y)
{
  AxonShape row = { .rank = y->rank };
  for (gint i = 0; i < y->rank; i++)
    row.dims[i] = i == y->rank - 1 ? y->dims[i] : 1;
  return row;
}

static CpuTensor *
row_bias (CpuPlan *plan, const MatMul *m, const AxonShape *row)
{
  gsize n = axon_tensor_get_numel (m->bias);
  gfloat *data = g_new (gfloat, n);
  for (gsize i = 0; i < n; i++)
    data[i] = m->beta * (gfloat)axon_tensor_get_value (m->bias, i);
  return cpu_plan_constant (plan, AXON_DTYPE_F32, row, data);
}

/* A factor is not fused with what follows it. */
static DnnAttr *
product_attr (const MatMul *m, const AxonNode *node)
{
  const DnnEltwise times = { dnnl_eltwise_linear, m->alpha, 0 };
  g_autoptr (DnnPosts) posts = dnn_posts_new ();
  DnnAttr *attr = dnn_attr_new ();
  gboolean has_sum, fused = dnn_attr_set_posts (attr, node, &has_sum);
  g_assert (fused); /* cpu_dnn_takes_posts () */
  if (m->alpha != 1) {
    dnn_posts_add_eltwise (posts, &times);
    dnnl_primitive_attr_set_post_ops (attr, posts);
  }
  return attr;
}

static void
insert_one (AxonShape *shape, gint at)
{
  for (gint d = shape->rank++; d > at; d--)
    shape->dims[d] = shape->dims[d - 1];
  shape->dims[at] = 1;
}

/* Matrices of float that oneDNN can multiply. */
static gboolean
matmul_init (MatMul *m, const AxonNode *node)
{
  *m = (MatMul){ .a = node->inputs[0]->type.shape,
                 .b = node->inputs[1]->type.shape,
                 .y = node->outputs[0]->type.shape,
                 .alpha = 1,
                 .beta = 1,
                 .bias = cpu_node_constant (node, 2) };
  if (!dnn_is_f32 (node) || m->a.rank < 1 || m->b.rank < 1 || m->y.rank > 4 + (m->b.rank > 1) ||
      axon_shape_get_numel (&m->b) == 0)
    return FALSE;
  if (m->b.rank == 1) {
    insert_one (&m->b, 1);
    insert_one (&m->y, m->y.rank);
  }
  if (m->a.rank == 1) {
    insert_one (&m->a, 0);
    insert_one (&m->y, m->y.rank - 1);
  }
  return m->y.rank <= 5 && matmul_args (m, node) &&
         (m->bias == NULL || axon_tensor_get_dtype (m->bias) == AXON_DTYPE_F32);
}

gboolean
cpu_dnn_takes_posts (const AxonNode *node)
{
  MatMul m;
  return (axon_node_is (node, "MatMul") || axon_node_is (node, "Gemm")) &&
         axon_shape_is_static (&node->inputs[0]->type.shape) &&
         axon_shape_is_static (&node->inputs[1]->type.shape) &&
         node->inputs[0]->type.shape.rank > 1 && node->inputs[1]->type.shape.rank > 1 &&
         matmul_init (&m, node) && m.alpha == 1;
}

static gboolean
build_matmul (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonTensor *constant = cpu_node_constant (node, 1);
  g_autoptr (CpuMd) md_a = NULL, plain_b = NULL, md_b = NULL, md_bias = NULL, md_y = NULL;
  g_autoptr (DnnAttr) attr = NULL;
  CpuTensor *left, *right;
  DnnCall call = { 0 };
  AxonShape row;
  MatMul m;
  if (cpu_product_is_own (plan, node) || !matmul_init (&m, node))
    return FALSE;
  row = row_shape (&m.y);
  md_a = matrix_md (&m.a, m.y.rank, m.trans_a, FALSE);
  plain_b = matrix_md (&m.b, m.y.rank, m.trans_b, FALSE);
  md_b = matrix_md (&m.b, m.y.rank, m.trans_b, constant != NULL);
  md_bias = m.bias ? dnn_md_plain (AXON_DTYPE_F32, &row) : NULL;
  md_y = dnn_md_plain (AXON_DTYPE_F32, &m.y);
  attr = product_attr (&m, node);
  call.pd = dnn_pd_new_matmul (md_a, md_b, md_bias, md_y, attr);
  if (axon_node_find_attr (node, "axon.posts") == NULL || /* which nobody else knows */
      plan->choice == CPU_ONEDNN)
    call.pd = dnn_pd_if_fast (call.pd);
  if (call.pd == NULL)
    return FALSE;
  left = cpu_plan_input_as (plan, node, 0, NULL);
  dnn_call_add_arg (&call, DNNL_ARG_SRC,
                    cpu_dnn_view (plan, left, NULL, g_steal_pointer (&md_a), 0), FALSE);
  right = constant ? dnn_pack (plan, plain_b, axon_tensor_get_data (constant),
                               dnn_pd_get_md (call.pd, dnnl_query_weights_md))
                   : cpu_dnn_view (plan, cpu_plan_input_as (plan, node, 1, NULL), NULL,
                                   g_steal_pointer (&plain_b), 0);
  dnn_call_add_arg (&call, DNNL_ARG_WEIGHTS, right, FALSE);
  if (m.bias != NULL)
    dnn_call_add_arg (&call, DNNL_ARG_BIAS, row_bias (plan, &m, &row), FALSE);
  dnn_call_add_arg (
      &call, DNNL_ARG_DST,
      cpu_dnn_view (plan, cpu_plan_output (plan, node, 0, NULL), &m.y, g_steal_pointer (&md_y), 0),
      TRUE);
  dnn_call_finish (plan, &call);
  return TRUE;
}

void
cpu_dnn_add_product (CpuPlan *plan, CpuTensor *x, const CpuProduct *product, gfloat *bias,
                     CpuTensor *y)
{
  const AxonShape a = AXON_SHAPE (product->rows, product->inner);
  const AxonShape b = AXON_SHAPE (product->inner, product->columns);
  const AxonShape c = AXON_SHAPE (product->rows, product->columns), row = row_shape (&c);
  g_autoptr (CpuMd) md_a = matrix_md (&a, 2, FALSE, FALSE);
  g_autoptr (CpuMd) plain_b = matrix_md (&b, 2, FALSE, FALSE);
  g_autoptr (CpuMd) md_b = matrix_md (&b, 2, FALSE, TRUE);
  g_autoptr (CpuMd) md_bias = dnn_md_plain (AXON_DTYPE_F32, &row);
  g_autoptr (CpuMd) md_y = dnn_md_plain (AXON_DTYPE_F32, &c);
  DnnCall call = { .pd = dnn_pd_new_matmul (md_a, md_b, md_bias, md_y, dnn_attr_default ()) };
  g_assert (call.pd != NULL);
  dnn_call_add_arg (&call, DNNL_ARG_SRC, cpu_dnn_view (plan, x, &a, g_steal_pointer (&md_a), 0),
                    FALSE);
  dnn_call_add_arg (
      &call, DNNL_ARG_WEIGHTS,
      dnn_pack (plan, plain_b, product->weights, dnn_pd_get_md (call.pd, dnnl_query_weights_md)),
      FALSE);
  dnn_call_add_arg (&call, DNNL_ARG_BIAS, cpu_plan_constant (plan, AXON_DTYPE_F32, &row, bias),
                    FALSE);
  dnn_call_add_arg (&call, DNNL_ARG_DST, cpu_dnn_view (plan, y, &c, g_steal_pointer (&md_y), 0),
                    TRUE);
  dnn_call_finish (plan, &call);
}

void
cpu_dnn_ask_for_threads (void)
{
  static gsize once;
  if (g_once_init_enter (&once)) {
    const AxonShape shape = AXON_SHAPE (8, 8);
    g_autoptr (CpuMd) md = matrix_md (&shape, 2, FALSE, FALSE);
    DnnPd *pd = dnn_pd_new_matmul (md, md, NULL, md, dnn_attr_default ());
    if (pd != NULL)
      dnnl_primitive_desc_destroy (pd);
    g_once_init_leave (&once, 1);
  }
}

const CpuKernel cpu_dnn_matmul_kernels[] = {
  { .name = "MatMul", .impl = "onednn", .build = build_matmul },
  { .name = "Gemm", .impl = "onednn", .build = build_matmul },
  { 0 },
};
