/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators along one axis whose result at a place depends on its place: CumSum (11, 14), CumProd
 * (26), ReverseSequence (10), Hardmax (1, 11, 13). */
#include "ops-private.h"

#include <string.h>

static gboolean
infer_cumulative (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 value;
  gint axis;
  if (axon_scalar_int (node, in, 1, 0, &value) && in[0].shape.rank >= 0 &&
      !axon_check_axis (value, in[0].shape.rank, &axis, error))
    return FALSE;
  return axon_infer_same (node, in, out, error);
}

typedef struct {
  AxonLines lines;
  gboolean reverse, exclusive, product;
} Scan;

/* Whole numbers wrap, as sums of them do. */
#define SCAN(name, type)                                                                           \
  static void scan_##name (const Scan *s, type *x)                                                 \
  {                                                                                                \
    for (gint64 l = 0; l < s->lines.outer * s->lines.inner; l++) {                                 \
      gint64 n = s->lines.n, inner = s->lines.inner;                                               \
      type *line = x + l / inner * n * inner + l % inner, sum = s->product;                        \
      for (gint64 k = 0; k < n; k++) {                                                             \
        type *at = line + (s->reverse ? n - 1 - k : k) * inner, before = sum;                      \
        sum = s->product ? sum * *at : sum + *at;                                                  \
        *at = s->exclusive ? before : sum;                                                         \
      }                                                                                            \
    }                                                                                              \
  }
SCAN (doubles, gdouble)
SCAN (whole, guint64)

static gboolean
scan_tensor (const Scan *s, AxonTensor *in, AxonTensor *out, GError **error)
{
  AxonDType dtype = axon_tensor_get_dtype (in);
  gsize n = axon_tensor_get_numel (in);
  if (axon_dtype_is_float (dtype)) {
    AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in, error);
    if (*error != NULL)
      return FALSE;
    scan_doubles (s, x);
    axon_store_doubles (out, x);
  } else {
    AXON_AUTO_SCRATCH guint64 *x = axon_scratch_new (n + 1, sizeof (guint64), error);
    if (*error != NULL)
      return FALSE;
    for (gsize i = 0; i < n && WANTED (i); i++)
      x[i] = (guint64)axon_dtype_load_int (dtype, axon_tensor_get_data (in), i);
    scan_whole (s, x);
    for (gsize i = 0; i < n && WANTED (i); i++)
      axon_store_int (dtype, axon_tensor_get_data (out), i, (gint64)x[i]);
  }
  return TRUE;
}

static gboolean
eval_cumulative (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                 gboolean product, GError **error)
{
  const AxonShape *shape = axon_tensor_get_shape (in[0]);
  Scan scan = { .reverse = axon_node_get_int (node, "reverse") != 0,
                .exclusive = axon_node_get_int (node, "exclusive") != 0,
                .product = product };
  gint axis;
  if (!axon_check_scalar (in[1], 1, error))
    return FALSE;
  if (!axon_check_axis (axon_int_at (in[1], 0), shape->rank, &axis, error))
    return FALSE;
  scan.lines = axon_lines (shape, axis);
  return scan_tensor (&scan, in[0], out[0], error);
}

static gboolean
eval_cum_sum (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  return eval_cumulative (node, in, out, FALSE, error);
}

static gboolean
eval_cum_prod (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  return eval_cumulative (node, in, out, TRUE, error);
}

static gboolean
infer_reverse_sequence (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                        GError **error)
{
  gint64 batch = axon_node_get_int (node, "batch_axis"),
         time = axon_node_get_int (node, "time_axis");
  if (!axon_check_rank (in, 0, 2, AXON_MAX_RANK, error))
    return FALSE;
  if (batch + time != 1 || batch * time != 0)
    FAIL (MODEL, "batch_axis and time_axis must be 0 and 1 or 1 and 0");
  return axon_infer_same (node, in, out, error);
}

