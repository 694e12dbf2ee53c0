/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one request in flight needs of its own: buffers, and kernels with their arguments set. Used
 * by one thread at a time. */
#pragma once

#include "gpuprogram.h"

typedef struct _GpuInstance GpuInstance;

GpuInstance *gpu_instance_new (const GpuProgram *program, GError **error);
void gpu_instance_free (GpuInstance *instance);

/* First stage: everything is enqueued. The request's tensors stay as they are until the second,
 * which waits. After a failure of either nothing is in flight, and the instance is not used again.
 */
gboolean gpu_instance_start (GpuInstance *instance, cl_command_queue queue, gboolean profile,
                             AxonInferRequest *request, GError **error);
gboolean gpu_instance_finish (GpuInstance *instance, AxonInferRequest *request, GError **error);

/* Runs the steps alone, on what is in memory. @times (nullable): microseconds per step, of a queue
 * that measures. */
gboolean gpu_instance_measure (GpuInstance *instance, cl_command_queue queue, gdouble *times,
                               GError **error);
