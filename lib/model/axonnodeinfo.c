/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Notes on nodes and models: texts by key, of whoever prepares a model for whoever runs it. They
 * follow a node through copies, passes, exports and imports. */
#include <axon/plugin/axongraph.h>

void
axon_node_set_info (AxonNode *node, const gchar *key, const gchar *text)
{
  if (text == NULL && node->info != NULL)
    g_hash_table_remove (node->info, key);
  if (text == NULL)
    return;
  if (node->info == NULL)
    node->info = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_insert (node->info, g_strdup (key), g_strdup (text));
}

void
axon_node_merge_info (AxonNode *node, const AxonNode *from)
{
  GHashTableIter iter;
  gpointer key, text;
  if (from->info == NULL)
    return;
  g_hash_table_iter_init (&iter, from->info);
  while (g_hash_table_iter_next (&iter, &key, &text))
    if (node->info == NULL || !g_hash_table_contains (node->info, key))
      axon_node_set_info (node, key, text);
}

static AxonNode *
find_node (AxonModel *model, const gchar *name)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    if (g_strcmp0 (node->name, name) == 0)
      return node;
  }
  return NULL;
}

/**
 * axon_model_set_node_info:
 * @model: a model
 * @node: name of a node
 * @key: a key, in UTF-8; those of applications hold a dot, as in `com.example.priority`
 * @text: (nullable): the note, in UTF-8; %NULL: none
 *
 * A note on a node. It stays with the node through every transformation (a node that stands for
 * several has the notes of all, the first one's where they differ), and in files of
 * axon_compiled_model_export(); devices ignore what they do not know.
 *
 * Returns: %TRUE if the model has such a node
 *
 * Since: 1.0
 */
gboolean
axon_model_set_node_info (AxonModel *model, const gchar *node, const gchar *key, const gchar *text)
{
  AxonNode *found = find_node (model, node);
  g_return_val_if_fail (g_utf8_validate (key, -1, NULL), FALSE);
  g_return_val_if_fail (text == NULL || g_utf8_validate (text, -1, NULL), FALSE);
  if (found != NULL)
    axon_node_set_info (found, key, text);
  return found != NULL;
}

/**
 * axon_model_get_node_info:
 * @model: a model
 * @node: name of a node
 * @key: a key
 *
 * Returns: (transfer none) (nullable): the note; %NULL: the node has none, or there is no such node
 *
 * Since: 1.0
 */
const gchar *
axon_model_get_node_info (AxonModel *model, const gchar *node, const gchar *key)
{
  const AxonNode *found = find_node (model, node);
  return found && found->info ? g_hash_table_lookup (found->info, key) : NULL;
}

/**
 * axon_model_get_node_info_keys:
 * @model: a model
 * @node: name of a node
 *
 * Returns: (transfer full) (array zero-terminated=1): keys of the node's notes
 *
 * Since: 1.0
 */
gchar **
axon_model_get_node_info_keys (AxonModel *model, const gchar *node)
{
  const AxonNode *found = find_node (model, node);
  guint n;
  g_autofree gchar **keys = found && found->info
                                ? (gchar **)g_hash_table_get_keys_as_array (found->info, &n)
                                : g_new0 (gchar *, 1);
  return g_strdupv (keys);
}

/**
 * axon_model_set_metadata:
 * @model: a model
 * @key: a key of ONNX `metadata_props`, in UTF-8
 * @text: (nullable): its value, in UTF-8; %NULL: none
 *
 * A note on the model. It is kept by axon_core_write_model() and by axon_compiled_model_export().
 *
 * Since: 1.0
 */
void
axon_model_set_metadata (AxonModel *model, const gchar *key, const gchar *text)
{
  g_return_if_fail (g_utf8_validate (key, -1, NULL));
  g_return_if_fail (text == NULL || g_utf8_validate (text, -1, NULL));
  if (text != NULL)
    g_hash_table_insert (model->metadata, g_strdup (key), g_strdup (text));
  else
    g_hash_table_remove (model->metadata, key);
}
