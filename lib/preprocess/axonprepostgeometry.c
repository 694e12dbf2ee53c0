/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Steps that move pixels: resize, crop, pad. */
#include "axonprepost-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

static gint64
given_or (gint64 given, gint64 otherwise)
{
  return given >= 0 ? given : otherwise;
}

static void
set_mode (AxonNode *node, const gint64 *ints)
{
  static const gchar *const modes[] = { "linear", "cubic", "nearest" };
  axon_node_set_string (node, "mode", modes[ints[0]]);
  if (ints[0] == AXON_RESIZE_NEAREST)
    axon_node_set_string (node, "nearest_mode", "round_prefer_floor");
}

static gdouble
filter (gboolean cubic, gdouble t)
{
  const gdouble a = -0.5;
  t = fabs (t);
  if (!cubic)
    return t < 1 ? 1 - t : 0;
  return t < 1 ? ((a + 2) * t - (a + 3)) * t * t + 1 : t < 2 ? (((t - 5) * t + 8) * t - 4) * a : 0;
}

/* Row o: what of each of @n_in goes into o of @n_out. The filter is as wide as the step. */
static void
resample_weights (gboolean cubic, gint64 n_in, gint64 n_out, gfloat *weights, gint64 out_stride,
                  gint64 in_stride)
{
  gdouble step = (gdouble)n_in / (gdouble)n_out, width = MAX (step, 1);
  gdouble support = (cubic ? 2 : 1) * width;
  for (gint64 o = 0; o < n_out; o++) {
    gdouble center = ((gdouble)o + 0.5) * step, sum = 0;
    gint64 first = MAX ((gint64)(center - support + 0.5), 0);
    gint64 end = MIN ((gint64)(center + support + 0.5), n_in);
    for (gint64 i = first; i < end; i++)
      sum += filter (cubic, ((gdouble)i - center + 0.5) / width);
    for (gint64 i = first; i < end; i++)
      weights[o * out_stride + i * in_stride] =
          (gfloat)(filter (cubic, ((gdouble)i - center + 0.5) / width) / sum);
  }
}

/* Both axes are linear maps: Wh (X Ww). */
static AxonValue *
resample (Work *work, AxonValue *x, const gint64 *sizes, gboolean cubic, GError **error)
{
  gint64 h = x->type.shape.dims[2], w = x->type.shape.dims[3];
  AxonShape across = AXON_SHAPE (w, sizes[3]), down = AXON_SHAPE (sizes[2], h);
  g_autofree gfloat *weights = NULL;
  AxonValue *in[2] = { x, NULL };
  if (h < 1 || w < 1) {
    work_fail (error, _ ("resize as Pillow does: the tensor's height and width must be known"));
    return NULL;
  }
  weights = g_new0 (gfloat, MAX (w * sizes[3], h * sizes[2]));
  resample_weights (cubic, w, sizes[3], weights, 1, sizes[3]);
  in[1] = work_floats (work, &across, weights);
  in[1] = work_add (work, "MatMul", in, 2, NULL, NULL, error);
  if (in[1] == NULL)
    return NULL;
  memset (weights, 0, sizeof *weights * (gsize)(h * sizes[2]));
  resample_weights (cubic, h, sizes[2], weights, h, 1);
  in[0] = work_floats (work, &down, weights);
  return work_add (work, "MatMul", in, 2, NULL, NULL, error);
}

/* Pictures with channels last are resized channels first. */
gboolean
step_resize (Work *work, const Step *step, GError **error)
{
  gint rank = work->value->type.shape.rank, h = work_find (work, 'H'), w = work_find (work, 'W');
  gint64 height = given_or (step->height, work->model_height);
  gint64 width = given_or (step->width, work->model_width), mode = step->algorithm;
  AxonDType dtype = work->value->type.dtype;
  g_autofree gchar *before = g_strdup (work->layout);
  gint64 sizes[AXON_MAX_RANK];
  AxonValue *in[4] = { NULL }, *out;
  gboolean turned;
  if (!work_check_single (work, "resize", error))
    return FALSE;
  if (rank != 4 || h < 0 || w < 0)
    return work_fail (error, _ ("resize: set the tensor's layout, with N, C, H and W (rank 4)"));
  if (height < 0 || width < 0)
    return work_fail (error, _ ("resize: the model leaves its size free: give height and width"));
  turned = !g_str_equal (before, "NCHW");
  if (turned && !step_convert_layout (work, "NCHW", 4, error))
    return FALSE;
  for (guint i = 0; i < 4; i++)
    sizes[i] = work->value->type.shape.dims[i];
  if (sizes[0] < 0 || sizes[1] < 0)
    return work_fail (error, _ ("resize: batch and channels must be known"));
  sizes[2] = height;
  sizes[3] = width;
  in[0] = work_cast (work, work->value, AXON_DTYPE_F32, error);
  if (in[0] == NULL)
    return FALSE;
  if (mode == AXON_RESIZE_LINEAR_PILLOW || mode == AXON_RESIZE_CUBIC_PILLOW) {
    out = resample (work, in[0], sizes, mode == AXON_RESIZE_CUBIC_PILLOW, error);
  } else {
    in[3] = work_ints (work, sizes, 4);
    out = work_add (work, "Resize", in, 4, set_mode, &mode, error);
  }
  return work_finish_as (work, out, dtype, error) &&
         (!turned || step_convert_layout (work, before, 4, error));
}

