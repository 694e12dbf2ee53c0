/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conv (ONNX Conv-1, Conv-11) and ConvTranspose (-1, -11). */
#include "ops-private.h"

static gboolean
kernel_dims (const AxonNode *node, const AxonTypeInfo *in, gint64 *kernel, gboolean *known,
             GError **error)
{
  const AxonShape *w = &in[1].shape;
  guint n;
  const gint64 *attr = axon_node_get_ints (node, "kernel_shape", &n);
  *known = w->rank >= 3 && in[0].shape.rank >= 3;
  if (!*known)
    return TRUE;
  if (w->rank != in[0].shape.rank)
    FAIL (MODEL, "W has rank %d, X has rank %d", w->rank, in[0].shape.rank);
  for (gint i = 2; i < w->rank; i++) {
    *known = *known && w->dims[i] >= 0;
    kernel[i - 2] = w->dims[i];
    if (attr != NULL && n == (guint)w->rank - 2 && w->dims[i] >= 0 && attr[i - 2] != w->dims[i])
      FAIL (MODEL, "kernel_shape %" G_GINT64_FORMAT " differs from W's %" G_GINT64_FORMAT,
            attr[i - 2], w->dims[i]);
  }
  return TRUE;
}

static gboolean
check_bias (const AxonTypeInfo *in, guint n_inputs, gint64 channels, GError **error)
{
  if (n_inputs > 2 && in[2].dtype != AXON_DTYPE_UNDEFINED && axon_shape_is_static (&in[2].shape) &&
      channels >= 0 && (in[2].shape.rank != 1 || in[2].shape.dims[0] != channels))
    FAIL (MODEL, "B must have shape [%" G_GINT64_FORMAT "]", channels);
  return TRUE;
}

gboolean
axon_infer_conv (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const AxonShape *x = &in[0].shape, *w = &in[1].shape;
  gint64 kernel[AXON_MAX_RANK], group = axon_node_get_int (node, "group");
  gboolean known;
  AxonWindow win;
  out[0].dtype = in[0].dtype;
  if (!kernel_dims (node, in, kernel, &known, error))
    return FALSE;
  if (!known)
    return TRUE;
  if (group < 1 || (w->dims[0] >= 0 && w->dims[0] % group != 0))
    FAIL (MODEL,
          "group %" G_GINT64_FORMAT " does not divide the %" G_GINT64_FORMAT " output channels",
          group, w->dims[0]);
  if (x->dims[1] >= 0 && w->dims[1] >= 0 &&
      (x->dims[1] / group != w->dims[1] || x->dims[1] % group != 0))
    FAIL (MODEL,
          "W has %" G_GINT64_FORMAT " input channels, X has %" G_GINT64_FORMAT
          " (group %" G_GINT64_FORMAT ")",
          w->dims[1], x->dims[1], group);
  if (!check_bias (in, node->n_inputs, w->dims[0], error) ||
      !axon_window_init (&win, node, x, kernel, FALSE, error))
    return FALSE;
  out[0].shape = *x;
  out[0].shape.dims[1] = w->dims[0];
  axon_window_shape (&win, &out[0].shape);
  return TRUE;
}

/* Adds one kernel tap to one output row. */
static void
add_row (gdouble *y, const gdouble *x, gdouble tap, const AxonWindow *w, gint64 kx)
{
  gint64 shift = kx * w->dilation[2] - w->pad[2];
  for (gint64 o = 0; o < w->out[2]; o++) {
    gint64 i = o * w->stride[2] + shift;
    if (i >= 0 && i < w->in[2])
      y[o] += tap * x[i];
  }
}

/* y[out] += x[in] * k over all taps. */
static void
conv_plane (gdouble *y, const gdouble *x, const gdouble *k, const AxonWindow *w)
{
  for (gint64 kz = 0; kz < w->kernel[0]; kz++)
    for (gint64 ky = 0; ky < w->kernel[1]; ky++)
      for (gint64 kx = 0; kx < w->kernel[2]; kx++, k++)
        for (gint64 oz = 0; oz < w->out[0]; oz++) {
          gint64 iz = oz * w->stride[0] + kz * w->dilation[0] - w->pad[0];
          for (gint64 oy = 0; iz >= 0 && iz < w->in[0] && oy < w->out[1] && ROW_WANTED (oy); oy++) {
            gint64 iy = oy * w->stride[1] + ky * w->dilation[1] - w->pad[1];
            if (iy >= 0 && iy < w->in[1])
              add_row (y + (oz * w->out[1] + oy) * w->out[2], x + (iz * w->in[1] + iy) * w->in[2],
                       *k, w, kx);
          }
        }
}

static gint64
volume (const gint64 *dims)
{
  return dims[0] * dims[1] * dims[2];
}

