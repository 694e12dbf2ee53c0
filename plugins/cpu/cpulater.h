/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is left for later while a plan is made: code of primitives and packed weights, which only
 * runs need. Helpers do it meanwhile, and whoever makes the plan does with them what is left at the
 * end. Used by the thread that makes the plan. */
#pragma once

#include "cpuplan.h"

/* FALSE: there is no memory. On any thread, which computes and counts as the plan's maker does. */
typedef gboolean (*CpuLaterFunc) (gpointer data);

/* With that many helpers at most, which begin when there is something to do. Without any, all is
 * done as it comes. */
CpuLater *cpu_later_new (guint n_helpers);
guint cpu_later_get_helpers (const CpuLater *self);

/* @data lives until @self is freed; what comes first is begun first. */
void cpu_later_add (CpuLater *self, CpuLaterFunc func, gpointer data);

/* FALSE: something did not find memory. */
gboolean cpu_later_is_well (CpuLater *self);

/* Returns when all is done, or what was begun if @cancellable (nullable) is cancelled. */
void cpu_later_finish (CpuLater *self, GCancellable *cancellable);

/* Returns when all that was begun is done. */
void cpu_later_free (CpuLater *self);
