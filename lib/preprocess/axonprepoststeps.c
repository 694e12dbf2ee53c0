/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One step as ONNX nodes. Integers that are computed on go through f32 and are rounded back. */
#include "axonprepost-private.h"
#include <axon/plugin/axonbuiltins.h>

#include "config.h"
#include <glib/gi18n-lib.h>

#define OPSET 13

gboolean
work_fail (GError **error, const gchar *format, ...)
{
  va_list args;
  g_autofree gchar *text = NULL;
  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, AXON_ERROR, AXON_ERROR_ARGUMENT, text);
  return FALSE;
}

AxonValue *
work_ints (Work *work, const gint64 *values, guint n)
{
  g_autoptr (AxonTensor) tensor = axon_tensor_new_i64 (values, n);
  return axon_model_add_constant (work->model, NULL, tensor);
}

AxonValue *
work_floats (Work *work, const AxonShape *shape, const gfloat *values)
{
  g_autoptr (AxonTensor) tensor = axon_tensor_new (AXON_DTYPE_F32, shape, NULL);
  memcpy (axon_tensor_get_data (tensor), values, axon_tensor_get_n_bytes (tensor));
  return axon_model_add_constant (work->model, NULL, tensor);
}

AxonValue *
work_add (Work *work, const gchar *op, AxonValue *const *in, guint n_in,
          void (*setup) (AxonNode *node, const gint64 *ints), const gint64 *ints, GError **error)
{
  AxonValue *out = axon_model_add_value (work->model, NULL);
  g_autofree gchar *name = g_strdup_printf ("axon.preprocess/%s/%s", op, out->name);
  AxonNode *node = axon_model_add_node (work->model, axon_builtin_op (NULL, op, OPSET), OPSET, name,
                                        in, n_in, &out, 1);
  g_ptr_array_add (node->origins, g_strdup (name));
  if (setup != NULL)
    setup (node, ints);
  return axon_model_infer_node (work->model, node, error) ? out : NULL;
}

static void
set_to (AxonNode *node, const gint64 *ints)
{
  axon_node_set_int (node, "to", ints[0]);
}

/* Floats become integers rounded, half to even, and within range. */
AxonValue *
work_cast (Work *work, AxonValue *value, AxonDType dtype, GError **error)
{
  gint64 to = dtype;
  AxonDType from = value->type.dtype;
  if (from == dtype)
    return value;
  if (axon_dtype_is_float (from) && (dtype == AXON_DTYPE_U8 || dtype == AXON_DTYPE_I8)) {
    gfloat low = dtype == AXON_DTYPE_U8 ? 0 : -128, high = dtype == AXON_DTYPE_U8 ? 255 : 127;
    AxonShape scalar = AXON_SHAPE (1);
    scalar.rank = 0;
    AxonValue *in[] = { NULL, work_floats (work, &scalar, &low),
                        work_floats (work, &scalar, &high) };
    in[0] = work_add (work, "Round", &value, 1, NULL, NULL, error);
    value = in[0] ? work_add (work, "Clip", in, 3, NULL, NULL, error) : NULL;
  }
  return value ? work_add (work, "Cast", &value, 1, set_to, &to, error) : NULL;
}

AxonValue *
work_slice (Work *work, AxonValue *value, gint axis, gint64 begin, gint64 end, gint64 step,
            GError **error)
{
  gint64 at = axis;
  AxonValue *in[] = { value, work_ints (work, &begin, 1), work_ints (work, &end, 1),
                      work_ints (work, &at, 1), work_ints (work, &step, 1) };
  return work_add (work, "Slice", in, 5, NULL, NULL, error);
}

gboolean
work_check_single (const Work *work, const gchar *step, GError **error)
{
  return color_n_planes (work->color) < 2 ||
         work_fail (error, _ ("%s: not for a picture in %u planes: convert_color first"), step,
                    color_n_planes (work->color));
}

gint
work_find (const Work *work, gchar letter)
{
  return axon_layout_find (work->layout, letter, work->value->type.shape.rank);
}

/* Runs @op with float values and gives the input's type back. */
gboolean
work_finish_as (Work *work, AxonValue *result, AxonDType dtype, GError **error)
{
  result = result ? work_cast (work, result, dtype, error) : NULL;
  if (result != NULL)
    work->value = result;
  return result != NULL;
}

static void
set_perm (AxonNode *node, const gint64 *ints)
{
  axon_node_set_ints (node, "perm", ints + 1, (guint)ints[0]);
}

