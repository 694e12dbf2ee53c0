/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Normalisation over what a sample holds: Layer (17; Ba et al. 2016), RMS (23; Zhang and Sennrich
 * 2019), Instance (1, 6; Ulyanov et al. 2016), Group (18, 21; Wu and He 2018), MeanVariance (9,
 * 13), Lp (1), and LRN (1, 13). */
#include "ops-private.h"

#include <math.h>

typedef struct {
  gdouble mean, scale; /* y = (x - mean) * scale */
} Moments;

/* Of @n elements @stride apart; @centred: with the mean, else as it is. */
static Moments
moments_of (const gdouble *x, gint64 n, gdouble epsilon, gboolean centred)
{
  Moments m = { 0, 0 };
  gdouble sum = 0;
  for (gint64 i = 0; centred && i < n; i++)
    m.mean += x[i] / (gdouble)n;
  for (gint64 i = 0; i < n; i++)
    sum += (x[i] - m.mean) * (x[i] - m.mean);
  m.scale = 1 / sqrt (sum / (gdouble)n + epsilon);
  return m;
}

static gboolean
infer_layer_norm (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 stash = axon_node_get_int (node, "stash_type");
  gint axis;
  axon_infer_same (node, in, out, error);
  for (guint i = 1; i < node->n_outputs; i++)
    out[i].dtype = (AxonDType)CLAMP (stash, 0, AXON_N_DTYPES - 1);
  if (stash != AXON_DTYPE_F32 && stash != AXON_DTYPE_BF16 && stash != AXON_DTYPE_F16 &&
      stash != AXON_DTYPE_F64)
    FAIL (MODEL, "stash_type %" G_GINT64_FORMAT " is no float type", stash);
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), in[0].shape.rank, &axis, error))
    return FALSE;
  for (guint i = 1; i < node->n_inputs; i++) {
    AxonShape both;
    if (axon_shape_is_static (&in[i].shape) && axon_shape_is_static (&in[0].shape) &&
        (!axon_shape_broadcast (&in[0].shape, &in[i].shape, &both) ||
         !axon_shape_equal (&both, &in[0].shape)))
      FAIL (MODEL, "input %u cannot be broadcast to input 0", i);
  }
  for (guint i = 1; i < node->n_outputs; i++)
    for (gint d = axis; d < in[0].shape.rank; d++)
      out[i].shape.dims[d] = 1;
  return TRUE;
}

/* Mean and scale of line @line, as far as they are wanted. */
static void
store_moments (const AxonNode *node, AxonTensor *const *out, gsize line, const Moments *m)
{
  const gdouble stats[] = { m->mean, m->scale };
  for (guint k = 1; k < node->n_outputs; k++)
    if (out[k] != NULL)
      axon_dtype_store (axon_tensor_get_dtype (out[k]), axon_tensor_get_data (out[k]), line,
                        stats[k - 1]);
}

static gboolean
eval_layer_norm (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                 GError **error)
{
  const AxonShape *shape = axon_tensor_get_shape (in[0]);
  gboolean centred = g_str_equal (node->op->name, "LayerNormalization");
  gdouble epsilon = axon_node_get_float (node, "epsilon");
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error),
                            *scale = axon_load_doubles (in[1], error);
  if (*error != NULL)
    return FALSE;
  AxonTensor *bias = axon_operand (node, in, 2);
  gint64 index[AXON_MAX_RANK] = { 0 }, ss[AXON_MAX_RANK], sb[AXON_MAX_RANK] = { 0 }, n = 1;
  gsize lines = 1;
  Moments m = { NAN, NAN }; /* of nothing */
  gint axis;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), shape->rank, &axis, error))
    return FALSE;
  for (gint d = 0; d < axis; d++)
    lines *= (gsize)shape->dims[d];
  for (gint d = axis; d < shape->rank; d++)
    n *= shape->dims[d];
  for (gsize line = 0; n == 0 && line < lines; line++)
    store_moments (node, out, line, &m);
  axon_broadcast_strides (axon_tensor_get_shape (in[1]), shape, ss);
  if (bias != NULL)
    axon_broadcast_strides (axon_tensor_get_shape (bias), shape, sb);
  for (gsize i = 0; i < axon_tensor_get_numel (in[0]) && WANTED (i); i++) {
    gint64 is = 0, ib = 0;
    if (i % (gsize)n == 0) {
      m = moments_of (x + i, n, epsilon, centred);
      store_moments (node, out, i / (gsize)n, &m);
    }
    for (gint d = 0; d < shape->rank; d++) {
      is += index[d] * ss[d];
      ib += index[d] * sb[d];
    }
    x[i] = (x[i] - m.mean) * m.scale * scale[is];
    if (bias != NULL)
      x[i] += axon_tensor_get_value (bias, (gsize)ib);
    axon_next_index (index, shape);
  }
  axon_store_doubles (out[0], x);
  return TRUE;
}

/* Instance and group: [N, C, ...]; scale and bias per channel, or per group (GroupNormalization
 * 18). */
