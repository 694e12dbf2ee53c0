/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BatchNormalization (1, 6, 7, 9, 14, 15; Ioffe and Szegedy 2015) at inference, and in training
 * mode (14 on) with the statistics of the batch and the running ones as outputs. */
#include "ops-private.h"

#include <math.h>

static gboolean
infer_batch_norm (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gboolean training = axon_node_get_int (node, "training_mode") != 0;
  gint64 channels;
  if ((axon_node_has_form (node, AXON_FORM_TEST_MODE) &&
       axon_node_get_int (node, "is_test") == 0) ||
      axon_node_get_int (node, "spatial") == 0)
    FAIL (UNSUPPORTED, "training before opset 7, or spatial 0");
  if (node->n_outputs > (training ? 3 : 1))
    FAIL (MODEL, "%u outputs: expected 1, or 3 with training_mode", node->n_outputs);
  if (!axon_check_rank (in, 0, 1, AXON_MAX_RANK, error))
    return FALSE;
  channels = in[0].shape.rank > 1 ? in[0].shape.dims[1] : in[0].shape.rank; /* [N]: one channel */
  for (guint i = 1; i < 5; i++)
    if (channels >= 0 && axon_shape_is_static (&in[i].shape) &&
        axon_shape_get_numel (&in[i].shape) != channels)
      FAIL (MODEL, "input %u: expected %" G_GINT64_FORMAT " channels", i, channels);
  for (guint i = 0; i < node->n_outputs; i++) {
    out[i].dtype = in[i ? i + 2 : 0].dtype;
    out[i].shape = in[i ? i + 2 : 0].shape;
  }
  return TRUE;
}

typedef struct {
  gdouble mean, variance;
} Channel;

/* Over the batch and all places of channel @c. */
static Channel
batch_statistics (const gdouble *x, gint64 n, gint64 channels, gint64 plane, gint64 c)
{
  Channel s = { 0, 0 };
  gdouble count = (gdouble)(n * plane);
  for (gint64 b = 0; b < n; b++)
    for (gint64 i = 0; i < plane; i++)
      s.mean += x[(b * channels + c) * plane + i] / count;
  for (gint64 b = 0; b < n; b++)
    for (gint64 i = 0; i < plane; i++) {
      gdouble d = x[(b * channels + c) * plane + i] - s.mean;
      s.variance += d * d / count;
    }
  return s;
}

static void
update_running (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, gint64 c,
                const Channel *s)
{
  gdouble momentum = axon_node_get_float (node, "momentum");
  gdouble fresh[] = { s->mean, s->variance };
  for (guint i = 1; i < node->n_outputs; i++)
    if (out[i] != NULL)
      axon_dtype_store (axon_tensor_get_dtype (out[i]), axon_tensor_get_data (out[i]), (gsize)c,
                        axon_tensor_get_value (in[i + 2], (gsize)c) * momentum +
                            fresh[i - 1] * (1 - momentum));
}

static gboolean
eval_batch_norm (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                 GError **error)
{
  gboolean training = axon_node_get_int (node, "training_mode") != 0;
  gdouble epsilon = axon_node_get_float (node, "epsilon");
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  gint64 n = axon_tensor_get_dim (in[0], 0), channels = axon_tensor_get_dim (in[0], 1);
  gint64 plane = (gint64)axon_tensor_get_numel (in[0]) / MAX (1, n * channels);
  for (gint64 c = 0; c < channels; c++) {
    gsize k = (gsize)c;
    Channel s =
        training ? batch_statistics (x, n, channels, plane, c)
                 : (Channel){ axon_tensor_get_value (in[3], k), axon_tensor_get_value (in[4], k) };
    gdouble scale = axon_tensor_get_value (in[1], k) / sqrt (s.variance + epsilon);
    gdouble bias = axon_tensor_get_value (in[2], k);
    for (gint64 b = 0; b < n; b++)
      for (gint64 i = 0; i < plane; i++) {
        gdouble *v = &x[(b * channels + c) * plane + i];
        *v = (*v - s.mean) * scale + bias;
      }
    if (training)
      update_running (node, in, out, c, &s);
  }
  axon_store_doubles (out[0], x);
  return TRUE;
}

#define BATCH_ATTRS ATTR_F ("epsilon", 1e-5), ATTR_F ("momentum", 0.9), ATTR_I ("spatial", 1)
#define BATCH                                                                                      \
  .name = "BatchNormalization", .inputs = { 5, 5 }, .operands = ".ffff", .outputs = { 1, 5 },      \
  .types = AXON_DTYPES_FLOAT, .same_type_inputs = 1, .infer = infer_batch_norm,                    \
  .eval = eval_batch_norm

static const AxonOp rows[] = {
  { BATCH, .since = 1, .until = 6, .form = AXON_FORM_TEST_MODE,
    .attrs = ATTRS (BATCH_ATTRS, ATTR_I ("is_test", 0)) },
  { BATCH, .since = 7, .until = 13, .attrs = ATTRS (BATCH_ATTRS, ATTR_I ("training_mode", 0)) },
  { BATCH, .since = 14, .attrs = ATTRS (BATCH_ATTRS, ATTR_I ("training_mode", 0)) },
};

DEFINE_FAMILY (batchnorm, rows)
