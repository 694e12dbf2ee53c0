/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Our own kernels. */
#pragma once

#include "../onednn/cpudnn.h"

gboolean cpu_build_extension (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_has_qlinear (const AxonNode *node);
gboolean cpu_resize_is_plain (const AxonNode *node);
gboolean cpu_resize_is_narrow (const AxonShape *x);

/* Input 0 in a dense layout without padding (blocked layouts are converted to channels last), and
 * @md for a result of type @dtype that lies the same way (free it; NULL: row-major). */
CpuTensor *cpu_dense_input (CpuPlan *plan, const AxonNode *node, guint index, AxonDType dtype,
                            CpuMd **md);

/* Adds a copy of @from in the layout of @to, which has its shape, and its type or one that oneDNN
 * converts it to. */
void cpu_add_reorder (CpuPlan *plan, CpuTensor *from, CpuTensor *to);

/* Limits of a result of bytes: of its type, or attribute axon.clip within these. */
void cpu_byte_range (const AxonNode *node, gfloat *lo, gfloat *hi);

/* Adds the memory of @y = that of @x times constant weights, plus @bias for each column, which it
 * takes over. */
void cpu_add_product (CpuPlan *plan, CpuTensor *x, const CpuProduct *product, gfloat *bias,
                      CpuTensor *y);

/* TRUE if our kernel multiplies two results, though oneDNN could. */
gboolean cpu_product_is_own (const CpuPlan *plan, const AxonNode *node);
