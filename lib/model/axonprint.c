/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The graph as text and as a Graphviz drawing. */
#include <axon/plugin/axongraph.h>

static void
append_value (GString *s, const AxonValue *value)
{
  g_autofree gchar *shape = NULL;
  if (value == NULL) {
    g_string_append (s, "-");
    return;
  }
  shape = axon_shape_to_string (&value->type.shape);
  g_string_append_printf (s, "%s:%s%s%s", value->name, axon_dtype_get_name (value->type.dtype),
                          shape, value->type.value ? "*" : "");
}

static void
append_values (GString *s, AxonValue *const *values, guint n)
{
  for (guint i = 0; i < n; i++) {
    if (i > 0)
      g_string_append (s, ", ");
    append_value (s, values[i]);
  }
}

/**
 * axon_model_to_text:
 * @model: a model
 *
 * Returns: (transfer full): one line per node; constants are marked `*`
 *
 * Since: 1.0
 */
gchar *
axon_model_to_text (AxonModel *model)
{
  GString *s = g_string_new (NULL);
  g_string_append_printf (s, "model %s\ninputs  ", model->name);
  append_values (s, (AxonValue **)model->inputs->pdata, model->inputs->len);
  g_string_append (s, "\noutputs ");
  append_values (s, (AxonValue **)model->outputs->pdata, model->outputs->len);
  g_string_append_c (s, '\n');
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    append_values (s, node->outputs, node->n_outputs);
    g_string_append_printf (s, " = %s(", node->op->name);
    append_values (s, node->inputs, node->n_inputs);
    g_string_append (s, ")\n");
  }
  return g_string_free (s, FALSE);
}

static gchar *
dot_escape (const gchar *text)
{
  g_autofree gchar *valid = g_utf8_make_valid (text ? text : "", -1);
  return g_strescape (valid, NULL);
}

/* The slower, the redder; without times, nodes of one device have one colour. */
static gchar *
node_color (const AxonNode *node, gdouble slowest)
{
  static const gchar *const colors[] = { "#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6",
                                         "#fb9a99", "#ffff99", "#8dd3c7", "#d9d9d9" };
  if (slowest > 0) {
    guint share = (guint)(node->exec_time / slowest * 220);
    return g_strdup_printf ("#ff%02x%02x", 255 - share, 255 - share);
  }
  return node->affinity ? g_strdup (colors[g_str_hash (node->affinity) % G_N_ELEMENTS (colors)])
                        : NULL;
}

static void
append_notes (GString *s, const AxonNode *node)
{
  g_autoptr (GList) keys = node->info ? g_hash_table_get_keys (node->info) : NULL;
  keys = g_list_sort (keys, (GCompareFunc)g_strcmp0);
  for (const GList *l = keys; l != NULL; l = l->next) {
    g_autofree gchar *text = dot_escape (g_hash_table_lookup (node->info, l->data));
    g_string_append_printf (s, "\\n%s", text);
  }
}

static void
append_node (GString *s, const AxonNode *node, gdouble slowest)
{
  g_autofree gchar *name = dot_escape (node->name);
  g_autofree gchar *color = node_color (node, slowest);
  g_string_append_printf (s, "  n%u [label=\"%s\\n%s", node->index, node->op->name, name);
  if (node->affinity != NULL) {
    g_autofree gchar *device = dot_escape (node->affinity);
    g_string_append_printf (s, "\\n%s", device);
  }
  if (node->exec_type != NULL) {
    g_autofree gchar *type = dot_escape (node->exec_type);
    g_string_append_printf (s, "\\n%s", type);
  }
  if (node->exec_time > 0)
    g_string_append_printf (s, "\\n%.0f us", node->exec_time);
  append_notes (s, node);
  g_string_append_c (s, '"');
  if (color != NULL)
    g_string_append_printf (s, ", style=filled, fillcolor=\"%s\"", color);
  g_string_append (s, "];\n");
}

static gdouble
slowest_node (const AxonModel *model)
{
  gdouble slowest = 0;
  for (guint i = 0; i < model->nodes->len; i++)
    slowest = MAX (slowest, ((const AxonNode *)g_ptr_array_index (model->nodes, i))->exec_time);
  return slowest;
}

/**
 * axon_model_to_dot:
 * @model: a model
 *
 * Returns: (transfer full): a Graphviz digraph of the nodes, edges labelled with types; coloured by
 * time where the model is a runtime model that was profiled, else by affinity; notes on nodes are
 * in their labels
 *
 * Since: 1.0
 */
gchar *
axon_model_to_dot (AxonModel *model)
{
  GString *s = g_string_new ("digraph axon {\n  node [shape=box, fontname=sans, fontsize=10];\n"
                             "  edge [fontname=sans, fontsize=8];\n");
  gdouble slowest = slowest_node (model);
  for (guint i = 0; i < model->inputs->len; i++) {
    AxonValue *value = g_ptr_array_index (model->inputs, i);
    g_autofree gchar *name = dot_escape (value->name);
    value->index = i;
    g_string_append_printf (s, "  in%u [label=\"%s\", shape=ellipse];\n", i, name);
  }
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    node->index = i;
    append_node (s, node, slowest);
    for (guint k = 0; k < node->n_inputs; k++) {
      AxonValue *value = node->inputs[k];
      g_autofree gchar *shape = value ? axon_shape_to_string (&value->type.shape) : NULL;
      if (value == NULL || value->type.value != NULL)
        continue;
      if (value->producer != NULL)
        g_string_append_printf (s, "  n%u", value->producer->index);
      else
        g_string_append_printf (s, "  in%u", value->index);
      g_string_append_printf (s, " -> n%u [label=\"%s%s\"];\n", i,
                              axon_dtype_get_name (value->type.dtype), shape);
    }
  }
  for (guint i = 0; i < model->outputs->len; i++) {
    AxonValue *value = g_ptr_array_index (model->outputs, i);
    g_autofree gchar *name = dot_escape (value->name);
    g_string_append_printf (s, "  out%u [label=\"%s\", shape=ellipse];\n", i, name);
    if (value->producer != NULL)
      g_string_append_printf (s, "  n%u -> out%u;\n", value->producer->index, i);
  }
  g_string_append (s, "}\n");
  return g_string_free (s, FALSE);
}
