/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RNN, GRU and LSTM (1, 3, 7, 14, 22): gates in ONNX's order (RNN: i; GRU: z, r, h; LSTM: i, o, f,
 * c). */
#include "ops-private.h"

#include <math.h>
#include <string.h>

typedef enum { RNN = 1, GRU = 3, LSTM = 4 } Kind; /* the number of gates */

static Kind
kind_of (const AxonNode *node)
{
  return node->op->name[0] == 'R' ? RNN : node->op->name[0] == 'G' ? GRU : LSTM;
}

/* Activations: f (alpha, beta, x). */
typedef gdouble (*Activation) (gdouble a, gdouble b, gdouble x);

/* clang-format off */
#define ACT(name, expr)                                                                            \
  static gdouble act_##name (G_GNUC_UNUSED gdouble a, G_GNUC_UNUSED gdouble b, gdouble x)          \
  {                                                                                                \
    return expr;                                                                                   \
  }
ACT (sigmoid, 1 / (1 + exp (-x)))
ACT (tanh, tanh (x))
ACT (relu, fmax (x, 0))
ACT (affine, a * x + b)
ACT (leaky_relu, x < 0 ? a * x : x)
ACT (thresholded_relu, x > a ? x : 0)
ACT (scaled_tanh, a * tanh (b * x))
ACT (hard_sigmoid, fmin (fmax (a * x + b, 0), 1))
ACT (elu, x < 0 ? a * (exp (x) - 1) : x)
ACT (softsign, x / (1 + fabs (x)))
ACT (softplus, log1p (exp (x)))
#undef ACT
/* clang-format on */

static const struct {
  const gchar *name;
  Activation func;
  gdouble a, b;
} activations[] = {
  { "Sigmoid", act_sigmoid, 0, 0 },
  { "Tanh", act_tanh, 0, 0 },
  { "Relu", act_relu, 0, 0 },
  { "Affine", act_affine, 1, 0 },
  { "LeakyRelu", act_leaky_relu, 0.01, 0 },
  { "ThresholdedRelu", act_thresholded_relu, 1, 0 },
  { "ScaledTanh", act_scaled_tanh, 1, 1 },
  { "HardSigmoid", act_hard_sigmoid, 0.2, 0.5 },
  { "Elu", act_elu, 1, 0 },
  { "Softsign", act_softsign, 0, 0 },
  { "Softplus", act_softplus, 0, 0 },
};

typedef struct {
  Activation func;
  gdouble a, b;
} Act;

/* Three per direction at most: names from the attribute or the operator's default. */
static gboolean
read_activations (const AxonNode *node, gint64 dirs, Act acts[2][3], GError **error)
{
  static const gchar *const defaults[] = { "Sigmoid", "Tanh", "Tanh" };
  Kind kind = kind_of (node);
  guint each = kind == LSTM ? 3 : kind == GRU ? 2 : 1, n = each * (guint)dirs, n_a, n_b;
  const AxonAttr *names = axon_node_find_attr (node, "activations");
  const gfloat *alpha = axon_node_get_floats (node, "activation_alpha", &n_a);
  const gfloat *beta = axon_node_get_floats (node, "activation_beta", &n_b);
  if (names != NULL && names->n != n)
    FAIL (MODEL, "activations: expected %u, got %u", n, names->n);
  for (guint i = 0; i < n; i++) {
    const gchar *name = names ? names->strings[i] : defaults[kind == RNN ? 1 : i % each];
    guint k = 0;
    while (k < G_N_ELEMENTS (activations) && g_ascii_strcasecmp (name, activations[k].name) != 0)
      k++;
    if (k == G_N_ELEMENTS (activations))
      FAIL (UNSUPPORTED, "activation \"%s\"", name);
    acts[i / each][i % each] =
        (Act){ activations[k].func, alpha && i < n_a ? (gdouble)alpha[i] : activations[k].a,
               beta && i < n_b ? (gdouble)beta[i] : activations[k].b };
  }
  return TRUE;
}

