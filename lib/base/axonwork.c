/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "axonwork-private.h"

#include <stdlib.h>

static __thread const AxonWork *current;

const AxonWork *
axon_work_enter (const AxonWork *work)
{
  const AxonWork *before = current;
  current = work;
  return before;
}

const AxonWork *
axon_work_get (void)
{
  return current;
}

gboolean
axon_work_is_cancelled (void)
{
  return current != NULL && current->is_cancelled != NULL &&
         current->is_cancelled (current->user_data);
}

static AxonBudget *
budget_of_process (void)
{
  static gsize once;
  if (g_once_init_enter (&once)) {
    const gchar *text = secure_getenv ("AXON_MAX_MEMORY");
    guint64 mib = text ? g_ascii_strtoull (text, NULL, 10) : 0;
    gsize limit = mib > 0 && mib < G_MAXSIZE >> 20 ? (gsize)mib << 20 : axon_memory_limit ("");
    g_once_init_leave (&once, (gsize)axon_budget_new (NULL, limit));
  }
  return (AxonBudget *)once;
}

AxonBudget *
axon_work_get_budget (void)
{
  return current != NULL && current->budget != NULL ? current->budget : budget_of_process ();
}
