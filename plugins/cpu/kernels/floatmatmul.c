/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MatMul and Gemm of floats with constant weights: convolutions of one pixel, a row of A.
 *
 * With few rows the weights come from memory, once for each frame: our kernels fetch them while
 * they multiply those before. With many rows oneDNN is as fast or faster; where its products are
 * of another kind (AVX2), which lays out both matrices in each run, with fewer. */
#include "convchoice.h"
#include "floatconv-private.h"
#include "kernels.h"

#define FEW_ROWS 256
#define FEW_ROWS_LAID_OUT 128

static gint64
product_of (const AxonShape *s, gint until)
{
  gint64 n = 1;
  for (gint d = 0; d < until; d++)
    n *= s->dims[d];
  return n;
}

static gboolean
is_ours (gint64 rows)
{
  return !cpu_dnn_has_kernels () ||
         rows <= (cpu_dnn_is_channels_last () ? FEW_ROWS : FEW_ROWS_LAID_OUT);
}

gboolean
cpu_float_product_is_plain (const AxonNode *node)
{
  const AxonTensor *bias = cpu_node_constant (node, 2);
  const AxonShape *y = &node->outputs[0]->type.shape;
  gint64 n = y->rank > 0 ? y->dims[y->rank - 1] : 0;
  if (axon_node_is (node, "Gemm") &&
      (axon_node_get_int (node, "transA") != 0 || axon_node_get_float (node, "alpha") != 1 ||
       axon_node_get_float (node, "beta") != 1))
    return FALSE;
  return axon_node_get_input (node, 2) == NULL ||
         (bias != NULL && axon_tensor_get_dtype (bias) == AXON_DTYPE_F32 &&
          (gint64)axon_tensor_get_numel (bias) == n && n > 0 &&
          axon_tensor_get_dim (bias, (guint)MAX (axon_tensor_get_shape (bias)->rank - 1, 0)) == n);
}

/* One matrix of weights for all rows. */
static gboolean
is_ready (const AxonNode *node)
{
  const AxonTensor *w = cpu_node_constant (node, 1);
  const AxonShape *a = &node->inputs[0]->type.shape, *b = &node->inputs[1]->type.shape;
  const AxonShape *y = &node->outputs[0]->type.shape;
  return w != NULL && axon_tensor_get_dtype (w) == AXON_DTYPE_F32 &&
         node->inputs[0]->type.dtype == AXON_DTYPE_F32 && a->rank >= 2 && b->rank >= 2 &&
         product_of (b, b->rank - 2) == 1 && b->rank <= a->rank && axon_shape_get_numel (b) >= 1 &&
         axon_shape_get_numel (a) >= 1 && axon_shape_get_numel (a) <= G_MAXINT / 8 &&
         axon_shape_get_numel (y) <= G_MAXINT / 8 && axon_shape_get_numel (b) <= G_MAXINT / 8 &&
         cpu_float_product_is_plain (node);
}

void
cpu_float_product_set (CpuConv *c, gint rows, gint inner, gint columns)
{
  *c = (CpuConv){ .groups = 1,
                  .channels = inner,
                  .out_channels = columns,
                  .frames = 1,
                  .in_h = 1,
                  .in_w = rows,
                  .out_h = 1,
                  .out_w = rows,
                  .kernel_h = 1,
                  .kernel_w = 1,
                  .stride_h = 1,
                  .stride_w = 1,
                  .dilation_h = 1,
                  .dilation_w = 1,
                  .x_pixel = (gsize)inner,
                  .x_row = (gsize)rows * (gsize)inner,
                  .x_frame = (gsize)rows * (gsize)inner,
                  .y_pixel = (gsize)columns,
                  .y_row = (gsize)rows * (gsize)columns,
                  .y_frame = (gsize)rows * (gsize)columns };
}

gboolean
cpu_float_product_init (CpuConv *conv, CpuFloatWeights *weights, const AxonNode *node)
{
  const AxonShape *a = &node->inputs[0]->type.shape, *b = &node->inputs[1]->type.shape;
  gboolean transposed = axon_node_is (node, "Gemm") && axon_node_get_int (node, "transB") != 0;
  gint inner, columns;
  if (!is_ready (node))
    return FALSE;
  inner = (gint)a->dims[a->rank - 1];
  columns = (gint)b->dims[b->rank - (transposed ? 2 : 1)];
  cpu_float_product_set (conv, (gint)product_of (a, a->rank - 1), inner, columns);
  *weights = (CpuFloatWeights){ .data = axon_tensor_get_data (cpu_node_constant (node, 1)),
                                .in = transposed ? 1 : (gsize)columns,
                                .out = transposed ? (gsize)inner : 1,
                                .tap = 1 };
  return TRUE;
}

void
cpu_add_product (CpuPlan *plan, CpuTensor *x, const CpuProduct *product, gfloat *bias, CpuTensor *y)
{
  CpuFloatWeights weights = {
    .data = product->weights, .in = (gsize)product->columns, .out = 1, .tap = 1
  };
  CpuConv conv;
  if (!is_ours (product->rows)) {
    cpu_dnn_add_product (plan, x, product, bias, y);
    return;
  }
  cpu_float_product_set (&conv, (gint)product->rows, (gint)product->inner, (gint)product->columns);
  cpu_float_product_add (plan, x, &conv, &weights, bias, y);
  g_free (bias);
}

static gboolean
build_matmul (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  CpuFloatWeights weights;
  CpuConv conv;
  return cpu_float_product_init (&conv, &weights, node) &&
         (plan->choice == CPU_OWN || is_ours (conv.in_w) || cpu_conv_takes_halves (plan, node)) &&
         cpu_float_product_build (plan, node, &conv, &weights);
}

const CpuKernel cpu_float_matmul_kernels[] = {
  { .name = "MatMul", .impl = "own", .build = build_matmul },
  { .name = "Gemm", .impl = "own", .build = build_matmul },
  { 0 },
};
