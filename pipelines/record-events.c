/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records video around what happens, and nothing else: `record-events [OPTION...] [VIDEO]`. Writes
 * pieces of two seconds all the time (splitmuxsink), and keeps those that are near an event of
 * nnanalytics; the events of a piece stand beside it as lines of JSON. AXON_DATA is where models
 * and media are. */
#include <errno.h>
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <json-glib/json-glib.h>

#define PIECE (2 * GST_SECOND)

static const gchar launch[] =
    "filesrc name=file ! decodebin ! queue ! identity name=frames ! videoconvert ! "
    "nninfer name=model inference-interval=2 ! nndecode threshold=0.4 ! nntrack ! "
    "nnanalytics name=analytics ! nnoverlay ! "
    "videoconvert ! jpegenc ! splitmuxsink name=recorder muxer-factory=matroskamux";

static gchar *data, *folder, *settings;
static gint frames = -1;
static gdouble before = 2, after = 2;
static gchar **videos;

static const GOptionEntry entries[] = {
  { "data", 0, 0, G_OPTION_ARG_FILENAME, &data, "Where models and media are", "FOLDER" },
  { "out", 0, 0, G_OPTION_ARG_FILENAME, &folder, "Where pieces go (out)", "FOLDER" },
  { "settings", 0, 0, G_OPTION_ARG_FILENAME, &settings, "Zones and lines of nnanalytics", "FILE" },
  { "frames", 0, 0, G_OPTION_ARG_INT, &frames, "End after so many", "N" },
  { "before", 0, 0, G_OPTION_ARG_DOUBLE, &before, "Kept before an event (2)", "SECONDS" },
  { "after", 0, 0, G_OPTION_ARG_DOUBLE, &after, "Kept after an event (2)", "SECONDS" },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &videos, NULL, "[VIDEO]" },
  { NULL },
};

typedef struct {
  gchar *location;
  GstClockTime start, end;
} Piece;

typedef struct {
  GPtrArray *pieces;  /* that may still be kept or not */
  GPtrArray *events;  /* GstStructure */
  GstClockTime start; /* of the piece that is written */
} Recorder;

static void
piece_free (gpointer p)
{
  g_free (((Piece *)p)->location);
  g_free (p);
}

static GstClockTime
time_of (const GstStructure *s)
{
  guint64 time = 0;
  gst_structure_get_uint64 (s, "running-time", &time);
  return time;
}

static gboolean
add_field (GQuark name, const GValue *value, gpointer object)
{
  GValue number = G_VALUE_INIT;
  g_value_init (&number, G_TYPE_DOUBLE);
  if (G_VALUE_HOLDS_STRING (value))
    json_object_set_string_member (object, g_quark_to_string (name), g_value_get_string (value));
  else if (g_value_transform (value, &number))
    json_object_set_double_member (object, g_quark_to_string (name), g_value_get_double (&number));
  return TRUE;
}

static void
write_events (const Recorder *r, const Piece *piece)
{
  g_autofree gchar *path = g_strconcat (piece->location, ".jsonl", NULL);
  g_autoptr (GString) lines = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < r->events->len; i++) {
    const GstStructure *event = g_ptr_array_index (r->events, i);
    g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
    g_autofree gchar *line = NULL;
    if (time_of (event) < piece->start || time_of (event) >= piece->end)
      continue;
    json_node_take_object (node, json_object_new ());
    gst_structure_foreach (event, add_field, json_node_get_object (node));
    line = json_to_string (node, FALSE);
    g_string_append_printf (lines, "%s\n", line);
  }
  if (!g_file_set_contents (path, lines->str, -1, &error))
    g_printerr ("%s\n", error->message);
  g_print ("kept %s\n%s", piece->location, lines->str);
}

static gboolean
is_wanted (const Recorder *r, const Piece *piece)
{
  for (guint i = 0; i < r->events->len; i++) {
    gdouble time = (gdouble)time_of (g_ptr_array_index (r->events, i));
    if (time + after * GST_SECOND >= (gdouble)piece->start &&
        time - before * GST_SECOND < (gdouble)piece->end)
      return TRUE;
  }
  return FALSE;
}

