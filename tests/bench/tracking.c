/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nntrack takes of a processor for a frame, beside an identity in its place: objects walk
 * about, as nndecode leaves them, with regions for others. Run it within `meson devenv -C BUILD`.
 */
#include "frame/gstnnregion.h"

#include <gst/check/gstharness.h>
#include <math.h>
#include <time.h>

#define N_FRAMES 600
#define WIDTH 1280
#define HEIGHT 720

static gint64
processor_time (void)
{
  struct timespec t;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return (gint64)t.tv_sec * G_USEC_PER_SEC * 1000 + t.tv_nsec;
}

/* Each on a circle of its own. */
static GstBuffer *
frame_new (guint f, guint n_objects)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstNnResultMeta *result = gst_buffer_add_nn_result_meta (buffer, WIDTH, HEIGHT);
  GST_BUFFER_PTS (buffer) = f * GST_SECOND / 30;
  for (guint i = 0; i < n_objects; i++) {
    GstNnObject *o = gst_nn_result_meta_add_object (result, 0);
    gdouble angle = f * 0.03 + i;
    gst_nn_object_set_box (o, 40 + i % 10 * 120 + 60 * cos (angle),
                           40 + i / 10 * 130 + 50 * sin (angle), 50, 80);
    gst_nn_object_set_class (o, 0, "thing", 0.8);
    gst_nn_object_set_origin (o, "bench", GST_BUFFER_PTS (buffer));
    gst_nn_region_add (buffer, o, result);
  }
  return buffer;
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  return *(const gint64 *)a < *(const gint64 *)b ? -1 : 1;
}

/* The median of frames, in nanoseconds. */
static gint64
measure (const gchar *element, guint n_objects)
{
  GstHarness *h = gst_harness_new (element);
  g_autofree gint64 *times = g_new (gint64, N_FRAMES);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=1280,height=720,framerate=30/1");
  for (guint f = 0; f < N_FRAMES; f++) {
    GstBuffer *buffer = frame_new (f, n_objects);
    gint64 begin = processor_time ();
    gst_harness_push (h, buffer);
    times[f] = processor_time () - begin;
    gst_buffer_unref (gst_harness_pull (h));
  }
  gst_harness_teardown (h);
  qsort (times, N_FRAMES, sizeof *times, compare);
  return times[N_FRAMES / 2];
}

int
main (int argc, char **argv)
{
  static const guint counts[] = { 0, 1, 10, 50, 200 };
  gst_init (&argc, &argv);
  g_print ("| objects | nntrack, us a frame |\n|---|---|\n");
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    g_print ("| %u | %.1f |\n", counts[i],
             (gdouble)(measure ("nntrack", counts[i]) - measure ("identity", counts[i])) / 1000);
  return 0;
}
