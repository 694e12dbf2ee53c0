/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Weights that were packed for one plan and serve others of the same graph, whose constants they
 * are: then a plan for other shapes is cheap to make and has no copy of its own. Any thread. */
#pragma once

#include "cpuplan.h"

/* Of the constants of @model, which must live as long. */
CpuPacked *cpu_packed_new (const AxonModel *model);
void cpu_packed_free (CpuPacked *self);

/* What cpu_packed_add() was given for these (transfer full), or NULL. */
AxonTensor *cpu_packed_find (CpuPacked *self, gconstpointer data, const CpuMd *from,
                             const CpuMd *to);
/* Takes a reference of @packed where @data is of a constant of the model; else forgets it, for
 * other memory may come to stand there. */
void cpu_packed_add (CpuPacked *self, gconstpointer data, const CpuMd *from, const CpuMd *to,
                     AxonTensor *packed);
