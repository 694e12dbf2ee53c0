/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pipelines with nninfer on device REMOTE: results on frames, and what a stream does when its
 * server goes. */
#include "remotesupport.h"
#include "teststream.h"

#include <glib/gstdio.h>
#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>
#include <string.h>

#define BINARY "\"binary_tensor_data\""
#define CAPS "video/x-raw,format=RGB,width=320,height=240,framerate=30/1"
#define SOURCE "videotestsrc pattern=ball ! capsfilter caps=" CAPS

/* The ball's model on a server, which the core of this process knows as device REMOTE.@index. */
typedef struct {
  InferenceServerOptions options;
  AxonModel *model;
  InferenceServer *server;
} Place;

static void
start (Place *p)
{
  p->server = inference_server_new (p->model, &p->options);
  p->options.port = inference_server_port (p->server);
}

static void
stop (Place *p)
{
  g_clear_pointer (&p->server, inference_server_free);
}

static void
set_property (const gchar *device, const gchar *key, const gchar *value)
{
  g_autoptr (GError) error = NULL;
  axon_core_set_property (axon_core_get_default (), device, key, g_variant_new_string (value),
                          &error);
  g_assert_no_error (error);
}

static Place
place_new (AxonModel *model, guint index)
{
  Place p = { .options = { .extensions = BINARY }, .model = g_object_ref (model) };
  g_autofree gchar *device = g_strdup_printf ("REMOTE.%u", index);
  g_autofree gchar *url = NULL;
  start (&p);
  url = inference_server_url (p.server);
  set_property (device, "URL", url);
  set_property (device, "REMOTE_MODEL", "m");
  set_property (device, "RETRIES", "0");
  set_property (device, "TIMEOUT", "120000"); /* a busy machine is no server that hangs */
  return p;
}

static void
place_clear (Place *p)
{
  stop (p);
  g_object_unref (p->model);
}

static AxonModel *
read_model (const gchar *path)
{
  g_autoptr (GError) error = NULL;
  AxonModel *model = axon_core_read_model (axon_core_get_default (), path, NULL, &error);
  g_assert_no_error (error);
  return model;
}

static AxonModel *
read_ball_model (void)
{
  g_autofree gchar *path = test_ball_model ();
  return read_model (path);
}

/* A harness of @launch, where %s is the ball's model; its messages come to @bus. */
static GstHarness *
stream_new (const gchar *properties, const gchar *rest, GstBus *bus)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *launch = g_strdup_printf (
      "nninfer model=%s nireq=2 %s ! nndecode hold-time=0 %s", model, properties, rest);
  GstHarness *h = gst_harness_new_parse (launch);
  gst_harness_set_live (h, FALSE);
  gst_harness_add_src_parse (h, SOURCE, FALSE);
  gst_element_set_bus (h->element, bus);
  return h;
}

/* The next frame's first object; FALSE: there is none. */
static gboolean
next_box (GstHarness *h, gdouble *box)
{
  GstBuffer *buffer;
  GstNnResultMeta *meta;
  gboolean found;
  g_assert_cmpint (gst_harness_push_from_src (h), ==, GST_FLOW_OK);
  buffer = gst_harness_pull (h);
  g_assert_nonnull (buffer);
  meta = gst_buffer_get_nn_result_meta (buffer);
  found = meta != NULL && gst_nn_result_meta_get_n_objects (meta) > 0;
  if (found)
    gst_nn_object_get_box (gst_nn_result_meta_get_object (meta, 0), &box[0], &box[1], &box[2],
                           &box[3]);
  gst_buffer_unref (buffer);
  return found;
}

static gboolean
next_has_result (GstHarness *h)
{
  gdouble box[4];
  return next_box (h, box);
}

