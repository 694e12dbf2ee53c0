/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What dynamic quantisation writes in place of a product becomes one node: ConvInteger, Cast to
 * f32, Mul by x_scale * w_scale and Add of a bias a ConvIntegerToFloat; with MatMulInteger a
 * MatMulIntegerToFloat. Weights, their scales and the bias are constants; x_scale may be known only
 * at run time. */
#include "parts-private.h"

/* The nodes of a chain, and what they add. */
typedef struct {
  AxonNode *product, *cast, *mul, *add; /* add may be NULL */
  AxonNode *scales;                     /* Mul of x_scale and w_scale; NULL: a constant */
  AxonValue *x_scale, *w_scale, *bias;  /* x_scale NULL: 1; bias may be NULL */
  gint64 channels;
  gint axis; /* of the channels in the result */
} Chain;

/* A constant for the whole result, or one value for each of its channels. */
static gboolean
lies_along_channels (const Chain *c, const AxonValue *value)
{
  const AxonShape *shape = &value->type.shape;
  gint rank = c->product->outputs[0]->type.shape.rank, from = rank - shape->rank;
  if (!axon_value_is_constant (value) || value->type.dtype != AXON_DTYPE_F32 || from < 0)
    return FALSE;
  for (gint d = 0; d < shape->rank; d++)
    if (shape->dims[d] != 1 && (from + d != c->axis || shape->dims[d] != c->channels))
      return FALSE;
  return TRUE;
}

static gboolean
is_one_number (const AxonValue *value)
{
  return value->type.dtype == AXON_DTYPE_F32 && value->type.shape.rank >= 0 &&
         value->type.shape.rank <= 1 && axon_shape_get_numel (&value->type.shape) == 1;
}

static gboolean
match_scales (Chain *c, AxonValue *scale)
{
  AxonNode *mul = scale->producer;
  if (lies_along_channels (c, scale)) {
    c->w_scale = scale;
    return TRUE;
  }
  if (mul == NULL || !axon_node_is (mul, "Mul"))
    return FALSE;
  for (guint i = 0; i < 2; i++)
    if (lies_along_channels (c, mul->inputs[i]) && is_one_number (mul->inputs[1 - i])) {
      c->scales = mul;
      c->w_scale = mul->inputs[i];
      c->x_scale = mul->inputs[1 - i];
      return TRUE;
    }
  return FALSE;
}

static void
match_bias (Chain *c)
{
  AxonNode *add = axon_match_only_user (c->mul->outputs[0], "Add");
  AxonValue *bias = add ? axon_node_get_other (add, c->mul->outputs[0]) : NULL;
  if (bias == NULL || !lies_along_channels (c, bias))
    return;
  c->add = add;
  c->bias = bias;
}

static gboolean
has_one_or (const AxonNode *node, guint index, gint64 n)
{
  const AxonValue *value = axon_node_get_input (node, index);
  gint64 count = value ? axon_shape_get_numel (&value->type.shape) : 1;
  return count == 1 || count == n;
}

static gboolean
match (AxonNode *product, gboolean conv, Chain *c)
{
  const AxonShape *w = &product->inputs[1]->type.shape;
  AxonValue *y = product->outputs[0];
  *c = (Chain){ .product = product, .axis = conv ? 1 : y->type.shape.rank - 1 };
  if (!axon_value_is_constant (product->inputs[1]) || w->rank < 2 || y->type.shape.rank < 2)
    return FALSE;
  c->channels = w->dims[conv ? 0 : w->rank - 1];
  c->cast = axon_match_only_user (y, "Cast");
  c->mul = c->cast ? axon_match_only_user (c->cast->outputs[0], "Mul") : NULL;
  if (c->mul == NULL || c->cast->outputs[0]->type.dtype != AXON_DTYPE_F32 ||
      !has_one_or (product, 2, 1) || !has_one_or (product, 3, c->channels) ||
      !match_scales (c, axon_node_get_other (c->mul, c->cast->outputs[0])))
    return FALSE;
  match_bias (c);
  return TRUE;
}

/* @value as [n]; one number is repeated if @n asks for more. */
static AxonValue *
add_vector (AxonModel *model, const AxonValue *value, gint64 n)
{
  AxonShape shape = AXON_SHAPE (n);
  g_autoptr (AxonTensor) out = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  gfloat *v = axon_tensor_get_data (out);
  gsize given = axon_tensor_get_numel (value->type.value);
  for (gsize i = 0; i < (gsize)n; i++)
    v[i] = (gfloat)axon_tensor_get_value (value->type.value, given > 1 ? i : 0);
  return axon_model_add_constant (model, NULL, out);
}

static void
fuse (AxonModel *model, const Chain *c, gboolean conv)
{
  AxonNode *last = c->add ? c->add : c->mul, *node,
           *parts[] = { c->cast, c->scales, c->mul, c->add };
  AxonValue *y = last->outputs[0];
  gint64 n_scales = (gint64)axon_tensor_get_numel (c->w_scale->type.value);
  AxonValue *in[] = { c->product->inputs[0],
                      c->product->inputs[1],
                      c->x_scale ? c->x_scale : axon_pass_add_scalar (model, AXON_DTYPE_F32, 1),
                      add_vector (model, c->w_scale, n_scales),
                      axon_node_get_input (c->product, 2),
                      axon_node_get_input (c->product, 3),
                      c->bias ? add_vector (model, c->bias, c->channels) : NULL };
  axon_node_set_output (last, 0, NULL);
  node = axon_pass_add_node (model, c->product, conv ? AXON_DOMAIN_AXON : AXON_DOMAIN_MICROSOFT,
                             conv ? "ConvIntegerToFloat" : "MatMulIntegerToFloat", 1, in,
                             c->bias ? 7 : 6, y);
  axon_pass_copy_attrs (node, c->product);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i] != NULL)
      axon_node_add_origins (node, parts[i]);
  axon_model_remove_node (model, last);
}

gboolean
axon_pass_fuse_dynamic_quantization (AxonModel *model, GError **error)
{
  gboolean changed = FALSE;
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    gboolean conv = axon_node_is (node, "ConvInteger");
    Chain chain;
    if ((!conv && !axon_node_is (node, "MatMulInteger")) || !match (node, conv, &chain))
      continue;
    fuse (model, &chain, conv);
    changed = TRUE;
  }
  return !changed || (axon_model_sort (model, error) && axon_pass_remove_dead_code (model, error) &&
                      axon_model_infer_shapes (model, error));
}
