/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads an ONNXIFI library while the program runs, and finds its functions: the interface of the
 * loader that ONNX shipped up to 1.12, for systems whose ONNX has none. Link with the static
 * library of `pkg-config axon-onnxifi-loader`, which needs nothing but the C library. */
#ifndef ONNXIFI_LOADER_H
#define ONNXIFI_LOADER_H 1

#include <axon/onnxifi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ONNXIFI_LOADER_FUNCTION_COUNT 15

#define ONNXIFI_LOADER_FLAG_VERSION_MASK 0xFF
#define ONNXIFI_LOADER_FLAG_VERSION_1_0 0x01

struct onnxifi_library {
  void *handle;   /* of dlopen () */
  uint32_t flags; /* as onnxifi_load () was called with */
  union {
    struct {
      onnxGetBackendIDsFunction onnxGetBackendIDs;
      onnxReleaseBackendIDFunction onnxReleaseBackendID;
      onnxGetBackendInfoFunction onnxGetBackendInfo;
      onnxGetBackendCompatibilityFunction onnxGetBackendCompatibility;
      onnxInitBackendFunction onnxInitBackend;
      onnxReleaseBackendFunction onnxReleaseBackend;
      onnxInitEventFunction onnxInitEvent;
      onnxSignalEventFunction onnxSignalEvent;
      onnxGetEventStateFunction onnxGetEventState;
      onnxWaitEventFunction onnxWaitEvent;
      onnxReleaseEventFunction onnxReleaseEvent;
      onnxInitGraphFunction onnxInitGraph;
      onnxSetGraphIOFunction onnxSetGraphIO;
      onnxRunGraphFunction onnxRunGraph;
      onnxReleaseGraphFunction onnxReleaseGraph;
    };
    void *functions[ONNXIFI_LOADER_FUNCTION_COUNT];
  };
};

/* Loads the library at @path, or, without one, the wrapper libonnxifi.so, or, where there is none,
 * libonnxifi-axon.so. @flags: ONNXIFI_LOADER_FLAG_VERSION_1_0. Returns 1, or 0 where the library
 * cannot be loaded, lacks a function, or @flags name another version: @library is zero then. Any
 * thread. */
int onnxifi_load (uint32_t flags, const char *path, struct onnxifi_library *library);

/* Unloads what onnxifi_load () loaded, and sets @library to zero; NULL and zero are allowed. No
 * function of the library may run. */
void onnxifi_unload (struct onnxifi_library *library);

#ifdef __cplusplus
}
#endif

#endif
