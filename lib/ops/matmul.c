/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gemm (1, 6, 7, 9, 11, 13) and MatMul (1, 9, 13: numpy.matmul). */
#include "ops-private.h"

gboolean
axon_infer_gemm (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gboolean ta = axon_node_get_int (node, "transA") != 0,
           tb = axon_node_get_int (node, "transB") != 0;
  gint64 ka, kb;
  out[0].dtype = in[0].dtype;
  if (!axon_check_rank (in, 0, 2, 2, error) || !axon_check_rank (in, 1, 2, 2, error))
    return FALSE;
  if (in[0].shape.rank < 0 || in[1].shape.rank < 0)
    return TRUE;
  ka = in[0].shape.dims[ta ? 0 : 1];
  kb = in[1].shape.dims[tb ? 1 : 0];
  if (ka >= 0 && kb >= 0 && ka != kb)
    FAIL (MODEL, "A has inner size %" G_GINT64_FORMAT ", B has %" G_GINT64_FORMAT, ka, kb);
  out[0].shape = AXON_SHAPE (in[0].shape.dims[ta ? 1 : 0], in[1].shape.dims[tb ? 0 : 1]);
  if (node->n_inputs > 2 && axon_shape_is_static (&in[2].shape) &&
      axon_shape_is_static (&out[0].shape)) {
    AxonShape both;
    if (!axon_shape_broadcast (&in[2].shape, &out[0].shape, &both) ||
        !axon_shape_equal (&both, &out[0].shape))
      FAIL (MODEL, "C cannot be broadcast to the result");
  }
  return TRUE;
}

static gboolean
eval_gemm (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  gboolean ta = axon_node_get_int (node, "transA") != 0,
           tb = axon_node_get_int (node, "transB") != 0;
  gdouble alpha = axon_node_get_float (node, "alpha"), beta = axon_node_get_float (node, "beta");
  const AxonShape *ys = axon_tensor_get_shape (out[0]);
  gint64 m = ys->dims[0], n = ys->dims[1], k = axon_tensor_get_dim (in[0], ta ? 0 : 1);
  AXON_AUTO_SCRATCH gdouble *a = axon_load_doubles (in[0], error),
                            *b = axon_load_doubles (in[1], error);
  AXON_AUTO_SCRATCH gdouble *c =
      node->n_inputs > 2 && in[2] ? axon_load_doubles (in[2], error) : NULL;
  if (*error != NULL)
    return FALSE;
  gint64 sc[AXON_MAX_RANK] = { 0 };
  if (c != NULL)
    axon_broadcast_strides (axon_tensor_get_shape (in[2]), ys, sc);
  for (gint64 i = 0; i < m && !axon_work_is_cancelled (); i++)
    for (gint64 j = 0; j < n; j++) {
      gdouble sum = 0;
      for (gint64 l = 0; l < k; l++)
        sum += a[ta ? l * m + i : i * k + l] * b[tb ? j * k + l : l * n + j];
      sum = alpha * sum + (c ? beta * c[i * sc[0] + j * sc[1]] : 0);
      axon_dtype_store (axon_tensor_get_dtype (out[0]), axon_tensor_get_data (out[0]),
                        (gsize)(i * n + j), sum);
    }
  return TRUE;
}

