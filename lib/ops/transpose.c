/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Transpose (1, 13), DepthToSpace (1, 11, 13), SpaceToDepth (1, 13): elements move, none changes.
 */
#include "ops-private.h"

/* perm defaults to reversal. */
static gboolean
get_perm (const AxonNode *node, gint rank, gint *perm, GError **error)
{
  guint n;
  const gint64 *attr = axon_node_get_ints (node, "perm", &n);
  gboolean seen[AXON_MAX_RANK] = { 0 };
  if (attr != NULL && n != (guint)rank)
    FAIL (MODEL, "perm: expected %d values, got %u", rank, n);
  for (gint i = 0; i < rank; i++) {
    gint64 p = attr ? attr[i] : rank - 1 - i;
    if (p < 0 || p >= rank || seen[p])
      FAIL (MODEL, "perm is no permutation of 0 to %d", rank - 1);
    seen[p] = TRUE;
    perm[i] = (gint)p;
  }
  return TRUE;
}

static gboolean
infer_transpose (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint perm[AXON_MAX_RANK];
  axon_infer_same (node, in, out, error);
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!get_perm (node, in[0].shape.rank, perm, error))
    return FALSE;
  for (gint i = 0; i < in[0].shape.rank; i++)
    out[0].shape.dims[i] = in[0].shape.dims[perm[i]];
  return TRUE;
}

static gboolean
eval_transpose (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *from = axon_tensor_get_shape (in[0]);
  gint64 strides[AXON_MAX_RANK], moved[AXON_MAX_RANK];
  gint perm[AXON_MAX_RANK];
  if (!get_perm (node, from->rank, perm, error))
    return FALSE;
  axon_row_strides (from, strides);
  for (gint i = 0; i < from->rank; i++)
    moved[i] = strides[perm[i]];
  axon_strided_copy (axon_tensor_get_data (out[0]), axon_tensor_get_data (in[0]),
                     axon_dtype_get_size (axon_tensor_get_dtype (in[0])),
                     axon_tensor_get_shape (out[0]), moved);
  return TRUE;
}

static gboolean
infer_depth_to_space (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                      GError **error)
{
  gint64 b = axon_node_get_int (node, "blocksize");
  const gchar *mode = axon_node_get_string (node, "mode");
  axon_infer_same (node, in, out, error);
  if (!axon_check_rank (in, 0, 4, 4, error))
    return FALSE;
  if (in[0].shape.rank < 0)
    return TRUE;
  if (b < 1 || b > 4096 || (in[0].shape.dims[1] >= 0 && in[0].shape.dims[1] % (b * b) != 0))
    FAIL (MODEL, "blocksize %" G_GINT64_FORMAT " does not divide %" G_GINT64_FORMAT " channels", b,
          in[0].shape.dims[1]);
  if (!g_str_equal (mode, "DCR") && !g_str_equal (mode, "CRD"))
    FAIL (MODEL, "mode \"%s\": expected DCR or CRD", mode);
  for (gint i = 1; i < 4; i++)
    if (in[0].shape.dims[i] >= 0)
      out[0].shape.dims[i] = i == 1 ? in[0].shape.dims[i] / (b * b) : in[0].shape.dims[i] * b;
  return TRUE;
}

/* out[n, c, h, i, w, j] with strides that depend on the mode. */
static gboolean
eval_depth_to_space (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                     G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]);
  gint64 b = axon_node_get_int (node, "blocksize"), c = x->dims[1] / (b * b);
  gint64 plane = x->dims[2] * x->dims[3];
  gboolean crd = g_str_equal (axon_node_get_string (node, "mode"), "CRD");
  AxonShape shape = AXON_SHAPE (x->dims[0], c, x->dims[2], b, x->dims[3], b);
  gint64 strides[] = { x->dims[1] * plane,
                       crd ? b * b * plane : plane,
                       x->dims[3],
                       crd ? b * plane : b * c * plane,
                       1,
                       crd ? plane : c * plane };
  axon_strided_copy (axon_tensor_get_data (out[0]), axon_tensor_get_data (in[0]),
                     axon_dtype_get_size (axon_tensor_get_dtype (in[0])), &shape, strides);
  return TRUE;
}

static gboolean
infer_space_to_depth (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                      GError **error)
{
  gint64 b = axon_node_get_int (node, "blocksize");
  axon_infer_same (node, in, out, error);
  if (!axon_check_rank (in, 0, 4, 4, error))
    return FALSE;
  if (b < 1 || b > 4096)
    FAIL (MODEL, "blocksize %" G_GINT64_FORMAT " is out of range", b);
  for (gint i = 1; i < in[0].shape.rank; i++) {
    gint64 d = in[0].shape.dims[i];
    if (d >= 0 && i > 1 && d % b != 0)
      FAIL (MODEL, "blocksize %" G_GINT64_FORMAT " does not divide dimension %d", b, i);
    if (d >= 0)
      out[0].shape.dims[i] = i == 1 ? d * b * b : d / b;
  }
  return TRUE;
}

/* out[n, i, j, c, h, w], or out[n, c, i, j, h, w] in mode CRD */
static gboolean
eval_space_to_depth (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                     G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]);
  gint64 b = axon_node_get_int (node, "blocksize"), plane = x->dims[2] * x->dims[3];
  gboolean crd = g_str_equal (axon_node_get_string (node, "mode"), "CRD");
  gint64 c = x->dims[1], w = x->dims[3], h_out = x->dims[2] / b, w_out = w / b;
  AxonShape shape = crd ? AXON_SHAPE (x->dims[0], c, b, b, h_out, w_out)
                        : AXON_SHAPE (x->dims[0], b, b, c, h_out, w_out);
  gint64 strides[] = { c * plane, crd ? plane : w, crd ? w : 1, crd ? 1 : plane, b * w, b };
  axon_strided_copy (axon_tensor_get_data (out[0]), axon_tensor_get_data (in[0]),
                     axon_dtype_get_size (axon_tensor_get_dtype (in[0])), &shape, strides);
  return TRUE;
}

static const AxonOp rows[] = {
  {
      .name = "SpaceToDepth",
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (REQUIRED ("blocksize", AXON_ATTR_INT), ATTR_S ("mode", "DCR")),
      .infer = infer_space_to_depth,
      .eval = eval_space_to_depth,
  },
  {
      .name = "Transpose",
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_INTS ("perm")),
      .infer = infer_transpose,
      .eval = eval_transpose,
  },
  {
      .name = "DepthToSpace",
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (REQUIRED ("blocksize", AXON_ATTR_INT), ATTR_S ("mode", "DCR")),
      .infer = infer_depth_to_space,
      .eval = eval_depth_to_space,
  },
};

DEFINE_FAMILY (transpose, rows)
