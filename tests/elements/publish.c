/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nnpublish: records and where they go. */
#include "axontest.h"

#include "config.h"
#include <fcntl.h>
#ifdef HAVE_PIXBUF
#include <gdk-pixbuf/gdk-pixbuf.h>
#endif
#include <glib/gstdio.h>
#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CAPS "video/x-raw,format=RGB,width=320,height=240,framerate=30/1"

static GstNnObject *
add_result (GstBuffer *buffer)
{
  GstNnResultMeta *meta = gst_buffer_add_nn_result_meta (buffer, 320, 240);
  GstNnObject *o = gst_nn_result_meta_add_object (meta, 0);
  gst_nn_object_set_box (o, 40, 60, 80, 100);
  gst_nn_object_set_class (o, 2, "cup", 0.75);
  return o;
}

static GstBuffer *
frame (GstHarness *h, guint second)
{
  GstBuffer *buffer = gst_harness_create_buffer (h, 320 * 240 * 3);
  GST_BUFFER_PTS (buffer) = second * GST_SECOND;
  return buffer;
}

static void
assert_in (const gchar *text, const gchar *const *fields, guint n)
{
  for (guint i = 0; i < n; i++)
    if (strstr (text, fields[i]) == NULL)
      g_error ("%s is not in %s", fields[i], text);
}

static void
published_lines_have_the_fields_of_gvametaconvert (void)
{
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (dir, "out.jsonl", NULL);
  g_autofree gchar *launch = g_strdup_printf ("nnpublish source=cam0 location=%s", path);
  g_autofree gchar *text = NULL;
  static const gchar box[] = "\"bounding_box\":{\"x_max\":0.375,\"x_min\":0.125,"
                             "\"y_max\":0.66666666666666663,\"y_min\":0.25}";
  static const gchar *const fields[] = { box,
                                         "\"confidence\":0.75",
                                         "\"label\":\"cup\"",
                                         "\"label_id\":2",
                                         "\"h\":100",
                                         "\"w\":80",
                                         "\"x\":40",
                                         "\"y\":60",
                                         "\"roi_type\":\"cup\"",
                                         "\"region_id\":1",
                                         "\"resolution\":{\"height\":240,\"width\":320}",
                                         "\"source\":\"cam0\"",
                                         "\"timestamp\":" };
  GstHarness *h = gst_harness_new_parse (launch);
  gst_harness_set_src_caps_str (h, CAPS);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *in = gst_harness_create_buffer (h, 320 * 240 * 3);
    GST_BUFFER_PTS (in) = i * GST_SECOND;
    if (i != 1) /* a frame without results gives no line */
      add_result (in);
    gst_buffer_unref (gst_harness_push_and_pull (h, in));
  }
  gst_harness_teardown (h);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 3); /* two and the end */
  assert_in (lines[0], fields, G_N_ELEMENTS (fields));
  g_unlink (path);
  g_rmdir (dir);
}

static void
a_fifo_that_nobody_reads_is_an_error (void)
{
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *fifo = g_build_filename (dir, "fifo", NULL);
  GstElement *element = gst_element_factory_make ("nnpublish", NULL);
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  g_object_set (element, "location", fifo, NULL);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
  g_unlink (fifo);
  g_rmdir (dir);
}

/* Everything that an object can have, and the time of day of its frame. */
static void
fill (GstBuffer *buffer)
{
  static const gchar *const names[] = { "handle", NULL };
  static const guint8 grid[] = { 0, 255 };
  static const gfloat vector[] = { 0.5f, -1 };
  g_autoptr (GstNnSkeleton) skeleton = gst_nn_skeleton_new (names, NULL, 0);
  g_autoptr (GBytes) values = g_bytes_new_static (grid, 2);
  g_autoptr (GstNnMask) mask =
      gst_nn_mask_new (GST_NN_MASK_COVERAGE, 2, 1, values, 40, 60, 80, 100);
  g_autoptr (GstNnAttribute) color = gst_nn_attribute_new ("colour", "red", 3, 0.5, "colours");
  g_autoptr (GstCaps) clock = gst_caps_new_empty_simple ("timestamp/x-unix");
  GstNnObject *o = add_result (buffer), *handle;
  gst_nn_object_set_rotated_box (o, 80, 110, 60, 60, 0.5);
  gst_nn_object_set_origin (o, "cups", GST_SECOND);
  gst_nn_object_add_keypoint (o, 50, 70, 0.25);
  gst_nn_object_set_skeleton (o, skeleton);
  gst_nn_object_set_mask (o, mask);
  gst_nn_object_add_attribute (o, color);
  gst_nn_object_set_text (o, "AX", 0.125);
  gst_nn_object_set_embedding (o, vector, 2);
  gst_nn_object_set_track (o, 99, 12);
  handle = gst_nn_result_meta_add_object (gst_buffer_get_nn_result_meta (buffer),
                                          gst_nn_object_get_id (o));
  gst_nn_object_set_box (handle, 1, 2, 3, 4);
  gst_buffer_add_reference_timestamp_meta (buffer, clock, 1000000000 * GST_SECOND,
                                           GST_CLOCK_TIME_NONE);
}