static gint64
group_count (const AxonNode *node, gint64 channels)
{
  return g_str_equal (node->op->name, "GroupNormalization") ? axon_node_get_int (node, "num_groups")
                                                            : channels;
}

static gboolean
infer_group_norm (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 c, groups;
  axon_infer_same (node, in, out, error);
  if (!axon_check_rank (in, 0, 2, AXON_MAX_RANK, error))
    return FALSE;
  if (in[0].shape.rank < 0 || in[0].shape.dims[1] < 0)
    return TRUE;
  c = in[0].shape.dims[1];
  groups = group_count (node, c);
  if (groups < 1 || c % groups != 0)
    FAIL (MODEL, "%" G_GINT64_FORMAT " groups do not divide %" G_GINT64_FORMAT " channels", groups,
          c);
  for (guint i = 1; i < 3; i++)
    if (axon_shape_is_static (&in[i].shape) && axon_shape_get_numel (&in[i].shape) != c &&
        axon_shape_get_numel (&in[i].shape) != groups)
      FAIL (MODEL, "input %u: expected %" G_GINT64_FORMAT " elements", i, c);
  if (axon_shape_is_static (&in[1].shape) && axon_shape_is_static (&in[2].shape) &&
      axon_shape_get_numel (&in[1].shape) != axon_shape_get_numel (&in[2].shape))
    FAIL (MODEL,
          "scale and bias differ in their number of elements: %" G_GINT64_FORMAT
          ", %" G_GINT64_FORMAT,
          axon_shape_get_numel (&in[1].shape), axon_shape_get_numel (&in[2].shape));
  return TRUE;
}

static gboolean
eval_group_norm (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                 GError **error)
{
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  gint64 c = axon_tensor_get_dim (in[0], 1), groups = group_count (node, c);
  gint64 each = axon_tensor_get_dim (in[0], 0) * groups;
  gint64 n = each ? (gint64)axon_tensor_get_numel (in[0]) / each : 0;
  gint64 plane = n / MAX (c / groups, 1);
  gint64 params = (gint64)axon_tensor_get_numel (in[1]);
  for (gint64 g = 0; g < each; g++) {
    gdouble *part = x + g * n;
    Moments m = moments_of (part, n, axon_node_get_float (node, "epsilon"), TRUE);
    for (gint64 i = 0; i < n; i++) {
      gint64 channel = g % groups * (c / groups) + i / MAX (plane, 1);
      gsize k = (gsize)(params == c ? channel : channel / (c / groups));
      part[i] = (part[i] - m.mean) * m.scale * axon_tensor_get_value (in[1], k) +
                axon_tensor_get_value (in[2], k);
    }
  }
  axon_store_doubles (out[0], x);
  return TRUE;
}

static gboolean
mark_axes (const AxonNode *node, const AxonShape *shape, gboolean *marks, GError **error)
{
  static const gint64 usual[] = { 0, 2, 3 };
  guint n = 0;
  const gint64 *given = axon_node_get_ints (node, "axes", &n), *axes = given ? given : usual;
  for (guint i = 0; i < (given ? n : G_N_ELEMENTS (usual)); i++) {
    gint axis;
    if (!axon_check_axis (axes[i], shape->rank, &axis, error))
      return FALSE;
    marks[axis] = TRUE;
  }
  return TRUE;
}

static gboolean
infer_mvn (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gboolean marks[AXON_MAX_RANK] = { 0 };
  return (in[0].shape.rank < 0 || mark_axes (node, &in[0].shape, marks, error)) &&
         axon_infer_same (node, in, out, error);
}

/* Over the axes of the attribute: (x - mean) / standard deviation. */
static gboolean
eval_mvn (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *shape = axon_tensor_get_shape (in[0]);
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  gint64 strides[AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 }, step = 1;
  gsize total = axon_tensor_get_numel (in[0]);
  gboolean marks[AXON_MAX_RANK] = { 0 };
  if (!mark_axes (node, shape, marks, error))
    return FALSE;
  for (gint d = shape->rank - 1; d >= 0; d--) {
    strides[d] = marks[d] ? 0 : step;
    step *= marks[d] ? 1 : shape->dims[d];
  }
  AXON_AUTO_SCRATCH gdouble *sum = axon_scratch_new0 ((gsize)step + 1, sizeof (gdouble), error);
  AXON_AUTO_SCRATCH gdouble *square = axon_scratch_new0 ((gsize)step + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  for (gint round = 0; round < 3; round++)
    for (gsize i = 0; i < total && WANTED (i); i++) {
      gint64 at = 0;
      gdouble count = (gdouble)total / (gdouble)step;
      for (gint d = 0; d < shape->rank; d++)
        at += index[d] * strides[d];
      if (round == 0)
        sum[at] += x[i] / count;
      else if (round == 1)
        square[at] += (x[i] - sum[at]) * (x[i] - sum[at]) / count;
      else
        x[i] = (x[i] - sum[at]) / (sqrt (square[at]) + 1e-9);
      axon_next_index (index, shape);
    }
  axon_store_doubles (out[0], x);
  return TRUE;
}

static gboolean
infer_lp_norm (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 p = axon_node_get_int (node, "p");
  if (p != 1 && p != 2)
    FAIL (MODEL, "p is %" G_GINT64_FORMAT ", expected 1 or 2", p);
  return axon_infer_softmax (node, in, out, error);
}

static gboolean
eval_lp_norm (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *shape = axon_tensor_get_shape (in[0]);
  gboolean one = axon_node_get_int (node, "p") == 1;
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  AxonLines lines;
  gint axis;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), shape->rank, &axis, error))
    return FALSE;
  lines = axon_lines (shape, axis);
  for (gint64 l = 0; l < lines.outer * lines.inner && WANTED (l); l++) {
    gdouble *line = x + l / lines.inner * lines.n * lines.inner + l % lines.inner, norm = 0;
    for (gint64 k = 0; k < lines.n; k++)
      norm += one ? fabs (line[k * lines.inner]) : line[k * lines.inner] * line[k * lines.inner];
    norm = one ? norm : sqrt (norm);
    for (gint64 k = 0; norm != 0 && k < lines.n; k++)
      line[k * lines.inner] /= norm;
  }
  axon_store_doubles (out[0], x);
  return TRUE;
}

