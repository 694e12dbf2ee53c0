/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A circuit breaker: after some failures one after another nothing is asked for a while, then one
 * call tries whether the server is back. In one thread. */
#pragma once

#include <glib.h>

typedef struct {
  guint n_failures; /* since the last success */
  gint64 closed_at; /* monotonic time from which one call may try */
  guint pause;      /* milliseconds */
  gchar *last;      /* what the last failure said */
} RemoteBreaker;

void remote_breaker_clear (RemoteBreaker *breaker);
void remote_breaker_note_success (RemoteBreaker *breaker);
void remote_breaker_note_failure (RemoteBreaker *breaker, const gchar *what);
/* Why nothing is asked now (transfer full); NULL: ask. */
gchar *remote_breaker_refuse (RemoteBreaker *breaker);
