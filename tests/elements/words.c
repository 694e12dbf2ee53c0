/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What elements say when something is missing, does not fit or is assumed. */
#include "nninfer.h"

#include <glib/gstdio.h>
#include <string.h>

#define BALL TEST_SOURCE_ROOT "/pipelines/quickstart/ball.onnx"
#define VIDEO "videotestsrc num-buffers=3 ! video/x-raw,width=64,height=48 ! "

/* Runs to the end; the texts of all warnings and errors, a line each. */
static gchar *
run (const gchar *launch)
{
  g_autoptr (GError) wrong = NULL;
  GstElement *pipeline = gst_parse_launch (launch, &wrong);
  GstBus *bus = gst_element_get_bus (pipeline);
  GString *said = g_string_new (NULL);
  GstMessageType type = GST_MESSAGE_UNKNOWN;
  g_assert_no_error (wrong);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (type != GST_MESSAGE_EOS && type != GST_MESSAGE_ERROR) {
    GstMessage *m = gst_bus_timed_pop_filtered (
        bus, 30 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    g_autoptr (GError) error = NULL;
    g_assert_nonnull (m);
    type = GST_MESSAGE_TYPE (m);
    if (type == GST_MESSAGE_ERROR)
      gst_message_parse_error (m, &error, NULL);
    else if (type == GST_MESSAGE_WARNING)
      gst_message_parse_warning (m, &error, NULL);
    if (error != NULL)
      g_string_append_printf (said, "%s\n", error->message);
    gst_message_unref (m);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  return g_string_free (said, FALSE);
}

static guint
count_lines (const gchar *text)
{
  guint n = 0;
  for (; *text != '\0'; text++)
    n += *text == '\n';
  return n;
}

/* A pipeline, and the words that must be in the one thing that is said; none: nothing is. */
static const struct {
  const gchar *launch, *words[4];
} cases[] = {
  { VIDEO "nninfer model=" BALL " device=MOCK ! nnpublish location=/dev/null ! fakesink",
    { "insert nndecode" } },
  { VIDEO "videoconvert ! nninfer model=" BALL " device=MOCK ! nnoverlay ! fakesink",
    { "insert nndecode" } },
  { VIDEO "nninfer model=" BALL " device=MOCK ! nndecode ! fakesink",
    { "nothing reached threshold", "3 frames" } },
  { VIDEO "nninfer model=" BALL " device=MOCK ! fakesink", { NULL } },
  { VIDEO "nndecode ! queue ! videoflip video-direction=90r ! fakesink",
    { "videoflip", "where they were", "before nninfer" } },
  { VIDEO "nndecode ! tee ! videocrop left=8 ! fakesink", { "videocrop", "drops results" } },
  { VIDEO "nndecode ! identity ! videobox top=-8 ! videoflip video-direction=90r ! fakesink",
    { "videobox", "drops results" } },
  { VIDEO "nndecode ! videoscale add-borders=false ! fakesink", { "videoscale", "borders" } },
  { VIDEO "nndecode ! videoflip ! videoscale ! videocrop ! fakesink", { NULL } },
};

static void
what_is_missing_is_said_once (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data), n = 0;
  g_autofree gchar *said = run (cases[i].launch);
  for (; n < G_N_ELEMENTS (cases[i].words) && cases[i].words[n] != NULL; n++)
    if (strstr (said, cases[i].words[n]) == NULL)
      g_error ("\"%s\" does not say \"%s\"", said, cases[i].words[n]);
  g_assert_cmpuint (count_lines (said), ==, n > 0);
}

static gchar *
pop_text (GstBus *bus, GstMessageType type)
{
  g_autoptr (GError) error = NULL;
  GstMessage *m = gst_bus_pop_filtered (bus, type);
  if (m == NULL)
    return NULL;
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error (m, &error, NULL);
  else
    gst_message_parse_warning (m, &error, NULL);
  gst_message_unref (m);
  return g_strdup (error->message);
}

static void
push_caps (GstHarness *h, const gchar *caps)
{
  g_autoptr (GstCaps) c = gst_caps_from_string (caps);
  GstSegment segment;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (h->srcpad, gst_event_new_stream_start ("stream"));
  gst_pad_push_event (h->srcpad, gst_event_new_caps (c));
  gst_pad_push_event (h->srcpad, gst_event_new_segment (&segment));
}

/* What came, and what helps. "not-negotiated (-4)" was all that was said. */
static const struct {
  const gchar *caps, *got, *help;
} foreign[] = {
  { "video/x-raw(memory:GLMemory),format=ARGB64,width=64,height=48,framerate=30/1",
    "memory:GLMemory", "gldownload" },
  { "video/x-raw,format=GRAY10_LE32,width=64,height=48,framerate=30/1", "GRAY10_LE32",
    "videoconvert" },
  { "video/x-h264,stream-format=byte-stream", "video/x-h264", "decodebin" },
  { "image/jpeg", "image/jpeg", "decodebin" },
  { "audio/x-raw,format=S16LE,rate=8000,channels=1,layout=interleaved", "audio/x-raw", "pictures" },
};

static void
caps_that_are_not_taken_are_named_with_what_helps (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (foreign); i++) {
    g_autoptr (GstBus) bus = gst_bus_new ();
    g_autofree gchar *said = NULL;
    GstElement *element = gst_element_factory_make ("nninfer", NULL);
    GstHarness *h;
    g_object_set (element, "model", BALL, "device", "MOCK", NULL);
    gst_element_set_bus (element, bus);
    h = gst_harness_new_with_element (element, "sink", "src");
    gst_harness_play (h);
    push_caps (h, foreign[i].caps);
    said = pop_text (bus, GST_MESSAGE_ERROR);
    g_assert_nonnull (said);
    if (!strstr (said, "video/x-raw") || !strstr (said, foreign[i].got) ||
        !strstr (said, foreign[i].help))
      g_error ("\"%s\" does not name %s and %s", said, foreign[i].got, foreign[i].help);
    g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR));
    gst_element_set_bus (element, NULL);
    gst_object_unref (element);
    gst_harness_teardown (h);
  }
}

