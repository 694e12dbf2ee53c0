/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "extensionconfig.h"
#include "../cpusegments.h"
#include "../onednn/cpudnn.h"

#include "config.h"
#include <axon/axon-plugin.h>
#include <glib/gi18n-lib.h>
#include <string.h>

static gboolean
same_blocks (const AxonTensorDesc *a, const AxonTensorDesc *b)
{
  return a->n_blocked == b->n_blocked &&
         memcmp (a->blocked, b->blocked, a->n_blocked * sizeof *a->blocked) == 0 &&
         memcmp (a->order, b->order, a->n_blocked * sizeof *a->order) == 0;
}

gboolean
cpu_layer_desc_get_md (const AxonTensorDesc *desc, CpuMd **md)
{
  AxonTensorDesc blocks;
  *md = NULL;
  if (axon_tensor_desc_is_planar (desc))
    return TRUE;
  if (desc->n_blocked != 5 || desc->shape.rank != 4)
    return FALSE;
  axon_tensor_desc_init_channel_blocks (&blocks, desc->dtype, &desc->shape, desc->blocked[4]);
  if (same_blocks (desc, &blocks))
    *md = cpu_md_channel_blocks (desc->dtype, &desc->shape, desc->blocked[4]);
  return *md != NULL;
}

static gchar *
describe_type (AxonDType dtype, const AxonShape *shape)
{
  g_autofree gchar *dims = axon_shape_to_string (shape);
  return g_strconcat (dtype < AXON_N_DTYPES ? axon_dtype_get_name (dtype) : "?", dims, NULL);
}

/* A kernel for any batch leaves dimension 0 open; the plan has one batch. */
static void
fill_batch (AxonTensorDesc *desc, const AxonShape *shape)
{
  if (desc->shape.rank < 1 || desc->shape.rank != shape->rank || desc->shape.dims[0] >= 0)
    return;
  desc->shape.dims[0] = shape->dims[0];
  if (desc->n_blocked > 0 && desc->order[0] == 0 && desc->blocked[0] < 0)
    desc->blocked[0] = shape->dims[0];
}

/* @type NULL: of an output that the model does not name, whatever the kernel says. What is wrong
 * (transfer full), or NULL. */
static gchar *
complete_desc (AxonTensorDesc *desc, const AxonTypeInfo *type, gboolean dynamic_batch)
{
  g_autoptr (CpuMd) md = NULL;
  g_autofree gchar *expected = NULL;
  g_autofree gchar *got = NULL;
  if (desc->shape.rank < 0 || desc->shape.rank > AXON_MAX_RANK ||
      desc->n_blocked > AXON_MAX_BLOCKED_RANK)
    return g_strdup_printf (_ ("expected at most %d dimensions, got %d in %u blocks"),
                            AXON_MAX_RANK, desc->shape.rank, desc->n_blocked);
  if (dynamic_batch && type != NULL)
    fill_batch (desc, &type->shape);
  got = describe_type (desc->dtype, &desc->shape);
  if (type != NULL)
    expected = describe_type (type->dtype, &type->shape);
  if (type != NULL ? desc->dtype != type->dtype || !axon_shape_equal (&desc->shape, &type->shape)
                   : axon_dtype_get_size (desc->dtype) == 0 || !axon_shape_is_static (&desc->shape))
    return g_strdup_printf (_ ("expected %s, got %s"),
                            expected ? expected : _ ("a type and known shape"), got);
  if (!cpu_layer_desc_get_md (desc, &md))
    return g_strdup_printf (
        _ ("expected %s row-major, or in blocks of 8 or 16 channels; got another "
           "layout, of %u blocked dimensions"),
        got, desc->n_blocked);
  if (desc->offset == AXON_ANY_OFFSET)
    desc->offset = 0;
  return NULL;
}

static void
add_problem (GString *problems, guint index, const gchar *what, guint port, gchar *problem)
{
  if (problem != NULL)
    g_string_append_printf (problems, _ ("%sconfiguration %u, %s %u: %s"),
                            problems->len ? "; " : "", index, what, port, problem);
  g_free (problem);
}

