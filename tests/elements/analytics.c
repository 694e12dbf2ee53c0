/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nnanalytics: what tracks do beside zones and lines, on ways that the tests make. */
#include "analytics.h"

#define LINE "{\"lines\":[{\"name\":\"door\",\"from\":[0.2,0.5],\"to\":[0.8,0.5]}]}"
#define ZONE(more)                                                                                 \
  "{\"zones\":[{\"name\":\"hall\",\"polygon\":[[0.2,0.2],[0.8,0.2],[0.8,0.8],[0.2,0.8]]" more "}]" \
  "}"

static void
a_track_over_a_line_is_counted_by_its_direction (void)
{
  Scene *s = scene_new (LINE);
  static const gdouble ways[][2] = { { 0.3, 0.7 }, { 0.7, 0.3 }, { 0.3, 0.45 }, { 0.3, 0.5 } };
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    for (gdouble part = 0; part < 1.01; part += 0.1)
      scene_step (s, i + 1, 0.5, ways[i][0] + part * (ways[i][1] - ways[i][0]));
  g_assert_cmpstr (s->events->str, ==, "cross door 1; cross door 2; ");
  scene_expect (s, "door", 1, 1);
  scene_free (s);
}

static void
who_passes_beyond_the_ends_of_a_line_does_not_cross_it (void)
{
  Scene *s = scene_new (LINE);
  for (gdouble y = 0.3; y < 0.7; y += 0.05)
    scene_step (s, 1, 0.1, y);
  scene_step (s, 1, 0.5, 0.7); /* on the other side by now */
  g_assert_cmpstr (s->events->str, ==, "");
  scene_free (s);
}

/* Each track goes over the line so many times; it stands on it for a while each time, where it
 * jitters by less than the margin, and misses frames. */
static void
tracks_that_jitter_on_a_line_are_counted_once_for_each_time (void)
{
  Scene *s = scene_new (LINE);
  g_autoptr (GRand) rand = g_rand_new_with_seed (19);
  guint64 forward = 0, back = 0;
  for (guint track = 1; track <= 60; track++) {
    gint side = g_rand_boolean (rand) ? 1 : -1;
    guint crossings = (guint)g_rand_int_range (rand, 0, 5);
    scene_step (s, track, 0.5, 0.5 + side * 0.1);
    for (guint i = 0; i <= crossings; i++) {
      for (guint j = 0; j < 12; j++)
        if (g_rand_int_range (rand, 0, 4) != 0)
          scene_step (s, track, g_rand_double_range (rand, 0.45, 0.55),
                      0.5 + g_rand_double_range (rand, -0.0099, 0.0099));
      if (i == crossings)
        break;
      side = -side;
      scene_step (s, track, 0.5, 0.5 + side * g_rand_double_range (rand, 0.02, 0.2));
      *(side > 0 ? &forward : &back) += 1;
    }
  }
  g_assert_cmpuint (forward + back, >, 60);
  scene_expect (s, "door", forward, back);
  scene_free (s);
}

/* Random walks; who is inside is known from where they are, but for the band of the margin. */
static void
tracks_that_jitter_on_the_edge_of_a_zone_enter_it_once (void)
{
  Scene *s = scene_new (ZONE (""));
  g_autoptr (GRand) rand = g_rand_new_with_seed (20);
  guint64 visits = 0;
  guint entered = 0, left = 0;
  for (guint track = 1; track <= 60; track++) {
    guint n = (guint)g_rand_int_range (rand, 0, 4);
    scene_step (s, track, 0.1, 0.5);
    for (guint i = 0; i < n; i++) {
      scene_step (s, track, g_rand_double_range (rand, 0.3, 0.7),
                  g_rand_double_range (rand, 0.3, 0.7));
      for (guint j = 0; j < 10; j++) /* the left edge; x in heights is 1.6 times as much */
        scene_step (s, track, 0.2 + g_rand_double_range (rand, -0.006, 0.006), 0.5);
      scene_step (s, track, 0.1, 0.5);
    }
    visits += n;
  }
  for (const gchar *p = s->events->str; (p = strstr (p, "enter hall")) != NULL; p++)
    entered++;
  for (const gchar *p = s->events->str; (p = strstr (p, "leave hall")) != NULL; p++)
    left++;
  g_assert_cmpuint (visits, >, 60);
  g_assert_cmpuint (entered, ==, visits);
  g_assert_cmpuint (left, ==, visits);
  scene_expect (s, "hall", 0, 0);
  scene_free (s);
}

