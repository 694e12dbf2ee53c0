/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Remote context base class. Its tensors keep it alive. Any thread. */
#include <axon/axonremotecontext.h>
#include <axon/axonerror.h>
#include <axon/plugin/axonmemory.h>

/**
 * AxonRemoteContext:
 *
 * Memory and native handles of a device, shared with the application.
 *
 * Since: 1.0
 */
typedef struct {
  gchar *device_name;
} AxonRemoteContextPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (AxonRemoteContext, axon_remote_context, G_TYPE_OBJECT)

enum { PROP_DEVICE_NAME = 1 };

static void
axon_remote_context_init (G_GNUC_UNUSED AxonRemoteContext *context)
{
}

static void
axon_remote_context_set_property (GObject *object, G_GNUC_UNUSED guint id, const GValue *value,
                                  G_GNUC_UNUSED GParamSpec *pspec)
{
  AxonRemoteContextPrivate *priv =
      axon_remote_context_get_instance_private (AXON_REMOTE_CONTEXT (object));
  priv->device_name = g_value_dup_string (value);
}

static void
axon_remote_context_finalize (GObject *object)
{
  AxonRemoteContextPrivate *priv =
      axon_remote_context_get_instance_private (AXON_REMOTE_CONTEXT (object));
  g_free (priv->device_name);
  G_OBJECT_CLASS (axon_remote_context_parent_class)->finalize (object);
}

static void
axon_remote_context_class_init (AxonRemoteContextClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->set_property = axon_remote_context_set_property;
  object_class->finalize = axon_remote_context_finalize;
  g_object_class_install_property (
      object_class, PROP_DEVICE_NAME,
      g_param_spec_string ("device-name", "Device name", "Device with its id", NULL,
                           G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS));
}

/**
 * axon_remote_context_get_device_name:
 * @context: a context
 *
 * Returns: (transfer none): the device with its id, such as `GPU.0`
 *
 * Since: 1.0
 */
const gchar *
axon_remote_context_get_device_name (AxonRemoteContext *context)
{
  AxonRemoteContextPrivate *priv = axon_remote_context_get_instance_private (context);
  return priv->device_name;
}

/**
 * axon_remote_context_get_params:
 * @context: a context
 *
 * Returns: (transfer full): `a{sv}` of native handles and of what the context was made with
 *
 * Since: 1.0
 */
GVariant *
axon_remote_context_get_params (AxonRemoteContext *context)
{
  AxonRemoteContextClass *klass = AXON_REMOTE_CONTEXT_GET_CLASS (context);
  if (klass->get_params != NULL)
    return g_variant_take_ref (klass->get_params (context));
  return g_variant_ref_sink (g_variant_new_parsed ("@a{sv} {}"));
}

/**
 * axon_remote_context_create_tensor:
 * @context: a context
 * @dtype: the element type
 * @shape: a static shape
 * @params: (nullable): `a{sv}` of the device, such as a buffer to use
 * @error: return location
 *
 * Returns: (transfer full) (nullable): a tensor in the device's memory; it keeps @context alive
 *
 * Since: 1.0
 */
AxonTensor *
axon_remote_context_create_tensor (AxonRemoteContext *context, AxonDType dtype,
                                   const AxonShape *shape, GVariant *params, GError **error)
{
  g_autoptr (GVariant) owned = params ? g_variant_ref_sink (params) : NULL;
  return AXON_REMOTE_CONTEXT_GET_CLASS (context)->create_tensor (context, dtype, shape, owned,
                                                                 error);
}

/**
 * axon_remote_context_create_host_tensor:
 * @context: a context
 * @dtype: the element type
 * @shape: a static shape
 * @error: return location
 *
 * Returns: (transfer full) (nullable): a tensor in host memory that this device copies fastest
 *
 * Since: 1.0
 */
AxonTensor *
axon_remote_context_create_host_tensor (AxonRemoteContext *context, AxonDType dtype,
                                        const AxonShape *shape, GError **error)
{
  AxonRemoteContextClass *klass = AXON_REMOTE_CONTEXT_GET_CLASS (context);
  return klass->create_host_tensor ? klass->create_host_tensor (context, dtype, shape, error)
                                   : axon_tensor_new (dtype, shape, error);
}

/**
 * axon_remote_context_of_tensor:
 * @tensor: a tensor
 *
 * Returns: (transfer none) (nullable): the context whose memory @tensor stands on; %NULL: the
 *   host's
 *
 * Since: 1.0
 */
AxonRemoteContext *
axon_remote_context_of_tensor (const AxonTensor *tensor)
{
  const AxonMemory *memory = axon_tensor_get_memory (tensor, NULL);
  return axon_memory_is_remote (memory) ? (AxonRemoteContext *)memory->context : NULL;
}
