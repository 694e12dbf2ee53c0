/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that give row-major data another shape: views. */
#include "kernels.h"

static gboolean
build_view (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  if (axon_value_is_constant (node->inputs[0]))
    return FALSE;
  cpu_plan_alias (plan, node, 0, cpu_plan_input_as (plan, node, 0, NULL), NULL);
  return TRUE;
}

const CpuKernel cpu_reshape_kernels[] = {
  { .name = "Reshape", .impl = "view", .build = build_view },
  { .name = "Flatten", .impl = "view", .build = build_view },
  { .name = "Squeeze", .impl = "view", .build = build_view },
  { .name = "Unsqueeze", .impl = "view", .build = build_view },
  { .name = "Identity", .impl = "view", .build = build_view },
  { 0 },
};
