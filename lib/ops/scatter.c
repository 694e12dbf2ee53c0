/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ScatterElements (11, 13, 16, 18), its old name Scatter (9), ScatterND (11, 13, 16, 18) and
 * TensorScatter (24). Where several updates meet, they apply in order. */
#include "ops-private.h"

#include <string.h>

typedef gdouble (*ReduceFunc) (gdouble old, gdouble update);

/* clang-format off */
static gdouble reduce_add (gdouble a, gdouble b) { return a + b; }
static gdouble reduce_mul (gdouble a, gdouble b) { return a * b; }
static gdouble reduce_max (gdouble a, gdouble b) { return MAX (a, b); }
static gdouble reduce_min (gdouble a, gdouble b) { return MIN (a, b); }
/* clang-format on */

static const struct {
  const gchar *name;
  ReduceFunc func; /* NULL: the update replaces */
} reductions[] = { { "none", NULL },
                   { "add", reduce_add },
                   { "mul", reduce_mul },
                   { "max", reduce_max },
                   { "min", reduce_min } };

static gboolean
find_reduction (const AxonNode *node, ReduceFunc *func, GError **error)
{
  const gchar *name = axon_node_get_string (node, "reduction");
  *func = NULL;
  for (guint i = 0; name != NULL && i < G_N_ELEMENTS (reductions); i++)
    if (g_str_equal (name, reductions[i].name)) {
      *func = reductions[i].func;
      return TRUE;
    }
  if (name == NULL)
    return TRUE;
  FAIL (MODEL, "reduction \"%s\": expected none, add, mul, max or min", name);
}

static void
put (AxonTensor *out, gsize at, const AxonTensor *updates, gsize i, ReduceFunc func)
{
  AxonDType dtype = axon_tensor_get_dtype (out);
  gsize size = axon_dtype_get_size (dtype);
  guint8 *y = axon_tensor_get_data (out);
  gconstpointer u = axon_tensor_get_data (updates);
  if (func == NULL)
    memcpy (y + at * size, (const guint8 *)u + i * size, size);
  else
    axon_dtype_store (dtype, y, at,
                      func (axon_dtype_load (dtype, y, at), axon_dtype_load (dtype, u, i)));
}

static gboolean
check_updates (const AxonTypeInfo *in, GError **error)
{
  if (in[2].dtype != in[0].dtype && in[2].dtype && in[0].dtype)
    FAIL (MODEL, "updates are %s, data is %s", axon_dtype_get_name (in[2].dtype),
          axon_dtype_get_name (in[0].dtype));
  return axon_check_index_type (in, 1, error);
}

static gboolean
infer_scatter_elements (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                        GError **error)
{
  ReduceFunc func;
  gint axis, rank = in[0].shape.rank;
  axon_infer_same (node, in, out, error);
  if (!check_updates (in, error) || !find_reduction (node, &func, error))
    return FALSE;
  if (rank < 0)
    return TRUE;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), rank, &axis, error))
    return FALSE;
  if (in[1].shape.rank < 0 || in[2].shape.rank < 0)
    return TRUE;
  if (in[1].shape.rank != rank || in[2].shape.rank != rank)
    FAIL (MODEL, "data has rank %d, indices %d, updates %d", rank, in[1].shape.rank,
          in[2].shape.rank);
  for (gint d = 0; d < rank; d++) {
    gint64 n = in[1].shape.dims[d];
    if ((n >= 0 && in[2].shape.dims[d] >= 0 && n != in[2].shape.dims[d]) ||
        (d != axis && in[0].shape.dims[d] >= 0 && n > in[0].shape.dims[d]))
      FAIL (MODEL, "dimension %d of indices (%" G_GINT64_FORMAT ") fits neither updates nor data",
            d, n);
  }
  return TRUE;
}

static gboolean
eval_scatter_elements (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                       GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]), *u = axon_tensor_get_shape (in[1]);
  gint64 strides[AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 };
  ReduceFunc func;
  gint axis;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), x->rank, &axis, error) ||
      !find_reduction (node, &func, error) || !axon_eval_copy (node, in, out, error))
    return FALSE;
  axon_row_strides (x, strides);
  for (gsize i = 0; i < axon_tensor_get_numel (in[1]) && WANTED (i); i++) {
    gint64 at = 0, k;
    if (!axon_check_index (axon_int_at (in[1], i), x->dims[axis], &k, error))
      return FALSE;
    for (gint d = 0; d < x->rank; d++)
      at += (d == axis ? k : index[d]) * strides[d];
    put (out[0], (gsize)at, in[2], i, func);
    axon_next_index (index, u);
  }
  return TRUE;
}

static gboolean
infer_scatter_nd (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const AxonShape *x = &in[0].shape, *at = &in[1].shape, *u = &in[2].shape;
  ReduceFunc func;
  gint64 k;
  axon_infer_same (node, in, out, error);
  if (!check_updates (in, error) || !find_reduction (node, &func, error))
    return FALSE;
  if (x->rank < 0 || !axon_shape_is_static (at) || !axon_shape_is_static (u))
    return TRUE;
  k = at->rank > 0 ? at->dims[at->rank - 1] : 0;
  if (k < 1 || k > x->rank || u->rank != at->rank - 1 + x->rank - k)
    FAIL (MODEL, "indices of rank %d and updates of rank %d do not fit data of rank %d", at->rank,
          u->rank, x->rank);
  for (gint d = 0; d < u->rank; d++) {
    gint64 n = d < at->rank - 1 ? at->dims[d] : x->dims[k + d - (at->rank - 1)];
    if (n >= 0 && u->dims[d] != n)
      FAIL (MODEL, "updates: dimension %d is %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT, d,
            u->dims[d], n);
  }
  return TRUE;
}