/* y (zeroed by the caller) = conv (x, k) + b */
gboolean
axon_conv_doubles (const AxonNode *node, const gdouble *x, const AxonShape *xs, const gdouble *k,
                   const AxonShape *ws, const gdouble *b, gdouble *y, GError **error)
{
  gint64 group = axon_node_get_int (node, "group"), m = ws->dims[0], c = ws->dims[1];
  AxonWindow w;
  if (!axon_window_init (&w, node, xs, ws->dims + 2, FALSE, error))
    return FALSE;
  for (gint64 n = 0; n < xs->dims[0]; n++)
    for (gint64 o = 0; o < m; o++) {
      gdouble *plane = y + (n * m + o) * volume (w.out);
      gint64 first = o / (m / group) * c;
      for (gint64 i = 0; b != NULL && i < volume (w.out); i++)
        plane[i] = b[o];
      for (gint64 i = 0; i < c; i++)
        conv_plane (plane, x + (n * xs->dims[1] + first + i) * volume (w.in),
                    k + (o * c + i) * volume (w.kernel), &w);
    }
  return TRUE;
}

/* ConvTranspose: sizes by output_padding, output_shape or auto_pad; the window then describes the
 * convolution whose gradient this is, "in" being our output. */
static gboolean
transpose_window (AxonWindow *w, const AxonNode *node, const AxonShape *x, const gint64 *kernel,
                  GError **error)
{
  gint n = x->rank - 2, lead = 3 - n;
  guint n_shape, n_extra;
  const gint64 *shape = axon_node_get_ints (node, "output_shape", &n_shape);
  const gint64 *extra = axon_node_get_ints (node, "output_padding", &n_extra);
  const gchar *auto_pad = axon_node_get_string (node, "auto_pad");
  if (!axon_window_read (w, node, x, kernel, FALSE, error))
    return FALSE;
  if ((shape && n_shape < (guint)n) || (extra && n_extra != (guint)n))
    FAIL (MODEL, "output_shape or output_padding has the wrong length");
  for (gint i = 0; i < n; i++) {
    gint d = lead + i;
    gint64 full, more = extra ? extra[i] : 0,
                 asked = shape ? shape[n_shape - (guint)n + (guint)i] : 1;
    if (more < 0 || MAX (more, x->dims[2 + i]) > G_MAXINT32 || asked < 1 || asked > G_MAXINT32)
      FAIL (MODEL,
            "size %" G_GINT64_FORMAT ", output_padding %" G_GINT64_FORMAT
            " or output_shape %" G_GINT64_FORMAT " is out of range",
            x->dims[2 + i], more, asked);
    w->out[d] = x->dims[2 + i];
    full = (w->out[d] - 1) * w->stride[d] + (w->kernel[d] - 1) * w->dilation[d] + 1 + more;
    if (shape != NULL || g_str_has_prefix (auto_pad, "SAME")) {
      gint64 target = shape ? asked : w->out[d] * w->stride[d];
      gint64 total = MAX (0, full - target);
      w->pad[d] = g_str_equal (auto_pad, "SAME_UPPER") ? total / 2 : total - total / 2;
      w->pad_end[d] = total - w->pad[d];
      w->in[d] = target;
    } else {
      w->in[d] = full - w->pad[d] - w->pad_end[d];
    }
    if (x->dims[2 + i] < 0)
      w->in[d] = -1;
    else if (w->in[d] < 1 || w->in[d] > G_MAXINT32)
      FAIL (MODEL, "output size %" G_GINT64_FORMAT " is out of range", w->in[d]);
  }
  return TRUE;
}

gboolean
axon_window_of_transposed (AxonWindow *w, const AxonNode *node, GError **error)
{
  return transpose_window (w, node, &node->inputs[0]->type.shape,
                           node->inputs[1]->type.shape.dims + 2, error);
}

gboolean
axon_infer_conv_transpose (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                           GError **error)
{
  const AxonShape *x = &in[0].shape, *w = &in[1].shape;
  gint64 kernel[AXON_MAX_RANK], group = axon_node_get_int (node, "group"), channels;
  gboolean known;
  AxonWindow win;
  out[0].dtype = in[0].dtype;
  if (!kernel_dims (node, in, kernel, &known, error))
    return FALSE;
  if (!known)
    return TRUE;
  if (group < 1 || (x->dims[1] >= 0 && x->dims[1] % group != 0) ||
      (x->dims[1] >= 0 && w->dims[0] >= 0 && x->dims[1] != w->dims[0]))
    FAIL (MODEL,
          "W has %" G_GINT64_FORMAT " input channels, X has %" G_GINT64_FORMAT
          " (group %" G_GINT64_FORMAT ")",
          w->dims[0], x->dims[1], group);
  channels = w->dims[1] < 0 ? -1 : w->dims[1] * group;
  if (!check_bias (in, node->n_inputs, channels, error) ||
      !transpose_window (&win, node, x, kernel, error))
    return FALSE;
  out[0].shape = *x;
  out[0].shape.dims[1] = channels;
  for (gint i = 0; i < win.rank; i++)
    out[0].shape.dims[2 + i] = win.in[3 - win.rank + i];
  return TRUE;
}

