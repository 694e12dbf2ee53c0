/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NegativeLogLikelihoodLoss (12, 13, 22) and SoftmaxCrossEntropyLoss (12, 13): [N, C, d...] scores
 * against [N, d...] classes, weighted per class. */
#include "ops-private.h"

#include <math.h>

static gboolean
infer_loss (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const gchar *reduction = axon_node_get_string (node, "reduction");
  for (guint i = 0; i < node->n_outputs; i++)
    out[i].dtype = in[0].dtype;
  if (!axon_check_index_type (in, 1, error))
    return FALSE;
  if (!g_str_equal (reduction, "none") && !g_str_equal (reduction, "sum") &&
      !g_str_equal (reduction, "mean"))
    FAIL (MODEL, "reduction \"%s\": expected none, sum or mean", reduction);
  if (!axon_check_rank (in, 0, 2, AXON_MAX_RANK, error))
    return FALSE;
  if (in[0].shape.rank >= 0 && in[1].shape.rank >= 0) {
    if (in[1].shape.rank != in[0].shape.rank - 1)
      FAIL (MODEL, "scores have rank %d, classes rank %d", in[0].shape.rank, in[1].shape.rank);
    for (gint d = 0; d < in[1].shape.rank; d++) {
      gint64 a = in[1].shape.dims[d], b = in[0].shape.dims[d > 0 ? d + 1 : 0];
      if (a >= 0 && b >= 0 && a != b)
        FAIL (MODEL,
              "dimension %d of the classes is %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT, d,
              a, b);
    }
  }
  if (axon_is_given (node, in, 2) && axon_shape_is_static (&in[2].shape) && in[0].shape.rank > 1 &&
      in[0].shape.dims[1] >= 0 && axon_shape_get_numel (&in[2].shape) != in[0].shape.dims[1])
    FAIL (MODEL, "expected one weight for each of %" G_GINT64_FORMAT " classes",
          in[0].shape.dims[1]);
  out[0].shape = g_str_equal (reduction, "none") ? in[1].shape : (AxonShape){ 0 };
  if (node->n_outputs > 1)
    out[1].shape = in[0].shape;
  return TRUE;
}

static void
log_softmax (gdouble *x, gint64 n, gint64 stride)
{
  gdouble top = -INFINITY, sum = 0;
  for (gint64 i = 0; i < n; i++)
    top = fmax (top, x[i * stride]);
  for (gint64 i = 0; i < n; i++)
    sum += exp (x[i * stride] - top);
  for (gint64 i = 0; i < n; i++)
    x[i * stride] -= top + log (sum);
}

/* @x: log-probabilities. */
static gboolean
reduce_loss (const AxonNode *node, const gdouble *x, AxonTensor *const *in, AxonTensor *out,
             GError **error)
{
  AxonLines lines = axon_lines (axon_tensor_get_shape (in[0]), 1);
  const gchar *reduction = axon_node_get_string (node, "reduction");
  gboolean has_ignored = axon_node_find_attr (node, "ignore_index") != NULL,
           none = *reduction == 'n';
  gint64 ignored = has_ignored ? axon_node_get_int (node, "ignore_index") : 0;
  AxonTensor *weights = axon_operand (node, in, 2);
  gdouble sum = 0, total = 0;
  for (gint64 i = 0; i < lines.outer * lines.inner && WANTED (i); i++) {
    gint64 class = axon_int_at (in[1], (gsize)i);
    gdouble weight = 0, loss = 0;
    if (!has_ignored || class != ignored) {
      if (!axon_check_index (class, lines.n, &class, error))
        return FALSE;
      weight = weights ? axon_tensor_get_value (weights, (gsize) class) : 1;
      loss = -weight * x[(i / lines.inner * lines.n + class) * lines.inner + i % lines.inner];
    }
    if (none)
      axon_dtype_store (axon_tensor_get_dtype (out), axon_tensor_get_data (out), (gsize)i, loss);
    sum += loss;
    total += weight;
  }
  if (!none)
    axon_dtype_store (axon_tensor_get_dtype (out), axon_tensor_get_data (out), 0,
                      *reduction == 'm' ? sum / total : sum);
  return TRUE;
}

static gboolean
eval_nll_loss (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  return reduce_loss (node, x, in, out[0], error);
}

static gboolean
eval_cross_entropy (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                    GError **error)
{
  AxonLines lines = axon_lines (axon_tensor_get_shape (in[0]), 1);
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  for (gint64 l = 0; l < lines.outer * lines.inner && WANTED (l); l++)
    log_softmax (x + l / lines.inner * lines.n * lines.inner + l % lines.inner, lines.n,
                 lines.inner);
  if (node->n_outputs > 1 && out[1] != NULL)
    axon_store_doubles (out[1], x);
  return out[0] == NULL || reduce_loss (node, x, in, out[0], error);
}

#define LOSS ATTRS (ATTR ("ignore_index", AXON_ATTR_INT), ATTR_S ("reduction", "mean"))

static const AxonOp rows[] = {
  {
      .name = "NegativeLogLikelihoodLoss",
      .since = 12,
      .inputs = { 2, 3 },
      .operands = ".nx",
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 1,
      .attrs = LOSS,
      .infer = infer_loss,
      .eval = eval_nll_loss,
  },
  {
      .name = "SoftmaxCrossEntropyLoss",
      .since = 12,
      .inputs = { 2, 3 },
      .operands = ".nx",
      .outputs = { 1, 2 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 1,
      .attrs = LOSS,
      .infer = infer_loss,
      .eval = eval_cross_entropy,
  },
};

DEFINE_FAMILY (loss, rows)