gboolean
step_crop (Work *work, const Step *step, GError **error)
{
  gint rank = work->value->type.shape.rank;
  gint64 axes[AXON_MAX_RANK];
  AxonValue *in[4], *out;
  if (!work_check_single (work, "crop", error))
    return FALSE;
  if (step->begin.rank != rank || step->end.rank != rank)
    return work_fail (error, _ ("crop: expected begin and end with %d numbers, got %d and %d"),
                      rank, step->begin.rank, step->end.rank);
  for (gint i = 0; i < rank; i++)
    axes[i] = i;
  in[0] = work->value;
  in[1] = work_ints (work, step->begin.dims, (guint)rank);
  in[2] = work_ints (work, step->end.dims, (guint)rank);
  in[3] = work_ints (work, axes, (guint)rank);
  out = work_add (work, "Slice", in, 4, NULL, NULL, error);
  if (out != NULL)
    work->value = out;
  return out != NULL;
}

static void
set_pad_mode (AxonNode *node, const gint64 *ints)
{
  static const gchar *const modes[] = { "constant", "edge", "reflect" };
  axon_node_set_string (node, "mode", modes[ints[0]]);
}

static void
set_axis (AxonNode *node, const gint64 *ints)
{
  axon_node_set_int (node, "axis", ints[0]);
}

gboolean
work_gather (Work *work, gint axis, const gint64 *indices, guint n, GError **error)
{
  gint64 at = axis;
  AxonValue *in[] = { work->value, work_ints (work, indices, n) };
  AxonValue *out = work_add (work, "Gather", in, 2, set_axis, &at, error);
  if (out != NULL)
    work->value = out;
  return out != NULL;
}

/* Mirrored with the edge: ONNX has no such mode. */
static gboolean
pad_symmetric (Work *work, const Step *step, GError **error)
{
  for (gint d = 0; d < step->begin.rank; d++) {
    gint64 n = work->value->type.shape.dims[d], before = step->begin.dims[d];
    gint64 total = before + n + step->end.dims[d];
    g_autofree gint64 *indices = NULL;
    if (before == 0 && step->end.dims[d] == 0)
      continue;
    if (n < 1 || before < 0 || step->end.dims[d] < 0 || before > n || step->end.dims[d] > n)
      return work_fail (error, _ ("pad: dimension %d of %lld cannot be mirrored by %lld and %lld"),
                        d, (long long)n, (long long)before, (long long)step->end.dims[d]);
    indices = g_new (gint64, total);
    for (gint64 i = 0; i < total; i++) {
      gint64 at = i - before;
      indices[i] = at < 0 ? -1 - at : at >= n ? 2 * n - 1 - at : at;
    }
    if (!work_gather (work, d, indices, (guint)total, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
step_pad (Work *work, const Step *step, GError **error)
{
  gint rank = work->value->type.shape.rank;
  gint64 pads[2 * AXON_MAX_RANK], mode = step->mode;
  AxonShape scalar = { .rank = 0 };
  gfloat fill = (gfloat)step->min;
  AxonValue *in[3], *out;
  if (!work_check_single (work, "pad", error))
    return FALSE;
  if (step->begin.rank != rank || step->end.rank != rank)
    return work_fail (error, _ ("pad: expected begin and end with %d numbers, got %d and %d"), rank,
                      step->begin.rank, step->end.rank);
  if (mode == AXON_PAD_SYMMETRIC)
    return pad_symmetric (work, step, error);
  for (gint i = 0; i < rank; i++) {
    pads[i] = step->begin.dims[i];
    pads[rank + i] = step->end.dims[i];
  }
  in[0] = work->value;
  in[1] = work_ints (work, pads, 2 * (guint)rank);
  in[2] = work_cast (work, work_floats (work, &scalar, &fill), work->value->type.dtype, error);
  out = in[2] ? work_add (work, "Pad", in, 3, set_pad_mode, &mode, error) : NULL;
  if (out != NULL)
    work->value = out;
  return out != NULL;
}
