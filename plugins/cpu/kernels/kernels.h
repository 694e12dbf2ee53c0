/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Our own kernels. */
#pragma once

#include "../cpuplan.h"

/* Compiled for AVX2 and AVX-512 besides the baseline, chosen when the plugin loads. */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define CPU_CLONES __attribute__ ((target_clones ("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CPU_CLONES
#endif

gboolean cpu_build_extension (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_view (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_reference (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_cast (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_quantize (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_dequantize (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_qlinear_add (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_qlinear_conv (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_int8_conv (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_int8_conv_transpose (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_int8_matmul (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_gather (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_pad (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_resize_is_plain (const AxonNode *node);
gboolean cpu_build_resize (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_hard_sigmoid (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_concat (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_unary (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_gelu (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_square (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_reduce (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_arg (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_top (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_pair (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_where (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_normalize (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_image (CpuPlan *plan, const AxonNode *node, GError **error);

/* Input 0 in a dense layout without padding (blocked layouts are converted to channels last), and
 * @md for a result of type @dtype that lies the same way (free it; NULL: row-major). */
CpuTensor *cpu_dense_input (CpuPlan *plan, const AxonNode *node, guint index, AxonDType dtype,
                            CpuMd **md);