static void
a_zone_tells_who_enters_stays_and_leaves_and_for_how_long (void)
{
  Scene *s = scene_new (ZONE (",\"dwell\":0.5"));
  const GstStructure *event;
  GstBuffer *out;
  gdouble seconds;
  gboolean lost = TRUE;
  for (guint i = 0; i < 10; i++) /* inside from the second frame to the last but one */
    scene_step (s, 7, i == 0 || i == 9 ? 0.1 : 0.5, 0.5);
  g_assert_cmpstr (s->events->str, ==, "enter hall 7; dwell hall 7; leave hall 7; ");
  scene_step (s, 8, 0.5, 0.5);
  for (guint i = 0; i < 11; i++) /* it was not seen for 1.1 seconds then */
    gst_buffer_unref (scene_push (s, scene_frame (s)));
  out = gst_harness_push_and_pull (s->h, scene_frame (s));
  g_assert_true (g_str_has_suffix (s->events->str, "enter hall 8; leave hall 8; "));
  gst_buffer_unref (out);
  for (guint i = 0; i < 2; i++)
    scene_step (s, 9, i == 1 ? 0.1 : 0.5, 0.5);
  out = scene_push (s, scene_frame (s));
  gst_buffer_unref (out);
  out = scene_frame (s);
  scene_add (out, 9, "person", 0.5, 0.5);
  out = scene_push (s, out);
  event = g_ptr_array_index (gst_buffer_get_nn_scene_meta (out)->events, 0);
  g_assert_cmpstr (gst_structure_get_string (event, "label"), ==, "person");
  gst_buffer_unref (out);
  out = scene_frame (s);
  scene_add (out, 9, "person", 0.1, 0.5);
  out = scene_push (s, out);
  event = g_ptr_array_index (gst_buffer_get_nn_scene_meta (out)->events, 0);
  g_assert_true (gst_structure_get_double (event, "seconds", &seconds));
  g_assert_true (gst_structure_get_boolean (event, "lost", &lost));
  g_assert_cmpfloat_with_epsilon (seconds, 0.1, 1e-9);
  g_assert_false (lost);
  gst_buffer_unref (out);
  scene_free (s);
}

static void
objects_in_a_zone_say_so_and_make_a_crowd (void)
{
  Scene *s = scene_new (ZONE (",\"crowd\":3,\"labels\":[\"person\"]"));
  for (guint i = 0; i < 20; i++) {
    GstBuffer *frame = scene_frame (s), *out;
    GstNnObject *inside = scene_add (frame, 0, "person", 0.5, 0.5);
    scene_add (frame, 0, "dog", 0.5, 0.6);
    scene_add (frame, 5, "person", 0.6, 0.5);
    if (i == 2 || i == 4) /* one frame without the third is no end */
      scene_add (frame, 0, "person", 0.4, 0.5);
    g_assert_null (gst_nn_object_find_attribute (inside, "zone"));
    out = scene_push (s, frame);
    inside = gst_nn_result_meta_get_object (gst_buffer_get_nn_result_meta (out), 0);
    g_assert_cmpstr (gst_nn_attribute_get_value (gst_nn_object_find_attribute (inside, "zone")), ==,
                     "hall");
    assert_shape (out, "hall", i == 2 || i == 4 ? 3 : 2, 0);
    gst_buffer_unref (out);
  }
  g_assert_cmpstr (s->events->str, ==, "enter hall 5; crowd hall 0; crowd-over hall 0; ");
  scene_free (s);
}

