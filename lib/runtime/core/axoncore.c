/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The core: devices, their properties, models. All methods from any thread. */
#include "axoncore-private.h"
#include <axon/plugin/axonbuiltins.h>
#include <axon/plugin/axonextension.h>
#include "../../onnx/axononnx.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <stdlib.h>
#include <string.h>

/**
 * AxonCore:
 *
 * Registry of devices; reads, compiles and queries models. Elements and tools share one,
 * axon_core_get_default().
 *
 * Since: 1.0
 */
G_DEFINE_TYPE (AxonCore, axon_core, G_TYPE_OBJECT)

static const AxonPropertySpec core_properties[] = {
  { .key = "CACHE_DIR", .flags = AXON_RW, .default_text = "" },
  { .key = "CACHE_MAX_SIZE", .flags = AXON_RW, .default_text = "1024" },
  { .key = "CACHE_MODE", .flags = AXON_RW, .default_text = "OPTIMIZE_SPEED" },
  { .key = "MAX_MEMORY", .flags = AXON_RW, .default_text = "0" },
  { .key = "MAX_COMPILE_TIME", .flags = AXON_RW, .default_text = "0" },
  { .key = "INFERENCE_TIMEOUT", .flags = AXON_RW, .default_text = "0" },
  { .key = "ISOLATE_PROBE", .flags = AXON_RW, .default_text = "YES" },
  { .key = "ENABLE_MMAP", .flags = AXON_RW, .default_text = "YES" },
  { .key = "FORCE_TBB_TERMINATE",
    .flags = AXON_RW,
    .default_text = "NO",
    .blurb = N_ ("Accepted for compatibility: threads always end with the last model") },
};

/* Before the application says otherwise. */
static void
apply_environment (AxonCore *core)
{
  const gchar *isolate = secure_getenv ("AXON_ISOLATE_PROBE");
  g_autoptr (GVariant) value = g_variant_ref_sink (g_variant_new_string (isolate ? isolate : ""));
  g_autoptr (GError) error = NULL;
  if (isolate != NULL && !axon_config_set (core->config, "ISOLATE_PROBE", value, &error))
    g_message ("AXON_ISOLATE_PROBE: %s", error->message);
}

static void
axon_core_init (AxonCore *core)
{
  g_mutex_init (&core->lock);
  core->specs = axon_property_resolve (core_properties, G_N_ELEMENTS (core_properties));
  core->config = axon_config_new (core->specs, G_N_ELEMENTS (core_properties));
  apply_environment (core);
  core->globals =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_variant_unref);
  core->op_sets = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_op_set_free);
  g_ptr_array_add (core->op_sets, axon_op_set_new ());
  core->extensions = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_extension_unref);
  core->entries = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, axon_registry_entry_free);
}

static void
axon_core_finalize (GObject *object)
{
  AxonCore *core = AXON_CORE (object);
  g_hash_table_unref (core->entries);
  g_ptr_array_unref (core->extensions);
  g_ptr_array_unref (core->op_sets);
  g_clear_pointer (&core->cipher, axon_cipher_unref);
  g_hash_table_unref (core->globals);
  axon_config_free (core->config);
  g_free (core->specs);
  g_mutex_clear (&core->lock);
  G_OBJECT_CLASS (axon_core_parent_class)->finalize (object);
}

