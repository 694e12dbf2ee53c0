/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Vendor libraries: found by their names, loaded whole or not at all, never unloaded. */
#pragma once

#include <axon/axon.h>
#include <axon/axon-plugin.h>
#include <axon/onnxifi.h>

#define ONNXIFI_FUNCTIONS(X)                                                                       \
  X (GetBackendIDs)                                                                                \
  X (ReleaseBackendID)                                                                             \
  X (GetBackendInfo)                                                                               \
  X (GetBackendCompatibility)                                                                      \
  X (InitBackend)                                                                                  \
  X (ReleaseBackend)                                                                               \
  X (InitEvent)                                                                                    \
  X (SignalEvent)                                                                                  \
  X (GetEventState)                                                                                \
  X (WaitEvent)                                                                                    \
  X (ReleaseEvent)                                                                                 \
  X (InitGraph)                                                                                    \
  X (SetGraphIO)                                                                                   \
  X (RunGraph)                                                                                     \
  X (ReleaseGraph)

/* Counted: devices hold it. */
typedef struct {
  gchar *path;
#define FIELD(name) onnx##name##Function name;
  ONNXIFI_FUNCTIONS (FIELD)
#undef FIELD
} OnnxifiLibrary;

/* A backend of a library, as the library describes it. */
typedef struct {
  const OnnxifiLibrary *library;
  onnxBackendID id;
  gchar *name, *vendor, *version, *hardware, *opsets;
  guint64 type, capabilities, init_properties, memory;
} OnnxifiDevice;

/* OnnxifiDevice, in the order of directories and names. NULL with @error, which names what could
 * not be used and why: there is none. */
GPtrArray *onnxifi_devices_find (GError **error);

/* TRUE for SUCCESS and FALLBACK; else @error says which @call of which library said what. */
gboolean onnxifi_check (const OnnxifiLibrary *library, const gchar *call, onnxStatus status,
                        GError **error);
const gchar *onnxifi_status_name (onnxStatus status);
