/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a request in flight: the run (gpuinstance.c) and its tensors (gpuports.c). */
#pragma once

#include "gpuinstance.h"

struct _GpuInstance {
  const GpuProgram *program;
  cl_mem arena, status;
  cl_mem *buffers;   /* by id of the plan's buffer; of inputs and outputs: our own */
  cl_mem *bound;     /* by id: what the kernels have at the moment; not owned */
  gsize *capacity;   /* by id: bytes of inputs of any size */
  GPtrArray *frames; /* GpuFrameState */
  cl_kernel *kernels;
  cl_event *events; /* by step, while a profiled run is in flight */
  cl_event last;
  cl_command_queue queue; /* of the run in flight */
  gint32 complaint;
  gboolean ran;
};

cl_mem gpu_instance_new_buffer (GpuInstance *self, gsize n_bytes, GError **error);

/* gpuports.c, in the order of a run */
gboolean gpu_instance_prepare_outputs (GpuInstance *self, AxonInferRequest *request,
                                       GError **error);
/* GPU_INPUT before the kernels, GPU_OUTPUT after them. */
gboolean gpu_instance_enqueue_ports (GpuInstance *self, GpuPlace place, AxonInferRequest *request,
                                     GError **error);
