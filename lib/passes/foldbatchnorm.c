/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BatchNormalization, and Mul/Add by a per-channel constant, into the convolution before it:
 * y = s * conv (x, W) + t has weights s * W and bias s * b + t (Jacob et al.,
 * arXiv:1712.05877, 3.2). */
#include <axon/plugin/axonpass.h>

#include <math.h>

/* y = scale * x + shift per channel */
typedef struct {
  gdouble *scale, *shift;
  gint64 n;
} Affine;

static void
affine_clear (Affine *a)
{
  g_free (a->scale);
  g_free (a->shift);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Affine, affine_clear)

static gdouble
at (const AxonValue *value, gint64 i)
{
  gsize n = axon_tensor_get_numel (value->type.value);
  return axon_tensor_get_value (value->type.value, n == 1 ? 0 : (gsize)i);
}

/* A constant that varies along dimension 1 only, over @channels or as a scalar. */
static gboolean
is_per_channel (const AxonValue *value, gint64 channels, gint rank)
{
  const AxonShape *s;
  if (!axon_value_is_constant (value) || !axon_dtype_is_float (value->type.dtype))
    return FALSE;
  s = &value->type.shape;
  if (axon_shape_get_numel (s) == 1)
    return s->rank <= rank;
  return axon_shape_get_numel (s) == channels && (s->rank == rank || s->rank == rank - 1) &&
         s->dims[s->rank - rank + 1] == channels;
}

static gboolean
affine_of_batch_norm (const AxonNode *node, Affine *a)
{
  for (guint i = 1; i < 5; i++)
    if (!axon_value_is_constant (node->inputs[i]))
      return FALSE;
  for (gint64 c = 0; c < a->n; c++) {
    gdouble variance = at (node->inputs[4], c) + axon_node_get_float (node, "epsilon");
    a->scale[c] = at (node->inputs[1], c) / sqrt (variance);
    a->shift[c] = at (node->inputs[2], c) - at (node->inputs[3], c) * a->scale[c];
  }
  return TRUE;
}

static gboolean
affine_of_node (const AxonNode *node, const AxonValue *x, Affine *a)
{
  const AxonValue *other;
  gboolean mul = axon_node_is (node, "Mul"), add = axon_node_is (node, "Add");
  if (axon_node_is (node, "BatchNormalization"))
    return node->inputs[0] == x && axon_node_get_int (node, "training_mode") == 0 &&
           affine_of_batch_norm (node, a);
  if (!mul && !add)
    return FALSE;
  other = node->inputs[node->inputs[0] == x ? 1 : 0];
  if (!is_per_channel (other, a->n, x->type.shape.rank))
    return FALSE;
  for (gint64 c = 0; c < a->n; c++) {
    a->scale[c] = mul ? at (other, c) : 1;
    a->shift[c] = mul ? 0 : at (other, c);
  }
  return TRUE;
}

/* Elements @begin to @end of @from, by @factor, into @to. */
static void
scale_elements (const AxonTensor *from, AxonTensor *to, gsize begin, gsize end, gdouble factor)
{
  AxonDType dtype = axon_tensor_get_dtype (from);
  gpointer y = axon_tensor_get_data (to);
  gconstpointer x = axon_tensor_get_data (from);
  if (dtype == AXON_DTYPE_F32) /* what models have, and millions of it */
    for (gsize i = begin; i < end; i++)
      ((gfloat *)y)[i] = (gfloat)((gdouble)((const gfloat *)x)[i] * factor);
  else
    for (gsize i = begin; i < end; i++)
      axon_dtype_store (dtype, y, i, axon_dtype_load (dtype, x, i) * factor);
}

/* The output channel is dimension 0 for Conv, group and dimension 1 for transposed. */
static void
scale_weights (const AxonNode *conv, const AxonTensor *w, const gdouble *scale, AxonTensor *scaled)
{
  const AxonShape *s = axon_tensor_get_shape (w);
  gsize n = axon_tensor_get_numel (w), first = (gsize)s->dims[0], second = (gsize)s->dims[1];
  gboolean transposed = !axon_node_is (conv, "Conv");
  gsize per_group = transposed ? first / (gsize)axon_node_get_int (conv, "group") : first;
  gsize n_runs = n == 0 ? 0 : transposed ? first * second : first;
  for (gsize r = 0; r < n_runs; r++) {
    gsize channel = transposed ? r / second / per_group * second + r % second : r;
    scale_elements (w, scaled, r * (n / n_runs), (r + 1) * (n / n_runs), scale[channel]);
  }
}

static gboolean
apply (AxonModel *model, AxonNode *conv, const Affine *a, GError **error)
{
  const AxonTensor *w = conv->inputs[1]->type.value;
  AxonDType dtype = axon_tensor_get_dtype (w);
  AxonShape bias_shape = AXON_SHAPE (a->n);
  g_autoptr (AxonTensor) weights = axon_tensor_new (dtype, axon_tensor_get_shape (w), error);
  g_autoptr (AxonTensor) bias = axon_tensor_new (dtype, &bias_shape, error);
  AxonValue *old = axon_node_get_input (conv, 2);
  if (weights == NULL || bias == NULL)
    return FALSE;
  scale_weights (conv, w, a->scale, weights);
  for (gint64 c = 0; c < a->n; c++)
    axon_dtype_store (dtype, axon_tensor_get_data (bias), (gsize)c,
                      (old ? at (old, c) * a->scale[c] : 0) + a->shift[c]);
  axon_node_set_input (conv, 1, axon_model_add_constant (model, NULL, weights));
  if (conv->n_inputs < 3)
    axon_node_append_input (conv, NULL);
  axon_node_set_input (conv, 2, axon_model_add_constant (model, NULL, bias));
  return TRUE;
}

static gboolean
is_fusible_conv (const AxonNode *node)
{
  const AxonValue *bias = axon_node_get_input (node, 2);
  return (axon_node_is (node, "Conv") || axon_node_is (node, "ConvTranspose")) &&
         axon_value_is_constant (node->inputs[1]) &&
         (bias == NULL || axon_value_is_constant (bias)) &&
         node->outputs[0]->type.shape.rank >= 3 && node->outputs[0]->type.shape.dims[1] > 0;
}

static gboolean
fold_into (AxonModel *model, AxonNode *conv, gboolean *folded, GError **error)
{
  AxonValue *y = conv->outputs[0];
  AxonNode *user = axon_match_only_user (y, NULL);
  g_auto (Affine) a = { .n = y->type.shape.dims[1] };
  *folded = FALSE;
  if (user == NULL)
    return TRUE;
  a.scale = g_new0 (gdouble, (gsize)a.n);
  a.shift = g_new0 (gdouble, (gsize)a.n);
  if (!affine_of_node (user, y, &a))
    return TRUE;
  if (!apply (model, conv, &a, error))
    return FALSE;
  if (user->inputs[0] != y) { /* constant * conv: put the convolution first, then bypass */
    axon_node_set_input (user, 0, y);
  }
  axon_bypass_node (model, user, conv);
  *folded = TRUE;
  return TRUE;
}

gboolean
axon_pass_fold_batch_norm (AxonModel *model, GError **error)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    gboolean folded = is_fusible_conv (node);
    while (folded)
      if (!fold_into (model, node, &folded, error))
        return FALSE;
  }
  return TRUE;
}