/* Caps change on the way, as after a seek in a playlist, and the sink has fixed its own. */
static void
who_is_behind_and_refuses_is_named (void)
{
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autofree gchar *said = NULL;
  GstHarness *h = harness_new (NULL, 1);
  gst_element_set_bus (h->element, bus);
  gst_harness_set_sink_caps_str (h, "video/x-raw,format=BGR");
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=64,height=48,framerate=15/1");
  gst_harness_push (h, frame (h, 0));
  while ((said = pop_text (bus, GST_MESSAGE_ERROR)) == NULL)
    g_usleep (1000);
  g_assert_nonnull (strstr (said, "takes video/x-raw, format=(string)BGR"));
  g_assert_nonnull (strstr (said, "got video/x-raw, format=(string)RGB"));
  g_assert_nonnull (strstr (said, "insert videoconvert"));
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
}

static void
assumed_preprocessing_is_said_once_where_pictures_come (void)
{
  AxonShape shape = AXON_SHAPE (1, 3, 32, 32);
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  AxonNode *node = test_model_node (&t, "Relu", 1, x);
  g_autoptr (AxonModel) model = test_model_finish (&t, node->outputs[0]);
  g_autofree gchar *folder = g_dir_make_tmp ("axon-words-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (folder, "relu.onnx", NULL);
  static const struct {
    const gchar *properties, *doubts[4];
  } settings[] = {
    { "", { "color=rgb", "resize=stretch", "mean=\"<0>\"", "scale=\"<1>\"" } },
    { "labels=a,b", { "color=rgb", "resize=stretch", "mean=\"<0>\"", "scale=\"<1>\"" } },
    { "mean=<127>", { NULL } },
    { "color=bgr", { "resize=stretch", "mean=\"<0>\"", "scale=\"<1>\"" } },
  };
  axon_core_write_model (axon_core_get_default (), model, path, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    g_autofree gchar *launch = g_strdup_printf (VIDEO "nninfer model=%s device=MOCK %s ! fakesink",
                                                path, settings[i].properties);
    g_autofree gchar *said = run (launch);
    g_assert_cmpuint (count_lines (said), ==, settings[i].doubts[0] != NULL);
    for (guint k = 0; k < G_N_ELEMENTS (settings[i].doubts) && settings[i].doubts[k]; k++)
      g_assert_nonnull (strstr (said, settings[i].doubts[k]));
  }
  g_unlink (path);
  g_rmdir (folder);
}

static void
progress_names_the_model_the_device_and_the_stage (void)
{
  GstElement *element = gst_element_factory_make ("nninfer", NULL);
  g_autoptr (GstBus) bus = gst_bus_new ();
  gboolean found = FALSE;
  g_object_set (element, "model", BALL, "device", "TEMPLATE", NULL);
  gst_element_set_bus (element, bus);
  gst_element_set_state (element, GST_STATE_PAUSED);
  while (!found) {
    GstMessage *m = gst_bus_timed_pop_filtered (bus, 30 * GST_SECOND, GST_MESSAGE_PROGRESS);
    g_autofree gchar *text = NULL;
    g_assert_nonnull (m);
    gst_message_parse_progress (m, NULL, NULL, &text);
    found = strstr (text, "ball") && strstr (text, "TEMPLATE") && strstr (text, "100 %, compiled");
    gst_message_unref (m);
  }
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (element);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/words/" #name, name)
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path = g_strdup_printf ("/words/what_is_missing_is_said_once/%u", i);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), what_is_missing_is_said_once);
  }
  ADD (caps_that_are_not_taken_are_named_with_what_helps);
  ADD (who_is_behind_and_refuses_is_named);
  ADD (assumed_preprocessing_is_said_once_where_pictures_come);
  ADD (progress_names_the_model_the_device_and_the_stage);
  return g_test_run ();
}
