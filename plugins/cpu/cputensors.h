/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What only the building of a plan needs of its tensors; kernels need what cpuplan.h has. */
#pragma once

#include "cpuplan.h"

/* (GDestroyNotify) */
void cpu_tensor_free (gpointer tensor);
void cpu_buffer_free (gpointer buffer);

/* @md: nullable; dense row-major is what has no descriptor. */
gboolean cpu_md_is_row_major (const CpuMd *md, const AxonShape *shape);
gboolean cpu_tensor_has_layout (const CpuTensor *tensor, const CpuMd *md);

/* Before the first node, and behind the last one. */
void cpu_plan_add_inputs (CpuPlan *plan);
void cpu_plan_add_outputs (CpuPlan *plan);
