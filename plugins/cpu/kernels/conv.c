/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions of bytes whose sums are exact: QLinearConv and ConvInteger. */
#include "int8.h"
#include "kernels.h"
#include "../onednn/cpudnn.h"

/* Zero points of a constant input as integers; FALSE where it is given and no constant. */
static gboolean
read_zeros (const AxonNode *node, guint index, gint32 **zero, guint *n)
{
  const AxonTensor *t = cpu_node_constant (node, index);
  *zero = NULL;
  *n = 0;
  if (axon_node_get_input (node, index) == NULL)
    return TRUE;
  if (t == NULL)
    return FALSE;
  *n = (guint)axon_tensor_get_numel (t);
  *zero = g_new (gint32, *n + 1);
  for (guint i = 0; i < *n; i++)
    (*zero)[i] = (gint32)axon_tensor_get_value (t, i);
  return TRUE;
}

/* Weights [O, I/g, k...] of constant input @index with zero points in input @zero_index; @zeros
 * (transfer full) is what the result points to. */
static gboolean
read_weights (CpuInt8Weights *w, const AxonNode *node, guint index, guint zero_index,
              gint32 **zeros)
{
  const AxonTensor *t = cpu_node_constant (node, index);
  gsize taps = 1;
  if (t == NULL || !(AXON_DTYPE_BIT (axon_tensor_get_dtype (t)) & AXON_DTYPES_BYTE) ||
      !read_zeros (node, zero_index, zeros, &w->n_zero))
    return FALSE;
  for (gint d = 2; d < axon_tensor_get_shape (t)->rank; d++)
    taps *= (gsize)axon_tensor_get_dim (t, d);
  w->data = axon_tensor_get_data ((AxonTensor *)t);
  w->is_signed = axon_tensor_get_dtype (t) == AXON_DTYPE_I8;
  w->tap = 1;
  w->in = taps;
  w->out = taps * (gsize)axon_tensor_get_dim (t, 1);
  w->zero = *zeros;
  return TRUE;
}

static CpuTensor *
output_channels_last (CpuPlan *plan, const AxonNode *node)
{
  const AxonValue *y = node->outputs[0];
  g_autofree CpuMd *md = cpu_md_channels_last (y->type.dtype, &y->type.shape);
  return cpu_plan_output (plan, node, 0, md);
}

gboolean
cpu_build_qlinear_conv (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonTensor *bias = cpu_node_constant (node, 8), *w = cpu_node_constant (node, 3);
  g_auto (AxonQuant) q = { 0 };
  g_autofree gint32 *zeros = NULL;
  g_autofree gfloat *scales = NULL;
  CpuInt8Spec spec = { 0 };
  CpuTensor *src;
  if (!axon_quant_init (&q, node) || (axon_node_get_input (node, 8) && bias == NULL) ||
      !cpu_int8_geometry (&spec.conv, node, axon_tensor_get_shape (w)) ||
      !read_weights (&spec.weights, node, 3, 5, &zeros))
    return FALSE;
  scales = g_new (gfloat, q.n_w);
  for (guint i = 0; i < q.n_w; i++)
    scales[i] = q.x_scale * q.w_scale[i] / q.y_scale;
  spec.scale = scales;
  spec.n_scale = q.n_w;
  spec.bias = bias ? axon_tensor_get_data ((AxonTensor *)bias) : NULL;
  spec.x_zero = q.x_zero;
  cpu_int8_set_range (&spec.conv.finish, node, q.y_zero);
  src = cpu_int8_source (plan, node, 0, &spec.conv);
  cpu_int8_add_step (plan, &spec, 1, (CpuInt8Runtime){ 0 }, &src, 1,
                     output_channels_last (plan, node));
  return TRUE;
}

/* ConvInteger: the sums as they are; the source's zero point may be known only at run time. */
gboolean
cpu_build_conv_integer (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  g_autofree gint32 *zeros = NULL;
  CpuInt8Spec spec = { 0 };
  CpuInt8Runtime runtime = { 0 };
  CpuTensor *in[2];
  gdouble zero = 0;
  guint n = 1;
  if (!read_weights (&spec.weights, node, 1, 3, &zeros) ||
      !cpu_int8_geometry (&spec.conv, node, &node->inputs[1]->type.shape))
    return FALSE;
  spec.conv.finish.type = CPU_INT8_I32;
  in[0] = cpu_int8_source (plan, node, 0, &spec.conv);
  if (!axon_quant_scalar (node, 2, &zero)) {
    runtime.zero = n;
    in[n++] = cpu_plan_input_as (plan, node, 2, NULL);
  }
  spec.x_zero = (gint32)zero;
  cpu_int8_add_step (plan, &spec, 1, runtime, in, n, output_channels_last (plan, node));
  return TRUE;
}
