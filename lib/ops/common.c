/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the families: checks, broadcasting, strided copies, windows. */
#include "ops-private.h"

#include <math.h>
#include <string.h>

gboolean
axon_check_axis (gint64 axis, gint rank, gint *out, GError **error)
{
  if (axis < -rank || axis >= rank)
    FAIL (MODEL, "axis %" G_GINT64_FORMAT " is outside [-%d, %d)", axis, rank, rank);
  *out = (gint)(axis < 0 ? axis + rank : axis);
  return TRUE;
}

gboolean
axon_check_rank (const AxonTypeInfo *in, guint index, gint min, gint max, GError **error)
{
  gint rank = in[index].shape.rank;
  if (rank >= 0 && (rank < min || rank > max))
    FAIL (MODEL, "input %u: expected rank %d to %d, got %d", index, min, max, rank);
  return TRUE;
}

/* FALSE where the values are not known yet or are too many. */
gboolean
axon_const_ints (const AxonTypeInfo *info, gint64 *out, guint max, guint *n)
{
  if (info->value == NULL || axon_tensor_get_numel (info->value) > max)
    return FALSE;
  *n = (guint)axon_tensor_get_numel (info->value);
  for (guint i = 0; i < *n; i++)
    out[i] = axon_dtype_load_int (info->dtype, axon_tensor_get_data (info->value), i);
  return TRUE;
}

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

gdouble *
axon_load_doubles (const AxonTensor *tensor)
{
  gsize n = axon_tensor_get_numel (tensor);
  gdouble *values = g_new (gdouble, n + 1);
  AxonDType dtype = axon_tensor_get_dtype (tensor);
  gconstpointer data = axon_tensor_get_data (tensor);
  if (dtype == AXON_DTYPE_F32)
    for (gsize i = 0; i < n; i++)
      values[i] = (gdouble)((const gfloat *)data)[i];
  else
    for (gsize i = 0; i < n; i++)
      values[i] = axon_dtype_load (dtype, data, i);
  return values;
}

void
axon_store_doubles (AxonTensor *tensor, const gdouble *values)
{
  gsize n = axon_tensor_get_numel (tensor);
  AxonDType dtype = axon_tensor_get_dtype (tensor);
  gpointer data = axon_tensor_get_data (tensor);
  for (gsize i = 0; i < n; i++)
    axon_dtype_store (dtype, data, i, values[i]);
}

/* Half to even whatever the rounding mode is; saturates, NaN becomes 0. */
gint64
axon_round_even (gdouble v)
{
  gdouble r = floor (v + 0.5);
  if (!(fabs (v) < 9e18))
    return isnan (v) ? 0 : v > 0 ? G_MAXINT64 : G_MININT64;
  if (r - v == 0.5 && fmod (r, 2) != 0)
    r -= 1;
  return (gint64)r;
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

static gboolean
window_values (const AxonNode *node, const gchar *name, guint n, gint64 min, gint64 *out,
               GError **error)
{
  guint count;
  const gint64 *values = axon_node_get_ints (node, name, &count);
  if (values == NULL)
    return TRUE;
  if (count != n)
    FAIL (MODEL, "attribute \"%s\": expected %u values, got %u", name, n, count);
  for (guint i = 0; i < n; i++) {
    if (values[i] < min || values[i] > G_MAXINT32)
      FAIL (MODEL, "attribute \"%s\": %" G_GINT64_FORMAT " is out of range", name, values[i]);
    out[i] = values[i];
  }
  return TRUE;
}

/* pads = { begin..., end... } */
static void
window_size (AxonWindow *w, gint d, const gchar *auto_pad, gboolean ceil_mode)
{
  gint64 extent = (w->kernel[d] - 1) * w->dilation[d] + 1, room;
  if (w->in[d] < 0) {
    w->out[d] = -1;
    return;
  }
  if (g_str_has_prefix (auto_pad, "SAME")) {
    gint64 total;
    w->out[d] = (w->in[d] + w->stride[d] - 1) / w->stride[d];
    total = MAX (0, (w->out[d] - 1) * w->stride[d] + extent - w->in[d]);
    w->pad[d] = g_str_equal (auto_pad, "SAME_UPPER") ? total / 2 : total - total / 2;
    w->pad_end[d] = total - w->pad[d];
    return;
  }
  room = w->in[d] + w->pad[d] + w->pad_end[d] - extent;
  if (room < 0) {
    w->out[d] = 0;
    return;
  }
  w->out[d] = (room + (ceil_mode ? w->stride[d] - 1 : 0)) / w->stride[d] + 1;
  /* A window that starts in the end padding does not count (ONNX 1.12 text, PyTorch's rule). */
  if (ceil_mode && (w->out[d] - 1) * w->stride[d] >= w->in[d] + w->pad[d])
    w->out[d]--;
}

gboolean
axon_window_init (AxonWindow *w, const AxonNode *node, const AxonShape *x, const gint64 *kernel,
                  gboolean ceil_mode, GError **error)
{
  gint n = x->rank - 2, lead = 3 - n;
  gint64 pads[6] = { 0 };
  const gchar *auto_pad = axon_node_get_string (node, "auto_pad");
  if (n < 1 || n > 3)
    FAIL_FOR (SHAPE, UNSUPPORTED, "expected input 0 of rank 3 to 5, got %d", x->rank);
  *w = (AxonWindow){ .rank = n };
  for (gint i = 0; i < 3; i++)
    w->in[i] = w->kernel[i] = w->stride[i] = w->dilation[i] = w->out[i] = 1;
  for (gint i = 0; i < n; i++) {
    w->in[lead + i] = x->dims[2 + i];
    w->kernel[lead + i] = kernel[i];
    if (kernel[i] < 1 || kernel[i] > G_MAXINT32)
      FAIL (MODEL, "kernel size %" G_GINT64_FORMAT " is out of range", kernel[i]);
  }
  if (!window_values (node, "strides", (guint)n, 1, w->stride + lead, error) ||
      !window_values (node, "dilations", (guint)n, 1, w->dilation + lead, error) ||
      !window_values (node, "pads", (guint)(2 * n), 0, pads, error))
    return FALSE;
  for (gint i = 0; i < n; i++) {
    w->pad[lead + i] = pads[i];
    w->pad_end[lead + i] = pads[n + i];
    window_size (w, lead + i, auto_pad ? auto_pad : "NOTSET", ceil_mode);
    if (w->out[lead + i] == 0 && w->in[lead + i] > 0)
      FAIL (MODEL, "kernel %" G_GINT64_FORMAT " does not fit the padded input %" G_GINT64_FORMAT,
            w->kernel[lead + i], w->in[lead + i]);
  }
  return TRUE;
}

void
axon_window_shape (const AxonWindow *w, AxonShape *shape)
{
  for (gint i = 0; i < w->rank; i++)
    shape->dims[2 + i] = w->out[3 - w->rank + i];
}
