/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A graph some of whose shapes follow from data, cut into segments: those of known shapes have a
 * plan, those whose shapes follow from their inputs' get one when they run, the others, where
 * shapes begin to follow from numbers, are interpreted. Any number of threads may run it. */
#pragma once

#include "cpuentry.h"

CpuSegments *cpu_segments_new (AxonModel *model, const CpuContext *context, const CpuCompile *call,
                               GError **error);
void cpu_segments_free (CpuSegments *self);
/* @out: new tensors, or references. After a failure, too, they are the caller's. */
gboolean cpu_segments_run (CpuSegments *self, CpuRun *run, AxonTensor *const *in, AxonTensor **out,
                           GError **error);

/* TRUE if every result has a slot in memory before the node runs. */
gboolean cpu_node_is_static (const AxonNode *node);
