/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the operator families share: tables to register, checks, doubles to compute in, windows. */
#pragma once

#include "axonopset-private.h"
#include <axon/plugin/axonproduct.h>
#include <axon/plugin/axonwork.h>
#include <axon/plugin/axonwindow.h>

#define FAIL(code, ...) FAIL_FOR (UNKNOWN, code, __VA_ARGS__)
#define FAIL_FOR(reason, code, ...)                                                                \
  G_STMT_START                                                                                     \
  {                                                                                                \
    g_set_error (error, AXON_ERROR, AXON_ERROR_##code, __VA_ARGS__);                               \
    axon_error_set_reason (error, AXON_REASON_##reason);                                           \
    return FALSE;                                                                                  \
  }                                                                                                \
  G_STMT_END

#define ATTRS(...) ((const AxonAttrSpec[]){ __VA_ARGS__, { 0 } })
#define ATTR_I(n, d)                                                                               \
  {                                                                                                \
    .name = n, .type = AXON_ATTR_INT, .i = d                                                       \
  }
#define ATTR_F(n, d)                                                                               \
  {                                                                                                \
    .name = n, .type = AXON_ATTR_FLOAT, .f = d                                                     \
  }
#define ATTR_S(n, d)                                                                               \
  {                                                                                                \
    .name = n, .type = AXON_ATTR_STRING, .s = d                                                    \
  }
#define ATTR_INTS(n)                                                                               \
  {                                                                                                \
    .name = n, .type = AXON_ATTR_INTS                                                              \
  }
#define ATTR_FLOATS(n)                                                                             \
  {                                                                                                \
    .name = n, .type = AXON_ATTR_FLOATS                                                            \
  }
#define ATTR(n, t)                                                                                 \
  {                                                                                                \
    .name = n, .type = t                                                                           \
  }
/* Of AXON_FORM_AXIS_BROADCAST. */
#define AXIS_ATTRS ATTRS (ATTR_I ("broadcast", 0), ATTR ("axis", AXON_ATTR_INT))
#define REQUIRED(n, t)                                                                             \
  {                                                                                                \
    .name = n, .type = t, .required = TRUE                                                         \
  }

/* Each family registers its table; lib/meson.build lists the families. */
#define DECLARE_FAMILY(name) void axon_ops_##name (AxonOpSet *set)
#define DEFINE_FAMILY(name, rows)                                                                  \
  DECLARE_FAMILY (name);                                                                           \
  void axon_ops_##name (AxonOpSet *set)                                                            \
  {                                                                                                \
    axon_op_set_add (set, rows, G_N_ELEMENTS (rows));                                              \
  }

/* Checks */
gboolean axon_check_axis (gint64 axis, gint rank, gint *out, GError **error);
gboolean axon_check_rank (const AxonTypeInfo *in, guint index, gint min, gint max, GError **error);
/* As axon_window_init(), but the kernel need not fit: nothing comes out of a transposed one. */
gboolean axon_window_read (AxonWindow *w, const AxonNode *node, const AxonShape *x,
                           const gint64 *kernel, gboolean ceil_mode, GError **error);
gboolean axon_const_ints (const AxonTypeInfo *info, gint64 *out, guint max, guint *n);

/* In the condition of a loop over elements: FALSE where nobody wants the result any more, which is
 * asked once in 65,536. */
#define WANTED(i) (((i)&0xffff) != 0 || !axon_work_is_cancelled ())
#define ROW_WANTED(i) (((i)&0xf) != 0 || !axon_work_is_cancelled ()) /* of rows, once in 16 */

/* Operands */
AxonTensor *axon_operand (const AxonNode *node, AxonTensor *const *in, guint index);
gboolean axon_is_given (const AxonNode *node, const AxonTypeInfo *in, guint index);
gint64 axon_int_at (const AxonTensor *tensor, gsize i);
gboolean axon_scalar_int (const AxonNode *node, const AxonTypeInfo *in, guint index,
                          gint64 fallback, gint64 *out);
gboolean axon_attr_dtype (const AxonNode *node, const gchar *name, AxonDType fallback,
                          AxonDType *out, GError **error);
gboolean axon_next_index (gint64 *index, const AxonShape *shape);
gboolean axon_check_scalar (const AxonTensor *tensor, guint index, GError **error);
gboolean axon_check_index_type (const AxonTypeInfo *in, guint index, GError **error);
gboolean axon_check_index (gint64 index, gint64 n, gint64 *out, GError **error);
void axon_store_int (AxonDType dtype, gpointer data, gsize i, gint64 v);

typedef struct {
  gint64 outer, n, inner;
} AxonLines;

AxonLines axon_lines (const AxonShape *shape, gint axis);

/* Elementwise operators of two tensors: one function per kind of number. */
typedef struct {
  gdouble (*f) (gdouble a, gdouble b);
  gint64 (*i) (gint64 a, gint64 b);   /* NULL: computed as doubles */
  gint64 (*u) (guint64 a, guint64 b); /* u64; NULL: as i */
} AxonPair;

void axon_eval_pair (const AxonNode *node, AxonTensor *a, AxonTensor *b, AxonTensor *out,
                     const AxonPair *pair);
gboolean axon_infer_pair (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                          GError **error);

/* Common shape functions */
gboolean axon_infer_same (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                          GError **error);
gboolean axon_infer_broadcast (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                               GError **error);
gboolean axon_eval_copy (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                         GError **error);

/* Reference kernels compute in double: exact for every stored type but 64-bit integers. Free with
 * axon_scratch_free(). */
gdouble *axon_load_doubles (const AxonTensor *tensor, GError **error);
void axon_store_doubles (AxonTensor *tensor, const gdouble *values);
gint64 axon_round_even (gdouble v);

gboolean axon_tuple_offset (const AxonTensor *indices, gsize t, const AxonShape *x, gint64 batch,
                            gint64 batch_index, gint64 *offset, GError **error);

gboolean axon_cast_from_strings (AxonTensor *from, AxonTensor *to, GError **error);
void axon_cast_to_strings (AxonTensor *from, AxonTensor *to);

/* Row-major strides, 0 where @shape is broadcast to @to. */
void axon_broadcast_strides (const AxonShape *shape, const AxonShape *to, gint64 *strides);
void axon_row_strides (const AxonShape *shape, gint64 *strides);

/* Copies elements of @size bytes: dst row-major over @shape, src at offset + sum(index * stride).
 */
void axon_strided_copy (gpointer dst, const guint8 *src, gsize size, const AxonShape *shape,
                        const gint64 *strides);

/* Kernels and shape functions that quantised operators borrow. */
gboolean axon_conv_doubles (const AxonNode *node, const gdouble *x, const AxonShape *xs,
                            const gdouble *k, const AxonShape *ws, const gdouble *b, gdouble *y,
                            GError **error);
gboolean axon_conv_transpose_doubles (const AxonNode *node, const gdouble *x, const AxonShape *xs,
                                      const gdouble *k, const AxonShape *ws, const gdouble *b,
                                      gdouble *y, GError **error);
gboolean axon_infer_conv_transpose (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                                    GError **error);
gboolean axon_infer_conv (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                          GError **error);
gboolean axon_infer_gemm (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                          GError **error);
gboolean axon_infer_matmul (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                            GError **error);
gboolean axon_infer_pool (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                          GError **error);
gboolean axon_infer_global (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                            GError **error);
gboolean axon_infer_softmax (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                             GError **error);
gboolean axon_infer_concat (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                            GError **error);
gboolean axon_eval_matmul (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                           GError **error);
gboolean axon_eval_average_pool (const AxonNode *node, AxonTensor *const *in,
                                 AxonTensor *const *out, GError **error);
gboolean axon_eval_global_average (const AxonNode *node, AxonTensor *const *in,
                                   AxonTensor *const *out, GError **error);
gboolean axon_eval_softmax (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                            GError **error);
gboolean axon_eval_concat (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                           GError **error);
gboolean axon_eval_sigmoid (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                            GError **error);
gboolean axon_eval_leaky_relu (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                               GError **error);
