/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nntrack against scenes of which the truth is known, and what it is made of by itself. */
#include "trackscene.h"
#include "track/gstnnassign.h"

#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>
#include <math.h>
#include <string.h>

/* The least cost, by trying everything. */
static gdouble
try_all (const gdouble *costs, guint n_rows, guint n_columns, guint row, guint taken, gdouble limit)
{
  gdouble least;
  if (row == n_rows)
    return 0;
  least = limit + try_all (costs, n_rows, n_columns, row + 1, taken, limit);
  for (guint c = 0; c < n_columns; c++)
    if (!(taken & (1u << c)) && costs[row * n_columns + c] < limit)
      least = MIN (least, costs[row * n_columns + c] + try_all (costs, n_rows, n_columns, row + 1,
                                                                taken | (1u << c), limit));
  return least;
}

static void
assignment_is_the_cheapest_of_all (void)
{
  GstNnAssignment *a = gst_nn_assignment_new ();
  GRand *rand = g_rand_new_with_seed (5);
  for (guint t = 0; t < 2000; t++) {
    guint n = 1 + (guint)g_rand_int_range (rand, 0, 6),
          m = 1 + (guint)g_rand_int_range (rand, 0, 6);
    gdouble *costs = gst_nn_assignment_begin (a, n, m), copy[36] = { 0 }, limit = 0.7, sum = 0;
    guint taken = 0;
    const gint *columns;
    for (guint i = 0; i < n * m; i++) /* ties, too */
      copy[i] = costs[i] = t % 2 ? g_rand_double (rand) : g_rand_int_range (rand, 0, 5) / 4.0;
    columns = gst_nn_assignment_solve (a, limit);
    for (guint r = 0; r < n; r++) {
      sum += columns[r] < 0 ? limit : copy[r * m + (guint)columns[r]];
      if (columns[r] >= 0) {
        g_assert_cmpfloat (copy[r * m + (guint)columns[r]], <, limit);
        g_assert_false (taken & (1u << columns[r]));
        taken |= 1u << columns[r];
      }
    }
    g_assert_cmpfloat_with_epsilon (sum, try_all (copy, n, m, 0, 0, limit), 1e-9);
  }
  g_rand_free (rand);
  gst_nn_assignment_free (a);
}

static void
many_frames_at_once_are_predicted_as_one_by_one (void)
{
  GstNnKalman a, b;
  GstNnBox box = { 100, 50, 40, 80 };
  gst_nn_kalman_init (&a, &box);
  for (guint i = 1; i <= 30; i++) {
    gst_nn_kalman_predict (&a, 1, FALSE);
    box.x = 100 + 5 * i;
    gst_nn_kalman_update (&a, &box);
  }
  b = a;
  for (guint i = 0; i < 7; i++)
    gst_nn_kalman_predict (&a, 1, FALSE);
  gst_nn_kalman_predict (&b, 7, FALSE);
  for (guint i = 0; i < 4; i++) { /* noise follows the size, which hardly changes */
    g_assert_cmpfloat_with_epsilon (a.axes[i].value, b.axes[i].value, 1e-9);
    g_assert_cmpfloat_with_epsilon (a.axes[i].variance / b.axes[i].variance, 1, 1e-3);
  }
  gst_nn_kalman_get_box (&b, &box);
  g_assert_cmpfloat_with_epsilon (box.x, 100 + 5 * 37, 2);
}

/* Where the filter of DeepSORT's matrices, computed in another language, sees the box. */
static void
a_box_is_where_the_whole_filter_sees_it (void)
{
  static const struct {
    GstNnBox seen;
    gboolean keeps_size;
    gdouble distance;
    GstNnBox expected;
  } steps[] = {
    { { 104, 49, 42, 79 }, FALSE, 0.985537, { 103.471074, 49.132231, 41.735537, 79.132231 } },
    { { 109, 46, 45, 80 }, FALSE, 2.507373, { 107.897365, 46.634480, 44.331443, 79.766999 } },
    { { 111, 45, 44, 84 }, TRUE, 0.310550, { 110.954660, 45.130026, 44.084583, 82.992989 } },
  };
  GstNnKalman k;
  gst_nn_kalman_init (&k, &(GstNnBox){ 100, 50, 40, 80 });
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    const GstNnBox *e = &steps[i].expected;
    GstNnBox box;
    gst_nn_kalman_predict (&k, 1, steps[i].keeps_size);
    g_assert_cmpfloat_with_epsilon (gst_nn_kalman_get_distance (&k, &steps[i].seen),
                                    steps[i].distance, 1e-5);
    gst_nn_kalman_update (&k, &steps[i].seen);
    gst_nn_kalman_get_box (&k, &box);
    g_assert_cmpfloat_with_epsilon (box.x, e->x, 1e-5);
    g_assert_cmpfloat_with_epsilon (box.y, e->y, 1e-5);
    g_assert_cmpfloat_with_epsilon (box.width, e->width, 1e-5);
    g_assert_cmpfloat_with_epsilon (box.height, e->height, 1e-5);
  }
}

