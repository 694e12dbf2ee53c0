/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LpNormalization of floats becomes a norm, ReduceL1 or ReduceL2, and a division. */
#include "cpupasses.h"

/* Whose square is the least normal float: squares of less are lost, and so is what they would be
 * divided by. */
#define LEAST 1.0842022e-19

/* A line of nothing but 0 stays so: it is divided by something. */
static void
expand (AxonModel *model, AxonNode *node)
{
  AxonValue *x = node->inputs[0], *y = node->outputs[0], *norm[2], *ratio[] = { x, NULL };
  gint64 axis = axon_node_get_int (node, "axis");
  gboolean is_of_squares = axon_node_get_int (node, "p") == 2;
  norm[0] = cpu_pass_apply (model, node, is_of_squares ? "ReduceL2" : "ReduceL1", &x, 1);
  axon_node_set_ints (norm[0]->producer, "axes", &axis, 1);
  norm[1] = axon_pass_add_scalar (model, AXON_DTYPE_F32, is_of_squares ? LEAST : G_MINFLOAT);
  ratio[1] = cpu_pass_apply (model, node, "Max", norm, G_N_ELEMENTS (norm));
  axon_node_set_output (node, 0, NULL);
  axon_pass_add_node (model, node, NULL, "Div", CPU_PASS_OPSET, ratio, G_N_ELEMENTS (ratio), y);
  axon_model_remove_node (model, node);
}

gboolean
cpu_pass_expand_lp_norm (AxonModel *model, GError **error)
{
  gboolean changed = FALSE;
  for (guint i = model->nodes->len; i-- > 0;) {
    AxonNode *node = model->nodes->pdata[i];
    if (!axon_node_is (node, "LpNormalization") || node->inputs[0]->type.dtype != AXON_DTYPE_F32 ||
        !axon_shape_is_static (&node->inputs[0]->type.shape) ||
        axon_shape_get_numel (&node->inputs[0]->type.shape) < 1)
      continue;
    expand (model, node);
    changed = TRUE;
  }
  return !changed || (axon_model_sort (model, error) && axon_model_infer_shapes (model, error));
}
