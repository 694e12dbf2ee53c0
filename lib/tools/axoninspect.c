/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon-inspect: devices, properties, operators, models. */
#include "inspect-private.h"

#include <string.h>

static struct {
  gchar *device, **files;
  gboolean operators, markdown, dot, nodes, presets, json;
} opt;

static const GOptionEntry entries[] = {
  { "device", 'd', 0, G_OPTION_ARG_STRING, &opt.device,
    N_ ("Show this device's properties, or which nodes of the model it takes"), "NAME" },
  { "operators", 'o', 0, G_OPTION_ARG_NONE, &opt.operators, N_ ("List the operator table"), NULL },
  { "markdown", 0, 0, G_OPTION_ARG_NONE, &opt.markdown,
    N_ ("With --operators: as a Markdown page that says what runs where"), NULL },
  { "nodes", 'n', 0, G_OPTION_ARG_NONE, &opt.nodes, N_ ("List every node of the model"), NULL },
  { "dot", 0, 0, G_OPTION_ARG_NONE, &opt.dot, N_ ("Print the model as a Graphviz graph"), NULL },
  { "presets", 0, 0, G_OPTION_ARG_NONE, &opt.presets,
    N_ ("List the well-known models that are recognised"), NULL },
  TOOL_JSON_ENTRY (&opt.json),
  TOOL_EXTENSION_ENTRY,
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &opt.files, NULL, "[MODEL.onnx]" },
  G_OPTION_ENTRY_NULL
};

gboolean
inspect_is_shown (const AxonPropertySpec *spec)
{
  return !(spec->flags & (AXON_PROPERTY_MODEL_ONLY | AXON_PROPERTY_HIDDEN));
}

gchar *
inspect_accepted_values (const AxonPropertySpec *spec)
{
  gboolean free_text = spec->type == AXON_PROPERTY_STRING || spec->type == AXON_PROPERTY_MAP;
  return !(spec->flags & AXON_PROPERTY_READ_WRITE) || free_text || spec->max == G_MAXINT
             ? g_strdup ("")
             : axon_property_describe_accepted (spec, NULL);
}

static gboolean
show_properties (const gchar *device, GError **error)
{
  AxonCore *core = axon_core_get_default ();
  guint n;
  const AxonPropertySpec *specs = axon_core_get_property_specs (core, device, &n, error);
  if (specs == NULL)
    return FALSE;
  g_print ("%s\n", device);
  for (guint i = 0; i < n; i++) {
    g_autoptr (GVariant) value = NULL;
    if (!inspect_is_shown (&specs[i]))
      continue;
    value = axon_core_get_property (core, device, specs[i].key, NULL);
    g_autofree gchar *text = value ? axon_property_value_to_text (&specs[i], value) : g_strdup ("");
    g_autofree gchar *accepted = inspect_accepted_values (&specs[i]);
    g_print ("  %-37s %s  %-28s %s%s%s%s\n", specs[i].key,
             specs[i].flags & AXON_PROPERTY_READ_WRITE ? "RW" : "RO",
             specs[i].type == AXON_PROPERTY_LIST ? "..." : text, _ (specs[i].blurb),
             *accepted ? " (" : "", accepted, *accepted ? ")" : "");
  }
  return TRUE;
}

static int
show_device (gchar *device)
{
  GError *error = NULL;
  gchar *const alone[] = { device, NULL }, *const none[] = { NULL };
  guint n;
  if (!opt.json)
    return show_properties (device, &error) ? TOOL_DONE : tool_fail (error);
  if (axon_core_get_property_specs (axon_core_get_default (), device, &n, &error) == NULL)
    return tool_fail (error);
  inspect_devices_json ((gchar **)alone, (gchar **)none);
  return TOOL_DONE;
}

static int
show_devices (void)
{
  g_auto (GStrv) devices = axon_core_list_all_devices (axon_core_get_default ());
  g_auto (GStrv) unusable = axon_core_list_unusable_devices (axon_core_get_default ());
  GError *error = NULL;
  if (opt.json) {
    inspect_devices_json (devices, unusable);
    return TOOL_DONE;
  }
  for (guint i = 0; devices[i] != NULL; i++)
    if (!show_properties (devices[i], &error)) {
      g_printerr ("%s\n", error->message);
      g_clear_error (&error);
    }
  if (devices[0] == NULL)
    g_print ("%s\n", _ ("No device was found; AXON_PLUGIN_PATH names directories to search."));
  for (guint i = 0; unusable[i] != NULL; i++)
    g_printerr ("%s\n", unusable[i]);
  return 0;
}

static void
show_ports (AxonModel *model)
{
  for (guint i = 0; i < axon_model_get_n_inputs (model); i++) {
    g_autofree gchar *s = axon_shape_to_string (axon_model_get_input_shape (model, i));
    g_print ("  %-8s %s %s%s\n", _ ("input"), axon_model_get_input_name (model, i),
             axon_dtype_get_name (axon_model_get_input_dtype (model, i)), s);
  }
  for (guint i = 0; i < axon_model_get_n_outputs (model); i++) {
    g_autofree gchar *s = axon_shape_to_string (axon_model_get_output_shape (model, i));
    g_print ("  %-8s %s %s%s\n", _ ("output"), axon_model_get_output_name (model, i),
             axon_dtype_get_name (axon_model_get_output_dtype (model, i)), s);
  }
}

static gint
compare_keys (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const gchar *const *)a, *(const gchar *const *)b);
}

