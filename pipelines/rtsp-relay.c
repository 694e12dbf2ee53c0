/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RTSP in, RTSP out: `rtsp-relay [OPTION...] rtsp://CAMERA/...` finds faces in what a camera sends,
 * and serves rtsp://localhost:8554/faces with their boxes; records go to standard output. A camera
 * that is gone is asked for again and again, less and less often; whoever watches stays connected
 * meanwhile. */
#include <glib-unix.h>
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/rtsp-server/rtsp-server.h>

#define FIRST_WAIT 250 /* milliseconds */
#define LONGEST_WAIT 10000

static const gchar camera[] =
    "rtspsrc name=camera protocols=tcp tcp-timeout=5000000 latency=100 "
    "capsfilter name=video caps=application/x-rtp,media=video ! decodebin name=decoder "
    "videoconvert name=frames ! nninfer name=model ! nndecode threshold=0.7 ! "
    "nnpublish min-interval=1000000000 ! nnoverlay ! videoconvert ! jpegenc ! "
    "appsink name=out max-buffers=2 drop=true sync=false emit-signals=true";
static const gchar watcher[] = "( appsrc name=in is-live=true do-timestamp=true format=time "
                               "max-buffers=2 leaky-type=downstream ! "
                               "rtpjpegpay name=pay0 )";

typedef struct {
  GMainLoop *loop;
  GstElement *pipeline;
  guint wait;     /* main loop's thread */
  gint connected; /* atomic */
  GMutex lock;
  GstElement *in; /* lock; while somebody watches */
} Relay;

static gchar *data, *port;

static const GOptionEntry entries[] = {
  { "data", 0, 0, G_OPTION_ARG_FILENAME, &data, "Where models are", "FOLDER" },
  { "port", 0, 0, G_OPTION_ARG_STRING, &port, "Where to serve (8554)", "PORT" },
  { NULL },
};

/* With the lock held. Only what plays has a base time: a frame stamped without it would be shown
 * when the machine has been up for as long again, and those behind it with it. */
static gboolean
is_watched (Relay *r)
{
  GstState state = GST_STATE_NULL;
  if (r->in != NULL)
    gst_element_get_state (r->in, &state, NULL, 0);
  return state == GST_STATE_PLAYING;
}

static GstFlowReturn
on_sample (GstAppSink *sink, gpointer user)
{
  Relay *r = user;
  g_autoptr (GstSample) sample = gst_app_sink_pull_sample (sink);
  if (sample == NULL)
    return GST_FLOW_EOS;
  if (g_atomic_int_compare_and_exchange (&r->connected, FALSE, TRUE))
    g_printerr ("camera: connected\n");
  g_mutex_lock (&r->lock);
  if (is_watched (r)) { /* its times are the watcher's: the camera's begin anew each time */
    g_autoptr (GstBuffer) frame = gst_buffer_copy (gst_sample_get_buffer (sample));
    g_autoptr (GstSample) next = NULL;
    GST_BUFFER_PTS (frame) = GST_BUFFER_DTS (frame) = GST_CLOCK_TIME_NONE;
    next = gst_sample_new (frame, gst_sample_get_caps (sample), NULL, NULL);
    gst_app_src_push_sample (GST_APP_SRC (r->in), next);
  }
  g_mutex_unlock (&r->lock);
  return GST_FLOW_OK;
}

static void
on_unprepared (G_GNUC_UNUSED GstRTSPMedia *media, gpointer user)
{
  Relay *r = user;
  g_mutex_lock (&r->lock);
  gst_clear_object (&r->in);
  g_mutex_unlock (&r->lock);
}

static void
on_media (G_GNUC_UNUSED GstRTSPMediaFactory *factory, GstRTSPMedia *media, gpointer user)
{
  Relay *r = user;
  g_autoptr (GstElement) element = gst_rtsp_media_get_element (media);
  g_mutex_lock (&r->lock);
  gst_clear_object (&r->in);
  r->in = gst_bin_get_by_name (GST_BIN (element), "in");
  g_mutex_unlock (&r->lock);
  g_signal_connect (media, "unprepared", G_CALLBACK (on_unprepared), r);
}

static gboolean
connect_again (gpointer user)
{
  gst_element_set_state (((Relay *)user)->pipeline, GST_STATE_PLAYING);
  return G_SOURCE_REMOVE;
}

/* What failed stays down for a while, longer each time that nothing came. */
static void
disconnect (Relay *r, const gchar *why)
{
  gst_element_set_state (r->pipeline, GST_STATE_NULL);
  r->wait = g_atomic_int_get (&r->connected) ? FIRST_WAIT : MIN (2 * r->wait, LONGEST_WAIT);
  g_atomic_int_set (&r->connected, FALSE);
  g_printerr ("camera: %s; again in %.2f s\n", why, r->wait / 1000.0);
  g_timeout_add (r->wait, connect_again, r);
}

