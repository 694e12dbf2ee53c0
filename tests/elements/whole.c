/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoders of what a model says of the whole picture: outputs of real models against the results
 * that are published with them, small outputs whose results can be seen, and hostile ones. */
#include "wholesupport.h"

#include <math.h>
#include <string.h>

static void
deeplab_sees_people_and_cars_in_the_street (void)
{
  g_autofree gchar *labels = test_data ("models/labels/voc21.txt");
  g_autofree gchar *launch =
      g_strdup_printf ("nndecode decoder=segmentation labels-file=%s", labels);
  const Setting s = { launch, 257, 257, 768, 512, AXON_IMAGE_FIT_STRETCH, { NULL } };
  g_autoptr (AxonTensor) t =
      load ("models/deeplabv3-mnv2-dm05-257/test_data_set_0/output_0.pb", 0, 0);
  GstBuffer *out;
  if (t == NULL)
    return;
  out = decode (&s, &t, 1);
  assert_attribute (frame_of (out), 0, "segmentation", "background", 0, .6434);
  assert_attribute (frame_of (out), 1, "segmentation", "person", 15, .2420);
  assert_attribute (frame_of (out), 2, "segmentation", "car", 7, .1022);
  assert_attribute (frame_of (out), 3, "segmentation", "bicycle", 2, .0064);
  assert_attribute (frame_of (out), 4, "segmentation", "dog", 12, .0060);
  g_assert_cmpuint (gst_nn_mask_get_columns (gst_nn_object_get_mask (frame_of (out))), ==, 257);
  gst_buffer_unref (out);
}

/* Channels first, channels last, and classes themselves: rows 1 and 2 of the input show the frame.
 */
static void
the_class_of_each_pixel_lies_on_the_frame_without_the_letterbox (void)
{
  const Setting s = { "nndecode decoder=segmentation", 4,       4, 8, 4,
                      AXON_IMAGE_FIT_LETTERBOX,        { NULL } };
  static const guint8 expected[8] = { 1, 1, 0, 2, 0, 1, 0, 2 };
  AxonShape shapes[] = { AXON_SHAPE (1, 3, 4, 4), AXON_SHAPE (1, 4, 4, 3), AXON_SHAPE (1, 4, 4) };
  for (guint form = 0; form < 3; form++) {
    g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_F32, &shapes[form], NULL);
    gfloat *v = axon_tensor_get_data (t);
    gdouble x, y, width, height;
    GstBuffer *out;
    memset (v, 0, axon_tensor_get_n_bytes (t));
    for (guint i = 0; i < 16; i++) {
      guint class = i >= 4 && i < 12 ? expected[i - 4] : 1;
      if (form == 2)
        v[i] = (gfloat) class;
      else
        v[form == 0 ? class * 16 + i : i * 3 + class] = 7;
    }
    out = decode (&s, &t, 1);
    assert_mask (gst_nn_object_get_mask (frame_of (out)), GST_NN_MASK_CLASSES, 4, 2, expected);
    gst_nn_mask_get_area (gst_nn_object_get_mask (frame_of (out)), &x, &y, &width, &height);
    g_assert_true (x == 0 && y == 0 && width == 8 && height == 4);
    assert_attribute (frame_of (out), 2, "segmentation", NULL, 2, 2. / 8);
    gst_buffer_unref (out);
  }
}

static void
a_portrait_is_cut_out_as_published (void)
{
  const Setting s = { "nndecode decoder=matte", 320,     320, 1314, 1752,
                      AXON_IMAGE_FIT_STRETCH,   { NULL } };
  g_autoptr (AxonTensor) t = load ("models/sinet-portrait-320/test_data_set_0/output_0.pb", 0, 0);
  const guint8 *values;
  guint inside = 0;
  GstBuffer *out;
  gsize n;
  if (t == NULL)
    return;
  out = decode (&s, &t, 1);
  values = g_bytes_get_data (gst_nn_mask_get_values (gst_nn_object_get_mask (frame_of (out))), &n);
  g_assert_cmpuint (n, ==, 320 * 320);
  for (gsize i = 0; i < n; i++)
    inside += values[i] >= 128;
  g_assert_cmpfloat_with_epsilon ((gdouble)inside / (gdouble)n, .5925, 1e-3);
  gst_buffer_unref (out);
}

