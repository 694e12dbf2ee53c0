/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many processors, and which, inference may use. */
#pragma once

#include <glib.h>
#include <sched.h>

typedef struct {
  cpu_set_t set;  /* of the affinity mask, those of the wanted type */
  guint n;        /* threads that make sense: fewer than the set where a quota limits them */
  guint n_nodes;  /* memory nodes that the set is spread over, at least 1 */
  gboolean whole; /* the set is the affinity mask */
} CpuLimits;

/* @core_type: SCHEDULING_CORE_TYPE; @hyper_threading: FALSE counts one thread per core. @root: ""
 * (another root of /sys and /proc, for tests). */
void cpu_limits_init (CpuLimits *limits, const gchar *root, const gchar *core_type,
                      gboolean hyper_threading);
