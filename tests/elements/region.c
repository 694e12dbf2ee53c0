/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer on parts of frames: objects that earlier models found, and tiles; and what nndecode makes
 * of the results. */
#include "axontest.h"

#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>
#include <glib/gstdio.h>
#include <math.h>

#define SIZE 8 /* of the model's input */
#define WIDTH 64
#define HEIGHT 48
#define CAPS "video/x-raw,format=RGB,width=64,height=48,framerate=30/1"

/* A file with a model of pictures whose two classes are the mean of the left half and of the right,
 * both of red. */
static gchar *
halves_model (void)
{
  TestModel t = test_model_new (17);
  AxonShape in = AXON_SHAPE (1, 3, SIZE, SIZE);
  AxonShape w = AXON_SHAPE (3 * SIZE * SIZE, 2);
  g_autofree gfloat *weights = g_new0 (gfloat, 2 * 3 * SIZE * SIZE);
  AxonValue *x = test_model_input (&t, "picture", AXON_DTYPE_F32, &in), *flat;
  AxonNode *node;
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (GError) error = NULL;
  gchar *path = g_build_filename (g_get_tmp_dir (), "axon-halves-XXXXXX.onnx", NULL);
  gint fd = g_mkstemp (path);
  g_assert_cmpint (fd, >=, 0);
  g_close (fd, NULL);
  for (gint y = 0; y < SIZE; y++)
    for (gint c = 0; c < SIZE; c++)
      weights[2 * (y * SIZE + c) + (c >= SIZE / 2)] = 2.f / (SIZE * SIZE * 255);
  node = test_model_node (&t, "Flatten", 1, x);
  flat = node->outputs[0];
  node = test_model_node (&t, "MatMul", 2, flat, test_model_constant (&t, &w, weights));
  model = test_model_finish (&t, node->outputs[0]);
  axon_core_write_model (axon_core_get_default (), model, path, &error);
  g_assert_no_error (error);
  return path;
}

typedef struct {
  GstHarness *h;
  gchar *model;
} Fixture;

static Fixture
set_up (const gchar *infer, const gchar *decode)
{
  Fixture f = { .model = halves_model () };
  g_autofree gchar *launch = g_strdup_printf (
      "nninfer name=infer model=%s device=TEMPLATE nireq=2 color=rgb resize=stretch "
      "labels=left,right activation=softmax inference-region=roi-list %s ! nndecode threshold=0 %s",
      f.model, infer, decode);
  f.h = gst_harness_new_parse (launch);
  gst_harness_set_live (f.h, FALSE);
  gst_harness_set_src_caps_str (f.h, CAPS);
  return f;
}

static void
tear_down (Fixture *f)
{
  gst_harness_teardown (f->h);
  g_unlink (f->model);
  g_free (f->model);
}

/* Black, but for red from (x, y) to (x + width, y + height). */
static GstBuffer *
frame_with_red (guint i, gint x, gint y, gint width, gint height)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT * 3, NULL);
  GstMapInfo map;
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  memset (map.data, 0, map.size);
  for (gint r = y; r < y + height; r++)
    for (gint c = x; c < x + width; c++)
      map.data[3 * (r * WIDTH + c)] = 255;
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = i * GST_SECOND / 30;
  return buffer;
}

static GstNnObject *
add (GstBuffer *buffer, const gchar *label, gdouble x, gdouble y, gdouble width, gdouble height)
{
  GstNnResultMeta *result = gst_buffer_add_nn_result_meta (buffer, WIDTH, HEIGHT);
  GstNnObject *o = gst_nn_result_meta_add_object (result, 0);
  gst_nn_object_set_box (o, x, y, width, height);
  gst_nn_object_set_class (o, 0, label, 0.8);
  gst_nn_object_set_origin (o, "first", GST_BUFFER_PTS (buffer));
  return o;
}

static const GstNnObject *
object_at (GstBuffer *buffer, guint index)
{
  return gst_nn_result_meta_get_object (gst_buffer_get_nn_result_meta (buffer), index);
}

/* What the model says of an object best; NULL: nothing. */
static const gchar *
said_of (GstBuffer *buffer, guint index)
{
  GstNnAttribute *a = gst_nn_object_get_attribute (object_at (buffer, index), 0);
  return a ? gst_nn_attribute_get_value (a) : NULL;
}

static gdouble
score_of (GstBuffer *buffer, guint index)
{
  return gst_nn_attribute_get_score (gst_nn_object_get_attribute (object_at (buffer, index), 0));
}