static gboolean
permute (Work *work, const gint64 *perm, gint rank, GError **error)
{
  gint64 all[AXON_MAX_RANK + 1] = { rank };
  gboolean same = TRUE;
  AxonValue *out;
  for (gint i = 0; i < rank; i++) {
    all[i + 1] = perm[i];
    same = same && perm[i] == i;
  }
  if (same)
    return TRUE;
  out = work_add (work, "Transpose", &work->value, 1, set_perm, all, error);
  if (out != NULL)
    work->value = out;
  return out != NULL;
}

/* Adds dimensions of 1 in front for letters that are missing, then permutes. */
static gboolean
add_leading (Work *work, const gchar *to, gchar **from, GError **error)
{
  for (const gchar *p = to + strlen (to); p-- > to;) {
    static const gint64 zero = 0;
    AxonValue *in[] = { work->value, NULL };
    gchar *longer;
    if (strchr (*from, *p) != NULL)
      continue;
    in[1] = work_ints (work, &zero, 1);
    work->value = work_add (work, "Unsqueeze", in, 2, NULL, NULL, error);
    if (work->value == NULL)
      return FALSE;
    longer = g_strdup_printf ("%c%s", *p, *from);
    g_free (*from);
    *from = longer;
  }
  return TRUE;
}

gboolean
step_convert_layout (Work *work, const gchar *layout, gint rank, GError **error)
{
  gint now = work->value->type.shape.rank;
  g_autofree gchar *from = work->layout ? axon_layout_expand (work->layout, now) : NULL;
  g_autofree gchar *to = axon_layout_expand (layout, rank);
  gint64 perm[AXON_MAX_RANK];
  if (work->layout == NULL)
    return work_fail (error,
                      _ ("convert_layout to %s: the tensor's layout is not set and does not say "
                         "where its dimensions are"),
                      layout);
  if (from == NULL || to == NULL)
    return work_fail (error,
                      _ ("convert_layout to %s: the tensor's layout %s does not say where its "
                         "dimensions are"),
                      layout, work->layout);
  if (rank > now && strchr (to, '?') == NULL && !add_leading (work, to, &from, error))
    return FALSE;
  for (gint i = 0; i < rank; i++) {
    const gchar *at = to[i] == '?' && from[i] == '?' ? from + i : strchr (from, to[i]);
    if (at == NULL || (gint)strlen (from) != rank)
      return work_fail (error, _ ("convert_layout from %s to %s: dimension %c has no place"),
                        work->layout, layout, to[i]);
    perm[i] = at - from;
  }
  if (!permute (work, perm, rank, error))
    return FALSE;
  g_free (work->layout);
  work->layout = g_strdup (layout);
  return TRUE;
}

static gboolean
apply_permute (Work *work, const Step *step, GError **error)
{
  gint rank = work->value->type.shape.rank;
  g_autofree gchar *from = work->layout ? axon_layout_expand (work->layout, rank) : NULL;
  gboolean seen[AXON_MAX_RANK] = { FALSE };
  gboolean ok = step->begin.rank == rank;
  for (gint i = 0; ok && i < rank; i++) {
    ok = step->begin.dims[i] >= 0 && step->begin.dims[i] < rank && !seen[step->begin.dims[i]];
    if (ok)
      seen[step->begin.dims[i]] = TRUE;
  }
  if (!ok)
    return work_fail (error, _ ("convert_layout: expected each of %d dimensions once"), rank);
  if (!permute (work, step->begin.dims, rank, error))
    return FALSE;
  g_clear_pointer (&work->layout, g_free);
  if (from != NULL) {
    work->layout = g_strdup (from);
    for (gint i = 0; i < rank; i++)
      work->layout[i] = from[step->begin.dims[i]];
  }
  return TRUE;
}

/* One value, or one per channel. */
static gboolean
apply_mean_or_scale (Work *work, const Step *step, GError **error)
{
  const gchar *what = step->kind == STEP_MEAN ? "mean" : "scale";
  gint rank = work->value->type.shape.rank, c = work_find (work, 'C');
  AxonShape shape = { .rank = rank };
  AxonValue *in[2], *out;
  if (!work_check_single (work, what, error))
    return FALSE;
  if (!axon_dtype_is_float (work->value->type.dtype))
    return work_fail (error, _ ("%s: the tensor is %s: convert_element_type to f32 first"), what,
                      axon_dtype_get_name (work->value->type.dtype));
  for (gint i = 0; i < rank; i++)
    shape.dims[i] = 1;
  if (step->n_values != 1) {
    if (c < 0)
      return work_fail (error, _ ("%s: values per channel need a layout with C"), what);
    if (work->value->type.shape.dims[c] >= 0 && work->value->type.shape.dims[c] != step->n_values)
      return work_fail (error, _ ("%s: expected 1 or %lld values, got %u"), what,
                        (long long)work->value->type.shape.dims[c], step->n_values);
    shape.dims[c] = step->n_values;
  }
  in[0] = work->value;
  in[1] =
      work_cast (work, work_floats (work, &shape, step->values), work->value->type.dtype, error);
  out = in[1] ? work_add (work, step->kind == STEP_MEAN ? "Sub" : "Div", in, 2, NULL, NULL, error)
              : NULL;
  if (out != NULL)
    work->value = out;
  return out != NULL;
}

