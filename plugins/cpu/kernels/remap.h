/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results whose places are copies of places of the input, dimension by dimension: Pad, Tile,
 * Expand, Slice backwards. */
#pragma once

#include "../cpuplan.h"

/* Types, sizes and numbers of dimensions for which there is a step. */
gboolean cpu_can_remap (const AxonNode *node);

/* Adds a step: place i of dimension d of output 0 is place maps[d][i] of input 0, whose shape ones
 * may lead, or, if that is -1, @value (a tensor of one element; NULL: there is no -1). maps[d]
 * NULL: nothing changes. Takes the maps over. Channels that lie last stay there. */
void cpu_add_remap (CpuPlan *plan, const AxonNode *node, gint32 *const *maps, CpuTensor *value);
