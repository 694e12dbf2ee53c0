/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operands: checks of axes and ranks, doubles to compute in, optional ones, integers in them, walks
 * over their elements. */
#include "ops-private.h"
#include "../base/axondtype-private.h"

#include <math.h>

gboolean
axon_check_axis (gint64 axis, gint rank, gint *out, GError **error)
{
  if (axis < -rank || axis >= rank)
    FAIL (MODEL, "axis %" G_GINT64_FORMAT " is outside [-%d, %d)", axis, rank, rank);
  *out = (gint)(axis < 0 ? axis + rank : axis);
  return TRUE;
}

gboolean
axon_check_rank (const AxonTypeInfo *in, guint index, gint min, gint max, GError **error)
{
  gint rank = in[index].shape.rank;
  if (rank >= 0 && (rank < min || rank > max))
    FAIL (MODEL, "input %u: expected rank %d to %d, got %d", index, min, max, rank);
  return TRUE;
}

/* FALSE where the values are not known yet or are too many. */
gboolean
axon_const_ints (const AxonTypeInfo *info, gint64 *out, guint max, guint *n)
{
  if (info->value == NULL || axon_tensor_get_numel (info->value) > max)
    return FALSE;
  *n = (guint)axon_tensor_get_numel (info->value);
  for (guint i = 0; i < *n; i++)
    out[i] = axon_dtype_load_int (info->dtype, axon_tensor_get_data (info->value), i);
  return TRUE;
}

/* NULL where it was left out. */
AxonTensor *
axon_operand (const AxonNode *node, AxonTensor *const *in, guint index)
{
  return index < node->n_inputs ? in[index] : NULL;
}

gboolean
axon_is_given (const AxonNode *node, const AxonTypeInfo *in, guint index)
{
  return index < node->n_inputs && in[index].dtype != AXON_DTYPE_UNDEFINED;
}

/* What shape inference would be told about the inputs of this run; @infos holds n_inputs. */
void
axon_infos_of (const AxonNode *node, AxonTensor *const *in, AxonTypeInfo *infos)
{
  for (guint i = 0; i < node->n_inputs; i++)
    infos[i] = in[i] ? (AxonTypeInfo){ axon_tensor_get_dtype (in[i]),
                                       *axon_tensor_get_shape (in[i]), in[i] }
                     : (AxonTypeInfo){ .shape = AXON_SHAPE_UNKNOWN };
}

gint64
axon_int_at (const AxonTensor *tensor, gsize i)
{
  return axon_dtype_load_int (axon_tensor_get_dtype (tensor), axon_tensor_get_data (tensor), i);
}

/* An integer that an optional scalar input holds. FALSE: not known yet. */
gboolean
axon_scalar_int (const AxonNode *node, const AxonTypeInfo *in, guint index, gint64 fallback,
                 gint64 *out)
{
  *out = fallback;
  if (!axon_is_given (node, in, index))
    return TRUE;
  if (in[index].value == NULL || axon_tensor_get_numel (in[index].value) < 1)
    return FALSE;
  *out = axon_int_at (in[index].value, 0);
  return TRUE;
}

/* The next index in row-major order; FALSE after the last, then @index is all zero again, and where
 * a run is cancelled, which is asked once a plane. */
gboolean
axon_next_index (gint64 *index, const AxonShape *shape)
{
  for (gint d = shape->rank - 1; d >= 0; d--) {
    if (++index[d] < shape->dims[d])
      return d > shape->rank - 3 || !axon_work_is_cancelled ();
    index[d] = 0;
  }
  return FALSE;
}

/* Lines along @axis: element k of line (o, i) is at (o * n + k) * inner + i. */
AxonLines
axon_lines (const AxonShape *shape, gint axis)
{
  AxonLines lines = { 1, 1, 1 };
  for (gint d = 0; d < shape->rank; d++)
    *(d < axis ? &lines.outer : d == axis ? &lines.n : &lines.inner) *= shape->dims[d];
  return lines;
}

