/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shape inference: one node, then the graph in order. Model bytes never reach an assert here. */
#include "../base/axonutf8-private.h"
#include <axon/plugin/axongraph.h>

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

static gboolean
check_types (const AxonNode *node, const AxonTypeInfo *in, GError **error)
{
  const AxonOp *op = node->op;
  AxonDType first = node->n_inputs > 0 ? in[0].dtype : AXON_DTYPE_UNDEFINED;
  if (first == AXON_DTYPE_UNDEFINED)
    return TRUE;
  if (op->types != 0 && !(op->types & AXON_DTYPE_BIT (first))) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("input 0 of type %s is not supported"), axon_dtype_get_name (first));
    axon_error_set_reason (error, AXON_REASON_DTYPE);
    return FALSE;
  }
  for (guint i = 1; i < MIN (op->same_type_inputs, node->n_inputs); i++)
    if (in[i].dtype != AXON_DTYPE_UNDEFINED && in[i].dtype != first) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                   _ ("input %u: expected %s as input 0, got %s"), i, axon_dtype_get_name (first),
                   axon_dtype_get_name (in[i].dtype));
      return FALSE;
    }
  return TRUE;
}

/* The letter of input @index. */
static gchar
operand_letter (const gchar *operands, guint index)
{
  const gchar *plus = strchr (operands, '+');
  gsize n = plus ? (gsize)(plus - operands) : strlen (operands);
  if (index < n)
    return operands[index];
  return plus && plus[1] != '\0' ? plus[1 + (index - n) % strlen (plus + 1)] : '\0';
}

/* What a letter of @node's operands allows; 0 where it allows everything. */
static AxonDTypeMask
operand_types (const AxonNode *node, const AxonTypeInfo *in, gchar letter)
{
  static const AxonDTypeMask types['z' + 1] = {
    ['b'] = AXON_DTYPES_BYTE,
    ['f'] = AXON_DTYPES_FLOAT,
    ['i'] = AXON_DTYPE_BIT (AXON_DTYPE_I32),
    ['l'] = AXON_DTYPE_BIT (AXON_DTYPE_I64),
    ['m'] = AXON_DTYPES_NUMERIC,
    ['n'] = AXON_DTYPE_BIT (AXON_DTYPE_I32) | AXON_DTYPE_BIT (AXON_DTYPE_I64),
    ['s'] = AXON_DTYPES_FLOAT | AXON_DTYPE_BIT (AXON_DTYPE_F8E8M0),
    ['z'] = AXON_DTYPE_BIT (AXON_DTYPE_BOOL),
  };
  letter = g_ascii_tolower (letter);
  for (guint i = 0; letter == 't' && i < node->n_inputs; i++)
    if (g_ascii_tolower (operand_letter (node->op->operands, i)) == 't' &&
        in[i].dtype != AXON_DTYPE_UNDEFINED)
      return AXON_DTYPE_BIT (in[i].dtype);
  if (letter == 'x')
    return in[0].dtype != AXON_DTYPE_UNDEFINED ? AXON_DTYPE_BIT (in[0].dtype) : 0;
  return (guchar)letter < G_N_ELEMENTS (types) ? types[(guchar)letter] : 0;
}

static gchar *
names_of (AxonDTypeMask types)
{
  GString *text = g_string_new (NULL);
  for (guint d = 0; d < AXON_N_DTYPES; d++)
    if (types & AXON_DTYPE_BIT (d))
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", axon_dtype_get_name (d));
  return g_string_free (text, FALSE);
}

static gboolean
check_operand (const AxonNode *node, const AxonTypeInfo *in, guint index, GError **error)
{
  gchar letter = operand_letter (node->op->operands, index);
  AxonDTypeMask types = operand_types (node, in, letter);
  gint64 n = axon_shape_get_numel (&in[index].shape);
  if (types != 0 && !(types & AXON_DTYPE_BIT (in[index].dtype))) {
    g_autofree gchar *names = names_of (types);
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("input %u: expected %s, got %s"), index,
                 names, axon_dtype_get_name (in[index].dtype));
    return FALSE;
  }
  if (g_ascii_isupper (letter) && n >= 0 && n != 1) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                 _ ("input %u: expected one element, got %lld"), index, (long long)n);
    return FALSE;
  }
  return TRUE;
}

