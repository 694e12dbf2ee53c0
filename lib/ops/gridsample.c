/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GridSample (16, 20, 22) and AffineGrid (20): Jaderberg et al., Spatial Transformer Networks,
 * 2015. One to three spatial dimensions. */
#include "ops-private.h"

#include <math.h>

typedef enum { ZEROS, BORDER, REFLECTION } Padding;
typedef enum { NEAREST, LINEAR, CUBIC } Interpolation;

enum { AXES = 3 };

typedef struct {
  gint rank;         /* spatial dimensions */
  gint64 size[AXES]; /* theirs last, 1 before them */
  Padding padding;
  Interpolation mode;
  gboolean align;
} Sampler;

static gboolean
read_sampler (const AxonNode *node, const AxonShape *x, Sampler *s, GError **error)
{
  static const gchar *const paddings[] = { "zeros", "border", "reflection" };
  static const gchar *const modes[] = { "nearest", "linear", "cubic", "", "bilinear", "bicubic" };
  const gchar *padding = axon_node_get_string (node, "padding_mode");
  const gchar *mode = axon_node_get_string (node, "mode");
  guint p = 0, m = 0;
  while (p < G_N_ELEMENTS (paddings) && !g_str_equal (padding, paddings[p]))
    p++;
  while (m < G_N_ELEMENTS (modes) && !g_str_equal (mode, modes[m]))
    m++;
  if (p == G_N_ELEMENTS (paddings) || m == G_N_ELEMENTS (modes))
    FAIL (MODEL, "mode \"%s\" or padding_mode \"%s\" is unknown", mode, padding);
  *s = (Sampler){ .rank = x->rank - 2,
                  .padding = (Padding)p,
                  .mode = (Interpolation)(m % 4 + m / 4),
                  .align = axon_node_get_int (node, "align_corners") != 0 };
  for (gint d = 0; d < AXES; d++)
    s->size[d] = d < AXES - s->rank ? 1 : x->dims[x->rank - AXES + d];
  return TRUE;
}

static gboolean
infer_grid_sample (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const AxonShape *x = &in[0].shape, *grid = &in[1].shape;
  Sampler s;
  out[0].dtype = in[0].dtype;
  if (!axon_check_rank (in, 0, 3, 5, error) || !axon_check_rank (in, 1, 3, 5, error))
    return FALSE;
  if (x->rank < 0 || grid->rank < 0)
    return TRUE;
  if (x->rank != grid->rank ||
      (grid->dims[x->rank - 1] >= 0 && grid->dims[x->rank - 1] != x->rank - 2) ||
      (x->dims[0] >= 0 && grid->dims[0] >= 0 && x->dims[0] != grid->dims[0]))
    FAIL (MODEL, "the grid must be [N, size..., %d] for this input", x->rank - 2);
  if (!read_sampler (node, x, &s, error))
    return FALSE;
  out[0].shape = *x;
  for (gint d = 2; d < x->rank; d++)
    out[0].shape.dims[d] = grid->dims[d - 1];
  return TRUE;
}

/* Reflects @c into [low, high]. */
static gdouble
reflect (gdouble c, gdouble low, gdouble high)
{
  gdouble range = high - low, away;
  if (!isfinite (c) || range <= 0)
    return low;
  away = fmod (fabs (c - low), 2 * range);
  return low + (away <= range ? away : 2 * range - away);
}

/* The pixel at @index where padding moves it, -1 where it reads 0. */
static gint64
pad_index (const Sampler *s, gint d, gdouble index)
{
  gdouble n = (gdouble)s->size[d];
  if (!isfinite (index))
    return s->padding == ZEROS ? -1 : 0;
  if (index >= 0 && index < n)
    return (gint64)index;
  if (s->padding == ZEROS)
    return -1;
  if (s->padding == BORDER)
    return index < 0 ? 0 : s->size[d] - 1;
  index = s->align ? reflect (index, 0, n - 1) : reflect (index, -0.5, n - 0.5);
  return (gint64)CLAMP (index, 0, n - 1);
}

static gdouble
cubic (gdouble t)
{
  const gdouble a = -0.75;
  t = fabs (t);
  return t <= 1  ? ((a + 2) * t - (a + 3)) * t * t + 1
         : t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
                 : 0;
}

typedef struct {
  gint n;
  gint64 at[4]; /* < 0: reads 0 */
  gdouble weight[4];
} Taps;

/* Along axis @d, at @point of the grid, which names x first. An axis that is not there has one
 * pixel. */
static Taps
axis_taps (const Sampler *s, gint d, const gdouble *point)
{
  if (d < AXES - s->rank)
    return (Taps){ .n = 1, .weight = { 1 } };
  gdouble g = point[AXES - 1 - d];
  gdouble n = (gdouble)s->size[d], c = s->align ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
  gdouble base = floor (c);
  Taps taps = { .n = s->mode == NEAREST ? 1 : s->mode == LINEAR ? 2 : 4 };
  if (s->padding == BORDER && s->mode != CUBIC)
    c = fmax (0, fmin (c, n - 1));
  else if (s->padding == REFLECTION && s->mode != CUBIC)
    c = s->align ? reflect (c, 0, n - 1) : fmax (0, fmin (reflect (c, -0.5, n - 0.5), n - 1));
  base = floor (c);
  if (s->mode == NEAREST) {
    taps.at[0] =
        pad_index (s, d, isfinite (c) ? (gdouble)axon_round_even (CLAMP (c, -1e15, 1e15)) : c);
    taps.weight[0] = 1;
  }
  for (gint i = 0; s->mode == LINEAR && i < 2; i++) {
    taps.at[i] = pad_index (s, d, base + i);
    taps.weight[i] = i ? c - base : 1 - (c - base);
  }
  for (gint i = 0; s->mode == CUBIC && i < 4; i++) {
    taps.at[i] = pad_index (s, d, base + i - 1);
    taps.weight[i] = cubic (c - (base + i - 1));
  }
  return taps;
}

