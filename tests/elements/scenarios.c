/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every element of the plugin in a pipeline that is treated as applications treat them: seeks, end
 * of stream while frames are inferred, new caps, pads that are linked again, many streams at once.
 */
#include "axontest.h"

#include <glib/gstdio.h>
#include <gst/gst.h>
#include <string.h>

#define BALL TEST_SOURCE_ROOT "/pipelines/quickstart/ball.onnx"
#define SOURCE                                                                                     \
  "videotestsrc name=source pattern=ball ! capsfilter name=caps caps-change-mode=delayed "         \
  "caps=video/x-raw,format=I420,width=320,height=240,framerate=30/1 ! "
#define SINK " ! fakesink name=sink sync=false"
#define ON_MOCK " device=MOCK config=\"config,NUM_STREAMS=4,MOCK_LATENCY=2,MOCK_JITTER=5\" nireq=4 "
#define INFER "nninfer model=" BALL ON_MOCK
#define FIND INFER "! nndecode ! "
#define ZONE                                                                                       \
  "settings=\"{\\\"zones\\\":[{\\\"name\\\":\\\"all\\\",\\\"polygon\\\":[[0,0],[1,0],[1,1],[0,1]]" \
  "}"                                                                                              \
  "]}\""

/* PICTURE is a model whose output is one. */
static const struct {
  const gchar *element, *launch;
} rows[] = {
  { "nninfer", INFER },
  { "nndecode", INFER "! nndecode" },
  { "nnpreproc", "nnpreproc device=TEMPLATE model=" BALL " ! " INFER "! nndecode" },
  { "nnquery", INFER "! nnquery statistics=true" },
  { "nnoverlay", FIND "nnoverlay" },
  { "nnpublish", FIND "nnpublish location=/dev/null" },
  { "nnrecord", FIND "nnrecord" },
  { "nntrack", FIND "nntrack" },
  { "nnanalytics", FIND "nntrack ! nnanalytics " ZONE },
  { "nnfps", INFER "! nnfps" },
  { "nntensor2video", "nninfer model=PICTURE" ON_MOCK "! nntensor2video" },
  { "nndetect", "nndetect track=true model=" BALL ON_MOCK },
  { "nnclassify", FIND "nnclassify model=" BALL ON_MOCK },
  { "nnsegment", "nnsegment model=" BALL ON_MOCK },
  /* several at once */
  { "nninfer", "tee name=t ! queue ! " FIND "nntrack ! nnoverlay ! nnpublish location=/dev/null" },
};
#define BRANCH                                                                                     \
  " t. ! queue ! nninfer device=MOCK model=" BALL " drop-policy=newest ! nndecode ! nnoverlay ! "  \
  "fakesink sync=false async=false"

static gchar *picture_model;

/* f32[1,3,32,32] -> Relu */
static void
make_picture_model (void)
{
  AxonShape shape = AXON_SHAPE (1, 3, 32, 32);
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  AxonNode *node = test_model_node (&t, "Relu", 1, x);
  g_autoptr (AxonModel) model = test_model_finish (&t, node->outputs[0]);
  g_autofree gchar *folder = g_dir_make_tmp ("axon-scenarios-XXXXXX", NULL);
  g_autoptr (GError) error = NULL;
  picture_model = g_build_filename (folder, "picture.onnx", NULL);
  axon_core_write_model (axon_core_get_default (), model, picture_model, &error);
  g_assert_no_error (error);
}

static void
remove_picture_model (void)
{
  g_autofree gchar *folder = g_path_get_dirname (picture_model);
  g_remove (picture_model);
  g_rmdir (folder);
  g_free (picture_model);
}

typedef struct {
  GstElement *pipeline, *sink, *source, *tested;
  GstBus *bus;
  GPrintFunc print;
} Run;

