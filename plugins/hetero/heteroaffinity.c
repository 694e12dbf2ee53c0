/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who runs what. An affinity in the model wins; the rest goes to the first device, in order of
 * priority, that takes the node. */
#include "hetero.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

static GPtrArray *
device_list (const AxonConfig *config, GError **error)
{
  const gchar *text = axon_config_get_string (config, "MULTI_DEVICE_PRIORITIES");
  g_autoptr (GPtrArray) list = NULL;
  if (*text == '\0')
    return g_ptr_array_new ();
  list = axon_device_list_parse (text, error);
  for (guint i = 0; list != NULL && i < list->len; i++) {
    const AxonDeviceRef *ref = g_ptr_array_index (list, i);
    if (!ref->excluded && ref->number == 0 && !g_str_equal (ref->name, "HETERO"))
      continue;
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_ARGUMENT,
        _ ("HETERO:%s: expected devices alone, without - and numbers, and not HETERO itself"),
        text);
    return NULL;
  }
  return g_steal_pointer (&list);
}

/* A device with memory of its own takes what fits, with room for the rest (PIPELINE_PARALLEL). */
static GVariant *
query_config (AxonCore *core, AxonModel *model, const AxonConfig *config, const gchar *device)
{
  const gchar *policy = axon_config_get_string (config, "MODEL_DISTRIBUTION_POLICY");
  g_autoptr (GVariant) own = axon_config_for_device (config, device);
  g_autoptr (GVariant) memory =
      g_str_equal (policy, "PIPELINE_PARALLEL")
          ? axon_core_get_property (core, device, "DEVICE_TOTAL_MEM_SIZE", NULL)
          : NULL;
  gdouble bytes = 0;
  if (memory == NULL || !g_variant_is_of_type (memory, G_VARIANT_TYPE_UINT64))
    return g_steal_pointer (&own);
  for (guint i = 0; i < model->values->len; i++) {
    const AxonValue *value = g_ptr_array_index (model->values, i);
    if (value->type.value != NULL)
      bytes += (gdouble)axon_tensor_get_n_bytes (value->type.value);
  }
  return axon_variant_with (
      own, "QUERY_MODEL_RATIO",
      g_variant_new_double (MIN (1, (gdouble)g_variant_get_uint64 (memory) / (1.2 * bytes + 1))));
}

static guint
count_unassigned (const AxonModel *model)
{
  guint n = 0;
  for (guint i = 0; i < model->nodes->len; i++)
    n += ((AxonNode *)g_ptr_array_index (model->nodes, i))->affinity == NULL;
  return n;
}

static gboolean
ask_device (AxonCore *core, AxonModel *model, const AxonConfig *config, const gchar *device,
            GHashTable *why, GCancellable *cancellable, GError **error)
{
  g_autoptr (GVariant) own = query_config (core, model, config, device);
  g_autoptr (GHashTable) reasons = NULL;
  g_autoptr (GHashTable) taken =
      axon_core_query_model (core, model, device, own, &reasons, cancellable, error);
  if (taken == NULL)
    return FALSE;
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    const gchar *reason = g_hash_table_lookup (reasons, node->name);
    const gchar *before = g_hash_table_lookup (why, node->name);
    if (node->affinity != NULL)
      continue;
    if (g_hash_table_contains (taken, node->name))
      axon_node_set_affinity (node, device);
    else
      g_hash_table_insert (why, g_strdup (node->name),
                           g_strdup_printf ("%s%s%s: %s", before ? before : "", before ? ", " : "",
                                            device, reason ? reason : "not taken"));
  }
  return TRUE;
}