static void
each_object_is_inferred_for_itself (void)
{
  Fixture f = set_up ("", "");
  GstBuffer *buffer = frame_with_red (0, 12, 4, 24, 16);
  add (buffer, "a", 4, 4, 16, 16);  /* red on its right */
  add (buffer, "b", 28, 4, 16, 16); /* red on its left */
  buffer = gst_harness_push_and_pull (f.h, buffer);
  g_assert_cmpstr (said_of (buffer, 0), ==, "right");
  g_assert_cmpstr (said_of (buffer, 1), ==, "left");
  g_assert_cmpuint (gst_nn_object_get_n_attributes (
                        gst_nn_result_meta_get_frame (gst_buffer_get_nn_result_meta (buffer))),
                    ==, 0);
  gst_buffer_unref (buffer);
  tear_down (&f);
}

static void
frames_without_objects_pass (void)
{
  Fixture f = set_up ("", "");
  GstBuffer *buffer = gst_harness_push_and_pull (f.h, frame_with_red (0, 0, 0, 1, 1));
  g_assert_null (gst_buffer_get_nn_result_meta (buffer));
  gst_buffer_unref (buffer);
  tear_down (&f);
}

static void
objects_are_filtered_by_class_size_and_score (void)
{
  Fixture f = set_up ("object-class=\"car, bus\" where=\"width>=10,height >= 10, score>0.5\"", "");
  GstBuffer *buffer = frame_with_red (0, 0, 0, 32, 48);
  add (buffer, "car", 4, 4, 16, 16);
  add (buffer, "dog", 4, 4, 16, 16);
  add (buffer, "bus", 4, 4, 16, 9);
  gst_nn_object_set_class (add (buffer, "car", 4, 4, 16, 16), 0, "car", 0.4);
  add (buffer, "bus", 4, 4, 16, 16);
  buffer = gst_harness_push_and_pull (f.h, buffer);
  for (guint i = 0; i < 5; i++)
    g_assert_true ((said_of (buffer, i) != NULL) == (i == 0 || i == 4));
  gst_buffer_unref (buffer);
  tear_down (&f);
}

/* Red is above; the eyes lie one above the other. */
static gdouble
score_when_turned (const gchar *align)
{
  g_autofree gchar *infer = g_strdup_printf ("region-align=%s region-square=true", align);
  Fixture f = set_up (infer, "");
  GstBuffer *buffer = frame_with_red (0, 0, 0, 64, 24);
  GstNnObject *o = add (buffer, "face", 20, 12, 24, 24);
  gdouble score;
  gst_nn_object_add_keypoint (o, 32, 34, 1);
  gst_nn_object_add_keypoint (o, 32, 14, 1);
  buffer = gst_harness_push_and_pull (f.h, buffer);
  score = score_of (buffer, 0);
  if (score > 0.6)
    g_assert_cmpstr (said_of (buffer, 0), ==, "right");
  gst_buffer_unref (buffer);
  tear_down (&f);
  return score;
}

static void
faces_are_turned_by_their_eyes (void)
{
  g_assert_cmpfloat (score_when_turned ("upright"), <, 0.6);
  g_assert_cmpfloat (score_when_turned ("eyes"), >, 0.7);
}

static void
rotated_boxes_are_turned (void)
{
  Fixture f = set_up ("", "");
  GstBuffer *buffer = frame_with_red (0, 0, 0, 64, 24);
  gst_nn_object_set_rotated_box (add (buffer, "text", 0, 0, 1, 1), 32, 24, 24, 12, G_PI / 2);
  buffer = gst_harness_push_and_pull (f.h, buffer);
  g_assert_cmpstr (said_of (buffer, 0), ==, "left"); /* it reads downwards */
  g_assert_cmpfloat (score_of (buffer, 0), >, 0.7);
  gst_buffer_unref (buffer);
  tear_down (&f);
}

static void
a_margin_shows_what_is_around (void)
{
  for (guint margin = 0; margin < 2; margin++) {
    Fixture f = set_up (margin ? "region-margin=0.5" : "", "");
    GstBuffer *buffer = frame_with_red (0, 8, 8, 8, 16);
    add (buffer, "a", 16, 8, 16, 16);
    buffer = gst_harness_push_and_pull (f.h, buffer);
    g_assert_true ((score_of (buffer, 0) > 0.55) == (margin == 1));
    gst_buffer_unref (buffer);
    tear_down (&f);
  }
}

