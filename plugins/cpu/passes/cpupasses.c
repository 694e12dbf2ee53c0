/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpupasses.h"
#include "../kernels/kernels.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#define ENVIRONMENT "AXON_CPU_DISABLE_PASSES"

/* What keeps its integers: products, whose sums have to be exact whatever kernel they run, and
 * operators on bytes with a kernel. */
static gboolean
is_kept (const AxonNode *node)
{
  return axon_node_is (node, "QLinearConv") || axon_node_is (node, "QLinearMatMul") ||
         axon_node_is_in (node, AXON_DOMAIN_MICROSOFT, "QGemm") ||
         axon_node_is_in (node, AXON_DOMAIN_AXON, "QLinearConvTranspose") || cpu_has_qlinear (node);
}

static gboolean
expand_quantized (AxonModel *model, GError **error)
{
  return axon_expand_quantized (model, is_kept, error);
}

AxonValue *
cpu_pass_apply (AxonModel *model, const AxonNode *like, const gchar *name, AxonValue *const *in,
                guint n_in)
{
  AxonValue *out = axon_model_add_value (model, NULL);
  axon_pass_add_node (model, like, NULL, name, CPU_PASS_OPSET, in, n_in, out);
  return out;
}

AxonValue *
cpu_pass_add_ints (AxonModel *model, const gint64 *values, guint n)
{
  g_autoptr (AxonTensor) t = axon_tensor_new_i64 (values, n);
  return axon_model_add_constant (model, NULL, t);
}

AxonValue *
cpu_pass_reshape (AxonModel *model, const AxonNode *like, AxonValue *x, const gint64 *dims,
                  gint rank)
{
  AxonValue *in[] = { x, cpu_pass_add_ints (model, dims, (guint)rank) };
  return cpu_pass_apply (model, like, "Reshape", in, G_N_ELEMENTS (in));
}

AxonValue *
cpu_pass_exchange (AxonModel *model, const AxonNode *like, AxonValue *x, gint axis, gint rank)
{
  gint64 perm[AXON_MAX_RANK];
  AxonValue *y;
  if (axis == rank - 2)
    return x;
  for (gint d = 0; d < rank; d++)
    perm[d] = d == axis ? rank - 2 : d == rank - 2 ? axis : d;
  y = cpu_pass_apply (model, like, "Transpose", &x, 1);
  axon_node_set_ints (y->producer, "perm", perm, (guint)rank);
  return y;
}

void
cpu_pass_replace (AxonModel *model, AxonNode *node, const gchar *name, AxonValue *const *in,
                  guint n_in)
{
  AxonValue *y = node->outputs[0];
  axon_node_set_output (node, 0, NULL);
  axon_pass_add_node (model, node, NULL, name, CPU_PASS_OPSET, in, n_in, y);
  axon_model_remove_node (model, node);
}

void
cpu_pass_replace_reshaped (AxonModel *model, AxonNode *node, AxonValue *y)
{
  const AxonShape *shape = &node->outputs[0]->type.shape;
  AxonValue *in[] = { y, cpu_pass_add_ints (model, shape->dims, (guint)shape->rank) };
  cpu_pass_replace (model, node, "Reshape", in, G_N_ELEMENTS (in));
}

gboolean
cpu_pass_rewrite (AxonModel *model, CpuRewrite rewrite, GError **error)
{
  gboolean changed = FALSE;
  for (guint i = model->nodes->len; i-- > 0;) {
    GError *problem = NULL;
    changed |= rewrite (model, model->nodes->pdata[i], &problem);
    if (problem != NULL) {
      g_propagate_error (error, problem);
      return FALSE;
    }
  }
  return !changed || (axon_model_sort (model, error) && axon_model_infer_shapes (model, error));
}

gboolean
cpu_pass_is_planned (const AxonNode *node)
{
  const AxonTypeInfo *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
  return x->dtype == AXON_DTYPE_F32 && axon_shape_is_static (&x->shape) &&
         axon_shape_is_static (&y->shape) && axon_shape_get_numel (&x->shape) > 0 &&
         axon_shape_get_numel (&y->shape) > 0;
}

static const AxonPass passes[] = {
  { "half-to-float", cpu_pass_half_to_float },
  { "expand-attention", axon_pass_expand_attention },
  { "fuse-quantized-convolutions", axon_pass_fuse_quantized_convolutions },
  { "fuse-quantized-products", axon_pass_fuse_quantized_products },
  { "fuse-quantized-sums", axon_pass_fuse_quantized_sums },
  { "expand-quantized", expand_quantized },
  { "fold-dequantized", axon_pass_fold_dequantized },
  { "fold-batch-norm", axon_pass_fold_batch_norm },
  { "fuse-dynamic-quantization", axon_pass_fuse_dynamic_quantization },
  { "fuse-normalization", axon_pass_fuse_normalization },
  { "fuse-gelu", axon_pass_fuse_gelu },
  { "expand-einsum", cpu_pass_expand_einsum },
  { "expand-lines", cpu_pass_expand_lines },
  { "expand-fourier", cpu_pass_expand_fourier },
  { "expand-grid", cpu_pass_expand_grid },
  { "split-repeated", cpu_pass_split_repeated },
  { "split-resize", cpu_pass_split_resize },
  { "split-volume", cpu_pass_split_volume },
  { "turn-products", cpu_pass_turn_products },
  { "fuse-mish", cpu_pass_fuse_mish },
  { "fuse-activation", cpu_pass_fuse_activation },
  { "order-pixel-shuffle", cpu_pass_order_pixel_shuffle },
  { "split-batch-norm", cpu_pass_split_batch_norm },
  { "fuse-elementwise", cpu_pass_fuse_elementwise },
  { "remove-dead-code", axon_pass_remove_dead_code },
  { "split-bands", cpu_pass_split_bands },
};

static gboolean
check_names (const gchar *const *names, GError **error)
{
  for (; *names != NULL; names++) {
    guint i = 0;
    while (i < G_N_ELEMENTS (passes) && !g_str_equal (passes[i].name, *names))
      i++;
    if (i == G_N_ELEMENTS (passes)) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("%s: no pass \"%s\""), ENVIRONMENT,
                   *names);
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
cpu_passes_run (AxonModel *model, GCancellable *cancellable, GError **error)
{
  const gchar *disabled = g_getenv (ENVIRONMENT);
  g_auto (GStrv) names = g_strsplit (disabled ? disabled : "", ",", -1);
  if (!check_names ((const gchar *const *)names, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    if (!g_strv_contains ((const gchar *const *)names, passes[i].name) &&
        !axon_passes_run (model, &passes[i], 1, cancellable, error))
      return FALSE;
  return TRUE;
}