/* docs/record.schema.json allows each line. */
static void
assert_valid (const gchar *path)
{
  const gchar *root = g_getenv ("AXON_SOURCE_ROOT");
  g_autofree gchar *schema = g_build_filename (root ? root : ".", "docs/record.schema.json", NULL);
  g_autofree gchar *script = g_build_filename (root ? root : ".", "tests/support/schema.py", NULL);
  const gchar *argv[] = { "/usr/bin/env", "python3", script, schema, path, NULL };
  g_autofree gchar *out = NULL;
  gint status;
  g_assert_true (
      g_spawn_sync (NULL, (gchar **)argv, NULL, 0, NULL, NULL, &out, NULL, &status, NULL));
  if (WIFEXITED (status) && WEXITSTATUS (status) == 77)
    g_test_message ("%s", out);
  else if (!g_spawn_check_wait_status (status, NULL))
    g_error ("%s", out);
}

/* A zone, a line, and what happened there. */
static void
add_scene (GstBuffer *buffer)
{
  static const gdouble points[] = { 0, 0, 1, 0, 1, 1 };
  GstNnSceneMeta *scene = gst_buffer_add_nn_scene_meta (buffer);
  GstNnObject *o = gst_nn_result_meta_get_object (gst_buffer_get_nn_result_meta (buffer), 0);
  g_autoptr (GstNnAttribute) zone = gst_nn_attribute_new ("zone", "hall", 0, 1, "nnanalytics");
  gst_nn_object_add_attribute (o, zone);
  g_ptr_array_add (scene->shapes, gst_nn_shape_new ("hall", TRUE, points, 3, 4, 0));
  g_ptr_array_add (scene->shapes, gst_nn_shape_new ("door", FALSE, points, 2, 5, 6));
  g_ptr_array_add (scene->events,
                   gst_structure_new ("nn-event", "type", G_TYPE_STRING, "leave", "where",
                                      G_TYPE_STRING, "hall", "track", G_TYPE_UINT64, (guint64)99,
                                      "seconds", G_TYPE_DOUBLE, 1.5, "lost", G_TYPE_BOOLEAN, FALSE,
                                      NULL));
}

static void
a_record_has_all_that_was_said (void)
{
  static const gchar *const fields[] = {
    "\"colour/colours\":{\"confidence\":0.5,\"label\":\"red\",\"label_id\":3,",
    "\"model\":{\"name\":\"colours\"}}",
    "\"rotated_box\":{\"angle\":0.5,\"center_x\":80.0,\"center_y\":110.0,",
    "\"height\":60.0,\"width\":60.0}",
    "\"keypoints\":[{\"confidence\":0.25,\"name\":\"handle\",\"x\":50.0,\"y\":70.0}]",
    "\"text\":{\"confidence\":0.125,\"label\":\"AX\"}",
    "\"embedding\":[0.5,-1.0]",
    "\"mask\":{\"columns\":2,\"data\":\"AP8=\"",
    "\"age\":12,\"id\":99,\"inferred_pts\":1000000000",
    "\"parent_id\":1,\"region_id\":2",
    "\"pts\":3000000000,\"running_time\":3000000000,\"timestamp\":3000000000",
    "\"wall_clock\":\"2001-09-09T01:46:40Z\"",
    "\"events\":[{\"type\":\"leave\",\"where\":\"hall\",\"track\":99,\"seconds\":1.5,\"lost\":0}]",
    "\"lines\":[{\"count\":5,\"count_back\":6,\"name\":\"door\"}],",
    "\"zones\":[{\"count\":4,\"name\":\"hall\"}]",
    "\"zones\":[\"hall\"]",
  };
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (dir, "out.jsonl", NULL);
  g_autofree gchar *launch = g_strdup_printf ("nnpublish add-tensor-data=true location=%s", path);
  g_autofree gchar *text = NULL;
  GstHarness *h = gst_harness_new_parse (launch);
  GstBuffer *in;
  gst_harness_set_src_caps_str (h, CAPS);
  in = frame (h, 3);
  fill (in);
  add_scene (in);
  gst_buffer_unref (gst_harness_push_and_pull (h, in));
  gst_harness_teardown (h);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  assert_in (text, fields, G_N_ELEMENTS (fields));
  assert_valid (path);
  g_unlink (path);
  g_rmdir (dir);
}

