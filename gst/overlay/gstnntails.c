/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnntails.h"

#include <string.h>

#define MOST 4096 /* tracks, whatever comes */

struct _GstNnTails {
  GHashTable *tails; /* track -> GstNnTail */
  guint64 time, length;
};

GstNnTails *
gst_nn_tails_new (void)
{
  GstNnTails *t = g_new0 (GstNnTails, 1);
  t->tails = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  return t;
}

void
gst_nn_tails_free (GstNnTails *t)
{
  g_hash_table_unref (t->tails);
  g_free (t);
}

static void
drop_first (GstNnTail *tail, guint n)
{
  tail->n -= n;
  memmove (tail->x, tail->x + n, tail->n * sizeof *tail->x);
  memmove (tail->y, tail->y + n, tail->n * sizeof *tail->y);
  memmove (tail->time, tail->time + n, tail->n * sizeof *tail->time);
}

static gboolean
is_over (G_GNUC_UNUSED gpointer key, gpointer value, gpointer data)
{
  const GstNnTails *t = data;
  GstNnTail *tail = value;
  guint old = 0;
  while (old < tail->n && tail->time[old] + t->length < t->time)
    old++;
  if (old > 0)
    drop_first (tail, old);
  return tail->n == 0;
}

void
gst_nn_tails_begin (GstNnTails *t, guint64 time, guint64 length)
{
  if (time < t->time)
    g_hash_table_remove_all (t->tails);
  t->time = time;
  t->length = length;
  g_hash_table_foreach_remove (t->tails, is_over, t);
}

/* The newest point moves with the track until it is far enough from the one before it that all
 * points together reach over the whole length. */
const GstNnTail *
gst_nn_tails_add (GstNnTails *t, guint64 track, gdouble x, gdouble y)
{
  GstNnTail *tail = g_hash_table_lookup (t->tails, &track);
  if (tail == NULL) {
    if (g_hash_table_size (t->tails) >= MOST)
      return NULL;
    tail = g_new0 (GstNnTail, 1);
    g_hash_table_insert (t->tails, g_memdup2 (&track, sizeof track), tail);
  }
  if (tail->n > 1 &&
      tail->time[tail->n - 1] - tail->time[tail->n - 2] < t->length / (GST_NN_TAIL_POINTS - 1))
    tail->n--;
  if (tail->n == GST_NN_TAIL_POINTS)
    drop_first (tail, 1);
  tail->x[tail->n] = x;
  tail->y[tail->n] = y;
  tail->time[tail->n++] = t->time;
  return tail;
}
