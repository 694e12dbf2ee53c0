/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that make shapes or only change them: no element is computed. */
#include "ops-private.h"

#include <string.h>

/* axes: attribute to opset 12, input 1 from 13; NULL where not given. FALSE: not known yet. */
static gboolean
get_axes (const AxonNode *node, const AxonTypeInfo *in, gint64 *axes, guint *n)
{
  const gint64 *attr;
  *n = 0;
  if (!axon_node_has_form (node, AXON_FORM_ATTRIBUTES))
    return node->n_inputs < 2 || in[1].dtype == AXON_DTYPE_UNDEFINED ||
           axon_const_ints (&in[1], axes, AXON_MAX_RANK, n);
  attr = axon_node_get_ints (node, "axes", n);
  *n = MIN (*n, AXON_MAX_RANK);
  for (guint i = 0; i < *n; i++)
    axes[i] = attr[i];
  return TRUE;
}

static gboolean
mark_axes (const gint64 *axes, guint n, gint rank, gboolean *marks, GError **error)
{
  for (guint i = 0; i < n; i++) {
    gint axis;
    if (!axon_check_axis (axes[i], rank, &axis, error))
      return FALSE;
    if (marks[axis])
      FAIL (MODEL, "axis %d is given twice", axis);
    marks[axis] = TRUE;
  }
  return TRUE;
}

/* The new shape: an attribute in opset 1, then input 1. FALSE: not known yet. */
static gboolean
wanted_dims (const AxonNode *node, const AxonTypeInfo *in, gint64 *dims, guint *n)
{
  const gint64 *attr;
  if (!axon_node_has_form (node, AXON_FORM_ATTRIBUTES))
    return axon_const_ints (&in[1], dims, AXON_MAX_RANK, n);
  attr = axon_node_get_ints (node, "shape", n);
  if (*n > AXON_MAX_RANK)
    return FALSE;
  memcpy (dims, attr, *n * sizeof *dims);
  return TRUE;
}

/* Reshape 1, 5, 13, 14: 0 copies a dimension (unless allowzero), one -1 takes the rest. */
static gboolean
infer_reshape (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 dims[AXON_MAX_RANK], known = 1, total = axon_shape_get_numel (&in[0].shape);
  gboolean allow_zero = axon_node_get_int (node, "allowzero") != 0;
  gint rest = -1;
  guint n;
  out[0].dtype = in[0].dtype;
  if (!wanted_dims (node, in, dims, &n)) {
    if (axon_node_has_form (node, AXON_FORM_ATTRIBUTES) || in[1].value != NULL)
      FAIL_FOR (SHAPE, UNSUPPORTED, "reshape to more than %d dimensions", AXON_MAX_RANK);
    if (axon_shape_is_static (&in[1].shape) && in[1].shape.rank == 1 &&
        in[1].shape.dims[0] <= AXON_MAX_RANK) {
      out[0].shape.rank = (gint)in[1].shape.dims[0];
      for (gint i = 0; i < out[0].shape.rank; i++)
        out[0].shape.dims[i] = -1;
    }
    return TRUE;
  }
  out[0].shape.rank = (gint)n;
  for (guint i = 0; i < n; i++) {
    gint64 d = dims[i];
    if (d == 0 && !allow_zero) {
      if ((gint)i >= in[0].shape.rank && in[0].shape.rank >= 0)
        FAIL (MODEL, "dimension %u is 0 (copy), but the input has rank %d", i, in[0].shape.rank);
      d = in[0].shape.rank < 0 ? -1 : in[0].shape.dims[i];
    } else if (d == -1 && rest < 0) {
      rest = (gint)i;
      out[0].shape.dims[i] = -1;
      continue;
    } else if (d < 0) {
      FAIL (MODEL, "dimension %u is %" G_GINT64_FORMAT, i, d);
    }
    out[0].shape.dims[i] = d;
    if (d < 0 || __builtin_mul_overflow (known, d, &known))
      known = total = -1;
  }
  if (total < 0)
    return TRUE;
  if (rest >= 0 && known > 0 && total % known == 0)
    out[0].shape.dims[rest] = total / known;
  else if (rest >= 0 ? known > 0 || total != 0 : total != known)
    FAIL (MODEL, "%" G_GINT64_FORMAT " elements do not fit the new shape", total);
  else if (rest >= 0)
    out[0].shape.dims[rest] = 0;
  return TRUE;
}