GHashTable *
inspect_count_operators (AxonModel *model, GPtrArray **names)
{
  GHashTable *counts = g_hash_table_new (g_str_hash, g_str_equal);
  *names = g_ptr_array_new ();
  for (guint i = 0; i < model->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (model->nodes, i);
    guint n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, node->op->name));
    if (n == 0)
      g_ptr_array_add (*names, (gpointer)node->op->name);
    g_hash_table_insert (counts, (gpointer)node->op->name, GUINT_TO_POINTER (n + 1));
  }
  g_ptr_array_sort (*names, compare_keys);
  return counts;
}

static void
show_counts (AxonModel *model)
{
  g_autoptr (GPtrArray) names = NULL;
  g_autoptr (GHashTable) counts = inspect_count_operators (model, &names);
  for (guint i = 0; i < names->len; i++)
    g_print ("  %5u %s\n", GPOINTER_TO_UINT (g_hash_table_lookup (counts, names->pdata[i])),
             (gchar *)names->pdata[i]);
}

static gboolean
show_support (AxonModel *model, const gchar *device, GError **error)
{
  g_autoptr (GHashTable) reasons = NULL;
  g_autoptr (GHashTable) taken =
      axon_core_query_model (axon_core_get_default (), model, device, NULL, &reasons, NULL, error);
  guint n = 0;
  if (taken == NULL)
    return FALSE;
  for (guint i = 0; i < model->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (model->nodes, i);
    const gchar *where = g_hash_table_lookup (taken, node->name);
    const gchar *why = g_hash_table_lookup (reasons, node->name);
    n += where != NULL;
    if (opt.nodes || opt.device != NULL || where == NULL)
      g_print ("  %-24s %-40s %s\n", node->op->name, node->name, where ? where : why ? why : "-");
  }
  g_print (_ ("  %s takes %u of %u nodes\n"), device, n, model->nodes->len);
  return TRUE;
}

static void
show_stored_ports (GVariant *header, const gchar *key, const gchar *what)
{
  g_autoptr (GVariant) ports = g_variant_lookup_value (header, key, G_VARIANT_TYPE ("a(ays)"));
  for (gsize i = 0; ports != NULL && i < g_variant_n_children (ports); i++) {
    const gchar *name, *type;
    g_variant_get_child (ports, i, "(^&ay&s)", &name, &type);
    g_print ("  %-8s %s %s\n", what, name, type);
  }
}

/* A file of axon-compile, or an entry of a cache. */
static int
show_export (const gchar *path)
{
  GError *error = NULL;
  g_autoptr (GVariant) header =
      axon_core_read_export_header (axon_core_get_default (), path, &error);
  GVariantIter iter;
  const gchar *key;
  GVariant *value;
  if (header == NULL)
    return tool_fail (error);
  if (opt.json)
    return inspect_export_json (header);
  show_stored_ports (header, "inputs", _ ("input"));
  show_stored_ports (header, "outputs", _ ("output"));
  g_variant_iter_init (&iter, header);
  while (g_variant_iter_loop (&iter, "{&sv}", &key, &value)) {
    g_autofree gchar *text = g_variant_print (value, FALSE);
    if (!g_str_equal (key, "inputs") && !g_str_equal (key, "outputs"))
      g_print ("  %-28s %s\n", key, text);
  }
  return 0;
}

static int
show_model (const gchar *path)
{
  AxonCore *core = axon_core_get_default ();
  GError *error = NULL;
  g_autoptr (AxonModel) model = axon_core_read_model (core, path, NULL, &error);
  g_auto (GStrv) devices = NULL;
  if (model == NULL)
    return tool_fail (error);
  if (opt.dot) {
    g_autofree gchar *dot = axon_model_to_dot (model);
    g_print ("%s", dot);
    return 0;
  }
  devices = opt.device ? g_strsplit (opt.device, "\n", 1) : axon_core_get_available_devices (core);
  if (opt.json)
    return inspect_model_json (model, path, devices, &error) ? TOOL_DONE : tool_fail (error);
  g_print (_ ("%s: %u nodes, %llu parameters%s\n"), axon_model_get_name (model),
           axon_model_get_n_nodes (model), (unsigned long long)axon_model_get_n_parameters (model),
           axon_model_is_quantized (model) ? _ (", quantised") : "");
  show_ports (model);
  show_counts (model);
  if (!inspect_description (model, path, &error))
    return tool_fail (error);
  for (guint i = 0; devices[i] != NULL; i++)
    if (!show_support (model, devices[i], &error))
      return tool_fail (error);
  return 0;
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  GError *error = NULL;
  tool_init ();
  g_option_context_set_translation_domain (context, GETTEXT_PACKAGE);
  g_option_context_set_summary (
      context, _ ("Shows devices with their properties, the operator table, or a model."));
  g_option_context_add_main_entries (context, entries, GETTEXT_PACKAGE);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    return tool_misused (error);
  if (opt.files != NULL && opt.files[1] != NULL)
    return tool_show_usage (context);
  if (opt.operators)
    return inspect_operators (opt.markdown ? INSPECT_MARKDOWN
                              : opt.json   ? INSPECT_JSON
                                           : INSPECT_TEXT);
  if (opt.presets)
    return inspect_presets (opt.json);
  if (opt.files != NULL && g_str_has_suffix (opt.files[0], ".axon"))
    return show_export (opt.files[0]);
  if (opt.files != NULL)
    return show_model (opt.files[0]);
  return opt.device != NULL ? show_device (opt.device) : show_devices ();
}