/* What nothing was said of is a gap in a stream of records. */
static GstPadProbeReturn
count_frames (G_GNUC_UNUSED GstPad *pad, GstPadProbeInfo *info, gpointer counter)
{
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER ||
      GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_GAP)
    g_atomic_int_inc ((gint *)counter);
  return GST_PAD_PROBE_OK;
}

/* The first of that kind, in bins as well. */
static GstElement *
find (GstElement *pipeline, const gchar *kind)
{
  GstIterator *all = gst_bin_iterate_all_by_element_factory_name (GST_BIN (pipeline), kind);
  GValue value = G_VALUE_INIT;
  GstElement *found = NULL;
  if (gst_iterator_next (all, &value) == GST_ITERATOR_OK)
    found = g_value_dup_object (&value);
  if (G_IS_VALUE (&value))
    g_value_unset (&value);
  gst_iterator_free (all);
  return found;
}

static void
print_nothing (G_GNUC_UNUSED const gchar *text)
{
}

static Run
start (gconstpointer row, gint num_buffers, gint *counter)
{
  guint i = GPOINTER_TO_UINT (row);
  gboolean is_tee = g_str_has_prefix (rows[i].launch, "tee");
  g_autoptr (GString) launch = g_string_new (SOURCE);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstPad) pad = NULL;
  Run r = { NULL };
  g_string_append_printf (launch, "%s" SINK "%s", rows[i].launch, is_tee ? BRANCH : "");
  g_string_replace (launch, "PICTURE", picture_model, 0);
  r.pipeline = gst_parse_launch (launch->str, &error);
  g_assert_no_error (error);
  r.print = g_set_print_handler (print_nothing); /* nnfps prints, and so do tests */
  r.sink = gst_bin_get_by_name (GST_BIN (r.pipeline), "sink");
  r.source = gst_bin_get_by_name (GST_BIN (r.pipeline), "source");
  r.tested = find (r.pipeline, rows[i].element);
  r.bus = gst_element_get_bus (r.pipeline);
  g_object_set (r.source, "num-buffers", num_buffers, NULL);
  pad = gst_element_get_static_pad (r.sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                     count_frames, counter, NULL);
  gst_element_set_state (r.pipeline, GST_STATE_PLAYING);
  return r;
}

static void
no_error (Run *r)
{
  GstMessage *message = gst_bus_pop_filtered (r->bus, GST_MESSAGE_ERROR);
  g_autofree gchar *more = NULL;
  g_autoptr (GError) error = NULL;
  if (message != NULL)
    gst_message_parse_error (message, &error, &more);
  if (error != NULL)
    g_error ("%s: %s (%s)", GST_MESSAGE_SRC_NAME (message), error->message, more);
}

static void
stop (Run *r)
{
  no_error (r);
  g_assert_cmpint (gst_element_set_state (r->pipeline, GST_STATE_NULL), ==,
                   GST_STATE_CHANGE_SUCCESS);
  g_set_print_handler (r->print);
  gst_object_unref (r->bus);
  gst_object_unref (r->sink);
  gst_object_unref (r->source);
  gst_object_unref (r->tested);
  gst_object_unref (r->pipeline);
}

/* Until @more have come from now on. */
static void
wait_for_frames (Run *r, gint *counter, gint more)
{
  gint until = g_atomic_int_get (counter) + more;
  while (g_atomic_int_get (counter) < until) {
    no_error (r);
    g_usleep (1000);
  }
}

