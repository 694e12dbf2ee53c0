/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resize (10, 11 to 17) and Upsample (7, 9): nearest, linear and cubic interpolation, separable. */
#include "ops-private.h"

#include <math.h>
#include <string.h>

typedef struct {
  gdouble scale[AXON_MAX_RANK];
  gdouble roi_start[AXON_MAX_RANK], roi_end[AXON_MAX_RANK];
  gint64 size[AXON_MAX_RANK];
  gboolean known;
} ResizePlan;

static gboolean
scale_values (const AxonTypeInfo *info, gint rank, gdouble *scale, GError **error)
{
  if ((gint)axon_tensor_get_numel (info->value) != rank)
    FAIL (MODEL, "scales: expected %d values, got %" G_GSIZE_FORMAT, rank,
          axon_tensor_get_numel (info->value));
  for (gint i = 0; i < rank; i++) {
    scale[i] = axon_tensor_get_value (info->value, (gsize)i);
    if (!(scale[i] > 0 && scale[i] < 1e6))
      FAIL (MODEL, "scale %g is out of range", scale[i]);
  }
  return TRUE;
}

static gboolean
given (const AxonNode *node, const AxonTypeInfo *in, guint i)
{
  return i < node->n_inputs && in[i].dtype != AXON_DTYPE_UNDEFINED &&
         axon_shape_get_numel (&in[i].shape) != 0;
}

/* Where scales and sizes stand depends on the row: Upsample 7 has an attribute, Upsample 9 and
 * Resize 10 input 1, Resize 11 roi, scales and sizes in inputs 1 to 3. */
static gboolean
make_plan (const AxonNode *node, const AxonTypeInfo *in, ResizePlan *plan, GError **error)
{
  const AxonShape *x = &in[0].shape;
  guint i_scales = node->op->max_in == 4 ? 2 : 1, n;
  *plan = (ResizePlan){ .known = axon_shape_is_static (x) };
  for (gint i = 0; i < x->rank; i++)
    plan->roi_end[i] = 1;
  if (node->op->max_in == 1) {
    const gfloat *attr = axon_node_get_floats (node, "scales", &n);
    if (n != (guint)x->rank)
      FAIL (MODEL, "scales: expected %d values, got %u", x->rank, n);
    for (guint i = 0; i < n; i++)
      plan->scale[i] = (gdouble)attr[i];
  } else if (given (node, in, i_scales)) {
    if (in[i_scales].value == NULL) {
      plan->known = FALSE;
      return TRUE;
    }
    if (!scale_values (&in[i_scales], x->rank, plan->scale, error))
      return FALSE;
  } else if (given (node, in, 3)) {
    if (!axon_const_ints (&in[3], plan->size, AXON_MAX_RANK, &n)) {
      plan->known = FALSE;
      return TRUE;
    }
    if (n != (guint)x->rank)
      FAIL (MODEL, "sizes: expected %d values, got %u", x->rank, n);
    for (gint i = 0; i < x->rank; i++)
      plan->scale[i] = plan->known ? (gdouble)plan->size[i] / (gdouble)MAX (x->dims[i], 1) : 1;
    if (plan->known)
      return TRUE;
  } else {
    FAIL (MODEL, "neither scales nor sizes are given");
  }
  for (gint i = 0; i < x->rank; i++) {
    gdouble size = floor ((gdouble)x->dims[i] * plan->scale[i]);
    if (size > G_MAXINT32)
      FAIL (MODEL, "dimension %d becomes too large", i);
    plan->size[i] = x->dims[i] < 0 ? -1 : (gint64)size;
  }
  return TRUE;
}

static gboolean
infer_resize (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  ResizePlan plan;
  axon_infer_same (node, in, out, error);
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!make_plan (node, in, &plan, error))
    return FALSE;
  for (gint i = 0; i < in[0].shape.rank; i++)
    out[0].shape.dims[i] = plan.size[i] > 0 ? plan.size[i] : -1;
  return TRUE;
}

