/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Colour conversions as nodes. YUV is BT.601, limited range, chroma nearest, as the document says:
 * R = 1.164 (Y-16) + 1.596 (V-128), G = 1.164 (Y-16) - 0.391 (U-128) - 0.813 (V-128),
 * B = 1.164 (Y-16) + 2.018 (U-128). */
#include "axonprepost-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

static const struct {
  const gchar *name;
  guint planes;
  gboolean yuv;
} formats[] = { { "UNDEFINED", 1, FALSE },
                { "NV12_SINGLE_PLANE", 1, TRUE },
                { "NV12_TWO_PLANES", 2, TRUE },
                { "I420_SINGLE_PLANE", 1, TRUE },
                { "I420_THREE_PLANES", 3, TRUE },
                { "RGB", 1, FALSE },
                { "BGR", 1, FALSE },
                { "GRAY", 1, FALSE },
                { "RGBX", 1, FALSE },
                { "BGRX", 1, FALSE } };

const gchar *
color_name (AxonColorFormat format)
{
  return formats[format].name;
}

guint
color_n_planes (AxonColorFormat format)
{
  return formats[format].planes;
}

gboolean
color_is_yuv (AxonColorFormat format)
{
  return formats[format].yuv;
}

static AxonValue *
binary (Work *work, const gchar *op, AxonValue *a, AxonValue *b, GError **error)
{
  AxonValue *in[] = { a, b };
  return a && b ? work_add (work, op, in, 2, NULL, NULL, error) : NULL;
}

static AxonValue *
number (Work *work, gfloat v)
{
  AxonShape scalar = { .rank = 0 };
  return work_floats (work, &scalar, &v);
}

static AxonValue *
times (Work *work, AxonValue *a, gfloat v, GError **error)
{
  return binary (work, "Mul", a, number (work, v), error);
}

static AxonValue *
less (Work *work, AxonValue *a, gfloat v, GError **error)
{
  a = a ? work_cast (work, a, AXON_DTYPE_F32, error) : NULL;
  return binary (work, "Sub", a, number (work, v), error);
}

static void
set_axis (AxonNode *node, const gint64 *ints)
{
  axon_node_set_int (node, "axis", ints[0]);
}

static AxonValue *
reshape (Work *work, AxonValue *value, const gint64 *dims, guint n, GError **error)
{
  return value ? binary (work, "Reshape", value, work_ints (work, dims, n), error) : NULL;
}

/* [N,h,w,1] -> [N,2h,2w,1]: every value four times. */
static AxonValue *
double_size (Work *work, AxonValue *value, GError **error)
{
  const AxonShape *s = &value->type.shape;
  gint64 n = s->dims[0], h = s->dims[1], w = s->dims[2], last = 3, middle = 2;
  const gint64 split[] = { n, h, 1, w, 1 }, whole[] = { n, 2 * h, 2 * w, 1 };
  AxonValue *five = reshape (work, value, split, 5, error), *twice[2], *wide, *tall[2];
  if (five == NULL)
    return NULL;
  twice[0] = twice[1] = five;
  last = 4;
  wide = work_add (work, "Concat", twice, 2, set_axis, &last, error);
  tall[0] = tall[1] = wide;
  wide = wide ? work_add (work, "Concat", tall, 2, set_axis, &middle, error) : NULL;
  return reshape (work, wide, whole, 4, error);
}

typedef struct {
  AxonValue *y, *u, *v; /* [N,H,W,1] and [N,H/2,W/2,1] */
} Planes;

