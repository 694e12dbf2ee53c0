/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cpuplan.h"
#include "cputhreads.h"

/* Takes the model after the common passes; builds the plan at once where all shapes are known. */
AxonCompiledModel *cpu_model_new (AxonPlugin *plugin, AxonModel *original, AxonModel *transformed,
                                  GPtrArray *extensions, const AxonConfig *config,
                                  AxonExecutor *executor, const CpuThreads *threads,
                                  const CpuPlanOptions *options, const CpuCompile *call,
                                  GError **error);

/* A clone with the CPU's passes applied. */
AxonModel *cpu_lower_model (AxonModel *model, GCancellable *cancellable, GError **error);
