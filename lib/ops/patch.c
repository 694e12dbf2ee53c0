/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators over patches of images: Col2Im (18), DeformConv (19, 22; Dai et al. 2017, Zhu et al.
 * 2018), CenterCropPad (18). */
#include "ops-private.h"

#include <math.h>
#include <string.h>

/* The window whose patches the columns of [N, C * kernel, patches] are. */
static gboolean
col2im_window (const AxonNode *node, const AxonTypeInfo *in, AxonWindow *w, AxonShape *image,
               gboolean *known, GError **error)
{
  gint64 size[3], block[3], volume = 1, patches = 1;
  guint n, n_block;
  *known = axon_const_ints (&in[1], size, 3, &n) && axon_const_ints (&in[2], block, 3, &n_block);
  if (!*known)
    return TRUE;
  if (n != n_block || n < 1)
    FAIL (MODEL, "image_shape and block_shape have %u and %u values, expected 1 to 3 of each", n,
          n_block);
  *image = (AxonShape){ .rank = (gint)n + 2, .dims = { 1, 1 } };
  for (guint i = 0; i < n; i++) {
    image->dims[2 + i] = size[i];
    if (size[i] < 1 || size[i] > G_MAXINT32)
      FAIL (MODEL, "image_shape: %" G_GINT64_FORMAT " is out of range", size[i]);
  }
  if (!axon_window_init (w, node, image, block, FALSE, error))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    volume *= block[i];
    patches *= w->out[3 - n + i];
  }
  image->dims[0] = in[0].shape.dims[0];
  image->dims[1] = in[0].shape.dims[1] < 0 ? -1 : in[0].shape.dims[1] / volume;
  if ((in[0].shape.dims[1] >= 0 && in[0].shape.dims[1] % volume != 0) ||
      (in[0].shape.dims[2] >= 0 && in[0].shape.dims[2] != patches))
    FAIL (MODEL, "the input is not [N, C * %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT "]", volume,
          patches);
  return TRUE;
}

static gboolean
infer_col2im (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  AxonShape image;
  AxonWindow w;
  gboolean known;
  out[0].dtype = in[0].dtype;
  if (!axon_check_rank (in, 0, 3, 3, error))
    return FALSE;
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!col2im_window (node, in, &w, &image, &known, error))
    return FALSE;
  if (known)
    out[0].shape = image;
  return TRUE;
}

/* Adds one kernel tap of all patches to the image. */
static void
add_tap (gdouble *y, const gdouble *columns, const AxonWindow *w, const gint64 *k)
{
  gint64 i = 0;
  for (gint64 oz = 0; oz < w->out[0]; oz++)
    for (gint64 oy = 0; oy < w->out[1]; oy++)
      for (gint64 ox = 0; ox < w->out[2]; ox++, i++) {
        const gint64 o[] = { oz, oy, ox };
        gint64 at = 0;
        for (gint d = 0; at >= 0 && d < 3; d++) {
          gint64 c = o[d] * w->stride[d] + k[d] * w->dilation[d] - w->pad[d];
          at = c < 0 || c >= w->in[d] ? -1 : at * w->in[d] + c;
        }
        if (at >= 0)
          y[at] += columns[i];
      }
}

static gboolean
eval_col2im (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  g_autofree gdouble *x = axon_load_doubles (in[0]);
  g_autofree gdouble *y = g_new0 (gdouble, axon_tensor_get_numel (out[0]) + 1);
  gint64 patches = axon_tensor_get_dim (in[0], 2), row = 0;
  AxonTypeInfo infos[3];
  AxonShape image;
  AxonWindow w;
  gboolean known;
  axon_infos_of (node, in, infos);
  if (!col2im_window (node, infos, &w, &image, &known, error))
    return FALSE;
  for (gint64 nc = 0; nc < image.dims[0] * image.dims[1]; nc++)
    for (gint64 kz = 0; kz < w.kernel[0]; kz++)
      for (gint64 ky = 0; ky < w.kernel[1]; ky++)
        for (gint64 kx = 0; kx < w.kernel[2]; kx++, row++)
          add_tap (y + nc * w.in[0] * w.in[1] * w.in[2], x + row * patches, &w,
                   (const gint64[]){ kz, ky, kx });
  axon_store_doubles (out[0], y);
  return TRUE;
}

