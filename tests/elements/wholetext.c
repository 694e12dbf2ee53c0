/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoders of text, as those of whole.c are tested. */
#include "wholesupport.h"

#include <math.h>

/* Against cv2.minAreaRect of OpenCV 4 on the same map, grown by the published rule. */
static void
the_lines_of_a_sign_are_found_as_by_opencv (void)
{
  static const gdouble expected[][5] = {
    /* centre, width, height, degrees */
    { 378.0, 223.5, 146.7, 21.6, .9 },  { 314.0, 142.6, 270.7, 24.6, 1.3 },
    { 314.0, 166.5, 272.4, 14.0, 1.2 }, { 354.0, 239.5, 97.1, 12.1, 0 },
    { 363.5, 203.4, 114.0, 15.2, .9 },  { 377.0, 187.2, 146.3, 20.8, 1.4 }
  };
  const Setting s = { "nndecode decoder=text-detection labels=text",
                      480,
                      320,
                      480,
                      320,
                      AXON_IMAGE_FIT_STRETCH,
                      { NULL } };
  g_autoptr (AxonTensor) t = load ("models/ppocrv3-det-en/test_data_set_0/output_0.pb", 0, 0);
  GstNnResultMeta *meta;
  GstBuffer *out;
  if (t == NULL)
    return;
  out = decode (&s, &t, 1);
  meta = gst_buffer_get_nn_result_meta (out);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (meta), ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    gboolean found = FALSE;
    for (guint k = 0; k < G_N_ELEMENTS (expected); k++) {
      gdouble x, y, w, h, angle;
      g_assert_true (gst_nn_object_get_rotated_box (gst_nn_result_meta_get_object (meta, k), &x, &y,
                                                    &w, &h, &angle));
      found =
          found || (fabs (x - 0.5 - expected[i][0]) < 1 && fabs (y - 0.5 - expected[i][1]) < 1 &&
                    fabs (w - expected[i][2]) < 1 && fabs (h - expected[i][3]) < 1 &&
                    fabs (angle * 180 / G_PI - expected[i][4]) < 0.2);
    }
    if (!found)
      g_error ("line %u is not found", i);
  }
  gst_buffer_unref (out);
}

/* A bar of 9 x 9 cells on its corner, cells of 2 x 2 pixels; and small dirt. */
static void
a_turned_text_has_a_turned_box (void)
{
  const Setting s = {
    "nndecode decoder=text-detection", 64, 64, 64, 64, AXON_IMAGE_FIT_STRETCH, { NULL }
  };
  AxonShape shape = AXON_SHAPE (1, 1, 32, 32);
  g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  gfloat *v = axon_tensor_get_data (t);
  gdouble x, y, w, h, angle;
  GstNnResultMeta *meta;
  GstBuffer *out;
  for (gint r = 0; r < 32; r++)
    for (gint c = 0; c < 32; c++)
      v[r * 32 + c] = abs (r - 16) + abs (c - 16) <= 4 ? .75f : 0;
  v[0] = v[1] = 1;
  out = decode (&s, &t, 1);
  meta = gst_buffer_get_nn_result_meta (out);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (meta), ==, 1);
  gst_nn_object_get_rotated_box (gst_nn_result_meta_get_object (meta, 0), &x, &y, &w, &h, &angle);
  g_assert_cmpfloat_with_epsilon (x, 33, 1e-6);
  g_assert_cmpfloat_with_epsilon (y, 33, 1e-6);
  g_assert_cmpfloat_with_epsilon (w, 2 * sqrt (32) * 1.75, 1e-6); /* 2 x side x 1.5 / 4 more */
  g_assert_cmpfloat_with_epsilon (h, w, 1e-6);
  g_assert_cmpfloat_with_epsilon (fabs (angle), G_PI / 4, 1e-6);
  g_assert_cmpfloat_with_epsilon (gst_nn_object_get_score (gst_nn_result_meta_get_object (meta, 0)),
                                  .75, 1e-6);
  gst_buffer_unref (out);
}

/* The score is PaddleOCR's: the mean of the characters that are kept. */
static const struct {
  const gchar *output, *labels, *text;
  gdouble score;
} readings[] = {
  { "models/ppocr-rec-en-number-v2/test_data_set_0/output_0.pb", "ppocr_en_dict.txt",
    "lapan CoastGuard", .9702 },
  { "models/ppocr-rec-en-number-v2/test_data_set_1/output_0.pb", "ppocr_en_dict.txt",
    "lapan TourismAgency", .9699 },
  { "families/ppocrv6-rec-tiny/test_data_set_0/output_0.pb", "ppocrv6_tiny_dict.txt",
    "Japan Coast Guard", .9806 },
};

static void
a_sign_is_read_as_published (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autofree gchar *relative = g_strdup_printf ("models/labels/%s", readings[i].labels);
  g_autofree gchar *labels = test_data (relative);
  g_autofree gchar *launch = g_strdup_printf ("nndecode decoder=ctc labels-file=%s", labels);
  const Setting s = { launch, 384, 32, 384, 32, AXON_IMAGE_FIT_STRETCH, { NULL } };
  g_autoptr (AxonTensor) t = load (readings[i].output, 0, 0);
  GstBuffer *out;
  if (t == NULL)
    return;
  out = decode (&s, &t, 1);
  g_assert_cmpstr (gst_nn_object_get_text (frame_of (out)), ==, readings[i].text);
  g_assert_cmpfloat_with_epsilon (gst_nn_object_get_text_score (frame_of (out)), readings[i].score,
                                  1e-3);
  gst_buffer_unref (out);
}

