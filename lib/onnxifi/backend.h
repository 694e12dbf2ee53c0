/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Backend IDs: the devices that can be used. Backends: a device with the properties of one user. */
#pragma once

#include "object.h"
#include <axon/onnxifi.h>

#include <axon/axon.h>

typedef struct {
  Object parent;
  gchar *device; /* such as GPU.0 */
  gpointer handle;
  guint given; /* under the lock of backendid.c: how often it was returned and not released */
} BackendID;

typedef struct {
  Object parent;
  BackendID *id;
  GVariant *config;
  AxonRemoteContext *context; /* the caller's OpenCL context, or NULL */
} Backend;

/* Of its own: settings of an application that uses Axon, too, are not an ONNXIFI client's. */
AxonCore *onnxifi_core (void);

/* The device behind a handle that was given (transfer full); NULL: it is none. */
BackendID *backend_id_find (onnxBackendID id);
gboolean backend_id_has_opencl (const BackendID *id);

/* FALSE: a part runs in reference kernels or in pieces. */
gboolean backend_runs_in_own_kernels (const BackendID *id, AxonModel *model);
/* SUCCESS if descriptors can say what its inputs and outputs are. */
onnxStatus backend_check_ports (AxonModel *model);
