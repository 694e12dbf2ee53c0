/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nnpublish, for long: publishlong [RECORDS]. Says what a record of twenty objects costs. */
#include "publish.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define OBJECTS 20
#define MOST_GROWTH (8 * 1024 * 1024)

static guint n_records = 5000;

static gsize
resident (void)
{
  g_autofree gchar *text = NULL;
  gsize pages = 0;
  g_assert_true (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  g_assert_cmpint (sscanf (text, "%*s %zu", &pages), ==, 1);
  return pages * (gsize)sysconf (_SC_PAGESIZE);
}

static gdouble
processor_seconds (void)
{
  struct rusage usage;
  getrusage (RUSAGE_SELF, &usage);
  return (gdouble)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (gdouble)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void
push_twenty (Publisher *p, guint n)
{
  GstBuffer *in = gst_buffer_new ();
  GstNnResultMeta *meta = gst_buffer_add_nn_result_meta (in, 320, 240);
  for (guint i = 0; i < OBJECTS; i++) {
    GstNnObject *o = gst_nn_result_meta_add_object (meta, 0);
    gst_nn_object_set_box (o, i + n % 100, i * 10, 81.25, 102.5);
    gst_nn_object_set_class (o, 2, "person", 0.7512);
    gst_nn_object_set_track (o, i + 1, n);
  }
  GST_BUFFER_PTS (in) = n * GST_SECOND / 30;
  g_assert_cmpint (gst_harness_push (p->h, in), ==, GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (p->h));
  if (n % 500 == 0) /* as the stream would wait for the next frame */
    while (publisher_stat (p, "queued") > 0)
      g_usleep (100);
}

static void
memory_is_flat_however_many_records_there_are (void)
{
  Publisher *p = publisher_new ("location=/dev/null queue-size=1000");
  guint warm = n_records / 5;
  gsize before = 0;
  gdouble start = 0;
  for (guint i = 0; i < n_records; i++) {
    if (i == warm) {
      before = resident ();
      start = processor_seconds ();
    }
    push_twenty (p, i);
  }
  g_test_message ("%.0f us of processor a record of %d objects; %.1f MiB more after %u records",
                  (processor_seconds () - start) * 1e6 / (n_records - warm), OBJECTS,
                  ((gdouble)resident () - (gdouble)before) / (1 << 20), n_records);
  g_assert_cmpuint (publisher_stat (p, "lost"), ==, 0);
#if !defined(__SANITIZE_ADDRESS__) /* which keeps what was freed for a while */
  g_assert_cmpuint (resident (), <, before + MOST_GROWTH);
#endif
  publisher_free (p);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  if (argc > 1)
    n_records = (guint)g_ascii_strtoull (argv[1], NULL, 10);
  g_test_add_func ("/publishlong/memory_is_flat_however_many_records_there_are",
                   memory_is_flat_however_many_records_there_are);
  return g_test_run ();
}
