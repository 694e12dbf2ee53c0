/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parameters of elementwise operators, for fusing and for kernels. */
#pragma once

#include "cpuplan.h"

/* alpha and beta of an activation; Clip's bounds. FALSE where they are not constant. */
gboolean cpu_eltwise_args (const AxonNode *node, gfloat *alpha, gfloat *beta);