static gboolean
infer_recurrent (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const AxonShape *x = &in[0].shape, *w = &in[1].shape, *r = &in[2].shape;
  const gchar *direction = axon_node_get_string (node, "direction");
  gint64 dirs = g_str_equal (direction, "bidirectional") ? 2 : 1, gates = kind_of (node), hidden;
  gboolean batch_first = axon_node_get_int (node, "layout") != 0;
  Act acts[2][3];
  for (guint i = 0; i < node->n_outputs; i++)
    out[i].dtype = in[0].dtype;
  if (!axon_check_rank (in, 0, 3, 3, error) || !axon_check_rank (in, 1, 3, 3, error) ||
      !axon_check_rank (in, 2, 3, 3, error) || !read_activations (node, dirs, acts, error))
    return FALSE;
  if (x->rank < 0 || !axon_shape_is_static (r) || !axon_shape_is_static (w))
    return TRUE;
  hidden = r->dims[2];
  if (hidden > G_MAXINT32)
    FAIL (MODEL, "hidden size %" G_GINT64_FORMAT " is too large", hidden);
  if (r->dims[0] != dirs || r->dims[1] != gates * hidden || w->dims[0] != dirs ||
      w->dims[1] != gates * hidden || (x->dims[2] >= 0 && w->dims[2] != x->dims[2]))
    FAIL (MODEL, "W and R do not fit direction %s and hidden size %" G_GINT64_FORMAT, direction,
          hidden);
  if (axon_is_given (node, in, 3) && axon_shape_is_static (&in[3].shape) &&
      axon_shape_get_numel (&in[3].shape) != dirs * 2 * gates * hidden)
    FAIL (MODEL, "B must have %" G_GINT64_FORMAT " elements", dirs * 2 * gates * hidden);
  for (guint i = 0; i < node->n_outputs; i++)
    if (batch_first)
      out[i].shape = i == 0 ? AXON_SHAPE (x->dims[0], x->dims[1], dirs, hidden)
                            : AXON_SHAPE (x->dims[0], dirs, hidden);
    else
      out[i].shape = i == 0 ? AXON_SHAPE (x->dims[0], dirs, x->dims[1], hidden)
                            : AXON_SHAPE (dirs, x->dims[1], hidden);
  return TRUE;
}

typedef struct {
  Kind kind;
  gint64 steps, batch, input, hidden, dirs;
  gboolean batch_first, linear_before_reset, input_forget;
  gdouble clip;
  Act acts[2][3];
  const gdouble *x, *w, *r, *b, *p;
  gdouble *gates; /* scratch: W x + bias, then R h, per gate */
} Net;

static gdouble
activate (const Net *l, gint64 d, guint k, gdouble x)
{
  const Act *act = &l->acts[d][k];
  if (l->clip > 0)
    x = fmin (fmax (x, -l->clip), l->clip);
  return act->func (act->a, act->b, x);
}

/* One gate unit: W x + R h + both biases; GRU's h gate leaves R h to the caller. */
static gdouble
gate_sum (const Net *l, gint64 d, gint64 g, const gdouble *x, const gdouble *h)
{
  gint64 n = (gint64)l->kind * l->hidden;
  const gdouble *w = l->w + (d * n + g) * l->input, *r = l->r + (d * n + g) * l->hidden;
  gdouble sum = l->b ? l->b[d * 2 * n + g] + (h ? l->b[d * 2 * n + n + g] : 0) : 0;
  for (gint64 k = 0; k < l->input; k++)
    sum += w[k] * x[k];
  for (gint64 k = 0; h != NULL && k < l->hidden; k++)
    sum += r[k] * h[k];
  return sum;
}

static gdouble
recurrent_sum (const Net *l, gint64 d, gint64 g, const gdouble *h)
{
  gint64 n = (gint64)l->kind * l->hidden;
  const gdouble *r = l->r + (d * n + g) * l->hidden;
  gdouble sum = 0;
  for (gint64 k = 0; k < l->hidden; k++)
    sum += r[k] * h[k];
  return sum;
}

static void
lstm_step (const Net *l, gint64 d, const gdouble *x, gdouble *h, gdouble *c)
{
  gint64 hs = l->hidden;
  const gdouble *p = l->p ? l->p + d * 3 * hs : NULL, *g = l->gates;
  for (gint64 k = 0; k < 4 * hs; k++)
    l->gates[k] = gate_sum (l, d, k, x, h);
  for (gint64 k = 0; k < hs; k++) {
    gdouble i = activate (l, d, 0, g[k] + (p ? p[k] * c[k] : 0));
    gdouble f = l->input_forget
                    ? 1 - i
                    : activate (l, d, 0, g[2 * hs + k] + (p ? p[2 * hs + k] * c[k] : 0));
    gdouble cell = f * c[k] + i * activate (l, d, 1, g[3 * hs + k]);
    gdouble o = activate (l, d, 0, g[hs + k] + (p ? p[hs + k] * cell : 0));
    c[k] = cell;
    h[k] = o * activate (l, d, 2, cell);
  }
}