static gboolean
check_operands (const AxonNode *node, const AxonTypeInfo *in, GError **error)
{
  for (guint i = 0; node->op->operands != NULL && i < node->n_inputs; i++)
    if (in[i].dtype != AXON_DTYPE_UNDEFINED && !check_operand (node, in, i, error))
      return FALSE;
  return TRUE;
}

#define MAX_DIMENSION (G_MAXINT64 >> 16)

/* What no memory holds: inference adds pads to dimensions and strides to those, devices multiply
 * dimensions, and they must not look each time. */
static gboolean
is_too_large (const AxonShape *shape)
{
  for (gint d = 0; d < shape->rank; d++)
    if (shape->dims[d] > MAX_DIMENSION)
      return TRUE;
  return axon_shape_is_static (shape) && axon_shape_get_numel (shape) < 0;
}

static gboolean
check_dimensions (const AxonNode *node, const AxonTypeInfo *in, GError **error)
{
  for (guint i = 0; i < node->n_inputs; i++)
    if (is_too_large (&in[i].shape)) {
      g_autofree gchar *shape = axon_shape_to_string (&in[i].shape);
      g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("input %u of shape %s is too large"), i,
                   shape);
      return FALSE;
    }
  return TRUE;
}

gboolean
axon_node_infer (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gboolean ok;
  for (guint i = 0; i < node->n_outputs; i++)
    out[i] = (AxonTypeInfo){ .shape = AXON_SHAPE_UNKNOWN };
  ok = check_types (node, in, error) && check_operands (node, in, error) &&
       check_dimensions (node, in, error) && node->op->infer (node, in, out, error);
  for (guint i = 0; ok && i < node->n_outputs; i++)
    if (axon_shape_is_static (&out[i].shape) && axon_shape_get_numel (&out[i].shape) < 0) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("output %u is too large"), i);
      ok = FALSE;
    }
  if (!ok) {
    g_autofree gchar *what = axon_node_describe (node);
    if (error != NULL && g_error_matches (*error, AXON_ERROR, AXON_ERROR_UNSUPPORTED))
      axon_error_set_reason (error, AXON_REASON_ATTRIBUTE); /* what is left */
    g_prefix_error (error, "%s: ", what);
    if (error != NULL && *error != NULL)
      axon_utf8_mend ((*error)->message); /* attributes are bytes, and operators quote them */
    for (guint i = 0; i < node->n_outputs; i++)
      g_clear_pointer (&out[i].value, axon_tensor_unref);
  }
  return ok;
}

static void
store_result (AxonModel *model, AxonNode *node, AxonTypeInfo *out)
{
  for (guint i = 0; i < node->n_outputs; i++) {
    AxonValue *value = node->outputs[i];
    g_autoptr (AxonTensor) constant = g_steal_pointer (&out[i].value);
    if (value == NULL)
      continue;
    if (out[i].dtype != AXON_DTYPE_UNDEFINED) /* else what the model declares stays */
      value->type.dtype = out[i].dtype;
    value->type.shape = out[i].shape;
    if (constant != NULL && !value->is_output) {
      AxonValue *c = axon_model_add_constant (model, NULL, constant);
      axon_model_replace_value (model, value, c);
    }
  }
}

gboolean
axon_model_infer_node (AxonModel *model, AxonNode *node, GError **error)
{
  g_autofree AxonTypeInfo *in = g_new0 (AxonTypeInfo, node->n_inputs + 1);
  g_autofree AxonTypeInfo *out = g_new0 (AxonTypeInfo, node->n_outputs + 1);
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] != NULL)
      in[i] = node->inputs[i]->type;
    else
      in[i].shape = AXON_SHAPE_UNKNOWN;
  if (!axon_node_infer (node, in, out, error))
    return FALSE;
  store_result (model, node, out);
  return TRUE;
}

