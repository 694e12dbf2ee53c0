/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The graph as it runs, and what profiled runs add to it. Nothing here is reached without
 * PERF_COUNT but axon_compiled_model_get_runtime_model(). */
#include <axon/plugin/axongraph.h>
#include "axoncompiledmodel-private.h"
#include <axon/axoninferrequest.h>

#include "config.h"
#include <glib/gi18n-lib.h>

/* The nodes as read; the first profiled run strikes out those that run. */
void
axon_compiled_model_init_profile (AxonCompiledModel *compiled, AxonModel *model)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_private (compiled);
  if (axon_config_find_spec (priv->config, "PERF_COUNT") == NULL ||
      !axon_config_get_bool (priv->config, "PERF_COUNT"))
    return;
  priv->times = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  priv->removed = g_array_new (FALSE, FALSE, sizeof (AxonProfilingInfo));
  priv->names = g_string_chunk_new (1024);
  for (guint i = 0; i < model->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (model->nodes, i);
    AxonProfilingInfo row = { .node_type = node->op->name,
                              .exec_type = "",
                              .status = AXON_PROFILING_OPTIMIZED_OUT };
    row.node_name = g_string_chunk_insert (priv->names, node->name ? node->name : "");
    g_array_append_val (priv->removed, row);
  }
}

void
axon_compiled_model_clear_profile (AxonCompiledModel *compiled)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_private (compiled);
  g_mutex_clear (&priv->profile_lock);
  g_clear_pointer (&priv->times, g_hash_table_unref);
  g_clear_pointer (&priv->removed, g_array_unref);
  g_clear_pointer (&priv->names, g_string_chunk_free);
}

/* profile_lock held */
static void
strike_out_executed (AxonCompiledModelPrivate *priv)
{
  guint kept = 0;
  for (guint i = 0; i < priv->removed->len; i++) {
    AxonProfilingInfo row = g_array_index (priv->removed, AxonProfilingInfo, i);
    if (!g_hash_table_contains (priv->times, row.node_name))
      g_array_index (priv->removed, AxonProfilingInfo, kept++) = row;
  }
  g_array_set_size (priv->removed, kept);
  priv->knows_removed = TRUE;
}

/* @rows: AxonProfilingInfo of one run; gets those of nodes that passes removed. */
void
axon_compiled_model_add_profile (AxonCompiledModel *compiled, GArray *rows)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_private (compiled);
  if (priv->times == NULL)
    return;
  g_mutex_lock (&priv->profile_lock);
  for (guint i = 0; i < rows->len; i++) {
    const AxonProfilingInfo *row = &g_array_index (rows, AxonProfilingInfo, i);
    gdouble *sum = g_hash_table_lookup (priv->times, row->node_name);
    if (sum == NULL) {
      sum = g_new0 (gdouble, 1);
      g_hash_table_insert (priv->times, g_strdup (row->node_name), sum);
    }
    *sum += row->real_time_us;
  }
  priv->n_profiled++;
  if (!priv->knows_removed)
    strike_out_executed (priv);
  g_mutex_unlock (&priv->profile_lock);
  g_array_append_vals (rows, priv->removed->data, priv->removed->len);
}

/**
 * axon_compiled_model_get_runtime_model:
 * @compiled: a compiled model
 * @error: return location
 *
 * The graph as the device runs it: after passes, with what runs each node, and with the mean times
 * of its runs where compiled with `PERF_COUNT`. axon_model_dup_nodes() gives the rows,
 * axon_model_to_dot() draws them. Virtual devices put those of their devices together, or give that
 * of the device that they prefer at the moment. Any thread.
 *
 * Returns: (transfer full): a model to look at, not to compile; %AXON_ERROR_UNSUPPORTED where the
 *   device does not tell
 *
 * Since: 1.0
 */
AxonModel *
axon_compiled_model_get_runtime_model (AxonCompiledModel *compiled, GError **error)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_private (compiled);
  AxonCompiledModelClass *klass = AXON_COMPILED_MODEL_GET_CLASS (compiled);
  AxonModel *model;
  if (klass->get_runtime_model == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("device %s does not tell how it runs a model"),
                 axon_compiled_model_get_device_name (compiled));
    return NULL;
  }
  model = klass->get_runtime_model (compiled, error);
  if (model == NULL || priv->times == NULL)
    return model;
  g_mutex_lock (&priv->profile_lock);
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    const gdouble *sum = node->name ? g_hash_table_lookup (priv->times, node->name) : NULL;
    if (sum != NULL)
      node->exec_time = *sum / (gdouble)priv->n_profiled;
  }
  g_mutex_unlock (&priv->profile_lock);
  return model;
}
