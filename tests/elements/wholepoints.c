/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoders of joints and landmarks, as those of whole.c are tested. */
#include "wholesupport.h"

#include <math.h>
#include <string.h>

/* The published places are those of cells; a cell is 17.9 pixels. */
static void
the_dancers_joints_are_where_published (void)
{
  static const gdouble expected[][3] = {
    { 403.1, 152.2, .932 }, { 421.0, 134.3, .908 }, { 385.2, 134.3, .941 }, { 456.9, 170.1, .935 },
    { 367.3, 152.2, .852 }, { 492.7, 295.5, .826 }, { 313.5, 295.5, .848 }, { 546.5, 438.7, .782 },
    { 295.6, 438.7, .816 }, { 600.2, 546.1, .757 }, { 259.8, 564.0, .431 }, { 474.8, 564.0, .703 },
    { 349.4, 564.0, .747 }, { 456.9, 796.8, .750 }, { 349.4, 778.9, .672 }, { 421.0, 1029.6, .789 },
    { 349.4, 1011.7, .703 }
  };
  const Setting s = { "nndecode decoder=heatmap-pose", 192,     256, 860, 1146,
                      AXON_IMAGE_FIT_STRETCH,          { NULL } };
  g_autoptr (AxonTensor) t = load ("models/simplepose-192x256/test_data_set_0/output_0.pb", 0, 0);
  GstBuffer *out;
  if (t == NULL)
    return;
  out = decode (&s, &t, 1);
  g_assert_cmpuint (gst_nn_object_get_n_keypoints (frame_of (out)), ==, 17);
  g_assert_nonnull (gst_nn_object_get_skeleton (frame_of (out)));
  for (guint i = 0; i < 17; i++)
    assert_keypoint (frame_of (out), i, expected[i][0], expected[i][1], expected[i][2], 17.9);
  gst_buffer_unref (out);
}

static void
a_joint_lies_a_quarter_of_a_cell_towards_the_higher_neighbour (void)
{
  const Setting s = { "nndecode decoder=heatmap-pose", 16,      16, 16, 16,
                      AXON_IMAGE_FIT_STRETCH,          { NULL } };
  AxonShape shape = AXON_SHAPE (1, 2, 4, 4);
  g_autoptr (AxonTensor) t =
      test_tensor (&shape, (gfloat[]){ 0,   0, 0, 0, 0, .9f, .4f, 0, 0, .1f, 0, 0, 0, 0, 0, 0,
                                       NAN, 0, 0, 0, 0, 0,   -1,  0, 0, 0,   0, 0, 0, 0, 0, 0 });
  GstBuffer *out = decode (&s, &t, 1);
  assert_keypoint (frame_of (out), 0, 5, 5, .9, 1e-6);
  assert_keypoint (frame_of (out), 1, 0, 0, 0, 1e-6); /* nowhere */
  gst_buffer_unref (out);
}

/* Five maps are no family's own: who knows them says so. Another number of points has none of it.
 */
static void
keypoints_have_the_skeleton_that_is_said (void)
{
  static const struct {
    const gchar *launch;
    gint64 points;
    gboolean has;
  } cases[] = { { "nndecode decoder=heatmap-pose skeleton=face5", 5, TRUE },
                { "nndecode decoder=heatmap-pose skeleton=face5", 6, FALSE },
                { "nndecode decoder=heatmap-pose", 5, FALSE },
                { "nndecode decoder=heatmap-pose", 17, TRUE } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Setting s = { cases[i].launch, 16, 16, 16, 16, AXON_IMAGE_FIT_STRETCH, { NULL } };
    AxonShape shape = AXON_SHAPE (1, cases[i].points, 4, 4);
    g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
    GstBuffer *out;
    memset (axon_tensor_get_data (t), 0, axon_tensor_get_n_bytes (t));
    out = decode (&s, &t, 1);
    g_assert_cmpuint (gst_nn_object_get_n_keypoints (frame_of (out)), ==, cases[i].points);
    g_assert_true ((gst_nn_object_get_skeleton (frame_of (out)) != NULL) == cases[i].has);
    gst_buffer_unref (out);
  }
}

