/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "requantize.h"

#include <math.h>

/* A device's passes put a clamp of the quantised numbers into axon.clip. */
void
axon_store_clipped (AxonTensor *out, gdouble *values, const AxonNode *node)
{
  guint n;
  const gint64 *clip = axon_node_get_ints (node, "axon.clip", &n);
  for (gsize i = 0; clip != NULL && n == 2 && i < axon_tensor_get_numel (out); i++)
    values[i] = CLAMP (values[i], (gdouble)clip[0], (gdouble)clip[1]);
  axon_store_doubles (out, values);
}

/* Integers: x - zero point. Per-channel ones lie along dimension 0 (Conv weights) or along the last
 * (MatMul). */
gdouble *
axon_centre (const AxonTensor *x, const AxonTensor *zero, gsize inner, GError **error)
{
  gdouble *v = axon_load_doubles (x, error);
  gsize n = axon_tensor_get_numel (x), nz = zero ? axon_tensor_get_numel (zero) : 0;
  for (gsize i = 0; v != NULL && nz > 0 && i < n; i++)
    v[i] -= axon_tensor_get_value (zero, nz > 1 ? i / inner % nz : 0);
  return v;
}

/* x_scale * w_scale / y_scale, in this order and in single precision; @w has one scale for each
 * channel, or one. */
gfloat
axon_product_scale (const AxonTensor *x, const AxonTensor *w, gsize channel, const AxonTensor *y)
{
  return (gfloat)axon_tensor_get_value (x, 0) *
         (gfloat)axon_tensor_get_value (w, axon_tensor_get_numel (w) > 1 ? channel : 0) /
         (gfloat)axon_tensor_get_value (y, 0);
}

/* y = round (sum * scale) + zero, to be saturated when stored: what becomes of an exact sum. */
gdouble
axon_requantize (gdouble sum, gfloat scale, const AxonTensor *zero)
{
  gdouble q = (gdouble)((gfloat)sum * scale);
  return fabs (q) < 1e9
             ? (gdouble)axon_round_even (q) + (zero ? axon_tensor_get_value (zero, 0) : 0)
             : q;
}

gboolean
axon_check_count (const AxonTypeInfo *in, guint index, gint64 channels, GError **error)
{
  gint64 n = axon_shape_get_numel (&in[index].shape);
  if (n >= 0 && channels >= 0 && n != 1 && n != channels)
    FAIL (MODEL, "input %u: expected 1 or %" G_GINT64_FORMAT " elements, got %" G_GINT64_FORMAT,
          index, channels, n);
  return TRUE;
}
