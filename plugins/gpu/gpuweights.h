/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What weights are, by content: the plans of a model for other shapes have equal ones. */
#pragma once

#include "gpuplan.h"

/* Hexadecimal (transfer full): of a constant, by index; of a prepared buffer, of what makes it. */
gchar *gpu_weights_key (const GpuPlan *plan, guint constant);
gchar *gpu_prepared_key (const GpuPlan *plan, const GpuBuffer *prepared);
