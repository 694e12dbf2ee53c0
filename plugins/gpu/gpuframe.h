/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames that axon.ImageToTensor reads: what a run says of its picture becomes numbers for the
 * kernel, again only when it says something else. */
#pragma once

#include "gpuplan.h"

/* Of a plan: which inputs, and what the tensor is. */
typedef struct {
  guint info, planes[AXON_IMAGE_MAX_PLANES]; /* indices of inputs */
  AxonImageTarget target;
  GpuBuffer *numbers; /* GPU_FRAME */
} GpuFrame;

/* Of an instance. */
typedef struct {
  const GpuFrame *frame;
  AxonImageInfo info; /* that numbers are of */
  gboolean known;
  gpointer params; /* GpuFrameParams */
} GpuFrameState;

gsize gpu_frame_get_size (void); /* bytes of the parameters */
GpuFrameState *gpu_frame_state_new (const GpuFrame *frame);
void gpu_frame_state_free (GpuFrameState *state);
/* *changed: the numbers have to be copied to the device. */
gboolean gpu_frame_state_update (GpuFrameState *state, AxonInferRequest *request, gboolean *changed,
                                 GError **error);
