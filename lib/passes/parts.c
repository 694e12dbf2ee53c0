/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "parts-private.h"

#include <math.h>

/* Numbers of single precision that were written by hand, with six digits. */
#define NEAR 2e-5

void
axon_parts_add (AxonParts *parts, AxonNode *node)
{
  g_assert (parts->n < AXON_PARTS);
  for (guint i = 0; i < parts->n; i++)
    if (parts->nodes[i] == node)
      return;
  if (node != NULL)
    parts->nodes[parts->n++] = node;
}

static gboolean
has (const AxonParts *parts, const AxonNode *node)
{
  for (guint i = 0; i < parts->n; i++)
    if (parts->nodes[i] == node)
      return TRUE;
  return FALSE;
}

gboolean
axon_parts_are_closed (const AxonParts *parts)
{
  for (guint i = 0; i + 1 < parts->n; i++) {
    const AxonValue *y = parts->nodes[i]->outputs[0];
    if (y->is_output)
      return FALSE;
    for (guint k = 0; k < y->users->len; k++)
      if (!has (parts, y->users->pdata[k]))
        return FALSE;
  }
  return TRUE;
}

AxonNode *
axon_parts_replace (AxonParts *parts, AxonModel *model, const gchar *name, gint opset,
                    AxonValue *const *in, guint n_in)
{
  AxonNode *last = parts->nodes[parts->n - 1], *node;
  AxonValue *y = last->outputs[0];
  axon_node_set_output (last, 0, NULL);
  node = axon_pass_add_node (model, last, NULL, name, opset, in, n_in, y);
  for (guint i = parts->n; i-- > 0;) {
    axon_node_add_origins (node, parts->nodes[i]);
    axon_model_remove_node (model, parts->nodes[i]);
  }
  return node;
}

AxonValue *
axon_match_number (const AxonValue *value, const gchar *name, gdouble number, AxonNode **node)
{
  gdouble given;
  *node = value->producer;
  if (*node == NULL || !axon_node_is (*node, name) || (*node)->n_inputs != 2)
    return NULL;
  for (guint i = 0; i < 2; i++)
    if ((i == 1 || !g_str_equal (name, "Div")) && axon_match_scalar ((*node)->inputs[i], &given) &&
        fabs (given - number) <= NEAR * fabs (number))
      return (*node)->inputs[1 - i];
  return NULL;
}

AxonValue *
axon_node_get_other (const AxonNode *node, const AxonValue *value)
{
  return node->inputs[node->inputs[0] == value ? 1 : 0];
}
