/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "../cpuplan.h"

/* TRUE if cpu_finish_conv () computes all that is fused into @node. */
gboolean cpu_can_finish_conv (const AxonNode *node);

/* In place: @y, the bare convolution of @node, becomes its result. */
void cpu_finish_conv (CpuPlan *plan, const AxonNode *node, CpuTensor *y);
