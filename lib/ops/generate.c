/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that make elements from few numbers: Range (11), OneHot (9, 11), windows (17),
 * MelWeightMatrix (17). */
#include "ops-private.h"

#include <math.h>
#include <string.h>

static gint64
range_count (const AxonTypeInfo *in)
{
  gdouble start = axon_tensor_get_value (in[0].value, 0),
          limit = axon_tensor_get_value (in[1].value, 0);
  gdouble delta = axon_tensor_get_value (in[2].value, 0), n = ceil ((limit - start) / delta);
  return delta == 0 || isnan (n) || n < 0 ? 0 : n > 1e15 ? -1 : (gint64)n;
}

static gboolean
infer_range (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
             GError **error)
{
  gint64 n = -1;
  gboolean known = TRUE;
  for (guint i = 0; i < 3; i++) {
    if (axon_shape_is_static (&in[i].shape) && axon_shape_get_numel (&in[i].shape) != 1)
      FAIL (MODEL, "input %u: expected a scalar", i);
    known = known && in[i].value != NULL;
  }
  if (known && axon_tensor_get_value (in[2].value, 0) == 0)
    FAIL (MODEL, "delta is 0");
  if (known && (n = range_count (in)) < 0)
    FAIL (MODEL, "the range is too long");
  out[0].dtype = in[0].dtype;
  out[0].shape = AXON_SHAPE (n);
  return TRUE;
}

static gboolean
eval_range (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
            G_GNUC_UNUSED GError **error)
{
  gdouble start = axon_tensor_get_value (in[0], 0), delta = axon_tensor_get_value (in[2], 0);
  for (gsize i = 0; i < axon_tensor_get_numel (out[0]) && WANTED (i); i++)
    axon_dtype_store (axon_tensor_get_dtype (out[0]), axon_tensor_get_data (out[0]), i,
                      start + (gdouble)i * delta);
  return TRUE;
}

static gboolean
infer_one_hot (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 depth, axis = axon_node_get_int (node, "axis");
  gint rank = in[0].shape.rank, at;
  out[0].dtype = in[2].dtype;
  if (!axon_scalar_int (node, in, 1, 0, &depth))
    depth = -1;
  else if (depth < 1)
    FAIL (MODEL, "depth is %" G_GINT64_FORMAT, depth);
  if (axon_shape_is_static (&in[2].shape) && axon_shape_get_numel (&in[2].shape) != 2)
    FAIL (MODEL, "values: expected two elements");
  if (rank < 0)
    return TRUE;
  if (rank + 1 > AXON_MAX_RANK)
    FAIL_FOR (SHAPE, UNSUPPORTED, "rank %d", rank + 1);
  if (!axon_check_axis (axis, rank + 1, &at, error))
    return FALSE;
  out[0].shape.rank = rank + 1;
  for (gint d = 0; d <= rank; d++)
    out[0].shape.dims[d] = d < at ? in[0].shape.dims[d] : d == at ? depth : in[0].shape.dims[d - 1];
  return TRUE;
}

/* An index outside [-depth, depth) makes a line of "off". */
static gboolean
eval_one_hot (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *y = axon_tensor_get_shape (out[0]);
  gsize size = axon_dtype_get_size (axon_tensor_get_dtype (out[0]));
  const guint8 *values = axon_tensor_get_data (in[2]);
  AxonLines lines;
  gint axis;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), y->rank, &axis, error))
    return FALSE;
  lines = axon_lines (y, axis);
  for (gsize i = 0; i < axon_tensor_get_numel (out[0]) && WANTED (i); i++) {
    gint64 o = (gint64)i / (lines.n * lines.inner), k = (gint64)i / lines.inner % lines.n;
    gint64 index = axon_int_at (in[0], (gsize)(o * lines.inner + (gint64)i % lines.inner));
    gboolean on = index == k || (index < 0 && index + lines.n == k);
    memcpy ((guint8 *)axon_tensor_get_data (out[0]) + i * size, values + (on ? size : 0), size);
  }
  return TRUE;
}

static gboolean
infer_window (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 size;
  if (!axon_attr_dtype (node, "output_datatype", AXON_DTYPE_F32, &out[0].dtype, error))
    return FALSE;
  if (!axon_scalar_int (node, in, 0, -1, &size))
    size = -1;
  else if (size < 0)
    FAIL (MODEL, "size %" G_GINT64_FORMAT " is negative", size);
  out[0].shape = AXON_SHAPE (size);
  return TRUE;
}

/* a0 - a1 cos (2 pi i / N) + a2 cos (4 pi i / N), N the size, or one less where not periodic. */
static gboolean
eval_window (const AxonNode *node, AxonTensor *const *out, gdouble a0, gdouble a1, gdouble a2)
{
  gsize n = axon_tensor_get_numel (out[0]);
  gdouble period = (gdouble)n - (axon_node_get_int (node, "periodic") ? 0 : 1);
  for (gsize i = 0; i < n && WANTED (i); i++) {
    gdouble t = period > 0 ? 2 * G_PI * (gdouble)i / period : 0;
    axon_dtype_store (axon_tensor_get_dtype (out[0]), axon_tensor_get_data (out[0]), i,
                      a0 - a1 * cos (t) + a2 * cos (2 * t));
  }
  return TRUE;
}

