/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What axon-inspect shows, as JSON. */
#include "inspect-private.h"

static void
add_property (JsonBuilder *b, const gchar *device, const AxonPropertySpec *spec)
{
  g_autoptr (GVariant) value =
      axon_core_get_property (axon_core_get_default (), device, spec->key, NULL);
  g_autofree gchar *text = value ? axon_property_value_to_text (spec, value) : NULL;
  g_autofree gchar *accepted = inspect_accepted_values (spec);
  json_builder_begin_object (b);
  tool_json_text (b, "key", spec->key);
  tool_json_truth (b, "writable", (spec->flags & AXON_PROPERTY_READ_WRITE) != 0);
  tool_json_text (b, "value", text);
  tool_json_text (b, "accepted", accepted);
  tool_json_text (b, "blurb", _ (spec->blurb));
  json_builder_end_object (b);
}

/* A device that does not answer says why, and stops no other. */
static void
add_device (JsonBuilder *b, const gchar *device)
{
  g_autoptr (GError) error = NULL;
  guint n = 0;
  const AxonPropertySpec *specs =
      axon_core_get_property_specs (axon_core_get_default (), device, &n, &error);
  json_builder_begin_object (b);
  tool_json_text (b, "name", device);
  tool_json_text (b, "error", error ? error->message : NULL);
  tool_json_begin_list (b, "properties");
  for (guint i = 0; specs != NULL && i < n; i++)
    if (inspect_is_shown (&specs[i]))
      add_property (b, device, &specs[i]);
  tool_json_end_list (b);
  json_builder_end_object (b);
}

void
inspect_devices_json (gchar **devices, gchar **unusable)
{
  g_autoptr (JsonBuilder) b = tool_json_new ();
  tool_json_begin_list (b, "devices");
  for (guint i = 0; devices[i] != NULL; i++)
    add_device (b, devices[i]);
  tool_json_end_list (b);
  tool_json_strings (b, "unusable", unusable);
  tool_json_finish (b);
}

static void
add_ports (JsonBuilder *b, AxonModel *model)
{
  tool_json_begin_list (b, "inputs");
  for (guint i = 0; i < axon_model_get_n_inputs (model); i++) {
    json_builder_begin_object (b);
    tool_json_port (b, axon_model_get_input_name (model, i), axon_model_get_input_dtype (model, i),
                    axon_model_get_input_shape (model, i));
    json_builder_end_object (b);
  }
  tool_json_end_list (b);
  tool_json_begin_list (b, "outputs");
  for (guint i = 0; i < axon_model_get_n_outputs (model); i++) {
    json_builder_begin_object (b);
    tool_json_port (b, axon_model_get_output_name (model, i),
                    axon_model_get_output_dtype (model, i), axon_model_get_output_shape (model, i));
    json_builder_end_object (b);
  }
  tool_json_end_list (b);
}

static void
add_counts (JsonBuilder *b, AxonModel *model)
{
  g_autoptr (GPtrArray) names = NULL;
  g_autoptr (GHashTable) counts = inspect_count_operators (model, &names);
  json_builder_set_member_name (b, "operators");
  json_builder_begin_object (b);
  for (guint i = 0; i < names->len; i++)
    tool_json_whole (b, names->pdata[i],
                     GPOINTER_TO_UINT (g_hash_table_lookup (counts, names->pdata[i])));
  json_builder_end_object (b);
}

/* Every node: where it runs, or why not. */
static gboolean
add_support (JsonBuilder *b, AxonModel *model, const gchar *device, GError **error)
{
  g_autoptr (GHashTable) reasons = NULL;
  g_autoptr (GHashTable) taken =
      axon_core_query_model (axon_core_get_default (), model, device, NULL, &reasons, NULL, error);
  if (taken == NULL)
    return FALSE;
  json_builder_begin_object (b);
  tool_json_text (b, "name", device);
  tool_json_begin_list (b, "nodes");
  for (guint i = 0; i < model->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (model->nodes, i);
    json_builder_begin_object (b);
    tool_json_text (b, "name", node->name);
    tool_json_text (b, "operator", node->op->name);
    tool_json_text (b, "device", g_hash_table_lookup (taken, node->name));
    tool_json_text (b, "reason", g_hash_table_lookup (reasons, node->name));
    json_builder_end_object (b);
  }
  tool_json_end_list (b);
  json_builder_end_object (b);
  return TRUE;
}

static gboolean
add_description (JsonBuilder *b, AxonModel *model, const gchar *path, GError **error)
{
  g_autoptr (AxonModelDescription) d = axon_model_description_new ();
  g_autofree gchar *doubts = NULL;
  const gchar *key, *source;
  if (!axon_model_description_load (d, path, model, error))
    return FALSE;
  if (!inspect_takes_pictures (d, model)) {
    tool_json_text (b, "description", NULL);
    return TRUE;
  }
  json_builder_set_member_name (b, "description");
  json_builder_begin_object (b);
  for (guint i = 0; (key = axon_model_description_get_key (i, NULL)) != NULL; i++) {
    gboolean is_guess;
    g_autofree gchar *value = axon_model_description_get (d, key, &source, &is_guess);
    if (value == NULL)
      continue;
    json_builder_set_member_name (b, key);
    json_builder_begin_object (b);
    tool_json_text (b, "value", value);
    tool_json_text (b, "source", source);
    tool_json_truth (b, "guess", is_guess);
    json_builder_end_object (b);
  }
  json_builder_end_object (b);
  doubts = axon_model_description_get_doubts (d);
  tool_json_text (b, "doubts", doubts);
  tool_json_text (b, "caution", d->caution);
  return TRUE;
}

gboolean
inspect_model_json (AxonModel *model, const gchar *path, gchar **devices, GError **error)
{
  g_autoptr (JsonBuilder) b = tool_json_new ();
  tool_json_text (b, "name", axon_model_get_name (model));
  tool_json_whole (b, "nodes", axon_model_get_n_nodes (model));
  tool_json_whole (b, "parameters", (gint64)axon_model_get_n_parameters (model));
  tool_json_truth (b, "quantized", axon_model_is_quantized (model));
  add_ports (b, model);
  add_counts (b, model);
  if (!add_description (b, model, path, error))
    return FALSE;
  tool_json_begin_list (b, "devices");
  for (guint i = 0; devices[i] != NULL; i++)
    if (!add_support (b, model, devices[i], error))
      return FALSE;
  tool_json_end_list (b);
  tool_json_finish (b);
  return TRUE;
}

int
inspect_export_json (GVariant *header)
{
  g_autoptr (JsonNode) root = json_gvariant_serialize (header);
  g_autofree gchar *text = json_to_string (root, TRUE);
  g_print ("%s\n", text);
  return TOOL_DONE;
}
