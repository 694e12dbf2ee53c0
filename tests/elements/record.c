/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nnrecord: a stream of records, in what downstream takes. */
#include "axontest.h"

#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>

static GstHarness *
harness_new (const gchar *caps)
{
  g_autofree gchar *launch = g_strdup_printf ("nnrecord ! capsfilter caps=%s", caps);
  GstHarness *h = gst_harness_new_parse (launch);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=320,height=240,framerate=30/1");
  return h;
}

static void
push (GstHarness *h, gboolean has_results)
{
  GstBuffer *in = gst_harness_create_buffer (h, 320 * 240);
  GST_BUFFER_PTS (in) = GST_SECOND;
  if (has_results) {
    GstNnObject *o =
        gst_nn_result_meta_add_object (gst_buffer_add_nn_result_meta (in, 320, 240), 0);
    gst_nn_object_set_box (o, 40, 60, 80, 100);
    gst_nn_object_set_class (o, 2, "cup", 0.75);
  }
  g_assert_cmpint (gst_harness_push (h, in), ==, GST_FLOW_OK);
}

static void
assert_record (const gchar *wanted, const gchar *media_type, const gchar *begins)
{
  GstHarness *h = harness_new (wanted);
  g_autoptr (GstCaps) caps = NULL;
  GstBuffer *out;
  GstMapInfo map;
  push (h, TRUE);
  out = gst_harness_pull (h);
  caps = gst_pad_get_current_caps (h->sinkpad);
  g_assert_true (gst_structure_has_name (gst_caps_get_structure (caps, 0), media_type));
  g_assert_cmpuint (GST_BUFFER_PTS (out), ==, GST_SECOND);
  g_assert_true (gst_buffer_map (out, &map, GST_MAP_READ));
  if (!g_str_has_prefix ((const gchar *)map.data, begins) ||
      g_strstr_len ((const gchar *)map.data, (gssize)map.size, "cup") == NULL)
    g_error ("%.*s", (int)map.size, map.data);
  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

static void
records_are_what_downstream_takes (void)
{
  assert_record ("application/x-onvif-metadata,parsed=true", "application/x-onvif-metadata",
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?><tt:MetadataStream");
  assert_record ("application/json", "application/json", "{\"objects\":[{\"detection\":");
}

static void
a_frame_of_which_nothing_was_said_is_a_gap (void)
{
  GstHarness *h = harness_new ("application/json");
  GstEvent *event;
  GstClockTime time = 0;
  push (h, FALSE);
  g_assert_cmpuint (gst_harness_buffers_in_queue (h), ==, 0);
  while ((event = gst_harness_pull_event (h)) != NULL && GST_EVENT_TYPE (event) != GST_EVENT_GAP)
    gst_event_unref (event);
  g_assert_nonnull (event);
  gst_event_parse_gap (event, &time, NULL);
  g_assert_cmpuint (time, ==, GST_SECOND);
  gst_event_unref (event);
  gst_harness_teardown (h);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/records_are_what_downstream_takes", records_are_what_downstream_takes);
  g_test_add_func ("/record/a_frame_of_which_nothing_was_said_is_a_gap",
                   a_frame_of_which_nothing_was_said_is_a_gap);
  return g_test_run ();
}
