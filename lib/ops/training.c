/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Steps of optimisers, domain ai.onnx.preview.training (1): Adagrad (Duchi et al. 2011), Adam
 * (Kingma and Ba 2014), Momentum (Polyak 1964; Nesterov 1983). Inputs: the learning rate, the
 * update count, then tensors, gradients and states, as many of each. */
#include "ops-private.h"

#include <math.h>

#define DOMAIN "ai.onnx.preview.training"

static guint
states_of (const AxonNode *node)
{
  return g_str_equal (node->op->name, "Adam") ? 2 : 1;
}

static gboolean
infer_step (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  guint groups = 2 + states_of (node), n = (node->n_inputs - 2) / groups;
  if ((node->n_inputs - 2) % groups != 0 || node->n_outputs != n * (groups - 1))
    FAIL (MODEL, "%u inputs and %u outputs are not tensors, gradients and states", node->n_inputs,
          node->n_outputs);
  for (guint i = 2; i < node->n_inputs; i++) {
    guint first = 2 + (i - 2) % n;
    if (in[i].dtype != in[first].dtype ||
        (axon_shape_is_static (&in[i].shape) && axon_shape_is_static (&in[first].shape) &&
         !axon_shape_equal (&in[i].shape, &in[first].shape)))
      FAIL (MODEL, "input %u differs from its tensor in type or shape", i);
  }
  for (guint i = 0; i < node->n_outputs; i++) {
    out[i].dtype = in[2 + i % n].dtype;
    out[i].shape = in[2 + i % n].shape;
  }
  return TRUE;
}

typedef struct {
  gdouble rate, count, norm, alpha, beta, epsilon;
  gboolean nesterov;
} Step;

static gdouble
adagrad (const AxonNode *node, const Step *s, gdouble x, gdouble g, gdouble *h)
{
  gdouble rate = s->rate / (1 + s->count * axon_node_get_float (node, "decay_factor"));
  g += s->norm * x;
  h[0] += g * g;
  return x - rate * g / (sqrt (h[0]) + s->epsilon);
}

static gdouble
adam (const AxonNode *node, const Step *s, gdouble x, gdouble g, gdouble *h)
{
  gdouble post = axon_node_get_float (node, "norm_coefficient_post"), rate = s->rate;
  g += s->norm * x;
  h[0] = s->alpha * h[0] + (1 - s->alpha) * g;
  h[1] = s->beta * h[1] + (1 - s->beta) * g * g;
  if (s->count > 0)
    rate *= sqrt (1 - pow (s->beta, s->count)) / (1 - pow (s->alpha, s->count));
  return (1 - post) * (x - rate * h[0] / (sqrt (h[1]) + s->epsilon));
}

static gdouble
momentum (G_GNUC_UNUSED const AxonNode *node, const Step *s, gdouble x, gdouble g, gdouble *h)
{
  g += s->norm * x;
  h[0] = s->alpha * h[0] + (s->count > 0 ? s->beta : 1) * g;
  return x - s->rate * (s->nesterov ? g + s->alpha * h[0] : h[0]);
}

typedef gdouble (*UpdateFunc) (const AxonNode *node, const Step *step, gdouble x, gdouble g,
                               gdouble *h);

static gboolean
eval_step (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, UpdateFunc update,
           GError **error)
{
  guint n_states = states_of (node), n = (node->n_inputs - 2) / (2 + n_states);
  const gchar *mode = axon_node_get_string (node, "mode");
  if (!axon_check_scalar (in[0], 0, error) || !axon_check_scalar (in[1], 1, error))
    return FALSE;
  Step step = { .rate = axon_tensor_get_value (in[0], 0),
                .count = axon_tensor_get_value (in[1], 0),
                .norm = axon_node_get_float (node, "norm_coefficient"),
                .alpha = axon_node_get_float (node, "alpha"),
                .beta = axon_node_get_float (node, "beta"),
                .epsilon = axon_node_get_float (node, "epsilon"),
                .nesterov = mode && g_str_equal (mode, "nesterov") };
  for (guint t = 0; t < n; t++) {
    AxonTensor *const *x = in + 2 + t;
    for (gsize i = 0; i < axon_tensor_get_numel (x[0]) && WANTED (i); i++) {
      gdouble h[2] = { 0 }, y;
      for (guint k = 0; k < n_states; k++)
        h[k] = axon_tensor_get_value (x[(2 + k) * n], i);
      y = update (node, &step, axon_tensor_get_value (x[0], i), axon_tensor_get_value (x[n], i), h);
      for (guint k = 0; k <= n_states; k++)
        if (out[t + k * n] != NULL)
          axon_dtype_store (axon_tensor_get_dtype (out[t + k * n]),
                            axon_tensor_get_data (out[t + k * n]), i, k ? h[k - 1] : y);
    }
  }
  return TRUE;
}

#define EVAL(name)                                                                                 \
  static gboolean eval_##name (const AxonNode *node, AxonTensor *const *in,                        \
                               AxonTensor *const *out, GError **error)                             \
  {                                                                                                \
    return eval_step (node, in, out, name, error);                                                 \
  }
EVAL (adagrad)
EVAL (adam)
EVAL (momentum)

#define NORM_COEFFICIENT ATTR_F ("norm_coefficient", 0)
#define STEP                                                                                       \
  .domain = DOMAIN, .since = 1, .inputs = { 3, AXON_VARIADIC }, .operands = "FL+.",                \
  .outputs = { 1, AXON_VARIADIC }, .types = AXON_DTYPES_FLOAT, .same_type_inputs = 1,              \
  .infer = infer_step

static const AxonOp rows[] = {
  { STEP, .name = "Adagrad",
    .attrs = ATTRS (NORM_COEFFICIENT, ATTR_F ("decay_factor", 0), ATTR_F ("epsilon", 1e-6)),
    .eval = eval_adagrad },
  { STEP, .name = "Adam",
    .attrs = ATTRS (NORM_COEFFICIENT, ATTR_F ("alpha", 0.9), ATTR_F ("beta", 0.999),
                    ATTR_F ("epsilon", 1e-6), ATTR_F ("norm_coefficient_post", 0)),
    .eval = eval_adam },
  { STEP, .name = "Momentum",
    .attrs = ATTRS (NORM_COEFFICIENT, ATTR_F ("alpha", 0), ATTR_F ("beta", 0), ATTR_S ("mode", "")),
    .eval = eval_momentum },
};

DEFINE_FAMILY (training, rows)
