/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which level of instructions the device uses: our kernels' table, and oneDNN's limit. A level is
 * asked for by AXON_CPU_ISA or by the property; the first use of the device settles it for the
 * process. Any thread. */
#pragma once

#include <axon/axon-plugin.h>

#include "cpufeatures.h"
#include "vector/cpuvector.h"

typedef struct {
  const gchar *name; /* as it is asked for */
  CpuFeatures needs;
  const gchar *dnn; /* oneDNN's level, as cpu_dnn_set_max_isa () names it; NULL: it has none */
  const CpuVector *vector;
} CpuIsa;

/* For device CPU's constructor: reads the environment. FALSE where that asks for what is not there,
 * or where the processor has no level at all. */
gboolean cpu_isa_init (GError **error);

/* Asks for the level @name; "": all that the processor has. FALSE with what there is, or, once the
 * device is in use, with what it uses. */
gboolean cpu_isa_set (const gchar *name, GError **error);
const gchar *cpu_isa_get_asked (void);

/* The first call settles the level. FALSE if oneDNN cannot be kept to it. */
gboolean cpu_isa_use (GError **error);

/* Names of the levels that the processor has, as (floating). */
GVariant *cpu_isa_list (void);

/* The level in use, or until it is settled the one that would be. */
const CpuIsa *cpu_isa_get (void);
