/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What models before operator set 17 write for LayerNormalization (Ba, Kiros, Hinton 2016), and
 * before 23 for RMSNormalization (Zhang, Sennrich 2019), becomes one node:
 * d / sqrt (mean (d^2) + epsilon) * scale + bias, with d = x - mean (x), or d = x. */
#include "parts-private.h"

#define LAYER_OPSET 17
#define RMS_OPSET 23

typedef struct {
  AxonParts parts;
  AxonValue *x, *scale, *bias;
  gint axis; /* the first one that is reduced */
  gdouble epsilon;
  gboolean centred;
} Norm;

/* 0: there are none, or they are not known. */
static guint
read_axes (const AxonNode *reduce, gint64 *axes)
{
  const AxonValue *input = axon_node_get_input (reduce, 1);
  const gint64 *given = NULL;
  guint n = 0;
  if (axon_node_has_form (reduce, AXON_FORM_ATTRIBUTES))
    given = axon_node_get_ints (reduce, "axes", &n);
  else if (input != NULL && axon_value_is_constant (input))
    n = (guint)axon_tensor_get_numel (input->type.value);
  if (n > AXON_MAX_RANK)
    return 0;
  for (guint i = 0; i < n; i++)
    axes[i] = given ? given[i] : (gint64)axon_tensor_get_value (input->type.value, i);
  return n;
}

/* The first of the axes, if these are the last ones of the input; else -1. */
static gint
first_axis (const AxonNode *reduce)
{
  gint64 axes[AXON_MAX_RANK];
  gint rank = reduce->inputs[0]->type.shape.rank;
  guint n = read_axes (reduce, axes), seen = 0;
  if (n == 0 || rank < (gint)n || axon_node_get_int (reduce, "keepdims") == 0)
    return -1;
  for (guint i = 0; i < n; i++) {
    gint64 axis = axes[i] + (axes[i] < 0 ? rank : 0);
    if (axis < rank - (gint)n || axis >= rank)
      return -1;
    seen |= 1u << (axis - (rank - (gint)n));
  }
  return seen == (1u << n) - 1 ? rank - (gint)n : -1;
}

/* d of d^2 */
static AxonValue *
match_square (Norm *norm, const AxonValue *value)
{
  AxonNode *node = value->producer;
  gdouble exponent;
  if (node == NULL)
    return NULL;
  axon_parts_add (&norm->parts, node);
  if (axon_node_is (node, "Pow") && axon_match_scalar (node->inputs[1], &exponent) && exponent == 2)
    return node->inputs[0];
  return axon_node_is (node, "Mul") && node->inputs[0] == node->inputs[1] ? node->inputs[0] : NULL;
}

/* @root: sqrt (mean (d^2) + epsilon); d, or NULL. */
static AxonValue *
match_deviation (Norm *norm, AxonNode *root)
{
  AxonNode *add = axon_match_input (root, 0, "Add"), *mean = NULL;
  for (guint i = 0; add != NULL && mean == NULL && i < 2; i++)
    if (axon_match_scalar (add->inputs[1 - i], &norm->epsilon))
      mean = axon_match_input (add, i, "ReduceMean");
  if (mean == NULL)
    return NULL;
  norm->axis = first_axis (mean);
  axon_parts_add (&norm->parts, root);
  axon_parts_add (&norm->parts, add);
  axon_parts_add (&norm->parts, mean);
  return norm->axis < 0 ? NULL : match_square (norm, mean->inputs[0]);
}

/* x of x - mean (x), or NULL. */
static AxonValue *
match_centred (Norm *norm, AxonValue *d)
{
  AxonNode *sub = d->producer, *mean;
  if (sub == NULL || !axon_node_is (sub, "Sub"))
    return NULL;
  mean = axon_match_input (sub, 1, "ReduceMean");
  if (mean == NULL || mean->inputs[0] != sub->inputs[0] || first_axis (mean) != norm->axis)
    return NULL;
  axon_parts_add (&norm->parts, sub);
  axon_parts_add (&norm->parts, mean);
  return sub->inputs[0];
}

/* @d and @other are the same, or each x less its mean: older exporters subtract twice. */
static gboolean
match_numerator (Norm *norm, AxonValue *d, AxonValue *other)
{
  AxonParts before = norm->parts;
  norm->x = match_centred (norm, d);
  norm->centred = norm->x != NULL && (other == d || match_centred (norm, other) == norm->x);
  if (norm->centred)
    return TRUE;
  norm->parts = before;
  norm->x = d;
  return other == d;
}