static gboolean
eval_scatter_nd (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                 GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]), *at = axon_tensor_get_shape (in[1]);
  gint64 k = at->dims[at->rank - 1];
  gsize row = 1, n = axon_tensor_get_numel (in[1]) / (gsize)k;
  ReduceFunc func;
  if (!find_reduction (node, &func, error) || !axon_eval_copy (node, in, out, error))
    return FALSE;
  for (gint64 d = k; d < x->rank; d++)
    row *= (gsize)x->dims[d];
  for (gsize t = 0; t < n && WANTED (t); t++) {
    gint64 offset;
    if (!axon_tuple_offset (in[1], t, x, 0, 0, &offset, error))
      return FALSE;
    for (gsize i = 0; i < row; i++)
      put (out[0], (gsize)offset * row + i, in[2], t * row + i, func);
  }
  return TRUE;
}

/* TensorScatter 24: a cache [batch, ..., sequence, ...] takes an update at a row's write index. */
static gboolean
eval_tensor_scatter (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                     GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]), *u = axon_tensor_get_shape (in[1]);
  AxonTensor *begin = axon_operand (node, in, 2);
  gboolean circular = g_str_equal (axon_node_get_string (node, "mode"), "circular");
  gint64 strides[AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 };
  gint axis;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), x->rank, &axis, error) ||
      !axon_eval_copy (node, in, out, error))
    return FALSE;
  if (begin != NULL && (gint64)axon_tensor_get_numel (begin) != x->dims[0])
    FAIL (MODEL, "write_indices: expected one for each of %" G_GINT64_FORMAT " rows", x->dims[0]);
  axon_row_strides (x, strides);
  for (gsize i = 0; i < axon_tensor_get_numel (in[1]) && WANTED (i); i++) {
    gint64 at = 0, k = index[axis] + (begin ? axon_int_at (begin, (gsize)index[0]) : 0);
    if (circular && k >= 0)
      k %= x->dims[axis];
    if (k < 0 || k >= x->dims[axis])
      FAIL (MODEL, "write index %" G_GINT64_FORMAT " is outside dimension %" G_GINT64_FORMAT, k,
            x->dims[axis]);
    for (gint d = 0; d < x->rank; d++)
      at += (d == axis ? k : index[d]) * strides[d];
    put (out[0], (gsize)at, in[1], i, NULL);
    axon_next_index (index, u);
  }
  return TRUE;
}

static gboolean
infer_tensor_scatter (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                      GError **error)
{
  gint axis;
  axon_infer_same (node, in, out, error);
  if (in[0].shape.rank < 0 || in[1].shape.rank < 0)
    return TRUE;
  if (in[0].shape.rank != in[1].shape.rank ||
      !axon_check_axis (axon_node_get_int (node, "axis"), in[0].shape.rank, &axis, NULL))
    FAIL (MODEL, "cache and update have ranks %d and %d; axis must lie within", in[0].shape.rank,
          in[1].shape.rank);
  for (gint d = 0; d < in[0].shape.rank; d++)
    if (d != axis && in[1].shape.dims[d] > in[0].shape.dims[d] && in[0].shape.dims[d] >= 0)
      FAIL (MODEL, "dimension %d of the update is larger than the cache", d);
  return TRUE;
}

#define ELEMENTS                                                                                   \
  .inputs = { 3, 3 }, .outputs = { 1, 1 }, .same_type_inputs = 1, .infer = infer_scatter_elements, \
  .eval = eval_scatter_elements

static const AxonOp rows[] = {
  { ELEMENTS, .name = "Scatter", .since = 9, .attrs = ATTRS (ATTR_I ("axis", 0)) },
  { ELEMENTS, .name = "ScatterElements", .since = 11, .until = 15,
    .attrs = ATTRS (ATTR_I ("axis", 0)) },
  { ELEMENTS, .name = "ScatterElements", .since = 16,
    .attrs = ATTRS (ATTR_I ("axis", 0), ATTR_S ("reduction", "none")) },
  {
      .name = "ScatterND",
      .since = 11,
      .inputs = { 3, 3 },
      .operands = ".n.",
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_S ("reduction", "none")),
      .infer = infer_scatter_nd,
      .eval = eval_scatter_nd,
  },
  {
      .name = "TensorScatter",
      .since = 24,
      .inputs = { 2, 3 },
      .operands = "..l",
      .outputs = { 1, 1 },
      .same_type_inputs = 2,
      .attrs = ATTRS (ATTR_I ("axis", -2), ATTR_S ("mode", "linear")),
      .infer = infer_tensor_scatter,
      .eval = eval_tensor_scatter,
  },
};

DEFINE_FAMILY (scatter, rows)