static gboolean
infer_flatten (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 axis = axon_node_get_int (node, "axis"), lead = 1, rest = 1;
  gint rank = in[0].shape.rank;
  out[0].dtype = in[0].dtype;
  if (rank < 0)
    return TRUE;
  if (axis < -rank || axis > rank)
    FAIL (MODEL, "axis %" G_GINT64_FORMAT " is outside [-%d, %d]", axis, rank, rank);
  if (axis < 0)
    axis += rank;
  for (gint i = 0; i < rank; i++) {
    gint64 *side = i < axis ? &lead : &rest;
    if (*side < 0 || in[0].shape.dims[i] < 0)
      *side = -1;
    else if (__builtin_mul_overflow (*side, in[0].shape.dims[i], side))
      FAIL (MODEL, "dimension %d: the product of dimensions is too large", i);
  }
  out[0].shape = AXON_SHAPE (lead, rest);
  return TRUE;
}

static gboolean
infer_squeeze (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 axes[AXON_MAX_RANK];
  gboolean marks[AXON_MAX_RANK] = { 0 };
  AxonShape shape = { 0 };
  guint n;
  out[0].dtype = in[0].dtype;
  if (in[0].shape.rank < 0 || !get_axes (node, in, axes, &n))
    return TRUE;
  if (!mark_axes (axes, n, in[0].shape.rank, marks, error))
    return FALSE;
  for (gint i = 0; i < in[0].shape.rank; i++) {
    gint64 d = in[0].shape.dims[i];
    if (n == 0 && d < 0)
      return TRUE;
    if (marks[i] && d >= 0 && d != 1)
      FAIL (MODEL, "dimension %d is %" G_GINT64_FORMAT ", only 1 can be squeezed", i, d);
    if (!(n == 0 ? d == 1 : marks[i]))
      shape.dims[shape.rank++] = d;
  }
  out[0].shape = shape;
  return TRUE;
}

static gboolean
infer_unsqueeze (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 axes[AXON_MAX_RANK];
  gboolean marks[2 * AXON_MAX_RANK] = { 0 };
  AxonShape shape = { 0 };
  gint source = 0;
  guint n;
  out[0].dtype = in[0].dtype;
  if (in[0].shape.rank < 0 || !get_axes (node, in, axes, &n))
    return TRUE;
  shape.rank = in[0].shape.rank + (gint)n;
  if (shape.rank > AXON_MAX_RANK)
    FAIL_FOR (SHAPE, UNSUPPORTED, "rank %d", shape.rank);
  if (!mark_axes (axes, n, shape.rank, marks, error))
    return FALSE;
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = marks[i] ? 1 : in[0].shape.dims[source++];
  out[0].shape = shape;
  return TRUE;
}

/* Shape 15: start and end, clamped. */
static gboolean
infer_shape (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
             G_GNUC_UNUSED GError **error)
{
  gint64 rank = in[0].shape.rank, start = axon_node_get_int (node, "start");
  gint64 end = axon_node_find_attr (node, "end") ? axon_node_get_int (node, "end") : rank;
  gboolean known = TRUE;
  out[0].dtype = AXON_DTYPE_I64;
  if (rank < 0)
    return TRUE;
  start = CLAMP (start < 0 ? start + rank : start, 0, rank);
  end = CLAMP (end < 0 ? end + rank : end, start, rank);
  out[0].shape = AXON_SHAPE (end - start);
  for (gint64 i = start; i < end; i++)
    known = known && in[0].shape.dims[i] >= 0;
  if (known)
    out[0].value = axon_tensor_new_i64 (in[0].shape.dims + start, (gsize)(end - start));
  return TRUE;
}

static gboolean
infer_size (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
            G_GNUC_UNUSED GError **error)
{
  gint64 n = axon_shape_get_numel (&in[0].shape);
  out[0].dtype = AXON_DTYPE_I64;
  out[0].shape = (AxonShape){ 0 };
  if (n >= 0) {
    g_autoptr (AxonTensor) t = axon_tensor_new_i64 (&n, 1);
    out[0].value = axon_tensor_reshape (t, &out[0].shape);
  }
  return TRUE;
}

/* Results that infer already gave: only a caller that skips constant results comes here. */
static gboolean
eval_inferred (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  AxonTypeInfo info = { .dtype = AXON_DTYPE_UNDEFINED }, result = { 0 };
  if (node->n_inputs > 0) {
    info.dtype = axon_tensor_get_dtype (in[0]);
    info.shape = *axon_tensor_get_shape (in[0]);
    info.value = in[0];
  }
  if (!axon_node_infer (node, &info, &result, error))
    return FALSE;
  if (axon_tensor_get_numel (out[0]) > 0)
    memcpy (axon_tensor_get_data (out[0]), axon_tensor_get_data (result.value),
            axon_tensor_get_n_bytes (out[0]));
  axon_tensor_unref (result.value);
  return TRUE;
}

