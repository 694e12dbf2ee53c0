/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernels that are compiled once per instruction set, as a table of functions. Builders
 * (kernels/) fill the structures of these headers and call through the table of the level in use, a
 * family in a source of the same name; they never see an instruction. Which table that is, cpuisa.c
 * decides. */
#pragma once

#include "channels.h"
#include "eltwise.h"
#include "floatconv.h"
#include "half.h"
#include "image.h"
#include "int8.h"
#include "lrn.h"
#include "move.h"
#include "normalize.h"
#include "peak.h"
#include "pooling.h"
#include "quantize.h"
#include "recurrent.h"
#include "reduce.h"
#include "resize.h"
#include "sample.h"
#include "softmax.h"
#include "winograd.h"

typedef struct {
  CpuInt8Kernels int8;
  const CpuChannels *channels;
  CpuFloatConvKernels floats;
  const CpuFloatConvKernels *halves; /* NULL: there are no instructions for them */
  const CpuEltwise *eltwise;
  const CpuHalf *half;
  const CpuImage *image;
  const CpuLrn *lrn;
  const CpuMove *move;
  const CpuNormalize *normalize;
  const CpuPeak *peak;
  const CpuPooling *pooling;
  const CpuQuantize *quantize;
  const CpuRecurrentKernels *recurrent;
  const CpuReduce *reduce;
  const CpuResize *resize;
  const CpuSample *sample;
  const CpuSoftmax *softmax;
  const CpuWinogradKernels *winograd;
} CpuVector;

/* One per static library of meson.build; those of other architectures and the emulated ones are
 * only declared where they are linked. */
extern const CpuVector cpu_vector_portable, cpu_vector_sse41, cpu_vector_avx2, cpu_vector_avx2_vnni,
    cpu_vector_avx512, cpu_vector_avx512_vnni, cpu_vector_avx512_fp16, cpu_vector_neon,
    cpu_vector_neon_dotprod, cpu_vector_neon_fp16;
extern const CpuVector cpu_vector_emulated_32, cpu_vector_emulated_64;