static void
gru_step (const Net *l, gint64 d, const gdouble *x, gdouble *h)
{
  gint64 hs = l->hidden, n = 3 * hs;
  gdouble *z = l->gates, *r = z + hs, *fresh = r + hs;
  for (gint64 k = 0; k < 2 * hs; k++)
    z[k] = activate (l, d, 0, gate_sum (l, d, k, x, h));
  for (gint64 k = 0; k < hs; k++) {
    gdouble bias = l->b ? l->b[d * 2 * n + n + 2 * hs + k] : 0;
    fresh[k] = gate_sum (l, d, 2 * hs + k, x, NULL);
    if (l->linear_before_reset)
      fresh[k] += r[k] * (recurrent_sum (l, d, 2 * hs + k, h) + bias);
    else
      fresh[k] += bias;
  }
  for (gint64 k = 0; !l->linear_before_reset && k < hs; k++)
    r[k] *= h[k];
  for (gint64 k = 0; k < hs; k++) {
    if (!l->linear_before_reset)
      fresh[k] += recurrent_sum (l, d, 2 * hs + k, r);
    fresh[k] = activate (l, d, 1, fresh[k]);
  }
  for (gint64 k = 0; k < hs; k++)
    h[k] = (1 - z[k]) * fresh[k] + z[k] * h[k];
}

static void
rnn_step (const Net *l, gint64 d, const gdouble *x, gdouble *h)
{
  for (gint64 k = 0; k < l->hidden; k++)
    l->gates[k] = activate (l, d, 0, gate_sum (l, d, k, x, h));
  memcpy (h, l->gates, (gsize)l->hidden * sizeof *h);
}

/* Where direction @d of batch entry @n keeps its state, in elements. */
static gint64
state_at (const Net *l, gint64 d, gint64 n)
{
  return (l->batch_first ? n * l->dirs + d : d * l->batch + n) * l->hidden;
}

static void
run_line (const Net *l, gint64 d, gint64 n, gint64 steps, gboolean backwards, gdouble *h,
          gdouble *c, gdouble *y)
{
  h += state_at (l, d, n);
  c += state_at (l, d, n);
  for (gint64 s = 0; s < steps; s++) {
    gint64 t = backwards ? steps - 1 - s : s;
    const gdouble *x = l->x + (l->batch_first ? n * l->steps + t : t * l->batch + n) * l->input;
    gint64 at =
        l->batch_first ? (n * l->steps + t) * l->dirs + d : (t * l->dirs + d) * l->batch + n;
    if (l->kind == LSTM)
      lstm_step (l, d, x, h, c);
    else if (l->kind == GRU)
      gru_step (l, d, x, h);
    else
      rnn_step (l, d, x, h);
    memcpy (y + at * l->hidden, h, (gsize)l->hidden * sizeof *h);
  }
}

static gdouble *
load_state (const AxonNode *node, AxonTensor *const *in, guint i, gint64 n, GError **error)
{
  AxonTensor *t = axon_operand (node, in, i);
  return t && (gint64)axon_tensor_get_numel (t) == n
             ? axon_load_doubles (t, error)
             : axon_scratch_new0 ((gsize)n + 1, sizeof (gdouble), error);
}

static gdouble *
load_optional (const AxonNode *node, AxonTensor *const *in, guint i, GError **error)
{
  AxonTensor *t = axon_operand (node, in, i);
  return t ? axon_load_doubles (t, error) : NULL;
}

static Net
read_net (const AxonNode *node, AxonTensor *const *in)
{
  const AxonShape *xs = axon_tensor_get_shape (in[0]), *rs = axon_tensor_get_shape (in[2]);
  gboolean batch_first = axon_node_get_int (node, "layout") != 0;
  return (Net){ .kind = kind_of (node),
                .steps = xs->dims[batch_first ? 1 : 0],
                .batch = xs->dims[batch_first ? 0 : 1],
                .input = xs->dims[2],
                .hidden = rs->dims[2],
                .dirs = rs->dims[0],
                .batch_first = batch_first,
                .linear_before_reset = axon_node_get_int (node, "linear_before_reset") != 0,
                .input_forget = axon_node_get_int (node, "input_forget") != 0,
                .clip = axon_node_get_float (node, "clip") };
}