/* Blank first and unnamed; blank last by its name, classes before steps, and logits. */
static void
repeated_characters_are_one_unless_a_blank_is_between (void)
{
  const Setting first = {
    "nndecode decoder=ctc labels=a,b", 8, 8, 8, 8, AXON_IMAGE_FIT_STRETCH, { NULL }
  };
  const Setting last = {
    "nndecode decoder=ctc labels=a,b,-", 8, 8, 8, 8, AXON_IMAGE_FIT_STRETCH, { NULL }
  };
  AxonShape steps = AXON_SHAPE (1, 5, 3), classes = AXON_SHAPE (1, 3, 6);
  g_autoptr (AxonTensor) a = test_tensor (
      &steps, (gfloat[]){ 0, .8f, .2f, 0, .8f, .2f, 1, 0, 0, 0, .6f, .4f, .3f, .1f, .6f });
  g_autoptr (AxonTensor) b =
      test_tensor (&classes, (gfloat[]){ 9, 9, 0, 9, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 9 });
  GstBuffer *out = decode (&first, &a, 1);
  g_assert_cmpstr (gst_nn_object_get_text (frame_of (out)), ==, "aab");
  g_assert_cmpfloat_with_epsilon (gst_nn_object_get_text_score (frame_of (out)), 2. / 3, 1e-6);
  gst_buffer_unref (out);
  out = decode (&last, &b, 1);
  g_assert_cmpstr (gst_nn_object_get_text (frame_of (out)), ==, "aab");
  g_assert_cmpfloat_with_epsilon (gst_nn_object_get_text_score (frame_of (out)), 1, 1e-3);
  gst_buffer_unref (out);
}

/* [T,1,C]; two texts are refused. */
static void
steps_of_a_text_may_come_before_its_one_picture (void)
{
  const Setting s = {
    "nndecode decoder=ctc labels=a,b", 8, 8, 8, 8, AXON_IMAGE_FIT_STRETCH, { NULL }
  };
  static const gfloat scores[] = { 0, .8f, .2f, 1, 0, 0, 0, .3f, .7f, 0, .9f, .1f,
                                   0, .8f, .2f, 1, 0, 0, 0, .3f, .7f, 0, .9f, .1f };
  AxonShape one = AXON_SHAPE (4, 1, 3), two = AXON_SHAPE (2, 4, 3);
  g_autoptr (AxonTensor) text = test_tensor (&one, scores);
  g_autoptr (AxonTensor) texts = test_tensor (&two, scores);
  GstBuffer *out = decode (&s, &text, 1);
  g_assert_cmpstr (gst_nn_object_get_text (frame_of (out)), ==, "aba");
  g_assert_cmpfloat_with_epsilon (gst_nn_object_get_text_score (frame_of (out)), .8, 1e-6);
  gst_buffer_unref (out);
  g_assert_null (decode (&s, &texts, 1));
}

/* One region, one per cell, all hanging together by corners, diagonals: each is read in one pass.
 */
static void
maps_full_of_text_take_no_longer_than_others (void)
{
  const Setting s = { "nndecode decoder=text-detection threshold=0 max-objects=10000",
                      1024,
                      1024,
                      1024,
                      1024,
                      AXON_IMAGE_FIT_STRETCH,
                      { NULL } };
  AxonShape shape = AXON_SHAPE (1, 1, 1024, 1024);
  g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  gfloat *v = axon_tensor_get_data (t);
  for (guint form = 0; form < 4; form++) {
    GstNnResultMeta *meta;
    GstBuffer *out;
    for (guint r = 0; r < 1024; r++)
      for (guint c = 0; c < 1024; c++)
        v[r * 1024 + c] = form == 0   ? 1.f
                          : form == 1 ? (gfloat)(r % 2 == 0 && c % 2 == 0)
                          : form == 2 ? (gfloat)((r + c) % 2)
                                      : (gfloat)((r + c) % 3 == 0);
    out = decode (&s, &t, 1);
    meta = gst_buffer_get_nn_result_meta (out);
    g_assert_cmpuint (gst_nn_result_meta_get_n_objects (meta), ==, form == 0 || form == 2 ? 1 : 0);
    gst_buffer_unref (out);
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/wholetext/" #name, name)
  ADD (the_lines_of_a_sign_are_found_as_by_opencv);
  ADD (a_turned_text_has_a_turned_box);
  ADD (repeated_characters_are_one_unless_a_blank_is_between);
  ADD (steps_of_a_text_may_come_before_its_one_picture);
  ADD (maps_full_of_text_take_no_longer_than_others);
  for (guint i = 0; i < G_N_ELEMENTS (readings); i++) {
    g_autofree gchar *path = g_strdup_printf ("/wholetext/a_sign_is_read_as_published/%u", i);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), a_sign_is_read_as_published);
  }
  return g_test_run ();
}
