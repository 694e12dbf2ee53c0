/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The dtype table: every fact about an element type stands in its one row. */
#include "axondtype-private.h"
#include "axonfloat8-private.h"
#include "axonhalf-private.h"

#include <math.h>

typedef struct {
  const gchar *name;
  const gchar *npy;  /* NumPy array protocol type string; NULL: not storable */
  const gchar *caps; /* name in other/tensors caps; NULL: none */
  gsize size;
  gboolean is_float;
  gdouble (*load) (gconstpointer data, gsize i);
  void (*store) (gpointer data, gsize i, gdouble v);
} DTypeRow;

#define LOAD(name, type)                                                                           \
  static gdouble load_##name (gconstpointer data, gsize i)                                         \
  {                                                                                                \
    return (gdouble)((const type *)data)[i];                                                       \
  }
#define INT_TYPE(name, type, lo, hi)                                                               \
  LOAD (name, type)                                                                                \
  static void store_##name (gpointer data, gsize i, gdouble v)                                     \
  {                                                                                                \
    ((type *)data)[i] = isnan (v) ? 0 : v <= (gdouble)lo ? lo : v >= (gdouble)hi ? hi : (type)v;   \
  }
#define FLOAT_TYPE(name, type)                                                                     \
  LOAD (name, type)                                                                                \
  static void store_##name (gpointer data, gsize i, gdouble v)                                     \
  {                                                                                                \
    ((type *)data)[i] = (type)v;                                                                   \
  }

/* Saturating, NaN becomes 0: float to integer never traps and never wraps. */
INT_TYPE (u8, guint8, 0, G_MAXUINT8)
INT_TYPE (i8, gint8, G_MININT8, G_MAXINT8)
INT_TYPE (u16, guint16, 0, G_MAXUINT16)
INT_TYPE (i16, gint16, G_MININT16, G_MAXINT16)
INT_TYPE (u32, guint32, 0, G_MAXUINT32)
INT_TYPE (i32, gint32, G_MININT32, G_MAXINT32)
INT_TYPE (u64, guint64, 0, G_MAXUINT64)
INT_TYPE (i64, gint64, G_MININT64, G_MAXINT64)
FLOAT_TYPE (f32, gfloat)
FLOAT_TYPE (f64, gdouble)
LOAD (bool, guint8)

static void
store_bool (gpointer data, gsize i, gdouble v)
{
  ((guint8 *)data)[i] = v != 0;
}

static gdouble
load_f16 (gconstpointer data, gsize i)
{
  return (gdouble)axon_half_to_float (((const guint16 *)data)[i]);
}

static void
store_f16 (gpointer data, gsize i, gdouble v)
{
  ((guint16 *)data)[i] = axon_float_to_half ((gfloat)v);
}

static gdouble
load_bf16 (gconstpointer data, gsize i)
{
  return (gdouble)axon_bf16_to_float (((const guint16 *)data)[i]);
}

static void
store_bf16 (gpointer data, gsize i, gdouble v)
{
  ((guint16 *)data)[i] = axon_float_to_bf16 ((gfloat)v);
}

