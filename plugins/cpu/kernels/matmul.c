/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matrix products of bytes whose sums are exact: convolutions of one pixel, a row of A. */
#include "int8.h"
#include "kernels.h"

typedef struct {
  gint64 rows, inner, columns, batch;
  gboolean transposed; /* B is [N, K] */
} Product;

static gboolean
is_set (const AxonNode *node, const gchar *name)
{
  return axon_node_find_attr (node, name) != NULL && axon_node_get_int (node, name) != 0;
}

static gint64
product_of (const AxonShape *s, gint first, gint until)
{
  gint64 n = 1;
  for (gint d = first; d < until; d++)
    n *= s->dims[d];
  return n;
}

/* One B for all rows, or as many as A has matrices. */
static gboolean
read_product (Product *p, const AxonNode *node, guint b_index)
{
  const AxonShape *a = &node->inputs[0]->type.shape, *b = &node->inputs[b_index]->type.shape;
  if (a->rank < 1 || b->rank < 2 || is_set (node, "transA") ||
      axon_shape_get_numel (&node->outputs[0]->type.shape) < 1 || axon_shape_get_numel (a) < 1 ||
      axon_shape_get_numel (a) > G_MAXINT / 8 || axon_shape_get_numel (b) > G_MAXINT / 8)
    return FALSE;
  p->transposed = is_set (node, "transB");
  p->inner = a->dims[a->rank - 1];
  p->columns = b->dims[b->rank - (p->transposed ? 2 : 1)];
  p->batch = product_of (b, 0, b->rank - 2);
  if (p->batch == 1) {
    p->rows = product_of (a, 0, a->rank - 1);
    return TRUE;
  }
  p->rows = a->rank > 1 ? a->dims[a->rank - 2] : 1;
  for (gint d = 0; d < b->rank - 2; d++)
    if (a->rank != b->rank || a->dims[d] != b->dims[d])
      return FALSE;
  return TRUE;
}

static void
set_geometry (CpuConv *c, const Product *p)
{
  *c = (CpuConv){ .groups = 1,
                  .channels = (gint)p->inner,
                  .out_channels = (gint)p->columns,
                  .frames = (gint)p->batch,
                  .in_h = 1,
                  .in_w = (gint)p->rows,
                  .out_h = 1,
                  .out_w = (gint)p->rows,
                  .kernel_h = 1,
                  .kernel_w = 1,
                  .stride_h = 1,
                  .stride_w = 1,
                  .dilation_h = 1,
                  .dilation_w = 1,
                  .x_pixel = (gsize)p->inner,
                  .x_row = (gsize)(p->rows * p->inner),
                  .x_frame = (gsize)(p->rows * p->inner),
                  .y_pixel = (gsize)p->columns,
                  .y_row = (gsize)(p->rows * p->columns),
                  .y_frame = (gsize)(p->rows * p->columns) };
}

/* B is computed: packed at run time, one scale and zero point for all of it. */
static gboolean
can_pack_later (const CpuInt8Node *n)
{
  return n->runtime.scale == 0 && n->spec.n_scale <= 1 && n->spec.weights.n_zero <= 1 &&
         n->spec.bias == NULL && n->spec.shift == NULL;
}

/* MatMulInteger, QLinearMatMul and their kin: which inputs are what says the row of the table. */
static const CpuInt8Form gemm = {
  .x_scale = 1, .x_zero = 2, .w = 3, .w_scale = 4, .w_zero = 5, .bias = 6, .y_scale = 7, .y_zero = 8
};

static gboolean
build_matmul (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const CpuInt8Form *form = plan->row->data;
  g_auto (CpuInt8Node) n = { 0 };
  CpuInt8Weights *w = &n.spec.weights;
  gboolean later = cpu_node_constant (node, (guint)form->w) == NULL;
  Product p;
  if (!read_product (&p, node, (guint)form->w))
    return FALSE;
  set_geometry (&n.spec.conv.shape, &p);
  if (!cpu_int8_node_init (&n, plan, node, form, p.columns) ||
      ((later || p.batch > 1) && !can_pack_later (&n)))
    return FALSE;
  w->out = p.transposed ? (gsize)p.inner : 1;
  w->in = p.transposed ? 1 : (gsize)p.columns;
  if (later || p.batch > 1) {
    n.runtime.weights = n.n_in;
    n.runtime.weight_frame = (gsize)(p.inner * p.columns);
    n.in[n.n_in++] = cpu_plan_input_as (plan, node, (guint)form->w, NULL);
  }
  n.spec.conv.is_signed = node->inputs[0]->type.dtype == AXON_DTYPE_I8;
  n.in[0] = cpu_plan_input_as (plan, node, 0, NULL);
  cpu_int8_add_step (plan, &n.spec, 1, n.runtime, n.in, n.n_in,
                     cpu_plan_output (plan, node, 0, NULL));
  return TRUE;
}

const CpuKernel cpu_int8_matmul_kernels[] = {
  { .name = "QLinearMatMul", .impl = "int8", .build = build_matmul, .data = &cpu_int8_qlinear },
  { .name = "MatMulInteger", .impl = "int8", .build = build_matmul, .data = &cpu_int8_integer },
  { .domain = AXON_DOMAIN_MICROSOFT,
    .name = "MatMulIntegerToFloat",
    .impl = "int8",
    .build = build_matmul,
    .data = &cpu_int8_to_float },
  { .domain = AXON_DOMAIN_MICROSOFT,
    .name = "QGemm",
    .impl = "int8",
    .build = build_matmul,
    .data = &gemm },
  { 0 },
};
