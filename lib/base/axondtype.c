/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The dtype table: every fact about an element type stands in its one row. */
#include "axondtype.h"
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
  [AXON_DTYPE_STRING] = { "string", NULL, NULL, 0, FALSE, NULL, NULL },
  [AXON_DTYPE_BOOL]   = { "bool", "|b1", NULL, 1, FALSE, load_bool, store_bool },
  [AXON_DTYPE_F16]    = { "f16", "<f2", "float16", 2, TRUE, load_f16, store_f16 },
  [AXON_DTYPE_F64]    = { "f64", "<f8", "float64", 8, TRUE, load_f64, store_f64 },
  [AXON_DTYPE_U32]    = { "u32", "<u4", "uint32", 4, FALSE, load_u32, store_u32 },
  [AXON_DTYPE_U64]    = { "u64", "<u8", "uint64", 8, FALSE, load_u64, store_u64 },
  [AXON_DTYPE_C64]    = { "c64", NULL, NULL, 0, FALSE, NULL, NULL },
  [AXON_DTYPE_C128]   = { "c128", NULL, NULL, 0, FALSE, NULL, NULL },
  [AXON_DTYPE_BF16]   = { "bf16", NULL, NULL, 2, TRUE, load_bf16, store_bf16 },
};
/* clang-format on */

static const DTypeRow *
dtype_row (AxonDType dtype)
{
  return &dtypes[(guint)dtype < AXON_N_DTYPES ? dtype : AXON_DTYPE_UNDEFINED];
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
    if (g_str_equal (row->name, name) || g_strcmp0 (row->npy, name) == 0 ||
        g_strcmp0 (row->caps, name) == 0)
      return (AxonDType)i;
  }
  return AXON_DTYPE_UNDEFINED;
}

/**
 * axon_dtype_is_float:
 * @dtype: an element type
 *
 * Returns: %TRUE for f16, bf16, f32 and f64
 *
 * Since: 1.0
 */
gboolean
axon_dtype_is_float (AxonDType dtype)
{
  return dtype_row (dtype)->is_float;
}

/**
 * axon_dtype_load: (skip)
 * @dtype: a storable element type
 * @data: elements of @dtype
 * @index: which
 *
 * Returns: the element as a double
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
 */
void
axon_dtype_store (AxonDType dtype, gpointer data, gsize index, gdouble value)
{
  dtype_row (dtype)->store (data, index, value);
}

/**
 * axon_dtype_load_int: (skip)
 * @dtype: a storable element type
 * @data: elements of @dtype
 * @index: which
 *
 * Returns: the element as an integer, exact for i64
 */
gint64
axon_dtype_load_int (AxonDType dtype, gconstpointer data, gsize index)
{
  gint64 v = 0;
  if (dtype == AXON_DTYPE_I64)
    return ((const gint64 *)data)[index];
  store_i64 (&v, 0, axon_dtype_load (dtype, data, index));
  return v;
}