/* The kernel's descriptors of inputs that are left out are not looked at. */
static gboolean
complete_config (AxonLayerConfig *config, guint index, const AxonNode *node, GString *problems)
{
  gsize before = problems->len;
  if (config->n_in != node->n_inputs || config->n_out != node->n_outputs) {
    g_string_append_printf (
        problems, _ ("%sconfiguration %u: expected %u inputs and %u outputs, got %u and %u"),
        before ? "; " : "", index, node->n_inputs, node->n_outputs, config->n_in, config->n_out);
    return FALSE;
  }
  for (guint i = 0; i < config->n_in; i++)
    if (node->inputs[i] != NULL)
      add_problem (
          problems, index, _ ("input"), i,
          complete_desc (&config->in[i].desc, &node->inputs[i]->type, config->dynamic_batch));
  for (guint i = 0; i < config->n_out; i++)
    add_problem (problems, index, _ ("output"), i,
                 complete_desc (&config->out[i].desc,
                                node->outputs[i] ? &node->outputs[i]->type : NULL,
                                config->dynamic_batch));
  config->dynamic_batch = FALSE;
  return problems->len == before;
}

static void
set_kernel_error (GError **error, const AxonNode *node, const gchar *function, const gchar *text)
{
  g_autofree gchar *name = axon_node_describe (node);
  if (*text != '\0')
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, "%s: %s", name, text);
  else
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("%s: %s() of the extension's kernel failed without a message"), name, function);
}

GArray *
cpu_layer_get_configs (AxonLayerImpl *impl, const AxonNode *node, GError **error)
{
  g_autoptr (GArray) configs = g_array_new (FALSE, TRUE, sizeof (AxonLayerConfig));
  g_autoptr (GString) problems = g_string_new (NULL);
  guint n = 0;
  AxonResponse response = { "" };
  if (node->n_inputs > AXON_LAYER_MAX_PORTS || node->n_outputs > AXON_LAYER_MAX_PORTS) {
    set_kernel_error (error, node, "",
                      _ ("a kernel of an extension has at most 16 inputs and 16 outputs"));
    return NULL;
  }
  if (impl->klass->get_supported_configurations (impl, configs, &response) != AXON_STATUS_OK) {
    set_kernel_error (error, node, "get_supported_configurations", response.message);
    return NULL;
  }
  for (guint i = 0; i < configs->len; i++) {
    AxonLayerConfig *config = &g_array_index (configs, AxonLayerConfig, i);
    if (complete_config (config, i, node, problems))
      g_array_index (configs, AxonLayerConfig, n++) = *config;
  }
  if (n == 0) {
    set_kernel_error (error, node, "",
                      problems->len ? problems->str
                                    : _ ("the extension's kernel offers no configuration"));
    return NULL;
  }
  return g_array_set_size (g_steal_pointer (&configs), n);
}

gboolean
cpu_layer_init (AxonLayerImpl *impl, const AxonLayerConfig *config, const AxonNode *node,
                GError **error)
{
  AxonResponse response = { "" };
  if (impl->klass->init (impl, config, &response) == AXON_STATUS_OK)
    return TRUE;
  set_kernel_error (error, node, "init", response.message);
  return FALSE;
}

gchar *
cpu_layer_refuse (GPtrArray *extensions, const AxonNode *node)
{
  AxonLayerImpl *impl = axon_extensions_find_impl (extensions, node, "CPU");
  g_autoptr (GArray) configs = NULL;
  g_autoptr (GError) error = NULL;
  gboolean known = cpu_node_is_static (node), taken = FALSE;
  if (impl == NULL)
    return g_strdup_printf ("%s has no kernel for CPU and no reference kernel", node->op->name);
  configs = known ? cpu_layer_get_configs (impl, node, &error) : NULL;
  for (guint i = 0; configs != NULL && !taken && i < configs->len; i++) {
    g_clear_error (&error);
    taken = cpu_layer_init (impl, &g_array_index (configs, AxonLayerConfig, i), node, &error);
  }
  impl->klass->free (impl);
  return known && !taken ? g_strdup (error->message) : NULL;
}
