/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pooling by regions and by indices: RoiAlign (10, 16, 22), MaxRoiPool (1), MaxUnpool (9, 11). */
#include "ops-private.h"

#include <math.h>

/* A region is so many numbers: @n_numbers. */
static gboolean
infer_regions (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, gint64 n_numbers,
               GError **error)
{
  gint64 h = axon_node_get_int (node, "output_height"),
         w = axon_node_get_int (node, "output_width");
  guint n;
  const gint64 *pooled = axon_node_get_ints (node, "pooled_shape", &n);
  out[0].dtype = in[0].dtype;
  if (pooled != NULL && n == 2) {
    h = pooled[0];
    w = pooled[1];
  }
  if (!axon_check_rank (in, 0, 4, 4, error) || !axon_check_rank (in, 1, 2, 2, error))
    return FALSE;
  if (h < 1 || w < 1 || h > G_MAXINT16 || w > G_MAXINT16)
    FAIL (MODEL, "output size %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " is out of range", h, w);
  if (in[1].shape.rank == 2 && in[1].shape.dims[1] >= 0 && in[1].shape.dims[1] != n_numbers)
    FAIL (MODEL, "rois: %" G_GINT64_FORMAT " values each", in[1].shape.dims[1]);
  out[0].shape = AXON_SHAPE (in[1].shape.rank == 2 ? in[1].shape.dims[0] : -1,
                             in[0].shape.rank == 4 ? in[0].shape.dims[1] : -1, h, w);
  return TRUE;
}

static gboolean
infer_roi_align (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  return infer_regions (node, in, out, 4, error);
}

/* The number of the image goes before each region. */
static gboolean
infer_max_roi_pool (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  return infer_regions (node, in, out, 5, error);
}

/* Bilinear sample at (y, x) of a plane; what lies more than a pixel outside is 0. Weighted maximum
 * of the four corners where @max. */
static gdouble
sample (const gdouble *plane, gint64 h, gint64 w, gdouble y, gdouble x, gboolean max)
{
  gint64 y0, x0, y1, x1;
  gdouble fy, fx, v[4];
  if (h == 0 || w == 0 || !(y >= -1 && y <= (gdouble)h && x >= -1 && x <= (gdouble)w))
    return 0;
  y = CLAMP (y, 0, (gdouble)(h - 1));
  x = CLAMP (x, 0, (gdouble)(w - 1));
  y0 = (gint64)y;
  x0 = (gint64)x;
  y1 = MIN (y0 + 1, h - 1);
  x1 = MIN (x0 + 1, w - 1);
  fy = y - (gdouble)y0;
  fx = x - (gdouble)x0;
  v[0] = (1 - fy) * (1 - fx) * plane[y0 * w + x0];
  v[1] = (1 - fy) * fx * plane[y0 * w + x1];
  v[2] = fy * (1 - fx) * plane[y1 * w + x0];
  v[3] = fy * fx * plane[y1 * w + x1];
  return max ? fmax (fmax (v[0], v[1]), fmax (v[2], v[3])) : v[0] + v[1] + v[2] + v[3];
}

typedef struct {
  gdouble y, x, bin_h, bin_w; /* first corner and size of a bin, in pixels */
  gint64 ny, nx;              /* samples in a bin */
} Region;

static gdouble
pool_bin (const Region *r, const gdouble *plane, const AxonShape *xs, gint64 py, gint64 px,
          gboolean max)
{
  gdouble sum = 0, top = -INFINITY;
  for (gint64 iy = 0; iy < r->ny; iy++)
    for (gint64 ix = 0; ix < r->nx; ix++) {
      gdouble y = r->y + (gdouble)py * r->bin_h + ((gdouble)iy + 0.5) * r->bin_h / (gdouble)r->ny;
      gdouble x = r->x + (gdouble)px * r->bin_w + ((gdouble)ix + 0.5) * r->bin_w / (gdouble)r->nx;
      gdouble v = sample (plane, xs->dims[2], xs->dims[3], y, x, max);
      sum += v;
      top = fmax (top, v);
    }
  return r->ny * r->nx == 0 ? 0 : max ? top : sum / (gdouble)(r->ny * r->nx);
}

static Region
read_region (const AxonNode *node, const gdouble *roi, const AxonShape *ys)
{
  gdouble scale = axon_node_get_float (node, "spatial_scale");
  const gchar *mode = axon_node_get_string (node, "coordinate_transformation_mode");
  gint64 ratio = axon_node_get_int (node, "sampling_ratio");
  gdouble offset = mode && g_str_equal (mode, "half_pixel") ? 0.5 : 0;
  gdouble w = (roi[2] - roi[0]) * scale, h = (roi[3] - roi[1]) * scale;
  Region r = { .y = roi[1] * scale - offset, .x = roi[0] * scale - offset };
  if (offset == 0) {
    w = fmax (w, 1);
    h = fmax (h, 1);
  }
  r.bin_h = h / (gdouble)ys->dims[2];
  r.bin_w = w / (gdouble)ys->dims[3];
  r.ny = ratio > 0 ? ratio : (gint64)CLAMP (ceil (r.bin_h), 0, 4096);
  r.nx = ratio > 0 ? ratio : (gint64)CLAMP (ceil (r.bin_w), 0, 4096);
  return r;
}

static gboolean
eval_roi_align (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *xs = axon_tensor_get_shape (in[0]), *ys = axon_tensor_get_shape (out[0]);
  gboolean max = g_str_equal (axon_node_get_string (node, "mode"), "max");
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error),
                            *rois = axon_load_doubles (in[1], error);
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  gint64 plane = xs->dims[2] * xs->dims[3], at = 0;
  if (axon_node_get_int (node, "sampling_ratio") > 4096 ||
      (gint64)axon_tensor_get_numel (in[2]) != ys->dims[0])
    FAIL (MODEL, "sampling_ratio is too large, or there is not one batch index for each region");
  for (gint64 n = 0; n < ys->dims[0]; n++) {
    Region r = read_region (node, rois + n * 4, ys);
    gint64 batch;
    if (!axon_check_index (axon_int_at (in[2], (gsize)n), xs->dims[0], &batch, error))
      return FALSE;
    for (gint64 c = 0; c < xs->dims[1]; c++)
      for (gint64 py = 0; py < ys->dims[2]; py++)
        for (gint64 px = 0; px < ys->dims[3] && !axon_work_is_cancelled (); px++)
          y[at++] = pool_bin (&r, x + (batch * xs->dims[1] + c) * plane, xs, py, px, max);
  }
  axon_store_doubles (out[0], y);
  return TRUE;
}