gboolean
axon_model_infer_shapes (AxonModel *model, GError **error)
{
  for (guint i = 0; i < model->nodes->len; i++)
    if (!axon_model_infer_node (model, g_ptr_array_index (model->nodes, i), error))
      return FALSE;
  return TRUE;
}

/**
 * axon_model_reshape:
 * @model: a model
 * @input: index of an input
 * @shape: the new shape; unknown dimensions stay free
 * @error: return location
 *
 * Changes the shape of an input and of everything behind it.
 *
 * Returns: %TRUE on success; %AXON_ERROR_ARGUMENT where the rank differs, %AXON_ERROR_MODEL where
 * an operator does not accept the new shape. On failure shapes behind the input are partly updated:
 *   drop the model.
 *
 * Since: 1.0
 */
gboolean
axon_model_reshape (AxonModel *model, guint input, const AxonShape *shape, GError **error)
{
  AxonValue *value;
  g_return_val_if_fail (input < model->inputs->len, FALSE);
  value = g_ptr_array_index (model->inputs, input);
  if (value->type.shape.rank >= 0 && value->type.shape.rank != shape->rank) {
    g_autofree gchar *expected = axon_shape_to_string (&value->type.shape);
    g_autofree gchar *got = axon_shape_to_string (shape);
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("input \"%s\": expected a shape of rank %d like %s, got %s"), value->name,
                 value->type.shape.rank, expected, got);
    return FALSE;
  }
  value->type.shape = *shape;
  return axon_model_infer_shapes (model, error);
}

static gboolean
check_fixed (const AxonValue *value, const AxonTensor *tensor, GError **error)
{
  const AxonShape *shape = axon_tensor_get_shape (tensor);
  g_autofree gchar *expected = axon_shape_to_string (&value->type.shape);
  g_autofree gchar *got = axon_shape_to_string (shape);
  gboolean fits = value->type.dtype == axon_tensor_get_dtype (tensor) &&
                  (value->type.shape.rank < 0 || value->type.shape.rank == shape->rank);
  for (gint i = 0; fits && i < value->type.shape.rank; i++)
    fits = value->type.shape.dims[i] < 0 || value->type.shape.dims[i] == shape->dims[i];
  if (!fits)
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("input \"%s\": expected %s%s, got %s%s"), value->name,
                 axon_dtype_get_name (value->type.dtype), expected,
                 axon_dtype_get_name (axon_tensor_get_dtype (tensor)), got);
  else if (value->is_output)
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("input \"%s\" is an output, too: it cannot become a constant"), value->name);
  return fits && !value->is_output;
}

/**
 * axon_model_fix_input:
 * @model: a model
 * @input: index of an input
 * @tensor: its value in every run; kept, do not change it
 * @error: return location
 *
 * Makes a constant of an input, which is no input any more: those behind it move up. For weights
 * that a file lists as inputs only, and for inputs that never change.
 *
 * Returns: %TRUE on success; %AXON_ERROR_ARGUMENT where type or shape differ,
 * %AXON_ERROR_UNSUPPORTED where the input is an output, too, %AXON_ERROR_MODEL where an operator
 * does not accept the value: drop the model then
 *
 * Since: 1.0
 */
gboolean
axon_model_fix_input (AxonModel *model, guint input, AxonTensor *tensor, GError **error)
{
  AxonValue *value;
  g_return_val_if_fail (input < model->inputs->len, FALSE);
  value = g_ptr_array_index (model->inputs, input);
  if (!check_fixed (value, tensor, error))
    return FALSE;
  value->is_input = FALSE;
  value->type.value = axon_tensor_ref (tensor);
  value->type.shape = *axon_tensor_get_shape (tensor);
  g_ptr_array_remove_index (model->inputs, input);
  return axon_model_infer_shapes (model, error);
}
