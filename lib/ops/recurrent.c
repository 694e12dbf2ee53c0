/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LSTM (7, 14 with layout 0): gates in the order i, o, f, c. */
#include "ops-private.h"

#include <math.h>
#include <string.h>

static gboolean
infer_lstm (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const AxonShape *x = &in[0].shape, *r = &in[2].shape;
  const gchar *direction = axon_node_get_string (node, "direction");
  gint64 dirs = g_str_equal (direction, "bidirectional") ? 2 : 1, hidden;
  if (axon_node_find_attr (node, "activations") || axon_node_find_attr (node, "clip") ||
      axon_node_get_int (node, "input_forget") != 0 || axon_node_get_int (node, "layout") != 0)
    FAIL (UNSUPPORTED, "activations other than Sigmoid, Tanh, Tanh; clip; input_forget; layout 1");
  for (guint i = 0; i < node->n_outputs; i++)
    out[i].dtype = in[0].dtype;
  if (!axon_check_rank (in, 0, 3, 3, error) || !axon_check_rank (in, 1, 3, 3, error) ||
      !axon_check_rank (in, 2, 3, 3, error))
    return FALSE;
  if (x->rank < 0 || !axon_shape_is_static (r) || !axon_shape_is_static (&in[1].shape))
    return TRUE;
  hidden = r->dims[2];
  if (r->dims[0] != dirs || r->dims[1] != 4 * hidden || in[1].shape.dims[0] != dirs ||
      in[1].shape.dims[1] != 4 * hidden || (x->dims[2] >= 0 && in[1].shape.dims[2] != x->dims[2]))
    FAIL (MODEL, "W and R do not fit direction %s and hidden size %" G_GINT64_FORMAT, direction,
          hidden);
  if (node->n_inputs > 3 && in[3].dtype && axon_shape_is_static (&in[3].shape) &&
      axon_shape_get_numel (&in[3].shape) != dirs * 8 * hidden)
    FAIL (MODEL, "B must have %" G_GINT64_FORMAT " elements", dirs * 8 * hidden);
  for (guint i = 0; i < node->n_outputs; i++)
    out[i].shape = i == 0 ? AXON_SHAPE (x->dims[0], dirs, x->dims[1], hidden)
                          : AXON_SHAPE (dirs, x->dims[1], hidden);
  return TRUE;
}

static gdouble
sigmoid (gdouble x)
{
  return 1 / (1 + exp (-x));
}

typedef struct {
  gint64 steps, batch, input, hidden, dirs;
  gdouble *x, *w, *r, *b, *p, *h, *c, *y;
  const AxonTensor *lengths;
} Lstm;

/* One batch entry at one time step in direction @d. */
static void
lstm_step (Lstm *l, gint64 d, gint64 t, gint64 n, gdouble *gates)
{
  gint64 hs = l->hidden;
  const gdouble *x = l->x + (t * l->batch + n) * l->input;
  gdouble *h = l->h + (d * l->batch + n) * hs, *c = l->c + (d * l->batch + n) * hs;
  for (gint64 g = 0; g < 4 * hs; g++) {
    const gdouble *w = l->w + (d * 4 * hs + g) * l->input, *r = l->r + (d * 4 * hs + g) * hs;
    gdouble sum = l->b ? l->b[d * 8 * hs + g] + l->b[d * 8 * hs + 4 * hs + g] : 0;
    for (gint64 k = 0; k < l->input; k++)
      sum += w[k] * x[k];
    for (gint64 k = 0; k < hs; k++)
      sum += r[k] * h[k];
    gates[g] = sum;
  }
  for (gint64 k = 0; k < hs; k++) {
    const gdouble *p = l->p ? l->p + d * 3 * hs : NULL;
    gdouble i = sigmoid (gates[k] + (p ? p[k] * c[k] : 0));
    gdouble f = sigmoid (gates[2 * hs + k] + (p ? p[2 * hs + k] * c[k] : 0));
    gdouble cell = f * c[k] + i * tanh (gates[3 * hs + k]);
    gdouble o = sigmoid (gates[hs + k] + (p ? p[hs + k] * cell : 0));
    c[k] = cell;
    h[k] = o * tanh (cell);
  }
  memcpy (l->y + ((t * l->dirs + d) * l->batch + n) * hs, h, (gsize)hs * sizeof *h);
}

static gdouble *
load_or_zero (const AxonNode *node, AxonTensor *const *in, guint i, gint64 n)
{
  return i < node->n_inputs && in[i] ? axon_load_doubles (in[i]) : g_new0 (gdouble, (gsize)n + 1);
}

static gboolean
eval_lstm (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *xs = axon_tensor_get_shape (in[0]), *rs = axon_tensor_get_shape (in[2]);
  gboolean reverse = g_str_equal (axon_node_get_string (node, "direction"), "reverse");
  Lstm l = { .steps = xs->dims[0],
             .batch = xs->dims[1],
             .input = xs->dims[2],
             .hidden = rs->dims[2],
             .dirs = rs->dims[0] };
  gint64 state = l.dirs * l.batch * l.hidden;
  g_autofree gdouble *x = l.x = axon_load_doubles (in[0]);
  g_autofree gdouble *w = l.w = axon_load_doubles (in[1]);
  g_autofree gdouble *r = l.r = axon_load_doubles (in[2]);
  g_autofree gdouble *b = l.b = node->n_inputs > 3 && in[3] ? axon_load_doubles (in[3]) : NULL;
  g_autofree gdouble *h = l.h = load_or_zero (node, in, 5, state);
  g_autofree gdouble *c = l.c = load_or_zero (node, in, 6, state);
  g_autofree gdouble *p = l.p = node->n_inputs > 7 && in[7] ? axon_load_doubles (in[7]) : NULL;
  g_autofree gdouble *y = l.y = g_new0 (gdouble, (gsize)(l.steps * state) + 1);
  g_autofree gdouble *gates = g_new (gdouble, (gsize)(4 * l.hidden) + 1);
  for (gint64 n = 0; n < l.batch; n++) {
    gint64 steps = l.steps;
    if (node->n_inputs > 4 && in[4] != NULL)
      steps = (gint64)axon_tensor_get_value (in[4], (gsize)n);
    if (steps < 0 || steps > l.steps)
      FAIL (MODEL, "sequence length %" G_GINT64_FORMAT " is outside [0, %" G_GINT64_FORMAT "]",
            steps, l.steps);
    for (gint64 d = 0; d < l.dirs; d++)
      for (gint64 t = 0; t < steps; t++)
        lstm_step (&l, d, d == 1 || reverse ? steps - 1 - t : t, n, gates);
  }
  gdouble *results[] = { y, h, c };
  for (guint i = 0; i < node->n_outputs; i++)
    if (out[i] != NULL)
      axon_store_doubles (out[i], results[i]);
  return TRUE;
}

static const AxonOp rows[] = {
  { "LSTM", NULL, 7, 0, 3, 8, 1, 3, AXON_DTYPES_FLOAT, 3,
    ATTRS (ATTR_FLOATS ("activation_alpha"), ATTR_FLOATS ("activation_beta"),
           { .name = "activations", .type = AXON_ATTR_STRINGS }, ATTR_F ("clip", 0),
           ATTR_S ("direction", "forward"), ATTR_I ("hidden_size", 0), ATTR_I ("input_forget", 0),
           ATTR_I ("layout", 0)),
    infer_lstm, eval_lstm, AXON_OP_NONE },
};

DEFINE_FAMILY (recurrent, rows)
