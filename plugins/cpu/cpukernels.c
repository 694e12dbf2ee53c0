/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpuplan.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#define ENVIRONMENT "AXON_CPU_DISABLE_KERNELS"

/* What only some builds have. */
#ifdef AXON_XNNPACK
#define OPTIONAL_FAMILIES(F) F (xnnpack)
#else
#define OPTIONAL_FAMILIES(F)
#endif

/* Each is a table in a file of kernels/ or onednn/, in the order in which they are asked. */
/* clang-format off */
#define FAMILIES(F)                                                                                \
  F (placed)                                                                                       \
  F (int8_conv) F (int8_matmul) F (qlinear) F (qlinear_concat) F (qlinear_pool) F (quantize)       \
  F (winograd) F (planes) F (dots) F (columns) OPTIONAL_FAMILIES (F) F (float_conv)                \
  F (float_matmul)                                                                                 \
  F (reduce) F (arg) F (topk) F (dnn_conv) F (dnn_matmul) F (float_product) F (dnn_pool)           \
  F (pool) F (byte_pool) F (index_pool) F (global_pool) F (dnn_batchnorm) F (channels)             \
  F (softmax) F (scattered) F (dnn_concat) F (dnn_resize) F (dnn_transpose) F (dnn_slice)          \
  F (dnn_binary) F (lrn) F (group_norm) F (normalize) F (concat) F (resize) F (chain) F (unary)    \
  F (binary) F (constant) F (reorder)                                                              \
  F (reshape) F (cast) F (gather) F (scatter) F (pad) F (image) F (recurrent) F (repeat)           \
  F (gridsample) F (deformconv) F (roi) F (cumulative) F (matrix) F (fold) F (one_hot)             \
  F (rotary) F (reference)
/* clang-format on */

#define DECLARE(family) extern const CpuKernel cpu_##family##_kernels[];
#define FAMILY(family) { #family, cpu_##family##_kernels },
FAMILIES (DECLARE)

const CpuFamily cpu_families[] = { FAMILIES (FAMILY){ NULL, NULL } };

GStrv
cpu_families_disabled (GError **error)
{
  const gchar *value = g_getenv (ENVIRONMENT);
  g_auto (GStrv) names = g_strsplit (value ? value : "", ",", -1);
  for (guint i = 0; names[i] != NULL; i++) {
    const CpuFamily *f = cpu_families;
    while (f->name != NULL && !g_str_equal (f->name, names[i]))
      f++;
    if (f->name == NULL || g_str_equal (names[i], "reference")) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                   _ ("%s: no family of kernels \"%s\" that could be left out"), ENVIRONMENT,
                   names[i]);
      return NULL;
    }
  }
  return g_steal_pointer (&names);
}
