/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "../cpuplan.h"
#include "../vector/eltwise.h"

/* Adds the step of @node, whose operands @pair combines, where one lies in blocks of channels and
 * the other has a number for each channel. FALSE: it is not so. */
gboolean cpu_pair_in_blocks (CpuPlan *plan, const AxonNode *node, CpuPairFunc pair);
