/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nntrack does on single frames; how well it does it is in trackquality.c. */
#include "axontest.h"

#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>
#include <gst/video/video.h>
#include <math.h>

#define CAPS "video/x-raw,format=RGB,width=640,height=480,framerate=30/1"
#define FRAME (GST_SECOND / 30)

static GstHarness *
harness_new (const gchar *launch)
{
  GstHarness *h = gst_harness_new_parse (launch);
  gst_harness_set_src_caps_str (h, CAPS);
  return h;
}

static GstBuffer *
frame_new (guint i)
{
  GstBuffer *buffer = gst_buffer_new ();
  GST_BUFFER_PTS (buffer) = i * FRAME;
  return buffer;
}

/* Of model "m" and class 0, seen on this very frame. */
static GstNnObject *
add (GstBuffer *buffer, gdouble x, gdouble score)
{
  GstNnResultMeta *result = gst_buffer_add_nn_result_meta (buffer, 640, 480);
  GstNnObject *o = gst_nn_result_meta_add_object (result, 0);
  gst_nn_object_set_box (o, x, 100, 50, 100);
  gst_nn_object_set_class (o, 0, "person", score);
  gst_nn_object_set_origin (o, "m", GST_BUFFER_PTS (buffer));
  return o;
}

static GstBuffer *
push (GstHarness *h, GstBuffer *buffer)
{
  return gst_harness_push_and_pull (h, buffer);
}

static GstNnObject *
object_at (GstBuffer *buffer, guint index)
{
  GstNnResultMeta *result = gst_buffer_get_nn_result_meta (buffer);
  return result ? gst_nn_result_meta_get_object (result, index) : NULL;
}

/* The track of the only thing, at @x on frame @i. */
static guint64
track_of (GstHarness *h, guint i, gdouble x)
{
  GstBuffer *buffer = frame_new (i);
  guint64 id;
  add (buffer, x, 0.9);
  buffer = push (h, buffer);
  id = gst_nn_object_get_track_id (object_at (buffer, 0));
  gst_buffer_unref (buffer);
  return id;
}

static void
push_empty (GstHarness *h, guint i)
{
  GstBuffer *buffer = frame_new (i);
  gst_buffer_add_nn_result_meta (buffer, 640, 480); /* the model looked and saw nothing */
  gst_buffer_unref (push (h, buffer));
}

