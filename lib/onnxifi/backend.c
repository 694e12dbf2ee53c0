/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend.h"
#include "status.h"

#include <string.h>

/* Names of operators that a kernel of the device's own runs; the others run in reference kernels,
 * or as several. NULL: the device does not say. */
static GHashTable *
load_own_kernels (const BackendID *id)
{
  gsize length = strcspn (id->device, ".");
  g_autofree gchar *key = g_strdup_printf ("%.*s_OPERATOR_KERNELS", (gint)length, id->device);
  g_autoptr (GVariant) value = axon_core_get_property (onnxifi_core (), id->device, key, NULL);
  GHashTable *own;
  GVariantIter iter;
  const gchar *row;
  if (value == NULL || !g_variant_is_of_type (value, G_VARIANT_TYPE_STRING_ARRAY))
    return NULL;
  own = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_variant_iter_init (&iter, value);
  while (g_variant_iter_next (&iter, "&s", &row)) {
    const gchar *name = strchr (row, ':'), *equals = strchr (row, '=');
    if (name != NULL && equals != NULL && !g_str_equal (equals, "=reference"))
      g_hash_table_add (own, g_strndup (name + 1, (gsize)(equals - name - 1)));
  }
  return own;
}

gboolean
backend_runs_in_own_kernels (const BackendID *id, AxonModel *model)
{
  g_autoptr (GHashTable) own = load_own_kernels (id);
  g_autoptr (GVariant) nodes = axon_model_dup_nodes (model);
  GVariantIter iter;
  GVariant *row;
  gboolean all = TRUE;
  g_variant_iter_init (&iter, nodes);
  while (own != NULL && (row = g_variant_iter_next_value (&iter)) != NULL) {
    const gchar *type;
    all &= g_variant_lookup (row, "type", "&s", &type) && g_hash_table_contains (own, type);
    g_variant_unref (row);
  }
  return all;
}

/* A descriptor has to be able to say what a port is. */
static onnxStatus
check_port (AxonDType dtype, const AxonShape *shape)
{
  if (!status_knows_dtype (dtype))
    return ONNXIFI_STATUS_UNSUPPORTED_DATATYPE;
  return axon_shape_is_static (shape) && axon_shape_get_numel (shape) == 0
             ? ONNXIFI_STATUS_UNSUPPORTED_SHAPE
             : ONNXIFI_STATUS_SUCCESS;
}

onnxStatus
backend_check_ports (AxonModel *model)
{
  guint n_in = axon_model_get_n_inputs (model), n_out = axon_model_get_n_outputs (model);
  onnxStatus status = ONNXIFI_STATUS_SUCCESS;
  for (guint i = 0; i < n_in && status == ONNXIFI_STATUS_SUCCESS; i++)
    status =
        check_port (axon_model_get_input_dtype (model, i), axon_model_get_input_shape (model, i));
  for (guint i = 0; i < n_out && status == ONNXIFI_STATUS_SUCCESS; i++)
    status =
        check_port (axon_model_get_output_dtype (model, i), axon_model_get_output_shape (model, i));
  return status;
}

/* SUCCESS, or FALLBACK where a part runs in reference kernels or in pieces, or why not. */
static onnxStatus
check_model (const BackendID *id, AxonModel *model)
{
  g_autoptr (GHashTable) reasons = NULL;
  g_autoptr (GHashTable) supported = NULL;
  GError *error = NULL;
  onnxStatus status = backend_check_ports (model);
  if (status != ONNXIFI_STATUS_SUCCESS)
    return status;
  supported =
      axon_core_query_model (onnxifi_core (), model, id->device, NULL, &reasons, NULL, &error);
  if (supported == NULL)
    return status_of_model (error);
  if (g_hash_table_size (supported) < axon_model_get_n_nodes (model))
    return ONNXIFI_STATUS_UNSUPPORTED_OPERATOR;
  return backend_runs_in_own_kernels (id, model) ? ONNXIFI_STATUS_SUCCESS : ONNXIFI_STATUS_FALLBACK;
}

onnxStatus
onnxGetBackendCompatibility (onnxBackendID backendID, size_t onnxModelSize, const void *onnxModel)
{
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (GBytes) bytes = NULL;
  GError *error = NULL;
  onnxStatus status;
  BackendID *id;
  if (onnxModel == NULL)
    return ONNXIFI_STATUS_INVALID_POINTER;
  if (onnxModelSize == 0)
    return ONNXIFI_STATUS_INVALID_SIZE;
  id = backend_id_find (backendID);
  if (id == NULL)
    return ONNXIFI_STATUS_INVALID_ID;
  bytes = g_bytes_new_static (onnxModel, onnxModelSize);
  model = axon_core_read_model_from_bytes (onnxifi_core (), bytes, NULL, &error);
  status = model ? check_model (id, model) : status_of_model (error);
  object_unref (id);
  return status;
}

