/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resize (10, 11, 13, 18, 19) and Upsample (1, 7, 9): nearest, linear and cubic interpolation,
 * separable, axis by axis; antialiased from 18. */
#include "resize-private.h"

#include <math.h>
#include <string.h>

typedef struct {
  gdouble scale[AXON_MAX_RANK];
  gdouble roi_start[AXON_MAX_RANK], roi_end[AXON_MAX_RANK];
  gint64 size[AXON_MAX_RANK];
  gint axes[AXON_MAX_RANK]; /* that scales, sizes and roi speak of */
  gint n_axes;
  gboolean known; /* scales or sizes are; a size of what is free is -1 */
} ResizePlan;

static gboolean
set_scale (ResizePlan *plan, gint axis, gdouble scale, GError **error)
{
  if (!(scale > 0 && scale < 1e6))
    FAIL (MODEL, "scale %g is out of range", scale);
  plan->scale[axis] = scale;
  return TRUE;
}

static gboolean
read_axes (const AxonNode *node, gint rank, ResizePlan *plan, GError **error)
{
  guint n;
  const gint64 *axes = axon_node_get_ints (node, "axes", &n);
  gboolean seen[AXON_MAX_RANK] = { 0 };
  plan->n_axes = axes ? (gint)MIN (n, AXON_MAX_RANK) : rank;
  for (gint i = 0; i < plan->n_axes; i++) {
    plan->axes[i] = i;
    if (axes && !axon_check_axis (axes[i], rank, &plan->axes[i], error))
      return FALSE;
    if (seen[plan->axes[i]])
      FAIL (MODEL, "axis %d is given twice", plan->axes[i]);
    seen[plan->axes[i]] = TRUE;
  }
  for (gint i = 0; i < rank; i++) {
    plan->scale[i] = plan->roi_end[i] = 1;
    plan->roi_start[i] = 0;
  }
  return TRUE;
}

static gboolean
given (const AxonNode *node, const AxonTypeInfo *in, guint i)
{
  return axon_is_given (node, in, i) && axon_shape_get_numel (&in[i].shape) != 0;
}

