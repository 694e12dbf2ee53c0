/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "remotebreaker.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#define MOST_FAILURES 5u
#define FIRST_PAUSE 500u /* milliseconds */
#define LONGEST_PAUSE 15000u

void
remote_breaker_clear (RemoteBreaker *breaker)
{
  g_clear_pointer (&breaker->last, g_free);
}

void
remote_breaker_note_success (RemoteBreaker *breaker)
{
  breaker->n_failures = 0;
  breaker->pause = 0;
  breaker->closed_at = 0;
}

void
remote_breaker_note_failure (RemoteBreaker *breaker, const gchar *what)
{
  g_free (breaker->last);
  breaker->last = g_strdup (what);
  if (++breaker->n_failures < MOST_FAILURES)
    return;
  breaker->pause = CLAMP (breaker->pause * 2, FIRST_PAUSE, LONGEST_PAUSE);
  breaker->closed_at = g_get_monotonic_time () + (gint64)breaker->pause * 1000;
}

gchar *
remote_breaker_refuse (RemoteBreaker *breaker)
{
  gint64 now = g_get_monotonic_time ();
  if (breaker->n_failures < MOST_FAILURES)
    return NULL;
  if (now >= breaker->closed_at) { /* this call tries; the others wait for what it finds */
    breaker->closed_at = now + (gint64)breaker->pause * 1000;
    return NULL;
  }
  return g_strdup_printf (_ ("not asked, for the last %u requests failed; the last: %s"),
                          breaker->n_failures, breaker->last);
}