#define WINDOW(name, a0, a1, a2)                                                                   \
  static gboolean eval_##name (const AxonNode *node, G_GNUC_UNUSED AxonTensor *const *in,          \
                               AxonTensor *const *out, G_GNUC_UNUSED GError **error)               \
  {                                                                                                \
    return eval_window (node, out, a0, a1, a2);                                                    \
  }
WINDOW (hann, 0.5, 0.5, 0)
WINDOW (hamming, 25.0 / 46, 21.0 / 46, 0)
WINDOW (blackman, 0.42, 0.5, 0.08)

static gboolean
infer_mel (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 bins, length;
  if (!axon_attr_dtype (node, "output_datatype", AXON_DTYPE_F32, &out[0].dtype, error))
    return FALSE;
  if (!axon_scalar_int (node, in, 0, 0, &bins) || !axon_scalar_int (node, in, 1, 0, &length)) {
    out[0].shape = AXON_SHAPE (-1, -1);
    return TRUE;
  }
  if (bins < 0 || length < 0 || bins > G_MAXINT32 || length > G_MAXINT32)
    FAIL (MODEL, "num_mel_bins and dft_length must not be negative");
  out[0].shape = AXON_SHAPE (length / 2 + 1, bins);
  return TRUE;
}

/* Triangles on the mel scale 2595 log10 (1 + f / 700), corners rounded down to DFT bins. */
static gboolean
eval_mel (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
          GError **error)
{
  gint64 rows = axon_tensor_get_dim (out[0], 0), bins = axon_tensor_get_dim (out[0], 1);
  for (guint i = 1; i < 5; i++)
    if (!axon_check_scalar (in[i], i, error))
      return FALSE;
  gdouble length = axon_tensor_get_value (in[1], 0), rate = axon_tensor_get_value (in[2], 0);
  gdouble low = 2595 * log10 (1 + axon_tensor_get_value (in[3], 0) / 700);
  gdouble high = 2595 * log10 (1 + axon_tensor_get_value (in[4], 0) / 700);
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new0 (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  AXON_AUTO_SCRATCH gint64 *corner = axon_scratch_new ((gsize)bins + 2, sizeof (gint64), error);
  if (*error != NULL)
    return FALSE;
  if (!(rate > 0))
    FAIL (MODEL, "sample_rate must be positive");
  for (gint64 i = 0; i < bins + 2; i++) {
    gdouble mel = (gdouble)i * (high - low) / (gdouble)(bins + 2) + low;
    gdouble bin = floor ((length + 1) * (700 * (pow (10, mel / 2595) - 1)) / rate);
    corner[i] = bin > 0 ? (gint64)MIN (bin, (gdouble)rows) : 0; /* 0: no number, too */
  }
  for (gint64 b = 0; b < bins && !axon_work_is_cancelled (); b++) {
    gint64 from = corner[b], top = corner[b + 1], to = corner[b + 2];
    if (from == top && top < rows)
      y[top * bins + b] = 1;
    for (gint64 i = from; from != top && i <= top && i < rows; i++)
      y[i * bins + b] = (gdouble)(i - from) / (gdouble)(top - from);
    for (gint64 i = top; to > top && i < to; i++)
      y[i * bins + b] = (gdouble)(to - i) / (gdouble)(to - top);
  }
  axon_store_doubles (out[0], y);
  return TRUE;
}

#define N AXON_DTYPES_NUMERIC

#define WINDOW_FUNCTION                                                                            \
  .since = 17, .inputs = { 1, 1 }, .outputs = { 1, 1 }, .types = AXON_DTYPES_INT,                  \
  .same_type_inputs = 1, .attrs = ATTRS (ATTR_I ("output_datatype", 1), ATTR_I ("periodic", 1)),   \
  .infer = infer_window

static const AxonOp rows[] = {
  {
      .name = "Range",
      .since = 11,
      .inputs = { 3, 3 },
      .outputs = { 1, 1 },
      .types = N,
      .same_type_inputs = 3,
      .infer = infer_range,
      .eval = eval_range,
  },
  {
      .name = "OneHot",
      .since = 9,
      .inputs = { 3, 3 },
      .operands = ".M.",
      .outputs = { 1, 1 },
      .types = N,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("axis", -1)),
      .infer = infer_one_hot,
      .eval = eval_one_hot,
  },
  { WINDOW_FUNCTION, .name = "HannWindow", .eval = eval_hann },
  { WINDOW_FUNCTION, .name = "HammingWindow", .eval = eval_hamming },
  { WINDOW_FUNCTION, .name = "BlackmanWindow", .eval = eval_blackman },
  {
      .name = "MelWeightMatrix",
      .since = 17,
      .inputs = { 5, 5 },
      .operands = "NNNFF",
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_INT,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("output_datatype", 1)),
      .infer = infer_mel,
      .eval = eval_mel,
  },
};

DEFINE_FAMILY (generate, rows)
