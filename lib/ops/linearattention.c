/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LinearAttention (27; Katharopoulos et al. 2020, gated delta rule: Yang et al. 2024): its state
 * goes from call to call. */
#include "ops-private.h"

#include <math.h>
#include <string.h>

enum { QUERY, KEY, VALUE, PAST, DECAY, BETA };

static const struct {
  const gchar *name;
  gboolean decay, beta;
} rules[] = {
  { "linear", FALSE, FALSE },
  { "gated", TRUE, FALSE },
  { "delta", FALSE, TRUE },
  { "gated_delta", TRUE, TRUE },
};

typedef struct {
  gint64 batch, length, q_heads, heads, dk, dv;
  gint64 n_decay, n_beta; /* numbers per step: one for each head, or for each key dimension */
  gdouble scale;
} Linear;

static gboolean
check_rule (const AxonNode *node, const AxonTypeInfo *in, GError **error)
{
  const gchar *name = axon_node_get_string (node, "update_rule");
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    if (g_str_equal (rules[i].name, name)) {
      if (axon_is_given (node, in, DECAY) != rules[i].decay)
        FAIL (MODEL, "update_rule %s %s decay", name, rules[i].decay ? "needs" : "takes no");
      if (axon_is_given (node, in, BETA) != rules[i].beta)
        FAIL (MODEL, "update_rule %s %s beta", name, rules[i].beta ? "needs" : "takes no");
      return TRUE;
    }
  FAIL (MODEL, "update_rule \"%s\": expected linear, gated, delta or gated_delta", name);
}

/* The length of one step of input @index; @fallback where there is none. */
static gint64
step_of (const AxonNode *node, const AxonTypeInfo *in, guint index, gint64 fallback)
{
  return axon_is_given (node, in, index) ? in[index].shape.dims[2] : fallback;
}

static gboolean
check_sizes (const AxonNode *node, const AxonTypeInfo *in, const Linear *s, GError **error)
{
  static const gchar *const names[] = { "query", "key", "value", "past_state", "decay", "beta" };
  AxonShape past = AXON_SHAPE (s->batch, s->heads, s->dk, s->dv);
  for (guint i = 0; i <= BETA; i++)
    if (i != PAST && axon_is_given (node, in, i) &&
        (in[i].shape.dims[0] != s->batch || in[i].shape.dims[1] != s->length))
      FAIL (MODEL, "%s is of another batch or length than query", names[i]);
  if (in[QUERY].shape.dims[2] != s->dk * s->q_heads || in[KEY].shape.dims[2] != s->dk * s->heads ||
      in[VALUE].shape.dims[2] != s->dv * s->heads)
    FAIL (MODEL, "the heads do not divide query, key and value evenly");
  if (s->n_decay != s->heads && s->n_decay != s->heads * s->dk)
    FAIL (MODEL, "decay has neither a number per head nor per dimension of the key");
  if (s->n_beta != s->heads && s->n_beta != 1)
    FAIL (MODEL, "beta has neither a number per head nor one");
  if (axon_is_given (node, in, PAST) && !axon_shape_equal (&in[PAST].shape, &past))
    FAIL (MODEL, "past_state: expected [batch, kv_num_heads, key size, value size]");
  return TRUE;
}

static gboolean
read_linear (const AxonNode *node, const AxonTypeInfo *in, Linear *s, GError **error)
{
  const AxonShape *q = &in[QUERY].shape;
  s->q_heads = axon_node_get_int (node, "q_num_heads");
  s->heads = axon_node_get_int (node, "kv_num_heads");
  if (s->heads < 1 || s->q_heads < 1 || s->q_heads % s->heads != 0)
    FAIL (MODEL, "q_num_heads must be a positive multiple of kv_num_heads");
  s->batch = q->dims[0];
  s->length = q->dims[1];
  s->dk = q->dims[2] / s->q_heads;
  s->dv = in[VALUE].shape.dims[2] / s->heads;
  s->n_decay = step_of (node, in, DECAY, s->heads);
  s->n_beta = step_of (node, in, BETA, 1);
  s->scale = axon_node_get_float (node, "scale");
  if (s->scale == 0)
    s->scale = 1 / sqrt ((gdouble)MAX (s->dk, 1));
  return check_sizes (node, in, s, error);
}

static gboolean
infer_linear_attention (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                        GError **error)
{
  Linear s;
  gboolean known = TRUE, past = axon_is_given (node, in, PAST);
  if (!check_rule (node, in, error))
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++)
    if (axon_is_given (node, in, i)) {
      if (!axon_check_rank (in, i, i == PAST ? 4 : 3, i == PAST ? 4 : 3, error))
        return FALSE;
      known &= axon_shape_is_static (&in[i].shape);
    }
  out[0] = (AxonTypeInfo){ in[0].dtype, AXON_SHAPE (-1, -1, -1), NULL };
  if (node->n_outputs > 1)
    out[1] = (AxonTypeInfo){ in[past ? PAST : 0].dtype, AXON_SHAPE (-1, -1, -1, -1), NULL };
  if (!known)
    return TRUE;
  if (!read_linear (node, in, &s, error))
    return FALSE;
  out[0].shape = AXON_SHAPE (s.batch, s.length, s.q_heads * s.dv);
  if (node->n_outputs > 1)
    out[1].shape = AXON_SHAPE (s.batch, s.heads, s.dk, s.dv);
  return TRUE;
}

