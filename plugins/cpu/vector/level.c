/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of one instruction set. */
#include "level.h"

#ifdef CPU_HAS_HALVES
static const CpuFloatConvKernels halves = { .lanes = 2 * CPU_LANES,
                                            .vectors = CPU_HALF_VECTORS,
                                            .pixels = CPU_FLOAT_PIXELS,
                                            .is_half = TRUE,
                                            .dense = CPU_NAME (cpu_half_dense) };
#endif

const CpuVector CPU_NAME (cpu_vector) = {
  .int8 = { .lanes = CPU_LANES,
            .pixels = CPU_INT8_PIXELS,
            .dot4 = CPU_DOT4,
            .dot4_signed = CPU_DOT4_SIGNED,
            .dense = CPU_NAME (cpu_int8_dense),
            .depthwise = CPU_NAME (cpu_int8_depthwise) },
  .channels = &CPU_NAME (cpu_channels),
  .floats = { .lanes = CPU_LANES,
              .vectors = CPU_FLOAT_VECTORS,
              .pixels = CPU_FLOAT_PIXELS,
              .strip = CPU_FLOAT_STRIP,
              .dense = CPU_NAME (cpu_float_dense),
              .grouped = CPU_NAME (cpu_float_grouped),
              .depthwise = CPU_NAME (cpu_float_depthwise),
              .dots = CPU_NAME (cpu_float_dots),
              .columns = CPU_NAME (cpu_float_columns),
              .planes = CPU_NAME (cpu_float_planes) },
#ifdef CPU_HAS_HALVES
  .halves = &halves,
#endif
  .eltwise = &CPU_NAME (cpu_eltwise),
  .half = &CPU_NAME (cpu_half),
  .image = &CPU_NAME (cpu_image),
  .lrn = &CPU_NAME (cpu_lrn),
  .move = &CPU_NAME (cpu_move),
  .normalize = &CPU_NAME (cpu_normalize),
  .peak = &CPU_NAME (cpu_peak),
  .pooling = &CPU_NAME (cpu_pooling),
  .quantize = &CPU_NAME (cpu_quantize),
  .recurrent = &CPU_NAME (cpu_recurrent),
  .reduce = &CPU_NAME (cpu_reduce),
  .resize = &CPU_NAME (cpu_resize),
  .sample = &CPU_NAME (cpu_sample),
  .softmax = &CPU_NAME (cpu_softmax),
  .winograd = &CPU_NAME (cpu_winograd),
};
