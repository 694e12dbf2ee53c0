/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels of extensions (K1 to K10): chooses the configuration that needs no conversion where there
 * is one, and calls the kernel in the plan. */
#include "extensionconfig.h"
#include "kernels.h"
#include "../onednn/cpudnn.h"

#include "config.h"
#include <axon/axon-plugin.h>
#include <glib/gi18n-lib.h>
#include <string.h>

typedef struct {
  AxonLayerImpl *impl;
  AxonLayerConfig config;
  gchar *name; /* of the node, for messages */
} Layer;

static void
layer_free (gpointer data)
{
  Layer *layer = data;
  layer->impl->klass->free (layer->impl);
  g_free (layer->name);
  g_free (layer);
}

static gsize
offset_bytes (const AxonTensorDesc *desc)
{
  return desc->offset * axon_dtype_get_size (desc->dtype);
}

/* What a kernel is given: data without a tensor (an input that is left out) is NULL. */
static AxonLayerBuffer
buffer_of (const CpuInstance *instance, const AxonTensorDesc *desc, const CpuTensor *t)
{
  guint8 *data = t ? cpu_tensor_data (instance, t) : NULL;
  return (AxonLayerBuffer){ desc, data ? data - offset_bytes (desc) : NULL };
}

/* Lanes that only fill the last block of channels are 0 in every layout of this device, whatever
 * the kernel made of them. */
static void
clear_padding (const AxonTensorDesc *desc, guint8 *data)
{
  gsize size = axon_dtype_get_size (desc->dtype), block, used, points;
  if (desc->n_blocked != 5 || desc->shape.dims[1] % desc->blocked[4] == 0)
    return;
  block = (gsize)desc->blocked[4] * size;
  used = (gsize)(desc->shape.dims[1] % desc->blocked[4]) * size;
  points = (gsize)(desc->blocked[2] * desc->blocked[3]);
  for (gint64 n = 0; n < desc->blocked[0]; n++) {
    guint8 *last = data + (gsize)((n + 1) * desc->blocked[1] - 1) * points * block;
    for (gsize p = 0; p < points; p++)
      memset (last + p * block + used, 0, block - used);
  }
}

static void
run_layer (const CpuStep *step, const CpuInstance *instance)
{
  const Layer *layer = step->data;
  AxonLayerBuffer in[AXON_LAYER_MAX_PORTS], out[AXON_LAYER_MAX_PORTS];
  AxonResponse response = { "" };
  for (guint i = 0; i < step->n_in; i++)
    in[i] = buffer_of (instance, &layer->config.in[i].desc, step->in[i]);
  for (guint i = 0; i < step->n_out; i++)
    out[i] = buffer_of (instance, &layer->config.out[i].desc, step->out[i]);
  if (layer->impl->klass->execute (layer->impl, in, step->n_in, out, step->n_out, &response) !=
      AXON_STATUS_OK)
    g_set_error (instance->error, AXON_ERROR, AXON_ERROR_DEVICE, "%s: %s", layer->name,
                 *response.message
                     ? response.message
                     : _ ("execute() of the extension's kernel failed without a message"));
  for (guint i = 0; i < step->n_out; i++)
    clear_padding (out[i].desc, cpu_tensor_data (instance, step->out[i]));
}

/* How many inputs have to be converted. */
static guint
n_conversions (CpuPlan *plan, const AxonLayerConfig *config, const AxonNode *node)
{
  guint n = 0;
  for (guint i = 0; i < config->n_in; i++) {
    const CpuTensor *t = cpu_plan_input (plan, node, i);
    g_autoptr (CpuMd) md = NULL;
    if (t == NULL)
      continue;
    cpu_layer_desc_get_md (&config->in[i].desc, &md);
    n += config->in[i].desc.offset != 0 || (t->md == NULL) != (md == NULL) ||
         (md != NULL && !cpu_md_equal (t->md, md));
  }
  return n;
}

/* The first of those that need the fewest conversions. */
static guint
choose (CpuPlan *plan, GArray *configs, const AxonNode *node)
{
  guint best = 0, fewest = G_MAXUINT;
  for (guint i = 0; i < configs->len; i++) {
    guint n = n_conversions (plan, &g_array_index (configs, AxonLayerConfig, i), node);
    if (n < fewest) {
      fewest = n;
      best = i;
    }
  }
  return best;
}

/* One that the kernel's `init` takes; FALSE with the last one's error. */
static gboolean
init_layer (CpuPlan *plan, const AxonNode *node, Layer *layer, GError **error)
{
  g_autoptr (GArray) configs = cpu_layer_get_configs (layer->impl, node, error);
  while (configs != NULL) {
    guint at = choose (plan, configs, node);
    layer->config = g_array_index (configs, AxonLayerConfig, at);
    g_array_remove_index (configs, at);
    if (cpu_layer_init (layer->impl, &layer->config, node, configs->len ? NULL : error))
      return TRUE;
    if (configs->len == 0)
      return FALSE;
  }
  return FALSE;
}

static CpuTensor *
add_input (CpuPlan *plan, const AxonNode *node, guint i, const AxonTensorDesc *desc)
{
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *t, *moved;
  if (axon_node_get_input (node, i) == NULL)
    return NULL;
  cpu_layer_desc_get_md (desc, &md);
  t = cpu_plan_input_as (plan, node, i, md);
  if (desc->offset == 0)
    return t;
  moved = cpu_plan_scratch (plan, desc->dtype, &desc->shape, md);
  cpu_plan_shift (moved, offset_bytes (desc));
  cpu_plan_add_copy (plan, t, moved);
  return moved;
}

/* An output that the model does not name has memory, too. */
static CpuTensor *
add_output (CpuPlan *plan, const AxonNode *node, guint i, const AxonTensorDesc *desc)
{
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *t;
  cpu_layer_desc_get_md (desc, &md);
  t = node->outputs[i] ? cpu_plan_output (plan, node, i, md)
                       : cpu_plan_scratch (plan, desc->dtype, &desc->shape, md);
  cpu_plan_shift (t, offset_bytes (desc));
  return t;
}

static void
add_layer (CpuPlan *plan, const AxonNode *node, Layer *layer)
{
  CpuTensor *in[AXON_LAYER_MAX_PORTS], *out[AXON_LAYER_MAX_PORTS];
  for (guint i = 0; i < node->n_inputs; i++)
    in[i] = add_input (plan, node, i, &layer->config.in[i].desc);
  for (guint i = 0; i < node->n_outputs; i++)
    out[i] = add_output (plan, node, i, &layer->config.out[i].desc);
  cpu_plan_add_step (plan, run_layer, layer, layer_free, "extension", in, node->n_inputs, out,
                     node->n_outputs);
}

/* FALSE without error: no extension has a kernel for the node, or it refuses one that the reference
 * kernel takes. */
gboolean
cpu_build_extension (CpuPlan *plan, const AxonNode *node, GError **error)
{
  g_autoptr (GError) refusal = NULL;
  AxonLayerImpl *impl = axon_extensions_find_impl (plan->extensions, node, "CPU");
  Layer *layer;
  if (impl == NULL)
    return FALSE;
  layer = g_new0 (Layer, 1);
  layer->impl = impl;
  layer->name = axon_node_describe (node);
  if (init_layer (plan, node, layer, &refusal)) {
    add_layer (plan, node, layer);
    return TRUE;
  }
  layer_free (layer);
  if (axon_op_has_kernel (node->op))
    g_debug ("the reference kernel runs instead of the extension's: %s", refusal->message);
  else
    g_propagate_error (error, g_steal_pointer (&refusal));
  return FALSE;
}
