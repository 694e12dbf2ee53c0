/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Float operators of ONNX Runtime's domain com.microsoft that exported vision models carry
 * (onnxruntime docs/ContribOperators.md): FusedConv, Gelu, BiasGelu, FastGelu, QuickGelu. The pass
 * expand-contrib makes ordinary operators of them. */
#include "axoncontrib.h"
#include "ops-private.h"

#include <math.h>

/* FusedConv: X, W, B, Z; y = activation (conv (X, W) + B + Z) */
static gboolean
infer_fused_conv (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  AxonNode plain = *node;
  plain.n_inputs = MIN (node->n_inputs, 3);
  if (axon_contrib_activation (node) == AXON_N_CONTRIB_ACTIVATIONS)
    FAIL (UNSUPPORTED, "activation \"%s\"", axon_node_get_string (node, "activation"));
  if (!axon_infer_conv (&plain, in, out, error))
    return FALSE;
  if (axon_is_given (node, in, 3) && axon_shape_is_static (&in[3].shape) &&
      axon_shape_is_static (&out[0].shape) && !axon_shape_equal (&in[3].shape, &out[0].shape))
    FAIL (MODEL, "Z has another shape than the result");
  return TRUE;
}

static const gchar *const activations[AXON_N_CONTRIB_ACTIVATIONS] = {
  "", "Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid",
};

/* AXON_N_CONTRIB_ACTIVATIONS: unknown */
guint
axon_contrib_activation (const AxonNode *node)
{
  const gchar *name = axon_node_get_string (node, "activation");
  guint i = 0;
  while (i < AXON_N_CONTRIB_ACTIVATIONS && g_strcmp0 (name ? name : "", activations[i]) != 0)
    i++;
  return i;
}

const gchar *
axon_contrib_activation_name (guint activation)
{
  return activations[activation];
}

/* @a and @b: activation_params, or the operator's defaults. */
void
axon_contrib_params (const AxonNode *node, guint activation, gdouble *a, gdouble *b)
{
  static const gdouble defaults[AXON_N_CONTRIB_ACTIVATIONS][2] = {
    { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0.01, 0 }, { -3.4e38, 3.4e38 }, { 0.2, 0.5 },
  };
  guint n;
  const gfloat *given = axon_node_get_floats (node, "activation_params", &n);
  *a = given && n > 0 ? (gdouble)given[0] : defaults[activation][0];
  *b = given && n > 1 ? (gdouble)given[1] : defaults[activation][1];
}

static gdouble
activate (guint activation, gdouble v, gdouble a, gdouble b)
{
  switch (activation) {
  case 1:
    return fmax (v, 0);
  case 2:
    return tanh (v);
  case 3:
    return 1 / (1 + exp (-v));
  case 4:
    return v < 0 ? a * v : v;
  case 5:
    return fmin (fmax (v, a), b);
  case 6:
    return fmin (fmax (a * v + b, 0), 1);
  default:
    return v;
  }
}

static gboolean
eval_fused_conv (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                 GError **error)
{
  AxonTensor *bias = axon_operand (node, in, 2), *sum = axon_operand (node, in, 3);
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error),
                            *k = axon_load_doubles (in[1], error);
  AXON_AUTO_SCRATCH gdouble *b = bias ? axon_load_doubles (bias, error) : NULL;
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new0 (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  guint activation = axon_contrib_activation (node);
  gdouble p, q;
  axon_contrib_params (node, activation, &p, &q);
  if (!axon_conv_doubles (node, x, axon_tensor_get_shape (in[0]), k, axon_tensor_get_shape (in[1]),
                          b, y, error))
    return FALSE;
  for (gsize i = 0; i < axon_tensor_get_numel (out[0]) && WANTED (i); i++)
    y[i] = activate (activation, y[i] + (sum ? axon_tensor_get_value (sum, i) : 0), p, q);
  axon_store_doubles (out[0], y);
  return TRUE;
}

/* A bias may follow the input and lies along its last dimension. */
static gboolean
infer_gelu (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const AxonShape *x = &in[0].shape;
  if (axon_is_given (node, in, 1) && x->rank > 0 && axon_shape_is_static (&in[1].shape) &&
      x->dims[x->rank - 1] >= 0 && axon_shape_get_numel (&in[1].shape) != x->dims[x->rank - 1])
    FAIL (MODEL, "the bias has %" G_GINT64_FORMAT " elements, the last dimension %" G_GINT64_FORMAT,
          axon_shape_get_numel (&in[1].shape), x->dims[x->rank - 1]);
  return axon_infer_same (node, in, out, error);
}

static gdouble
gelu (gdouble v)
{
  return 0.5 * v * (1 + erf (v / G_SQRT2));
}

static gdouble
fast_gelu (gdouble v)
{
  return 0.5 * v * (1 + tanh (sqrt (2 / G_PI) * (v + 0.044715 * v * v * v)));
}

static gboolean
eval_with_bias (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                gdouble (*func) (gdouble), GError **error)
{
  AxonTensor *bias = axon_operand (node, in, 1);
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  gsize n = bias ? axon_tensor_get_numel (bias) : 1;
  for (gsize i = 0; i < axon_tensor_get_numel (in[0]) && WANTED (i); i++)
    x[i] = func (x[i] + (bias ? axon_tensor_get_value (bias, i % n) : 0));
  axon_store_doubles (out[0], x);
  return TRUE;
}

static gboolean
eval_gelu (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  return eval_with_bias (node, in, out, gelu, error);
}

static gboolean
eval_fast_gelu (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  return eval_with_bias (node, in, out, fast_gelu, error);
}

static gboolean
eval_quick_gelu (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                 GError **error)
{
  gdouble alpha = axon_node_get_float (node, "alpha");
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  for (gsize i = 0; i < axon_tensor_get_numel (in[0]) && WANTED (i); i++)
    x[i] /= 1 + exp (-alpha * x[i]);
  axon_store_doubles (out[0], x);
  return TRUE;
}

#define MS AXON_DOMAIN_MICROSOFT
#define F AXON_DTYPES_FLOAT

static const AxonOp rows[] = {
  {
      .name = "FusedConv",
      .domain = MS,
      .since = 1,
      .inputs = { 2, 4 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 4,
      .attrs = ATTRS (ATTR_S ("auto_pad", "NOTSET"), ATTR_I ("group", 1), ATTR_INTS ("dilations"),
                      ATTR_INTS ("kernel_shape"), ATTR_INTS ("pads"), ATTR_INTS ("strides"),
                      ATTR_S ("activation", ""), ATTR_FLOATS ("activation_params")),
      .infer = infer_fused_conv,
      .eval = eval_fused_conv,
  },
  {
      .name = "Gelu",
      .domain = MS,
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 1,
      .infer = infer_gelu,
      .eval = eval_gelu,
  },
  {
      .name = "BiasGelu",
      .domain = MS,
      .since = 1,
      .inputs = { 2, 2 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 2,
      .infer = infer_gelu,
      .eval = eval_gelu,
  },
  {
      .name = "FastGelu",
      .domain = MS,
      .since = 1,
      .inputs = { 1, 2 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 2,
      .infer = infer_gelu,
      .eval = eval_fast_gelu,
  },
  {
      .name = "QuickGelu",
      .domain = MS,
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_F ("alpha", 1.702)),
      .infer = infer_gelu,
      .eval = eval_quick_gelu,
  },
};

DEFINE_FAMILY (contrib, rows)