/* Upsample 1: one attribute for each of the two last dimensions. */
static gboolean
scales_from_attributes (const AxonNode *node, gint rank, ResizePlan *plan, GError **error)
{
  guint n;
  const gfloat *attr = axon_node_get_floats (node, "scales", &n);
  if (attr == NULL && axon_node_find_attr (node, "width_scale") != NULL && rank == 4)
    return set_scale (plan, 2, axon_node_get_float (node, "height_scale"), error) &&
           set_scale (plan, 3, axon_node_get_float (node, "width_scale"), error);
  if (attr == NULL || n != (guint)rank)
    FAIL (MODEL, "scales: expected %d values, got %u", rank, attr ? n : 0);
  for (gint i = 0; i < rank; i++)
    if (!set_scale (plan, i, (gdouble)attr[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
scales_from_input (const AxonTypeInfo *info, ResizePlan *plan, GError **error)
{
  plan->known = info->value != NULL;
  if (!plan->known)
    return TRUE;
  if ((gint)axon_tensor_get_numel (info->value) != plan->n_axes)
    FAIL (MODEL, "scales: expected %d values, got %" G_GSIZE_FORMAT, plan->n_axes,
          axon_tensor_get_numel (info->value));
  for (gint i = 0; i < plan->n_axes; i++)
    if (!set_scale (plan, plan->axes[i], axon_tensor_get_value (info->value, (gsize)i), error))
      return FALSE;
  return TRUE;
}

/* One scale for all axes, so that nothing (or everything) exceeds the wanted sizes; where one of
 * them is free nobody knows it. */
static gboolean
keep_aspect_ratio (const AxonNode *node, const AxonShape *x, ResizePlan *plan, GError **error)
{
  const gchar *policy = axon_node_get_string (node, "keep_aspect_ratio_policy");
  gboolean smaller, larger, free_size = FALSE;
  gdouble scale = plan->n_axes > 0 ? plan->scale[plan->axes[0]] : 1;
  if (policy == NULL || g_str_equal (policy, "stretch"))
    return TRUE;
  smaller = g_str_equal (policy, "not_larger");
  larger = g_str_equal (policy, "not_smaller");
  if (!smaller && !larger)
    FAIL (MODEL, "keep_aspect_ratio_policy \"%s\": expected stretch, not_larger or not_smaller",
          policy);
  for (gint i = 0; i < plan->n_axes; i++) {
    gdouble other = plan->scale[plan->axes[i]];
    scale = smaller ? fmin (scale, other) : fmax (scale, other);
    free_size |= x->dims[plan->axes[i]] < 0;
  }
  for (gint i = 0; i < plan->n_axes; i++) {
    gint axis = plan->axes[i];
    plan->scale[axis] = scale;
    plan->size[axis] = free_size ? -1 : (gint64)(scale * (gdouble)x->dims[axis] + 0.5);
  }
  return TRUE;
}

static gboolean
sizes_from_input (const AxonNode *node, const AxonTypeInfo *info, const AxonShape *x,
                  ResizePlan *plan, GError **error)
{
  gint64 sizes[AXON_MAX_RANK];
  guint n;
  if (!axon_const_ints (info, sizes, AXON_MAX_RANK, &n)) {
    plan->known = FALSE;
    return TRUE;
  }
  if (n != (guint)plan->n_axes)
    FAIL (MODEL, "sizes: expected %d values, got %u", plan->n_axes, n);
  for (gint i = 0; i < x->rank; i++)
    plan->size[i] = x->dims[i];
  for (guint i = 0; i < n; i++) {
    gint axis = plan->axes[i];
    if (sizes[i] < 0 || sizes[i] > G_MAXINT32)
      FAIL (MODEL, "size %" G_GINT64_FORMAT " is out of range", sizes[i]);
    plan->size[axis] = sizes[i];
    if (x->dims[axis] >= 0)
      plan->scale[axis] = (gdouble)sizes[i] / (gdouble)MAX (x->dims[axis], 1);
  }
  return keep_aspect_ratio (node, x, plan, error);
}

/* Inputs 1 to 3 are roi, scales and sizes; in other forms scales are attributes or input 1. */
static gboolean
make_plan (const AxonNode *node, const AxonTypeInfo *in, ResizePlan *plan, GError **error)
{
  const AxonShape *x = &in[0].shape;
  gboolean attributes = axon_node_has_form (node, AXON_FORM_ATTRIBUTES);
  gboolean scales_only = axon_node_has_form (node, AXON_FORM_SCALES_ONLY);
  guint i_scales = scales_only ? 1 : 2;
  *plan = (ResizePlan){ .known = TRUE };
  if (!read_axes (node, x->rank, plan, error))
    return FALSE;
  if (!attributes && !scales_only && !given (node, in, i_scales)) {
    if (!given (node, in, 3))
      FAIL (MODEL, "neither scales nor sizes are given");
    return sizes_from_input (node, &in[3], x, plan, error);
  }
  if (!(attributes ? scales_from_attributes (node, x->rank, plan, error)
                   : scales_from_input (&in[i_scales], plan, error)))
    return FALSE;
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
  const gchar *mode = axon_node_get_string (node, "mode");
  ResizePlan plan;
  axon_infer_same (node, in, out, error);
  if (axon_node_get_int (node, "antialias") != 0 && g_str_equal (mode, "nearest"))
    FAIL (MODEL, "antialias needs mode linear or cubic");
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!make_plan (node, in, &plan, error))
    return FALSE;
  for (gint i = 0; i < in[0].shape.rank; i++)
    out[0].shape.dims[i] = plan.known ? plan.size[i] : -1;
  return TRUE;
}

static gdouble *
resize_axis (const AxonResizeAxis *r, const gdouble *x, AxonShape *shape, gdouble outside,
             GError **error)
{
  AxonLines lines = axon_lines (shape, r->axis);
  gdouble *y =
      axon_scratch_new0 ((gsize)(lines.outer * r->n_out * lines.inner) + 1, sizeof *y, error);
  for (gint64 l = 0; y != NULL && l < lines.outer && !axon_work_is_cancelled (); l++)
    for (gint64 o = 0; o < r->n_out; o++)
      for (gint t = 0; t < r->n; t++) {
        gint32 index = r->index[o * r->n + t];
        gdouble weight = (gdouble)r->weight[o * r->n + t];
        const gdouble *from = x + (l * r->n_in + MAX (index, 0)) * lines.inner;
        gdouble *to = y + (l * r->n_out + o) * lines.inner;
        for (gint64 i = 0; i < lines.inner; i++)
          to[i] = index < 0 ? outside : to[i] + weight * from[i];
      }
  shape->dims[r->axis] = r->n_out;
  return y;
}

static void
read_roi (const AxonTensor *roi, ResizePlan *plan)
{
  for (gint i = 0; i < plan->n_axes; i++) {
    plan->roi_start[plan->axes[i]] = axon_tensor_get_value (roi, (gsize)i);
    plan->roi_end[plan->axes[i]] = axon_tensor_get_value (roi, (gsize)(i + plan->n_axes));
  }
}

static void
clear_axis (gpointer data)
{
  AxonResizeAxis *r = data;
  axon_scratch_free (r->index);
  axon_scratch_free (r->weight);
}

static GArray *
tabulate_axes (const AxonNode *node, const AxonShape *shape, const ResizePlan *plan, GError **error)
{
  g_autoptr (GArray) axes = g_array_new (FALSE, FALSE, sizeof (AxonResizeAxis));
  g_array_set_clear_func (axes, clear_axis);
  for (gint d = 0; d < shape->rank; d++) {
    ResizeMap a = { axon_node_get_string (node, "coordinate_transformation_mode"),
                    axon_node_get_string (node, "mode"),
                    axon_node_get_string (node, "nearest_mode"),
                    plan->scale[d],
                    plan->roi_start[d],
                    plan->roi_end[d],
                    axon_node_get_float (node, "cubic_coeff_a"),
                    shape->dims[d],
                    plan->size[d],
                    axon_node_get_int (node, "antialias") != 0,
                    axon_node_get_int (node, "exclude_outside") != 0 };
    AxonResizeAxis r;
    if (!axon_resize_is_needed (&a))
      continue;
    gboolean ok = axon_resize_tabulate (&a, d, &r, error);
    g_array_append_val (axes, r);
    if (!ok)
      return NULL;
  }
  return g_steal_pointer (&axes);
}

/* @infos: of the inputs, with the values of scales and sizes; @roi may be NULL. */
static GArray *
axes_of (const AxonNode *node, const AxonTypeInfo *infos, const AxonTensor *roi, GError **error)
{
  ResizePlan plan;
  if (!make_plan (node, infos, &plan, error))
    return NULL;
  if (!axon_node_has_form (node, AXON_FORM_SCALES_ONLY) && given (node, infos, 1) && roi != NULL &&
      (gint)axon_tensor_get_numel (roi) == 2 * plan.n_axes)
    read_roi (roi, &plan);
  return tabulate_axes (node, &infos[0].shape, &plan, error);
}

GArray *
axon_resize_axes (const AxonNode *node, GError **error)
{
  AxonTypeInfo infos[4] = { 0 };
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] != NULL)
      infos[i] = node->inputs[i]->type;
  if (axon_node_find_attr (node, "coordinate_transformation_mode") != NULL &&
      g_str_equal (axon_node_get_string (node, "coordinate_transformation_mode"),
                   "tf_crop_and_resize") &&
      node->inputs[1] != NULL && infos[1].value == NULL)
    FAIL (UNSUPPORTED, "the region is not constant");
  return axes_of (node, infos, infos[1].value, error);
}

static gboolean
eval_resize (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  AxonTypeInfo infos[4] = { 0 };
  AxonShape shape = *axon_tensor_get_shape (in[0]);
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  gsize n = axon_tensor_get_numel (out[0]);
  g_autoptr (GArray) axes = NULL;
  axon_infos_of (node, in, infos);
  axes = axes_of (node, infos, axon_operand (node, in, 1), error);
  if (axes == NULL)
    return FALSE;
  if (axon_tensor_get_numel (in[0]) == 0 && n > 0)
    FAIL (MODEL, "the input is empty");
  for (guint i = 0; i < axes->len && n > 0; i++) {
    gdouble *y = resize_axis (&g_array_index (axes, AxonResizeAxis, i), x, &shape,
                              axon_node_get_float (node, "extrapolation_value"), error);
    axon_scratch_free (x);
    x = y;
    if (x == NULL)
      return FALSE;
  }
  for (gsize i = 0; !axon_dtype_is_float (axon_tensor_get_dtype (in[0])) && i < n; i++)
    x[i] = (gdouble)axon_round_even (x[i]);
  axon_store_doubles (out[0], x);
  return TRUE;
}

#define SCALED                                                                                     \
  ATTR_S ("mode", "nearest"), ATTR_S ("nearest_mode", "floor"),                                    \
      ATTR_S ("coordinate_transformation_mode", "asymmetric")
#define MODES                                                                                      \
  ATTR_S ("mode", "nearest"), ATTR_S ("nearest_mode", "round_prefer_floor"),                       \
      ATTR_S ("coordinate_transformation_mode", "half_pixel"), ATTR_F ("cubic_coeff_a", -0.75),    \
      ATTR_I ("exclude_outside", 0), ATTR_F ("extrapolation_value", 0)

#define RESIZE                                                                                     \
  .outputs = { 1, 1 }, .types = AXON_DTYPES_ALL, .same_type_inputs = 1, .infer = infer_resize,     \
  .eval = eval_resize

static const AxonOp rows[] = {
  { RESIZE, .name = "Upsample", .since = 1, .until = 6,
    .form = AXON_FORM_ATTRIBUTES | AXON_FORM_SIDE_SCALES, .inputs = { 1, 1 },
    .attrs = ATTRS (SCALED, REQUIRED ("height_scale", AXON_ATTR_FLOAT),
                    REQUIRED ("width_scale", AXON_ATTR_FLOAT)) },
  { RESIZE, .name = "Upsample", .since = 7, .until = 8, .form = AXON_FORM_ATTRIBUTES,
    .inputs = { 1, 1 }, .attrs = ATTRS (SCALED, REQUIRED ("scales", AXON_ATTR_FLOATS)) },
  { RESIZE, .name = "Upsample", .since = 9, .until = 9, .form = AXON_FORM_SCALES_ONLY,
    .inputs = { 2, 2 }, .operands = ".f", .attrs = ATTRS (SCALED) },
  { RESIZE, .name = "Resize", .since = 10, .until = 10, .form = AXON_FORM_SCALES_ONLY,
    .inputs = { 2, 2 }, .operands = ".f", .attrs = ATTRS (SCALED) },
  { RESIZE, .name = "Resize", .since = 11, .until = 17, .inputs = { 1, 4 }, .operands = ".ffl",
    .attrs = ATTRS (MODES) },
  { RESIZE, .name = "Resize", .since = 18, .inputs = { 1, 4 }, .operands = ".ffl",
    .attrs = ATTRS (MODES, ATTR_I ("antialias", 0), ATTR_INTS ("axes"),
                    ATTR_S ("keep_aspect_ratio_policy", "stretch")) },
};

DEFINE_FAMILY (resize, rows)