static guint64
count_decoded (GstHarness *h)
{
  GstStructure *stats;
  guint64 n = 0;
  gst_harness_get (h, "nndecode", "stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint64 (stats, "decoded", &n));
  gst_structure_free (stats);
  return n;
}

static void
a_track_is_inferred_again_after_its_interval_and_remembered_in_between (void)
{
  static const struct {
    const gchar *infer;
    guint64 n;
  } cases[] = { { "reclassify-interval=0", 1 }, { "reclassify-interval=3", 4 }, { "", 10 } };
  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    Fixture f = set_up (cases[c].infer, "");
    for (guint i = 0; i < 10; i++) {
      GstBuffer *buffer = frame_with_red (i, i < 1 ? 4 : 12, 4, 8, 16);
      gst_nn_object_set_track (add (buffer, "a", 4, 4, 16, 16), 7, i);
      buffer = gst_harness_push_and_pull (f.h, buffer);
      g_assert_cmpuint (gst_nn_object_get_n_attributes (object_at (buffer, 0)), ==, 2);
      g_assert_cmpstr (said_of (buffer, 0), ==,
                       i < (c == 0   ? 10
                            : c == 1 ? 3
                                     : 1)
                           ? "left"
                           : "right");
      gst_buffer_unref (buffer);
    }
    g_assert_cmpuint (count_decoded (f.h), ==, cases[c].n);
    tear_down (&f);
  }
}

static void
more_objects_than_requests_leave_in_order_also_behind_a_flush (void)
{
  Fixture f = set_up ("", "");
  GstSegment segment;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  for (guint round = 0; round < 3; round++) {
    for (guint i = 0; i < 4; i++) {
      GstBuffer *buffer = frame_with_red (i, 0, 0, 32, 48);
      for (guint k = 0; k < 20; k++)
        add (buffer, "a", k, k, 20, 20);
      g_assert_cmpint (gst_harness_push (f.h, buffer), ==, GST_FLOW_OK);
    }
    gst_harness_push_event (f.h, gst_event_new_flush_start ());
    gst_harness_push_event (f.h, gst_event_new_flush_stop (TRUE));
    gst_harness_push_event (f.h, gst_event_new_segment (&segment));
    while (gst_harness_buffers_in_queue (f.h) > 0)
      gst_buffer_unref (gst_harness_pull (f.h));
  }
  for (guint i = 0; i < 5; i++) {
    GstBuffer *buffer = frame_with_red (i, 0, 0, 32, 48);
    for (guint k = 0; k <= i; k++)
      add (buffer, "a", 24, k, 16, 20);
    buffer = gst_harness_push_and_pull (f.h, buffer);
    g_assert_cmpuint (GST_BUFFER_PTS (buffer), ==, i * GST_SECOND / 30);
    for (guint k = 0; k <= i; k++)
      g_assert_cmpuint (gst_nn_object_get_n_attributes (object_at (buffer, k)), ==, 2);
    gst_buffer_unref (buffer);
  }
  tear_down (&f);
}

static void
odd_objects_do_no_harm (void)
{
  static const gdouble odd[] = { NAN, INFINITY, -1e12, 1e12, 0.01, -5 };
  Fixture f = set_up ("region-align=eyes region-square=true region-margin=10", "");
  GstBuffer *buffer = frame_with_red (0, 0, 0, 32, 48);
  for (guint i = 0; i < 36; i++)
    gst_nn_object_add_keypoint (add (buffer, "a", odd[i % 6], 4, odd[i / 6], 10), odd[i % 5], 1, 1);
  g_assert_cmpint (gst_harness_push (f.h, buffer), ==, GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (f.h));
  tear_down (&f);
}

static void
tiles_are_inferred_beside_the_whole (void)
{
  Fixture f = set_up ("inference-region=full-frame tiles=<2,1> overlap=0.5", "keep-tensors=true");
  GstBuffer *buffer = gst_harness_push_and_pull (f.h, frame_with_red (0, 0, 0, 32, 48));
  gpointer state = NULL;
  GstMeta *meta;
  guint n = 0;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state, GST_NN_TENSOR_META_API_TYPE))) {
    static const gdouble x[] = { 0, 0, 64 / 3.0 };
    const GstNnTensorMeta *m = (const GstNnTensorMeta *)meta;
    g_assert_cmpuint (n, <, 3);
    g_assert_cmpfloat_with_epsilon (m->geometry.x, x[n], 1e-6);
    g_assert_cmpfloat_with_epsilon (m->geometry.scale_x * SIZE, n == 0 ? 64 : 128 / 3.0, 1e-6);
    n++;
  }
  g_assert_cmpuint (n, ==, 3);
  gst_buffer_unref (buffer);
  tear_down (&f);
}