static gboolean
infer_deform_conv (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  AxonTypeInfo conv[3] = { in[0], in[1], { .shape = AXON_SHAPE_UNKNOWN } };
  gint64 groups = axon_node_get_int (node, "offset_group");
  const AxonShape *w = &in[1].shape, *offset = &in[2].shape;
  AxonNode plain = *node;
  plain.n_inputs = 2;
  if (axon_is_given (node, in, 3)) {
    plain.n_inputs = 3;
    conv[2] = in[3];
  }
  if (!axon_check_rank (in, 0, 4, 4, error) || !axon_infer_conv (&plain, conv, out, error))
    return FALSE;
  if (groups < 1 ||
      (in[0].shape.rank == 4 && in[0].shape.dims[1] >= 0 && in[0].shape.dims[1] % groups != 0))
    FAIL (MODEL, "offset_group %" G_GINT64_FORMAT " does not divide the channels", groups);
  if (!axon_shape_is_static (offset) || !axon_shape_is_static (w) ||
      !axon_shape_is_static (&out[0].shape))
    return TRUE;
  if (offset->rank != 4 || offset->dims[1] != groups * w->dims[2] * w->dims[3] * 2 ||
      offset->dims[0] != out[0].shape.dims[0] || offset->dims[2] != out[0].shape.dims[2] ||
      offset->dims[3] != out[0].shape.dims[3])
    FAIL (MODEL, "the offsets must be [N, offset_group * kernel * 2, height, width] of the output");
  if (axon_is_given (node, in, 4) && axon_shape_get_numel (&in[4].shape) >= 0 &&
      axon_shape_get_numel (&in[4].shape) * 2 != axon_shape_get_numel (offset))
    FAIL (MODEL, "the mask must have half as many elements as the offsets");
  return TRUE;
}

/* Bilinear, 0 outside. */
static gdouble
sample (const gdouble *plane, gint64 h, gint64 w, gdouble y, gdouble x)
{
  gdouble sum = 0, y0 = floor (y), x0 = floor (x);
  if (!(y > -1 && y < (gdouble)h && x > -1 && x < (gdouble)w))
    return 0;
  for (gint k = 0; k < 4; k++) {
    gint64 r = (gint64)y0 + k / 2, c = (gint64)x0 + k % 2;
    gdouble wy = k / 2 ? y - y0 : 1 - (y - y0), wx = k % 2 ? x - x0 : 1 - (x - x0);
    if (r >= 0 && r < h && c >= 0 && c < w)
      sum += wy * wx * plane[r * w + c];
  }
  return sum;
}

typedef struct {
  AxonWindow w;
  const AxonShape *x, *k, *y;
  const gdouble *image, *kernel, *offset, *mask;
  gint64 groups, offset_groups;
} Deform;

/* One output channel at one place. */
static gdouble
deform_point (const Deform *d, gint64 n, gint64 m, gint64 oy, gint64 ox)
{
  gint64 per_group = d->k->dims[1], first = m / (d->k->dims[0] / d->groups) * per_group;
  gint64 kh = d->k->dims[2], kw = d->k->dims[3], taps = kh * kw,
         places = d->y->dims[2] * d->y->dims[3];
  gint64 place = oy * d->y->dims[3] + ox, h = d->x->dims[2], w = d->x->dims[3];
  gdouble sum = 0;
  for (gint64 c = 0; c < per_group; c++) {
    gint64 channel = first + c, og = channel / (d->x->dims[1] / d->offset_groups);
    const gdouble *plane = d->image + (n * d->x->dims[1] + channel) * h * w;
    for (gint64 t = 0; t < taps; t++) {
      gint64 at = (n * d->offset_groups + og) * taps + t;
      gdouble y = (gdouble)(oy * d->w.stride[1] + t / kw * d->w.dilation[1] - d->w.pad[1]) +
                  d->offset[(at * 2) * places + place];
      gdouble x = (gdouble)(ox * d->w.stride[2] + t % kw * d->w.dilation[2] - d->w.pad[2]) +
                  d->offset[(at * 2 + 1) * places + place];
      gdouble weight = d->kernel[(m * per_group + c) * taps + t];
      sum += sample (plane, h, w, y, x) * weight * (d->mask ? d->mask[at * places + place] : 1);
    }
  }
  return sum;
}

