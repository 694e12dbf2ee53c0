/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who compiles or infers says so here, for as long as the call lasts. Works do not nest by
 * themselves: who enters one keeps the other's cancellation in mind. */
#pragma once

#include <axon/plugin/axonwork.h>

struct _AxonWork {
  gboolean (*is_cancelled) (gpointer user_data); /* nullable; cheap */
  gpointer user_data;
  AxonBudget *budget; /* nullable: the process's */
};

/* @parent: a reference is kept. @limit: bytes; 0: no limit besides the parent's. */
AxonBudget *axon_budget_new (AxonBudget *parent, gsize limit);

/* Bytes that this process may use by the machine, its control group and its resource limits. */
gsize axon_memory_limit (const gchar *root);