static void
check_refused (const gchar *property, const gchar *value, const gchar *expected)
{
  g_autofree gchar *model = test_ball_model ();
  GstElement *pipe = gst_pipeline_new (NULL);
  GstElement *infer = gst_element_factory_make ("nninfer", NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipe);
  g_autoptr (GError) error = NULL;
  GstMessage *message;
  g_object_set (infer, "model", model, "device", "TEMPLATE", NULL);
  gst_util_set_object_arg (G_OBJECT (infer), property, value);
  gst_bin_add (GST_BIN (pipe), infer);
  g_assert_cmpint (gst_element_set_state (pipe, GST_STATE_READY), ==, GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  g_assert_nonnull (strstr (error->message, expected));
  gst_message_unref (message);
  gst_element_set_state (pipe, GST_STATE_NULL);
  gst_object_unref (pipe);
}

static void
tiles_that_mean_nothing_are_refused (void)
{
  check_refused ("tiles", "<3>", "<3,2>");
  check_refused ("tiles", "<3,2,1>", "<3,2>");
}

static void
conditions_that_mean_nothing_are_refused (void)
{
  static const gchar *const wrong[] = { "size>3", "width",        "width>",   "width>3px", ",",
                                        "score",  "width>3,,x<1", "width=>3", "scores>1" };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    check_refused ("where", wrong[i], "score>0.5,width>=64");
}

static void
a_condition_that_is_wrong_while_playing_is_a_warning_and_selects_nothing (void)
{
  Fixture f = set_up ("", "");
  g_autoptr (GstBus) bus = gst_bus_new ();
  GstBuffer *buffer = frame_with_red (0, 0, 0, 32, 48);
  g_autoptr (GstElement) infer = gst_bin_get_by_name (GST_BIN (f.h->element), "infer");
  GstMessage *message;
  gst_element_set_bus (f.h->element, bus);
  g_object_set (infer, "where", "width>>3", NULL);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  g_assert_nonnull (message);
  gst_message_unref (message);
  add (buffer, "car", 4, 4, 16, 16);
  buffer = gst_harness_push_and_pull (f.h, buffer);
  g_assert_null (said_of (buffer, 0));
  gst_buffer_unref (buffer);
  gst_element_set_bus (f.h->element, NULL);
  tear_down (&f);
}

static void
conditions_are_of_every_number_of_an_object (void)
{
  static const struct {
    const gchar *where;
    gboolean holds;
  } cases[] = { { "x=4,y=8,width=16,height=20,area=320", TRUE },
                { "x!=4", FALSE },
                { "y<8", FALSE },
                { "y<=8,y>=8", TRUE },
                { "area>320", FALSE },
                { "class==3,age=7", TRUE },
                { "age<7", FALSE },
                { "score>0.65,score<0.75", TRUE } };
  Fixture f = set_up ("", "");
  g_autoptr (GstElement) infer = gst_bin_get_by_name (GST_BIN (f.h->element), "infer");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *buffer = frame_with_red (i, 0, 0, 32, 48);
    GstNnObject *o = add (buffer, "car", 4, 8, 16, 20);
    gst_nn_object_set_class (o, 3, "car", 0.7);
    gst_nn_object_set_track (o, 1 + i, 7);
    g_object_set (infer, "where", cases[i].where, NULL);
    buffer = gst_harness_push_and_pull (f.h, buffer);
    g_assert_cmpint (said_of (buffer, 0) != NULL, ==, cases[i].holds);
    gst_buffer_unref (buffer);
  }
  tear_down (&f);
}

/* One box, in parts of the input, of a region of a 100x100 frame. */
static void
add_box (GstBuffer *buffer, guint object_id, gdouble x, gdouble width, const gfloat *box)
{
  AxonShape bs = AXON_SHAPE (1, 1, 4), ss = AXON_SHAPE (1, 1, 1);
  const gfloat score = 0.9f;
  AxonImageInfo info = { .format = AXON_IMAGE_FORMAT_RGB,
                         .width = 100,
                         .height = 100,
                         .stride = { 300 },
                         .crop_x = x,
                         .crop_width = width,
                         .crop_height = 100 };
  GstNnTensorMeta *meta = gst_buffer_add_nn_tensor_meta (buffer);
  g_ptr_array_add (meta->tensors, test_tensor (&bs, box));
  g_ptr_array_add (meta->tensors, test_tensor (&ss, &score));
  meta->width = meta->height = 100;
  meta->pts = 0;
  meta->object_id = object_id;
  axon_image_geometry_init (&meta->geometry, &info, AXON_IMAGE_FIT_STRETCH, 1, 50, 50);
}