static void
the_heat_map_is_hottest_where_objects_were_most (void)
{
  Scene *s = scene_new ("{\"heat_map\":{\"columns\":4,\"rows\":2,\"half_life\":1}}");
  g_autoptr (GstNnMask) map = NULL;
  const guint8 *cells;
  gsize n;
  for (guint i = 0; i < 15; i++)
    scene_step (s, 0, 0.1, 0.4);
  for (guint i = 0; i < 16; i++) /* later, so hotter */
    scene_step (s, 0, 0.9, 0.9);
  g_object_get (s->element, "heat-map", &map, NULL);
  g_assert_nonnull (map);
  cells = g_bytes_get_data (gst_nn_mask_get_values (map), &n);
  g_assert_cmpuint (n, ==, 8);
  g_assert_cmpuint (cells[7], ==, 255);
  g_assert_cmpuint (cells[0], >, 0);
  g_assert_cmpuint (cells[0], <, 128);
  g_assert_cmpuint (cells[1], ==, 0);
  scene_free (s);
}

static void
settings_change_while_playing_and_what_is_counted_stays (void)
{
  Scene *s = scene_new (LINE);
  GstMessage *message;
  GstBuffer *out;
  scene_step (s, 1, 0.5, 0.4);
  scene_step (s, 1, 0.5, 0.6);
  g_object_set (s->element, "settings",
                "{\"zones\":[{\"name\":\"all\",\"polygon\":[[0,0],[1,0],[1,1],[0,1]]}],\"lines\":["
                "{\"name\":\"door\",\"from\":[0.2,0.7],\"to\":[0.8,0.7]}]}",
                NULL);
  scene_step (s, 1, 0.5, 0.6);
  scene_step (s, 1, 0.5, 0.8);
  g_assert_cmpstr (s->events->str, ==, "cross door 1; enter all 1; cross door 1; ");
  g_object_set (s->element, "settings", "{\"zones\":[{}]}", NULL);
  message = gst_bus_pop_filtered (s->bus, GST_MESSAGE_WARNING);
  g_assert_nonnull (message);
  gst_message_unref (message);
  out = scene_push (s, scene_frame (s));
  assert_shape (out, "door", 2, 0);
  assert_shape (out, "all", 1, 0);
  gst_buffer_unref (out);
  scene_free (s);
}

/* The first zone is still the first, another one comes. */
static void
who_is_in_a_zone_stays_in_it_when_settings_change (void)
{
  Scene *s = scene_new (ZONE (""));
  scene_step (s, 1, 0.5, 0.5);
  g_object_set (s->element, "settings",
                "{\"zones\":[{\"name\":\"hall\",\"polygon\":[[0.2,0.2],[0.8,0.2],[0.8,0.8],[0.2,"
                "0.8]]},{\"name\":\"room\",\"polygon\":[[0.4,0.4],[0.6,0.4],[0.6,0.6]]}]}",
                NULL);
  scene_step (s, 1, 0.7, 0.5);
  scene_step (s, 1, 0.1, 0.5);
  g_assert_cmpstr (s->events->str, ==, "enter hall 1; leave hall 1; ");
  scene_free (s);
}

