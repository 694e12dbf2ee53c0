/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A graph some of whose shapes follow from data, cut into segments: those of known shapes have a
 * plan, the others are interpreted. Any number of threads may run it. */
#pragma once

#include "cpumodel.h"
#include "cputhreads.h"

typedef struct _CpuSegments CpuSegments;

CpuSegments *cpu_segments_new (AxonModel *model, GPtrArray *extensions,
                               const CpuPlanOptions *options, const CpuCompile *call,
                               GError **error);
void cpu_segments_free (CpuSegments *self);
/* @profile: tells the request what each step took. */
gboolean cpu_segments_run (CpuSegments *self, AxonInferRequest *request, gboolean profile,
                           GError **error);

/* TRUE if every result has a slot in memory before the node runs. */
gboolean cpu_node_is_static (const AxonNode *node);
