/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The graph as the plan takes it, and what of it the device takes. */
#include "gpumodel.h"
#include "kernels/kernels.h"

#include <axon/axon-gpu.h>

static gboolean
expand_quantized (AxonModel *model, GError **error)
{
  return axon_expand_quantized (model, gpu_has_integer_conv, error);
}

static const AxonPass passes[] = {
  { "expand-attention", axon_pass_expand_attention },
  { "fuse-quantized-convolutions", axon_pass_fuse_quantized_convolutions },
  { "expand-quantized", expand_quantized },
  { "fold-dequantized", axon_pass_fold_dequantized },
  { "fold-batch-norm", axon_pass_fold_batch_norm },
  { "fuse-normalization", axon_pass_fuse_normalization },
  { "fuse-gelu", axon_pass_fuse_gelu },
  { "remove-dead-code", axon_pass_remove_dead_code },
};

static const AxonPass half_passes[] = { { "halve", gpu_pass_halve } };

/* 0: by cost */
static gint
tile_variant (const gchar *text)
{
  return g_str_equal (text, "AUTO") ? 0 : GPU_TILE_VARIANT (text[0] - '0', text[2] - '0');
}

GpuOptions
gpu_options_of (const GpuDevice *device, const AxonConfig *config)
{
  gboolean wanted =
      g_str_equal (axon_config_get_string (config, "INFERENCE_PRECISION_HINT"), "f16") &&
      !g_str_equal (axon_config_get_string (config, "EXECUTION_MODE_HINT"), "ACCURACY");
  return (GpuOptions){
    .winograd = !axon_config_get_bool (config, AXON_GPU_DISABLE_WINOGRAD_CONVOLUTION),
    .local = device->local || axon_config_get_bool (config, AXON_GPU_EMULATE_LOCAL_MEMORY),
    .variant = tile_variant (axon_config_get_string (config, AXON_GPU_TILE)),
    .tune = axon_config_get_bool (config, AXON_GPU_TUNE_KERNELS),
    .half = wanted && (device->fp16 || axon_config_get_bool (config, AXON_GPU_EMULATE_HALF)),
  };
}

AxonModel *
gpu_lower_model (AxonModel *model, const GpuOptions *options, GCancellable *cancellable,
                 GError **error)
{
  g_autoptr (AxonModel) clone = axon_model_clone (model);
  if (!axon_passes_run (clone, passes, G_N_ELEMENTS (passes), cancellable, error) ||
      (options->half && !axon_passes_run (clone, half_passes, 1, cancellable, error)))
    return NULL;
  return g_steal_pointer (&clone);
}

static gboolean
has_free_inputs (const AxonModel *model)
{
  for (guint i = 0; i < model->inputs->len; i++)
    if (!axon_shape_is_static (&((AxonValue *)g_ptr_array_index (model->inputs, i))->type.shape) &&
        !axon_model_input_is_any_size ((AxonModel *)model, i))
      return TRUE;
  return FALSE;
}

/* Nodes whose shapes are not known pass if there is a kernel that may take them when they are. */
gboolean
gpu_model_check (const GpuDevice *device, const GpuOptions *options, AxonModel *lowered,
                 GHashTable *reasons, GError **error)
{
  g_autoptr (GHashTable) refused = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  GpuPlan *plan = gpu_plan_new (device, options, lowered, refused, NULL, error);
  gboolean later = reasons == NULL || has_free_inputs (lowered), ok;
  if (plan == NULL)
    return FALSE;
  for (guint i = 0; i < lowered->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (lowered->nodes, i);
    const gchar *why = g_hash_table_lookup (refused, node);
    if (why != NULL && later && gpu_plan_is_dynamic (why) && node->op->run == NULL &&
        gpu_plan_knows (node))
      g_hash_table_remove (refused, node);
    else if (why != NULL && reasons != NULL)
      g_hash_table_insert (reasons, (gpointer)node, g_strdup (why));
  }
  ok = reasons != NULL || g_hash_table_size (refused) == 0;
  if (!ok)
    gpu_plan_fail (plan, refused, error);
  gpu_plan_free (plan);
  return ok;
}
