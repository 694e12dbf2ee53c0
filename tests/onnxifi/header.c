/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints what an ONNXIFI header says, and fails to compile where the functions are others. Built
 * with our header, and with ONNX's where that is installed: both print the same. */
#include ONNXIFI_HEADER
#ifdef ONNXIFI_EXT_HEADER
#include ONNXIFI_EXT_HEADER
#endif
#include <stdio.h>

#include "values.h"

/* Never run: the compiler compares the types. */
#define SAME_TYPE(name)                                                                            \
  _Static_assert(__builtin_types_compatible_p (__typeof__ (&name), name##Function), #name)
SAME_TYPE (onnxGetBackendIDs);
SAME_TYPE (onnxReleaseBackendID);
SAME_TYPE (onnxGetBackendInfo);
SAME_TYPE (onnxGetBackendCompatibility);
SAME_TYPE (onnxInitBackend);
SAME_TYPE (onnxReleaseBackend);
SAME_TYPE (onnxInitEvent);
SAME_TYPE (onnxSignalEvent);
SAME_TYPE (onnxGetEventState);
SAME_TYPE (onnxWaitEvent);
SAME_TYPE (onnxReleaseEvent);
SAME_TYPE (onnxInitGraph);
SAME_TYPE (onnxSetGraphIO);
SAME_TYPE (onnxRunGraph);
SAME_TYPE (onnxReleaseGraph);
SAME_TYPE (onnxGetExtensionFunctionAddress);
SAME_TYPE (onnxSetIOAndRunGraph);

/* The arguments as the interface has them. */
typedef onnxStatus (*RunGraph) (onnxGraph, const onnxMemoryFenceV1 *, onnxMemoryFenceV1 *);
typedef onnxStatus (*SetGraphIO) (onnxGraph, uint32_t, const onnxTensorDescriptorV1 *, uint32_t,
                                  const onnxTensorDescriptorV1 *);
typedef onnxStatus (*InitGraph) (onnxBackend, const uint64_t *, size_t, const void *, uint32_t,
                                 const onnxTensorDescriptorV1 *, onnxGraph *);
typedef onnxStatus (*GetBackendInfo) (onnxBackendID, onnxBackendInfo, void *, size_t *);
_Static_assert(__builtin_types_compatible_p (RunGraph, onnxRunGraphFunction), "onnxRunGraph");
_Static_assert(__builtin_types_compatible_p (SetGraphIO, onnxSetGraphIOFunction), "onnxSetGraphIO");
_Static_assert(__builtin_types_compatible_p (InitGraph, onnxInitGraphFunction), "onnxInitGraph");
_Static_assert(__builtin_types_compatible_p (GetBackendInfo, onnxGetBackendInfoFunction),
               "onnxGetBackendInfo");

int
main (void)
{
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    printf ("%s %llu\n", values[i].name, (unsigned long long)values[i].value);
  return 0;
}
