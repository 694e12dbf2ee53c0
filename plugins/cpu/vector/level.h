/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one instruction set's sources know of each other. */
#pragma once

#include "cpuvector.h"
#include "vector.h"

/* Pixels of a dense tile: with two weights and one pixel they fill the registers. */
#if CPU_VECTOR == 64
#define CPU_INT8_PIXELS 12
#else
#define CPU_INT8_PIXELS 6
#endif

/* Of a depthwise block: their sums take half of the registers. */
#define CPU_INT8_DEPTHWISE_PIXELS (CPU_REGISTERS / 4)
#define CPU_INT8_FOURS_PIXELS (CPU_REGISTERS / 8)

void CPU_NAME (cpu_int8_dense) (const CpuInt8Conv *conv, const CpuInt8Run *run,
                                const CpuConvPart *part, guint8 *scratch);
void CPU_NAME (cpu_int8_depthwise) (const CpuInt8Conv *conv, const CpuInt8Run *run,
                                    const CpuConvPart *part, guint8 *scratch);

/* Vectors of output channels of a float tile, at most. */
#if CPU_REGISTERS == 32
#define CPU_FLOAT_VECTORS 4
#else
#define CPU_FLOAT_VECTORS 2
#endif
#define CPU_FLOAT_PIXELS 12 /* of a tile, at most */
#define CPU_FLOAT_STRIP 2   /* vectors of channels of a depthwise tile */

void CPU_BASE_NAME (cpu_float_dense) (const CpuConv *conv, const CpuFloatConvRun *run,
                                      const CpuConvPart *part, guint8 *scratch);
void CPU_BASE_NAME (cpu_float_grouped) (const CpuConv *conv, const CpuFloatConvRun *run,
                                        const CpuConvPart *part, guint8 *scratch);
void CPU_BASE_NAME (cpu_float_columns) (const CpuFloatColumns *columns, const CpuFloatConvRun *run,
                                        const CpuConvPart *part, guint8 *scratch);
void CPU_BASE_NAME (cpu_float_dots) (const CpuConv *conv, const CpuFloatConvRun *run,
                                     const CpuConvPart *part, guint8 *scratch);
void CPU_BASE_NAME (cpu_float_planes) (const CpuFloatPlanes *planes, const CpuFloatConvRun *run,
                                       const CpuConvPart *part, guint8 *scratch);
gboolean CPU_BASE_NAME (cpu_float_has_lines) (const CpuConv *conv);
void CPU_BASE_NAME (cpu_float_depthwise) (const CpuConv *conv, const CpuFloatConvRun *run,
                                          const CpuConvPart *part, guint8 *scratch);

/* Vectors of halves of output channels of a tile, at most; and levels that have such. */
#define CPU_HALF_VECTORS 2
#if (defined(__AVX512FP16__) || defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)) &&                  \
    !defined(CPU_EMULATED)
#define CPU_HAS_HALVES
#endif

void CPU_NAME (cpu_half_dense) (const CpuConv *conv, const CpuFloatConvRun *run,
                                const CpuConvPart *part, guint8 *scratch);

/* Vectors of output channels of a product after Winograd. */
#define CPU_WINOGRAD_VECTORS 2

void CPU_BASE_NAME (cpu_winograd_weights) (CpuWinogradTile tile, const gfloat *from, gint n,
                                           gfloat *to, gsize step);
void CPU_BASE_NAME (cpu_winograd_source) (const CpuWinograd *winograd, const gfloat *x, gint tile0,
                                          gint tile1, gfloat *to);

extern const CpuChannels CPU_BASE_NAME (cpu_channels);
extern const CpuEltwise CPU_BASE_NAME (cpu_eltwise);
extern const CpuHalf CPU_BASE_NAME (cpu_half);
extern const CpuImage CPU_BASE_NAME (cpu_image);
extern const CpuLrn CPU_BASE_NAME (cpu_lrn);
extern const CpuMove CPU_BASE_NAME (cpu_move);
extern const CpuNormalize CPU_BASE_NAME (cpu_normalize);
extern const CpuPeak CPU_NAME (cpu_peak);
extern const CpuPooling CPU_BASE_NAME (cpu_pooling);
extern const CpuQuantize CPU_BASE_NAME (cpu_quantize);
extern const CpuRecurrentKernels CPU_BASE_NAME (cpu_recurrent);
extern const CpuReduce CPU_BASE_NAME (cpu_reduce);
extern const CpuResize CPU_BASE_NAME (cpu_resize);
extern const CpuSample CPU_BASE_NAME (cpu_sample);
extern const CpuSoftmax CPU_BASE_NAME (cpu_softmax);
extern const CpuWinogradKernels CPU_BASE_NAME (cpu_winograd);