/* @node: d / root, or d times its reciprocal */
static gboolean
match_quotient (Norm *norm, AxonNode *node)
{
  AxonNode *root = NULL, *reciprocal;
  AxonValue *d;
  guint at = 1;
  if (axon_node_is (node, "Div"))
    root = axon_match_input (node, 1, "Sqrt");
  for (guint i = 0; axon_node_is (node, "Mul") && root == NULL && i < 2; i++) {
    reciprocal = axon_match_input (node, i, "Reciprocal");
    root = reciprocal ? axon_match_input (reciprocal, 0, "Sqrt") : NULL;
    axon_parts_add (&norm->parts, root ? reciprocal : NULL);
    at = i;
  }
  d = root ? match_deviation (norm, root) : NULL;
  if (d == NULL || !match_numerator (norm, d, node->inputs[1 - at]))
    return FALSE;
  axon_parts_add (&norm->parts, node);
  return axon_parts_are_closed (&norm->parts);
}

/* The constant that @name, the only user of what the last part makes, takes beside it: of the
 * dimensions that are reduced, with ones before them. */
static AxonValue *
match_parameter (Norm *norm, const gchar *name)
{
  const AxonValue *y = norm->parts.nodes[norm->parts.n - 1]->outputs[0];
  const AxonShape *shape = &norm->x->type.shape;
  AxonNode *node = axon_match_only_user (y, name);
  AxonValue *other = node ? axon_node_get_other (node, y) : NULL;
  const AxonShape *given = other ? &other->type.shape : NULL;
  gint extra = given ? given->rank - (shape->rank - norm->axis) : -1;
  if (extra < 0 || given->rank > shape->rank || !axon_value_is_constant (other) ||
      other->type.dtype != AXON_DTYPE_F32)
    return NULL;
  for (gint d = 0; d < given->rank; d++)
    if (given->dims[d] != (d < extra ? 1 : shape->dims[norm->axis + d - extra]))
      return NULL;
  axon_parts_add (&norm->parts, node);
  return other;
}

/* As many numbers as there are elements that share a mean; @from NULL: ones. */
static AxonValue *
add_parameter (AxonModel *model, const Norm *norm, const AxonValue *from)
{
  AxonShape shape = { .rank = norm->x->type.shape.rank - norm->axis };
  g_autoptr (AxonTensor) t = NULL;
  gfloat *v;
  for (gint d = 0; d < shape.rank; d++)
    shape.dims[d] = norm->x->type.shape.dims[norm->axis + d];
  t = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  v = axon_tensor_get_data (t);
  for (gsize i = 0; i < axon_tensor_get_numel (t); i++)
    v[i] = from ? (gfloat)axon_tensor_get_value (from->type.value, i) : 1;
  return axon_model_add_constant (model, NULL, t);
}

/* How many elements share a mean must be known, and no number may have given it more dimensions. */
static gboolean
has_known_axes (const Norm *norm)
{
  const AxonShape *s = &norm->x->type.shape;
  const AxonValue *y = norm->parts.nodes[norm->parts.n - 1]->outputs[0];
  gboolean known = norm->x->type.dtype == AXON_DTYPE_F32 && y->type.shape.rank == s->rank;
  for (gint d = norm->axis; known && d < s->rank; d++)
    known = s->dims[d] > 0;
  return known;
}

static void
fuse (AxonModel *model, Norm *norm)
{
  AxonValue *in[3] = { norm->x };
  AxonNode *node;
  norm->scale = match_parameter (norm, "Mul");
  norm->bias = norm->centred ? match_parameter (norm, "Add") : NULL;
  in[1] = add_parameter (model, norm, norm->scale);
  if (norm->bias != NULL)
    in[2] = add_parameter (model, norm, norm->bias);
  node = axon_parts_replace (
      &norm->parts, model, norm->centred ? "LayerNormalization" : "RMSNormalization",
      norm->centred ? LAYER_OPSET : RMS_OPSET, in, norm->bias != NULL ? 3 : 2);
  axon_node_set_int (node, "axis", norm->axis - norm->x->type.shape.rank);
  axon_node_set_float (node, "epsilon", norm->epsilon);
}

gboolean
axon_pass_fuse_normalization (AxonModel *model, GError **error)
{
  gboolean changed = FALSE;
  for (guint i = model->nodes->len; i-- > 0;) {
    Norm norm = { .axis = -1 };
    if (!match_quotient (&norm, model->nodes->pdata[i]) || !has_known_axes (&norm))
      continue;
    fuse (model, &norm);
    i = MIN (i, model->nodes->len);
    changed = TRUE;
  }
  return !changed || axon_model_sort (model, error);
}
