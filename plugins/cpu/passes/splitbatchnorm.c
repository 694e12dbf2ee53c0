/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A BatchNormalization that no convolution took, beside other elementwise operators: a Mul and an
 * Add of constants per channel, which fuse-elementwise joins with those. */
#include "cpupasses.h"
#include "../cpueltwise.h"

#include <math.h>

static gboolean
is_elementwise (const AxonNode *node)
{
  CpuPost post;
  return node != NULL && node->op->domain == NULL &&
         (cpu_pair_of_op (node->op->name) >= 0 || cpu_post_init (&post, node->op->name, 0, 0));
}

static gboolean
can_split (const AxonNode *node)
{
  const AxonValue *x = node->inputs[0], *y = node->outputs[0];
  if (!axon_node_is (node, "BatchNormalization") || x->type.dtype != AXON_DTYPE_F32 ||
      node->n_outputs != 1 || x->type.shape.rank < 2 || !axon_shape_is_static (&x->type.shape) ||
      axon_node_get_int (node, "training_mode") != 0)
    return FALSE;
  for (guint i = 1; i < 5; i++)
    if (!axon_value_is_constant (node->inputs[i]) ||
        axon_shape_get_numel (&node->inputs[i]->type.shape) != x->type.shape.dims[1])
      return FALSE;
  return is_elementwise (axon_match_only_user (y, NULL)) ||
         (is_elementwise (x->producer) && x->users->len == 1);
}

static gdouble
parameter (const AxonNode *node, guint index, gint64 channel)
{
  return axon_tensor_get_value (node->inputs[index]->type.value, (gsize)channel);
}

/* y = x * scale + shift */
static void
split (AxonModel *model, AxonNode *node)
{
  AxonValue *x = node->inputs[0], *y = node->outputs[0], *scaled;
  AxonShape shape = { .rank = x->type.shape.rank - 1, .dims = { x->type.shape.dims[1] } };
  gdouble epsilon = axon_node_get_float (node, "epsilon");
  g_autoptr (AxonTensor) scale = NULL, shift = NULL;
  for (gint d = 1; d < shape.rank; d++)
    shape.dims[d] = 1;
  scale = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  shift = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  for (gint64 c = 0; c < shape.dims[0]; c++) {
    gdouble factor = parameter (node, 1, c) / sqrt (parameter (node, 4, c) + epsilon);
    ((gfloat *)axon_tensor_get_data (scale))[c] = (gfloat)factor;
    ((gfloat *)axon_tensor_get_data (shift))[c] =
        (gfloat)(parameter (node, 2, c) - parameter (node, 3, c) * factor);
  }
  scaled = axon_model_add_value (model, NULL);
  axon_node_set_output (node, 0, NULL);
  axon_pass_add_node (model, node, NULL, "Mul", 14,
                      (AxonValue *[]){ x, axon_model_add_constant (model, NULL, scale) }, 2,
                      scaled);
  axon_pass_add_node (model, node, NULL, "Add", 14,
                      (AxonValue *[]){ scaled, axon_model_add_constant (model, NULL, shift) }, 2,
                      y);
  axon_model_remove_node (model, node);
}

gboolean
cpu_pass_split_batch_norm (AxonModel *model, GError **error)
{
  gboolean changed = FALSE;
  for (guint i = model->nodes->len; i-- > 0;) {
    AxonNode *node = model->nodes->pdata[i];
    if (!can_split (node))
      continue;
    split (model, node);
    changed = TRUE;
  }
  return !changed || (axon_model_sort (model, error) && axon_model_infer_shapes (model, error));
}