static void
wait_for_end (Run *r)
{
  GstMessage *message =
      gst_bus_timed_pop_filtered (r->bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_message_unref (message);
}

static void
seeks_in_any_state_find_the_stream_alive (gconstpointer row)
{
  gint n = 0;
  Run r = start (row, -1, &n);
  g_autoptr (GRand) rand = g_rand_new_with_seed (17);
  wait_for_frames (&r, &n, 5);
  for (guint i = 0; i < 15; i++) {
    GstClockTime to = (GstClockTime)g_rand_int_range (rand, 0, 10000) * GST_MSECOND;
    if (i % 5 == 4)
      gst_element_set_state (r.pipeline, i % 2 ? GST_STATE_PLAYING : GST_STATE_PAUSED);
    g_assert_true (gst_element_seek_simple (r.pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, to));
    if (i % 3 == 0)
      wait_for_frames (&r, &n, 1);
  }
  gst_element_set_state (r.pipeline, GST_STATE_PLAYING);
  wait_for_frames (&r, &n, 5);
  stop (&r);
}

static void
every_frame_leaves_before_the_end_of_the_stream (gconstpointer row)
{
  gint n = 0;
  Run r = start (row, 25, &n);
  wait_for_end (&r);
  g_assert_cmpint (n, ==, 25);
  stop (&r);
}

static void
new_caps_find_the_stream_alive (gconstpointer row)
{
  static const gchar *const formats[] = { "format=RGB,width=160,height=120",
                                          "format=NV12,width=322,height=242",
                                          "format=GRAY8,width=64,height=48",
                                          "format=I420,width=320,height=240" };
  gint n = 0;
  Run r = start (row, -1, &n);
  GstElement *filter = gst_bin_get_by_name (GST_BIN (r.pipeline), "caps");
  for (guint i = 0; i < 8; i++) {
    g_autofree gchar *text =
        g_strdup_printf ("video/x-raw,%s,framerate=30/1", formats[i % G_N_ELEMENTS (formats)]);
    g_autoptr (GstCaps) caps = gst_caps_from_string (text);
    g_object_set (filter, "caps", caps, NULL);
    wait_for_frames (&r, &n, 8);
  }
  gst_object_unref (filter);
  stop (&r);
}

/* As applications do: the pad is blocked, the element behind taken out and put back. */
static GstPadProbeReturn
relink (GstPad *pad, G_GNUC_UNUSED GstPadProbeInfo *info, gpointer done)
{
  g_autoptr (GstPad) peer = gst_pad_get_peer (pad);
  g_assert_true (gst_pad_unlink (pad, peer));
  g_assert_cmpint (gst_pad_link (pad, peer), ==, GST_PAD_LINK_OK);
  g_atomic_int_set ((gint *)done, TRUE);
  return GST_PAD_PROBE_REMOVE;
}

/* In front of the element, and behind it. */
static void
pads_are_linked_again_while_frames_flow (gconstpointer row)
{
  gint n = 0;
  Run r = start (row, -1, &n);
  g_autoptr (GstPad) sink = gst_element_get_static_pad (r.tested, "sink");
  g_autoptr (GstPad) before = gst_pad_get_peer (sink);
  g_autoptr (GstPad) src = gst_element_get_static_pad (r.tested, "src");
  wait_for_frames (&r, &n, 3);
  for (guint i = 0; i < 6; i++) {
    gint done = FALSE;
    gst_pad_add_probe (i % 2 ? before : src, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM, relink, &done,
                       NULL);
    while (!g_atomic_int_get (&done))
      g_usleep (1000);
    wait_for_frames (&r, &n, 3);
  }
  stop (&r);
}

static void
models_change_between_seeks_and_states (gconstpointer row)
{
  gint n = 0;
  Run r = start (row, -1, &n);
  GstElement *nninfer = find (r.pipeline, "nninfer");
  for (guint i = 0; i < 12; i++) {
    g_object_set (nninfer, "nireq", 1 + i % 4, NULL);
    wait_for_frames (&r, &n, (gint)i % 4);
    if (i % 4 == 1)
      gst_element_seek_simple (r.pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, i * GST_SECOND);
    if (i % 6 == 5) {
      gst_element_set_state (r.pipeline, GST_STATE_READY);
      gst_element_set_state (r.pipeline, GST_STATE_PLAYING);
    }
  }
  wait_for_frames (&r, &n, 5);
  gst_object_unref (nninfer);
  stop (&r);
}

/* With frames on their way or none, waited for or not. */
static void
cycle_states (Run *r, guint n, gint *counter)
{
  static const GstState states[] = { GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING };
  for (guint i = 0; i < n; i++) {
    gst_element_set_state (r->pipeline, states[i % G_N_ELEMENTS (states)]);
    if (i % 4 == 1)
      gst_element_get_state (r->pipeline, NULL, NULL, GST_SECOND);
    if (i % 9 == 8) /* playing */
      wait_for_frames (r, counter, 1);
    gst_element_set_state (r->pipeline, GST_STATE_NULL);
    gst_bus_set_flushing (r->bus, TRUE);
    gst_bus_set_flushing (r->bus, FALSE);
  }
}

/* AXON_CYCLES=1000 makes it long. */
static void
states_up_and_down_leave_no_descriptor_and_a_stream_that_runs (gconstpointer row)
{
  const gchar *cycles = g_getenv ("AXON_CYCLES");
  gint n = 0;
  Run r = start (row, -1, &n);
  guint descriptors;
  wait_for_frames (&r, &n, 1);
  cycle_states (&r, 6, &n); /* what is made once for the process */
  descriptors = test_count_entries ("/proc/self/fd");
  cycle_states (&r, cycles ? (guint)g_ascii_strtoull (cycles, NULL, 10) : 18, &n);
  g_assert_cmpuint (test_count_entries ("/proc/self/fd"), <=, descriptors);
  gst_element_set_state (r.pipeline, GST_STATE_PLAYING);
  wait_for_frames (&r, &n, 5);
  stop (&r);
}

static void
sixteen_streams_run_in_one_process (void)
{
  Run runs[16];
  gint counts[16] = { 0 };
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    runs[i] = start (GUINT_TO_POINTER (i % G_N_ELEMENTS (rows)), 20, &counts[i]);
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++) {
    wait_for_end (&runs[i]);
    g_assert_cmpint (counts[i], ==, 20);
  }
  for (guint i = G_N_ELEMENTS (runs); i > 0; i--)
    stop (&runs[i - 1]);
}