static gboolean
infer_lrn (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  if (axon_node_get_int (node, "size") < 1)
    FAIL (MODEL, "size is %" G_GINT64_FORMAT, axon_node_get_int (node, "size"));
  return axon_check_rank (in, 0, 2, AXON_MAX_RANK, error) && axon_infer_same (node, in, out, error);
}

/* Across channels: x / (bias + alpha / size * sum of squares)^beta (Krizhevsky et al. 2012). */
static gboolean
eval_lrn (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  AxonLines lines = axon_lines (axon_tensor_get_shape (in[0]), 1);
  gint64 size = axon_node_get_int (node, "size"), before = (size - 1) / 2,
         after = size - 1 - before;
  gdouble alpha = axon_node_get_float (node, "alpha") / (gdouble)size;
  gdouble beta = axon_node_get_float (node, "beta"), bias = axon_node_get_float (node, "bias");
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new (axon_tensor_get_numel (in[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  for (gsize i = 0; i < axon_tensor_get_numel (in[0]) && WANTED (i); i++) {
    gint64 c = (gint64)i / lines.inner % lines.n;
    const gdouble *line = x + (gint64)i - c * lines.inner;
    gdouble sum = 0;
    for (gint64 k = MAX (c - before, 0); k <= c + after && k < lines.n; k++)
      sum += line[k * lines.inner] * line[k * lines.inner];
    y[i] = x[i] / pow (bias + alpha * sum, beta);
  }
  axon_store_doubles (out[0], y);
  return TRUE;
}

#define F AXON_DTYPES_FLOAT
#define LAYER                                                                                      \
  ATTRS (ATTR_I ("axis", -1), ATTR_F ("epsilon", 1e-5), ATTR_I ("stash_type", AXON_DTYPE_F32))
#define GROUP                                                                                      \
  ATTRS (ATTR_F ("epsilon", 1e-5), REQUIRED ("num_groups", AXON_ATTR_INT),                         \
         ATTR_I ("stash_type", AXON_DTYPE_F32))

static const AxonOp rows[] = {
  {
      .name = "LayerNormalization",
      .since = 17,
      .inputs = { 2, 3 },
      .outputs = { 1, 3 },
      .types = F,
      .same_type_inputs = 3,
      .attrs = LAYER,
      .infer = infer_layer_norm,
      .eval = eval_layer_norm,
  },
  {
      .name = "RMSNormalization",
      .since = 23,
      .inputs = { 2, 2 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 1,
      .attrs = LAYER,
      .infer = infer_layer_norm,
      .eval = eval_layer_norm,
  },
  {
      .name = "InstanceNormalization",
      .since = 1,
      .inputs = { 3, 3 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 3,
      .attrs = ATTRS (ATTR_F ("epsilon", 1e-5)),
      .infer = infer_group_norm,
      .eval = eval_group_norm,
  },
  {
      .name = "GroupNormalization",
      .since = 18,
      .inputs = { 3, 3 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 3,
      .attrs = GROUP,
      .infer = infer_group_norm,
      .eval = eval_group_norm,
  },
  {
      .name = "MeanVarianceNormalization",
      .since = 9,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_INTS ("axes")),
      .infer = infer_mvn,
      .eval = eval_mvn,
  },
  {
      .name = "LpNormalization",
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("axis", -1), ATTR_I ("p", 2)),
      .infer = infer_lp_norm,
      .eval = eval_lp_norm,
  },
  {
      .name = "LRN",
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_F ("alpha", 1e-4), ATTR_F ("beta", 0.75), ATTR_F ("bias", 1),
                      REQUIRED ("size", AXON_ATTR_INT)),
      .infer = infer_lrn,
      .eval = eval_lrn,
  },
};

DEFINE_FAMILY (normalize, rows)
