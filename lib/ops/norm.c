/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BatchNormalization at inference (7, 9, 14, 15). */
#include "ops-private.h"

#include <math.h>

static gboolean
infer_batch_norm (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  if (axon_node_get_int (node, "training_mode") != 0 || node->n_outputs != 1)
    FAIL (UNSUPPORTED, "training mode");
  if (!axon_check_rank (in, 0, 2, AXON_MAX_RANK, error))
    return FALSE;
  for (guint i = 1; i < 5; i++)
    if (in[0].shape.rank > 1 && in[0].shape.dims[1] >= 0 && axon_shape_is_static (&in[i].shape) &&
        axon_shape_get_numel (&in[i].shape) != in[0].shape.dims[1])
      FAIL (MODEL, "input %u: expected %" G_GINT64_FORMAT " channels", i, in[0].shape.dims[1]);
  return axon_infer_same (node, in, out, error);
}

static gboolean
eval_batch_norm (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                 G_GNUC_UNUSED GError **error)
{
  g_autofree gdouble *x = axon_load_doubles (in[0]);
  gdouble epsilon = axon_node_get_float (node, "epsilon");
  gint64 c = axon_tensor_get_dim (in[0], 1);
  gsize n = axon_tensor_get_numel (in[0]);
  gsize plane = n / (gsize)MAX (1, axon_tensor_get_dim (in[0], 0) * c);
  for (gsize i = 0; i < n; i++) {
    gsize k = i / plane % (gsize)c;
    gdouble scale =
        axon_tensor_get_value (in[1], k) / sqrt (axon_tensor_get_value (in[4], k) + epsilon);
    x[i] = (x[i] - axon_tensor_get_value (in[3], k)) * scale + axon_tensor_get_value (in[2], k);
  }
  axon_store_doubles (out[0], x);
  return TRUE;
}

static const AxonOp rows[] = {
  { "BatchNormalization", NULL, 7, 0, 5, 5, 1, 5, AXON_DTYPES_FLOAT, 1,
    ATTRS (ATTR_F ("epsilon", 1e-5), ATTR_F ("momentum", 0.9), ATTR_I ("training_mode", 0)),
    infer_batch_norm, eval_batch_norm, AXON_OP_NONE },
};

DEFINE_FAMILY (norm, rows)
