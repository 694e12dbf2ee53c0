/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shapes and strides of operands that are broadcast or copied. */
#include "ops-private.h"

#include <string.h>

gboolean
axon_infer_same (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                 G_GNUC_UNUSED GError **error)
{
  for (guint i = 0; i < node->n_outputs; i++) {
    out[i].dtype = in[0].dtype;
    out[i].shape = in[0].shape;
  }
  return TRUE;
}

gboolean
axon_infer_broadcast (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                      GError **error)
{
  out[0].dtype = in[0].dtype;
  out[0].shape = in[0].shape;
  for (guint i = 1; i < node->n_inputs; i++)
    if (!axon_shape_broadcast (&out[0].shape, &in[i].shape, &out[0].shape)) {
      g_autofree gchar *a = axon_shape_to_string (&in[0].shape);
      g_autofree gchar *b = axon_shape_to_string (&in[i].shape);
      FAIL (MODEL, "inputs 0 %s and %u %s cannot be broadcast", a, i, b);
    }
  return TRUE;
}

gboolean
axon_eval_copy (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                G_GNUC_UNUSED GError **error)
{
  gsize n = axon_tensor_get_n_bytes (out[0]);
  if (n > 0)
    memcpy (axon_tensor_get_data (out[0]), axon_tensor_get_data (in[0]), n);
  return TRUE;
}

void
axon_row_strides (const AxonShape *shape, gint64 *strides)
{
  gint64 stride = 1;
  for (gint i = shape->rank - 1; i >= 0; i--) {
    strides[i] = stride;
    stride *= MAX (shape->dims[i], 1);
  }
}

void
axon_broadcast_strides (const AxonShape *shape, const AxonShape *to, gint64 *strides)
{
  gint64 own[AXON_MAX_RANK];
  gint lead = to->rank - shape->rank;
  axon_row_strides (shape, own);
  for (gint i = 0; i < to->rank; i++)
    strides[i] = i < lead || shape->dims[i - lead] == 1 ? 0 : own[i - lead];
}

static void
copy_run (guint8 *dst, const guint8 *src, gsize size, gint64 n, gint64 stride)
{
  if (stride == 1) {
    memcpy (dst, src, (gsize)n * size);
    return;
  }
  for (gint64 i = 0; i < n; i++)
    memcpy (dst + (gsize)i * size, src + i * stride * (gint64)size, size);
}

void
axon_strided_copy (gpointer dst, const guint8 *src, gsize size, const AxonShape *shape,
                   const gint64 *strides)
{
  gint64 index[AXON_MAX_RANK] = { 0 }, at = 0, n = axon_shape_get_numel (shape);
  gint last = shape->rank - 1;
  gint64 run = last >= 0 ? shape->dims[last] : 1;
  guint8 *out = dst;
  for (gint64 done = 0; done < n; done += run, out += (gsize)run * size) {
    copy_run (out, src + at * (gint64)size, size, run, last >= 0 ? strides[last] : 1);
    for (gint d = last - 1; d >= 0; d--) {
      at += strides[d];
      if (++index[d] < shape->dims[d])
        break;
      at -= index[d] * strides[d];
      index[d] = 0;
    }
  }
}