static void
scatter_plane (gdouble *y, const gdouble *x, const gdouble *k, const AxonWindow *w)
{
  for (gint64 kz = 0; kz < w->kernel[0]; kz++)
    for (gint64 ky = 0; ky < w->kernel[1]; ky++)
      for (gint64 kx = 0; kx < w->kernel[2]; kx++, k++)
        for (gint64 oz = 0; oz < w->out[0]; oz++)
          for (gint64 oy = 0; oy < w->out[1] && ROW_WANTED (oy); oy++)
            for (gint64 ox = 0; ox < w->out[2]; ox++) {
              gint64 z = oz * w->stride[0] + kz * w->dilation[0] - w->pad[0];
              gint64 r = oy * w->stride[1] + ky * w->dilation[1] - w->pad[1];
              gint64 c = ox * w->stride[2] + kx * w->dilation[2] - w->pad[2];
              if (z >= 0 && z < w->in[0] && r >= 0 && r < w->in[1] && c >= 0 && c < w->in[2])
                y[(z * w->in[1] + r) * w->in[2] + c] +=
                    *k * x[(oz * w->out[1] + oy) * w->out[2] + ox];
            }
}

/* y (zeroed by the caller) = the transposed convolution of x and k, + b */
gboolean
axon_conv_transpose_doubles (const AxonNode *node, const gdouble *x, const AxonShape *xs,
                             const gdouble *k, const AxonShape *ws, const gdouble *b, gdouble *y,
                             GError **error)
{
  gint64 group = axon_node_get_int (node, "group"), per = ws->dims[1], m = per * group;
  AxonWindow w;
  if (!transpose_window (&w, node, xs, ws->dims + 2, error))
    return FALSE;
  for (gint64 n = 0; n < xs->dims[0]; n++)
    for (gint64 o = 0; o < m; o++) {
      gdouble *plane = y + (n * m + o) * volume (w.in);
      gint64 g = o / per, count = xs->dims[1] / group;
      for (gint64 i = 0; b != NULL && i < volume (w.in); i++)
        plane[i] = b[o];
      for (gint64 i = g * count; i < (g + 1) * count; i++)
        scatter_plane (plane, x + (n * xs->dims[1] + i) * volume (w.out),
                       k + (i * per + o % per) * volume (w.kernel), &w);
    }
  return TRUE;
}

static gboolean
eval_by (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
         gboolean (*convolve) (const AxonNode *node, const gdouble *x, const AxonShape *xs,
                               const gdouble *k, const AxonShape *ws, const gdouble *b, gdouble *y,
                               GError **error),
         GError **error)
{
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error),
                            *k = axon_load_doubles (in[1], error);
  AXON_AUTO_SCRATCH gdouble *b =
      node->n_inputs > 2 && in[2] ? axon_load_doubles (in[2], error) : NULL;
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new0 (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  if (!convolve (node, x, axon_tensor_get_shape (in[0]), k, axon_tensor_get_shape (in[1]), b, y,
                 error))
    return FALSE;
  axon_store_doubles (out[0], y);
  return TRUE;
}

static gboolean
eval_conv (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  return eval_by (node, in, out, axon_conv_doubles, error);
}

static gboolean
eval_conv_transpose (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                     GError **error)
{
  return eval_by (node, in, out, axon_conv_transpose_doubles, error);
}

#define WINDOW_ATTRS                                                                               \
  ATTR_S ("auto_pad", "NOTSET"), ATTR_I ("group", 1), ATTR_INTS ("dilations"),                     \
      ATTR_INTS ("kernel_shape"), ATTR_INTS ("pads"), ATTR_INTS ("strides")

static const AxonOp rows[] = {
  {
      .name = "Conv",
      .since = 1,
      .inputs = { 2, 3 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 3,
      .attrs = ATTRS (WINDOW_ATTRS),
      .infer = axon_infer_conv,
      .eval = eval_conv,
  },
  {
      .name = "ConvTranspose",
      .since = 1,
      .inputs = { 2, 3 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 3,
      .attrs = ATTRS (WINDOW_ATTRS, ATTR_INTS ("output_padding"), ATTR_INTS ("output_shape")),
      .infer = axon_infer_conv_transpose,
      .eval = eval_conv_transpose,
  },
};

DEFINE_FAMILY (conv, rows)