static gboolean
eval_recurrent (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  gboolean reverse = g_str_equal (axon_node_get_string (node, "direction"), "reverse");
  AxonTensor *lengths = axon_operand (node, in, 4);
  Net l = read_net (node, in);
  gint64 state = l.dirs * l.batch * l.hidden;
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error),
                            *w = axon_load_doubles (in[1], error);
  AXON_AUTO_SCRATCH gdouble *r = axon_load_doubles (in[2], error),
                            *b = load_optional (node, in, 3, error);
  AXON_AUTO_SCRATCH gdouble *h = load_state (node, in, 5, state, error);
  AXON_AUTO_SCRATCH gdouble *c = load_state (node, in, 6, state, error);
  AXON_AUTO_SCRATCH gdouble *p = load_optional (node, in, 7, error);
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new0 ((gsize)(l.steps * state) + 1, sizeof (gdouble), error);
  AXON_AUTO_SCRATCH gdouble *gates =
      axon_scratch_new ((gsize)(4 * l.hidden) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  if (!read_activations (node, l.dirs, l.acts, error))
    return FALSE;
  if (p != NULL && (gint64)axon_tensor_get_numel (in[7]) != l.dirs * 3 * l.hidden)
    FAIL (MODEL, "P must have %" G_GINT64_FORMAT " elements", l.dirs * 3 * l.hidden);
  if (lengths != NULL && (gint64)axon_tensor_get_numel (lengths) != l.batch)
    FAIL (MODEL, "sequence_lens must have %" G_GINT64_FORMAT " elements", l.batch);
  l.x = x;
  l.w = w;
  l.r = r;
  l.b = b;
  l.p = p;
  l.gates = gates;
  for (gint64 n = 0; n < l.batch; n++) {
    gint64 steps = lengths ? axon_int_at (lengths, (gsize)n) : l.steps;
    if (steps < 0 || steps > l.steps)
      FAIL (MODEL, "sequence length %" G_GINT64_FORMAT " is outside [0, %" G_GINT64_FORMAT "]",
            steps, l.steps);
    for (gint64 d = 0; d < l.dirs && !axon_work_is_cancelled (); d++)
      run_line (&l, d, n, steps, d == 1 || reverse, h, c, y);
  }
  gdouble *results[] = { y, h, c };
  for (guint i = 0; i < node->n_outputs; i++)
    if (out[i] != NULL)
      axon_store_doubles (out[i], results[i]);
  return TRUE;
}

#define F AXON_DTYPES_FLOAT
#define SHARED                                                                                     \
  ATTR_FLOATS ("activation_alpha"), ATTR_FLOATS ("activation_beta"),                               \
      ATTR ("activations", AXON_ATTR_STRINGS), ATTR_F ("clip", 0),                                 \
      ATTR_S ("direction", "forward"), ATTR_I ("hidden_size", 0), ATTR_I ("layout", 0),            \
      ATTR_I ("output_sequence", 0)

static const AxonOp rows[] = {
  {
      .name = "RNN",
      .since = 1,
      .inputs = { 3, 6 },
      .operands = "...xix",
      .outputs = { 0, 2 },
      .types = F,
      .same_type_inputs = 3,
      .attrs = ATTRS (SHARED),
      .infer = infer_recurrent,
      .eval = eval_recurrent,
  },
  {
      .name = "GRU",
      .since = 1,
      .inputs = { 3, 6 },
      .operands = "...xix",
      .outputs = { 0, 2 },
      .types = F,
      .same_type_inputs = 3,
      .attrs = ATTRS (SHARED, ATTR_I ("linear_before_reset", 0)),
      .infer = infer_recurrent,
      .eval = eval_recurrent,
  },
  {
      .name = "LSTM",
      .since = 1,
      .inputs = { 3, 8 },
      .operands = "...xixxx",
      .outputs = { 0, 3 },
      .types = F,
      .same_type_inputs = 3,
      .attrs = ATTRS (SHARED, ATTR_I ("input_forget", 0)),
      .infer = infer_recurrent,
      .eval = eval_recurrent,
  },
};

DEFINE_FAMILY (recurrent, rows)
