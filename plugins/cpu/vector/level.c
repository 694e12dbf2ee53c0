/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of one instruction set. */
#include "level.h"

#ifdef CPU_HAS_HALVES
static const CpuFloatConvKernels halves = { .lanes = 2 * CPU_LANES,
                                            .vectors = CPU_HALF_VECTORS,
                                            .pixels = CPU_FLOAT_PIXELS,
                                            .is_half = TRUE,
                                            .move = &CPU_BASE_NAME (cpu_move),
                                            .dense = CPU_NAME (cpu_half_dense) };
#endif

const CpuVector CPU_NAME (cpu_vector) = {
  .int8 = { .lanes = CPU_LANES,
            .pixels = CPU_INT8_PIXELS,
            .depthwise_pixels = CPU_INT8_DEPTHWISE_PIXELS,
            .fours_pixels = CPU_INT8_FOURS_PIXELS,
            .dot4 = CPU_DOT4,
            .dot4_signed = CPU_DOT4_SIGNED,
            .move = &CPU_BASE_NAME (cpu_move),
            .dense = CPU_NAME (cpu_int8_dense),
            .depthwise = CPU_NAME (cpu_int8_depthwise) },
  .channels = &CPU_BASE_NAME (cpu_channels),
  .floats = { .lanes = CPU_LANES,
              .vectors = CPU_FLOAT_VECTORS,
              .pixels = CPU_FLOAT_PIXELS,
              .strip = CPU_FLOAT_STRIP,
              .move = &CPU_BASE_NAME (cpu_move),
              .dense = CPU_BASE_NAME (cpu_float_dense),
              .grouped = CPU_BASE_NAME (cpu_float_grouped),
              .depthwise = CPU_BASE_NAME (cpu_float_depthwise),
              .has_lines = CPU_BASE_NAME (cpu_float_has_lines),
              .dots = CPU_BASE_NAME (cpu_float_dots),
              .columns = CPU_BASE_NAME (cpu_float_columns),
              .planes = CPU_BASE_NAME (cpu_float_planes) },
#ifdef CPU_HAS_HALVES
  .halves = &halves,
#endif
  .eltwise = &CPU_BASE_NAME (cpu_eltwise),
  .half = &CPU_BASE_NAME (cpu_half),
  .image = &CPU_BASE_NAME (cpu_image),
  .lrn = &CPU_BASE_NAME (cpu_lrn),
  .move = &CPU_BASE_NAME (cpu_move),
  .normalize = &CPU_BASE_NAME (cpu_normalize),
  .peak = &CPU_NAME (cpu_peak),
  .pooling = &CPU_BASE_NAME (cpu_pooling),
  .quantize = &CPU_BASE_NAME (cpu_quantize),
  .recurrent = &CPU_BASE_NAME (cpu_recurrent),
  .reduce = &CPU_BASE_NAME (cpu_reduce),
  .resize = &CPU_BASE_NAME (cpu_resize),
  .sample = &CPU_BASE_NAME (cpu_sample),
  .softmax = &CPU_BASE_NAME (cpu_softmax),
  .winograd = &CPU_BASE_NAME (cpu_winograd),
};