/* Letterboxed: row 0.5 of the input is the middle of the frame. */
static void
movenet_says_joints_of_one_person_or_of_several_with_boxes (void)
{
  const Setting s = { "nndecode labels=person", 192,     192, 384, 192,
                      AXON_IMAGE_FIT_LETTERBOX, { NULL } };
  AxonShape one = AXON_SHAPE (1, 1, 17, 3), six = AXON_SHAPE (1, 6, 56);
  g_autoptr (AxonTensor) single = axon_tensor_new (AXON_DTYPE_F32, &one, NULL);
  g_autoptr (AxonTensor) several = axon_tensor_new (AXON_DTYPE_F32, &six, NULL);
  static const gfloat joint[] = { .5f, .25f, .8f }, box[] = { .4f, .2f, .6f, .4f, .9f };
  gfloat *v = axon_tensor_get_data (several);
  const GstNnObject *o;
  gdouble x, y, width, height;
  GstBuffer *out;
  memset (v, 0, axon_tensor_get_n_bytes (several));
  memset (axon_tensor_get_data (single), 0, axon_tensor_get_n_bytes (single));
  memcpy (axon_tensor_get_data (single), joint, sizeof joint);
  memcpy (v + 56, joint, sizeof joint); /* the second person */
  memcpy (v + 56 + 51, box, sizeof box);
  out = decode (&s, &single, 1);
  g_assert_cmpuint (gst_nn_object_get_n_keypoints (frame_of (out)), ==, 17);
  assert_keypoint (frame_of (out), 0, 96, 96, .8, 1e-3);
  gst_buffer_unref (out);
  out = decode (&s, &several, 1);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (gst_buffer_get_nn_result_meta (out)), ==, 1);
  o = gst_nn_result_meta_get_object (gst_buffer_get_nn_result_meta (out), 0);
  gst_nn_object_get_box (o, &x, &y, &width, &height);
  g_assert_cmpfloat_with_epsilon (x, 76.8, 1e-3);
  g_assert_cmpfloat_with_epsilon (height, 76.8, 1e-3);
  g_assert_cmpstr (gst_nn_object_get_label (o), ==, "person");
  assert_keypoint (o, 0, 96, 96, .8, 1e-3);
  gst_buffer_unref (out);
}

/* Twice as fine as pixels; y may come first. */
static void
simcc_finds_joints_at_both_peaks (void)
{
  const Setting s = { "nndecode", 6, 8, 6, 8, AXON_IMAGE_FIT_STRETCH, { NULL } };
  AxonShape xs = AXON_SHAPE (1, 2, 12), ys = AXON_SHAPE (1, 2, 16);
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_F32, &xs, NULL);
  g_autoptr (AxonTensor) y = axon_tensor_new (AXON_DTYPE_F32, &ys, NULL);
  AxonTensor *orders[2][2] = { { x, y }, { y, x } };
  memset (axon_tensor_get_data (x), 0, axon_tensor_get_n_bytes (x));
  memset (axon_tensor_get_data (y), 0, axon_tensor_get_n_bytes (y));
  ((gfloat *)axon_tensor_get_data (x))[12 + 5] = .7f;
  ((gfloat *)axon_tensor_get_data (y))[16 + 9] = .6f;
  for (guint i = 0; i < 2; i++) {
    GstBuffer *out = decode (&s, orders[i], 2);
    assert_keypoint (frame_of (out), 0, 0, 0, 0, 1e-6);
    assert_keypoint (frame_of (out), 1, 2.5, 4.5, .6, 1e-6);
    gst_buffer_unref (out);
  }
}

static void
landmarks_of_every_convention_are_the_same_points (void)
{
  const Setting s = { "nndecode decoder=landmarks", 100,     200, 100, 200,
                      AXON_IMAGE_FIT_STRETCH,       { NULL } };
  static const gfloat in_turn[] = { .1f, .2f, .6f, .7f, .9f, .1f, .5f, .5f };
  static const gfloat apart[] = { .1f, .6f, .9f, .5f, .2f, .7f, .1f, .5f };
  static const gfloat triples[] = { .1f, .2f, 5, .6f, .7f, 5, .9f, .1f, 5, .5f, .5f, 5 };
  AxonShape row = AXON_SHAPE (1, 8, 1, 1), pairs = AXON_SHAPE (1, 4, 2);
  AxonShape planes = AXON_SHAPE (1, 2, 4), threes = AXON_SHAPE (1, 4, 3);
  gfloat around_zero[8], pixels[8];
  AxonTensor *forms[5];
  for (guint i = 0; i < 8; i++) {
    around_zero[i] = in_turn[i] * 2 - 1;
    pixels[i] = in_turn[i] * (i % 2 ? 200 : 100);
  }
  forms[0] = test_tensor (&row, in_turn);
  forms[1] = test_tensor (&pairs, around_zero);
  forms[2] = test_tensor (&row, pixels);
  forms[3] = test_tensor (&threes, triples);
  forms[4] = test_tensor (&planes, apart);
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++) {
    GstBuffer *out = decode (&s, &forms[i], 1);
    g_assert_cmpuint (gst_nn_object_get_n_keypoints (frame_of (out)), ==, 4);
    assert_keypoint (frame_of (out), 0, 10, 40, 1, 1e-3);
    assert_keypoint (frame_of (out), 1, 60, 140, 1, 1e-3);
    assert_keypoint (frame_of (out), 2, 90, 20, 1, 1e-3);
    assert_keypoint (frame_of (out), 3, 50, 100, 1, 1e-3);
    gst_buffer_unref (out);
    axon_tensor_unref (forms[i]);
  }
}