/* Rounded corners, bins that may share pixels (Girshick, Fast R-CNN, 2015). */
static gdouble
max_of_bin (const gdouble *plane, const AxonShape *xs, const gint64 *roi, gint64 py, gint64 px,
            const AxonShape *ys)
{
  gdouble h = (gdouble)MAX (roi[3] - roi[1] + 1, 1) / (gdouble)ys->dims[2], top = -INFINITY;
  gdouble w = (gdouble)MAX (roi[2] - roi[0] + 1, 1) / (gdouble)ys->dims[3];
  gint64 y0 = CLAMP ((gint64)floor ((gdouble)py * h) + roi[1], 0, xs->dims[2]);
  gint64 y1 = CLAMP ((gint64)ceil ((gdouble)(py + 1) * h) + roi[1], 0, xs->dims[2]);
  gint64 x0 = CLAMP ((gint64)floor ((gdouble)px * w) + roi[0], 0, xs->dims[3]);
  gint64 x1 = CLAMP ((gint64)ceil ((gdouble)(px + 1) * w) + roi[0], 0, xs->dims[3]);
  for (gint64 y = y0; y < y1; y++)
    for (gint64 x = x0; x < x1; x++)
      top = fmax (top, plane[y * xs->dims[3] + x]);
  return top > -INFINITY ? top : 0;
}

static gboolean
eval_max_roi_pool (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                   GError **error)
{
  const AxonShape *xs = axon_tensor_get_shape (in[0]), *ys = axon_tensor_get_shape (out[0]);
  gdouble scale = axon_node_get_float (node, "spatial_scale");
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error),
                            *rois = axon_load_doubles (in[1], error);
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  gint64 plane = xs->dims[2] * xs->dims[3], at = 0;
  for (gint64 n = 0; n < ys->dims[0]; n++) {
    gint64 roi[4], batch;
    for (gint i = 0; i < 4; i++) /* what is no number is far away */
      roi[i] = (gint64)fmax (fmin (round (rois[n * 5 + 1 + i] * scale), 1e9), -1e9);
    if (!axon_check_index (axon_int_at (in[1], (gsize)n * 5), xs->dims[0], &batch, error))
      return FALSE;
    for (gint64 c = 0; c < xs->dims[1]; c++)
      for (gint64 py = 0; py < ys->dims[2]; py++)
        for (gint64 px = 0; px < ys->dims[3] && !axon_work_is_cancelled (); px++)
          y[at++] = max_of_bin (x + (batch * xs->dims[1] + c) * plane, xs, roi, py, px, ys);
  }
  axon_store_doubles (out[0], y);
  return TRUE;
}

