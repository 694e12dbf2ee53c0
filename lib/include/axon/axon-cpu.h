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
 * `domain:name=implementation`. Every other operator runs its reference kernel, and so does what an
 * operator meant from `opset` on where `domain:name:opset=reference` stands.
 *
 * Since: 1.0
 */
#define AXON_CPU_OPERATOR_KERNELS "CPU_OPERATOR_KERNELS"

/**
 * AXON_CPU_ISA:
 *
 * A property of the whole process: the level of instructions that neither the device's own kernels
 * nor oneDNN exceed, one of %AXON_CPU_ISA_AVAILABLE. Empty, the default: all that the processor
 * has. It is set with axon_core_set_property() before anything is compiled, imported or queried for
 * device CPU in this process; later every other value is an error that names the level in use. The
 * environment variable of the same name, `AXON_CPU_ISA`, does the same for programs that do not
 * ask; the property wins.
 *
 * On x86-64: `SSE41` (the least), `AVX2` (with FMA, F16C and BMI2), `AVX2_VNNI`, `AVX512` (F, BW,
 * DQ and VL), `AVX512_VNNI`, `AVX512_FP16`. On aarch64: `NEON` (the least), `NEON_DOTPROD`,
 * `NEON_FP16`. Elsewhere: `PORTABLE`.
 *
 * Since: 1.0
 */
#define AXON_CPU_ISA "CPU_ISA"

/**
 * AXON_CPU_ISA_AVAILABLE:
 *
 * A metric: the levels that the processor has, the best last.
 *
 * Since: 1.0
 */
#define AXON_CPU_ISA_AVAILABLE "CPU_ISA_AVAILABLE"

/**
 * AXON_CPU_ISA_IN_USE:
 *
 * A metric: the level of the device's own kernels; before the first use, the one they would have.
 *
 * Since: 1.0
 */
#define AXON_CPU_ISA_IN_USE "CPU_ISA_IN_USE"

/**
 * AXON_CPU_ONEDNN_ISA:
 *
 * A metric: what oneDNN uses: a level as above (`AVX512_BF16` for `AVX512_FP16`, which not every
 * version knows), `AVX`, or, where nothing was asked for, `AVX512_BF16` or `AVX512_AMX`; `default`
 * on other processors than x86. Asking counts as the first
 * use of the device, because oneDNN settles it then.
 *
 * Since: 1.0
 */
#define AXON_CPU_ONEDNN_ISA "CPU_ONEDNN_ISA"

/**
 * AXON_CPU_ONEDNN_VERSION:
 *
 * A metric: the version of oneDNN that is loaded, such as `2.6.3`.
 *
 * Since: 1.0
 */
#define AXON_CPU_ONEDNN_VERSION "CPU_ONEDNN_VERSION"

/**
 * AXON_CPU_WINOGRAD:
 *
 * A property: whether convolutions of floats by filters of 3x3, 1x3 and 3x1, dilated or not, of
 * stride 1 are computed after Winograd, which takes fewer products and rounds differently. `AUTO`,
 * the default: where it is faster, by tiles of 4x4 or 2x2 pixels (of filters in a line 4 or 2),
 * with `EXECUTION_MODE_HINT=ACCURACY` of 2x2 only; `2x2`: where it is faster, of 2x2 only;
 * `ALL_4x4`, `ALL_2x2`: wherever it can be, to compare; `NO`.
 *
 * Since: 1.0
 */
#define AXON_CPU_WINOGRAD "CPU_WINOGRAD"

/**
 * AXON_CPU_WINOGRAD_MEMORY:
 *
 * A property: the mebibytes that the transformed weights of a plan may take, 1.8 (2x2) or 4 (4x4)
 * times what those of the model take (of filters in a line 1.3 or 2). Convolutions that would
 * exceed it take smaller tiles, or none.
 *
 * Since: 1.0
 */
#define AXON_CPU_WINOGRAD_MEMORY "CPU_WINOGRAD_MEMORY"

/**
 * AXON_CPU_XNNPACK:
 *
 * A property of builds with `-Dxnnpack=enabled`: whether XNNPACK computes the convolutions of
 * floats and their products with constant matrices that it can; the others are computed as ever. It
 * chooses its instructions itself, whatever `CPU_ISA` says. `NO` by default.
 *
 * Since: 1.0
 */
#define AXON_CPU_XNNPACK "CPU_XNNPACK"

/**
 * AXON_CPU_TUNE_KERNELS:
 *
 * A property, YES or NO: when a model of known shapes is compiled, the kernels that can compute its
 * convolutions and products of floats are measured on the threads that will run it, on inputs of
 * noise, and the fastest is used where it is clearly faster than what the device's rules say. That
 * takes up to twenty seconds, and what making some plans takes. Exports and cache entries keep what
 * was found; it holds for this processor, level of instructions, oneDNN and number of threads, and
 * elsewhere the rules decide, or what is measured there. `NO` by default.
 *
 * Since: 1.0
 */
#define AXON_CPU_TUNE_KERNELS "CPU_TUNE_KERNELS"

/**
 * AXON_CPU_KERNEL:
 *
 * A note on a node, a convolution or product of floats with constant weights
 * (axon_model_set_node_info()): which kernel shall compute it. `own`, `columns` (few output
 * channels), `dots` (at most four, from many), `planes` (at most four, from at most four),
 * `winograd-2x2`, `winograd-4x4`, `onednn`; one that cannot compute it, or another text, is as
 * none. %AXON_CPU_TUNE_KERNELS writes such notes, and leaves nodes alone that have one.
 *
 * Since: 1.0
 */
#define AXON_CPU_KERNEL "axon.cpu.kernel"

/**
 * AXON_CPU_LAYOUT:
 *
 * A note on any node of a graph: how its convolutions shall have their data where oneDNN would have
 * `blocks` of channels (`CPU_ONEDNN_ISA` of less than AVX-512): so, or `channels-last`, and our own
 * kernels compute them then. The first one counts.
 *
 * Since: 1.0
 */
#define AXON_CPU_LAYOUT "axon.cpu.layout"

/**
 * AXON_CPU_PEAKS:
 *
 * A metric: what the processors can do at most at the level of instructions in use, each as
 * `kind:threads=number`, for one thread and for as many as there are processors. The kinds are
 * `f32` and `int8`, in thousands of millions of operations a second (a multiplication and an
 * addition are two), and `memory`, in thousands of millions of bytes a second that are read or
 * written beyond the caches. Tile registers (AMX), which only oneDNN uses, do more for `int8`.
 * Asking measures them, which takes some tenths of a second; an idle machine tells the truth.
 *
 * Since: 1.0
 */
#define AXON_CPU_PEAKS "CPU_PEAKS"