/* The same as before, then of as many cells that cool. */
static void
a_heat_map_starts_anew_only_where_its_settings_change (void)
{
  static const struct {
    const gchar *settings;
    guint8 first;
  } cases[] = {
    { "{\"heat_map\":{\"columns\":4,\"rows\":2}}", 255 },
    { "{\"heat_map\":{\"columns\":4,\"rows\":2},\"margin\":0.02}", 255 },
    { "{\"heat_map\":{\"columns\":4,\"rows\":2,\"half_life\":9}}", 0 },
    { "{\"heat_map\":{\"columns\":3,\"rows\":2}}", 0 },
    { "{\"heat_map\":{\"columns\":4,\"rows\":3}}", 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Scene *s = scene_new (cases[0].settings);
    g_autoptr (GstNnMask) map = NULL;
    scene_step (s, 0, 0.1, 0.2);
    g_object_set (s->element, "settings", cases[i].settings, NULL);
    s->n_frames += 20;
    scene_step (s, 0, 0.9, 0.9);
    g_object_get (s->element, "heat-map", &map, NULL);
    g_assert_cmpuint (*(const guint8 *)g_bytes_get_data (gst_nn_mask_get_values (map), NULL), ==,
                      cases[i].first);
    scene_free (s);
  }
}

/* Frames are a tenth of a second: until a second is over it may come back. */
static void
tracks_and_crowds_are_gone_when_more_than_the_time_to_forget_is_over (void)
{
  Scene *s = scene_new (ZONE (",\"crowd\":2"));
  GstBuffer *frame = scene_frame (s);
  scene_add (frame, 3, "person", 0.5, 0.5);
  scene_add (frame, 0, "person", 0.6, 0.6);
  gst_buffer_unref (scene_push (s, frame));
  for (guint i = 0; i < 9; i++)
    scene_expect (s, "hall", 1, 0);
  g_assert_cmpstr (s->events->str, ==, "enter hall 3; crowd hall 0; ");
  scene_expect (s, "hall", 1, 0);
  g_assert_cmpstr (s->events->str, ==, "enter hall 3; crowd hall 0; crowd-over hall 0; ");
  scene_expect (s, "hall", 0, 0);
  g_assert_cmpstr (s->events->str, ==,
                   "enter hall 3; crowd hall 0; crowd-over hall 0; leave hall 3; ");
  scene_free (s);
}

static void
events_are_messages_and_another_stream_starts_anew (void)
{
  Scene *s = scene_new (ZONE (""));
  g_autoptr (GstMessage) message = NULL;
  const GstStructure *event;
  guint64 time = 0;
  scene_step (s, 1, 0.1, 0.5);
  scene_step (s, 1, 0.5, 0.5);
  message = gst_bus_pop_filtered (s->bus, GST_MESSAGE_ELEMENT);
  g_assert_nonnull (message);
  event = gst_message_get_structure (message);
  g_assert_true (gst_structure_has_name (event, "nn-event"));
  g_assert_cmpstr (gst_structure_get_string (event, "type"), ==, "enter");
  g_assert_true (gst_structure_get_uint64 (event, "running-time", &time));
  g_assert_cmpuint (time, ==, 100 * GST_MSECOND);
  gst_harness_push_event (s->h, gst_event_new_stream_start ("other"));
  scene_expect (s, "hall", 0, 0);
  scene_step (s, 1, 0.5, 0.5);
  g_assert_cmpstr (s->events->str, ==, "enter hall 1; enter hall 1; ");
  scene_free (s);
}

/* Settings, and what the error must name. */
static const gchar *const bad[][2] = {
  { "", "settings" },
  { "{", "settings" },
  { "[]", "zones, lines, heat_map" },
  { "{\"zone\":[]}", "\"zone\"" },
  { "{\"zones\":{}}", "array" },
  { "{\"zones\":[3]}", "name" },
  { "{\"zones\":[{\"name\":\"a\"}]}", "polygon" },
  { "{\"zones\":[{\"name\":\"a\",\"polygon\":[[0,0],[1,1]]}]}", "3 to 256 points, here are 2" },
  { "{\"zones\":[{\"name\":\"a\",\"polygon\":[[0,0],[1,1],[2,0]]}]}", "from 0 to 1" },
  { "{\"zones\":[{\"name\":\"a\",\"polygon\":[[0,0],[1,1],[\"x\",0]]}]}", "from 0 to 1" },
  { "{\"zones\":[{\"name\":\"a\",\"polygon\":[[0,0],[1,1],[0,1]],\"dwell\":-1}]}", "dwell" },
  { "{\"zones\":[{\"name\":\"a\",\"polygon\":[[0,0],[1,1],[0,1]],\"labels\":[1]}]}", "labels" },
  { "{\"lines\":[{\"name\":\"a\",\"from\":[0,0]}]}", "a: " },
  { "{\"lines\":[{\"name\":\"a\",\"from\":[0,0],\"to\":[0,0]}]}", "same point" },
  { "{\"lines\":[{\"name\":\"a\",\"from\":[0,0],\"to\":[0,1]},{\"name\":\"a\",\"from\":[0,0],"
    "\"to\":[0,1]}]}",
    "two are called \"a\"" },
  { "{\"margin\":1}", "margin" },
  { "{\"anchor\":\"head\"}", "foot" },
  { "{\"heat_map\":{\"columns\":0}}", "columns" },
};

static void
bad_settings_are_an_error_that_says_where (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    GstElement *element = gst_element_factory_make ("nnanalytics", NULL);
    g_autoptr (GstBus) bus = gst_bus_new ();
    g_autoptr (GstMessage) message = NULL;
    g_autoptr (GError) error = NULL;
    gst_element_set_bus (element, bus);
    g_object_set (element, "settings", bad[i][0], NULL);
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==,
                     GST_STATE_CHANGE_FAILURE);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    g_assert_nonnull (message);
    gst_message_parse_error (message, &error, NULL);
    if (strstr (error->message, bad[i][1]) == NULL)
      g_error ("%s is not in %s", bad[i][1], error->message);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
    gst_object_unref (element);
  }
}