/* Rows after the luma, seen as another shape. */
static gboolean
split_single (Work *work, Planes *p, GError **error)
{
  const AxonShape *s = &work->value->type.shape;
  gint64 n = s->dims[0], h = s->dims[1] / 3 * 2, w = s->dims[2];
  const gint64 pairs[] = { n, h / 2, w / 2, 2 }, halves[] = { n, 2, h / 2, w / 2 };
  const gint64 plane[] = { n, h / 2, w / 2, 1 };
  AxonValue *rest = work_slice (work, work->value, 1, h, G_MAXINT32, 1, error);
  gboolean nv12 = work->color == AXON_COLOR_FORMAT_NV12_SINGLE_PLANE;
  p->y = work_slice (work, work->value, 1, 0, h, 1, error);
  rest = reshape (work, rest, nv12 ? pairs : halves, 4, error);
  if (rest == NULL || p->y == NULL)
    return FALSE;
  p->u = work_slice (work, rest, nv12 ? 3 : 1, 0, 1, 1, error);
  p->v = work_slice (work, rest, nv12 ? 3 : 1, 1, 2, 1, error);
  if (!nv12) {
    p->u = reshape (work, p->u, plane, 4, error);
    p->v = reshape (work, p->v, plane, 4, error);
  }
  return p->u != NULL && p->v != NULL;
}

static gboolean
split_planes (Work *work, Planes *p, GError **error)
{
  const AxonShape *s = &work->value->type.shape;
  if (s->rank != 4 || !axon_shape_is_static (s))
    return work_fail (error,
                      _ ("convert_color from %s: set the size of the picture "
                         "(set_tensor_size)"),
                      color_name (work->color));
  if (color_n_planes (work->color) == 1)
    return split_single (work, p, error);
  p->y = work->value;
  p->u = work->planes[0];
  p->v = work->planes[1];
  if (work->color == AXON_COLOR_FORMAT_NV12_TWO_PLANES) {
    p->u = work_slice (work, work->planes[0], 3, 0, 1, 1, error);
    p->v = work_slice (work, work->planes[0], 3, 1, 2, 1, error);
  }
  return p->u != NULL && p->v != NULL;
}

/* Rounds half away (values are not negative), clips, and gives the type back. */
static AxonValue *
settle (Work *work, AxonValue *value, AxonDType dtype, GError **error)
{
  AxonValue *in[] = { value, number (work, 0), number (work, 255) };
  value = value ? work_add (work, "Clip", in, 3, NULL, NULL, error) : NULL;
  if (value == NULL || axon_dtype_is_float (dtype))
    return value ? work_cast (work, value, dtype, error) : NULL;
  value = binary (work, "Add", value, number (work, 0.5f), error);
  value = value ? work_add (work, "Floor", &value, 1, NULL, NULL, error) : NULL;
  return value ? work_cast (work, value, dtype, error) : NULL;
}

static AxonValue *
mix (Work *work, AxonValue *luma, AxonValue *u, gfloat of_u, AxonValue *v, gfloat of_v,
     GError **error)
{
  if (of_u != 0)
    luma = luma ? binary (work, "Add", luma, times (work, u, of_u, error), error) : NULL;
  if (of_v != 0)
    luma = luma ? binary (work, "Add", luma, times (work, v, of_v, error), error) : NULL;
  return luma;
}

static gboolean
from_yuv (Work *work, AxonColorFormat to, GError **error)
{
  AxonDType dtype = work->value->type.dtype;
  gint64 last = 3;
  Planes p = { NULL, NULL, NULL };
  AxonValue *luma, *u, *v, *rgb[3], *all;
  if (!split_planes (work, &p, error))
    return FALSE;
  luma = times (work, less (work, p.y, 16, error), 1.164f, error);
  u = double_size (work, p.u, error);
  v = double_size (work, p.v, error);
  u = less (work, u, 128, error);
  v = less (work, v, 128, error);
  if (luma == NULL || u == NULL || v == NULL)
    return FALSE;
  rgb[0] = settle (work, mix (work, luma, u, 0, v, 1.596f, error), dtype, error);
  rgb[1] = settle (work, mix (work, luma, u, -0.391f, v, -0.813f, error), dtype, error);
  rgb[2] = settle (work, mix (work, luma, u, 2.018f, v, 0, error), dtype, error);
  if (to == AXON_COLOR_FORMAT_BGR) {
    AxonValue *r = rgb[0];
    rgb[0] = rgb[2];
    rgb[2] = r;
  }
  all =
      rgb[0] && rgb[1] && rgb[2] ? work_add (work, "Concat", rgb, 3, set_axis, &last, error) : NULL;
  if (all == NULL)
    return FALSE;
  work->value = all;
  work->planes[0] = work->planes[1] = NULL;
  return TRUE;
}