static gboolean
on_message (G_GNUC_UNUSED GstBus *bus, GstMessage *message, gpointer user)
{
  g_autoptr (GError) error = NULL;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS) {
    disconnect (user, "ended");
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    gst_bus_set_flushing (bus, TRUE); /* one error is told by several elements */
    gst_bus_set_flushing (bus, FALSE);
    disconnect (user, error->message);
  }
  return G_SOURCE_CONTINUE;
}

static gboolean
on_signal (gpointer user)
{
  g_main_loop_quit (((Relay *)user)->loop);
  return G_SOURCE_CONTINUE;
}

static GstRTSPServer *
serve (Relay *r)
{
  GstRTSPServer *server = gst_rtsp_server_new ();
  g_autoptr (GstRTSPMountPoints) mounts = gst_rtsp_server_get_mount_points (server);
  GstRTSPMediaFactory *factory = gst_rtsp_media_factory_new ();
  gst_rtsp_media_factory_set_launch (factory, watcher);
  gst_rtsp_media_factory_set_shared (factory, TRUE);
  g_signal_connect (factory, "media-configure", G_CALLBACK (on_media), r);
  gst_rtsp_mount_points_add_factory (mounts, "/faces", factory);
  gst_rtsp_server_set_service (server, port ? port : "8554");
  if (gst_rtsp_server_attach (server, NULL) == 0)
    g_clear_object (&server);
  return server;
}

/* Pads come anew with each connection; what is no video does not fit. */
static void
on_pad (G_GNUC_UNUSED GstElement *element, GstPad *pad, gpointer next)
{
  g_autoptr (GstPad) sink = gst_element_get_static_pad (next, "sink");
  if (!gst_pad_is_linked (sink))
    gst_pad_link (pad, sink);
}

static void
link_pads (GstElement *pipeline, const gchar *from, const gchar *to)
{
  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (pipeline), from);
  g_autoptr (GstElement) next = gst_bin_get_by_name (GST_BIN (pipeline), to);
  g_signal_connect (element, "pad-added", G_CALLBACK (on_pad), next);
}

static gboolean
open_camera (Relay *r, const gchar *location, GError **error)
{
  g_autofree gchar *path = g_build_filename (data, "models/ultraface-rfb-320/model.onnx", NULL);
  g_autoptr (GstElement) source = NULL, model = NULL, out = NULL;
  g_autoptr (GstBus) bus = NULL;
  r->pipeline = gst_parse_launch (camera, error);
  if (r->pipeline == NULL)
    return FALSE;
  source = gst_bin_get_by_name (GST_BIN (r->pipeline), "camera");
  model = gst_bin_get_by_name (GST_BIN (r->pipeline), "model");
  out = gst_bin_get_by_name (GST_BIN (r->pipeline), "out");
  g_object_set (source, "location", location, NULL);
  g_object_set (model, "model", path, NULL);
  link_pads (r->pipeline, "camera", "video");
  link_pads (r->pipeline, "decoder", "frames");
  g_signal_connect (out, "new-sample", G_CALLBACK (on_sample), r);
  bus = gst_element_get_bus (r->pipeline);
  gst_bus_add_watch (bus, on_message, r);
  return TRUE;
}

static void
run (Relay *r)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (r->pipeline);
  r->loop = g_main_loop_new (NULL, FALSE);
  r->wait = FIRST_WAIT / 2;
  g_mutex_init (&r->lock);
  g_unix_signal_add (SIGINT, on_signal, r);
  g_unix_signal_add (SIGTERM, on_signal, r);
  connect_again (r);
  g_main_loop_run (r->loop);
  gst_bus_remove_watch (bus);
  gst_element_set_state (r->pipeline, GST_STATE_NULL);
  g_main_loop_unref (r->loop);
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("rtsp://CAMERA/...");
  g_autoptr (GError) error = NULL;
  g_autoptr (GstRTSPServer) server = NULL;
  Relay r = { NULL };
  data = g_strdup (g_getenv ("AXON_DATA") ? g_getenv ("AXON_DATA") : g_getenv ("AXON_TEST_DATA"));
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, &argc, &argv, &error) || argc != 2 || data == NULL) {
    g_printerr ("%s\n", error ? error->message : "expected the camera's address, and AXON_DATA");
    return 2;
  }
  if (!open_camera (&r, argv[1], &error)) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  server = serve (&r);
  if (server == NULL)
    g_printerr ("port %s is taken: --port=PORT\n", port ? port : "8554");
  else
    run (&r);
  gst_object_unref (r.pipeline);
  return server ? 0 : 1;
}