static void
every_element_of_the_plugin_is_in_a_scenario (void)
{
  GList *all = gst_registry_get_feature_list_by_plugin (gst_registry_get (), "nn");
  g_assert_nonnull (all);
  for (GList *l = all; l != NULL; l = l->next) {
    const gchar *name = gst_plugin_feature_get_name (l->data);
    gboolean has_row = FALSE;
    for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
      has_row = has_row || g_str_equal (rows[i].element, name);
    if (!has_row)
      g_error ("%s has no row", name);
  }
  gst_plugin_feature_list_free (all);
}

int
main (int argc, char **argv)
{
  static const struct {
    const gchar *name;
    GTestDataFunc run;
  } scenarios[] = {
#define SCENARIO(name) { #name, name }
    SCENARIO (seeks_in_any_state_find_the_stream_alive),
    SCENARIO (every_frame_leaves_before_the_end_of_the_stream),
    SCENARIO (new_caps_find_the_stream_alive),
    SCENARIO (pads_are_linked_again_while_frames_flow),
    SCENARIO (models_change_between_seeks_and_states),
    SCENARIO (states_up_and_down_leave_no_descriptor_and_a_stream_that_runs),
  };
  gint status;
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  make_picture_model ();
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint k = 0; k < G_N_ELEMENTS (scenarios); k++) {
      g_autofree gchar *path =
          g_strdup_printf ("/scenarios/%s/%u-%s", scenarios[k].name, i, rows[i].element);
      g_test_add_data_func (path, GUINT_TO_POINTER (i), scenarios[k].run);
    }
  g_test_add_func ("/scenarios/sixteen_streams_run_in_one_process",
                   sixteen_streams_run_in_one_process);
  g_test_add_func ("/scenarios/every_element_of_the_plugin_is_in_a_scenario",
                   every_element_of_the_plugin_is_in_a_scenario);
  status = g_test_run ();
  remove_picture_model ();
  return status;
}
