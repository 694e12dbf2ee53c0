/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices that stand for several: which ones, how each is configured, and compiling on all. */
#include <axon/plugin/axoncandidates.h>
#include "../runtime/core/axoncore-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#include <stdlib.h>
#include <string.h>

static AxonDeviceRef *
ref_new (const gchar *device, gint number)
{
  g_autoptr (AxonDeviceExpr) expr = axon_device_expr_parse (device, NULL);
  AxonDeviceRef *ref = g_new0 (AxonDeviceRef, 1);
  ref->device = g_strdup (device);
  ref->name = g_strdup (expr ? expr->name : device);
  ref->id = g_strdup (expr ? expr->id : NULL);
  ref->number = number;
  return ref;
}

/* Metric DEVICE_KIND of @device, or "" (transfer full). */
static gchar *
kind_of (AxonCore *core, const gchar *device)
{
  g_autoptr (GVariant) kind = axon_core_get_property (core, device, "DEVICE_KIND", NULL);
  return kind ? g_variant_dup_string (kind, NULL) : g_strdup ("");
}

typedef struct {
  gchar *device;
  gint rank;
  guint place; /* in the list: equal ranks keep their order */
} Ranked;

static gint
compare_ranks (gconstpointer a, gconstpointer b)
{
  const Ranked *x = a, *y = b;
  return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : x->place < y->place ? -1 : 1;
}

/* As the devices' metric DEVICE_RANK says. */
static void
add_automatic (AxonCore *core, GPtrArray *list)
{
  g_auto (GStrv) names = axon_core_get_candidate_devices (core);
  guint n = g_strv_length (names);
  g_autofree Ranked *ranked = g_new (Ranked, n + 1);
  for (guint i = 0; i < n; i++) {
    g_autoptr (GVariant) rank = axon_core_get_property (core, names[i], "DEVICE_RANK", NULL);
    ranked[i] =
        (Ranked){ names[i], rank ? g_variant_get_int32 (rank) : AXON_DEVICE_RANK_DEFAULT, i };
  }
  qsort (ranked, n, sizeof *ranked, compare_ranks);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (list, ref_new (ranked[i].device, 0));
}

/* A kind of GPU stands for all of them, where there are several. */
static void
add_named (AxonCore *core, const AxonDeviceRef *ref, GPtrArray *list)
{
  g_autofree gchar *kind = kind_of (core, ref->name);
  g_autoptr (GVariant) ids =
      ref->id ? NULL : axon_core_get_property (core, ref->name, "AVAILABLE_DEVICES", NULL);
  g_autofree const gchar **names = ids ? g_variant_get_strv (ids, NULL) : NULL;
  guint n = names ? g_strv_length ((gchar **)names) : 0;
  if (n < 2 || !g_str_equal (kind, "GPU")) {
    g_ptr_array_add (list, ref_new (ref->device, ref->number));
    return;
  }
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *device = g_strdup_printf ("%s.%s", ref->name, names[i]);
    g_ptr_array_add (list, ref_new (device, ref->number));
  }
}

static void
remove_excluded (const AxonDeviceRef *out, GPtrArray *list)
{
  for (guint i = list->len; i-- > 0;) {
    const AxonDeviceRef *ref = g_ptr_array_index (list, i);
    if (g_str_equal (ref->device, out->device) ||
        (out->id == NULL && g_str_equal (ref->name, out->name)))
      g_ptr_array_remove_index (list, i);
  }
}

static gboolean
check_nesting (AxonCore *core, const gchar *self, const AxonDeviceRef *ref, GError **error)
{
  if (!axon_core_is_spreading (core, ref->name))
    return TRUE;
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("%s cannot stand before %s"), self,
               ref->name);
  return FALSE;
}

static void
set_none_left (AxonPlugin *plugin, AxonCore *core, const gchar *text, gboolean named,
               GError **error)
{
  g_auto (GStrv) unusable = named ? NULL : axon_core_list_unusable_candidates (core);
  g_autofree gchar *why = unusable ? g_strjoinv ("; ", unusable) : g_strdup ("");
  g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
               _ ("%s%s%s: no device is left to choose from%s%s"), axon_plugin_get_name (plugin),
               *text ? ":" : "", text, *why ? ": " : "", why);
}