/* Constant 1, 9, 11, 12, 13: one of several attributes holds the value. */
static gboolean
infer_constant (const AxonNode *node, G_GNUC_UNUSED const AxonTypeInfo *in, AxonTypeInfo *out,
                GError **error)
{
  static const gchar *const names[] = { "value", "value_float", "value_int", "value_floats",
                                        "value_ints" };
  const AxonAttr *attr = NULL;
  AxonShape shape = { 0 };
  for (guint i = 0; attr == NULL && i < G_N_ELEMENTS (names); i++)
    attr = axon_node_find_attr (node, names[i]);
  if (attr == NULL)
    FAIL_FOR (DTYPE, UNSUPPORTED, "expected a numeric value attribute");
  if (attr->type == AXON_ATTR_TENSOR) {
    out[0].value = axon_tensor_ref (attr->tensor);
  } else {
    gboolean ints = attr->type == AXON_ATTR_INT || attr->type == AXON_ATTR_INTS;
    gboolean list = attr->type == AXON_ATTR_INTS || attr->type == AXON_ATTR_FLOATS;
    if (list)
      shape = AXON_SHAPE (attr->n);
    out[0].value = axon_tensor_new (ints ? AXON_DTYPE_I64 : AXON_DTYPE_F32, &shape, error);
    if (out[0].value == NULL)
      return FALSE;
    for (guint i = 0; i < (list ? attr->n : 1); i++)
      if (ints)
        ((gint64 *)axon_tensor_get_data (out[0].value))[i] = list ? attr->ints[i] : attr->i;
      else
        ((gfloat *)axon_tensor_get_data (out[0].value))[i] =
            list ? attr->floats[i] : (gfloat)attr->f;
  }
  out[0].dtype = axon_tensor_get_dtype (out[0].value);
  out[0].shape = *axon_tensor_get_shape (out[0].value);
  return TRUE;
}

#define VIEW                                                                                       \
  .outputs = { 1, 1 }, .same_type_inputs = 1, .eval = axon_eval_copy, .flags = AXON_OP_VIEW

static const AxonOp rows[] = {
  {
      .name = "Reshape",
      .since = 1,
      .until = 4,
      .form = AXON_FORM_ATTRIBUTES,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (REQUIRED ("shape", AXON_ATTR_INTS)),
      .infer = infer_reshape,
      .eval = axon_eval_copy,
      .flags = AXON_OP_VIEW,
  },
  {
      .name = "Reshape",
      .since = 5,
      .inputs = { 2, 2 },
      .operands = ".l",
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("allowzero", 0)),
      .infer = infer_reshape,
      .eval = axon_eval_copy,
      .flags = AXON_OP_VIEW,
  },
  { VIEW, .name = "Flatten", .since = 1, .inputs = { 1, 1 }, .attrs = ATTRS (ATTR_I ("axis", 1)),
    .infer = infer_flatten },
  { VIEW, .name = "Squeeze", .since = 1, .until = 12, .form = AXON_FORM_ATTRIBUTES,
    .inputs = { 1, 1 }, .attrs = ATTRS (ATTR_INTS ("axes")), .infer = infer_squeeze },
  { VIEW, .name = "Squeeze", .since = 13, .inputs = { 1, 2 }, .operands = ".l",
    .infer = infer_squeeze },
  { VIEW, .name = "Unsqueeze", .since = 1, .until = 12, .form = AXON_FORM_ATTRIBUTES,
    .inputs = { 1, 1 }, .attrs = ATTRS (REQUIRED ("axes", AXON_ATTR_INTS)),
    .infer = infer_unsqueeze },
  { VIEW, .name = "Unsqueeze", .since = 13, .inputs = { 1, 2 }, .operands = ".l",
    .infer = infer_unsqueeze },
  { VIEW, .name = "Identity", .since = 1, .inputs = { 1, 1 }, .infer = axon_infer_same },
  {
      .name = "Shape",
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("start", 0), { .name = "end", .type = AXON_ATTR_INT }),
      .infer = infer_shape,
      .eval = eval_inferred,
  },
  {
      .name = "Size",
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .infer = infer_size,
      .eval = eval_inferred,
  },
  {
      .name = "Constant",
      .since = 1,
      .inputs = { 0, 0 },
      .outputs = { 1, 1 },
      .attrs = ATTRS ({ .name = "value", .type = AXON_ATTR_TENSOR },
                      { .name = "value_float", .type = AXON_ATTR_FLOAT },
                      { .name = "value_int", .type = AXON_ATTR_INT }, ATTR_FLOATS ("value_floats"),
                      ATTR_INTS ("value_ints")),
      .infer = infer_constant,
      .eval = eval_inferred,
  },
};

DEFINE_FAMILY (reshape, rows)