#define TINY_FLOAT(name)                                                                           \
  static gdouble load_##name (gconstpointer data, gsize i)                                         \
  {                                                                                                \
    return axon_float8_decode (&axon_##name, ((const guint8 *)data)[i]);                           \
  }                                                                                                \
  static void store_##name (gpointer data, gsize i, gdouble v)                                     \
  {                                                                                                \
    ((guint8 *)data)[i] = axon_float8_encode (&axon_##name, v, TRUE);                              \
  }
TINY_FLOAT (f8e4m3fn)
TINY_FLOAT (f8e4m3fnuz)
TINY_FLOAT (f8e5m2)
TINY_FLOAT (f8e5m2fnuz)
TINY_FLOAT (f4e2m1)
TINY_FLOAT (f8e8m0)

#define TINY_INT(name, type, lo, hi)                                                               \
  static void store_##name (gpointer data, gsize i, gdouble v)                                     \
  {                                                                                                \
    ((type *)data)[i] = isnan (v) ? 0 : v <= lo ? lo : v >= hi ? hi : (type)v;                     \
  }
TINY_INT (u4, guint8, 0, 15)
TINY_INT (i4, gint8, -8, 7)
TINY_INT (u2, guint8, 0, 3)
TINY_INT (i2, gint8, -2, 1)

/* What text says as a number; 0 where it says none. */
static gdouble
load_string (gconstpointer data, gsize i)
{
  const gchar *text = ((gchar *const *)data)[i];
  return text ? g_ascii_strtod (text, NULL) : 0;
}

/* Boxed elements are no numbers and are never written as such. */
static gdouble
load_boxed (G_GNUC_UNUSED gconstpointer data, G_GNUC_UNUSED gsize i)
{
  return 0;
}

static void
store_boxed (G_GNUC_UNUSED gpointer data, G_GNUC_UNUSED gsize i, G_GNUC_UNUSED gdouble v)
{
}

/* clang-format off */
static const DTypeRow dtypes[AXON_N_DTYPES] = {
  [AXON_DTYPE_UNDEFINED] = { "undefined", NULL, NULL, 0, FALSE, NULL, NULL },
  [AXON_DTYPE_F32]    = { "f32", "<f4", "float32", 4, TRUE, load_f32, store_f32 },
  [AXON_DTYPE_U8]     = { "u8", "|u1", "uint8", 1, FALSE, load_u8, store_u8 },
  [AXON_DTYPE_I8]     = { "i8", "|i1", "int8", 1, FALSE, load_i8, store_i8 },
  [AXON_DTYPE_U16]    = { "u16", "<u2", "uint16", 2, FALSE, load_u16, store_u16 },
  [AXON_DTYPE_I16]    = { "i16", "<i2", "int16", 2, FALSE, load_i16, store_i16 },
  [AXON_DTYPE_I32]    = { "i32", "<i4", "int32", 4, FALSE, load_i32, store_i32 },
  [AXON_DTYPE_I64]    = { "i64", "<i8", "int64", 8, FALSE, load_i64, store_i64 },
  [AXON_DTYPE_STRING] = { "string", NULL, NULL, sizeof (gpointer), FALSE, load_string, store_boxed },
  [AXON_DTYPE_BOOL]   = { "bool", "|b1", NULL, 1, FALSE, load_bool, store_bool },
  [AXON_DTYPE_F16]    = { "f16", "<f2", "float16", 2, TRUE, load_f16, store_f16 },
  [AXON_DTYPE_F64]    = { "f64", "<f8", "float64", 8, TRUE, load_f64, store_f64 },
  [AXON_DTYPE_U32]    = { "u32", "<u4", "uint32", 4, FALSE, load_u32, store_u32 },
  [AXON_DTYPE_U64]    = { "u64", "<u8", "uint64", 8, FALSE, load_u64, store_u64 },
  [AXON_DTYPE_C64]    = { "c64", NULL, NULL, 0, FALSE, NULL, NULL },
  [AXON_DTYPE_C128]   = { "c128", NULL, NULL, 0, FALSE, NULL, NULL },
  [AXON_DTYPE_BF16]   = { "bf16", NULL, NULL, 2, TRUE, load_bf16, store_bf16 },
  [AXON_DTYPE_F8E4M3FN] = { "f8e4m3fn", NULL, NULL, 1, TRUE, load_f8e4m3fn, store_f8e4m3fn },
  [AXON_DTYPE_F8E4M3FNUZ] = { "f8e4m3fnuz", NULL, NULL, 1, TRUE, load_f8e4m3fnuz, store_f8e4m3fnuz },
  [AXON_DTYPE_F8E5M2] = { "f8e5m2", NULL, NULL, 1, TRUE, load_f8e5m2, store_f8e5m2 },
  [AXON_DTYPE_F8E5M2FNUZ] = { "f8e5m2fnuz", NULL, NULL, 1, TRUE, load_f8e5m2fnuz, store_f8e5m2fnuz },
  [AXON_DTYPE_U4]     = { "u4", NULL, NULL, 1, FALSE, load_u8, store_u4 },
  [AXON_DTYPE_I4]     = { "i4", NULL, NULL, 1, FALSE, load_i8, store_i4 },
  [AXON_DTYPE_F4E2M1] = { "f4e2m1", NULL, NULL, 1, TRUE, load_f4e2m1, store_f4e2m1 },
  [AXON_DTYPE_F8E8M0] = { "f8e8m0", NULL, NULL, 1, TRUE, load_f8e8m0, store_f8e8m0 },
  [AXON_DTYPE_U2]     = { "u2", NULL, NULL, 1, FALSE, load_u8, store_u2 },
  [AXON_DTYPE_I2]     = { "i2", NULL, NULL, 1, FALSE, load_i8, store_i2 },
  [AXON_DTYPE_SEQUENCE] = { "sequence", NULL, NULL, sizeof (gpointer), FALSE, load_boxed, store_boxed },
  [AXON_DTYPE_OPTIONAL] = { "optional", NULL, NULL, sizeof (gpointer), FALSE, load_boxed, store_boxed },
};
/* clang-format on */

static const DTypeRow *
dtype_row (AxonDType dtype)
{
  gboolean known = (guint)dtype < AXON_N_DTYPES && dtypes[dtype].name != NULL;
  return &dtypes[known ? dtype : AXON_DTYPE_UNDEFINED];
}

/**
 * axon_dtype_get_name:
 * @dtype: an element type
 *
 * Returns: (transfer none): the short name, such as `f32`; `undefined` for a number that is no
 * dtype
 *
 * Since: 1.0
 */
const gchar *
axon_dtype_get_name (AxonDType dtype)
{
  return dtype_row (dtype)->name;
}

/**
 * axon_dtype_get_size:
 * @dtype: an element type
 *
 * Returns: bytes per element; 0 where tensors of @dtype cannot be stored
 *
 * Since: 1.0
 */
gsize
axon_dtype_get_size (AxonDType dtype)
{
  return dtype_row (dtype)->size;
}

/**
 * axon_dtype_get_npy_descr:
 * @dtype: an element type
 *
 * Returns: (nullable) (transfer none): the type string of NumPy's array protocol, such as `<f4`
 *
 * Since: 1.0
 */
const gchar *
axon_dtype_get_npy_descr (AxonDType dtype)
{
  return dtype_row (dtype)->npy;
}

/**
 * axon_dtype_get_caps_name:
 * @dtype: an element type
 *
 * Returns: (nullable) (transfer none): the name in `other/tensors` caps, such as `float32`
 *
 * Since: 1.0
 */
const gchar *
axon_dtype_get_caps_name (AxonDType dtype)
{
  return dtype_row (dtype)->caps;
}

/**
 * axon_dtype_from_name:
 * @name: `f32`, `<f4` or `float32`
 *
 * Returns: the dtype with that short, NumPy or caps name, or %AXON_DTYPE_UNDEFINED
 *
 * Since: 1.0
 */
AxonDType
axon_dtype_from_name (const gchar *name)
{
  g_return_val_if_fail (name != NULL, AXON_DTYPE_UNDEFINED);
  for (guint i = 1; i < AXON_N_DTYPES; i++) {
    const DTypeRow *row = &dtypes[i];
    if (g_strcmp0 (row->name, name) == 0 || g_strcmp0 (row->npy, name) == 0 ||
        g_strcmp0 (row->caps, name) == 0)
      return (AxonDType)i;
  }
  return AXON_DTYPE_UNDEFINED;
}

/**
 * axon_dtype_is_float:
 * @dtype: an element type
 *
 * Returns: %TRUE for floating point of any width
 *
 * Since: 1.0
 */
gboolean
axon_dtype_is_float (AxonDType dtype)
{
  return dtype_row (dtype)->is_float;
}

/**
 * axon_dtype_is_packed:
 * @dtype: an element type
 *
 * Returns: %TRUE for types of fewer than 8 bits, which files pack and tensors hold one in a byte
 *
 * Since: 1.0
 */
gboolean
axon_dtype_is_packed (AxonDType dtype)
{
  return (guint)dtype < AXON_N_DTYPES && (AXON_DTYPE_BIT (dtype) & AXON_DTYPES_PACKED) != 0;
}

/**
 * axon_dtype_is_boxed:
 * @dtype: an element type
 *
 * Returns: %TRUE if elements are pointers to something owned: strings and tensors
 *
 * Since: 1.0
 */
gboolean
axon_dtype_is_boxed (AxonDType dtype)
{
  return dtype == AXON_DTYPE_STRING || dtype == AXON_DTYPE_SEQUENCE || dtype == AXON_DTYPE_OPTIONAL;
}

/**
 * axon_dtype_load: (skip)
 * @dtype: a storable element type
 * @data: elements of @dtype
 * @index: which
 *
 * Returns: the element as a double
 *
 * Since: 1.0
 */
gdouble
axon_dtype_load (AxonDType dtype, gconstpointer data, gsize index)
{
  return dtype_row (dtype)->load (data, index);
}

/**
 * axon_dtype_store: (skip)
 * @dtype: a storable element type
 * @data: elements of @dtype
 * @index: which
 * @value: what to store; saturated to the range of integer types, NaN becomes 0 there
 *
 * Since: 1.0
 */
void
axon_dtype_store (AxonDType dtype, gpointer data, gsize index, gdouble value)
{
  dtype_row (dtype)->store (data, index, value);
}

#define WEIGHTS(name, from, to, convert)                                                           \
  static void name (gconstpointer x, gpointer y, gsize n)                                          \
  {                                                                                                \
    for (gsize i = 0; i < n; i++)                                                                  \
      ((to *)y)[i] = (to)convert (((const from *)x)[i]);                                           \
  }
WEIGHTS (f32_to_f64, gfloat, gdouble, )
WEIGHTS (f64_to_f32, gdouble, gfloat, )
WEIGHTS (i8_to_f64, gint8, gdouble, )
WEIGHTS (f16_to_f32, guint16, gfloat, axon_half_to_float)

/* What millions of weights are converted between when a model is compiled. */
static const struct {
  AxonDType from, to;
  void (*convert) (gconstpointer x, gpointer y, gsize n);
} fast[] = {
  { AXON_DTYPE_F32, AXON_DTYPE_F64, f32_to_f64 },
  { AXON_DTYPE_F64, AXON_DTYPE_F32, f64_to_f32 },
  { AXON_DTYPE_I8, AXON_DTYPE_F64, i8_to_f64 },
  { AXON_DTYPE_F16, AXON_DTYPE_F32, f16_to_f32 },
};

void
axon_dtype_convert (AxonDType from, gconstpointer x, AxonDType to, gpointer y, gsize n)
{
  for (guint k = 0; k < G_N_ELEMENTS (fast); k++)
    if (fast[k].from == from && fast[k].to == to) {
      fast[k].convert (x, y, n);
      return;
    }
  for (gsize i = 0; i < n; i++)
    axon_dtype_store (to, y, i, axon_dtype_load (from, x, i));
}

/**
 * axon_dtype_store_cast: (skip)
 * @dtype: a storable element type
 * @data: elements of @dtype
 * @index: which
 * @value: what to store
 * @saturate: of 8-bit floats: the largest number for what is beyond, else infinity or NaN
 *
 * Since: 1.0
 */
void
axon_dtype_store_cast (AxonDType dtype, gpointer data, gsize index, gdouble value,
                       gboolean saturate)
{
  static const AxonFloat8 *const formats[] = { &axon_f8e4m3fn, &axon_f8e4m3fnuz, &axon_f8e5m2,
                                               &axon_f8e5m2fnuz };
  if (!saturate && dtype >= AXON_DTYPE_F8E4M3FN && dtype <= AXON_DTYPE_F8E5M2FNUZ)
    ((guint8 *)data)[index] =
        axon_float8_encode (formats[dtype - AXON_DTYPE_F8E4M3FN], value, FALSE);
  else
    axon_dtype_store (dtype, data, index, value);
}

/**
 * axon_dtype_load_int: (skip)
 * @dtype: a storable element type
 * @data: elements of @dtype
 * @index: which
 *
 * Returns: the element as an integer, exact for i64; the bits of a u64
 *
 * Since: 1.0
 */
gint64
axon_dtype_load_int (AxonDType dtype, gconstpointer data, gsize index)
{
  gint64 v = 0;
  if (dtype == AXON_DTYPE_I64 || dtype == AXON_DTYPE_U64)
    return ((const gint64 *)data)[index];
  store_i64 (&v, 0, axon_dtype_load (dtype, data, index));
  return v;
}