GPtrArray *
axon_candidates_list (AxonPlugin *plugin, AxonCore *core, const AxonConfig *config, GError **error)
{
  const gchar *text = axon_config_get_string (config, "MULTI_DEVICE_PRIORITIES");
  g_autoptr (GPtrArray) given = *text ? axon_device_list_parse (text, error) : g_ptr_array_new ();
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (axon_device_ref_free);
  gboolean named = FALSE;
  if (given == NULL)
    return NULL;
  for (guint i = 0; i < given->len; i++) {
    const AxonDeviceRef *ref = g_ptr_array_index (given, i);
    if (!check_nesting (core, axon_plugin_get_name (plugin), ref, error))
      return NULL;
    if (!ref->excluded) {
      add_named (core, ref, list);
      named = TRUE;
    }
  }
  if (!named)
    add_automatic (core, list);
  for (guint i = 0; i < given->len; i++)
    if (((AxonDeviceRef *)g_ptr_array_index (given, i))->excluded)
      remove_excluded (g_ptr_array_index (given, i), list);
  if (list->len > 0)
    return g_steal_pointer (&list);
  set_none_left (plugin, core, text, named, error);
  return NULL;
}

/* Keys that the virtual device has too mean the devices behind it. */
static GVariant *
add_shared (AxonCore *core, const AxonConfig *config, const gchar *device, GVariant *own)
{
  static const gchar *const shared[] = { "PERF_COUNT", "EXECUTION_MODE_HINT",
                                         "PERFORMANCE_HINT_NUM_REQUESTS" };
  for (guint i = 0; i < G_N_ELEMENTS (shared); i++) {
    GVariant *value = axon_config_get (config, shared[i]);
    g_autoptr (GVariant) known = axon_core_get_property (core, device, shared[i], NULL);
    g_autoptr (GVariant) before = own;
    own = value && known ? axon_variant_with (before, shared[i], value) : g_variant_ref (before);
  }
  return own;
}

GVariant *
axon_candidates_config (AxonCore *core, const AxonConfig *config, const gchar *device,
                        const gchar *hint)
{
  static const gchar *const decided[] = { "NUM_STREAMS", "INFERENCE_NUM_THREADS" };
  g_autoptr (GVariant) own =
      add_shared (core, config, device, axon_config_for_device (config, device));
  g_autoptr (GVariant) known = axon_core_get_property (core, device, "PERFORMANCE_HINT", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (decided); i++) {
    g_autoptr (GVariant) value = g_variant_lookup_value (own, decided[i], NULL);
    if (value != NULL)
      return g_steal_pointer (&own);
  }
  return known ? axon_variant_with (own, "PERFORMANCE_HINT", g_variant_new_string (hint))
               : g_steal_pointer (&own);
}

typedef struct {
  AxonCore *core;
  AxonModel *model;
  const AxonDeviceRef *ref;
  GVariant *config;
  GCancellable *cancellable;
  gboolean is_cpu; /* compiles last, when the others do not need the processors any more */
  AxonCompiledModel *compiled;
  GError *error;
} Task;

static gpointer
compile_task (gpointer data)
{
  Task *t = data;
  t->compiled = axon_core_compile_model (t->core, t->model, t->ref->device, t->config,
                                         t->cancellable, NULL, NULL, &t->error);
  return NULL;
}

static void
run_tasks (Task *tasks, guint n)
{
  g_autofree GThread **threads = g_new0 (GThread *, n + 1);
  for (guint i = 0; i < n; i++)
    if (!tasks[i].is_cpu) /* without a thread after the others, too */
      threads[i] = g_thread_try_new ("axon-compile", compile_task, &tasks[i], NULL);
  for (guint i = 0; i < n; i++)
    if (threads[i] != NULL)
      g_thread_join (threads[i]);
  for (guint i = 0; i < n; i++)
    if (threads[i] == NULL)
      compile_task (&tasks[i]);
}