/* What MaxPool with these attributes came from; output_shape may ask for more. */
static gboolean
infer_max_unpool (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const AxonShape *x = &in[0].shape;
  gint64 shape[AXON_MAX_RANK];
  guint n, n_kernel, n_strides, n_pads;
  const gint64 *kernel = axon_node_get_ints (node, "kernel_shape", &n_kernel);
  const gint64 *strides = axon_node_get_ints (node, "strides", &n_strides);
  const gint64 *pads = axon_node_get_ints (node, "pads", &n_pads);
  out[0].dtype = in[0].dtype;
  if (!axon_check_rank (in, 0, 3, AXON_MAX_RANK, error))
    return FALSE;
  if (x->rank < 0)
    return TRUE;
  if (n_kernel != (guint)x->rank - 2 || (strides && n_strides != n_kernel) ||
      (pads && n_pads != 2 * n_kernel))
    FAIL (MODEL, "kernel_shape, strides or pads do not fit rank %d", x->rank);
  out[0].shape = *x;
  for (guint i = 0; i < n_kernel; i++) {
    gint64 stride = strides ? strides[i] : 1, pad = pads ? pads[i] + pads[i + n_kernel] : 0;
    gint64 *d = &out[0].shape.dims[i + 2];
    if (stride < 1 || stride > G_MAXINT16 || kernel[i] < 1 || kernel[i] > G_MAXINT16 ||
        ABS (pad) > G_MAXINT16 || *d > G_MAXINT32)
      FAIL (MODEL, "kernel_shape, strides or pads are out of range");
    *d = *d < 0 ? -1 : MAX ((*d - 1) * stride + kernel[i] - pad, 0);
  }
  if (!axon_is_given (node, in, 2))
    return TRUE;
  gboolean known = axon_const_ints (&in[2], shape, AXON_MAX_RANK, &n);
  if (known && n != (guint)x->rank)
    FAIL (MODEL, "output_shape: expected %d values, got %u", x->rank, n);
  for (gint d = 0; d < x->rank; d++) {
    out[0].shape.dims[d] = known ? shape[d] : -1;
    if (known && shape[d] < 0)
      FAIL (MODEL, "output_shape: dimension %d is negative", d);
  }
  return TRUE;
}

/* Indices count in the shape that the attributes give. They are moved into output_shape, whose
 * planes keep the smaller one's corner. */
static gboolean
eval_max_unpool (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                 GError **error)
{
  AxonTypeInfo infos[3], plain = { 0 };
  AxonNode natural = *node;
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new0 (axon_tensor_get_numel (out[0]) + 1, sizeof *y, error);
  gint64 strides[AXON_MAX_RANK], n_in = (gint64)axon_tensor_get_numel (in[0]), total;
  axon_infos_of (node, in, infos);
  natural.n_inputs = 2;
  if (*error != NULL || !infer_max_unpool (&natural, infos, &plain, error))
    return FALSE;
  total = axon_shape_get_numel (&plain.shape);
  axon_row_strides (axon_tensor_get_shape (out[0]), strides);
  gboolean ok = (gint64)axon_tensor_get_numel (in[1]) == n_in;
  for (gint64 i = 0; ok && i < n_in; i++) {
    gint64 index = axon_int_at (in[1], (gsize)i), at = 0;
    ok = index >= 0 && index < total;
    for (gint d = plain.shape.rank - 1; ok && d >= 0; d--) {
      gint64 k = index % plain.shape.dims[d];
      ok = k < axon_tensor_get_dim (out[0], (guint)d);
      at += k * strides[d];
      index /= plain.shape.dims[d];
    }
    if (ok)
      y[at] = x[i];
  }
  axon_store_doubles (out[0], y);
  if (!ok)
    FAIL (MODEL, "an index is outside the output, or their number differs from the input's");
  return TRUE;
}

#define F AXON_DTYPES_FLOAT
#define ALIGN                                                                                      \
  ATTR_S ("mode", "avg"), ATTR_I ("output_height", 1), ATTR_I ("output_width", 1),                 \
      ATTR_I ("sampling_ratio", 0), ATTR_F ("spatial_scale", 1)

static const AxonOp rows[] = {
  {
      .name = "RoiAlign",
      .since = 10,
      .until = 15,
      .inputs = { 3, 3 },
      .operands = "..l",
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 2,
      .attrs = ATTRS (ALIGN),
      .infer = infer_roi_align,
      .eval = eval_roi_align,
  },
  {
      .name = "RoiAlign",
      .since = 16,
      .inputs = { 3, 3 },
      .operands = "..l",
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 2,
      .attrs = ATTRS (ALIGN, ATTR_S ("coordinate_transformation_mode", "half_pixel")),
      .infer = infer_roi_align,
      .eval = eval_roi_align,
  },
  {
      .name = "MaxRoiPool",
      .since = 1,
      .inputs = { 2, 2 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 2,
      .attrs = ATTRS (REQUIRED ("pooled_shape", AXON_ATTR_INTS), ATTR_F ("spatial_scale", 1)),
      .infer = infer_max_roi_pool,
      .eval = eval_max_roi_pool,
  },
  {
      .name = "MaxUnpool",
      .since = 9,
      .inputs = { 2, 3 },
      .operands = ".ll",
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 1,
      .attrs = ATTRS (REQUIRED ("kernel_shape", AXON_ATTR_INTS), ATTR_INTS ("pads"),
                      ATTR_INTS ("strides")),
      .infer = infer_max_unpool,
      .eval = eval_max_unpool,
  },
};

DEFINE_FAMILY (roi, rows)