static void
publish_one (GstHarness *h, guint second)
{
  GstBuffer *in = frame (h, second);
  add_result (in);
  gst_buffer_unref (gst_harness_push_and_pull (h, in));
}

static guint
count_lines (const gchar *path)
{
  g_autofree gchar *text = NULL;
  guint n = 0;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  for (const gchar *p = text; *p != 0; p++)
    n += *p == '\n';
  return n;
}

/* It was truncated each time that the pipeline went to READY and back. */
static void
a_file_keeps_its_lines_until_null (void)
{
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (dir, "out.jsonl", NULL);
  static const struct {
    GstState between;
    gboolean append;
    guint lines;
  } rounds[] = { { GST_STATE_READY, FALSE, 2 },
                 { GST_STATE_NULL, FALSE, 1 },
                 { GST_STATE_NULL, TRUE, 3 } };
  for (guint i = 0; i < G_N_ELEMENTS (rounds); i++) {
    GstElement *element = gst_element_factory_make ("nnpublish", NULL);
    GstHarness *h;
    g_object_set (element, "location", path, "append", rounds[i].append, NULL);
    h = gst_harness_new_with_element (element, "sink", "src");
    gst_harness_set_src_caps_str (h, CAPS);
    publish_one (h, 0);
    gst_element_set_state (element, rounds[i].between);
    gst_element_set_state (element, GST_STATE_PLAYING);
    gst_harness_set_src_caps_str (h, CAPS);
    publish_one (h, 1);
    gst_element_set_state (element, GST_STATE_READY); /* all is written */
    g_assert_cmpuint (count_lines (path), ==, rounds[i].lines);
    gst_harness_teardown (h);
    gst_object_unref (element);
  }
  g_unlink (path);
  g_rmdir (dir);
}

static gpointer
read_a_little (gpointer data)
{
  FILE *file = fopen (data, "r");
  gint c = fgetc (file);
  fclose (file);
  return GINT_TO_POINTER (c);
}

/* As `| head` does: the process must not end by SIGPIPE, nor the stream. */
static void
a_reader_that_has_enough_does_not_end_the_stream (void)
{
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *fifo = g_build_filename (dir, "fifo", NULL);
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstMessage) warning = NULL;
  gint wait_for_reader;
  GstElement *element;
  GstHarness *h;
  GThread *reader;
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  reader = g_thread_new ("reader", read_a_little, fifo);
  wait_for_reader = g_open (fifo, O_WRONLY, 0); /* returns when there is one */
  element = gst_element_factory_make ("nnpublish", NULL);
  g_object_set (element, "location", fifo, NULL);
  gst_element_set_bus (element, bus);
  h = gst_harness_new_with_element (element, "sink", "src");
  close (wait_for_reader);
  gst_harness_set_src_caps_str (h, CAPS);
  publish_one (h, 0);
  g_thread_join (reader);
  publish_one (h, 1);
  warning = gst_bus_timed_pop_filtered (bus, 30 * GST_SECOND, GST_MESSAGE_WARNING);
  g_assert_nonnull (warning);
  publish_one (h, 2);
  gst_element_set_bus (element, NULL);
  gst_harness_teardown (h);
  gst_object_unref (element);
  g_unlink (fifo);
  g_rmdir (dir);
  /* cppcheck-suppress memleak */ /* joining the reader ended it */
}

/* A pipe that is full must not keep the stream, nor the way to NULL. */
static void
a_reader_that_does_not_read_keeps_nobody (void)
{
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *fifo = g_build_filename (dir, "fifo", NULL);
  GstElement *element = gst_element_factory_make ("nnpublish", NULL);
  GstHarness *h;
  gint fd;
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  fd = g_open (fifo, O_RDONLY | O_NONBLOCK, 0);
  g_object_set (element, "location", fifo, "eos-timeout", 0, NULL);
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_set_src_caps_str (h, CAPS);
  for (guint i = 0; i < 2000; i++)
    publish_one (h, i);
  gst_harness_teardown (h);
  gst_object_unref (element);
  close (fd);
  g_unlink (fifo);
  g_rmdir (dir);
}

