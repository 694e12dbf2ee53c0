/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resize of a volume by sums of neighbours becomes one of its pictures and one from picture to
 * picture, which is that of rows: every dimension is by itself. */
#include "cpupasses.h"
#include "../cpuplan.h"

#define SCALES 2 /* inputs */
#define SIZES 3

/* To @sizes, by @scales where the node has them, of each of @rank dimensions. */
static AxonValue *
resize (AxonModel *model, const AxonNode *node, AxonValue *x, const gint64 *sizes,
        const gfloat *scales, gint rank)
{
  const AxonShape shape = AXON_SHAPE (rank);
  AxonValue *in[4] = { x }, *y;
  if (scales != NULL) {
    g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
    for (gint d = 0; d < rank; d++)
      axon_dtype_store (AXON_DTYPE_F32, axon_tensor_get_data (t), (gsize)d, (gdouble)scales[d]);
    in[SCALES] = axon_model_add_constant (model, NULL, t);
  } else {
    in[SIZES] = cpu_pass_add_ints (model, sizes, (guint)rank);
  }
  y = cpu_pass_apply (model, node, "Resize", in, in[SIZES] != NULL ? 4 : 3);
  axon_node_set_string (y->producer, "mode", axon_node_get_string (node, "mode"));
  axon_node_set_string (y->producer, "coordinate_transformation_mode",
                        axon_node_get_string (node, "coordinate_transformation_mode"));
  axon_node_set_float (y->producer, "cubic_coeff_a", axon_node_get_float (node, "cubic_coeff_a"));
  axon_node_set_int (y->producer, "exclude_outside", axon_node_get_int (node, "exclude_outside"));
  return y;
}

static void
split (AxonModel *model, AxonNode *node)
{
  const AxonTensor *t = cpu_node_constant (node, SCALES);
  const AxonTensor *all = t != NULL && axon_tensor_get_numel (t) == 5 ? t : NULL;
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  const gint64 *to = y->dims, area = to[3] * to[4];
  const gint64 pictures[] = { to[0], to[1], x->dims[2], to[3], to[4] };
  const gint64 rows[] = { to[0], to[1], x->dims[2], area }, done[] = { to[0], to[1], to[2], area };
  gfloat scales[5] = { 1, 1, 1, 1, 1 }, by_depth[4] = { 1, 1, 1, 1 };
  AxonValue *value;
  if (all != NULL) {
    by_depth[2] = (gfloat)axon_tensor_get_value (all, 2);
    scales[3] = (gfloat)axon_tensor_get_value (all, 3);
    scales[4] = (gfloat)axon_tensor_get_value (all, 4);
  }
  value = resize (model, node, node->inputs[0], pictures, all ? scales : NULL, 5);
  value = resize (model, node, cpu_pass_reshape (model, node, value, rows, 4), done,
                  all ? by_depth : NULL, 4);
  cpu_pass_replace_reshaped (model, node, value);
}

/* All of @rank numbers is known, or there are none. */
static gboolean
is_known (const AxonNode *node, guint index, gint rank)
{
  const AxonTensor *t = cpu_node_constant (node, index);
  return axon_node_get_input (node, index) == NULL ||
         (t != NULL && (axon_tensor_get_numel (t) == 0 || (gint)axon_tensor_get_numel (t) == rank));
}

static gboolean
is_split (const AxonNode *node)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  const gchar *mode;
  if (axon_node_has_form (node, AXON_FORM_SCALES_ONLY) || !cpu_pass_is_planned (node) ||
      x->rank != 5 || x->dims[2] == y->dims[2] || x->dims[0] != y->dims[0] ||
      x->dims[1] != y->dims[1])
    return FALSE;
  mode = axon_node_get_string (node, "mode");
  return (g_str_equal (mode, "linear") || g_str_equal (mode, "cubic")) &&
         !g_str_equal (axon_node_get_string (node, "coordinate_transformation_mode"),
                       "tf_crop_and_resize") &&
         axon_node_get_int (node, "antialias") == 0 && axon_node_find_attr (node, "axes") == NULL &&
         axon_node_find_attr (node, "keep_aspect_ratio_policy") == NULL &&
         is_known (node, SCALES, 5) && is_known (node, SIZES, 5);
}

static gboolean
rewrite (AxonModel *model, AxonNode *node, G_GNUC_UNUSED GError **error)
{
  if (!axon_node_is (node, "Resize") || !is_split (node))
    return FALSE;
  split (model, node);
  return TRUE;
}

gboolean
cpu_pass_split_resize (AxonModel *model, GError **error)
{
  return cpu_pass_rewrite (model, rewrite, error);
}
