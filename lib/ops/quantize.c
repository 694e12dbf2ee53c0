/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* QuantizeLinear and DequantizeLinear: 10 per tensor, 13 per axis, 19 8-bit floats, 21 blocks, 16
 * and 4 bits, 23 and 25 smaller floats and integers. */
#include "ops-private.h"
#include "../base/axondtype-private.h"

#include <math.h>

#define PART 512

/* How scales and zero points lie: one, one for each place along axis, or one for each block of
 * block_size places along it. */
static gboolean
check_parameters (const AxonNode *node, const AxonTypeInfo *in, GError **error)
{
  const AxonShape *x = &in[0].shape, *s = &in[1].shape;
  gint64 n = axon_shape_get_numel (s), block = axon_node_get_int (node, "block_size");
  gint axis;
  if (axon_is_given (node, in, 2) && axon_shape_is_static (&in[2].shape) && n >= 0 &&
      axon_shape_get_numel (&in[2].shape) != n)
    FAIL (MODEL, "the zero point must have as many elements as the scale");
  if (x->rank < 0 || n < 0 || (n == 1 && s->rank <= 1))
    return TRUE;
  if (axon_node_has_form (node, AXON_FORM_PER_TENSOR))
    FAIL (MODEL, "per-axis scales need opset 13");
  if (!axon_check_axis (axon_node_get_int (node, "axis"), x->rank, &axis, error))
    return FALSE;
  if (s->rank <= 1) {
    if (x->dims[axis] >= 0 && x->dims[axis] != n)
      FAIL (MODEL, "%" G_GINT64_FORMAT " scales for a dimension of %" G_GINT64_FORMAT, n,
            x->dims[axis]);
    return TRUE;
  }
  for (gint d = 0; d < s->rank && s->rank == x->rank; d++) {
    gint64 expected = d == axis && block > 0 ? (x->dims[d] + block - 1) / block : x->dims[d];
    if (x->dims[d] >= 0 && s->dims[d] != expected)
      FAIL (MODEL, "dimension %d of the scale is %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT,
            d, s->dims[d], expected);
  }
  if (s->rank != x->rank || block < 1)
    FAIL (MODEL, "a scale of rank %d needs block_size and an input of that rank", s->rank);
  return TRUE;
}

#define QUANTIZED                                                                                  \
  (AXON_DTYPES_BYTE | AXON_DTYPE_BIT (AXON_DTYPE_U16) | AXON_DTYPE_BIT (AXON_DTYPE_I16) |          \
   AXON_DTYPES_F8 | AXON_DTYPES_PACKED)

static gboolean
infer_quantize (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 wanted =
      axon_node_find_attr (node, "output_dtype") ? axon_node_get_int (node, "output_dtype") : 0;
  AxonDType zero = axon_is_given (node, in, 2) ? in[2].dtype : AXON_DTYPE_UNDEFINED;
  if (wanted < 0 || wanted >= AXON_N_DTYPES || (wanted && zero && (AxonDType)wanted != zero))
    FAIL (MODEL, "output_dtype %" G_GINT64_FORMAT " is not the zero point's type", wanted);
  out[0].dtype = zero ? zero : wanted ? (AxonDType)wanted : AXON_DTYPE_U8;
  out[0].shape = in[0].shape;
  if (!(AXON_DTYPE_BIT (out[0].dtype) & QUANTIZED))
    FAIL_FOR (DTYPE, UNSUPPORTED, "quantising to %s", axon_dtype_get_name (out[0].dtype));
  return check_parameters (node, in, error);
}

static gboolean
infer_dequantize (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  if (!axon_attr_dtype (node, "output_dtype", in[1].dtype, &out[0].dtype, error))
    return FALSE;
  out[0].shape = in[0].shape;
  return check_parameters (node, in, error);
}

/* Which scale and zero point belong to element @i */
typedef struct {
  const AxonTensor *scale, *zero;
  AxonLines x;
  gint64 block, n_blocks;
  gboolean single;
} Params;

static Params
get_params (const AxonNode *node, AxonTensor *const *in)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]), *s = axon_tensor_get_shape (in[1]);
  Params p = { .scale = in[1],
               .zero = axon_operand (node, in, 2),
               .block = s->rank > 1 ? axon_node_get_int (node, "block_size") : 1,
               .single = axon_tensor_get_numel (in[1]) == 1 };
  gint axis = 0;
  if (p.single || !axon_check_axis (axon_node_get_int (node, "axis"), x->rank, &axis, NULL))
    return p;
  p.x = axon_lines (x, axis);
  p.n_blocks = s->rank > 1 ? s->dims[axis] : p.x.n;
  if (s->rank <= 1) { /* the same for all lines */
    p.x.outer = 1;
    p.x.inner = MAX (p.x.inner, 1);
  }
  return p;
}

