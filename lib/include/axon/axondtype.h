/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib-object.h>

#include <axon/axonapi.h>

G_BEGIN_DECLS

/**
 * AxonDType:
 * @AXON_DTYPE_UNDEFINED: no element type
 * @AXON_DTYPE_F32: IEEE 754 single precision
 * @AXON_DTYPE_U8: unsigned 8 bit
 * @AXON_DTYPE_I8: signed 8 bit
 * @AXON_DTYPE_U16: unsigned 16 bit
 * @AXON_DTYPE_I16: signed 16 bit
 * @AXON_DTYPE_I32: signed 32 bit
 * @AXON_DTYPE_I64: signed 64 bit
 * @AXON_DTYPE_STRING: text; elements are owned strings, %NULL is the empty one
 * @AXON_DTYPE_BOOL: one byte, 0 or 1
 * @AXON_DTYPE_F16: IEEE 754 half precision
 * @AXON_DTYPE_F64: IEEE 754 double precision
 * @AXON_DTYPE_U32: unsigned 32 bit
 * @AXON_DTYPE_U64: unsigned 64 bit
 * @AXON_DTYPE_C64: two floats
 * @AXON_DTYPE_C128: two doubles
 * @AXON_DTYPE_BF16: bfloat16
 * @AXON_DTYPE_F8E4M3FN: 8 bit float, no infinity
 * @AXON_DTYPE_F8E4M3FNUZ: 8 bit float, no infinity, no negative zero
 * @AXON_DTYPE_F8E5M2: 8 bit float
 * @AXON_DTYPE_F8E5M2FNUZ: 8 bit float, no infinity, no negative zero
 * @AXON_DTYPE_U4: unsigned 4 bit
 * @AXON_DTYPE_I4: signed 4 bit
 * @AXON_DTYPE_F4E2M1: 4 bit float
 * @AXON_DTYPE_F8E8M0: power of two
 * @AXON_DTYPE_U2: unsigned 2 bit
 * @AXON_DTYPE_I2: signed 2 bit
 * @AXON_DTYPE_SEQUENCE: elements are tensors; a list of them has rank 1
 * @AXON_DTYPE_OPTIONAL: one tensor, or none where there is no element
 *
 * Element types. The numbers are those of ONNX `TensorProto.DataType`, so no mapping exists to
 * drift; the last two are Axon's own, for values that are no tensors in ONNX. Elements of 2 and 4
 * bits lie one in a byte.
 *
 * Since: 1.0
 */
typedef enum {
  AXON_DTYPE_UNDEFINED = 0,
  AXON_DTYPE_F32 = 1,
  AXON_DTYPE_U8 = 2,
  AXON_DTYPE_I8 = 3,
  AXON_DTYPE_U16 = 4,
  AXON_DTYPE_I16 = 5,
  AXON_DTYPE_I32 = 6,
  AXON_DTYPE_I64 = 7,
  AXON_DTYPE_STRING = 8,
  AXON_DTYPE_BOOL = 9,
  AXON_DTYPE_F16 = 10,
  AXON_DTYPE_F64 = 11,
  AXON_DTYPE_U32 = 12,
  AXON_DTYPE_U64 = 13,
  AXON_DTYPE_C64 = 14,
  AXON_DTYPE_C128 = 15,
  AXON_DTYPE_BF16 = 16,
  AXON_DTYPE_F8E4M3FN = 17,
  AXON_DTYPE_F8E4M3FNUZ = 18,
  AXON_DTYPE_F8E5M2 = 19,
  AXON_DTYPE_F8E5M2FNUZ = 20,
  AXON_DTYPE_U4 = 21,
  AXON_DTYPE_I4 = 22,
  AXON_DTYPE_F4E2M1 = 23,
  AXON_DTYPE_F8E8M0 = 24,
  AXON_DTYPE_U2 = 25,
  AXON_DTYPE_I2 = 26,
  AXON_DTYPE_SEQUENCE = 30,
  AXON_DTYPE_OPTIONAL = 31,
} AxonDType;

