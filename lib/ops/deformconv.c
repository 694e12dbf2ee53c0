/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DeformConv (19, 22; Dai et al. 2017, Zhu et al. 2018). */
#include "ops-private.h"

#include <math.h>

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
  AXON_AUTO_SCRATCH gdouble *image = axon_load_doubles (in[0], error),
                            *kernel = axon_load_doubles (in[1], error);
  AXON_AUTO_SCRATCH gdouble *offset = axon_load_doubles (in[2], error);
  AXON_AUTO_SCRATCH gdouble *masks = mask ? axon_load_doubles (mask, error) : NULL;
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
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
      for (gint64 oy = 0; oy < d.y->dims[2] && ROW_WANTED (oy); oy++)
        for (gint64 ox = 0; ox < d.y->dims[3]; ox++)
          y[at++] =
              deform_point (&d, n, m, oy, ox) + (bias ? axon_tensor_get_value (bias, (gsize)m) : 0);
  axon_store_doubles (out[0], y);
  return TRUE;
}

#define F AXON_DTYPES_FLOAT

static const AxonOp rows[] = {
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
};

DEFINE_FAMILY (deformconv, rows)