/* One line for each frame that is told of. */
static gchar *
lines_of (const gchar *properties, void (*fill_frame) (GstBuffer *, guint), guint n)
{
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (dir, "out", NULL);
  g_autofree gchar *launch = g_strdup_printf ("nnpublish location=%s %s", path, properties);
  GstHarness *h = gst_harness_new_parse (launch);
  gchar *text = NULL;
  gst_harness_set_src_caps_str (h, CAPS);
  for (guint i = 0; i < n; i++) {
    GstBuffer *in = frame (h, i);
    fill_frame (in, i);
    gst_buffer_unref (gst_harness_push_and_pull (h, in));
  }
  gst_harness_teardown (h);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_unlink (path);
  g_rmdir (dir);
  return text;
}

static guint
count (const gchar *text, const gchar *what)
{
  g_auto (GStrv) parts = g_strsplit (text, what, -1);
  return g_strv_length (parts) - 1;
}

/* A cup that moves, from frame 4 on beside a plate. */
static void
cup_and_plate (GstBuffer *buffer, guint n)
{
  GstNnObject *o = add_result (buffer);
  g_autoptr (GstNnAttribute) zone = gst_nn_attribute_new ("zone", "table", -1, 1, "nnanalytics");
  gst_nn_object_set_box (o, n, n, 20, 20);
  gst_nn_object_set_track (o, 5, n);
  if (n >= 6)
    gst_nn_object_add_attribute (o, zone);
  if (n < 4)
    return;
  o = gst_nn_result_meta_add_object (gst_buffer_get_nn_result_meta (buffer), 0);
  gst_nn_object_set_class (o, 3, "plate", 0.5);
}

static void
only_what_is_other_what_is_asked_for_and_not_too_often_is_told (void)
{
  static const struct {
    const gchar *properties;
    guint lines, cups, plates;
  } rows[] = {
    { "", 10, 10, 6 },           { "on-change=true", 3, 3, 2 }, /* the cup, the plate, the table */
    { "labels=plate", 6, 0, 6 }, { "labels=plate,cup", 10, 10, 6 },
    { "zones=table", 4, 4, 0 },  { "min-interval=3000000000", 4, 4, 2 }
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *text = lines_of (rows[i].properties, cup_and_plate, 10);
    g_assert_cmpuint (count (text, "\n"), ==, rows[i].lines);
    g_assert_cmpuint (count (text, "\"roi_type\":\"cup\""), ==, rows[i].cups);
    g_assert_cmpuint (count (text, "\"roi_type\":\"plate\""), ==, rows[i].plates);
  }
}

static void
tracked_cup (GstBuffer *buffer, G_GNUC_UNUSED guint n)
{
  g_autoptr (GstCaps) clock = gst_caps_new_empty_simple ("timestamp/x-unix");
  GstNnObject *o = add_result (buffer);
  gst_nn_object_add_keypoint (o, 50, 70, 0.25);
  gst_nn_object_set_track (o, 99, 12);
  gst_buffer_add_reference_timestamp_meta (buffer, clock, 1000000000 * GST_SECOND,
                                           GST_CLOCK_TIME_NONE);
}

static void
results_have_the_form_of_coco (void)
{
  g_autofree gchar *text = lines_of ("format=coco", tracked_cup, 2);
  static const gchar *const fields[] = {
    "[{\"bbox\":[40.0,60.0,80.0,100.0],\"category_id\":2,\"image_id\":1,"
    "\"keypoints\":[50.0,70.0,0.25],\"score\":0.75}",
    "\"image_id\":2",
  };
  assert_in (text, fields, G_N_ELEMENTS (fields));
}

static void
metadata_have_the_form_of_onvif (void)
{
  g_autofree gchar *text = lines_of ("format=onvif source=a<b", tracked_cup, 1);
  static const gchar *const fields[] = {
    "<tt:Frame UtcTime=\"2001-09-09T01:46:40.000000Z\" Source=\"a&lt;b\">",
    "<tt:Object ObjectId=\"99\"><tt:Appearance><tt:Shape>",
    "<tt:BoundingBox left=\"-0.75\" top=\"0.5\" right=\"-0.25\" bottom=\"-0.333333\"/>",
    "<tt:CenterOfGravity x=\"-0.5\" y=\"0.0833333\"/>",
    "<tt:Class><tt:Type Likelihood=\"0.75\">cup</tt:Type></tt:Class>",
  };
  GMarkupParser parser = { NULL };
  g_autoptr (GMarkupParseContext) context = g_markup_parse_context_new (&parser, 0, NULL, NULL);
  g_assert_true (g_markup_parse_context_parse (context, text, -1, NULL));
  g_assert_true (g_markup_parse_context_end_parse (context, NULL));
  assert_in (text, fields, G_N_ELEMENTS (fields));
}