/* The length of the table of element types, #AXON_DTYPE_UNDEFINED and unused numbers included. */
#define AXON_N_DTYPES 32

AXON_API const gchar *axon_dtype_get_name (AxonDType dtype);
AXON_API gsize axon_dtype_get_size (AxonDType dtype);
AXON_API const gchar *axon_dtype_get_npy_descr (AxonDType dtype);
AXON_API const gchar *axon_dtype_get_caps_name (AxonDType dtype);
AXON_API AxonDType axon_dtype_from_name (const gchar *name);
AXON_API gboolean axon_dtype_is_float (AxonDType dtype);
AXON_API gboolean axon_dtype_is_packed (AxonDType dtype);
AXON_API gboolean axon_dtype_is_boxed (AxonDType dtype);

AXON_API gdouble axon_dtype_load (AxonDType dtype, gconstpointer data, gsize index);
AXON_API void axon_dtype_store (AxonDType dtype, gpointer data, gsize index, gdouble value);
AXON_API void axon_dtype_store_cast (AxonDType dtype, gpointer data, gsize index, gdouble value,
                                     gboolean saturate);
AXON_API gint64 axon_dtype_load_int (AxonDType dtype, gconstpointer data, gsize index);

/* Sets of dtypes, for the operator rows. */
typedef guint32 AxonDTypeMask;

#define AXON_DTYPE_BIT(dtype) (1u << (dtype))
#define AXON_DTYPES_FLOAT                                                                          \
  (AXON_DTYPE_BIT (AXON_DTYPE_F32) | AXON_DTYPE_BIT (AXON_DTYPE_F16) |                             \
   AXON_DTYPE_BIT (AXON_DTYPE_F64) | AXON_DTYPE_BIT (AXON_DTYPE_BF16))
#define AXON_DTYPES_INT                                                                            \
  (AXON_DTYPE_BIT (AXON_DTYPE_U8) | AXON_DTYPE_BIT (AXON_DTYPE_I8) |                               \
   AXON_DTYPE_BIT (AXON_DTYPE_U16) | AXON_DTYPE_BIT (AXON_DTYPE_I16) |                             \
   AXON_DTYPE_BIT (AXON_DTYPE_I32) | AXON_DTYPE_BIT (AXON_DTYPE_I64) |                             \
   AXON_DTYPE_BIT (AXON_DTYPE_U32) | AXON_DTYPE_BIT (AXON_DTYPE_U64))
#define AXON_DTYPES_NUMERIC (AXON_DTYPES_FLOAT | AXON_DTYPES_INT)
#define AXON_DTYPES_ALL (AXON_DTYPES_NUMERIC | AXON_DTYPE_BIT (AXON_DTYPE_BOOL))
#define AXON_DTYPES_F8                                                                             \
  (AXON_DTYPE_BIT (AXON_DTYPE_F8E4M3FN) | AXON_DTYPE_BIT (AXON_DTYPE_F8E4M3FNUZ) |                 \
   AXON_DTYPE_BIT (AXON_DTYPE_F8E5M2) | AXON_DTYPE_BIT (AXON_DTYPE_F8E5M2FNUZ) |                   \
   AXON_DTYPE_BIT (AXON_DTYPE_F8E8M0))
#define AXON_DTYPES_PACKED                                                                         \
  (AXON_DTYPE_BIT (AXON_DTYPE_U4) | AXON_DTYPE_BIT (AXON_DTYPE_I4) |                               \
   AXON_DTYPE_BIT (AXON_DTYPE_F4E2M1) | AXON_DTYPE_BIT (AXON_DTYPE_U2) |                           \
   AXON_DTYPE_BIT (AXON_DTYPE_I2))
#define AXON_DTYPES_BYTE (AXON_DTYPE_BIT (AXON_DTYPE_U8) | AXON_DTYPE_BIT (AXON_DTYPE_I8))

G_END_DECLS