static gdouble
gather_taps (const Sampler *s, const Taps taps[AXES], const gdouble *plane, gint d, gint64 at)
{
  gdouble sum = 0;
  if (d >= AXES)
    return plane[at];
  for (gint i = 0; i < taps[d].n; i++)
    if (taps[d].at[i] >= 0 && taps[d].weight[i] != 0)
      sum +=
          taps[d].weight[i] * gather_taps (s, taps, plane, d + 1, at * s->size[d] + taps[d].at[i]);
  return sum;
}

static gboolean
eval_grid_sample (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                  GError **error)
{
  const AxonShape *xs = axon_tensor_get_shape (in[0]), *ys = axon_tensor_get_shape (out[0]);
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error),
                            *grid = axon_load_doubles (in[1], error);
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  gint64 plane = 1, points = 1, c = xs->dims[1];
  Sampler s;
  if (!read_sampler (node, xs, &s, error))
    return FALSE;
  for (gint d = 0; d < AXES; d++)
    plane *= s.size[d];
  for (gint d = 0; d < s.rank; d++)
    points *= ys->dims[d + 2];
  if (plane == 0 && axon_tensor_get_numel (out[0]) > 0)
    FAIL (MODEL, "the input is empty");
  for (gint64 n = 0; n < xs->dims[0]; n++)
    for (gint64 p = 0; p < points; p++) {
      const gdouble *g = grid + (n * points + p) * s.rank;
      Taps taps[AXES];
      for (gint d = 0; d < AXES; d++)
        taps[d] = axis_taps (&s, d, g);
      for (gint64 k = 0; k < c; k++)
        y[(n * c + k) * points + p] = gather_taps (&s, taps, x + (n * c + k) * plane, 0, 0);
    }
  axon_store_doubles (out[0], y);
  return TRUE;
}

/* size: [N, C, H, W] or [N, C, D, H, W] */
static gboolean
infer_affine_grid (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                   GError **error)
{
  gint64 size[AXON_MAX_RANK];
  guint n;
  out[0].dtype = in[0].dtype;
  if (!axon_check_rank (in, 0, 3, 3, error))
    return FALSE;
  if (!axon_const_ints (&in[1], size, AXON_MAX_RANK, &n))
    return TRUE;
  if ((n != 4 && n != 5) || (axon_shape_is_static (&in[0].shape) &&
                             (in[0].shape.dims[0] != size[0] || in[0].shape.dims[1] != n - 2 ||
                              in[0].shape.dims[2] != n - 1)))
    FAIL (MODEL, "theta must be [N, 2, 3] with a size of 4 values, or [N, 3, 4] with 5");
  out[0].shape.rank = (gint)n;
  out[0].shape.dims[0] = size[0];
  for (guint d = 2; d < n; d++) {
    out[0].shape.dims[d - 1] = size[d];
    if (size[d] < 0)
      FAIL (MODEL, "size %u is negative", d);
  }
  out[0].shape.dims[n - 1] = n - 2;
  return TRUE;
}

static gboolean
eval_affine_grid (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                  GError **error)
{
  const AxonShape *ys = axon_tensor_get_shape (out[0]);
  gboolean align = axon_node_get_int (node, "align_corners") != 0;
  AXON_AUTO_SCRATCH gdouble *theta = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  gint64 index[AXON_MAX_RANK] = { 0 };
  gint rank = ys->rank - 2;
  for (gsize i = 0; i < axon_tensor_get_numel (out[0]) && WANTED (i); i++) {
    gint64 row = index[ys->rank - 1];
    const gdouble *t = theta + (index[0] * rank + row) * (rank + 1);
    gdouble sum = t[rank];
    for (gint d = 0; d < rank; d++) { /* x is the last dimension */
      gdouble n = (gdouble)ys->dims[rank - d], k = (gdouble)index[rank - d];
      gdouble c = align ? (n > 1 ? -1 + 2 * k / (n - 1) : 0) : -1 + (2 * k + 1) / n;
      sum += t[d] * c;
    }
    axon_dtype_store (axon_tensor_get_dtype (out[0]), axon_tensor_get_data (out[0]), i, sum);
    axon_next_index (index, ys);
  }
  return TRUE;
}

#define SAMPLE(mode)                                                                               \
  ATTRS (ATTR_I ("align_corners", 0), ATTR_S ("mode", mode), ATTR_S ("padding_mode", "zeros"))

static const AxonOp rows[] = {
  {
      .name = "GridSample",
      .since = 16,
      .until = 19,
      .inputs = { 2, 2 },
      .operands = ".f",
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_ALL,
      .same_type_inputs = 1,
      .attrs = SAMPLE ("bilinear"),
      .infer = infer_grid_sample,
      .eval = eval_grid_sample,
  },
  {
      .name = "GridSample",
      .since = 20,
      .inputs = { 2, 2 },
      .operands = ".f",
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_ALL,
      .same_type_inputs = 1,
      .attrs = SAMPLE ("linear"),
      .infer = infer_grid_sample,
      .eval = eval_grid_sample,
  },
  {
      .name = "AffineGrid",
      .since = 20,
      .inputs = { 2, 2 },
      .operands = ".l",
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("align_corners", 0)),
      .infer = infer_affine_grid,
      .eval = eval_affine_grid,
  },
};

DEFINE_FAMILY (gridsample, rows)
