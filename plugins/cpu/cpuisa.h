/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which instruction set the device uses: our kernels' table, and oneDNN's limit. */
#pragma once

#include "vector/cpuvector.h"

typedef struct {
  const gchar *name; /* as AXON_CPU_ISA says it; oneDNN is capped at the level of the same name */
  const CpuVector *vector;
  gboolean (*available) (void);
} CpuIsa;

/* The level in use; the same for the life of the process. */
const CpuIsa *cpu_isa_get (void);