static gboolean
to_gray (Work *work, GError **error)
{
  static const gfloat weights[] = { 0.299f, 0.587f, 0.114f };
  AxonDType dtype = work->value->type.dtype;
  gint rank = work->value->type.shape.rank;
  gint c = axon_layout_find (work->layout, 'C', rank);
  AxonShape shape = AXON_SHAPE (1, 1, 1, 1);
  gfloat w[3];
  gint64 axis = c;
  AxonValue *in[2], *sum;
  if (rank != 4 || c < 0 || axon_layout_find (work->layout, 'N', rank) < 0 ||
      work->value->type.shape.dims[c] != 3)
    return work_fail (error,
                      _ ("convert_color to GRAY: expected rank 4 with N and three channels C"));
  for (guint i = 0; i < 3; i++)
    w[i] = weights[work->color == AXON_COLOR_FORMAT_BGR ? 2 - i : i];
  shape.dims[c] = 3;
  in[0] = work_cast (work, work->value, AXON_DTYPE_F32, error);
  in[0] = in[0] ? binary (work, "Mul", in[0], work_floats (work, &shape, w), error) : NULL;
  in[1] = work_ints (work, &axis, 1);
  sum = in[0] ? work_add (work, "ReduceSum", in, 2, NULL, NULL, error) : NULL;
  sum = sum ? work_cast (work, sum, dtype, error) : NULL;
  if (sum != NULL)
    work->value = sum;
  return sum != NULL;
}

/* Channels of @work->value in another order, or fewer. */
static gboolean
pick (Work *work, const gint64 *indices, guint n, GError **error)
{
  gint64 axis = axon_layout_find (work->layout, 'C', work->value->type.shape.rank);
  AxonValue *in[] = { work->value, work_ints (work, indices, n) }, *out;
  if (axis < 0)
    return work_fail (error, _ ("convert_color: the layout must have C"));
  out = work_add (work, "Gather", in, 2, set_axis, &axis, error);
  if (out != NULL)
    work->value = out;
  return out != NULL;
}

static gboolean
is_rgb_order (AxonColorFormat f)
{
  return f == AXON_COLOR_FORMAT_RGB || f == AXON_COLOR_FORMAT_RGBX;
}

static gboolean
convert (Work *work, AxonColorFormat to, gboolean *known, GError **error)
{
  static const gint64 same[] = { 0, 1, 2 }, swapped[] = { 2, 1, 0 };
  AxonColorFormat from = work->color;
  gboolean packed = from >= AXON_COLOR_FORMAT_RGB && from != AXON_COLOR_FORMAT_GRAY;
  gboolean to_rgb = to == AXON_COLOR_FORMAT_RGB || to == AXON_COLOR_FORMAT_BGR;
  *known = TRUE;
  if (color_is_yuv (from) && to_rgb)
    return from_yuv (work, to, error);
  if (from == AXON_COLOR_FORMAT_NV12_TWO_PLANES && to == AXON_COLOR_FORMAT_GRAY) {
    work->planes[0] = NULL; /* Y is the answer */
    return TRUE;
  }
  if (packed && to_rgb)
    return pick (work, is_rgb_order (from) == is_rgb_order (to) ? same : swapped, 3, error);
  if ((from == AXON_COLOR_FORMAT_RGB || from == AXON_COLOR_FORMAT_BGR) &&
      to == AXON_COLOR_FORMAT_GRAY)
    return to_gray (work, error);
  *known = FALSE;
  return FALSE;
}

gboolean
step_convert_color (Work *work, AxonColorFormat to, GError **error)
{
  gboolean known;
  if (work->color == to)
    return TRUE;
  if (work->color == AXON_COLOR_FORMAT_UNDEFINED)
    return work_fail (error, _ ("convert_color: the tensor's colour format is not set"));
  if (!convert (work, to, &known, error))
    return known ? FALSE
                 : work_fail (error, _ ("Source color format '%s' is not convertible to '%s'"),
                              color_name (work->color), color_name (to));
  work->color = to;
  return TRUE;
}