/* The second crop shows no face. The crop begins at (505, 130) of the picture. */
static void
mtcnn_says_five_points_of_a_face_and_none_of_what_is_none (void)
{
  static const gdouble expected[][2] = {
    { 539.4, 185.2 }, { 592.3, 183.1 }, { 566.8, 215.0 }, { 542.8, 234.7 }, { 592.3, 234.5 }
  };
  const Setting s = { "nndecode decoder=landmarks", 48,      48, 125, 140,
                      AXON_IMAGE_FIT_STRETCH,       { NULL } };
  for (gint64 crop = 0; crop < 2; crop++) {
    AxonTensor *t[3];
    GstBuffer *out;
    for (guint i = 0; i < 3; i++) {
      g_autofree gchar *file =
          g_strdup_printf ("families/mtcnn-onet/test_data_set_0/output_%u.pb", i);
      t[i] = load (file, crop, 1);
      if (t[i] == NULL)
        return;
    }
    out = decode (&s, t, 3);
    g_assert_cmpuint (gst_nn_object_get_n_keypoints (frame_of (out)), ==, crop == 0 ? 5 : 0);
    for (guint i = 0; crop == 0 && i < 5; i++)
      assert_keypoint (frame_of (out), i, expected[i][0] - 505, expected[i][1] - 130, 1, 0.1);
    gst_buffer_unref (out);
    for (guint i = 0; i < 3; i++)
      axon_tensor_unref (t[i]);
  }
}

/* Nobody names the decoder. Portrait: a face; without one the points say nothing. */
static void
the_mesh_of_a_face_is_known_by_its_shape (void)
{
  static const gdouble expected[][2] = {
    { 139.0, 189.25 }, { 141.625, 169.375 }, { 140.25, 174.625 }, { 129.875, 138.625 }
  };
  const Setting s = { "nndecode", 256, 256, 256, 256, AXON_IMAGE_FIT_STRETCH, { NULL } };
  AxonTensor *t[3], *no_face = NULL;
  AxonShape one = AXON_SHAPE (1, 1, 1, 1);
  GstBuffer *out;
  for (guint i = 0; i < 3; i++) {
    g_autofree gchar *file =
        g_strdup_printf ("models/facemesh-v2-fp16-256/test_data_set_0/output_%u.pb", i);
    t[i] = load (file, 0, 0);
    if (t[i] == NULL)
      return;
  }
  out = decode (&s, t, 3);
  g_assert_cmpuint (gst_nn_object_get_n_keypoints (frame_of (out)), ==, 478);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    assert_keypoint (frame_of (out), i, expected[i][0], expected[i][1], 1, 1e-3);
  gst_buffer_unref (out);
  no_face = test_tensor (&one, (gfloat[]){ -4 });
  axon_tensor_unref (t[1]);
  t[1] = no_face;
  out = decode (&s, t, 3);
  g_assert_cmpuint (gst_nn_object_get_n_keypoints (frame_of (out)), ==, 0);
  gst_buffer_unref (out);
  for (guint i = 0; i < 3; i++)
    axon_tensor_unref (t[i]);
}

static void
the_first_output_may_be_the_score_of_a_mesh (void)
{
  static const struct {
    gfloat logit;
    guint n;
  } rows[] = { { 4, 468 }, { -4, 0 } };
  const Setting s = { "nndecode decoder=facemesh", 192,     192, 192, 192,
                      AXON_IMAGE_FIT_STRETCH,      { NULL } };
  AxonShape one = AXON_SHAPE (1, 1), points = AXON_SHAPE (1, 1404);
  gfloat numbers[1404] = { 96, 48 };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (AxonTensor) score = test_tensor (&one, &rows[i].logit);
    g_autoptr (AxonTensor) mesh = test_tensor (&points, numbers);
    GstBuffer *out = decode (&s, (AxonTensor *[]){ score, mesh }, 2);
    g_assert_cmpuint (gst_nn_object_get_n_keypoints (frame_of (out)), ==, rows[i].n);
    if (rows[i].n > 0)
      assert_keypoint (frame_of (out), 0, 96, 48, .982, 1e-3);
    gst_buffer_unref (out);
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/wholepoints/" #name, name)
  ADD (the_dancers_joints_are_where_published);
  ADD (a_joint_lies_a_quarter_of_a_cell_towards_the_higher_neighbour);
  ADD (keypoints_have_the_skeleton_that_is_said);
  ADD (movenet_says_joints_of_one_person_or_of_several_with_boxes);
  ADD (simcc_finds_joints_at_both_peaks);
  ADD (landmarks_of_every_convention_are_the_same_points);
  ADD (mtcnn_says_five_points_of_a_face_and_none_of_what_is_none);
  ADD (the_mesh_of_a_face_is_known_by_its_shape);
  ADD (the_first_output_may_be_the_score_of_a_mesh);
  return g_test_run ();
}
