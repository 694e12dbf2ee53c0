/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A product of turned matrices that is turned itself, as networks move points by a matrix they
 * computed (PointNet, arXiv:1612.00593): of A as it lies by the other matrix, turned, which is
 * small. turned (turned (A) M) = turned (M) A */
#include "cpupasses.h"

/* TRUE if @node changes places of the last two dimensions and no other. */
static gboolean
turns_matrices (const AxonNode *node)
{
  guint n;
  const gint64 *perm = axon_node_get_ints (node, "perm", &n);
  gint rank = node->inputs[0]->type.shape.rank;
  if (rank < 2 || (perm == NULL && rank > 2))
    return FALSE;
  for (gint d = 0; perm != NULL && d < rank; d++)
    if (perm[d] != (d < rank - 2 ? d : 2 * rank - 3 - d))
      return FALSE;
  return TRUE;
}

static gboolean
turn_product (AxonModel *model, AxonNode *node, G_GNUC_UNUSED GError **error)
{
  AxonNode *product, *first;
  AxonValue *in[2], *m;
  if (!axon_node_is (node, "Transpose") || !cpu_pass_is_planned (node) || !turns_matrices (node) ||
      (product = axon_match_input (node, 0, "MatMul")) == NULL ||
      axon_match_only_user (product->outputs[0], "Transpose") != node ||
      (first = axon_match_input (product, 0, "Transpose")) == NULL || !turns_matrices (first))
    return FALSE;
  m = product->inputs[1];
  if (axon_value_is_constant (m) || m->type.shape.rank < 2 ||
      !axon_shape_is_static (&m->type.shape) ||
      !axon_shape_is_static (&first->outputs[0]->type.shape) ||
      axon_shape_get_numel (&m->type.shape) > axon_shape_get_numel (&first->outputs[0]->type.shape))
    return FALSE;
  in[0] = cpu_pass_exchange (model, node, m, m->type.shape.rank - 1, m->type.shape.rank);
  in[1] = first->inputs[0];
  cpu_pass_replace (model, node, "MatMul", in, G_N_ELEMENTS (in));
  return TRUE;
}

gboolean
cpu_pass_turn_products (AxonModel *model, GError **error)
{
  return cpu_pass_rewrite (model, turn_product, error);
}
