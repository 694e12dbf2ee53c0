/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpuplan.h"

/* Each is a table in a file of kernels/ or onednn/, in the order in which they are asked. */
/* clang-format off */
#define FAMILIES(F)                                                                                \
  F (int8_conv) F (int8_matmul) F (qlinear) F (qlinear_concat) F (qlinear_pool) F (quantize)       \
  F (float_conv) F (reduce) F (arg) F (topk) F (dnn_conv) F (dnn_matmul) F (dnn_pool) F (pool)     \
  F (global_pool) F (dnn_batchnorm) F (channels) F (softmax) F (dnn_concat) F (dnn_resize)         \
  F (dnn_transpose) F (dnn_slice) F (dnn_binary) F (lrn) F (group_norm) F (normalize) F (concat)   \
  F (resize) F (chain) F (unary) F (binary) F (constant) F (reshape) F (cast) F (gather)           \
  F (scatter) F (pad) F (image) F (recurrent) F (repeat) F (gridsample) F (deformconv) F (roi)     \
  F (cumulative) F (matrix) F (reference)
/* clang-format on */

#define DECLARE(family) extern const CpuKernel cpu_##family##_kernels[];
#define TABLE(family) cpu_##family##_kernels,
FAMILIES (DECLARE)

const CpuKernel *const cpu_kernels[] = { FAMILIES (TABLE) NULL };