static void
a_file_of_settings_that_is_not_there_is_an_error (void)
{
  GstElement *element = gst_element_factory_make ("nnanalytics", NULL);
  g_object_set (element, "settings-location", "/nowhere/zones.json", NULL);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
}

/* Who never comes back is forgotten, whether frames have times or not. */
static void
ten_thousand_tracks_without_times_leave_the_zone (void)
{
  Scene *s = scene_new (ZONE (""));
  GstBuffer *out;
  for (guint i = 1; i <= 10000; i++) {
    GstBuffer *frame = scene_frame (s);
    GST_BUFFER_PTS (frame) = GST_CLOCK_TIME_NONE;
    scene_add (frame, i, "person", 0.5, 0.5);
    out = gst_harness_push_and_pull (s->h, frame);
    if (i == 10000) /* those of the last second are there */
      assert_shape (out, "hall", 31, 0);
    gst_buffer_unref (out);
    gst_bus_set_flushing (s->bus, TRUE);
    gst_bus_set_flushing (s->bus, FALSE);
  }
  scene_free (s);
}

#define ADD(name) g_test_add_func ("/analytics/" #name, name)

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  ADD (a_track_over_a_line_is_counted_by_its_direction);
  ADD (who_passes_beyond_the_ends_of_a_line_does_not_cross_it);
  ADD (tracks_that_jitter_on_a_line_are_counted_once_for_each_time);
  ADD (tracks_that_jitter_on_the_edge_of_a_zone_enter_it_once);
  ADD (a_zone_tells_who_enters_stays_and_leaves_and_for_how_long);
  ADD (objects_in_a_zone_say_so_and_make_a_crowd);
  ADD (the_heat_map_is_hottest_where_objects_were_most);
  ADD (settings_change_while_playing_and_what_is_counted_stays);
  ADD (who_is_in_a_zone_stays_in_it_when_settings_change);
  ADD (a_heat_map_starts_anew_only_where_its_settings_change);
  ADD (tracks_and_crowds_are_gone_when_more_than_the_time_to_forget_is_over);
  ADD (events_are_messages_and_another_stream_starts_anew);
  ADD (bad_settings_are_an_error_that_says_where);
  ADD (a_file_of_settings_that_is_not_there_is_an_error);
  ADD (ten_thousand_tracks_without_times_leave_the_zone);
  return g_test_run ();
}
