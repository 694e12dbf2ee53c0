/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of device CPU. */
#pragma once

/**
 * AXON_CPU_ARCHITECTURE:
 *
 * What `DEVICE_ARCHITECTURE` answers.
 *
 * Since: 1.0
 */
#if defined(__x86_64__)
#define AXON_CPU_ARCHITECTURE "intel64"
#elif defined(__aarch64__)
#define AXON_CPU_ARCHITECTURE "arm64"
#elif defined(__arm__)
#define AXON_CPU_ARCHITECTURE "armhf"
#elif defined(__riscv)
#define AXON_CPU_ARCHITECTURE "riscv"
#else
#define AXON_CPU_ARCHITECTURE "unknown"
#endif

/**
 * AXON_CPU_OPERATOR_KERNELS:
 *
 * A metric: the operators that the device has kernels of its own for, each as
 * `domain:name=implementation`. Every other operator runs its reference kernel.
 *
 * Since: 1.0
 */
#define AXON_CPU_OPERATOR_KERNELS "CPU_OPERATOR_KERNELS"