static void
boxes_share_what_their_areas_have_in_common (void)
{
  static const struct {
    GstNnBox a, b;
    gdouble share;
  } cases[] = {
    { { 0, 0, 10, 10 }, { 5, 0, 10, 10 }, 1. / 3 },   { { 0, 0, 10, 10 }, { 0, 6, 10, 10 }, 0.25 },
    { { 10, 20, 8, 4 }, { 6, 18, 10, 5 }, 18. / 64 }, { { 0, 0, 10, 10 }, { 2, 3, 4, 5 }, 0.2 },
    { { 0, 0, 10, 10 }, { 10, 0, 10, 10 }, 0 },       { { 0, 0, 9, 9 }, { 20, 20, 9, 9 }, 0 },
    { { 0, 0, 9, 9 }, { 20, 0, 9, 9 }, 0 },           { { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_assert_cmpfloat_with_epsilon (gst_nn_box_get_iou (&cases[i].a, &cases[i].b), cases[i].share,
                                    1e-9);
    g_assert_cmpfloat_with_epsilon (gst_nn_box_get_iou (&cases[i].b, &cases[i].a), cases[i].share,
                                    1e-9);
  }
}

static GstBuffer *
frame_of (const Scene *scene, guint frame, guint *next, gboolean is_inferred)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstNnResultMeta *result =
      is_inferred ? gst_buffer_add_nn_result_meta (buffer, SCENE_WIDTH, SCENE_HEIGHT) : NULL;
  GST_BUFFER_PTS (buffer) = frame * GST_SECOND / 30;
  for (; *next < scene->seen->len; (*next)++) {
    const SceneBox *s = &g_array_index (scene->seen, SceneBox, *next);
    GstNnObject *o;
    if (s->frame != frame)
      break;
    if (!is_inferred)
      continue;
    o = gst_nn_result_meta_add_object (result, 0);
    gst_nn_object_set_box (o, s->box.x, s->box.y, s->box.width, s->box.height);
    gst_nn_object_set_class (o, 0, "thing", s->score);
    gst_nn_object_set_origin (o, "scene", GST_BUFFER_PTS (buffer));
  }
  return buffer;
}

static void
collect (GArray *tracks, GstBuffer *buffer, guint frame)
{
  GstNnResultMeta *result = gst_buffer_get_nn_result_meta (buffer);
  GstNnObject *o;
  for (guint i = 0; result != NULL && (o = gst_nn_result_meta_get_object (result, i)); i++) {
    SceneBox b = { .frame = frame, .id = (guint)gst_nn_object_get_track_id (o) };
    gst_nn_object_get_box (o, &b.box.x, &b.box.y, &b.box.width, &b.box.height);
    if (b.id != 0)
      g_array_append_val (tracks, b);
  }
}

static SceneQuality
run_scene (const SceneConfig *config, guint interval)
{
  GstHarness *h = gst_harness_new ("nntrack");
  Scene scene = scene_new (config);
  g_autoptr (GArray) tracks = g_array_new (FALSE, TRUE, sizeof (SceneBox));
  SceneQuality q;
  guint next = 0;
  gint64 took = 0;
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=1280,height=720,framerate=30/1");
  for (guint f = 0; f < config->n_frames; f++) {
    GstBuffer *buffer = frame_of (&scene, f, &next, f % interval == 0);
    gint64 begin = g_get_monotonic_time ();
    buffer = gst_harness_push_and_pull (h, buffer);
    took += g_get_monotonic_time () - begin;
    collect (tracks, buffer, f);
    gst_buffer_unref (buffer);
  }
  q = scene_judge (scene.truth, tracks, config->n_frames);
  g_test_message ("MOTA %.3f IDF1 %.3f HOTA %.3f, %u switches, %.0f us a frame", q.mota, q.idf1,
                  q.hota, q.n_switches, (gdouble)took / config->n_frames);
  scene_clear (&scene);
  gst_harness_teardown (h);
  return q;
}

/* What is measured is well above these: less is a change for the worse. */
static const struct {
  const gchar *name;
  SceneConfig scene;
  guint interval;
  gdouble mota, idf1, hota;
} cases[] = {
  { "clear", { 10, 600, 0, 0, 0, 6, 1 }, 1, 0.92, 0.83, 0.86 },
  { "usual", { 12, 600, 0.1, 0.5, 0.05, 6, 2 }, 1, 0.82, 0.83, 0.7 },
  { "crowd", { 30, 600, 0.1, 1, 0.05, 4, 3 }, 1, 0.74, 0.7, 0.59 },
  { "every-third-frame", { 12, 600, 0.05, 0.3, 0.04, 5, 4 }, 3, 0.76, 0.76, 0.69 },
  { "fifty", { 50, 300, 0.05, 1, 0.04, 4, 5 }, 1, 0.69, 0.71, 0.62 },
};

static void
tracks_fit_the_truth (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  SceneQuality q = run_scene (&cases[i].scene, cases[i].interval);
  g_assert_cmpfloat (q.mota, >=, cases[i].mota);
  g_assert_cmpfloat (q.idf1, >=, cases[i].idf1);
  g_assert_cmpfloat (q.hota, >=, cases[i].hota);
}

/* Where a hand that is not steady points the camera: it shows the world from (x, y), @zoom times as
 * small. */
typedef struct {
  gdouble x, y, zoom;
} View;

static View
view_at (guint frame)
{
  return (View){ 120 + 80 * sin (0.9 * frame), 120 + 50 * cos (1.3 * frame),
                 1.05 + 0.05 * sin (0.1 * frame) };
}

#define WORLD 1800

static guint8 *
paint_world (void)
{
  guint8 *pixels = g_malloc (WORLD * WORLD);
  GRand *rand = g_rand_new_with_seed (9);
  memset (pixels, 90, WORLD * WORLD);
  for (guint i = 0; i < 4000; i++) {
    gint x = g_rand_int_range (rand, 0, WORLD - 60), y = g_rand_int_range (rand, 0, WORLD - 60);
    gint width = g_rand_int_range (rand, 8, 60), height = g_rand_int_range (rand, 8, 60);
    guint8 value = (guint8)g_rand_int_range (rand, 0, 256);
    for (gint v = y; v < y + height; v++)
      memset (pixels + v * WORLD + x, value, (gsize)width);
  }
  g_rand_free (rand);
  return pixels;
}

static void
add_picture (GstBuffer *buffer, const guint8 *world, const View *view)
{
  gsize size = SCENE_WIDTH * SCENE_HEIGHT;
  guint8 *pixels = g_malloc (size);
  for (gint v = 0; v < SCENE_HEIGHT; v++)
    for (gint u = 0; u < SCENE_WIDTH; u++)
      pixels[v * SCENE_WIDTH + u] =
          world[(gint)(view->y + v * view->zoom) * WORLD + (gint)(view->x + u * view->zoom)];
  gst_buffer_append_memory (buffer,
                            gst_memory_new_wrapped (0, pixels, size, 0, size, pixels, g_free));
}

static void
show_in (GArray *boxes)
{
  for (guint i = 0; i < boxes->len; i++) {
    SceneBox *s = &g_array_index (boxes, SceneBox, i);
    View view = view_at (s->frame);
    s->box.x = (s->box.x - view.x) / view.zoom;
    s->box.y = (s->box.y - view.y) / view.zoom;
    s->box.width /= view.zoom;
    s->box.height /= view.zoom;
  }
}

static SceneQuality
run_shaken_scene (const gchar *launch, guint interval)
{
  static const SceneConfig config = { 10, 100, 0.05, 0.3, 0.04, 5, 6 };
  g_autofree guint8 *world = paint_world ();
  GstHarness *h = gst_harness_new_parse (launch);
  Scene scene = scene_new (&config);
  g_autoptr (GArray) tracks = g_array_new (FALSE, TRUE, sizeof (SceneBox));
  SceneQuality q;
  guint next = 0;
  show_in (scene.truth);
  show_in (scene.seen);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=1280,height=720,framerate=30/1");
  for (guint f = 0; f < config.n_frames; f++) {
    GstBuffer *buffer = frame_of (&scene, f, &next, f % interval == 0);
    View view = view_at (f);
    add_picture (buffer, world, &view);
    buffer = gst_harness_push_and_pull (h, buffer);
    collect (tracks, buffer, f);
    gst_buffer_unref (buffer);
  }
  q = scene_judge (scene.truth, tracks, config.n_frames);
  g_test_message ("%s: MOTA %.3f IDF1 %.3f HOTA %.3f, %u switches", launch, q.mota, q.idf1, q.hota,
                  q.n_switches);
  scene_clear (&scene);
  gst_harness_teardown (h);
  return q;
}

static void
a_camera_that_shakes_loses_nobody_if_one_looks (void)
{
  g_assert_cmpfloat (run_shaken_scene ("nntrack camera-motion=true", 1).idf1, >, 0.85);
  g_assert_cmpfloat (run_shaken_scene ("nntrack camera-motion=true", 3).idf1, >, 0.7);
  g_assert_cmpfloat (run_shaken_scene ("nntrack", 1).idf1, <, 0.5);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/trackquality/assignment_is_the_cheapest_of_all",
                   assignment_is_the_cheapest_of_all);
  g_test_add_func ("/trackquality/a_box_is_where_the_whole_filter_sees_it",
                   a_box_is_where_the_whole_filter_sees_it);
  g_test_add_func ("/trackquality/boxes_share_what_their_areas_have_in_common",
                   boxes_share_what_their_areas_have_in_common);
  g_test_add_func ("/trackquality/many_frames_at_once_are_predicted_as_one_by_one",
                   many_frames_at_once_are_predicted_as_one_by_one);
  g_test_add_func ("/trackquality/a_camera_that_shakes_loses_nobody_if_one_looks",
                   a_camera_that_shakes_loses_nobody_if_one_looks);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path =
        g_strconcat ("/trackquality/tracks_fit_the_truth/", cases[i].name, NULL);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), tracks_fit_the_truth);
  }
  return g_test_run ();
}
