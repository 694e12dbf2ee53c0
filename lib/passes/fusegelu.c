/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What models before operator set 20 write for Gelu (Hendrycks and Gimpel 2016) becomes one node:
 * x / 2 * (1 + erf (x / sqrt (2))), or by tanh (sqrt (2 / pi) * (x + 0.044715 x^3)), whatever is
 * multiplied first. */
#include "parts-private.h"

#include <math.h>

#define OPSET 20

/* A number times something, whichever way that is written. */
static AxonValue *
match_factor (AxonParts *parts, const AxonValue *value, gdouble factor)
{
  AxonNode *node;
  AxonValue *x = axon_match_number (value, "Mul", factor, &node);
  if (x == NULL)
    x = axon_match_number (value, "Div", 1 / factor, &node);
  if (x != NULL)
    axon_parts_add (parts, node);
  return x;
}

/* x of x^3 */
static AxonValue *
match_cube (AxonParts *parts, const AxonValue *value)
{
  AxonNode *outer = value->producer, *square;
  gdouble exponent;
  if (outer == NULL)
    return NULL;
  axon_parts_add (parts, outer);
  if (axon_node_is (outer, "Pow"))
    return axon_match_scalar (outer->inputs[1], &exponent) && exponent == 3 ? outer->inputs[0]
                                                                            : NULL;
  for (guint i = 0; axon_node_is (outer, "Mul") && i < 2; i++) {
    square = axon_match_input (outer, i, "Mul");
    if (square != NULL && square->inputs[0] == square->inputs[1] &&
        square->inputs[0] == outer->inputs[1 - i]) {
      axon_parts_add (parts, square);
      return square->inputs[0];
    }
  }
  return NULL;
}

/* x of erf's argument */
static AxonValue *
match_erf (AxonParts *parts, const AxonNode *erf)
{
  return match_factor (parts, erf->inputs[0], sqrt (0.5));
}

/* x of tanh's argument */
static AxonValue *
match_tanh (AxonParts *parts, const AxonNode *tanh)
{
  AxonValue *sum = match_factor (parts, tanh->inputs[0], sqrt (2 / G_PI)), *x = NULL;
  AxonNode *add = sum ? sum->producer : NULL;
  if (add == NULL || !axon_node_is (add, "Add"))
    return NULL;
  axon_parts_add (parts, add);
  for (guint i = 0; i < 2 && x == NULL; i++) {
    AxonParts before = *parts;
    AxonValue *cube = match_factor (parts, add->inputs[i], 0.044715);
    x = cube ? match_cube (parts, cube) : NULL;
    if (x != add->inputs[1 - i]) {
      *parts = before;
      x = NULL;
    }
  }
  return x;
}

/* @one: 1 + erf (...). The product of it, x and 1/2: its last node. */
static AxonNode *
match_product (AxonParts *parts, const AxonValue *one, const AxonValue *x)
{
  AxonNode *first = axon_match_only_user (one, "Mul"), *last = NULL;
  AxonValue *other = first ? axon_node_get_other (first, one) : NULL;
  gdouble half;
  if (other == NULL)
    return NULL;
  if (other != x && match_factor (parts, other, 0.5) == x) {
    last = first;
  } else {
    axon_parts_add (parts, first);
    last = axon_match_only_user (first->outputs[0], NULL);
    if (last == NULL)
      return NULL;
    if (other == x
            ? match_factor (parts, last->outputs[0], 0.5) != first->outputs[0]
            : !axon_match_scalar (other, &half) || half != 0.5 || !axon_node_is (last, "Mul") ||
                  axon_node_get_other (last, first->outputs[0]) != x)
      return NULL;
  }
  axon_parts_add (parts, last);
  return last;
}

/* @node is Erf or Tanh; x, or NULL. */
static AxonValue *
match (AxonParts *parts, AxonNode *node)
{
  gboolean by_erf = axon_node_is (node, "Erf");
  AxonValue *x = by_erf ? match_erf (parts, node) : match_tanh (parts, node);
  AxonNode *add = x ? axon_match_only_user (node->outputs[0], "Add") : NULL;
  if (add == NULL || axon_match_number (add->outputs[0], "Add", 1, &add) != node->outputs[0])
    return NULL;
  axon_parts_add (parts, node);
  axon_parts_add (parts, add);
  return match_product (parts, add->outputs[0], x) != NULL && axon_parts_are_closed (parts) ? x
                                                                                            : NULL;
}

gboolean
axon_pass_fuse_gelu (AxonModel *model, GError **error)
{
  gboolean changed = FALSE;
  for (guint i = model->nodes->len; i-- > 0;) {
    AxonNode *node = model->nodes->pdata[i], *gelu;
    AxonParts parts = { .n = 0 };
    gboolean by_tanh = axon_node_is (node, "Tanh");
    AxonValue *x;
    if ((!by_tanh && !axon_node_is (node, "Erf")) || node->outputs[0]->type.dtype != AXON_DTYPE_F32)
      continue;
    x = match (&parts, node);
    if (x == NULL ||
        !axon_shape_equal (&x->type.shape, &parts.nodes[parts.n - 1]->outputs[0]->type.shape))
      continue;
    gelu = axon_parts_replace (&parts, model, "Gelu", OPSET, &x, 1);
    if (by_tanh)
      axon_node_set_string (gelu, "approximate", "tanh");
    i = MIN (i, model->nodes->len);
    changed = TRUE;
  }
  return !changed || axon_model_sort (model, error);
}