static void
mattes_are_alpha_or_logits_of_two_classes (void)
{
  const Setting s = { "nndecode decoder=matte", 2, 2, 2, 2, AXON_IMAGE_FIT_STRETCH, { NULL } };
  AxonShape one = AXON_SHAPE (1, 1, 2, 2), two = AXON_SHAPE (1, 2, 2, 2);
  static const guint8 expected[4] = { 0, 128, 255, 0 };
  g_autoptr (AxonTensor) alpha = test_tensor (&one, (gfloat[]){ -1, .5f, 2, NAN });
  g_autoptr (AxonTensor) logits =
      test_tensor (&two, (gfloat[]){ 30, 0, -30, NAN, -30, 0, 30, NAN });
  AxonTensor *forms[] = { alpha, logits };
  for (guint i = 0; i < 2; i++) {
    GstBuffer *out = decode (&s, &forms[i], 1);
    assert_mask (gst_nn_object_get_mask (frame_of (out)), GST_NN_MASK_COVERAGE, 2, 2, expected);
    gst_buffer_unref (out);
  }
}

static void
depth_is_bytes_between_the_least_and_the_largest (void)
{
  const Setting s = { "nndecode decoder=depth", 2, 2, 4, 4, AXON_IMAGE_FIT_STRETCH, { NULL } };
  AxonShape shape = AXON_SHAPE (1, 2, 2);
  static const guint8 expected[4] = { 0, 128, 255, 0 };
  g_autoptr (AxonTensor) t = test_tensor (&shape, (gfloat[]){ 1.5f, 2.5f, 3.5f, NAN });
  GstBuffer *out = decode (&s, &t, 1);
  gdouble least, largest;
  assert_mask (gst_nn_object_get_mask (frame_of (out)), GST_NN_MASK_VALUES, 2, 2, expected);
  gst_nn_mask_get_range (gst_nn_object_get_mask (frame_of (out)), &least, &largest);
  g_assert_cmpfloat (least, ==, 1.5);
  g_assert_cmpfloat (largest, ==, 3.5);
  assert_attribute (frame_of (out), 0, "depth", "1.5..3.5", -1, 1);
  gst_buffer_unref (out);
}

static void
an_anomaly_has_a_map_and_a_score (void)
{
  const Setting s = { "nndecode decoder=anomaly",
                      2,
                      2,
                      2,
                      2,
                      AXON_IMAGE_FIT_STRETCH,
                      { "pred_label", "pred_score", "anomaly_map" } };
  AxonShape one = AXON_SHAPE (1), map = AXON_SHAPE (1, 1, 2, 2);
  static const guint8 expected[4] = { 0, 0, 0, 255 };
  AxonTensor *t[] = { test_tensor (&one, (gfloat[]){ 1 }), test_tensor (&one, (gfloat[]){ .7f }),
                      test_tensor (&map, (gfloat[]){ 0, 0, 0, .9f }) };
  const Setting alone = { "nndecode decoder=anomaly labels=good,bad threshold=0.95",
                          2,
                          2,
                          2,
                          2,
                          AXON_IMAGE_FIT_STRETCH,
                          { NULL } };
  GstBuffer *out = decode (&s, t, 3);
  assert_attribute (frame_of (out), 0, "anomaly", "anomalous", 1, .7);
  assert_mask (gst_nn_object_get_mask (frame_of (out)), GST_NN_MASK_VALUES, 2, 2, expected);
  gst_buffer_unref (out);
  out = decode (&alone, &t[2], 1);
  assert_attribute (frame_of (out), 0, "anomaly", "good", 0, .9);
  gst_buffer_unref (out);
  for (guint i = 0; i < 3; i++)
    axon_tensor_unref (t[i]);
}

static const gchar *const named[] = {
  "segmentation",   "matte",          "heatmap-pose", "movenet", "simcc",   "landmarks", "facemesh",
  "classification", "text-detection", "ctc",          "depth",   "anomaly", "embedding", "picture"
};

