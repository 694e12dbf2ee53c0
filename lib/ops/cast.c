/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cast (1, 6, 9, 13, 19, 21, 23, 24), CastLike (15 on), BitCast (26). Float to integer saturates
 * and NaN becomes 0; integers wrap, as C's conversions do. */
#include "../tensor/axontensorview-private.h"
#include "ops-private.h"

#include <math.h>
#include <string.h>

static AxonDType
cast_target (const AxonNode *node)
{
  const gchar *name = axon_node_get_string (node, "to");
  if (!axon_node_has_form (node, AXON_FORM_TYPE_NAMES))
    return (AxonDType)axon_node_get_int (node, "to");
  static const struct {
    const gchar *name;
    AxonDType dtype;
  } names[] = { { "FLOAT", AXON_DTYPE_F32 },    { "DOUBLE", AXON_DTYPE_F64 },
                { "FLOAT16", AXON_DTYPE_F16 },  { "UINT8", AXON_DTYPE_U8 },
                { "INT8", AXON_DTYPE_I8 },      { "UINT16", AXON_DTYPE_U16 },
                { "INT16", AXON_DTYPE_I16 },    { "UINT32", AXON_DTYPE_U32 },
                { "INT32", AXON_DTYPE_I32 },    { "UINT64", AXON_DTYPE_U64 },
                { "INT64", AXON_DTYPE_I64 },    { "BOOL", AXON_DTYPE_BOOL },
                { "STRING", AXON_DTYPE_STRING } };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_ascii_strcasecmp (name, names[i].name) == 0)
      return names[i].dtype;
  return AXON_DTYPE_UNDEFINED;
}

static gboolean
infer_cast_to (AxonDType to, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  if (axon_dtype_get_size (to) == 0 || to >= AXON_DTYPE_SEQUENCE)
    FAIL_FOR (DTYPE, UNSUPPORTED, "cast to type %d", (int)to);
  out[0].dtype = to;
  out[0].shape = in[0].shape;
  return TRUE;
}

static gboolean
infer_cast (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  return infer_cast_to (cast_target (node), in, out, error);
}

static gboolean
infer_cast_like (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                 GError **error)
{
  if (in[1].dtype != AXON_DTYPE_UNDEFINED)
    return infer_cast_to (in[1].dtype, in, out, error);
  out[0].shape = in[0].shape; /* the type is known when it runs */
  return TRUE;
}

/* The low bits of @v, as integers of 2 and 4 bits take them. */
static gdouble
low_bits (AxonDType dtype, gint64 v)
{
  gint bits = dtype == AXON_DTYPE_U2 || dtype == AXON_DTYPE_I2 ? 2 : 4;
  gboolean is_signed = dtype == AXON_DTYPE_I2 || dtype == AXON_DTYPE_I4;
  gint64 low = v & ((1 << bits) - 1);
  return (gdouble)(is_signed && low >> (bits - 1) ? low - (1 << bits) : low);
}

/* To a power of two: "up" is what storing does. */
static gdouble
round_scale (gdouble v, const gchar *mode)
{
  gint exp;
  gdouble man = frexp (v, &exp);
  if (g_str_equal (mode, "up") || !isfinite (v) || v <= 0)
    return v;
  if (g_str_equal (mode, "nearest") && man >= 0.75)
    return ldexp (1, exp);
  return ldexp (1, exp - 1);
}

/* Float to an 8-bit float saturates unless the attribute says otherwise. */
static void
cast_numbers (AxonTensor *from, AxonTensor *to, gboolean saturate, const gchar *round_mode)
{
  AxonDType a = axon_tensor_get_dtype (from), b = axon_tensor_get_dtype (to);
  gconstpointer x = axon_tensor_get_data (from);
  gpointer y = axon_tensor_get_data (to);
  gboolean ints = !axon_dtype_is_float (a) && !axon_dtype_is_float (b) && b != AXON_DTYPE_BOOL &&
                  !axon_dtype_is_packed (b);
  for (gsize i = 0; i < axon_tensor_get_numel (from) && WANTED (i); i++) {
    gdouble v = axon_dtype_load (a, x, i);
    if (ints)
      axon_store_int (b, y, i, axon_dtype_load_int (a, x, i));
    else if (axon_dtype_is_packed (b) && !axon_dtype_is_float (b))
      axon_dtype_store (b, y, i, low_bits (b, axon_dtype_load_int (a, x, i)));
    else if (b == AXON_DTYPE_F8E8M0)
      axon_dtype_store (b, y, i, round_scale (v, round_mode));
    else
      axon_dtype_store_cast (b, y, i, v, saturate);
  }
}

static gboolean
eval_cast (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  AxonDType from = axon_tensor_get_dtype (in[0]), to = axon_tensor_get_dtype (out[0]);
  if (from == AXON_DTYPE_STRING && to == from) {
    axon_tensor_copy_boxes (in[0], out[0]);
    return TRUE;
  }
  if (from == to)
    return axon_eval_copy (node, in, out, error);
  if (from == AXON_DTYPE_STRING)
    return axon_cast_from_strings (in[0], out[0], error);
  if (to == AXON_DTYPE_STRING)
    axon_cast_to_strings (in[0], out[0]);
  else
    cast_numbers (in[0], out[0], axon_node_get_int (node, "saturate") != 0,
                  axon_node_find_attr (node, "round_mode")
                      ? axon_node_get_string (node, "round_mode")
                      : "up");
  return TRUE;
}

static gboolean
infer_bit_cast (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  AxonDType to = cast_target (node);
  if (axon_dtype_get_size (to) != axon_dtype_get_size (in[0].dtype) || axon_dtype_is_packed (to) ||
      axon_dtype_is_packed (in[0].dtype) || to == AXON_DTYPE_STRING || to >= AXON_DTYPE_SEQUENCE)
    FAIL (MODEL, "%s and %s differ in size", axon_dtype_get_name (in[0].dtype),
          axon_dtype_get_name (to));
  out[0].dtype = to;
  out[0].shape = in[0].shape;
  return TRUE;
}

#define TO REQUIRED ("to", AXON_ATTR_INT)
#define SATURATE ATTR_I ("saturate", 1), ATTR_S ("round_mode", "up")

static const AxonOp rows[] = {
  {
      .name = "Cast",
      .since = 1,
      .until = 5,
      .form = AXON_FORM_TYPE_NAMES,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (REQUIRED ("to", AXON_ATTR_STRING)),
      .infer = infer_cast,
      .eval = eval_cast,
      .flags = AXON_OP_ELEMENTWISE,
  },
  {
      .name = "Cast",
      .since = 6,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (TO, SATURATE),
      .infer = infer_cast,
      .eval = eval_cast,
      .flags = AXON_OP_ELEMENTWISE | AXON_OP_MAKES_ELEMENTS,
  },
  {
      .name = "CastLike",
      .since = 15,
      .inputs = { 2, 2 },
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (SATURATE),
      .infer = infer_cast_like,
      .eval = eval_cast,
      .flags = AXON_OP_MAKES_ELEMENTS,
  },
  {
      .name = "BitCast",
      .since = 26,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (TO),
      .infer = infer_bit_cast,
      .eval = axon_eval_copy,
  },
};

DEFINE_FAMILY (cast, rows)