/* Output coordinate to input coordinate, by coordinate_transformation_mode. */
static gdouble
source_coordinate (const gchar *mode, gdouble o, gdouble scale, gdouble n_in, gdouble n_out,
                   gdouble start, gdouble end)
{
  if (g_str_equal (mode, "asymmetric"))
    return o / scale;
  if (g_str_equal (mode, "align_corners"))
    return n_out > 1 ? o * (n_in - 1) / (n_out - 1) : 0;
  if (g_str_equal (mode, "pytorch_half_pixel"))
    return n_out > 1 ? (o + 0.5) / scale - 0.5 : 0;
  if (g_str_equal (mode, "tf_half_pixel_for_nn"))
    return (o + 0.5) / scale;
  if (g_str_equal (mode, "tf_crop_and_resize"))
    return n_out > 1 ? start * (n_in - 1) + o * (end - start) * (n_in - 1) / (n_out - 1)
                     : 0.5 * (start + end) * (n_in - 1);
  return (o + 0.5) / scale - 0.5; /* half_pixel */
}

static gint64
nearest (const gchar *mode, gdouble c)
{
  if (g_str_equal (mode, "floor"))
    return (gint64)floor (c);
  if (g_str_equal (mode, "ceil"))
    return (gint64)ceil (c);
  if (g_str_equal (mode, "round_prefer_ceil"))
    return (gint64)floor (c + 0.5);
  return (gint64)ceil (c - 0.5); /* round_prefer_floor */
}

#define MAX_TAPS 4

typedef struct {
  gint64 at[MAX_TAPS];
  gdouble weight[MAX_TAPS];
  gint n;
  gboolean outside; /* extrapolation_value instead */
} Taps;

static gdouble
cubic_weight (gdouble a, gdouble t)
{
  t = fabs (t);
  return t <= 1  ? ((a + 2) * t - (a + 3)) * t * t + 1
         : t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
                 : 0;
}

static Taps
make_taps (const AxonNode *node, gdouble c, gint64 n_in)
{
  const gchar *mode = axon_node_get_string (node, "mode");
  Taps taps = { 0 };
  gdouble base = floor (c), sum = 0;
  if (g_str_equal (mode, "nearest")) {
    taps.n = 1;
    taps.at[0] = nearest (axon_node_get_string (node, "nearest_mode"), c);
    taps.weight[0] = 1;
  } else if (g_str_equal (mode, "cubic")) {
    taps.n = 4;
    for (gint i = 0; i < 4; i++) {
      taps.at[i] = (gint64)base + i - 1;
      taps.weight[i] =
          cubic_weight (axon_node_get_float (node, "cubic_coeff_a"), c - (base + i - 1));
      if (axon_node_get_int (node, "exclude_outside") != 0 &&
          (taps.at[i] < 0 || taps.at[i] >= n_in))
        taps.weight[i] = 0;
      sum += taps.weight[i];
    }
    for (gint i = 0; i < 4; i++)
      taps.weight[i] /= sum;
  } else {
    taps.n = 2;
    taps.at[0] = (gint64)base;
    taps.at[1] = (gint64)base + 1;
    taps.weight[1] = c - base;
    taps.weight[0] = 1 - taps.weight[1];
  }
  for (gint i = 0; i < taps.n; i++)
    taps.at[i] = CLAMP (taps.at[i], 0, n_in - 1);
  return taps;
}

static gdouble *
resize_axis (const AxonNode *node, const gdouble *x, AxonShape *shape, gint axis,
             const ResizePlan *plan, gboolean *outside)
{
  gint64 n_in = shape->dims[axis], n_out = plan->size[axis], outer = 1, inner = 1;
  gdouble *y;
  const gchar *mode = axon_node_get_string (node, "coordinate_transformation_mode");
  for (gint d = 0; d < shape->rank; d++)
    if (d != axis)
      *(d < axis ? &outer : &inner) *= shape->dims[d];
  y = g_new0 (gdouble, (gsize)(outer * n_out * inner) + 1);
  for (gint64 o = 0; o < n_out; o++) {
    gdouble c = source_coordinate (mode, (gdouble)o, plan->scale[axis], (gdouble)n_in,
                                   (gdouble)n_out, plan->roi_start[axis], plan->roi_end[axis]);
    Taps taps = make_taps (node, c, n_in);
    outside[o] = g_str_equal (mode, "tf_crop_and_resize") && (c < 0 || c > (gdouble)n_in - 1);
    for (gint64 a = 0; a < outer; a++)
      for (gint t = 0; t < taps.n; t++)
        for (gint64 b = 0; b < inner; b++)
          y[(a * n_out + o) * inner + b] += taps.weight[t] * x[(a * n_in + taps.at[t]) * inner + b];
  }
  shape->dims[axis] = n_out;
  return y;
}