gboolean
axon_candidates_compile_all (AxonPlugin *plugin, AxonCore *core, AxonScheduler *scheduler,
                             AxonModel *model, GPtrArray *devices, const AxonConfig *config,
                             GCancellable *cancellable, AxonProgressFunc progress,
                             gpointer user_data, GError **error)
{
  g_autofree Task *tasks = g_new0 (Task, devices->len + 1);
  g_autoptr (GString) messages = g_string_new (NULL);
  for (guint i = 0; i < devices->len; i++) {
    const AxonDeviceRef *ref = g_ptr_array_index (devices, i);
    g_autofree gchar *kind = kind_of (core, ref->device);
    tasks[i] = (Task){ .core = core,
                       .model = model,
                       .ref = ref,
                       .config = axon_candidates_config (core, config, ref->device, "THROUGHPUT"),
                       .cancellable = cancellable,
                       .is_cpu = g_str_equal (kind, "CPU") };
  }
  run_tasks (tasks, devices->len);
  for (guint i = 0; i < devices->len; i++) {
    Task *t = &tasks[i];
    if (t->compiled != NULL)
      axon_scheduler_add (scheduler, t->ref->device, t->ref->device, t->compiled,
                          (guint)t->ref->number);
    else {
      g_string_append_printf (messages, "%s%s: %s", messages->len ? "; " : "", t->ref->device,
                              t->error->message);
      axon_plugin_log (plugin, config, "LOG_WARNING", "%s is left out: %s", t->ref->device,
                       t->error->message);
      axon_candidates_lose (scheduler, t->ref->device, t->error);
    }
    g_clear_object (&t->compiled);
    g_clear_error (&t->error);
    g_clear_pointer (&t->config, g_variant_unref);
  }
  if (progress != NULL)
    progress (1, "compiled", user_data);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (axon_scheduler_get_n_devices (scheduler) > 0)
    return TRUE;
  g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, _ ("%s: no device compiled the model: %s"),
               axon_plugin_get_name (plugin), messages->str);
  return FALSE;
}

gboolean
axon_candidates_query (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                       AxonSupportedOps *result, GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonCore) core = axon_plugin_get_core (plugin, error);
  g_autoptr (GPtrArray) devices = core ? axon_candidates_list (plugin, core, config, error) : NULL;
  for (guint i = 0; devices != NULL && i < devices->len; i++) {
    const gchar *device = ((AxonDeviceRef *)g_ptr_array_index (devices, i))->device;
    g_autoptr (GVariant) own = axon_config_for_device (config, device);
    g_autoptr (GHashTable) reasons = NULL;
    g_autoptr (GHashTable) taken =
        axon_core_query_model (core, model, device, own, &reasons, cancellable, error);
    if (taken == NULL)
      return FALSE;
    for (guint k = 0; k < model->nodes->len; k++) {
      const gchar *name = ((AxonNode *)g_ptr_array_index (model->nodes, k))->name;
      const gchar *why = g_hash_table_lookup (reasons, name);
      if (g_hash_table_contains (result->devices, name))
        continue;
      if (g_hash_table_contains (taken, name)) {
        g_hash_table_insert (result->devices, g_strdup (name), g_strdup (device));
        g_hash_table_remove (result->reasons, name);
      } else {
        g_hash_table_insert (result->reasons, g_strdup (name),
                             g_strdup_printf ("%s: %s", device, why ? why : "not taken"));
      }
    }
  }
  return devices != NULL;
}

static GVariant *
candidates_capabilities (AxonPlugin *plugin)
{
  g_autoptr (AxonCore) core = axon_plugin_get_core (plugin, NULL);
  g_auto (GStrv) names = core ? axon_core_get_candidate_devices (core) : NULL;
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GVariantBuilder b;
  g_variant_builder_init (&b, G_VARIANT_TYPE_STRING_ARRAY);
  for (guint i = 0; names != NULL && names[i] != NULL; i++) {
    g_autoptr (GVariant) value =
        axon_core_get_property (core, names[i], "OPTIMIZATION_CAPABILITIES", NULL);
    g_autofree const gchar **list = value ? g_variant_get_strv (value, NULL) : NULL;
    for (guint k = 0; list != NULL && list[k] != NULL; k++)
      if (!g_str_equal (list[k], "EXPORT_IMPORT") && g_hash_table_add (seen, g_strdup (list[k])))
        g_variant_builder_add (&b, "s", list[k]);
  }
  return g_variant_builder_end (&b);
}

GVariant *
axon_candidates_get_metric (AxonPlugin *plugin, const gchar *key, GError **error)
{
  if (g_str_equal (key, "FULL_DEVICE_NAME"))
    return g_variant_new_string (axon_plugin_get_name (plugin));
  if (g_str_equal (key, "AVAILABLE_DEVICES"))
    return axon_property_list ("", NULL);
  if (g_str_equal (key, "OPTIMIZATION_CAPABILITIES"))
    return candidates_capabilities (plugin);
  return axon_property_no_value (key, error);
}
