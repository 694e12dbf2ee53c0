/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Backend IDs, and what is known of the devices behind them. */
#include "backend.h"
#include "config.h"

#include <stdio.h>
#include <string.h>

static GMutex lock;
static GPtrArray *ids; /* lock; once found, the list does not change */

AxonCore *
onnxifi_core (void)
{
  static gsize once;
  if (g_once_init_enter (&once)) {
    AxonCore *core = axon_core_new ();
    g_autoptr (GError) error = NULL;
    if (!axon_core_load_environment (core, &error))
      g_message ("%s", error->message);
    g_once_init_leave (&once, GPOINTER_TO_SIZE (core));
  }
  return GSIZE_TO_POINTER (once);
}

/* lock held. IDs live as long as the process: unplugging a device does not change them. */
static void
find_ids (void)
{
  g_auto (GStrv) devices = NULL;
  if (ids != NULL)
    return;
  ids = g_ptr_array_new ();
  devices = axon_core_get_candidate_devices (onnxifi_core ());
  for (guint i = 0; devices[i] != NULL; i++) {
    BackendID *id = g_new0 (BackendID, 1);
    object_init (id, g_free);
    id->device = g_strdup (devices[i]);
    id->handle = handle_new (OBJECT_BACKEND_ID, id);
    g_ptr_array_add (ids, id);
  }
}

onnxStatus
onnxGetBackendIDs (onnxBackendID *backendIDs, size_t *numBackends)
{
  gboolean fits;
  if (numBackends == NULL)
    return ONNXIFI_STATUS_INVALID_POINTER;
  g_mutex_lock (&lock);
  find_ids ();
  fits = backendIDs != NULL && *numBackends >= ids->len;
  *numBackends = ids->len;
  for (guint i = 0; fits && i < ids->len; i++) {
    BackendID *id = g_ptr_array_index (ids, i);
    id->given++;
    backendIDs[i] = id->handle;
  }
  g_mutex_unlock (&lock);
  return fits ? ONNXIFI_STATUS_SUCCESS : ONNXIFI_STATUS_FALLBACK;
}

BackendID *
backend_id_find (onnxBackendID handle)
{
  BackendID *id = handle_find (OBJECT_BACKEND_ID, handle);
  gboolean given = FALSE;
  if (id == NULL)
    return NULL;
  g_mutex_lock (&lock);
  given = id->given > 0;
  g_mutex_unlock (&lock);
  if (given)
    return id;
  object_unref (id);
  return NULL;
}

onnxStatus
onnxReleaseBackendID (onnxBackendID backendID)
{
  BackendID *id = handle_find (OBJECT_BACKEND_ID, backendID);
  gboolean given = FALSE;
  if (id == NULL)
    return ONNXIFI_STATUS_INVALID_ID;
  g_mutex_lock (&lock);
  given = id->given > 0;
  if (given)
    id->given--;
  g_mutex_unlock (&lock);
  object_unref (id);
  return given ? ONNXIFI_STATUS_SUCCESS : ONNXIFI_STATUS_INVALID_ID;
}

/* TRUE if the device shares memory of OpenCL. */
gboolean
backend_id_has_opencl (const BackendID *id)
{
  g_autoptr (GVariant) value =
      axon_core_get_property (onnxifi_core (), id->device, "DEVICE_MEMORY_TYPES", NULL);
  g_autofree const gchar **types = value ? g_variant_get_strv (value, NULL) : NULL;
  return types != NULL && g_strv_contains (types, "OPENCL_BUFFER");
}

/* 0: the device does not say. */
static guint64
device_number (const BackendID *id, const gchar *key)
{
  g_autoptr (GVariant) value = axon_core_get_property (onnxifi_core (), id->device, key, NULL);
  return value && g_variant_is_of_type (value, G_VARIANT_TYPE_UINT64) ? g_variant_get_uint64 (value)
                                                                      : 0;
}

