/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "../cpuplan.h"
#include "../vector/eltwise.h"

/* The loop of operator @kind of two inputs of i32 or of i64; NULL: they are of something else, or
 * there is none. */
CpuPairFunc cpu_whole_pair (const AxonNode *node, guint kind);
