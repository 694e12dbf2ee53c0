/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sliding windows of convolutions and pooling. */
#include "ops-private.h"

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

/* Nothing said: NOTSET. */
static gboolean
read_auto_pad (const AxonNode *node, const gchar **auto_pad, GError **error)
{
  static const gchar *const known[] = { "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", NULL };
  const gchar *said = axon_node_get_string (node, "auto_pad");
  *auto_pad = said ? said : "NOTSET";
  if (!g_strv_contains (known, *auto_pad))
    FAIL (MODEL, "attribute \"auto_pad\": expected NOTSET, SAME_UPPER, SAME_LOWER or VALID, got %s",
          *auto_pad);
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
axon_window_read (AxonWindow *w, const AxonNode *node, const AxonShape *x, const gint64 *kernel,
                  gboolean ceil_mode, GError **error)
{
  gint n = x->rank - 2, lead = 3 - n;
  gint64 pads[6] = { 0 };
  const gchar *auto_pad;
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
      !window_values (node, "pads", (guint)(2 * n), 0, pads, error) ||
      !read_auto_pad (node, &auto_pad, error))
    return FALSE;
  if (g_str_equal (auto_pad, "VALID"))
    memset (pads, 0, sizeof pads);
  for (gint i = 0; i < n; i++) {
    w->pad[lead + i] = pads[i];
    w->pad_end[lead + i] = pads[n + i];
    window_size (w, lead + i, auto_pad, ceil_mode);
  }
  return TRUE;
}

gboolean
axon_window_init (AxonWindow *w, const AxonNode *node, const AxonShape *x, const gint64 *kernel,
                  gboolean ceil_mode, GError **error)
{
  if (!axon_window_read (w, node, x, kernel, ceil_mode, error))
    return FALSE;
  for (gint d = 3 - w->rank; d < 3; d++)
    if (w->out[d] == 0 && w->in[d] > 0)
      FAIL (MODEL, "kernel %" G_GINT64_FORMAT " does not fit the padded input %" G_GINT64_FORMAT,
            w->kernel[d], w->in[d]);
  return TRUE;
}

gint64
axon_window_taps (const AxonWindow *w, gint d, gint64 o, gint64 from, gint64 to, gint64 *first)
{
  gint64 at = o * w->stride[d] - w->pad[d], step = w->dilation[d];
  *first = at < from ? MIN ((from - at + step - 1) / step, w->kernel[d]) : 0;
  return at < to ? CLAMP ((to - at + step - 1) / step, *first, w->kernel[d]) : *first;
}

gint64
axon_window_reach (const AxonWindow *w, gint d)
{
  return MIN (w->kernel[d], (w->in[d] + w->dilation[d] - 1) / w->dilation[d]);
}

void
axon_window_shape (const AxonWindow *w, AxonShape *shape)
{
  for (gint i = 0; i < w->rank; i++)
    shape->dims[2 + i] = w->out[3 - w->rank + i];
}
