/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Half precision models compute in f32: oneDNN 2.6 has no f16 kernels. Casts stand at the inputs
 * and outputs, so callers still see f16. */
#include "cpupasses.h"

static gboolean
convert_constants (AxonModel *model, GError **error)
{
  for (guint i = 0; i < model->values->len; i++) {
    AxonValue *value = g_ptr_array_index (model->values, i);
    AxonTensor *converted;
    if (value->type.value == NULL || value->type.dtype != AXON_DTYPE_F16)
      continue;
    converted = axon_tensor_convert (value->type.value, AXON_DTYPE_F32, error);
    if (converted == NULL)
      return FALSE;
    axon_tensor_unref (value->type.value);
    value->type.value = converted;
    value->type.dtype = AXON_DTYPE_F32;
  }
  return TRUE;
}

/* Nodes are often named as what they make, so the cast of that has a name of its own. */
static void
add_cast (AxonModel *model, const gchar *of, AxonValue *in, AxonValue *out, AxonDType to)
{
  g_autofree gchar *name = g_strconcat (of, "/Cast", NULL);
  AxonNode *cast =
      axon_model_add_node (model, axon_builtin_op (NULL, "Cast", 13), 13, name, &in, 1, &out, 1);
  axon_node_set_int (cast, "to", to);
}

static void
retarget_casts (AxonModel *model)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    if (axon_node_is (node, "Cast") && axon_node_get_int (node, "to") == AXON_DTYPE_F16)
      axon_node_set_int (node, "to", AXON_DTYPE_F32);
    if (axon_node_is_in (node, AXON_DOMAIN_AXON, "ImageToTensor") &&
        axon_node_get_int (node, "dtype") == AXON_DTYPE_F16)
      axon_node_set_int (node, "dtype", AXON_DTYPE_F32);
  }
}

static gboolean
has_half (const AxonModel *model)
{
  for (guint i = 0; i < model->values->len; i++)
    if (((AxonValue *)g_ptr_array_index (model->values, i))->type.dtype == AXON_DTYPE_F16)
      return TRUE;
  return FALSE;
}

gboolean
cpu_pass_half_to_float (AxonModel *model, GError **error)
{
  if (!has_half (model))
    return TRUE;
  retarget_casts (model);
  for (guint i = 0; i < model->outputs->len; i++) {
    AxonValue *value = g_ptr_array_index (model->outputs, i);
    AxonValue *half;
    if (value->type.dtype != AXON_DTYPE_F16 || value->producer == NULL)
      continue;
    half = axon_model_add_value (model, NULL);
    add_cast (model, value->name, value, half, AXON_DTYPE_F16);
    axon_model_set_output (model, i, half);
  }
  for (guint i = 0; i < model->inputs->len; i++) {
    AxonValue *value = g_ptr_array_index (model->inputs, i);
    AxonValue *single;
    if (value->type.dtype != AXON_DTYPE_F16)
      continue;
    single = axon_model_add_value (model, NULL);
    axon_model_replace_value (model, value, single);
    add_cast (model, value->name, value, single, AXON_DTYPE_F32);
  }
  return convert_constants (model, error) && axon_model_sort (model, error) &&
         axon_model_infer_shapes (model, error);
}