static gboolean
fail_unassigned (const AxonModel *model, GHashTable *why, GError **error)
{
  g_autoptr (GString) list = g_string_new (NULL);
  for (guint i = 0; i < model->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (model->nodes, i);
    const gchar *reason = g_hash_table_lookup (why, node->name);
    g_autofree gchar *what = node->affinity ? NULL : axon_node_describe (node);
    if (what != NULL)
      g_string_append_printf (list, "%s%s%s%s%s", list->len ? "; " : "", what, reason ? " (" : "",
                              reason ? reason : "", reason ? ")" : "");
  }
  g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
               _ ("HETERO: %u of %u nodes have no device: %s"), count_unassigned (model),
               model->nodes->len, list->str);
  return FALSE;
}

gboolean
hetero_assign (AxonCore *core, AxonModel *model, const AxonConfig *config,
               GCancellable *cancellable, GError **error)
{
  g_autoptr (GPtrArray) devices = device_list (config, error);
  g_autoptr (GHashTable) why = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (devices == NULL)
    return FALSE;
  if (devices->len == 0 && count_unassigned (model) == model->nodes->len && model->nodes->len > 0) {
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_ARGUMENT,
        _ ("HETERO: which devices? Write HETERO:GPU,CPU, or set MULTI_DEVICE_PRIORITIES or "
           "the affinity of every node"));
    return FALSE;
  }
  for (guint i = 0; i < devices->len && count_unassigned (model) > 0; i++)
    if (!ask_device (core, model, config, ((AxonDeviceRef *)g_ptr_array_index (devices, i))->device,
                     why, cancellable, error))
      return FALSE;
  return count_unassigned (model) == 0 || fail_unassigned (model, why, error);
}

/* What assign would do, with the reasons of whoever refused. */
gboolean
hetero_query (AxonCore *core, AxonModel *model, const AxonConfig *config, AxonSupportedOps *result,
              GCancellable *cancellable, GError **error)
{
  g_autoptr (GPtrArray) devices = device_list (config, error);
  g_autoptr (GHashTable) why = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (AxonModel) clone = axon_model_clone (model);
  if (devices == NULL)
    return FALSE;
  for (guint i = 0; i < devices->len; i++)
    if (!ask_device (core, clone, config, ((AxonDeviceRef *)g_ptr_array_index (devices, i))->device,
                     why, cancellable, error))
      return FALSE;
  for (guint i = 0; i < clone->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (clone->nodes, i);
    const gchar *reason = g_hash_table_lookup (why, node->name);
    if (node->affinity != NULL)
      g_hash_table_insert (result->devices, g_strdup (node->name), g_strdup (node->affinity));
    else
      g_hash_table_insert (result->reasons, g_strdup (node->name),
                           g_strdup (reason ? reason : "no devices are named"));
  }
  return TRUE;
}

static void
write_dot (AxonModel *model, const gchar *directory, const gchar *what)
{
  g_autofree gchar *dot = axon_model_to_dot (model);
  g_autofree gchar *safe = g_strdelimit (g_strdup (model->name), "/\\", '_');
  g_autofree gchar *name = g_strdup_printf ("hetero_%s_%s.dot", what, safe);
  g_autofree gchar *path = g_build_filename (directory, name, NULL);
  g_autoptr (GError) error = NULL;
  if (!g_file_set_contents (path, dot, -1, &error))
    g_message ("%s", error->message);
}

/* With AXON_HETERO_DUMP=FOLDER: the devices, and the parts, as Graphviz drawings. */
void
hetero_dump (AxonModel *model, GPtrArray *parts)
{
  const gchar *directory = secure_getenv ("AXON_HETERO_DUMP");
  g_autoptr (AxonModel) clone = NULL;
  if (directory == NULL)
    return;
  write_dot (model, directory, "affinity");
  clone = axon_model_clone (model);
  for (guint p = 0; p < parts->len; p++) {
    const AxonPart *part = g_ptr_array_index (parts, p);
    g_autofree gchar *label = g_strdup_printf ("subgraph%u: %s", p, part->device);
    for (guint i = 0; i < part->model->nodes->len; i++)
      axon_model_set_affinity (clone, ((AxonNode *)g_ptr_array_index (part->model->nodes, i))->name,
                               label);
  }
  write_dot (clone, directory, "subgraphs");
}