/* Every decoder, whatever comes: an error or something, and never a crash. */
static void
hostile_outputs_are_an_error_or_nothing (gconstpointer data)
{
  static const gfloat fills[] = { 0,     1,      -1,     NAN, INFINITY, -INFINITY,
                                  1e30f, -1e30f, 1e-30f, 255, 1e9f };
  AxonShape shapes[] = { AXON_SHAPE (1, 1, 17, 3),
                         AXON_SHAPE (1, 6, 56),
                         AXON_SHAPE (1, 1, 8, 8),
                         AXON_SHAPE (1, 2, 8, 8),
                         AXON_SHAPE (1, 8, 8, 3),
                         AXON_SHAPE (1, 8, 8),
                         AXON_SHAPE (8, 8),
                         AXON_SHAPE (1, 12),
                         AXON_SHAPE (1),
                         AXON_SHAPE (1, 5, 3),
                         AXON_SHAPE (1, 1404),
                         AXON_SHAPE (1, 0),
                         AXON_SHAPE (1, 0, 8, 8),
                         AXON_SHAPE (1, 3, 0, 8),
                         AXON_SHAPE (0, 0),
                         AXON_SHAPE (1, 300, 4, 4),
                         AXON_SHAPE (1, 17, 64),
                         AXON_SHAPE (2, 3, 8, 8),
                         AXON_SHAPE (1, 1, 1, 1, 1, 5, 3),
                         { .rank = 0 },
                         AXON_SHAPE (1, 2, 4) };
  g_autofree gchar *launch =
      g_strdup_printf ("nndecode threshold=0 labels=a,b,c decoder=%s", (const gchar *)data);
  const Setting s = { launch, 64, 64, 40, 20, AXON_IMAGE_FIT_LETTERBOX, { NULL } };
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint f = 0; f < G_N_ELEMENTS (fills); f++) {
      g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_F32, &shapes[i], NULL);
      AxonTensor *twice[] = { t, t };
      gfloat *v;
      if (t == NULL)
        continue;
      v = axon_tensor_get_data (t);
      for (gsize k = 0; k < axon_tensor_get_numel (t); k++)
        v[k] = fills[f == 0 ? (k * 7) % G_N_ELEMENTS (fills) : f];
      for (guint n = 1; n <= 2; n++) {
        GstBuffer *out = decode (&s, twice, n);
        if (out != NULL)
          gst_buffer_unref (out);
      }
    }
}

/* What several families have is chosen only by its name: all of these are unknown. */
static void
shapes_of_several_families_are_nobodys (void)
{
  static const gint64 shapes[][4] = { { 1, 21, 64, 64 }, { 1, 1, 64, 64 },   { 1, 2, 64, 64 },
                                      { 1, 17, 64, 48 }, { 1, 3, 128, 128 }, { 1, 64, 64, 21 } };
  const Setting s = { "nndecode", 64, 64, 64, 64, AXON_IMAGE_FIT_STRETCH, { NULL } };
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    AxonShape shape = { .rank = 4 };
    g_autoptr (AxonTensor) t = NULL;
    GstBuffer *out;
    memcpy (shape.dims, shapes[i], sizeof shapes[i]);
    t = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
    memset (axon_tensor_get_data (t), 0, axon_tensor_get_n_bytes (t));
    out = decode (&s, &t, 1);
    g_assert_nonnull (out);
    g_assert_null (gst_buffer_get_nn_result_meta (out));
    gst_buffer_unref (out);
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/whole/" #name, name)
  ADD (deeplab_sees_people_and_cars_in_the_street);
  ADD (the_class_of_each_pixel_lies_on_the_frame_without_the_letterbox);
  ADD (a_portrait_is_cut_out_as_published);
  ADD (mattes_are_alpha_or_logits_of_two_classes);
  ADD (depth_is_bytes_between_the_least_and_the_largest);
  ADD (an_anomaly_has_a_map_and_a_score);
  ADD (shapes_of_several_families_are_nobodys);
  for (guint i = 0; i < G_N_ELEMENTS (named); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/whole/hostile_outputs_are_an_error_or_nothing/%s", named[i]);
    g_test_add_data_func (path, named[i], hostile_outputs_are_an_error_or_nothing);
  }
  return g_test_run ();
}