static gsize
param_index (const Params *p, gsize i)
{
  gint64 at = (gint64)i, k, o;
  if (p->single)
    return 0;
  k = at / p->x.inner % p->x.n / p->block;
  if (axon_tensor_get_shape (p->scale)->rank <= 1)
    return (gsize)k;
  o = at / p->x.inner / p->x.n;
  return (gsize)((o * p->n_blocks + k) * p->x.inner + at % p->x.inner);
}

/* How many elements from @i on have its scale, of @n. */
static gsize
same_scale (const Params *p, gsize i, gsize n)
{
  if (p->single)
    return n - i;
  return axon_tensor_get_shape (p->scale)->rank <= 1 ? (gsize)p->x.inner - i % (gsize)p->x.inner
                                                     : 1;
}

static gdouble
zero_at (const Params *p, gsize k)
{
  return p->zero ? axon_tensor_get_value (p->zero, k) : 0;
}

static gboolean
eval_quantize (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  Params p = get_params (node, in);
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  AxonDType to = axon_tensor_get_dtype (out[0]);
  gboolean floats = axon_dtype_is_float (to);
  gboolean saturate =
      axon_node_has_form (node, AXON_FORM_SATURATES) || axon_node_get_int (node, "saturate") != 0;
  for (gsize i = 0; i < axon_tensor_get_numel (in[0]) && WANTED (i); i++) {
    gsize k = param_index (&p, i);
    /* Divide in single precision as the specification's f32 tensors do, for the same ties. */
    gdouble q = (gdouble)((gfloat)x[i] / (gfloat)axon_tensor_get_value (p.scale, k));
    if (!floats && fabs (q) < 1e9)
      q = (gdouble)axon_round_even (q);
    axon_dtype_store_cast (to, axon_tensor_get_data (out[0]), i, q + zero_at (&p, k), saturate);
  }
  return TRUE;
}

/* In parts that stay in the processor's cache: weights are dequantised by the million. */
static gboolean
eval_dequantize (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                 G_GNUC_UNUSED GError **error)
{
  Params p = get_params (node, in);
  AxonDType from = axon_tensor_get_dtype (in[0]), to = axon_tensor_get_dtype (out[0]);
  const guint8 *x = axon_tensor_get_data (in[0]);
  guint8 *y = axon_tensor_get_data (out[0]);
  gsize n = axon_tensor_get_numel (in[0]), n_part;
  gdouble part[PART];
  for (gsize i = 0; i < n; i += n_part) {
    gsize k = param_index (&p, i);
    gdouble zero = zero_at (&p, k), scale = axon_tensor_get_value (p.scale, k);
    n_part = MIN (same_scale (&p, i, n), PART);
    axon_dtype_convert (from, x + i * axon_dtype_get_size (from), AXON_DTYPE_F64, part, n_part);
    for (gsize j = 0; j < n_part; j++)
      part[j] = (part[j] - zero) * scale;
    axon_dtype_convert (AXON_DTYPE_F64, part, to, y + i * axon_dtype_get_size (to), n_part);
  }
  return TRUE;
}

#define QUANTIZE_TYPES (AXON_DTYPES_FLOAT | AXON_DTYPE_BIT (AXON_DTYPE_I32))
#define DEQUANTIZE_TYPES (QUANTIZED | AXON_DTYPE_BIT (AXON_DTYPE_I32))
#define AXIS ATTR_I ("axis", 1)
#define BLOCK ATTR_I ("block_size", 0), ATTR_I ("output_dtype", 0)

#define QUANTIZE                                                                                   \
  .name = "QuantizeLinear", .inputs = { 2, 3 }, .operands = ".s.", .outputs = { 1, 1 },            \
  .types = QUANTIZE_TYPES, .same_type_inputs = 1, .infer = infer_quantize, .eval = eval_quantize
#define DEQUANTIZE                                                                                 \
  .name = "DequantizeLinear", .inputs = { 2, 3 }, .operands = ".sx", .outputs = { 1, 1 },          \
  .types = DEQUANTIZE_TYPES, .same_type_inputs = 1, .infer = infer_dequantize,                     \
  .eval = eval_dequantize

static const AxonOp rows[] = {
  { QUANTIZE, .since = 10, .until = 12, .form = AXON_FORM_PER_TENSOR | AXON_FORM_SATURATES },
  { QUANTIZE, .since = 13, .until = 18, .form = AXON_FORM_SATURATES, .attrs = ATTRS (AXIS) },
  { QUANTIZE, .since = 19, .until = 20, .attrs = ATTRS (AXIS, ATTR_I ("saturate", 1)) },
  { QUANTIZE, .since = 21,
    .attrs = ATTRS (AXIS, ATTR_I ("saturate", 1), BLOCK, ATTR_I ("precision", 0)) },
  { DEQUANTIZE, .since = 10, .until = 12, .form = AXON_FORM_PER_TENSOR },
  { DEQUANTIZE, .since = 13, .until = 20, .attrs = ATTRS (AXIS) },
  { DEQUANTIZE, .since = 21, .attrs = ATTRS (AXIS, BLOCK) },
};

DEFINE_FAMILY (quantize, rows)