static gchar *
device_text (const BackendID *id, const gchar *key)
{
  g_autoptr (GVariant) value = axon_core_get_property (onnxifi_core (), id->device, key, NULL);
  return g_strdup (value && g_variant_is_of_type (value, G_VARIANT_TYPE_STRING)
                       ? g_variant_get_string (value, NULL)
                       : id->device);
}

static gchar *
get_name (const BackendID *id)
{
  return g_strdup_printf ("Axon %s", id->device);
}

static gchar *
get_vendor (G_GNUC_UNUSED const BackendID *id)
{
  return g_strdup ("Axon");
}

static gchar *
get_version (G_GNUC_UNUSED const BackendID *id)
{
  return g_strdup (AXON_VERSION);
}

static gchar *
get_extensions (G_GNUC_UNUSED const BackendID *id)
{
  return g_strdup ("onnx_extension_function");
}

static gchar *
get_device (const BackendID *id)
{
  return device_text (id, "FULL_DEVICE_NAME");
}

static gchar *
get_ir_versions (G_GNUC_UNUSED const BackendID *id)
{
  GString *text = g_string_new (NULL);
  for (gint v = AXON_MODEL_MIN_IR_VERSION; v <= AXON_MODEL_MAX_IR_VERSION; v++)
    g_string_append_printf (text, "%s%d", text->len ? " " : "", v);
  return g_string_free (text, FALSE);
}

/* The newest version that an operator of each domain has. */
static gchar *
get_opset_versions (G_GNUC_UNUSED const BackendID *id)
{
  g_auto (GStrv) lines = axon_core_list_operators (onnxifi_core ());
  g_autoptr (GHashTable) newest = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) domains = g_ptr_array_new ();
  GString *text = g_string_new (NULL);
  for (guint i = 0; lines[i] != NULL; i++) {
    gchar domain[64], name[64];
    gint since;
    if (sscanf (lines[i], "%63s %63s %d", domain, name, &since) != 3)
      continue;
    if (!g_hash_table_contains (newest, domain))
      g_ptr_array_add (domains, g_strdup (domain));
    if (since > GPOINTER_TO_INT (g_hash_table_lookup (newest, domain)))
      g_hash_table_insert (newest, g_strdup (domain), GINT_TO_POINTER (since));
  }
  for (guint i = 0; i < domains->len; i++) {
    g_autofree gchar *domain = g_ptr_array_index (domains, i);
    g_string_append_printf (text, "%s%s:%d", i ? " " : "", domain,
                            GPOINTER_TO_INT (g_hash_table_lookup (newest, domain)));
  }
  return g_string_free (text, FALSE);
}

/* A device that does not say what it is, is taken for an accelerator. */
static guint64
get_device_type (const BackendID *id)
{
  static const struct {
    const gchar *kind;
    guint64 type;
  } kinds[] = {
    { "CPU", ONNXIFI_DEVICE_TYPE_CPU },   { "GPU", ONNXIFI_DEVICE_TYPE_GPU },
    { "NPU", ONNXIFI_DEVICE_TYPE_NPU },   { "DSP", ONNXIFI_DEVICE_TYPE_DSP },
    { "FPGA", ONNXIFI_DEVICE_TYPE_FPGA }, { "HETEROGENEOUS", ONNXIFI_DEVICE_TYPE_HETEROGENEOUS }
  };
  g_autofree gchar *kind = device_text (id, "DEVICE_KIND");
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (kinds[i].kind, kind))
      return kinds[i].type;
  return ONNXIFI_DEVICE_TYPE_NPU;
}

static guint64
get_init_properties (const BackendID *id)
{
  return ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION | ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL |
         (backend_id_has_opencl (id) ? ONNXIFI_BACKEND_OPENCL_CONTEXT : 0);
}

static guint64
get_memory_types (const BackendID *id)
{
  return ONNXIFI_MEMORY_TYPE_CPU |
         (backend_id_has_opencl (id) ? ONNXIFI_MEMORY_TYPE_OPENCL_BUFFER : 0);
}

