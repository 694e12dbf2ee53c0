/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Our own kernels. */
#pragma once

#include "../cpuplan.h"

gboolean cpu_build_extension (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_has_qlinear (const AxonNode *node);
gboolean cpu_resize_is_plain (const AxonNode *node);

/* Input 0 in a dense layout without padding (blocked layouts are converted to channels last), and
 * @md for a result of type @dtype that lies the same way (free it; NULL: row-major). */
CpuTensor *cpu_dense_input (CpuPlan *plan, const AxonNode *node, guint index, AxonDType dtype,
                            CpuMd **md);

/* Limits of a result of bytes: of its type, or attribute axon.clip within these. */
void cpu_byte_range (const AxonNode *node, gfloat *lo, gfloat *hi);