/* S = exp (g) S + k (x) beta (v - S'k), of one head and step; g, beta NULL: left out. */
static void
update_state (const Linear *s, gdouble *state, const gdouble *k, const gdouble *v,
              const gdouble *decay, const gdouble *beta)
{
  gint64 each = s->n_decay == s->heads ? 0 : 1;
  for (gint64 i = 0; decay != NULL && i < s->dk; i++)
    for (gint64 j = 0; j < s->dv; j++)
      state[i * s->dv + j] *= exp (decay[i * each]);
  for (gint64 j = 0; j < s->dv; j++) {
    gdouble written = v[j];
    for (gint64 i = 0; beta != NULL && i < s->dk; i++)
      written -= state[i * s->dv + j] * k[i];
    written *= beta ? *beta : 1;
    for (gint64 i = 0; i < s->dk; i++)
      state[i * s->dv + j] += k[i] * written;
  }
}

static void
read_state (const Linear *s, const gdouble *state, const gdouble *q, gdouble *y)
{
  for (gint64 j = 0; j < s->dv; j++) {
    gdouble sum = 0;
    for (gint64 i = 0; i < s->dk; i++)
      sum += q[i] * state[i * s->dv + j];
    y[j] = s->scale * sum;
  }
}

/* All steps of one batch; x: query, key, value, -, decay, beta. */
static void
attend (const Linear *s, gdouble *const *x, gdouble *state, gdouble *y, gint64 batch)
{
  gint64 group = s->q_heads / s->heads;
  for (gint64 t = 0; t < s->length; t++) {
    gint64 at = batch * s->length + t;
    for (gint64 h = 0; h < s->heads; h++) {
      gdouble *own = state + (batch * s->heads + h) * s->dk * s->dv;
      const gdouble *decay = x[DECAY];
      const gdouble *beta = x[BETA] ? x[BETA] + at * s->n_beta + (s->n_beta == 1 ? 0 : h) : NULL;
      if (decay != NULL)
        decay += at * s->n_decay + (s->n_decay == s->heads ? h : h * s->dk);
      update_state (s, own, x[KEY] + (at * s->heads + h) * s->dk,
                    x[VALUE] + (at * s->heads + h) * s->dv, decay, beta);
      for (gint64 q = h * group; q < (h + 1) * group; q++)
        read_state (s, own, x[QUERY] + (at * s->q_heads + q) * s->dk,
                    y + (at * s->q_heads + q) * s->dv);
    }
  }
}

static gboolean
eval_linear_attention (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                       GError **error)
{
  gdouble *x[BETA + 1] = { NULL }, *state, *y;
  AxonTypeInfo infos[BETA + 1] = { 0 };
  Linear s;
  for (guint i = 0; i < node->n_inputs; i++)
    if (axon_operand (node, in, i) != NULL)
      infos[i] =
          (AxonTypeInfo){ axon_tensor_get_dtype (in[i]), *axon_tensor_get_shape (in[i]), NULL };
  if (!read_linear (node, infos, &s, error))
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++)
    x[i] = axon_operand (node, in, i) ? axon_load_doubles (in[i], error) : NULL;
  state = x[PAST] ? g_steal_pointer (&x[PAST])
                  : axon_scratch_new0 ((gsize)(s.batch * s.heads * s.dk * s.dv) + 1, sizeof *state,
                                       error);
  y = axon_scratch_new0 ((gsize)(s.batch * s.length * s.q_heads * s.dv) + 1, sizeof *y, error);
  for (gint64 b = 0; *error == NULL && b < s.batch; b++)
    attend (&s, x, state, y, b);
  if (*error == NULL)
    axon_store_doubles (out[0], y);
  if (*error == NULL && node->n_outputs > 1 && out[1] != NULL)
    axon_store_doubles (out[1], state);
  for (guint i = 0; i <= BETA; i++)
    axon_scratch_free (x[i]);
  axon_scratch_free (state);
  axon_scratch_free (y);
  return *error == NULL;
}

static const AxonOp rows[] = {
  {
      .name = "LinearAttention",
      .since = 27,
      .inputs = { 3, 6 },
      .outputs = { 1, 2 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 3,
      .attrs = ATTRS (REQUIRED ("q_num_heads", AXON_ATTR_INT),
                      REQUIRED ("kv_num_heads", AXON_ATTR_INT), ATTR_F ("scale", 0),
                      ATTR_S ("update_rule", "gated_delta"), ATTR_I ("chunk_size", 64)),
      .infer = infer_linear_attention,
      .eval = eval_linear_attention,
  },
};

DEFINE_FAMILY (linearattention, rows)
