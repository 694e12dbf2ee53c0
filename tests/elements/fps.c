/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nnfps: its lines; how fast frames go here is nobody's business. */
#include "axontest.h"

#include <gst/check/gstharness.h>

#define LINE                                                                                       \
  "FpsCounter\\(%s [\\d.]+sec\\): total=[\\d.]+ fps, number-streams=%u, per-stream=[\\d.]+ "       \
  "fps%s\n"

static GString *printed;

static void
on_print (const gchar *text)
{
  g_string_append (printed, text);
}

static guint
count_lines (const gchar *what, guint n, const gchar *end)
{
  g_autofree gchar *pattern = g_strdup_printf (LINE, what, n, end);
  g_autoptr (GRegex) regex = g_regex_new (pattern, 0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  guint found = 0;
  g_regex_match (regex, printed->str, 0, &match);
  for (; g_match_info_matches (match); g_match_info_next (match, NULL))
    found++;
  return found;
}

static GstHarness *
stream_new (const gchar *properties)
{
  g_autofree gchar *launch = g_strconcat ("nnfps ", properties, NULL);
  GstHarness *h = gst_harness_new_parse (launch);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=4,height=4,framerate=30/1");
  return h;
}

static void
push (GstHarness *h, guint n)
{
  for (guint i = 0; i < n; i++)
    gst_buffer_unref (gst_harness_push_and_pull (h, gst_harness_create_buffer (h, 16)));
}

static void
one_stream_has_the_lines_of_gvafpscounter (void)
{
  GstHarness *h = stream_new ("interval=0 starting-frame=2");
  GPrintFunc before = g_set_print_handler (on_print);
  printed = g_string_new (NULL);
  push (h, 5); /* two do not count, the third begins */
  g_assert_cmpuint (count_lines ("last", 1, ""), ==, 3);
  g_assert_cmpuint (count_lines ("average", 1, ""), ==, 3);
  g_assert_cmpuint (count_lines ("overall", 1, ""), ==, 0);
  gst_harness_push_event (h, gst_event_new_eos ());
  g_assert_cmpuint (count_lines ("overall", 1, ""), ==, 1);
  gst_harness_teardown (h);
  g_assert_cmpuint (count_lines ("overall", 1, ""), ==, 1);
  g_set_print_handler (before);
  g_string_free (printed, TRUE);
}

/* It took no time that is known: of a stream, and of the next one after its end. */
static void
the_first_frame_only_begins_to_count (void)
{
  GstHarness *h = stream_new ("interval=0");
  GPrintFunc before = g_set_print_handler (on_print);
  for (guint i = 0; i < 2; i++) {
    printed = g_string_new (NULL);
    push (h, 1);
    g_assert_cmpuint (count_lines ("last", 1, ""), ==, 1);
    g_assert_nonnull (strstr (printed->str, "total=0.00 fps"));
    push (h, 2);
    gst_harness_push_event (h, gst_event_new_eos ());
    gst_harness_push_event (h, gst_event_new_flush_start ());
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
    gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=4,height=4,framerate=30/1");
    g_string_free (printed, TRUE);
  }
  printed = g_string_new (NULL);
  gst_harness_teardown (h);
  g_set_print_handler (before);
  g_string_free (printed, TRUE);
}

static void
two_streams_are_told_together_and_end_with_the_last (void)
{
  GstHarness *a = stream_new ("interval=0"), *b = stream_new ("interval=0");
  GPrintFunc before = g_set_print_handler (on_print);
  printed = g_string_new (NULL);
  push (a, 2);
  push (b, 2);
  g_assert_cmpuint (count_lines ("last", 2, " \\([\\d.]+, [\\d.]+\\)"), ==, 4);
  gst_harness_push_event (a, gst_event_new_eos ());
  g_assert_cmpuint (count_lines ("overall", 2, " \\([\\d.]+, [\\d.]+\\)"), ==, 0);
  gst_harness_teardown (b); /* without an end */
  g_assert_cmpuint (count_lines ("overall", 2, " \\([\\d.]+, [\\d.]+\\)"), ==, 1);
  gst_harness_teardown (a);
  g_set_print_handler (before);
  g_string_free (printed, TRUE);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fps/one_stream_has_the_lines_of_gvafpscounter",
                   one_stream_has_the_lines_of_gvafpscounter);
  g_test_add_func ("/fps/the_first_frame_only_begins_to_count",
                   the_first_frame_only_begins_to_count);
  g_test_add_func ("/fps/two_streams_are_told_together_and_end_with_the_last",
                   two_streams_are_told_together_and_end_with_the_last);
  return g_test_run ();
}
