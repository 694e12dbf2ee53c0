/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rule of one's own, in C: who stands still for three seconds is told of, and shown in
 * standing.mkv. `standing [VIDEO]`, with AXON_DATA for where models and media are, OUT for where
 * the video goes (out); FRAMES ends it after so many. */
#include <gst/nn/nn.h>
#include <math.h>

#define STILL (3 * GST_SECOND)
#define MOVED 0.15 /* of the height of who moves; more than a box jitters */

static const gchar launch[] =
    "filesrc name=file ! decodebin ! queue ! identity name=frames ! videoconvert ! "
    "nninfer name=model inference-interval=2 ! nndecode threshold=0.4 ! nntrack ! "
    "identity name=rule signal-handoffs=true ! "
    "nnoverlay ! videoconvert ! jpegenc ! matroskamux ! filesink name=out";

/* Where a track was when it last moved. */
typedef struct {
  gdouble x, y;
  GstClockTime since, seen;
  gboolean told;
} Place;

/* What a rule finds is said of the object, for those downstream: nnoverlay, nnpublish. */
static void
see (GHashTable *places, GstNnObject *o, GstClockTime now)
{
  gint64 track = (gint64)gst_nn_object_get_track_id (o);
  Place *place = g_hash_table_lookup (places, &track);
  gdouble x, y, width, height;
  gst_nn_object_get_box (o, &x, &y, &width, &height);
  x += width / 2;
  if (place == NULL) {
    place = g_new0 (Place, 1);
    place->since = now;
    place->x = x;
    place->y = y;
    g_hash_table_insert (places, g_memdup2 (&track, sizeof track), place);
  }
  place->seen = now;
  if (hypot (x - place->x, y - place->y) > MOVED * height) {
    *place = (Place){ x, y, now, now, FALSE };
  } else if (!place->told && now >= place->since + STILL) {
    place->told = TRUE;
    g_print ("{\"stands\": %" G_GINT64_FORMAT ", \"since\": %.1f}\n", track,
             (gdouble)place->since / GST_SECOND);
  }
  if (place->told) {
    g_autoptr (GstNnAttribute) stands = gst_nn_attribute_new ("standing", "stands", -1, 1, NULL);
    gst_nn_object_add_attribute (o, stands);
  }
}

static gboolean
is_gone (G_GNUC_UNUSED gpointer track, gpointer place, gpointer now)
{
  return ((Place *)place)->seen + STILL < *(GstClockTime *)now;
}

static void
on_frame (G_GNUC_UNUSED GstElement *identity, GstBuffer *buffer, gpointer places)
{
  GstNnResultMeta *results = gst_buffer_get_nn_result_meta (buffer);
  GstClockTime now = GST_BUFFER_PTS (buffer);
  GstNnObject *o;
  for (guint i = 0; results && (o = gst_nn_result_meta_get_object (results, i)) != NULL; i++)
    if (gst_nn_object_get_track_id (o) != 0 &&
        g_strcmp0 (gst_nn_object_get_label (o), "person") == 0)
      see (places, o, now);
  g_hash_table_foreach_remove (places, is_gone, &now);
}

static void
set (GstElement *pipeline, const gchar *name, const gchar *property, const gchar *value)
{
  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (pipeline), name);
  gst_util_set_object_arg (G_OBJECT (element), property, value);
}

static int
run (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message =
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS)
    return 0;
  gst_message_parse_error (message, &error, NULL);
  g_printerr ("%s\n", error->message);
  return 1;
}

int
main (int argc, char **argv)
{
  const gchar *data = g_getenv ("AXON_DATA"), *frames = g_getenv ("FRAMES");
  const gchar *folder = g_getenv ("OUT") ? g_getenv ("OUT") : "out";
  g_autoptr (GHashTable) places =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = NULL;
  g_autoptr (GstElement) rule = NULL;
  g_autofree gchar *model = NULL, *video = NULL, *out = NULL;
  gst_init (&argc, &argv);
  data = data ? data : g_getenv ("AXON_TEST_DATA");
  pipeline = gst_parse_launch (launch, &error);
  if (pipeline == NULL || data == NULL) {
    g_printerr ("%s\n", error ? error->message : "set AXON_DATA to where models and media are");
    return 2;
  }
  model = g_build_filename (data, "models/yolox-nano-416/model.onnx", NULL);
  video = g_build_filename (data, "media/one-by-one-person-detection.mp4", NULL);
  set (pipeline, "file", "location", argc > 1 ? argv[1] : video);
  set (pipeline, "model", "model", model);
  set (pipeline, "frames", "eos-after", frames ? frames : "-1");
  out = g_build_filename (folder, "standing.mkv", NULL);
  g_mkdir_with_parents (folder, 0777);
  set (pipeline, "out", "location", out);
  rule = gst_bin_get_by_name (GST_BIN (pipeline), "rule");
  g_signal_connect (rule, "handoff", G_CALLBACK (on_frame), places);
  return run (pipeline);
}
