/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keys of device GPU. Handles are plain pointers: no OpenCL header is needed. */
#pragma once

/**
 * AXON_GPU_OCL_CONTEXT:
 *
 * Parameter of axon_core_create_context(): the application's `cl_context`, as `t` (a pointer in a
 * 64 bit number). It must hold the device. Kept while the context lives.
 *
 * Since: 1.0
 */
#define AXON_GPU_OCL_CONTEXT "OCL_CONTEXT"

/**
 * AXON_GPU_OCL_QUEUE:
 *
 * Parameter of axon_core_create_context(): the application's in-order `cl_command_queue`, as `t`.
 * Inference of models compiled with the context is enqueued there, behind what is already in it.
 *
 * Since: 1.0
 */
#define AXON_GPU_OCL_QUEUE "OCL_QUEUE"

/**
 * AXON_GPU_MEM_HANDLE:
 *
 * Parameter of axon_remote_context_create_tensor(), and property of the tensor: the `cl_mem`, as
 * `t`.
 *
 * Since: 1.0
 */
#define AXON_GPU_MEM_HANDLE "MEM_HANDLE"

/**
 * AXON_GPU_DEVICE_TOTAL_MEM_SIZE:
 *
 * Metric: bytes of device memory, as `t`.
 *
 * Since: 1.0
 */
#define AXON_GPU_DEVICE_TOTAL_MEM_SIZE "GPU_DEVICE_TOTAL_MEM_SIZE"

/**
 * AXON_GPU_EXECUTION_UNITS_COUNT:
 *
 * Metric: compute units.
 *
 * Since: 1.0
 */
#define AXON_GPU_EXECUTION_UNITS_COUNT "GPU_EXECUTION_UNITS_COUNT"

/**
 * AXON_GPU_DRIVER_VERSION:
 *
 * Metric: version of OpenCL and of the driver.
 *
 * Since: 1.0
 */
#define AXON_GPU_DRIVER_VERSION "DRIVER_VERSION"

/**
 * AXON_GPU_OPERATOR_KERNELS:
 *
 * Metric: the operators that have a kernel, as `domain:name=implementation`.
 *
 * Since: 1.0
 */
#define AXON_GPU_OPERATOR_KERNELS "GPU_OPERATOR_KERNELS"

/**
 * AXON_GPU_DISABLE_WINOGRAD_CONVOLUTION:
 *
 * Property, YES or NO: compute convolutions of 3x3 as they are defined, not by Winograd's
 * algorithm.
 *
 * Since: 1.0
 */
#define AXON_GPU_DISABLE_WINOGRAD_CONVOLUTION "GPU_DISABLE_WINOGRAD_CONVOLUTION"

/**
 * AXON_GPU_EMULATE_HALF:
 *
 * Property, YES or NO: `INFERENCE_PRECISION_HINT=f16` counts on devices without half precision,
 * too, where it saves memory and costs time.
 *
 * Since: 1.0
 */
#define AXON_GPU_EMULATE_HALF "GPU_EMULATE_HALF"

/**
 * AXON_GPU_EMULATE_LOCAL_MEMORY:
 *
 * Property, YES or NO: kernels with tiles in local memory are used where it is ordinary memory,
 * too.
 *
 * Since: 1.0
 */
#define AXON_GPU_EMULATE_LOCAL_MEMORY "GPU_EMULATE_LOCAL_MEMORY"

/**
 * AXON_GPU_TILE:
 *
 * Property, hidden: the tiles of convolutions and products in local memory, width of an item by
 * slices of a group, as "4x8"; "AUTO" chooses by cost. For tests.
 *
 * Since: 1.0
 */
#define AXON_GPU_TILE "GPU_TILE"

/**
 * AXON_GPU_TUNE_KERNELS:
 *
 * Property, YES or NO: when a model is compiled, variants of its convolutions run on the device,
 * and the fastest of each node is used. Exports and cache entries keep the choice.
 *
 * Since: 1.0
 */
#define AXON_GPU_TUNE_KERNELS "GPU_TUNE_KERNELS"