static void
results_of_a_server_are_those_of_the_model_here (void)
{
  g_autoptr (AxonModel) model = read_ball_model ();
  g_autoptr (GstBus) bus = gst_bus_new ();
  Place p = place_new (model, 0);
  GstHarness *there = stream_new ("device=REMOTE.0", "", bus);
  GstHarness *here = stream_new ("device=CPU", "", bus);
  guint n = 0;
  for (guint i = 0; i < 10; i++) {
    gdouble a[4], b[4];
    gboolean found = next_box (there, a);
    g_assert_true (next_box (here, b) == found);
    n += found;
    for (guint k = 0; found && k < G_N_ELEMENTS (a); k++)
      g_assert_cmpfloat_with_epsilon (a[k], b[k], 0.5);
  }
  g_assert_cmpuint (n, >, 5);
  g_assert_cmpuint (inference_server_get_n_inferences (p.server), ==, 10);
  stream_end (there);
  stream_end (here);
  place_clear (&p);
}

static void
a_stream_whose_server_dies_goes_on_on_the_processor_and_returns (void)
{
  g_autoptr (AxonModel) model = read_ball_model ();
  g_autoptr (GstBus) bus = gst_bus_new ();
  Place p = place_new (model, 0);
  GstHarness *h = stream_new ("device=AUTO:REMOTE.0,CPU", "", bus);
  for (guint i = 0; i < 5; i++)
    next_has_result (h);
  stop (&p);
  for (guint i = 0; i < 30; i++)
    next_has_result (h);
  start (&p);
  while (inference_server_get_n_inferences (p.server) == 0)
    next_has_result (h);
  g_assert_cmpuint (count (h, "inferred"), ==, count (h, "frames"));
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR));
  stream_end (h);
  place_clear (&p);
}

static void
a_stream_whose_server_dies_stops_with_an_error_that_names_it (void)
{
  g_autoptr (AxonModel) model = read_ball_model ();
  g_autoptr (GstBus) bus = gst_bus_new ();
  Place p = place_new (model, 0);
  g_autofree gchar *url = inference_server_url (p.server);
  GstHarness *h = stream_new ("device=REMOTE.0", "", bus);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;
  next_has_result (h);
  stop (&p);
  while (gst_harness_push_from_src (h) == GST_FLOW_OK)
    g_usleep (1000);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  gst_message_parse_error (message, &error, NULL);
  g_assert_nonnull (strstr (error->message, url));
  stream_end (h);
  place_clear (&p);
}

static void
a_stream_that_allows_errors_passes_frames_until_its_server_is_back (void)
{
  g_autoptr (AxonModel) model = read_ball_model ();
  g_autoptr (GstBus) bus = gst_bus_new ();
  Place p = place_new (model, 0);
  GstHarness *h = stream_new ("device=REMOTE.0 max-errors=1000000", "", bus);
  guint n_frames = 0;
  for (guint round = 0; round < 2; round++) {
    guint64 inferred = count (h, "inferred"), failed;
    while (count (h, "inferred") < inferred + 5) {
      next_has_result (h);
      n_frames++;
      g_usleep (1000);
    }
    stop (&p);
    failed = count (h, "failed");
    while (count (h, "failed") < failed + 10) {
      g_assert_false (next_has_result (h));
      n_frames++;
    }
    start (&p);
  }
  g_assert_cmpuint (count (h, "inferred") + count (h, "failed"), ==, n_frames);
  for (guint round = 0; round < 2; round++)
    gst_message_unref (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR));
  stream_end (h);
  place_clear (&p);
}

static void
frames_of_a_camera_do_not_wait_for_a_server_that_hangs (void)
{
  g_autoptr (AxonModel) model = read_ball_model ();
  g_autoptr (GstBus) bus = gst_bus_new ();
  Place p = place_new (model, 0);
  GstHarness *h = stream_new ("device=REMOTE.0 drop-policy=newest", "", bus);
  inference_server_set_mischief (p.server, HANG);
  for (guint i = 0; i < 20; i++)
    g_assert_false (next_has_result (h));
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR));
  stream_end (h);
  place_clear (&p);
}

