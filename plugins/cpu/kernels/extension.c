/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels of extensions (K1 to K10): asks what layouts they take, chooses the one that needs no
 * conversion where there is one, and calls them in the plan. */
#include "kernels.h"
#include "../onednn/cpudnn.h"

#include <axon/axon-plugin.h>
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

static void
run_layer (const CpuStep *step, const CpuInstance *instance)
{
  const Layer *layer = step->data;
  AxonLayerBuffer in[AXON_LAYER_MAX_PORTS], out[AXON_LAYER_MAX_PORTS];
  AxonResponse response = { "" };
  for (guint i = 0; i < step->n_in; i++)
    in[i] = (AxonLayerBuffer){ &layer->config.in[i].desc, cpu_tensor_data (instance, step->in[i]) };
  for (guint i = 0; i < step->n_out; i++)
    out[i] =
        (AxonLayerBuffer){ &layer->config.out[i].desc, cpu_tensor_data (instance, step->out[i]) };
  if (layer->impl->klass->execute (layer->impl, in, step->n_in, out, step->n_out, &response) !=
      AXON_STATUS_OK)
    g_set_error (instance->error, AXON_ERROR, AXON_ERROR_DEVICE, "%s: %s", layer->name,
                 response.message);
}

/* The layout that @desc asks for: row-major, or blocks of channels; FALSE: one we do not have. */
static gboolean
find_md (const AxonTensorDesc *desc, CpuMd **md)
{
  *md = NULL;
  if (axon_tensor_desc_is_planar (desc))
    return TRUE;
  if (desc->n_blocked == 5 && desc->shape.rank == 4 && desc->order[4] == 1)
    *md = cpu_md_channel_blocks (desc->dtype, &desc->shape, desc->blocked[4]);
  return *md != NULL;
}

static gboolean
usable (const AxonLayerConfig *config, const AxonNode *node)
{
  gboolean ok = config->n_in == node->n_inputs && config->n_out == node->n_outputs;
  for (guint i = 0; ok && i < config->n_in + config->n_out; i++) {
    const AxonTensorDesc *desc =
        i < config->n_in ? &config->in[i].desc : &config->out[i - config->n_in].desc;
    g_autoptr (CpuMd) md = NULL;
    ok = find_md (desc, &md);
  }
  return ok;
}

/* TRUE if no input has to be converted. */
static gboolean
fits_inputs (CpuPlan *plan, const AxonLayerConfig *config, const AxonNode *node)
{
  for (guint i = 0; i < config->n_in; i++) {
    const CpuTensor *t = cpu_plan_input (plan, node, i);
    g_autoptr (CpuMd) md = NULL;
    find_md (&config->in[i].desc, &md);
    if ((t->md == NULL) != (md == NULL) || (md != NULL && !cpu_md_equal (t->md, md)))
      return FALSE;
  }
  return TRUE;
}

static const AxonLayerConfig *
choose (CpuPlan *plan, GArray *configs, const AxonNode *node)
{
  const AxonLayerConfig *first = NULL;
  for (guint i = 0; i < configs->len; i++) {
    const AxonLayerConfig *config = &g_array_index (configs, AxonLayerConfig, i);
    if (!usable (config, node))
      continue;
    if (fits_inputs (plan, config, node))
      return config;
    if (first == NULL)
      first = config;
  }
  return first;
}

static gboolean
fail (Layer *layer, const gchar *text, GError **error)
{
  g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, "%s: %s", layer->name, text);
  layer_free (layer);
  return FALSE;
}

static void
add_layer (CpuPlan *plan, const AxonNode *node, Layer *layer)
{
  CpuTensor *in[AXON_LAYER_MAX_PORTS], *out[AXON_LAYER_MAX_PORTS];
  for (guint i = 0; i < node->n_inputs; i++) {
    g_autoptr (CpuMd) md = NULL;
    find_md (&layer->config.in[i].desc, &md);
    in[i] = cpu_plan_input_as (plan, node, i, md);
    layer->config.in[i].desc.offset = 0;
  }
  for (guint i = 0; i < node->n_outputs; i++) {
    g_autoptr (CpuMd) md = NULL;
    find_md (&layer->config.out[i].desc, &md);
    out[i] = cpu_plan_output (plan, node, i, md);
    layer->config.out[i].desc.offset = 0;
  }
  cpu_plan_add_step (plan, run_layer, layer, layer_free, "extension", in, node->n_inputs, out,
                     node->n_outputs);
}

/* FALSE without error: no extension has a kernel for the node. */
gboolean
cpu_build_extension (CpuPlan *plan, const AxonNode *node, GError **error)
{
  g_autoptr (GArray) configs = g_array_new (FALSE, TRUE, sizeof (AxonLayerConfig));
  AxonLayerImpl *impl = axon_extensions_find_impl (plan->extensions, node, "CPU");
  AxonResponse response = { "" };
  const AxonLayerConfig *chosen;
  Layer *layer;
  if (impl == NULL)
    return FALSE;
  layer = g_new0 (Layer, 1);
  layer->impl = impl;
  layer->name = axon_node_describe (node);
  if (node->n_inputs > AXON_LAYER_MAX_PORTS || node->n_outputs > AXON_LAYER_MAX_PORTS)
    return fail (layer, "a kernel of an extension has at most 16 inputs and outputs", error);
  if (impl->klass->get_supported_configurations (impl, configs, &response) != AXON_STATUS_OK)
    return fail (layer, response.message, error);
  chosen = choose (plan, configs, node);
  if (chosen == NULL)
    return fail (layer, "the extension offers no planar or channel-blocked configuration", error);
  layer->config = *chosen;
  if (impl->klass->init (impl, &layer->config, &response) != AXON_STATUS_OK)
    return fail (layer, response.message, error);
  add_layer (plan, node, layer);
  return TRUE;
}