static void
axon_core_class_init (AxonCoreClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = axon_core_finalize;
  bindtextdomain (GETTEXT_PACKAGE, LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
}

/**
 * axon_core_new: (constructor)
 *
 * Returns: (transfer full): a core of its own; models outlive it
 *
 * Since: 1.0
 */
AxonCore *
axon_core_new (void)
{
  return g_object_new (AXON_TYPE_CORE, NULL);
}

/**
 * axon_core_get_default:
 *
 * Returns: (transfer none): the core of this process, never freed
 *
 * Since: 1.0
 */
AxonCore *
axon_core_get_default (void)
{
  static gsize once;
  if (g_once_init_enter (&once)) {
    AxonCore *core = axon_core_new ();
    g_autoptr (GError) error = NULL;
    if (!axon_core_load_environment (core, &error))
      g_message ("%s", error->message);
    g_once_init_leave (&once, (gsize)core);
  }
  return (AxonCore *)once;
}

/* The rows in use; stays valid as long as the core. */
AxonOpSet *
axon_core_get_op_set (AxonCore *core)
{
  AxonOpSet *set;
  g_mutex_lock (&core->lock);
  set = g_ptr_array_index (core->op_sets, core->op_sets->len - 1);
  g_mutex_unlock (&core->lock);
  return set;
}

/**
 * axon_core_read_model:
 * @core: a core
 * @path: (type filename): an ONNX file
 * @cancellable: (nullable): to give up
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the model; %NULL with %AXON_ERROR_ARGUMENT (no such file),
 *   %AXON_ERROR_MODEL (wrong) or %AXON_ERROR_UNSUPPORTED (all unknown operators in one message)
 *
 * Since: 1.0
 */
AxonModel *
axon_core_read_model (AxonCore *core, const gchar *path, GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (AXON_IS_CORE (core) && path != NULL, NULL);
  return axon_onnx_read_file (path, axon_core_get_op_set (core), cancellable, error);
}

/**
 * axon_core_read_model_from_bytes:
 * @core: a core
 * @bytes: an ONNX file's contents; external data is refused
 * @cancellable: (nullable): to give up
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the model
 *
 * Since: 1.0
 */
AxonModel *
axon_core_read_model_from_bytes (AxonCore *core, GBytes *bytes, GCancellable *cancellable,
                                 GError **error)
{
  g_return_val_if_fail (AXON_IS_CORE (core) && bytes != NULL, NULL);
  return axon_onnx_read_bytes (bytes, NULL, axon_core_get_op_set (core), cancellable, error);
}

/**
 * axon_core_read_tensor:
 * @core: a core
 * @path: (type filename): an ONNX TensorProto (.pb) or NumPy (.npy) file
 * @kind: %AXON_DTYPE_SEQUENCE or %AXON_DTYPE_OPTIONAL: the file holds a SequenceProto or an
 *   OptionalProto, which do not say so themselves; any other: a tensor of whatever type
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the tensor
 *
 * Since: 1.0
 */
AxonTensor *
axon_core_read_tensor (G_GNUC_UNUSED AxonCore *core, const gchar *path, AxonDType kind,
                       GError **error)
{
  if (g_str_has_suffix (path, ".npy"))
    return axon_tensor_load_npy (path, error);
  return axon_onnx_read_value_file (path, kind, error);
}

/**
 * axon_core_write_model:
 * @core: a core
 * @model: a model
 * @path: (type filename): the ONNX file, written whole or not at all
 * @error: return location
 *
 * Writes the graph as it is, weights included: what was read, reshaped, given preprocessing, or a
 * runtime model to look at with other tools.
 *
 * Returns: %TRUE on success; %AXON_ERROR_UNSUPPORTED for a graph that no one opset describes
 *
 * Since: 1.0
 */
gboolean
axon_core_write_model (AxonCore *core, AxonModel *model, const gchar *path, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  const gchar *data;
  gsize n;
  g_return_val_if_fail (AXON_IS_CORE (core) && AXON_IS_MODEL (model) && path != NULL, FALSE);
  bytes = axon_core_write_model_to_bytes (core, model, AXON_WRITE_DEFAULT, error);
  if (bytes == NULL) {
    g_prefix_error (error, "%s: ", path);
    return FALSE;
  }
  data = g_bytes_get_data (bytes, &n);
  return g_file_set_contents (path, data, (gssize)n, error);
}

/**
 * axon_core_write_model_to_bytes:
 * @core: a core
 * @model: a model
 * @flags: how weights are written
 * @error: return location
 *
 * As axon_core_write_model(), into memory.
 *
 * Returns: (transfer full) (nullable): the file's bytes; %NULL with %AXON_ERROR_UNSUPPORTED for a
 *   graph that no one opset describes
 *
 * Since: 1.0
 */
GBytes *
axon_core_write_model_to_bytes (AxonCore *core, AxonModel *model, AxonWriteFlags flags,
                                GError **error)
{
  g_return_val_if_fail (AXON_IS_CORE (core) && AXON_IS_MODEL (model), NULL);
  return axon_onnx_write_bytes (model, axon_core_get_op_set (core), flags, error);
}

/**
 * axon_core_has_device:
 * @core: a core
 * @device: a device expression, such as `CPU` or `HETERO:GPU,CPU`
 * @error: return location
 *
 * Returns: %TRUE if the device can be used, and every one behind it; else the error lists what was
 *   searched
 *
 * Since: 1.0
 */
gboolean
axon_core_has_device (AxonCore *core, const gchar *device, GError **error)
{
  g_autoptr (GHashTable) versions = axon_core_get_versions (core, device, error);
  return versions != NULL;
}

static gboolean
add_version (AxonCore *core, const gchar *name, const gchar *id, GHashTable *versions,
             GError **error)
{
  const AxonPluginInfo *info;
  g_autoptr (AxonPlugin) plugin = axon_core_get_plugin (core, name, &info, error);
  if (plugin == NULL || !axon_plugin_has_device (plugin, id, error))
    return FALSE;
  g_hash_table_insert (versions, g_strdup (name),
                       g_strdup_printf ("%s %s", info->version, info->description));
  return TRUE;
}

/**
 * axon_core_get_versions:
 * @core: a core
 * @device: a device expression: of `HETERO:A,B` the versions of all three are told
 * @error: return location
 *
 * Returns: (transfer full) (nullable) (element-type utf8 utf8): device name to version and
 *   description
 *
 * Since: 1.0
 */
GHashTable *
axon_core_get_versions (AxonCore *core, const gchar *device, GError **error)
{
  g_autoptr (AxonDeviceExpr) expr = axon_device_expr_parse (device, error);
  g_autoptr (GHashTable) versions = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GPtrArray) list = NULL;
  if (expr == NULL || !add_version (core, expr->name, expr->id, versions, error))
    return NULL;
  list = expr->members ? axon_device_list_parse (expr->members, error) : g_ptr_array_new ();
  for (guint i = 0; list != NULL && i < list->len; i++) {
    const AxonDeviceRef *ref = g_ptr_array_index (list, i);
    if (!ref->excluded && !add_version (core, ref->name, ref->id, versions, error))
      return NULL;
  }
  return list ? g_steal_pointer (&versions) : NULL;
}

