/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What only the building of a plan needs of its tensors; kernels need what cpuplan.h has. */
#pragma once

#include "cpuplan.h"

/* (GDestroyNotify) */
void cpu_tensor_free (gpointer tensor);
void cpu_buffer_free (gpointer buffer);

/* Before the first node, and behind the last one. */
void cpu_plan_add_inputs (CpuPlan *plan);
void cpu_plan_add_outputs (CpuPlan *plan);
