/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <axon/plugin/axonquant.h>
#include <axon/plugin/axonpass.h>

#include <string.h>

static const AxonTensor *
constant (const AxonNode *node, guint index)
{
  const AxonValue *value = axon_node_get_input (node, index);
  return value ? value->type.value : NULL;
}

gboolean
axon_quant_scalar (const AxonNode *node, guint index, gdouble *value)
{
  *value = 0;
  return axon_node_get_input (node, index) == NULL ||
         axon_match_scalar (node->inputs[index], value);
}

gboolean
axon_quant_init (AxonQuant *q, const AxonNode *node)
{
  const AxonTensor *scale = constant (node, 4);
  gdouble xs, xz, ys, yz;
  if (scale == NULL || constant (node, 3) == NULL || !axon_quant_scalar (node, 1, &xs) ||
      !axon_quant_scalar (node, 2, &xz) || !axon_quant_scalar (node, 6, &ys) ||
      !axon_quant_scalar (node, 7, &yz) || ys == 0)
    return FALSE;
  q->x_scale = (gfloat)xs;
  q->x_zero = (gint32)xz;
  q->y_scale = (gfloat)ys;
  q->y_zero = (gint32)yz;
  q->n_w = (guint)axon_tensor_get_numel (scale);
  q->w_scale = g_new (gfloat, q->n_w + 1);
  for (guint i = 0; i < q->n_w; i++)
    q->w_scale[i] = (gfloat)axon_tensor_get_value (scale, i);
  return TRUE;
}

void
axon_quant_clear (AxonQuant *q)
{
  g_clear_pointer (&q->w_scale, g_free);
}

static gboolean
is_zero (const AxonTensor *zero)
{
  gsize n = zero ? axon_tensor_get_numel (zero) : 0;
  for (gsize i = 0; i < n; i++)
    if (axon_tensor_get_value (zero, i) != 0)
      return FALSE;
  return TRUE;
}

gint8 *
axon_quant_weights (const AxonNode *node)
{
  const AxonTensor *w = constant (node, 3), *zero = constant (node, 5);
  gsize n = axon_tensor_get_numel (w), n_zero = zero ? axon_tensor_get_numel (zero) : 0;
  gsize inner = n / (gsize)MAX (axon_tensor_get_dim (w, 0), 1);
  g_autofree gint8 *out = g_new (gint8, n + 1);
  if (axon_tensor_get_dtype (w) == AXON_DTYPE_I8 && is_zero (zero)) {
    memcpy (out, axon_tensor_get_data ((AxonTensor *)w), n);
    return g_steal_pointer (&out);
  }
  for (gsize i = 0; i < n; i++) {
    gdouble z = n_zero ? axon_tensor_get_value (zero, n_zero > 1 ? i / inner : 0) : 0;
    gdouble v = axon_tensor_get_value (w, i) - z;
    if (v < -128 || v > 127)
      return NULL;
    out[i] = (gint8)v;
  }
  return g_steal_pointer (&out);
}