gboolean
axon_core_owns_key (AxonCore *core, const gchar *key)
{
  return axon_config_find_spec (core->config, key) != NULL; /* the table never changes */
}

/* The core's keys as they are for @device, a name without id. */
AxonConfig *
axon_core_dup_config (AxonCore *core, const gchar *device)
{
  AxonRegistryEntry *entry = axon_core_get_entry (core, device, FALSE);
  AxonConfig *config;
  g_mutex_lock (&core->lock);
  config = axon_config_copy (entry && entry->cache ? entry->cache : core->config);
  g_mutex_unlock (&core->lock);
  return config;
}

/* Names joined by commas; classes of types by one word. */
static gchar *
describe_types (AxonDTypeMask mask)
{
  static const struct {
    AxonDTypeMask mask;
    const gchar *name;
  } classes[] = { { AXON_DTYPES_ALL, "numeric,bool" },
                  { AXON_DTYPES_NUMERIC, "numeric" },
                  { AXON_DTYPES_FLOAT, "float" },
                  { AXON_DTYPES_INT, "int" },
                  { AXON_DTYPES_F8, "f8" },
                  { AXON_DTYPES_PACKED, "packed" } };
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  if (mask == 0)
    return g_strdup ("any");
  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    if ((mask & classes[i].mask) == classes[i].mask) {
      g_ptr_array_add (names, (gpointer)classes[i].name);
      mask &= ~classes[i].mask;
    }
  for (guint i = 1; i < AXON_N_DTYPES; i++)
    if (mask & AXON_DTYPE_BIT (i))
      g_ptr_array_add (names, (gpointer)axon_dtype_get_name ((AxonDType)i));
  g_ptr_array_add (names, NULL);
  return g_strjoinv (",", (gchar **)names->pdata);
}

/**
 * axon_core_list_operators:
 * @core: a core
 *
 * Returns: (transfer full) (array zero-terminated=1): one line per operator row: domain, name,
 *   first and last opset, and the types of its first input
 *
 * Since: 1.0
 */
gchar **
axon_core_list_operators (AxonCore *core)
{
  AxonOpSet *set = axon_core_get_op_set (core);
  guint n = axon_op_set_get_n_ops (set);
  gchar **lines = g_new0 (gchar *, n + 1);
  for (guint i = 0; i < n; i++) {
    const AxonOp *op = axon_op_set_get_op (set, i);
    g_autofree gchar *until = op->until ? g_strdup_printf ("%d", op->until) : g_strdup ("");
    g_autofree gchar *types = describe_types (op->types);
    lines[i] = g_strdup_printf ("%-24s %-26s %d-%s %s", op->domain ? op->domain : "ai.onnx",
                                op->name, op->since, until, types);
  }
  return lines;
}
