/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cpuplan.h"

/* Takes the model after the common passes; builds the plan at once where all shapes are known. */
AxonCompiledModel *cpu_model_new (AxonPlugin *plugin, AxonModel *original, AxonModel *transformed,
                                  const AxonConfig *config, AxonExecutor *executor, guint threads,
                                  GCancellable *cancellable, AxonProgressFunc progress,
                                  gpointer user_data, GError **error);

/* A clone with the CPU's passes applied. */
AxonModel *cpu_lower_model (AxonModel *model, GCancellable *cancellable, GError **error);
