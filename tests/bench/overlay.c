/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nnoverlay costs on frames of 1920 x 1080: processor time of a frame, in ms, by scene and
 * format, as the table of docs/performance.md. The least of three rounds: others run, too.
 * usage: meson devenv -C BUILD tests/bench-overlay [SCENE FORMAT], for a profile of one: its number
 * from 0 */
#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>
#include <gst/video/video.h>
#include <math.h>
#include <time.h>

#define WIDTH 1920
#define HEIGHT 1080
#define FRAMES 20
#define ROUNDS 3
#define MASK 160

typedef void (*Fill) (GstNnResultMeta *meta, guint frame);

static GstNnObject *
add (GstNnResultMeta *meta, guint i, guint frame, gdouble width, gdouble height)
{
  static const gchar *const labels[] = { "person", "car", "bicycle", "traffic light" };
  GstNnObject *o = gst_nn_result_meta_add_object (meta, 0);
  gdouble x = fmod (i * 379. + frame * 3., WIDTH - width), y = fmod (i * 223., HEIGHT - height);
  gst_nn_object_set_box (o, x, y, width, height);
  gst_nn_object_set_class (o, (gint)(i % 4), labels[i % 4], fmod (i * .17 + frame * .01, 1));
  gst_nn_object_set_track (o, i + 1, frame + 1);
  return o;
}

static void
ten_boxes (GstNnResultMeta *meta, guint frame)
{
  for (guint i = 0; i < 10; i++)
    add (meta, i, frame, 800, 700);
}

/* A disk, as a network gives it. */
static GBytes *
disk (void)
{
  static guint8 values[MASK * MASK];
  for (guint i = 0; i < MASK * MASK; i++) {
    gdouble x = i % MASK - MASK / 2., y = (gdouble)(i / MASK) - MASK / 2.;
    values[i] = hypot (x, y) < MASK / 2. ? 255 : 0;
  }
  return g_bytes_new_static (values, sizeof values);
}

static void
twenty_masks (GstNnResultMeta *meta, guint frame)
{
  g_autoptr (GBytes) values = disk ();
  for (guint i = 0; i < 20; i++) {
    GstNnObject *o = add (meta, i, frame, 300, 400);
    g_autoptr (GstNnMask) mask = NULL;
    gdouble x, y, w, h;
    gst_nn_object_get_box (o, &x, &y, &w, &h);
    mask = gst_nn_mask_new (GST_NN_MASK_COVERAGE, MASK, MASK, values, x, y, w, h);
    gst_nn_object_set_mask (o, mask);
  }
}

static void
twenty_skeletons (GstNnResultMeta *meta, guint frame)
{
  guint bones[36];
  g_autoptr (GstNnSkeleton) skeleton = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (bones); i++)
    bones[i] = (i / 2 + i % 2) % 17;
  skeleton = gst_nn_skeleton_new (NULL, bones, G_N_ELEMENTS (bones));
  for (guint i = 0; i < 20; i++) {
    GstNnObject *o = add (meta, i, frame, 200, 500);
    gdouble x, y;
    gst_nn_object_get_box (o, &x, &y, NULL, NULL);
    for (guint k = 0; k < 17; k++)
      gst_nn_object_add_keypoint (o, x + k * 67 % 200, y + k * 29, 1);
    gst_nn_object_set_skeleton (o, skeleton);
  }
}

static void
a_class_map (GstNnResultMeta *meta, G_GNUC_UNUSED guint frame)
{
  g_autoptr (GBytes) values = disk ();
  g_autoptr (GstNnMask) mask =
      gst_nn_mask_new (GST_NN_MASK_CLASSES, MASK, MASK, values, 0, 0, WIDTH, HEIGHT);
  gst_nn_object_set_mask (gst_nn_result_meta_get_frame (meta), mask);
}

static void
ten_faces (GstNnResultMeta *meta, guint frame)
{
  for (guint i = 0; i < 10; i++)
    add (meta, i, frame, 200, 240);
}

static const struct {
  const gchar *name, *launch;
  Fill fill;
} scenes[] = {
  { "10 boxes of 800 x 700, captions, tails", "nnoverlay", ten_boxes },
  { "20 objects of 300 x 400 with masks, captions, tails", "nnoverlay", twenty_masks },
  { "20 skeletons of 17 joints", "nnoverlay", twenty_skeletons },
  { "classes of the whole frame", "nnoverlay", a_class_map },
  { "10 faces of 200 x 240, blurred", "nnoverlay blur=*", ten_faces },
};
static const gchar *const formats[] = { "I420", "NV12", "YUY2", "RGB", "BGRx", "I420_10LE" };

static gdouble
now (void)
{
  struct timespec t;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return (gdouble)t.tv_sec * 1e3 + (gdouble)t.tv_nsec / 1e6;
}

static gboolean
drop_meta (G_GNUC_UNUSED GstBuffer *buffer, GstMeta **meta, G_GNUC_UNUSED gpointer data)
{
  *meta = NULL;
  return TRUE;
}

/* The same frame goes round and round: what is drawn on it does not matter. */
static gdouble
round_of (GstHarness *h, GstBuffer **buffer, Fill fill)
{
  gdouble spent = 0;
  for (guint i = 0; i < FRAMES; i++) {
    GstNnResultMeta *meta = gst_buffer_add_nn_result_meta (*buffer, WIDTH, HEIGHT);
    gdouble begin;
    fill (meta, i);
    GST_BUFFER_PTS (*buffer) = i * GST_SECOND / 30;
    begin = now ();
    *buffer = gst_harness_push_and_pull (h, *buffer);
    spent += now () - begin;
    gst_buffer_foreach_meta (*buffer, drop_meta, NULL);
  }
  return spent / FRAMES;
}

static gdouble
measure (const gchar *launch, const gchar *format, const gchar *features, Fill fill)
{
  g_autofree gchar *caps = g_strdup_printf (
      "video/x-raw,format=%s,width=%d,height=%d,framerate=30/1", format, WIDTH, HEIGHT);
  g_autoptr (GstCaps) parsed = gst_caps_from_string (caps);
  GstHarness *h = gst_harness_new_parse (launch);
  GstVideoInfo info;
  GstBuffer *buffer;
  gdouble best = G_MAXDOUBLE;
  gst_video_info_from_caps (&info, parsed);
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_memset (buffer, 0, 64, info.size);
  gst_harness_set_sink_caps_str (h, features);
  gst_harness_set_src_caps_str (h, caps);
  for (guint i = 0; i < ROUNDS; i++)
    best = MIN (best, round_of (h, &buffer, fill));
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
  return best;
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  if (argc == 3) {
    guint64 s = g_ascii_strtoull (argv[1], NULL, 10) % G_N_ELEMENTS (scenes);
    g_print ("%.2f\n", measure (scenes[s].launch, argv[2], "video/x-raw", scenes[s].fill));
    return 0;
  }
  g_print ("| scene |");
  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    g_print (" %s |", formats[f]);
  g_print (" attached |\n|---|---|---|---|---|---|---|---|\n");
  for (guint s = 0; s < G_N_ELEMENTS (scenes); s++) {
    g_print ("| %s |", scenes[s].name);
    for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
      g_print (" %.2f |", measure (scenes[s].launch, formats[f], "video/x-raw", scenes[s].fill));
    g_print (" %.2f |\n",
             measure (scenes[s].launch, "I420",
                      "video/x-raw(memory:SystemMemory,meta:GstVideoOverlayComposition)",
                      scenes[s].fill));
  }
  return 0;
}
