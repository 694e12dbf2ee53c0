/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A graph whose shapes are all known as soon as those of its inputs are, which follow from data:
 * what stands behind NonMaxSuppression and its like. See docs/design/dynamic-shapes.md. Counted;
 * any number of threads may run it. */
#pragma once

#include "cpuentry.h"

typedef struct _CpuTail CpuTail;

/* @model: kept, and indexed here. */
CpuTail *cpu_tail_new (AxonModel *model, const CpuContext *context);
void cpu_tail_unref (gpointer tail);

/* @out: new tensors. After a failure, too, they are the caller's. */
gboolean cpu_tail_run (CpuTail *self, CpuRun *run, AxonTensor *const *in, AxonTensor **out,
                       GError **error);

/* By the reference kernels. */
gboolean cpu_interpret (AxonModel *model, CpuRun *run, AxonTensor *const *in, AxonTensor **out,
                        GError **error);