gboolean
axon_infer_matmul (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                   GError **error)
{
  AxonShape a = in[0].shape, b = in[1].shape, batch;
  gboolean va = a.rank == 1, vb = b.rank == 1;
  out[0].dtype = in[0].dtype;
  if (!axon_check_rank (in, 0, 1, AXON_MAX_RANK, error) ||
      !axon_check_rank (in, 1, 1, AXON_MAX_RANK, error))
    return FALSE;
  if (a.rank < 0 || b.rank < 0)
    return TRUE;
  if (va)
    a = AXON_SHAPE (1, a.dims[0]);
  if (vb)
    b = AXON_SHAPE (b.dims[0], 1);
  gint64 m = a.dims[a.rank - 2], ka = a.dims[a.rank - 1], kb = b.dims[b.rank - 2],
         n = b.dims[b.rank - 1];
  if (ka >= 0 && kb >= 0 && ka != kb)
    FAIL (MODEL, "A has inner size %" G_GINT64_FORMAT ", B has %" G_GINT64_FORMAT, ka, kb);
  a.rank -= 2;
  b.rank -= 2;
  if (!axon_shape_broadcast (&a, &b, &batch))
    FAIL (MODEL, "the batch dimensions cannot be broadcast");
  if (!va)
    batch.dims[batch.rank++] = m;
  if (!vb)
    batch.dims[batch.rank++] = n;
  out[0].shape = batch;
  return TRUE;
}

static void
matmul_one (const gdouble *a, const gdouble *b, gdouble *y, gint64 m, gint64 n, gint64 k)
{
  for (gint64 i = 0; i < m; i++)
    for (gint64 l = 0; l < k && ROW_WANTED (l); l++)
      for (gint64 j = 0; j < n; j++)
        y[i * n + j] += a[i * k + l] * b[l * n + j];
}

gboolean
axon_eval_matmul (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                  GError **error)
{
  AxonShape as = *axon_tensor_get_shape (in[0]), bs = *axon_tensor_get_shape (in[1]), batch;
  AXON_AUTO_SCRATCH gdouble *a = axon_load_doubles (in[0], error),
                            *b = axon_load_doubles (in[1], error);
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new0 (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  gint64 sa[AXON_MAX_RANK], sb[AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 }, count;
  gint64 k = as.dims[as.rank - 1];
  gint64 m = as.rank == 1 ? 1 : as.dims[as.rank - 2];
  gint64 n = bs.rank == 1 ? 1 : bs.dims[bs.rank - 1];
  as.rank = MAX (as.rank - 2, 0);
  bs.rank = MAX (bs.rank - 2, 0);
  axon_shape_broadcast (&as, &bs, &batch);
  axon_broadcast_strides (&as, &batch, sa);
  axon_broadcast_strides (&bs, &batch, sb);
  count = axon_shape_get_numel (&batch);
  for (gint64 at = 0; at < count && WANTED (at); at++) {
    gint64 ia = 0, ib = 0;
    for (gint d = 0; d < batch.rank; d++) {
      ia += index[d] * sa[d];
      ib += index[d] * sb[d];
    }
    matmul_one (a + ia * m * k, b + ib * k * n, y + at * m * n, m, n, k);
    for (gint d = batch.rank - 1; d >= 0 && ++index[d] == batch.dims[d]; d--)
      index[d] = 0;
  }
  axon_store_doubles (out[0], y);
  return TRUE;
}

static const AxonOp rows[] = {
  {
      .name = "Gemm",
      .since = 1,
      .until = 6,
      .inputs = { 3, 3 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_NUMERIC,
      .same_type_inputs = 3,
      .attrs = ATTRS (ATTR_F ("alpha", 1), ATTR_F ("beta", 1), ATTR_I ("broadcast", 0),
                      ATTR_I ("transA", 0), ATTR_I ("transB", 0)),
      .infer = axon_infer_gemm,
      .eval = eval_gemm,
  },
  {
      .name = "Gemm",
      .since = 7,
      .inputs = { 2, 3 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_NUMERIC,
      .same_type_inputs = 3,
      .attrs = ATTRS (ATTR_F ("alpha", 1), ATTR_F ("beta", 1), ATTR_I ("transA", 0),
                      ATTR_I ("transB", 0)),
      .infer = axon_infer_gemm,
      .eval = eval_gemm,
  },
  {
      .name = "MatMul",
      .since = 1,
      .inputs = { 2, 2 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_NUMERIC,
      .same_type_inputs = 2,
      .infer = axon_infer_matmul,
      .eval = axon_eval_matmul,
  },
};

DEFINE_FAMILY (matmul, rows)