/* A white cup on black; another, which is outside of the frame. */
static void
white_cup (GstBuffer *buffer, G_GNUC_UNUSED guint n)
{
  GstMapInfo map;
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  memset (map.data, 0, map.size);
  for (guint y = 60; y < 160; y++)
    memset (map.data + (y * 320 + 40) * 3, 255, 80 * 3);
  gst_buffer_unmap (buffer, &map);
  add_result (buffer);
  gst_nn_object_set_box (add_result (buffer), 400, 400, 10, 10);
}

static void
a_thumbnail_is_the_picture_of_its_object (void)
{
#ifdef HAVE_PIXBUF
  g_autofree gchar *text = lines_of ("thumbnail-size=50", white_cup, 1);
  g_auto (GStrv) parts = g_strsplit (text, "\"thumbnail\":{\"data\":\"", -1);
  g_autoptr (GdkPixbufLoader) loader = gdk_pixbuf_loader_new ();
  g_autofree guchar *jpeg = NULL;
  GdkPixbuf *picture;
  gsize size;
  g_assert_cmpuint (g_strv_length (parts), ==, 2);
  *strchr (parts[1], '"') = 0;
  jpeg = g_base64_decode (parts[1], &size);
  g_assert_true (gdk_pixbuf_loader_write (loader, jpeg, size, NULL));
  g_assert_true (gdk_pixbuf_loader_close (loader, NULL));
  picture = gdk_pixbuf_loader_get_pixbuf (loader);
  g_assert_cmpint (gdk_pixbuf_get_width (picture), ==, 40);
  g_assert_cmpint (gdk_pixbuf_get_height (picture), ==, 50);
  for (gint y = 0; y < 50; y += 49)
    for (gint x = 0; x < 40; x += 39)
      g_assert_cmpint (
          gdk_pixbuf_get_pixels (picture)[y * gdk_pixbuf_get_rowstride (picture) + x * 3], >, 250);
#else
  g_autofree gchar *text = lines_of ("thumbnail-size=50", white_cup, 1);
  g_assert_null (strstr (text, "thumbnail"));
#endif
}

static void
thumbnails_are_in_one_record_for_each_time_that_they_are_requested (void)
{
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (dir, "out.jsonl", NULL);
  g_autofree gchar *launch = g_strdup_printf ("nnpublish on-change=true location=%s", path);
  g_autofree gchar *text = NULL;
  GstHarness *h = gst_harness_new_parse (launch);
  g_autoptr (GstElement) element = gst_harness_find_element (h, "nnpublish");
  gst_harness_set_src_caps_str (h, CAPS);
  for (guint i = 0; i < 6; i++) {
    GstBuffer *in = frame (h, i);
    if (i == 2 || i == 3) /* twice before the record, on a frame without objects, too */
      g_signal_emit_by_name (element, "request-thumbnails", i == 2 ? 4000 : 0);
    if (i != 2)
      white_cup (in, i);
    gst_buffer_unref (gst_harness_push_and_pull (h, in));
  }
  gst_harness_teardown (h);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpuint (count (text, "\n"), ==, 2); /* what is new, and what was asked for */
#ifdef HAVE_PIXBUF
  g_assert_cmpuint (count (text, "\"thumbnail\""), ==, 1);
  g_assert_cmpuint (count (strchr (text, '\n'), "\"thumbnail\""), ==, 1);
#endif
  g_unlink (path);
  g_rmdir (dir);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/publish/" #name, name)
  ADD (published_lines_have_the_fields_of_gvametaconvert);
  ADD (a_record_has_all_that_was_said);
  ADD (a_file_keeps_its_lines_until_null);
  ADD (a_fifo_that_nobody_reads_is_an_error);
  ADD (a_reader_that_has_enough_does_not_end_the_stream);
  ADD (a_reader_that_does_not_read_keeps_nobody);
  ADD (only_what_is_other_what_is_asked_for_and_not_too_often_is_told);
  ADD (a_thumbnail_is_the_picture_of_its_object);
  ADD (thumbnails_are_in_one_record_for_each_time_that_they_are_requested);
  ADD (results_have_the_form_of_coco);
  ADD (metadata_have_the_form_of_onvif);
  return g_test_run ();
}
