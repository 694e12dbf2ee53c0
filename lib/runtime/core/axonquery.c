/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a query answers: results on the transformed graph mapped back to original names (Q4 to Q11).
 * Values are not nodes here, so of the documents' housekeeping nodes only those without inputs
 * (Constant) are left to judge. */
#include <axon/plugin/axonplugin.h>

AxonSupportedOps *
axon_supported_ops_new (void)
{
  AxonSupportedOps *ops = g_new (AxonSupportedOps, 1);
  ops->devices = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  ops->reasons = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return ops;
}

void
axon_supported_ops_free (AxonSupportedOps *ops)
{
  g_hash_table_unref (ops->devices);
  g_hash_table_unref (ops->reasons);
  g_free (ops);
}

/* One refusal outweighs any number of acceptances of the same original node. */
static void
refuse_name (AxonSupportedOps *ops, const gchar *name, const gchar *reason)
{
  if (!g_hash_table_contains (ops->reasons, name))
    g_hash_table_insert (ops->reasons, g_strdup (name), g_strdup (reason));
  g_hash_table_remove (ops->devices, name);
}

static void
judge_node (AxonSupportedOps *ops, const AxonNode *node, const gchar *reason)
{
  for (guint i = 0; reason != NULL && i < node->origins->len; i++) {
    const gchar *name = g_ptr_array_index (node->origins, i);
    if (g_hash_table_contains (ops->devices, name))
      refuse_name (ops, name, reason);
  }
}

static gboolean
any_user_taken (const AxonSupportedOps *ops, const AxonNode *node)
{
  guint n = 0;
  for (guint o = 0; o < node->n_outputs; o++)
    for (guint u = 0; node->outputs[o] != NULL && u < node->outputs[o]->users->len; u++, n++) {
      const AxonNode *user = g_ptr_array_index (node->outputs[o]->users, u);
      if (g_hash_table_contains (ops->devices, user->name))
        return TRUE;
    }
  return n == 0;
}

/* A constant serves its users: without one it is not wanted here. */
static void
drop_idle_constants (AxonSupportedOps *ops, AxonModel *model)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (model->nodes, i);
    if (node->n_inputs == 0 && g_hash_table_contains (ops->devices, node->name) &&
        !any_user_taken (ops, node))
      refuse_name (ops, node->name, "no node that uses this constant is taken");
  }
}

static gsize
constant_bytes (const AxonNode *node)
{
  gsize n = 0;
  for (guint i = 0; i < node->n_inputs; i++)
    if (axon_value_is_constant (node->inputs[i]))
      n += axon_tensor_get_n_bytes (node->inputs[i]->type.value);
  return n;
}

/* Values that are made before node @at and used from it on. */
static guint
crossing (AxonModel *model, guint at)
{
  guint n = 0;
  for (guint i = 0; i < model->values->len; i++) {
    const AxonValue *value = g_ptr_array_index (model->values, i);
    gboolean used = FALSE;
    if (value->producer == NULL || value->producer->index >= at)
      continue;
    for (guint u = 0; u < value->users->len && !used; u++)
      used = ((const AxonNode *)g_ptr_array_index (value->users, u))->index >= at;
    n += used;
  }
  return n;
}

/* The first node that is too many: near @ratio of the bytes, where the fewest values cross. */
static guint
find_limit (AxonModel *model, gdouble ratio)
{
  gdouble total = 0, sum = 0;
  guint best = model->nodes->len, fewest = G_MAXUINT;
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    node->index = i;
    total += (gdouble)constant_bytes (node);
  }
  for (guint i = 0; i < model->nodes->len; i++) {
    sum += (gdouble)constant_bytes (g_ptr_array_index (model->nodes, i));
    if (sum > 1.05 * ratio * total)
      return fewest == G_MAXUINT ? i : best;
    if (sum >= 0.95 * ratio * total) {
      guint n = crossing (model, i + 1);
      if (n < fewest) {
        fewest = n;
        best = i + 1;
      }
    }
  }
  return best;
}

void
axon_supported_ops_collect (AxonSupportedOps *ops, AxonModel *original, AxonModel *transformed,
                            const gchar *device, gdouble ratio, AxonRefuseFunc refuse,
                            gpointer user_data)
{
  for (guint i = 0; i < original->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (original->nodes, i);
    g_hash_table_insert (ops->devices, g_strdup (node->name), g_strdup (device));
  }
  for (guint i = 0; refuse != NULL && i < transformed->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (transformed->nodes, i);
    g_autofree gchar *reason = refuse (node, user_data);
    judge_node (ops, node, reason);
  }
  if (ratio < 1) {
    g_autoptr (AxonModel) indexed = axon_model_clone (original); /* the caller's is not written */
    for (guint i = find_limit (indexed, ratio); i < original->nodes->len; i++)
      refuse_name (ops, ((AxonNode *)g_ptr_array_index (original->nodes, i))->name,
                   "beyond the device's share of the constants");
  }
  drop_idle_constants (ops, original);
}
