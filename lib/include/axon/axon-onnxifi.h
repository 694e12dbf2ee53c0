/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keys of device ONNXIFI. */
#pragma once

/**
 * AXON_ONNXIFI_VENDOR:
 *
 * Metric: who made the backend, and its version.
 *
 * Since: 1.0
 */
#define AXON_ONNXIFI_VENDOR "ONNXIFI_VENDOR"

/**
 * AXON_ONNXIFI_LIBRARY:
 *
 * Metric: the file of the vendor library.
 *
 * Since: 1.0
 */
#define AXON_ONNXIFI_LIBRARY "ONNXIFI_LIBRARY"

/**
 * AXON_ONNXIFI_OPSETS:
 *
 * Metric: the newest operator sets that the backend takes, as `domain:version`.
 *
 * Since: 1.0
 */
#define AXON_ONNXIFI_OPSETS "ONNXIFI_OPSETS"

/**
 * AXON_ONNXIFI_CAPABILITIES:
 *
 * Metric: ONNXIFI's capabilities, such as `THREAD_SAFE`.
 *
 * Since: 1.0
 */
#define AXON_ONNXIFI_CAPABILITIES "ONNXIFI_CAPABILITIES"

/**
 * AXON_ONNXIFI_MEMORY_SIZE:
 *
 * Metric: bytes of memory of the backend, as `t`; 0: it does not say.
 *
 * Since: 1.0
 */
#define AXON_ONNXIFI_MEMORY_SIZE "ONNXIFI_MEMORY_SIZE"
