/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <axon/onnxifi_loader.h>

#include <dlfcn.h>
#include <string.h>

/* In the order of struct onnxifi_library. */
static const char *const names[ONNXIFI_LOADER_FUNCTION_COUNT] = {
  "onnxGetBackendIDs", "onnxReleaseBackendID", "onnxGetBackendInfo", "onnxGetBackendCompatibility",
  "onnxInitBackend",   "onnxReleaseBackend",   "onnxInitEvent",      "onnxSignalEvent",
  "onnxGetEventState", "onnxWaitEvent",        "onnxReleaseEvent",   "onnxInitGraph",
  "onnxSetGraphIO",    "onnxRunGraph",         "onnxReleaseGraph",
};

static void *
open_library (const char *path)
{
  void *handle = dlopen (path ? path : "libonnxifi.so", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL && path == NULL)
    handle = dlopen ("libonnxifi-axon.so", RTLD_NOW | RTLD_LOCAL);
  return handle;
}

void
onnxifi_unload (struct onnxifi_library *library)
{
  if (library == NULL)
    return;
  if (library->handle != NULL)
    dlclose (library->handle);
  memset (library, 0, sizeof *library);
}

int
onnxifi_load (uint32_t flags, const char *path, struct onnxifi_library *library)
{
  if (library == NULL)
    return 0;
  memset (library, 0, sizeof *library);
  if ((flags & ONNXIFI_LOADER_FLAG_VERSION_MASK) != ONNXIFI_LOADER_FLAG_VERSION_1_0)
    return 0;
  library->handle = open_library (path);
  library->flags = flags;
  for (int i = 0; library->handle != NULL && i < ONNXIFI_LOADER_FUNCTION_COUNT; i++) {
    library->functions[i] = dlsym (library->handle, names[i]);
    if (library->functions[i] == NULL)
      onnxifi_unload (library);
  }
  if (library->handle == NULL)
    memset (library, 0, sizeof *library);
  return library->handle != NULL;
}