static gboolean
eval_reverse_sequence (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                       GError **error)
{
  gboolean batch_first = axon_node_get_int (node, "batch_axis") == 0;
  gint64 n = axon_tensor_get_dim (in[0], batch_first ? 0 : 1);
  gint64 steps = axon_tensor_get_dim (in[0], batch_first ? 1 : 0);
  gsize row = axon_tensor_get_n_bytes (in[0]) / (gsize)MAX (n * steps, 1);
  if ((gint64)axon_tensor_get_numel (in[1]) != n)
    FAIL (MODEL, "expected %" G_GINT64_FORMAT " sequence lengths", n);
  for (gint64 b = 0; b < n; b++) {
    gint64 length = axon_int_at (in[1], (gsize)b);
    if (length < 0 || length > steps)
      FAIL (MODEL, "sequence length %" G_GINT64_FORMAT " is outside [0, %" G_GINT64_FORMAT "]",
            length, steps);
    for (gint64 t = 0; t < steps; t++) {
      gint64 from = t < length ? length - 1 - t : t;
      memcpy ((guint8 *)axon_tensor_get_data (out[0]) +
                  (gsize)(batch_first ? b * steps + t : t * n + b) * row,
              (guint8 *)axon_tensor_get_data (in[0]) +
                  (gsize)(batch_first ? b * steps + from : from * n + b) * row,
              row);
    }
  }
  return TRUE;
}

/* 1 at the first maximum; a form of it over everything from axis on. */
static gboolean
eval_hardmax (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *shape = axon_tensor_get_shape (in[0]);
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  AxonLines lines = { 1, 1, 1 };
  gint axis;
  if (shape->rank > 0 &&
      !axon_check_axis (axon_node_get_int (node, "axis"), shape->rank, &axis, error))
    return FALSE;
  if (shape->rank > 0)
    lines = axon_lines (shape, axis);
  if (axon_node_has_form (node, AXON_FORM_FLATTENS)) {
    lines.n *= lines.inner;
    lines.inner = 1;
  }
  for (gint64 l = 0; l < lines.outer * lines.inner && WANTED (l); l++) {
    gdouble *line = x + l / lines.inner * lines.n * lines.inner + l % lines.inner;
    gint64 best = 0;
    for (gint64 k = 1; k < lines.n; k++)
      if (line[k * lines.inner] > line[best * lines.inner])
        best = k;
    for (gint64 k = 0; k < lines.n; k++)
      line[k * lines.inner] = k == best;
  }
  axon_store_doubles (out[0], x);
  return TRUE;
}

#define CUMULATIVE                                                                                 \
  .inputs = { 2, 2 }, .operands = ".N", .outputs = { 1, 1 }, .types = AXON_DTYPES_NUMERIC,         \
  .same_type_inputs = 1, .attrs = ATTRS (ATTR_I ("exclusive", 0), ATTR_I ("reverse", 0)),          \
  .infer = infer_cumulative

static const AxonOp rows[] = {
  { CUMULATIVE, .name = "CumSum", .since = 11, .eval = eval_cum_sum },
  { CUMULATIVE, .name = "CumProd", .since = 26, .eval = eval_cum_prod },
  {
      .name = "ReverseSequence",
      .since = 10,
      .inputs = { 2, 2 },
      .operands = ".l",
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("batch_axis", 1), ATTR_I ("time_axis", 0)),
      .infer = infer_reverse_sequence,
      .eval = eval_reverse_sequence,
  },
  {
      .name = "Hardmax",
      .since = 1,
      .until = 12,
      .form = AXON_FORM_FLATTENS,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("axis", 1)),
      .infer = axon_infer_softmax,
      .eval = eval_hardmax,
  },
  {
      .name = "Hardmax",
      .since = 13,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("axis", -1)),
      .infer = axon_infer_softmax,
      .eval = eval_hardmax,
  },
};

DEFINE_FAMILY (cumulative, rows)