static gboolean
eval_deform_conv (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                  GError **error)
{
  AxonTensor *bias = axon_operand (node, in, 3), *mask = axon_operand (node, in, 4);
  g_autofree gdouble *image = axon_load_doubles (in[0]), *kernel = axon_load_doubles (in[1]);
  g_autofree gdouble *offset = axon_load_doubles (in[2]);
  g_autofree gdouble *masks = mask ? axon_load_doubles (mask) : NULL;
  g_autofree gdouble *y = g_new (gdouble, axon_tensor_get_numel (out[0]) + 1);
  Deform d = { .x = axon_tensor_get_shape (in[0]),
               .k = axon_tensor_get_shape (in[1]),
               .y = axon_tensor_get_shape (out[0]),
               .image = image,
               .kernel = kernel,
               .offset = offset,
               .mask = masks,
               .groups = axon_node_get_int (node, "group"),
               .offset_groups = axon_node_get_int (node, "offset_group") };
  gint64 at = 0;
  if (!axon_window_init (&d.w, node, d.x, d.k->dims + 2, FALSE, error))
    return FALSE;
  for (gint64 n = 0; n < d.y->dims[0]; n++)
    for (gint64 m = 0; m < d.y->dims[1]; m++)
      for (gint64 oy = 0; oy < d.y->dims[2]; oy++)
        for (gint64 ox = 0; ox < d.y->dims[3]; ox++)
          y[at++] =
              deform_point (&d, n, m, oy, ox) + (bias ? axon_tensor_get_value (bias, (gsize)m) : 0);
  axon_store_doubles (out[0], y);
  return TRUE;
}

static gboolean
infer_center (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 shape[AXON_MAX_RANK];
  guint n, n_axes;
  const gint64 *axes = axon_node_get_ints (node, "axes", &n_axes);
  axon_infer_same (node, in, out, error);
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!axon_const_ints (&in[1], shape, AXON_MAX_RANK, &n)) {
    for (gint d = 0; d < in[0].shape.rank; d++)
      out[0].shape.dims[d] = -1;
    return TRUE;
  }
  if (n != (axes ? n_axes : (guint)in[0].shape.rank))
    FAIL (MODEL, "shape has %u values, expected %u", n, axes ? n_axes : (guint)in[0].shape.rank);
  for (guint i = 0; i < n; i++) {
    gint axis = (gint)i;
    if (axes && !axon_check_axis (axes[i], in[0].shape.rank, &axis, error))
      return FALSE;
    if (shape[i] < 0)
      FAIL (MODEL, "shape: dimension %u is negative", i);
    out[0].shape.dims[axis] = shape[i];
  }
  return TRUE;
}

static gboolean
eval_center (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
             G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]), *y = axon_tensor_get_shape (out[0]);
  gsize size = axon_dtype_get_size (axon_tensor_get_dtype (in[0]));
  gint64 strides[AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 };
  guint8 *dst = axon_tensor_get_data (out[0]);
  axon_row_strides (x, strides);
  for (gsize i = 0; i < axon_tensor_get_numel (out[0]); i++) {
    gint64 at = 0;
    for (gint d = 0; at >= 0 && d < x->rank; d++) {
      gint64 more = y->dims[d] - x->dims[d]; /* both halves round down */
      gint64 c = index[d] - (more >= 0 ? more / 2 : -(-more / 2));
      at = c < 0 || c >= x->dims[d] ? -1 : at + c * strides[d];
    }
    if (at < 0)
      memset (dst + i * size, 0, size);
    else
      memcpy (dst + i * size, (guint8 *)axon_tensor_get_data (in[0]) + (gsize)at * size, size);
    axon_next_index (index, y);
  }
  return TRUE;
}

#define F AXON_DTYPES_FLOAT

static const AxonOp rows[] = {
  {
      .name = "Col2Im",
      .since = 18,
      .inputs = { 3, 3 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_ALL,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_INTS ("dilations"), ATTR_INTS ("pads"), ATTR_INTS ("strides")),
      .infer = infer_col2im,
      .eval = eval_col2im,
  },
  {
      .name = "DeformConv",
      .since = 19,
      .inputs = { 3, 5 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 3,
      .attrs = ATTRS (ATTR_INTS ("dilations"), ATTR_I ("group", 1), ATTR_INTS ("kernel_shape"),
                      ATTR_I ("offset_group", 1), ATTR_INTS ("pads"), ATTR_INTS ("strides")),
      .infer = infer_deform_conv,
      .eval = eval_deform_conv,
  },
  {
      .name = "CenterCropPad",
      .since = 18,
      .inputs = { 2, 2 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_ALL,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_INTS ("axes")),
      .infer = infer_center,
      .eval = eval_center,
  },
};

DEFINE_FAMILY (patch, rows)
