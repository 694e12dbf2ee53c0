/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnninferstats.h"

#include <stdlib.h>
#include <string.h>

#define LAST 256 /* frames that percentiles are of */

struct _GstNnInferStats {
  GMutex lock;
  guint64 counts[GST_NN_N_COUNTS]; /* lock, as all below */
  gint64 times[GST_NN_N_TIMES][LAST];
  guint64 n_times[GST_NN_N_TIMES];
};

static const gchar *const counts[GST_NN_N_COUNTS] = {
  [GST_NN_COUNT_FRAMES] = "frames",   [GST_NN_COUNT_INFERRED] = "inferred",
  [GST_NN_COUNT_LATE] = "late",       [GST_NN_COUNT_PASSED] = "passed",
  [GST_NN_COUNT_DROPPED] = "dropped",
};
static const gchar *const times[GST_NN_N_TIMES] = {
  [GST_NN_TIME_QUEUEING] = "queueing",
  [GST_NN_TIME_PREPROCESSING] = "preprocessing",
  [GST_NN_TIME_INFERENCE] = "inference",
  [GST_NN_TIME_TOTAL] = "total",
};

GstNnInferStats *
gst_nn_infer_stats_new (void)
{
  GstNnInferStats *stats = g_new0 (GstNnInferStats, 1);
  g_mutex_init (&stats->lock);
  return stats;
}

void
gst_nn_infer_stats_free (GstNnInferStats *stats)
{
  g_mutex_clear (&stats->lock);
  g_free (stats);
}

void
gst_nn_infer_stats_reset (GstNnInferStats *stats)
{
  g_mutex_lock (&stats->lock);
  memset (stats->counts, 0, sizeof stats->counts);
  memset (stats->n_times, 0, sizeof stats->n_times);
  g_mutex_unlock (&stats->lock);
}

void
gst_nn_infer_stats_count (GstNnInferStats *stats, GstNnCount what)
{
  g_mutex_lock (&stats->lock);
  stats->counts[what]++;
  g_mutex_unlock (&stats->lock);
}

guint64
gst_nn_infer_stats_get_count (GstNnInferStats *stats, GstNnCount what)
{
  guint64 n;
  g_mutex_lock (&stats->lock);
  n = stats->counts[what];
  g_mutex_unlock (&stats->lock);
  return n;
}

void
gst_nn_infer_stats_time (GstNnInferStats *stats, GstNnTime what, gint64 microseconds)
{
  g_mutex_lock (&stats->lock);
  stats->times[what][stats->n_times[what]++ % LAST] = microseconds;
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
gst_nn_infer_stats_get (GstNnInferStats *stats)
{
  GstStructure *s = gst_structure_new_empty ("nninfer-stats");
  gint64 sorted[LAST];
  g_mutex_lock (&stats->lock);
  for (guint i = 0; i < GST_NN_N_COUNTS; i++)
    gst_structure_set (s, counts[i], G_TYPE_UINT64, stats->counts[i], NULL);
  for (guint i = 0; i < GST_NN_N_TIMES; i++) {
    guint n = (guint)MIN (stats->n_times[i], LAST);
    memcpy (sorted, stats->times[i], n * sizeof *sorted);
    add_percentiles (s, times[i], sorted, n);
  }
  g_mutex_unlock (&stats->lock);
  return s;
}