static GstBuffer *
decode (GstBuffer *buffer)
{
  GstHarness *h = gst_harness_new ("nndecode");
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=100,height=100,framerate=30/1");
  buffer = gst_harness_push_and_pull (h, buffer);
  gst_harness_teardown (h);
  return buffer;
}

static void
what_is_found_inside_of_an_object_is_inside_of_it (void)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstNnObject *car;
  gdouble x, y, width, height;
  GST_BUFFER_PTS (buffer) = 0;
  car = add (buffer, "car", 40, 0, 40, 100);
  gst_buffer_get_nn_result_meta (buffer)->width = gst_buffer_get_nn_result_meta (buffer)->height =
      100;
  add_box (buffer, gst_nn_object_get_id (car), 40, 40, (gfloat[]){ .25f, .5f, .75f, .6f });
  buffer = decode (buffer);
  g_assert_cmpuint (gst_nn_object_get_parent_id (object_at (buffer, 1)), ==, 1);
  gst_nn_object_get_box (object_at (buffer, 1), &x, &y, &width, &height);
  g_assert_cmpfloat_with_epsilon (x, 50, 1e-3);
  g_assert_cmpfloat_with_epsilon (y, 50, 1e-3);
  g_assert_cmpfloat_with_epsilon (width, 20, 1e-3);
  g_assert_cmpfloat_with_epsilon (height, 10, 1e-3);
  gst_buffer_unref (buffer);
}

static void
what_two_tiles_cut_is_one_object (void)
{
  GstBuffer *buffer = gst_buffer_new ();
  gdouble x, width;
  GST_BUFFER_PTS (buffer) = 0;
  add_box (buffer, 0, 0, 60, (gfloat[]){ .5f, .2f, 1, .8f });      /* 30 to 60, cut */
  add_box (buffer, 0, 40, 60, (gfloat[]){ 0, .2f, 2 / 3.f, .8f }); /* 40 to 80, cut */
  buffer = decode (buffer);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (gst_buffer_get_nn_result_meta (buffer)), ==,
                    1);
  gst_nn_object_get_box (object_at (buffer, 0), &x, NULL, &width, NULL);
  g_assert_cmpfloat_with_epsilon (x, 30, 1e-3);
  g_assert_cmpfloat_with_epsilon (width, 50, 1e-3);
  gst_buffer_unref (buffer);
}

static void
neighbours_of_one_tile_stay_two (void)
{
  GstBuffer *buffer = gst_buffer_new ();
  GST_BUFFER_PTS (buffer) = 0;
  add_box (buffer, 0, 0, 60, (gfloat[]){ .1f, .2f, .5f, .8f });
  add_box (buffer, 0, 40, 60, (gfloat[]){ .3f, .2f, .9f, .8f });
  buffer = decode (buffer);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (gst_buffer_get_nn_result_meta (buffer)), ==,
                    2);
  gst_buffer_unref (buffer);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/region/" #name, name)
  ADD (each_object_is_inferred_for_itself);
  ADD (frames_without_objects_pass);
  ADD (objects_are_filtered_by_class_size_and_score);
  ADD (faces_are_turned_by_their_eyes);
  ADD (rotated_boxes_are_turned);
  ADD (a_margin_shows_what_is_around);
  ADD (a_track_is_inferred_again_after_its_interval_and_remembered_in_between);
  ADD (more_objects_than_requests_leave_in_order_also_behind_a_flush);
  ADD (odd_objects_do_no_harm);
  ADD (tiles_are_inferred_beside_the_whole);
  ADD (tiles_that_mean_nothing_are_refused);
  ADD (conditions_that_mean_nothing_are_refused);
  ADD (a_condition_that_is_wrong_while_playing_is_a_warning_and_selects_nothing);
  ADD (conditions_are_of_every_number_of_an_object);
  ADD (what_is_found_inside_of_an_object_is_inside_of_it);
  ADD (what_two_tiles_cut_is_one_object);
  ADD (neighbours_of_one_tile_stay_two);
  return g_test_run ();
}