/* A property's values, and what they are to a device. */
static const struct {
  guint64 key, value;
  const gchar *property, *text;
} properties[] = {
  { ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION, ONNXIFI_OPTIMIZATION_HIGH_THROUGHPUT, "PERFORMANCE_HINT",
    "THROUGHPUT" },
  { ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION, ONNXIFI_OPTIMIZATION_LOW_LATENCY, "PERFORMANCE_HINT",
    "LATENCY" },
  { ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION, ONNXIFI_OPTIMIZATION_LOW_POWER, "PERFORMANCE_HINT",
    "LATENCY" },
  { ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION, ONNXIFI_OPTIMIZATION_LOW_DELAY, "PERFORMANCE_HINT",
    "LATENCY" },
  { ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL, ONNXIFI_LOG_LEVEL_DEBUG, "LOG_LEVEL", "LOG_DEBUG" },
  { ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL, ONNXIFI_LOG_LEVEL_INFO, "LOG_LEVEL", "LOG_INFO" },
  { ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL, ONNXIFI_LOG_LEVEL_WARNING, "LOG_LEVEL", "LOG_WARNING" },
  { ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL, ONNXIFI_LOG_LEVEL_ERROR, "LOG_LEVEL", "LOG_ERROR" },
};

static gboolean
device_has_key (const BackendID *id, const gchar *key)
{
  g_autoptr (GVariant) value = axon_core_get_property (onnxifi_core (), id->device, key, NULL);
  return value != NULL;
}

static onnxStatus
read_property (const BackendID *id, guint64 key, guint64 value, GVariantDict *config)
{
  gboolean known = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    known |= properties[i].key == key;
    if (properties[i].key != key || properties[i].value != value)
      continue;
    if (device_has_key (id, properties[i].property))
      g_variant_dict_insert (config, properties[i].property, "s", properties[i].text);
    return ONNXIFI_STATUS_SUCCESS;
  }
  return known ? ONNXIFI_STATUS_INVALID_PROPERTY : ONNXIFI_STATUS_UNSUPPORTED_PROPERTY;
}

static onnxStatus
take_context (Backend *self, guint64 handle)
{
  GError *error = NULL;
  if (!backend_id_has_opencl (self->id))
    return ONNXIFI_STATUS_UNSUPPORTED_PROPERTY;
  if (handle == 0 || self->context != NULL)
    return ONNXIFI_STATUS_INVALID_PROPERTY;
  self->context =
      axon_core_create_context (onnxifi_core (), self->id->device,
                                g_variant_new_parsed ("{'OCL_CONTEXT': <%t>}", handle), &error);
  if (self->context != NULL)
    return ONNXIFI_STATUS_SUCCESS;
  return g_error_matches (error, AXON_ERROR, AXON_ERROR_ARGUMENT)
             ? (g_error_free (error), ONNXIFI_STATUS_INVALID_PROPERTY)
             : status_of_device (error);
}

static onnxStatus
read_properties (Backend *self, const uint64_t *list)
{
  onnxStatus status = ONNXIFI_STATUS_SUCCESS;
  GVariantDict config;
  g_variant_dict_init (&config, NULL);
  for (; list != NULL && *list != ONNXIFI_BACKEND_PROPERTY_NONE && status == ONNXIFI_STATUS_SUCCESS;
       list += 2)
    status = list[0] == ONNXIFI_BACKEND_OPENCL_CONTEXT
                 ? take_context (self, list[1])
                 : read_property (self->id, list[0], list[1], &config);
  self->config = g_variant_ref_sink (g_variant_dict_end (&config));
  return status;
}

static void
backend_free (gpointer data)
{
  Backend *self = data;
  g_clear_object (&self->context);
  g_clear_pointer (&self->config, g_variant_unref);
  object_unref (self->id);
  g_free (self);
}

onnxStatus
onnxInitBackend (onnxBackendID backendID, const uint64_t *auxPropertiesList, onnxBackend *backend)
{
  onnxStatus status;
  Backend *self;
  BackendID *id;
  if (backend == NULL)
    return ONNXIFI_STATUS_INVALID_POINTER;
  *backend = NULL;
  id = backend_id_find (backendID);
  if (id == NULL)
    return ONNXIFI_STATUS_INVALID_ID;
  self = g_new0 (Backend, 1);
  object_init (self, backend_free);
  self->id = id;
  status = axon_core_has_device (onnxifi_core (), id->device, NULL)
               ? read_properties (self, auxPropertiesList)
               : ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  if (status == ONNXIFI_STATUS_SUCCESS)
    *backend = handle_new (OBJECT_BACKEND, self);
  object_unref (self);
  return status;
}

/* Graphs and events of it keep what they need until they are released. */
onnxStatus
onnxReleaseBackend (onnxBackend backend)
{
  Backend *self = handle_take (OBJECT_BACKEND, backend);
  if (self == NULL)
    return ONNXIFI_STATUS_INVALID_BACKEND;
  object_unref (self);
  return ONNXIFI_STATUS_SUCCESS;
}
