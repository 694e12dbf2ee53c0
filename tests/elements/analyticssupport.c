/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "analytics.h"

Scene *
scene_new (const gchar *settings)
{
  Scene *s = g_new0 (Scene, 1);
  s->events = g_string_new (NULL);
  s->bus = gst_bus_new ();
  s->element = gst_element_factory_make ("nnanalytics", NULL);
  g_assert_nonnull (s->element);
  g_object_set (s->element, "settings", settings, NULL);
  gst_element_set_bus (s->element, s->bus);
  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_set_src_caps_str (s->h,
                                "video/x-raw,format=GRAY8,width=320,height=200,framerate=10/1");
  return s;
}

void
scene_free (Scene *s)
{
  gst_harness_teardown (s->h);
  gst_element_set_bus (s->element, NULL);
  gst_object_unref (s->element);
  gst_object_unref (s->bus);
  g_string_free (s->events, TRUE);
  g_free (s);
}

GstBuffer *
scene_frame (Scene *s)
{
  GstBuffer *frame = gst_harness_create_buffer (s->h, WIDTH * HEIGHT);
  gst_buffer_add_nn_result_meta (frame, WIDTH, HEIGHT);
  GST_BUFFER_PTS (frame) = s->n_frames++ * 100 * GST_MSECOND;
  return frame;
}

GstNnObject *
scene_add (GstBuffer *frame, guint64 track, const gchar *label, gdouble x, gdouble y)
{
  GstNnObject *o = gst_nn_result_meta_add_object (gst_buffer_get_nn_result_meta (frame), 0);
  gst_nn_object_set_box (o, x * WIDTH - 10, y * HEIGHT - 40, 20, 40);
  gst_nn_object_set_class (o, 1, label, 0.9);
  if (track != 0)
    gst_nn_object_set_track (o, track, 1);
  return o;
}

GstBuffer *
scene_push (Scene *s, GstBuffer *frame)
{
  GstBuffer *out = gst_harness_push_and_pull (s->h, frame);
  const GstNnSceneMeta *scene = gst_buffer_get_nn_scene_meta (out);
  g_assert_nonnull (scene);
  for (guint i = 0; i < scene->events->len; i++) {
    const GstStructure *e = g_ptr_array_index (scene->events, i);
    guint64 track = 0;
    gst_structure_get_uint64 (e, "track", &track);
    g_string_append_printf (s->events, "%s %s %" G_GUINT64_FORMAT "; ",
                            gst_structure_get_string (e, "type"),
                            gst_structure_get_string (e, "where"), track);
  }
  return out;
}

void
scene_step (Scene *s, guint64 track, gdouble x, gdouble y)
{
  GstBuffer *frame = scene_frame (s);
  scene_add (frame, track, "person", x, y);
  gst_buffer_unref (scene_push (s, frame));
}

void
assert_shape (GstBuffer *frame, const gchar *name, guint64 count, guint64 back)
{
  const GstNnSceneMeta *scene = gst_buffer_get_nn_scene_meta (frame);
  for (guint i = 0; i < scene->shapes->len; i++) {
    const GstNnShape *shape = g_ptr_array_index (scene->shapes, i);
    if (!g_str_equal (gst_nn_shape_get_name (shape), name))
      continue;
    g_assert_cmpuint (gst_nn_shape_get_count (shape), ==, count);
    g_assert_cmpuint (gst_nn_shape_get_count_back (shape), ==, back);
    return;
  }
  g_error ("no %s on the frame", name);
}

void
scene_expect (Scene *s, const gchar *name, guint64 count, guint64 back)
{
  GstBuffer *out = scene_push (s, scene_frame (s));
  assert_shape (out, name, count, back);
  gst_buffer_unref (out);
}
