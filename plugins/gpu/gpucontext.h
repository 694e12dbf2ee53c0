/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Remote context of device GPU: an OpenCL context, the application's or the device's own, whose
 * buffers are tensors. */
#pragma once

#include "gpudevice.h"

#include <axon/axon.h>
#include <axon/axon-plugin.h>

/* @params: AXON_GPU_OCL_CONTEXT, AXON_GPU_OCL_QUEUE; NULL: the device's own. @keep: what keeps
 * @device alive. */
AxonRemoteContext *gpu_context_new (const gchar *name, const GpuDevice *device, GObject *keep,
                                    GVariant *params, GError **error);
cl_context gpu_context_get_cl (AxonRemoteContext *context);
cl_command_queue gpu_context_get_queue (AxonRemoteContext *context); /* NULL: none was given */

/* NULL: not in OpenCL memory. *offset: bytes in front of the tensor. */
cl_mem gpu_tensor_get_mem (const AxonTensor *tensor, gsize *offset);
/* Host memory that this context's device works in, from its beginning; NULL: it is none. */
cl_mem gpu_tensor_get_shared (const AxonTensor *tensor, cl_context context);
/* Memory of another OpenCL context is an error. */
gboolean gpu_tensor_check_place (const AxonTensor *tensor, cl_context context, GError **error);
