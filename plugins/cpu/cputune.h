/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measuring kernels: whole plans run, each with other kernels for some of its nodes, on noise and
 * whatever is in memory, and the fastest of each node stays. See docs/design/tuning.md. */
#pragma once

#include "cpuentry.h"

/* Of one compiled model. */
struct _CpuTuning {
  AxonModel *model; /* whose nodes get the notes */
  gint64 begin;     /* of measuring; 0: it has not begun */
};

/* The fastest plan that was found for @model, with notes of what is other than by rule. Caller:
 * has called cpu_threads_use (), as whoever will run it. */
CpuPlan *cpu_tune (AxonModel *model, const CpuContext *context, const CpuCompile *call,
                   GError **error);