static guint64
get_memory_size (const BackendID *id)
{
  return device_number (id, "DEVICE_TOTAL_MEM_SIZE");
}

/* A row is a text, or a number of the device, or one for all. */
static const struct {
  onnxBackendInfo type;
  gchar *(*text) (const BackendID *id);
  guint64 (*number) (const BackendID *id);
  guint64 constant;
} infos[] = {
  { ONNXIFI_BACKEND_ONNXIFI_VERSION, .constant = G_GUINT64_CONSTANT (1) << 32 },
  { ONNXIFI_BACKEND_NAME, .text = get_name },
  { ONNXIFI_BACKEND_VENDOR, .text = get_vendor },
  { ONNXIFI_BACKEND_VERSION, .text = get_version },
  { ONNXIFI_BACKEND_EXTENSIONS, .text = get_extensions },
  { ONNXIFI_BACKEND_DEVICE, .text = get_device },
  { ONNXIFI_BACKEND_DEVICE_TYPE, .number = get_device_type },
  { ONNXIFI_BACKEND_ONNX_IR_VERSION, .text = get_ir_versions },
  { ONNXIFI_BACKEND_OPSET_VERSION, .text = get_opset_versions },
  { ONNXIFI_BACKEND_CAPABILITIES, .constant = ONNXIFI_CAPABILITY_THREAD_SAFE |
                                              ONNXIFI_CAPABILITY_SYMBOLIC_BATCH_SIZE |
                                              ONNXIFI_CAPABILITY_SYMBOLIC_SIZE_TENSORS },
  { ONNXIFI_BACKEND_INIT_PROPERTIES, .number = get_init_properties },
  { ONNXIFI_BACKEND_MEMORY_TYPES, .number = get_memory_types },
  { ONNXIFI_BACKEND_GRAPH_INIT_PROPERTIES, .constant = ONNXIFI_GRAPH_PROPERTY_NONE },
  { ONNXIFI_BACKEND_SYNCHRONIZATION_TYPES, .constant = ONNXIFI_SYNCHRONIZATION_EVENT },
  { ONNXIFI_BACKEND_MEMORY_SIZE, .number = get_memory_size },
  { ONNXIFI_BACKEND_MAX_GRAPH_SIZE, .number = get_memory_size },
  { ONNXIFI_BACKEND_MAX_GRAPH_COUNT, .constant = G_MAXUINT32 },
};

/* Writes the value where it fits; its size in any case. */
static onnxStatus
answer (gconstpointer value, gsize n, void *to, size_t *size)
{
  gboolean fits = to != NULL && *size >= n;
  if (fits && n > 0)
    memcpy (to, value, n);
  *size = n;
  return fits ? ONNXIFI_STATUS_SUCCESS : ONNXIFI_STATUS_FALLBACK;
}

static onnxStatus
get_info (const BackendID *id, onnxBackendInfo type, void *value, size_t *size)
{
  for (guint i = 0; i < G_N_ELEMENTS (infos); i++) {
    g_autofree gchar *text = NULL;
    guint64 number;
    if (infos[i].type != type)
      continue;
    text = infos[i].text ? infos[i].text (id) : NULL;
    if (text != NULL)
      return answer (text, strlen (text), value, size);
    number = infos[i].number ? infos[i].number (id) : infos[i].constant;
    return answer (&number, sizeof number, value, size);
  }
  return ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE;
}

onnxStatus
onnxGetBackendInfo (onnxBackendID backendID, onnxBackendInfo infoType, void *infoValue,
                    size_t *infoValueSize)
{
  BackendID *id;
  onnxStatus status;
  if (infoValueSize == NULL)
    return ONNXIFI_STATUS_INVALID_POINTER;
  id = backend_id_find (backendID);
  if (id == NULL)
    return ONNXIFI_STATUS_INVALID_ID;
  status = axon_core_has_device (onnxifi_core (), id->device, NULL)
               ? get_info (id, infoType, infoValue, infoValueSize)
               : ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  object_unref (id);
  return status;
}