static gboolean
apply_clamp (Work *work, const Step *step, GError **error)
{
  AxonShape scalar = { .rank = 0 };
  gfloat min = (gfloat)step->min, max = (gfloat)step->max;
  AxonDType dtype = work->value->type.dtype;
  AxonValue *in[3];
  if (step->min > step->max)
    return work_fail (error, _ ("clamp: %g is more than %g"), step->min, step->max);
  in[0] = work_cast (work, work->value, AXON_DTYPE_F32, error);
  in[1] = work_floats (work, &scalar, &min);
  in[2] = work_floats (work, &scalar, &max);
  return in[0] != NULL &&
         work_finish_as (work, work_add (work, "Clip", in, 3, NULL, NULL, error), dtype, error);
}

static gboolean
apply_reverse (Work *work, GError **error)
{
  gint axis = work_find (work, 'C');
  gint64 indices[16], n = axis >= 0 ? work->value->type.shape.dims[axis] : -1;
  if (!work_check_single (work, "reverse_channels", error))
    return FALSE;
  if (n < 1 || n > (gint64)G_N_ELEMENTS (indices))
    return work_fail (error,
                      _ ("reverse_channels: the layout must have C, and a known size of it"));
  for (gint64 i = 0; i < n; i++)
    indices[i] = n - 1 - i;
  return work_gather (work, axis, indices, (guint)n, error);
}

static gboolean
apply_custom (Work *work, const Step *step, GError **error)
{
  g_autofree gchar *name = NULL;
  AxonValue *value;
  if (!work_check_single (work, "custom", error) ||
      !step->custom->func (work->model, work->value->name, &name, step->custom->user_data, error))
    return FALSE;
  value = name ? axon_model_find_value (work->model, name) : NULL;
  if (value == NULL)
    return work_fail (error, _ ("custom: the step names \"%s\" as its result, which is no value"),
                      name ? name : "");
  if (value->type.shape.rank != work->value->type.shape.rank)
    g_clear_pointer (&work->layout, g_free);
  work->value = value;
  return TRUE;
}

static gboolean
apply_type (Work *work, AxonDType dtype, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (work->planes); i++)
    if (work->planes[i] != NULL &&
        (work->planes[i] = work_cast (work, work->planes[i], dtype, error)) == NULL)
      return FALSE;
  work->value = work_cast (work, work->value, dtype, error);
  return work->value != NULL;
}

static const gchar *const step_names[] = {
  "convert type",   "convert color", "resize",           "crop",  "pad", "mean", "scale", "clamp",
  "convert layout", "permute",       "reverse channels", "custom"
};

static gboolean
dispatch (Work *work, const Step *step, GError **error)
{
  switch (step->kind) {
  case STEP_TYPE:
    return apply_type (work, step->dtype, error);
  case STEP_COLOR:
    return step_convert_color (work, step->color, error);
  case STEP_RESIZE:
    return step_resize (work, step, error);
  case STEP_CROP:
    return step_crop (work, step, error);
  case STEP_PAD:
    return step_pad (work, step, error);
  case STEP_CLAMP:
    return apply_clamp (work, step, error);
  case STEP_LAYOUT:
    return step_convert_layout (work, step->layout, (gint)strlen (step->layout), error);
  case STEP_PERMUTE:
    return apply_permute (work, step, error);
  case STEP_REVERSE:
    return apply_reverse (work, error);
  case STEP_CUSTOM:
    return apply_custom (work, step, error);
  default:
    return apply_mean_or_scale (work, step, error);
  }
}

static gchar *
describe (const Work *work)
{
  g_autofree gchar *shape = axon_shape_to_string (&work->value->type.shape);
  return g_strdup_printf ("%s%s %s%s%s", axon_dtype_get_name (work->value->type.dtype), shape,
                          work->layout ? work->layout : "-", work->color ? " " : "",
                          work->color ? color_name (work->color) : "");
}

gboolean
step_apply (Work *work, const Step *step, GError **error)
{
  g_autofree gchar *before = describe (work);
  g_autofree gchar *after = NULL;
  if (!dispatch (work, step, error))
    return FALSE;
  after = describe (work);
  g_string_append_printf (work->plan, "  %-16s %s -> %s\n", step_names[step->kind], before, after);
  return TRUE;
}
