/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Our own kernels. */
#pragma once

#include "../cpuplan.h"

gboolean cpu_build_extension (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_view (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_reference (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_cast (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_quantize (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_dequantize (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_dynamic_quantize (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_has_qlinear (const AxonNode *node);
gboolean cpu_build_qlinear_pair (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_qlinear_unary (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_qlinear_concat (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_qlinear_pool (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_qlinear_conv (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_int8_conv (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_int8_conv_transpose (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_int8_matmul (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_gather (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_pad (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_resize_is_plain (const AxonNode *node);
gboolean cpu_build_resize (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_build_resize_nearest (CpuPlan *plan, const AxonNode *node, GError **error);
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

/* Limits of a result of bytes: of its type, or attribute axon.clip within these. */
void cpu_byte_range (const AxonNode *node, gfloat *lo, gfloat *hi);
