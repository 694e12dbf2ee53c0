/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An application with the elements linked in registers those that it wants, without the plugin. */
#include "axontest.h"

#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE (nninfer);
GST_ELEMENT_REGISTER_DECLARE (nndecode);

static void
an_element_is_registered_alone (void)
{
  g_assert_null (gst_element_factory_find ("nninfer"));
  g_assert_true (GST_ELEMENT_REGISTER (nninfer, NULL));
  g_assert_true (GST_ELEMENT_REGISTER (nndecode, NULL));
  g_assert_null (gst_element_factory_find ("nnoverlay"));
}

static void
it_runs (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *launch = g_strdup_printf (
      "videotestsrc num-buffers=3 ! nninfer model=%s device=MOCK ! nndecode ! fakesink", model);
  GstElement *pipeline = gst_parse_launch (launch, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/static/an_element_is_registered_alone", an_element_is_registered_alone);
  g_test_add_func ("/static/it_runs", it_runs);
  return g_test_run ();
}
