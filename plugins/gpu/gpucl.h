/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OpenCL 1.2, loaded when the plugin is made: without an ICD loader the device is absent, and
 * nothing else. */
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <glib.h>

#define GPU_CL_FUNCTIONS(X)                                                                        \
  X (GetPlatformIDs)                                                                               \
  X (GetDeviceIDs)                                                                                 \
  X (GetDeviceInfo)                                                                                \
  X (CreateContext)                                                                                \
  X (RetainContext)                                                                                \
  X (ReleaseContext)                                                                               \
  X (GetContextInfo)                                                                               \
  X (CreateCommandQueue)                                                                           \
  X (RetainCommandQueue)                                                                           \
  X (ReleaseCommandQueue)                                                                          \
  X (CreateBuffer)                                                                                 \
  X (RetainMemObject)                                                                              \
  X (ReleaseMemObject)                                                                             \
  X (GetMemObjectInfo)                                                                             \
  X (GetCommandQueueInfo)                                                                          \
  X (EnqueueReadBuffer)                                                                            \
  X (EnqueueWriteBuffer)                                                                           \
  X (EnqueueCopyBuffer)                                                                            \
  X (EnqueueFillBuffer)                                                                            \
  X (EnqueueMarkerWithWaitList)                                                                    \
  X (EnqueueMapBuffer)                                                                             \
  X (EnqueueUnmapMemObject)                                                                        \
  X (WaitForEvents)                                                                                \
  X (CreateProgramWithSource)                                                                      \
  X (CreateProgramWithBinary)                                                                      \
  X (BuildProgram)                                                                                 \
  X (GetProgramBuildInfo)                                                                          \
  X (GetProgramInfo)                                                                               \
  X (ReleaseProgram)                                                                               \
  X (CreateKernel)                                                                                 \
  X (ReleaseKernel)                                                                                \
  X (SetKernelArg)                                                                                 \
  X (EnqueueNDRangeKernel)                                                                         \
  X (Flush)                                                                                        \
  X (Finish)                                                                                       \
  X (GetEventProfilingInfo)                                                                        \
  X (ReleaseEvent)

typedef struct {
#define FIELD(name) __typeof__ (&cl##name) name;
  GPU_CL_FUNCTIONS (FIELD)
#undef FIELD
} GpuCl;

extern GpuCl gpu_cl;

gboolean gpu_cl_load (GError **error);
gboolean gpu_cl_ok (cl_int status, const gchar *what, GError **error);
