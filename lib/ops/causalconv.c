/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CausalConvWithState (27): what it remembers of the past goes from call to call. */
#include "ops-private.h"

#include <math.h>
#include <string.h>

/* input, weight, bias, past_state */
static gboolean
infer_causal_conv (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const AxonShape *x = &in[0].shape, *w = &in[1].shape;
  const gchar *activation = axon_node_get_string (node, "activation");
  AxonShape past;
  if (!g_str_equal (activation, "none") && !g_str_equal (activation, "silu") &&
      !g_str_equal (activation, "swish"))
    FAIL (MODEL, "activation \"%s\": expected none, silu or swish", activation);
  if (!axon_check_rank (in, 0, 3, 3, error) || !axon_check_rank (in, 1, 3, 3, error))
    return FALSE;
  out[0] = (AxonTypeInfo){ in[0].dtype, *x, NULL };
  if (node->n_outputs > 1)
    out[1] = (AxonTypeInfo){ in[0].dtype, AXON_SHAPE (-1, -1, -1), NULL };
  if (!axon_shape_is_static (x) || !axon_shape_is_static (w))
    return TRUE;
  if (w->dims[0] != x->dims[1] || w->dims[1] != 1 || w->dims[2] < 1)
    FAIL (MODEL, "weight: expected [%" G_GINT64_FORMAT ", 1, k]", x->dims[1]);
  past = AXON_SHAPE (x->dims[0], x->dims[1], w->dims[2] - 1);
  if (axon_is_given (node, in, 2) && axon_shape_is_static (&in[2].shape) &&
      axon_shape_get_numel (&in[2].shape) != x->dims[1])
    FAIL (MODEL, "bias: expected [%" G_GINT64_FORMAT "]", x->dims[1]);
  if (axon_is_given (node, in, 3) && axon_shape_is_static (&in[3].shape) &&
      !axon_shape_equal (&in[3].shape, &past))
    FAIL (MODEL, "past_state: expected [batch, channels, k - 1]");
  if (node->n_outputs > 1)
    out[1].shape = past;
  return TRUE;
}

/* One line: @past then @x, @k taps. */
static gdouble
line_at (const gdouble *past, const gdouble *x, gint64 k, gint64 i)
{
  return i < k - 1 ? (past ? past[i] : 0) : x[i - (k - 1)];
}

static gboolean
eval_causal_conv (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                  GError **error)
{
  gboolean swish = !g_str_equal (axon_node_get_string (node, "activation"), "none");
  AxonTensor *bias = axon_operand (node, in, 2), *past = axon_operand (node, in, 3);
  gint64 n = axon_tensor_get_dim (in[0], 2), k = axon_tensor_get_dim (in[1], 2);
  gint64 channels = axon_tensor_get_dim (in[0], 1), lines = axon_tensor_get_dim (in[0], 0);
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error),
                            *w = axon_load_doubles (in[1], error);
  AXON_AUTO_SCRATCH gdouble *before = past ? axon_load_doubles (past, error) : NULL;
  if (*error != NULL)
    return FALSE;
  gboolean wanted = node->n_outputs > 1 && out[1] != NULL;
  for (gint64 l = 0; l < lines * channels; l++) {
    const gdouble *own = before ? before + l * (k - 1) : NULL;
    gdouble b = bias ? axon_tensor_get_value (bias, (gsize)(l % channels)) : 0;
    for (gint64 i = 0; i < n; i++) {
      gdouble sum = b;
      for (gint64 j = 0; j < k; j++)
        sum += line_at (own, x + l * n, k, i + j) * w[l % channels * k + j];
      axon_dtype_store (axon_tensor_get_dtype (out[0]), axon_tensor_get_data (out[0]),
                        (gsize)(l * n + i), swish ? sum / (1 + exp (-sum)) : sum);
    }
    for (gint64 i = 0; wanted && i < k - 1; i++)
      axon_dtype_store (axon_tensor_get_dtype (out[1]), axon_tensor_get_data (out[1]),
                        (gsize)(l * (k - 1) + i), line_at (own, x + l * n, k, n + i));
  }
  return TRUE;
}

static const AxonOp rows[] = {
  {
      .name = "CausalConvWithState",
      .since = 27,
      .inputs = { 2, 4 },
      .outputs = { 1, 2 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 2,
      .attrs = ATTRS (ATTR_S ("activation", "none")),
      .infer = infer_causal_conv,
      .eval = eval_causal_conv,
  },
};

DEFINE_FAMILY (causalconv, rows)
