/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "../cpuplan.h"

/* Output @index of @node, in layout @md, where a Concat that reads it will want it; NULL: it has a
 * place of its own. */
CpuTensor *cpu_plan_place (CpuPlan *plan, const AxonNode *node, guint index, const CpuMd *md);