/* Input @index, if it is there, must be one element, of whatever rank. */
gboolean
axon_check_scalar (const AxonTensor *tensor, guint index, GError **error)
{
  if (tensor != NULL && axon_tensor_get_numel (tensor) != 1)
    FAIL (MODEL, "input %u: expected one element", index);
  return TRUE;
}

/* Input @index must hold i32 or i64, as far as its type is known. */
gboolean
axon_check_index_type (const AxonTypeInfo *in, guint index, GError **error)
{
  AxonDType dtype = in[index].dtype;
  if (dtype != AXON_DTYPE_I64 && dtype != AXON_DTYPE_I32 && dtype != AXON_DTYPE_UNDEFINED)
    FAIL (MODEL, "input %u: expected indices of type i32 or i64, got %s", index,
          axon_dtype_get_name (dtype));
  return TRUE;
}

/* @index of a dimension of @n, negative ones counted from the end. */
gboolean
axon_check_index (gint64 index, gint64 n, gint64 *out, GError **error)
{
  if (index < -n || index >= n)
    FAIL (MODEL, "index %" G_GINT64_FORMAT " is outside dimension %" G_GINT64_FORMAT, index, n);
  *out = index < 0 ? index + n : index;
  return TRUE;
}

/* Two's complement: the low bytes of @v. */
void
axon_store_int (AxonDType dtype, gpointer data, gsize i, gint64 v)
{
  switch (axon_dtype_get_size (dtype)) {
  case 1:
    ((guint8 *)data)[i] = (guint8)v;
    break;
  case 2:
    ((guint16 *)data)[i] = (guint16)v;
    break;
  case 4:
    ((guint32 *)data)[i] = (guint32)v;
    break;
  default:
    ((gint64 *)data)[i] = v;
  }
}

/* The element type that attribute @name asks for. */
gboolean
axon_attr_dtype (const AxonNode *node, const gchar *name, AxonDType fallback, AxonDType *out,
                 GError **error)
{
  gint64 value = axon_node_find_attr (node, name) ? axon_node_get_int (node, name) : 0;
  *out = value ? (AxonDType)value : fallback;
  if (value < 0 || value > 31 || !(AXON_DTYPE_BIT (*out) & AXON_DTYPES_ALL))
    FAIL (UNSUPPORTED, "%s %" G_GINT64_FORMAT, name, value);
  return TRUE;
}

/* Elements between two looks at whether all this is still wanted. */
#define BLOCK ((gsize)1 << 16)

gdouble *
axon_load_doubles (const AxonTensor *tensor, GError **error)
{
  gsize n = axon_tensor_get_numel (tensor),
        size = axon_dtype_get_size (axon_tensor_get_dtype (tensor));
  const guint8 *data = axon_tensor_get_data (tensor);
  gdouble *values = axon_scratch_new (n + 1, sizeof *values, error);
  for (gsize i = 0; values != NULL && i < n && !axon_work_is_cancelled (); i += BLOCK)
    axon_dtype_convert (axon_tensor_get_dtype (tensor), data + i * size, AXON_DTYPE_F64, values + i,
                        MIN (BLOCK, n - i));
  return values;
}

void
axon_store_doubles (AxonTensor *tensor, const gdouble *values)
{
  gsize n = axon_tensor_get_numel (tensor);
  AxonDType dtype = axon_tensor_get_dtype (tensor);
  guint8 *data = axon_tensor_get_data (tensor);
  for (gsize i = 0; i < n && !axon_work_is_cancelled (); i += BLOCK)
    axon_dtype_convert (AXON_DTYPE_F64, values + i, dtype, data + i * axon_dtype_get_size (dtype),
                        MIN (BLOCK, n - i));
}

/* Half to even whatever the rounding mode is; saturates, NaN becomes 0. */
gint64
axon_round_even (gdouble v)
{
  gdouble r = floor (v + 0.5);
  if (!(fabs (v) < 9e18))
    return isnan (v) ? 0 : v > 0 ? G_MAXINT64 : G_MININT64;
  if (r - v == 0.5 && fmod (r, 2) != 0)
    r -= 1;
  return (gint64)r;
}
