/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include <axon/axontensor.h>

G_BEGIN_DECLS

typedef struct _AxonRemoteContext AxonRemoteContext;

#define AXON_TYPE_REMOTE_CONTEXT (axon_remote_context_get_type ())
AXON_API
G_DECLARE_DERIVABLE_TYPE (AxonRemoteContext, axon_remote_context, AXON, REMOTE_CONTEXT, GObject)

/**
 * AxonRemoteContextClass:
 * @create_tensor: required; a tensor in the device's memory
 * @create_host_tensor: optional; a tensor in host memory that the device copies fastest
 * @get_params: optional; `a{sv}` of native handles; floating or a new reference
 *
 * Since: 1.0
 */
struct _AxonRemoteContextClass {
  GObjectClass parent_class;

  AxonTensor *(*create_tensor) (AxonRemoteContext *context, AxonDType dtype, const AxonShape *shape,
                                GVariant *params, GError **error);
  AxonTensor *(*create_host_tensor) (AxonRemoteContext *context, AxonDType dtype,
                                     const AxonShape *shape, GError **error);
  GVariant *(*get_params) (AxonRemoteContext *context);

  gpointer padding[8];
};

AXON_API const gchar *axon_remote_context_get_device_name (AxonRemoteContext *context);
AXON_API GVariant *axon_remote_context_get_params (AxonRemoteContext *context);
AXON_API AxonTensor *axon_remote_context_create_tensor (AxonRemoteContext *context, AxonDType dtype,
                                                        const AxonShape *shape, GVariant *params,
                                                        GError **error);
AXON_API AxonTensor *axon_remote_context_create_host_tensor (AxonRemoteContext *context,
                                                             AxonDType dtype,
                                                             const AxonShape *shape,
                                                             GError **error);
AXON_API AxonRemoteContext *axon_remote_context_of_tensor (const AxonTensor *tensor);

G_END_DECLS
