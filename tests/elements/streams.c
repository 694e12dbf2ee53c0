/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Many pipelines with one model on a real device: they come and go in any order, and one that is
 * paused, blocked, failed or slow delays nobody. Nothing is asserted of time: what does not move
 * waits until the others are done. */
#include "axontest.h"

#include <gst/gst.h>
#include <gst/nn/nn.h>
#include <glib/gstdio.h>

#define N_FRAMES 20

typedef enum {
  WHOLE,   /* plays to its end */
  STOPPED, /* is taken down while it plays */
  PAUSED,  /* stays paused */
  BLOCKED, /* its sink takes one frame, and no second one until the others are done */
  FAILED,  /* its sink refuses frames */
  SLOW,    /* its sink takes longer than the model */
  N_FATES
} Fate;

/* Opens once, for all who wait. */
typedef struct {
  GMutex lock;
  GCond changed;
  gboolean is_open; /* lock */
} Gate;

typedef struct {
  const gchar *model, *device;
  Gate *gate;
  Fate fate;
  guint32 seed;
  guint n_results; /* frames that reached the sink with outputs of the model */
} Stream;

static void
gate_open (Gate *gate)
{
  g_mutex_lock (&gate->lock);
  gate->is_open = TRUE;
  g_cond_broadcast (&gate->changed);
  g_mutex_unlock (&gate->lock);
}

static void
gate_wait (Gate *gate)
{
  g_mutex_lock (&gate->lock);
  while (!gate->is_open)
    g_cond_wait (&gate->changed, &gate->lock);
  g_mutex_unlock (&gate->lock);
}

static GstPadProbeReturn
at_sink (G_GNUC_UNUSED GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Stream *s = user_data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  guint n = s->n_results++;
  g_assert_nonnull (gst_buffer_get_nn_tensor_meta (buffer));
  if (s->fate == SLOW)
    g_usleep (5000);
  if (s->fate == BLOCKED && n > 0)
    gate_wait (s->gate);
  if (s->fate != FAILED)
    return GST_PAD_PROBE_OK;
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_ERROR;
  gst_clear_buffer ((GstBuffer **)&info->data);
  return GST_PAD_PROBE_HANDLED;
}

static GstElement *
pipeline_new (Stream *s)
{
  g_autofree gchar *launch = g_strdup_printf (
      "videotestsrc num-buffers=%d ! video/x-raw,format=RGB,width=64,height=48 ! "
      "nninfer model=%s device=\"%s\" model-instance-id=streams ! fakesink name=sink sync=false",
      N_FRAMES, s->model, s->device);
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (launch, &error);
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GstPad) pad = NULL;
  g_assert_no_error (error);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, at_sink, s, NULL);
  return pipeline;
}

/* Errors are expected of those who fail only. */
static void
wait_for_end (Stream *s, GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstMessage *message =
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==,
                   s->fate == FAILED ? GST_MESSAGE_ERROR : GST_MESSAGE_EOS);
  gst_message_unref (message);
}

static gpointer
play (gpointer data)
{
  Stream *s = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (s->seed);
  GstElement *pipeline = pipeline_new (s);
  g_usleep ((gulong)g_rand_int_range (rand, 0, 20000)); /* comes in any order */
  gst_element_set_state (pipeline, s->fate == PAUSED ? GST_STATE_PAUSED : GST_STATE_PLAYING);
  if (s->fate == STOPPED)
    g_usleep ((gulong)g_rand_int_range (rand, 0, 20000));
  else if (s->fate == PAUSED)
    gate_wait (s->gate);
  else
    wait_for_end (s, pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return NULL;
}

static gboolean
is_stuck (const Stream *s)
{
  return s->fate == PAUSED || s->fate == BLOCKED;
}

/* Those that do not move come first, as the worst case; the gate opens when all others are done. */
static void
play_all (const gchar *model, const gchar *device, guint n)
{
  Gate gate = { 0 };
  g_autofree Stream *streams = g_new0 (Stream, n);
  g_autofree GThread **threads = g_new (GThread *, n);
  g_mutex_init (&gate.lock);
  g_cond_init (&gate.changed);
  for (guint i = 0; i < n; i++) {
    Fate fate = n == 4 ? (Fate[]){ PAUSED, BLOCKED, WHOLE, SLOW }[i] : (Fate)(i % N_FATES);
    streams[i] = (Stream){ model, device, &gate, fate, 1000 * n + i, 0 };
    threads[i] = g_thread_new ("stream", play, &streams[i]);
  }
  for (guint i = 0; i < n; i++)
    if (!is_stuck (&streams[i]))
      g_thread_join (threads[i]);
  gate_open (&gate);
  for (guint i = 0; i < n; i++) {
    if (is_stuck (&streams[i]))
      g_thread_join (threads[i]);
    if (streams[i].fate == WHOLE || streams[i].fate == SLOW || streams[i].fate == BLOCKED)
      g_assert_cmpuint (streams[i].n_results, ==, N_FRAMES);
  }
  g_mutex_clear (&gate.lock);
  g_cond_clear (&gate.changed);
}

static void
streams_that_do_not_move_delay_nobody (gconstpointer device)
{
  g_autofree gchar *model = test_ball_model ();
  play_all (model, device, 4);
  play_all (model, device, 16);
}

int
main (int argc, char **argv)
{
  static const gchar *const devices[] = { "CPU", "BATCH:CPU(4)" };
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (devices); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/streams/%s/streams_that_do_not_move_delay_nobody", devices[i]);
    g_test_add_data_func (path, devices[i], streams_that_do_not_move_delay_nobody);
  }
  return g_test_run ();
}