static void
fill_outside (gdouble *y, const AxonShape *shape, gint axis, const gboolean *outside, gdouble value)
{
  gint64 n = axon_shape_get_numel (shape), inner = 1;
  for (gint d = axis + 1; d < shape->rank; d++)
    inner *= shape->dims[d];
  for (gint64 i = 0; i < n; i++)
    if (outside[i / inner % shape->dims[axis]])
      y[i] = value;
}

static gboolean
eval_resize (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  AxonTypeInfo infos[4] = { 0 };
  AxonShape shape = *axon_tensor_get_shape (in[0]);
  g_autofree gdouble *x = axon_load_doubles (in[0]);
  gboolean ints = !axon_dtype_is_float (axon_tensor_get_dtype (in[0]));
  gsize n = axon_tensor_get_numel (out[0]);
  ResizePlan plan;
  for (guint i = 0; i < node->n_inputs; i++)
    if (in[i] != NULL)
      infos[i] =
          (AxonTypeInfo){ axon_tensor_get_dtype (in[i]), *axon_tensor_get_shape (in[i]), in[i] };
  if (!make_plan (node, infos, &plan, error))
    return FALSE;
  if (node->op->max_in == 4 && given (node, infos, 1) &&
      axon_tensor_get_numel (in[1]) == 2 * (gsize)shape.rank)
    for (gint i = 0; i < shape.rank; i++) {
      plan.roi_start[i] = axon_tensor_get_value (in[1], (gsize)i);
      plan.roi_end[i] = axon_tensor_get_value (in[1], (gsize)(i + shape.rank));
    }
  for (gint d = 0; d < shape.rank && n > 0; d++) {
    g_autofree gboolean *outside = g_new0 (gboolean, (gsize)plan.size[d] + 1);
    gdouble *y;
    if (plan.size[d] == shape.dims[d] && plan.scale[d] == 1 &&
        !g_str_equal (axon_node_get_string (node, "coordinate_transformation_mode"),
                      "tf_crop_and_resize"))
      continue;
    y = resize_axis (node, x, &shape, d, &plan, outside);
    fill_outside (y, &shape, d, outside, axon_node_get_float (node, "extrapolation_value"));
    g_free (x);
    x = y;
  }
  for (gsize i = 0; ints && i < n; i++)
    x[i] = (gdouble)axon_round_even (x[i]);
  axon_store_doubles (out[0], x);
  return TRUE;
}

#define SCALED                                                                                     \
  ATTR_S ("mode", "nearest"), ATTR_S ("nearest_mode", "floor"),                                    \
      ATTR_S ("coordinate_transformation_mode", "asymmetric")
#define ALL AXON_DTYPES_ALL

static const AxonOp rows[] = {
  { "Upsample", NULL, 7, 8, 1, 1, 1, 1, ALL, 1,
    ATTRS (SCALED, REQUIRED ("scales", AXON_ATTR_FLOATS)), infer_resize, eval_resize,
    AXON_OP_NONE },
  { "Upsample", NULL, 9, 9, 2, 2, 1, 1, ALL, 1, ATTRS (SCALED), infer_resize, eval_resize,
    AXON_OP_NONE },
  { "Resize", NULL, 10, 10, 2, 2, 1, 1, ALL, 1, ATTRS (SCALED), infer_resize, eval_resize,
    AXON_OP_NONE },
  { "Resize", NULL, 11, 17, 1, 4, 1, 1, ALL, 1,
    ATTRS (ATTR_S ("mode", "nearest"), ATTR_S ("nearest_mode", "round_prefer_floor"),
           ATTR_S ("coordinate_transformation_mode", "half_pixel"), ATTR_F ("cubic_coeff_a", -0.75),
           ATTR_I ("exclude_outside", 0), ATTR_F ("extrapolation_value", 0)),
    infer_resize, eval_resize, AXON_OP_NONE },
};

DEFINE_FAMILY (resize, rows)