static guint64
stat (GstHarness *h, const gchar *name)
{
  GstStructure *stats;
  guint64 value = 0;
  gst_harness_get (h, "nntrack", "stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint64 (stats, name, &value));
  gst_structure_free (stats);
  return value;
}

static void
a_thing_keeps_its_number_and_grows_old (void)
{
  GstHarness *h = harness_new ("nntrack");
  for (guint i = 0; i < 10; i++) {
    GstBuffer *buffer = frame_new (i);
    add (buffer, 100 + 5 * i, 0.9);
    buffer = push (h, buffer);
    g_assert_cmpuint (gst_nn_object_get_track_id (object_at (buffer, 0)), ==, 1);
    g_assert_cmpuint (gst_nn_object_get_track_age (object_at (buffer, 0)), ==, i);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

static void
what_comes_later_has_a_number_when_it_is_seen_again (void)
{
  GstHarness *h = harness_new ("nntrack");
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = frame_new (i);
    add (buffer, 100, 0.9);
    if (i > 0)
      add (buffer, 400, 0.9);
    buffer = push (h, buffer);
    g_assert_cmpuint (gst_nn_object_get_track_id (object_at (buffer, 0)), ==, 1);
    if (i > 0)
      g_assert_cmpuint (gst_nn_object_get_track_id (object_at (buffer, 1)), ==, i == 1 ? 0 : 2);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

static void
numbers_are_held_through_misses_and_released_by_time (void)
{
  GstHarness *h = harness_new ("nntrack lost-time=500000000");
  g_assert_cmpuint (track_of (h, 0, 100), ==, 1);
  for (guint i = 1; i <= 14; i++)
    push_empty (h, i);
  g_assert_cmpuint (track_of (h, 15, 100), ==, 1);
  g_assert_cmpuint (stat (h, "found-again"), ==, 1);
  for (guint i = 16; i <= 31; i++)
    push_empty (h, i);
  g_assert_cmpuint (track_of (h, 32, 100), ==, 0);
  g_assert_cmpuint (track_of (h, 33, 100), ==, 2);
  g_assert_cmpuint (stat (h, "tracks"), ==, 2);
  gst_harness_teardown (h);
}

static void
weak_objects_continue_tracks_and_begin_none (void)
{
  GstHarness *h = harness_new ("nntrack");
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = frame_new (i);
    add (buffer, 100, i == 0 ? 0.9 : 0.2);
    add (buffer, 400, 0.2);
    buffer = push (h, buffer);
    g_assert_cmpuint (gst_nn_object_get_track_id (object_at (buffer, 0)), ==, 1);
    g_assert_cmpuint (gst_nn_object_get_track_id (object_at (buffer, 1)), ==, 0);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

/* Ten frames of a thing that goes right by 6 pixels a frame, the last at 154. */
static void
walk (GstHarness *h)
{
  for (guint i = 0; i < 10; i++)
    g_assert_cmpuint (track_of (h, i, 100 + 6 * i), ==, 1);
}

static void
check_moved (GstNnObject *o, gdouble expected, GstClockTime pts)
{
  gdouble x;
  g_assert_nonnull (o);
  g_assert_cmpuint (gst_nn_object_get_track_id (o), ==, 1);
  gst_nn_object_get_box (o, &x, NULL, NULL, NULL);
  g_assert_cmpfloat_with_epsilon (x, expected, 6);
  g_assert_cmpuint (gst_nn_object_get_pts (o), ==, pts);
}

static void
objects_move_on_frames_that_were_not_inferred (void)
{
  GstHarness *h = harness_new ("nntrack");
  GstBuffer *buffer;
  gdouble before, after, y, score;
  walk (h);
  buffer = frame_new (10);
  gst_nn_object_add_keypoint (add (buffer, 160, 0.9), 170, 110, 1);
  gst_buffer_unref (push (h, buffer));
  buffer = push (h, frame_new (15));
  check_moved (object_at (buffer, 0), 190, 10 * FRAME);
  gst_nn_object_get_box (object_at (buffer, 0), &before, NULL, NULL, NULL);
  g_assert_true (gst_nn_object_get_keypoint (object_at (buffer, 0), 0, &after, &y, &score));
  g_assert_cmpfloat_with_epsilon (after - before, 10, 1);
  g_assert_cmpuint (stat (h, "predicted"), ==, 1);
  gst_buffer_unref (buffer);
  buffer = push (h, frame_new (60)); /* after its lost-time nobody knows */
  g_assert_null (object_at (buffer, 0));
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

static void
results_that_are_shown_again_move_with_their_tracks (void)
{
  GstHarness *h = harness_new ("nntrack");
  GstBuffer *buffer = frame_new (14);
  walk (h);
  gst_nn_object_set_origin (add (buffer, 154, 0.9), "m", 9 * FRAME);
  buffer = push (h, buffer);
  check_moved (object_at (buffer, 0), 184, 9 * FRAME);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

/* Both of one class and size; the second is found by its place. */
static void
each_result_that_is_shown_again_has_its_own_number (void)
{
  GstHarness *h = harness_new ("nntrack predict=false");
  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = frame_new (i);
    gst_nn_object_set_origin (add (buffer, 400, 0.9), "m", 0);
    gst_nn_object_set_origin (add (buffer, 100, 0.8), "m", 0);
    buffer = push (h, buffer);
    g_assert_cmpuint (gst_nn_object_get_track_id (object_at (buffer, 0)), ==, 1);
    g_assert_cmpuint (gst_nn_object_get_track_id (object_at (buffer, 1)), ==, 2);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

static void
results_that_come_late_are_put_where_their_things_are_now (void)
{
  GstHarness *h = harness_new ("nntrack");
  GstBuffer *buffer = frame_new (14);
  walk (h);
  gst_nn_object_set_origin (add (buffer, 166, 0.9), "m", 11 * FRAME);
  buffer = push (h, buffer);
  check_moved (object_at (buffer, 0), 184, 11 * FRAME);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

static void
without_predict_objects_stay_where_they_were (void)
{
  GstHarness *h = harness_new ("nntrack predict=false");
  GstBuffer *buffer = frame_new (14);
  walk (h);
  gst_nn_object_set_origin (add (buffer, 154, 0.9), "m", 9 * FRAME);
  buffer = push (h, buffer);
  check_moved (object_at (buffer, 0), 154, 9 * FRAME);
  gst_buffer_unref (buffer);
  buffer = push (h, frame_new (15));
  g_assert_null (object_at (buffer, 0));
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

static void
regions_for_others_have_the_number_too (void)
{
  GstHarness *h = harness_new ("nntrack");
  GstBuffer *buffer;
  GstVideoRegionOfInterestMeta *roi;
  gint id = 0;
  walk (h);
  buffer = push (h, frame_new (12));
  roi = (GstVideoRegionOfInterestMeta *)gst_buffer_get_meta (
      buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  g_assert_nonnull (roi);
  g_assert_true (gst_structure_get_int (
      gst_video_region_of_interest_meta_get_param (roi, "object_id"), "id", &id));
  g_assert_cmpint (id, ==, 1);
  g_assert_cmpint (abs ((gint)roi->x - 172), <=, 6);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

static void
a_flush_ends_tracks_and_numbers_go_on (void)
{
  GstHarness *h = harness_new ("nntrack");
  GstSegment segment;
  walk (h);
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  g_assert_cmpuint (track_of (h, 0, 154), ==, 2);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  g_assert_cmpuint (track_of (h, 0, 154), ==, 3);
  gst_harness_teardown (h);
}

static void
a_track_keeps_its_class_unless_told_otherwise (void)
{
  for (guint aware = 0; aware < 2; aware++) {
    GstHarness *h = harness_new (aware ? "nntrack" : "nntrack class-aware=false");
    GstBuffer *buffer = frame_new (10);
    walk (h);
    gst_nn_object_set_class (add (buffer, 160, 0.9), 7, "truck", 0.9);
    buffer = push (h, buffer);
    g_assert_cmpuint (gst_nn_object_get_track_id (object_at (buffer, 0)), ==, aware ? 0 : 1);
    gst_buffer_unref (buffer);
    gst_harness_teardown (h);
  }
}

static void
one_model_says_nothing_of_another_models_objects (void)
{
  GstHarness *h = harness_new ("nntrack");
  for (guint i = 0; i < 20; i++) {
    GstBuffer *buffer = frame_new (i);
    add (buffer, 100, 0.9);
    gst_nn_object_set_origin (add (buffer, 100, 0.9), "other", i / 5 * 5 * FRAME);
    buffer = push (h, buffer);
    g_assert_cmpuint (gst_nn_object_get_track_id (object_at (buffer, 0)), ==, 1);
    g_assert_cmpuint (gst_nn_object_get_track_id (object_at (buffer, 1)), ==, 2);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

/* A thing walks behind another, stops there, and comes out late. */
static guint64
track_after_hiding (const gchar *launch)
{
  static const gfloat looks[] = { 0.6f, 0.8f, 0 };
  GstHarness *h = harness_new (launch);
  guint64 id = 0;
  for (guint i = 0; i < 40; i++) {
    GstBuffer *buffer = frame_new (i);
    gst_buffer_add_nn_result_meta (buffer, 640, 480);
    if (i < 10 || i >= 25)
      gst_nn_object_set_embedding (add (buffer, i < 10 ? 100 + 4 * i : 110, 0.9), looks, 3);
    buffer = push (h, buffer);
    if (object_at (buffer, 0) != NULL)
      id = gst_nn_object_get_track_id (object_at (buffer, 0));
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
  return id;
}

static void
looks_tell_who_comes_back (void)
{
  g_assert_cmpuint (track_after_hiding ("nntrack"), ==, 1);
  g_assert_cmpuint (track_after_hiding ("nntrack appearance-threshold=0"), ==, 2);
}

static void
odd_objects_do_no_harm (void)
{
  static const gfloat odd[] = { NAN, INFINITY };
  static const gdouble places[] = { NAN, INFINITY, -1e300, 1e300, 0 };
  GstHarness *h = harness_new ("nntrack");
  for (guint i = 0; i < 6; i++) {
    GstBuffer *buffer = frame_new (i % 4); /* time goes back, too */
    for (guint k = 0; k < 1500; k++) {
      GstNnObject *o = add (buffer, k % 7 < 5 ? places[k % 7] : k, 0.9);
      if (k % 3 == 0)
        gst_nn_object_set_box (o, 0, 0, places[k % 5], -1);
      gst_nn_object_set_embedding (o, odd, 1 + k % 2);
    }
    gst_buffer_unref (push (h, buffer));
    gst_buffer_unref (push (h, frame_new (i)));
  }
  gst_harness_teardown (h);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/track/" #name, name)
  ADD (a_thing_keeps_its_number_and_grows_old);
  ADD (what_comes_later_has_a_number_when_it_is_seen_again);
  ADD (numbers_are_held_through_misses_and_released_by_time);
  ADD (weak_objects_continue_tracks_and_begin_none);
  ADD (objects_move_on_frames_that_were_not_inferred);
  ADD (results_that_are_shown_again_move_with_their_tracks);
  ADD (each_result_that_is_shown_again_has_its_own_number);
  ADD (results_that_come_late_are_put_where_their_things_are_now);
  ADD (without_predict_objects_stay_where_they_were);
  ADD (regions_for_others_have_the_number_too);
  ADD (a_flush_ends_tracks_and_numbers_go_on);
  ADD (a_track_keeps_its_class_unless_told_otherwise);
  ADD (one_model_says_nothing_of_another_models_objects);
  ADD (looks_tell_who_comes_back);
  ADD (odd_objects_do_no_harm);
  return g_test_run ();
}
