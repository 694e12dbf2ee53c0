/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnstats.h"

#include <stdlib.h>
#include <string.h>

#define LAST 256 /* frames that percentiles are of */

typedef struct {
  gint64 last[LAST];
  guint64 n;
} Times;

struct _GstNnStats {
  const gchar *name, *const *count_names, *const *time_names;
  GMutex lock;
  guint64 *counts; /* lock */
  Times *times;    /* lock */
};

static guint
count_names (const gchar *const *names)
{
  return g_strv_length ((gchar **)names);
}

GstNnStats *
gst_nn_stats_new (const gchar *name, const gchar *const *counts, const gchar *const *times)
{
  GstNnStats *stats = g_new0 (GstNnStats, 1);
  stats->name = name;
  stats->count_names = counts;
  stats->time_names = times;
  stats->counts = g_new0 (guint64, count_names (counts));
  stats->times = g_new0 (Times, count_names (times));
  g_mutex_init (&stats->lock);
  return stats;
}

void
gst_nn_stats_free (GstNnStats *stats)
{
  g_mutex_clear (&stats->lock);
  g_free (stats->counts);
  g_free (stats->times);
  g_free (stats);
}

void
gst_nn_stats_reset (GstNnStats *stats)
{
  g_mutex_lock (&stats->lock);
  for (guint i = 0; stats->count_names[i] != NULL; i++)
    stats->counts[i] = 0;
  for (guint i = 0; stats->time_names[i] != NULL; i++)
    stats->times[i].n = 0;
  g_mutex_unlock (&stats->lock);
}

void
gst_nn_stats_count (GstNnStats *stats, guint what)
{
  g_mutex_lock (&stats->lock);
  stats->counts[what]++;
  g_mutex_unlock (&stats->lock);
}

guint64
gst_nn_stats_get_count (GstNnStats *stats, guint what)
{
  guint64 n;
  g_mutex_lock (&stats->lock);
  n = stats->counts[what];
  g_mutex_unlock (&stats->lock);
  return n;
}

void
gst_nn_stats_time (GstNnStats *stats, guint what, gint64 microseconds)
{
  g_mutex_lock (&stats->lock);
  stats->times[what].last[stats->times[what].n++ % LAST] = microseconds;
  g_mutex_unlock (&stats->lock);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
  return x < y ? -1 : x > y;
}

static void
add_percentiles (GstStructure *s, const gchar *name, gint64 *sorted, guint n)
{
  static const guint percents[] = { 50, 95, 99 };
  qsort (sorted, n, sizeof *sorted, compare);
  for (guint i = 0; n > 0 && i < G_N_ELEMENTS (percents); i++) {
    g_autofree gchar *field = g_strdup_printf ("%s-p%u", name, percents[i]);
    guint64 time = (guint64)sorted[(n - 1) * percents[i] / 100] * GST_USECOND;
    gst_structure_set (s, field, G_TYPE_UINT64, time, NULL);
  }
}

GstStructure *
gst_nn_stats_get (GstNnStats *stats)
{
  GstStructure *s = gst_structure_new_empty (stats->name);
  gint64 sorted[LAST];
  g_mutex_lock (&stats->lock);
  for (guint i = 0; stats->count_names[i] != NULL; i++)
    gst_structure_set (s, stats->count_names[i], G_TYPE_UINT64, stats->counts[i], NULL);
  for (guint i = 0; stats->time_names[i] != NULL; i++) {
    guint n = (guint)MIN (stats->times[i].n, LAST);
    memcpy (sorted, stats->times[i].last, n * sizeof *sorted);
    add_percentiles (s, stats->time_names[i], sorted, n);
  }
  g_mutex_unlock (&stats->lock);
  return s;
}
