/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An application: builds a pipeline and reads what was detected from the buffers.
 * usage: detect MODEL.onnx [DEVICE] */
#include <gst/gst.h>
#include <gst/nn/nn.h>

static guint n_frames, n_detections;

/* Called in the streaming thread for every frame that leaves nndecode. */
static GstPadProbeReturn
on_frame (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstNnResultMeta *result = gst_buffer_get_nn_result_meta (GST_PAD_PROBE_INFO_BUFFER (info));
  (void)pad;
  (void)user_data;
  n_frames++;
  for (guint i = 0; result != NULL && i < gst_nn_result_meta_get_n_objects (result); i++) {
    const GstNnObject *o = gst_nn_result_meta_get_object (result, i);
    const gchar *label = gst_nn_object_get_label (o);
    gdouble x, y, width, height;
    gst_nn_object_get_box (o, &x, &y, &width, &height);
    g_print ("frame %u: %s %.2f at %.0f,%.0f size %.0fx%.0f\n", n_frames, label ? label : "object",
             gst_nn_object_get_score (o), x, y, width, height);
    n_detections++;
  }
  return GST_PAD_PROBE_OK;
}

int
main (int argc, char **argv)
{
  g_autoptr (GstElement) pipeline = NULL;
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GstPad) pad = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree gchar *launch = NULL;
  gst_init (&argc, &argv);
  if (argc < 2)
    return g_printerr ("usage: %s MODEL.onnx [DEVICE]\n", argv[0]), 1;
  launch = g_strdup_printf ("videotestsrc pattern=ball num-buffers=30 ! "
                            "video/x-raw,width=320,height=240 ! "
                            "nninfer model=%s device=%s ! nndecode ! fakesink name=sink",
                            argv[1], argc > 2 ? argv[2] : "CPU");
  pipeline = gst_parse_launch (launch, &error);
  if (pipeline == NULL)
    return g_printerr ("%s\n", error->message), 1;
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, NULL, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  bus = gst_element_get_bus (pipeline);
  message =
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    g_printerr ("%s\n", error->message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_print ("%u detections in %u frames\n", n_detections, n_frames);
  return error == NULL ? 0 : 1;
}