/* What happens later than @now cannot want pieces that ended long enough before. */
static void
decide (Recorder *r, GstClockTime now)
{
  while (r->pieces->len > 0) {
    const Piece *piece = g_ptr_array_index (r->pieces, 0);
    if (is_wanted (r, piece) && piece->end <= now)
      write_events (r, piece);
    else if ((gdouble)piece->end + before * GST_SECOND <= (gdouble)now)
      g_unlink (piece->location);
    else
      return;
    g_ptr_array_remove_index (r->pieces, 0);
  }
}

/* Of events only those that a piece from @start on may be near to. */
static void
forget (Recorder *r, GstClockTime start)
{
  if (r->pieces->len > 0)
    start = ((const Piece *)g_ptr_array_index (r->pieces, 0))->start;
  while (r->events->len > 0 &&
         (gdouble)time_of (g_ptr_array_index (r->events, 0)) + after * GST_SECOND < (gdouble)start)
    g_ptr_array_remove_index (r->events, 0);
}

static void
on_message (Recorder *r, const GstStructure *s)
{
  if (gst_structure_has_name (s, "nn-event")) {
    g_ptr_array_add (r->events, gst_structure_copy (s));
  } else if (gst_structure_has_name (s, "splitmuxsink-fragment-opened")) {
    r->start = time_of (s);
  } else if (gst_structure_has_name (s, "splitmuxsink-fragment-closed")) {
    Piece *piece = g_new (Piece, 1);
    piece->location = g_strdup (gst_structure_get_string (s, "location"));
    piece->start = r->start;
    piece->end = time_of (s);
    g_ptr_array_add (r->pieces, piece);
    decide (r, piece->end);
    forget (r, piece->end);
  }
}

/* FALSE: it ended with an error. */
static gboolean
run (GstElement *pipeline, Recorder *r)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (;;) {
    g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (
        bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ELEMENT | GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    g_autoptr (GError) error = NULL;
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT) {
      on_message (r, gst_message_get_structure (message));
      continue;
    }
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS)
      return TRUE;
    gst_message_parse_error (message, &error, NULL);
    g_printerr ("%s\n", error->message);
    return FALSE;
  }
}

static void
set (GstElement *pipeline, const gchar *name, const gchar *property, const gchar *value)
{
  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (pipeline), name);
  gst_util_set_object_arg (G_OBJECT (element), property, value);
}

static void
configure (GstElement *pipeline)
{
  g_autofree gchar *model = g_build_filename (data, "models/yolox-nano-416/model.onnx", NULL);
  g_autofree gchar *video = g_build_filename (data, "media/one-by-one-person-detection.mp4", NULL);
  g_autofree gchar *pieces = g_build_filename (folder, "event-%05d.mkv", NULL);
  g_autofree gchar *n = g_strdup_printf ("%d", frames);
  g_autofree gchar *time = g_strdup_printf ("%" G_GUINT64_FORMAT, PIECE);
  set (pipeline, "file", "location", videos ? videos[0] : video);
  set (pipeline, "frames", "eos-after", n);
  set (pipeline, "model", "model", model);
  set (pipeline, "analytics", "settings-location", settings);
  set (pipeline, "recorder", "location", pieces);
  set (pipeline, "recorder", "max-size-time", time);
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = NULL;
  Recorder r = { g_ptr_array_new_with_free_func (piece_free),
                 g_ptr_array_new_with_free_func ((GDestroyNotify)gst_structure_free), 0 };
  gboolean ok;
  data = g_strdup (g_getenv ("AXON_DATA") ? g_getenv ("AXON_DATA") : g_getenv ("AXON_TEST_DATA"));
  folder = g_strdup ("out");
  settings = g_strdup ("pipelines/people-counter.json");
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, &argc, &argv, &error) || data == NULL) {
    g_printerr ("%s\n", error ? error->message : "set AXON_DATA to where models and media are");
    return 2;
  }
  g_mkdir_with_parents (folder, 0777);
  pipeline = gst_parse_launch (launch, &error);
  if (pipeline == NULL) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  configure (pipeline);
  ok = run (pipeline, &r);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  decide (&r, GST_CLOCK_TIME_NONE);
  g_ptr_array_unref (r.pieces);
  g_ptr_array_unref (r.events);
  return ok ? 0 : 1;
}