static void
no_frame_is_lost_while_a_member_of_a_cluster_dies (void)
{
  g_autoptr (AxonModel) model = read_ball_model ();
  g_autoptr (GstBus) bus = gst_bus_new ();
  Place a = place_new (model, 0), b = place_new (model, 1);
  GstHarness *h = stream_new ("device=MULTI:REMOTE.0,REMOTE.1", "", bus);
  guint n = 0;
  for (; inference_server_get_n_inferences (a.server) < 3; n++)
    next_has_result (h);
  stop (&a);
  for (guint i = 0; i < 30; i++, n++)
    next_has_result (h);
  start (&a);
  for (; inference_server_get_n_inferences (a.server) == 0; n++)
    next_has_result (h);
  g_assert_cmpuint (count (h, "inferred"), ==, n);
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR));
  stream_end (h);
  place_clear (&a);
  place_clear (&b);
}

/* A file with a model whose batch is free: the sum of each channel. */
static gchar *
write_sums_model (void)
{
  TestModel t = test_model_new (13);
  AxonShape in = AXON_SHAPE (-1, 3, 16, 16);
  AxonValue *x = test_model_input (&t, "picture", AXON_DTYPE_F32, &in);
  g_autoptr (AxonModel) model =
      test_model_finish (&t, test_model_node (&t, "GlobalAveragePool", 1, x)->outputs[0]);
  return test_model_write (model);
}

static void
frames_of_a_stream_travel_in_batches (void)
{
  g_autofree gchar *path = write_sums_model ();
  g_autoptr (AxonModel) model = read_model (path);
  g_autofree gchar *launch =
      g_strdup_printf ("nninfer model=%s nireq=4 device=BATCH:REMOTE.0(4)", path);
  Place p = place_new (model, 0);
  GstHarness *h = gst_harness_new_parse (launch);
  gst_harness_set_live (h, FALSE);
  gst_harness_add_src_parse (h, SOURCE, FALSE);
  for (guint i = 0; i < 16; i++)
    g_assert_cmpint (gst_harness_push_from_src (h), ==, GST_FLOW_OK);
  for (guint i = 0; i < 16; i++) {
    GstBuffer *buffer = gst_harness_pull (h);
    g_assert_nonnull (gst_buffer_get_nn_tensor_meta (buffer));
    gst_buffer_unref (buffer);
  }
  g_assert_cmpuint (inference_server_get_n_inferences (p.server), <, 16);
  gst_harness_teardown (h);
  place_clear (&p);
  g_unlink (path);
}

static void
a_cascade_runs_one_model_here_and_the_next_there (void)
{
  g_autofree gchar *path = write_sums_model ();
  g_autoptr (AxonModel) model = read_model (path);
  g_autofree gchar *second = g_strdup_printf (
      "! nninfer model=%s inference-region=roi-list device=REMOTE.0 ! nndecode decoder=embedding",
      path);
  g_autoptr (GstBus) bus = gst_bus_new ();
  Place p = place_new (model, 0);
  GstHarness *h = stream_new ("device=CPU", second, bus);
  guint n = 0;
  for (guint i = 0; i < 5; i++)
    n += next_has_result (h);
  g_assert_cmpuint (n, >, 0);
  g_assert_cmpuint (inference_server_get_n_inferences (p.server), ==, n);
  stream_end (h);
  place_clear (&p);
  g_unlink (path);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/stream/" #name, name)
  ADD (results_of_a_server_are_those_of_the_model_here);
  ADD (a_stream_whose_server_dies_goes_on_on_the_processor_and_returns);
  ADD (a_stream_whose_server_dies_stops_with_an_error_that_names_it);
  ADD (a_stream_that_allows_errors_passes_frames_until_its_server_is_back);
  ADD (frames_of_a_camera_do_not_wait_for_a_server_that_hangs);
  ADD (no_frame_is_lost_while_a_member_of_a_cluster_dies);
  ADD (frames_of_a_stream_travel_in_batches);
  ADD (a_cascade_runs_one_model_here_and_the_next_there);
  return g_test_run ();
}
