/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A convolution of one tap over a Concat of which some channels are the same at every place, as
 * those that PointNet (Qi et al. 2017) and the image pooling of DeepLab (Chen et al. 2017) repeat:
 * these are multiplied before they are repeated, and added. */
#include "cpupasses.h"

#include <string.h>

/* Channels from which on an addition more is less than their products. */
#define LEAST 16

static gboolean
is_alone (const AxonShape *shape)
{
  for (gint d = 2; d < shape->rank; d++)
    if (shape->dims[d] != 1)
      return FALSE;
  return TRUE;
}

/* TRUE for what gives each place the one element that there is. */
static gboolean
repeats (const AxonNode *node)
{
  const gchar *where = "coordinate_transformation_mode";
  if (axon_node_is (node, "Expand") || axon_node_is (node, "Tile"))
    return TRUE;
  return (axon_node_is (node, "Resize") || axon_node_is (node, "Upsample")) &&
         !g_str_equal (axon_node_get_string (node, "mode"), "cubic") &&
         (axon_node_find_attr (node, where) == NULL ||
          !g_str_equal (axon_node_get_string (node, where), "tf_crop_and_resize"));
}

static gboolean
is_repeated (const AxonValue *value)
{
  const AxonShape *from, *to = &value->type.shape;
  if (value->producer == NULL || !repeats (value->producer))
    return FALSE;
  from = &value->producer->inputs[0]->type.shape;
  return axon_shape_is_static (from) && from->rank == to->rank && from->dims[0] == to->dims[0] &&
         from->dims[1] == to->dims[1] && is_alone (from) && !is_alone (to);
}

static gint64
count_repeated (const AxonNode *concat)
{
  gint64 n = 0;
  for (guint i = 0; i < concat->n_inputs; i++)
    n += is_repeated (concat->inputs[i]) ? concat->inputs[i]->type.shape.dims[1] : 0;
  return n;
}

/* Every output meets the input at its own place. */
static gboolean
has_one_tap (const AxonNode *conv)
{
  const AxonShape *x = &conv->inputs[0]->type.shape, *y = &conv->outputs[0]->type.shape;
  guint n = 0;
  const gint64 *strides = axon_node_get_ints (conv, "strides", &n);
  for (gint d = 2; d < x->rank; d++)
    if (x->dims[d] != y->dims[d] || (d - 2 < (gint)n && strides[d - 2] != 1))
      return FALSE;
  return is_alone (&conv->inputs[1]->type.shape) && axon_node_get_int (conv, "group") == 1;
}

/* What it convolves, if it is to be split. */
static AxonNode *
match (const AxonNode *conv)
{
  const AxonValue *x, *w;
  AxonNode *concat;
  gint64 n;
  if (!axon_node_is (conv, "Conv") || conv->inputs[0]->type.dtype != AXON_DTYPE_F32)
    return NULL;
  x = conv->inputs[0];
  w = conv->inputs[1];
  concat = axon_match_input (conv, 0, "Concat");
  if (concat == NULL || axon_match_only_user (x, "Conv") != conv || !axon_value_is_constant (w) ||
      x->type.shape.rank < 3 || !axon_shape_is_static (&x->type.shape) ||
      !axon_shape_is_static (&conv->outputs[0]->type.shape) || !has_one_tap (conv) ||
      (axon_node_get_int (concat, "axis") != 1 &&
       axon_node_get_int (concat, "axis") != 1 - x->type.shape.rank))
    return NULL;
  n = count_repeated (concat);
  return n >= LEAST && n < x->type.shape.dims[1] ? concat : NULL;
}

/* The channels that are repeated, before they are; or the others. */
static AxonValue *
take_channels (AxonModel *model, const AxonNode *concat, gboolean repeated)
{
  g_autofree AxonValue **in = g_new (AxonValue *, concat->n_inputs);
  guint n = 0;
  AxonValue *out;
  for (guint i = 0; i < concat->n_inputs; i++)
    if (is_repeated (concat->inputs[i]) == repeated)
      in[n++] = repeated ? concat->inputs[i]->producer->inputs[0] : concat->inputs[i];
  if (n == 1)
    return in[0];
  out = cpu_pass_apply (model, concat, "Concat", in, n);
  axon_node_set_int (out->producer, "axis", 1);
  return out;
}

/* The weights of those channels; NULL: there is no memory for them. */
static AxonTensor *
take_weights (const AxonTensor *w, const AxonNode *concat, gboolean repeated, GError **error)
{
  AxonShape shape = *axon_tensor_get_shape (w);
  const gfloat *from = axon_tensor_get_data (w);
  gint64 once = count_repeated (concat);
  AxonTensor *taken;
  gfloat *to;
  shape.dims[1] = repeated ? once : shape.dims[1] - once;
  taken = axon_tensor_new (AXON_DTYPE_F32, &shape, error);
  if (taken == NULL)
    return NULL;
  to = axon_tensor_get_data (taken);
  for (gint64 y = 0; y < shape.dims[0]; y++)
    for (guint i = 0; i < concat->n_inputs; i++) {
      gsize n = (gsize)concat->inputs[i]->type.shape.dims[1];
      if (is_repeated (concat->inputs[i]) == repeated) {
        memcpy (to, from, n * sizeof *to);
        to += n;
      }
      from += n;
    }
  return taken;
}

static gboolean
split (AxonModel *model, AxonNode *conv, AxonNode *concat, GError **error)
{
  AxonValue *y = conv->outputs[0], *sums, *once[2], *added[2];
  const AxonTensor *w = conv->inputs[1]->type.value;
  g_autoptr (AxonTensor) of_once = take_weights (w, concat, TRUE, error);
  g_autoptr (AxonTensor) of_others = of_once ? take_weights (w, concat, FALSE, error) : NULL;
  if (of_others == NULL)
    return FALSE;
  once[0] = take_channels (model, concat, TRUE);
  once[1] = axon_model_add_constant (model, NULL, of_once);
  added[0] = sums = axon_model_add_value (model, NULL);
  added[1] = cpu_pass_apply (model, conv, "Conv", once, G_N_ELEMENTS (once));
  axon_node_set_input (conv, 1, axon_model_add_constant (model, NULL, of_others));
  axon_node_set_input (conv, 0, take_channels (model, concat, FALSE));
  axon_node_set_output (conv, 0, NULL);
  axon_node_set_output (conv, 0, sums);
  axon_pass_add_node (model, conv, NULL, "Add", CPU_PASS_OPSET, added, G_N_ELEMENTS (added), y);
  axon_model_remove_node (model, concat);
  return TRUE;
}

gboolean
cpu_pass_split_repeated (AxonModel *model, GError **error)
{
  gboolean changed = FALSE;
  for (guint i = model->nodes->len; i-- > 0;) {
    AxonNode *conv = model->nodes->pdata[i], *concat = match (conv);
    if (concat == NULL)
      continue;
    if (!split (model, conv, concat, error))
      return FALSE;
    i = model->nodes->len;
    changed = TRUE;
  }
  return !changed || (axon_model_sort (model, error) && axon_model_infer_shapes (model, error));
}
