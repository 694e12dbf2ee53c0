/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoders of what a model says of the whole picture, and of text: outputs of real models against
 * the results that are published with them, and small outputs whose results can be seen. */
#include "axontest.h"

#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>
#include <glib/gstdio.h>
#include <gst/video/video.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Outputs of a model, and where the frame lay in its input. */
typedef struct {
  const gchar *launch;
  gint input_width, input_height, width, height;
  AxonImageFit fit;
  const gchar *names[4]; /* of outputs */
} Setting;

/* NULL: an error. */
static GstBuffer *
decode (const Setting *s, AxonTensor *const *tensors, guint n)
{
  GstHarness *h = gst_harness_new_parse (s->launch);
  g_autofree gchar *caps = g_strdup_printf (
      "video/x-raw,format=GRAY8,width=%d,height=%d,framerate=30/1", s->width, s->height);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, (gsize)(s->width * s->height), NULL);
  AxonImageInfo info = { .format = AXON_IMAGE_FORMAT_GRAY8,
                         .width = s->width,
                         .height = s->height,
                         .stride = { s->width } };
  GstNnTensorMeta *meta = gst_buffer_add_nn_tensor_meta (buffer);
  gst_buffer_memset (buffer, 0, 0, (gsize)(s->width * s->height));
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (meta->tensors, axon_tensor_ref (tensors[i]));
  if (s->names[0] != NULL)
    meta->names = g_strdupv ((gchar **)s->names);
  meta->width = s->width;
  meta->height = s->height;
  axon_image_geometry_init (&meta->geometry, &info, s->fit, 1, s->input_width, s->input_height);
  gst_harness_set_src_caps_str (h, caps);
  buffer = gst_harness_push (h, buffer) == GST_FLOW_OK ? gst_harness_pull (h) : NULL;
  gst_harness_teardown (h);
  return buffer;
}

static const GstNnObject *
frame_of (GstBuffer *buffer)
{
  g_assert_nonnull (buffer);
  return gst_nn_result_meta_get_frame (gst_buffer_get_nn_result_meta (buffer));
}

/* A varint of protobuf. */
static guint64
read_varint (const guint8 **p)
{
  guint64 v = 0;
  guint shift = 0;
  do
    v |= (guint64)(**p & 127) << shift;
  while (shift += 7, *(*p)++ & 128);
  return v;
}

/* Rows from @first on, @n_rows of them, all where that is 0, of a TensorProto whose numbers are
 * raw. */
static AxonTensor *
load (const gchar *relative, gint64 first, gint64 n_rows)
{
  g_autofree gchar *path = test_data (relative), *data = NULL;
  const guint8 *p, *end, *raw = NULL;
  AxonDType dtype = AXON_DTYPE_F32;
  AxonShape shape = { 0 };
  AxonTensor *tensor;
  gsize size;
  if (path == NULL)
    return NULL;
  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  for (p = (const guint8 *)data, end = p + size; p < end;) {
    guint64 key = read_varint (&p), v = read_varint (&p);
    if (key == (1 << 3))
      shape.dims[shape.rank++] = (gint64)v;
    else if (key == (2 << 3))
      dtype = (AxonDType)v;
    else if (key == (9 << 3 | 2))
      raw = p;
    p += (key & 7) == 2 ? v : 0;
    if (key == (1 << 3 | 2)) /* dims, packed */
      for (const guint8 *q = p - v; q < p;)
        shape.dims[shape.rank++] = (gint64)read_varint (&q);
  }
  shape.dims[0] = n_rows > 0 ? n_rows : shape.dims[0];
  tensor = axon_tensor_new (dtype, &shape, NULL);
  size = axon_tensor_get_n_bytes (tensor);
  memcpy (axon_tensor_get_data (tensor), raw + (gsize)first * size / (gsize)MAX (n_rows, 1), size);
  return tensor;
}

static void
assert_attribute (const GstNnObject *o, guint index, const gchar *name, const gchar *value,
                  gint class_id, gdouble score)
{
  const GstNnAttribute *a = gst_nn_object_get_attribute (o, index);
  g_assert_nonnull (a);
  g_assert_cmpstr (gst_nn_attribute_get_name (a), ==, name);
  g_assert_cmpstr (gst_nn_attribute_get_value (a), ==, value);
  g_assert_cmpint (gst_nn_attribute_get_class_id (a), ==, class_id);
  g_assert_cmpfloat_with_epsilon (gst_nn_attribute_get_score (a), score, 1e-4);
}

static void
assert_keypoint (const GstNnObject *o, guint index, gdouble x, gdouble y, gdouble score,
                 gdouble tolerance)
{
  gdouble got[3];
  g_assert_true (gst_nn_object_get_keypoint (o, index, &got[0], &got[1], &got[2]));
  g_assert_cmpfloat_with_epsilon (got[0], x, tolerance);
  g_assert_cmpfloat_with_epsilon (got[1], y, tolerance);
  g_assert_cmpfloat_with_epsilon (got[2], score, 1e-3);
}

static void
assert_mask (const GstNnMask *mask, GstNnMaskKind kind, guint columns, guint rows,
             const guint8 *values)
{
  g_assert_nonnull (mask);
  g_assert_cmpint (gst_nn_mask_get_kind (mask), ==, kind);
  g_assert_cmpuint (gst_nn_mask_get_columns (mask), ==, columns);
  g_assert_cmpuint (gst_nn_mask_get_rows (mask), ==, rows);
  g_assert_cmpmem (g_bytes_get_data (gst_nn_mask_get_values (mask), NULL), columns * rows, values,
                   columns * rows);
}

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
every_head_says_an_attribute_of_its_name (void)
{
  const Setting s = { "nndecode decoder=classification labels=calm,glad,sad top-k=2 "
                      "threshold=0.2",
                      8,
                      8,
                      8,
                      8,
                      AXON_IMAGE_FIT_STRETCH,
                      { "age", "gender", "mood" } };
  AxonShape age = AXON_SHAPE (1, 1, 1, 1), gender = AXON_SHAPE (1, 2, 1, 1);
  AxonShape mood = AXON_SHAPE (1, 3);
  AxonTensor *t[] = { test_tensor (&age, (gfloat[]){ 33.25f }),
                      test_tensor (&gender, (gfloat[]){ .9f, .1f }),
                      test_tensor (&mood, (gfloat[]){ 1, 9, 9 }) };
  GstBuffer *out = decode (&s, t, 3);
  const GstNnObject *frame = frame_of (out);
  g_assert_cmpuint (gst_nn_object_get_n_attributes (frame), ==, 4);
  assert_attribute (frame, 0, "age", "33.25", -1, 1);
  assert_attribute (frame, 1, "gender", NULL, 0, .9);
  assert_attribute (frame, 2, "mood", "glad", 1, .4999);
  assert_attribute (frame, 3, "mood", "sad", 2, .4999);
  gst_buffer_unref (out);
  for (guint i = 0; i < 3; i++)
    axon_tensor_unref (t[i]);
}

/* A number has none. */
static void
heads_share_out_the_labels (void)
{
  const Setting s = { "nndecode decoder=classification labels=woman,man,calm,glad,sad top-k=1",
                      8,
                      8,
                      8,
                      8,
                      AXON_IMAGE_FIT_STRETCH,
                      { "age", "gender", "mood" } };
  AxonShape age = AXON_SHAPE (1, 1), gender = AXON_SHAPE (1, 2), mood = AXON_SHAPE (1, 3);
  AxonTensor *t[] = { test_tensor (&age, (gfloat[]){ 8 }),
                      test_tensor (&gender, (gfloat[]){ .1f, .9f }),
                      test_tensor (&mood, (gfloat[]){ 0, 0, 1 }) };
  GstBuffer *out = decode (&s, t, 3);
  assert_attribute (frame_of (out), 0, "age", "8", -1, 1);
  assert_attribute (frame_of (out), 1, "gender", "man", 1, .9);
  assert_attribute (frame_of (out), 2, "mood", "sad", 2, 1);
  gst_buffer_unref (out);
  for (guint i = 0; i < 3; i++)
    axon_tensor_unref (t[i]);
}

/* Three logits by each activation, and what is between 0 and 1 already. */
static void
scores_are_what_the_activation_makes_of_them (void)
{
  static const struct {
    const gchar *activation;
    gfloat values[3];
    guint n;
    gdouble best;
  } cases[] = {
    { "activation=sigmoid", { 2, 1, -1 }, 2, .8808 },
    { "activation=softmax", { 0, 1, .5f }, 1, .5065 },
    { "activation=none", { 3, 1, 0 }, 2, 3 },
    { "", { 2, 1, -1 }, 1, .7054 },
    { "", { .9f, .8f, .1f }, 2, .9 },
    { "", { NAN, NAN, NAN }, 0, 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *launch = g_strdup_printf ("nndecode threshold=0.5 %s", cases[i].activation);
    const Setting s = { launch, 8, 8, 8, 8, AXON_IMAGE_FIT_STRETCH, { NULL } };
    AxonShape shape = AXON_SHAPE (1, 3);
    g_autoptr (AxonTensor) t = test_tensor (&shape, cases[i].values);
    GstBuffer *out = decode (&s, &t, 1);
    g_assert_cmpuint (gst_nn_object_get_n_attributes (frame_of (out)), ==, cases[i].n);
    if (cases[i].n > 0)
      assert_attribute (frame_of (out), 0, "classification", NULL, 0 + (i == 1), cases[i].best);
    gst_buffer_unref (out);
  }
}

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

/* A person, the same mirrored, another: who is in a gallery of the first and the last. */
static void
a_person_is_known_from_the_gallery (void)
{
  static const gchar *const names[] = { "Ann", "Ann", "Bob" };
  static const gdouble cosines[] = { 1, .99, 1 };
  g_autofree gchar *path = g_build_filename (g_get_tmp_dir (), "gallery-XXXXXX", NULL);
  g_autofree gchar *launch = NULL;
  g_autoptr (GString) text = g_string_new ("# known\n\n");
  gint fd = g_mkstemp (path);
  g_assert_cmpint (fd, >=, 0);
  g_close (fd, NULL);
  for (gint64 i = 0; i < 3; i += 2) {
    g_autoptr (AxonTensor) t =
        load ("families/osnet-x025-reid-256x128/test_data_set_0/output_0.pb", i, 1);
    if (t == NULL)
      return;
    g_string_append (text, names[i]);
    for (gsize k = 0; k < axon_tensor_get_numel (t); k++)
      g_string_append_printf (text, ",%.9g", axon_tensor_get_value (t, k));
    g_string_append_c (text, '\n');
  }
  g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
  launch = g_strdup_printf ("nndecode decoder=embedding gallery=%s", path);
  for (gint64 i = 0; i < 3; i++) {
    const Setting s = { launch, 128, 256, 128, 256, AXON_IMAGE_FIT_STRETCH, { NULL } };
    g_autoptr (AxonTensor) t =
        load ("families/osnet-x025-reid-256x128/test_data_set_0/output_0.pb", i, 1);
    GstBuffer *out = decode (&s, &t, 1);
    const GstNnAttribute *a = gst_nn_object_find_attribute (frame_of (out), "identity");
    const gfloat *v;
    gdouble sum = 0;
    gsize n;
    g_assert_nonnull (a);
    g_assert_cmpstr (gst_nn_attribute_get_value (a), ==, names[i]);
    g_assert_cmpfloat_with_epsilon (gst_nn_attribute_get_score (a), cosines[i], 2e-3);
    v = gst_nn_object_get_embedding (frame_of (out), &n);
    g_assert_cmpuint (n, ==, 512);
    for (gsize k = 0; k < n; k++)
      sum += (gdouble)v[k] * (gdouble)v[k];
    g_assert_cmpfloat_with_epsilon (sum, 1, 1e-5);
    gst_buffer_unref (out);
  }
  g_unlink (path);
}

static void
push_refused (GstElement *element, AxonTensor *tensor)
{
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  GstBuffer *buffer = gst_buffer_new ();
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=8,height=8,framerate=30/1");
  g_ptr_array_add (gst_buffer_add_nn_tensor_meta (buffer)->tensors, axon_tensor_ref (tensor));
  g_assert_cmpint (gst_harness_push (h, buffer), !=, GST_FLOW_OK);
  gst_harness_teardown (h);
}

static void
a_gallery_that_does_not_fit_is_an_error_that_names_it (void)
{
  static const struct {
    const gchar *text, *said;
  } cases[] = { { "", "has no vector" },   { "a,1,2\nb,1\n", "line 2" },
                { "a,0,0\n", "line 1" },   { "a,1,x\n", "line 1" },
                { "a,1,inf\n", "line 1" }, { "a,1,2,3\n", "gallery of vectors of 3" } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path = g_build_filename (g_get_tmp_dir (), "gallery-XXXXXX", NULL);
    g_autoptr (GstElement) element =
        gst_object_ref_sink (gst_element_factory_make ("nndecode", NULL));
    g_autoptr (GstBus) bus = gst_bus_new ();
    AxonShape shape = AXON_SHAPE (1, 2);
    g_autoptr (AxonTensor) t = test_tensor (&shape, (gfloat[]){ 3, 4 });
    g_autoptr (GError) error = NULL;
    GstMessage *message;
    gint fd = g_mkstemp (path);
    g_assert_cmpint (fd, >=, 0);
    g_close (fd, NULL);
    g_assert_true (g_file_set_contents (path, cases[i].text, -1, NULL));
    g_object_set (element, "decoder", "embedding", "gallery", path, NULL);
    gst_element_set_bus (element, bus);
    if (gst_element_set_state (element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE)
      push_refused (element, t);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    g_assert_nonnull (message);
    gst_message_parse_error (message, &error, NULL);
    if (strstr (error->message, cases[i].said) == NULL)
      g_error ("expected \"%s\", got \"%s\"", cases[i].said, error->message);
    gst_message_unref (message);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
    g_unlink (path);
  }
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
  ADD (the_dancers_joints_are_where_published);
  ADD (a_joint_lies_a_quarter_of_a_cell_towards_the_higher_neighbour);
  ADD (movenet_says_joints_of_one_person_or_of_several_with_boxes);
  ADD (simcc_finds_joints_at_both_peaks);
  ADD (landmarks_of_every_convention_are_the_same_points);
  ADD (mtcnn_says_five_points_of_a_face_and_none_of_what_is_none);
  ADD (the_mesh_of_a_face_is_known_by_its_shape);
  ADD (every_head_says_an_attribute_of_its_name);
  ADD (heads_share_out_the_labels);
  ADD (scores_are_what_the_activation_makes_of_them);
  ADD (the_lines_of_a_sign_are_found_as_by_opencv);
  ADD (a_turned_text_has_a_turned_box);
  ADD (repeated_characters_are_one_unless_a_blank_is_between);
  ADD (depth_is_bytes_between_the_least_and_the_largest);
  ADD (an_anomaly_has_a_map_and_a_score);
  ADD (a_person_is_known_from_the_gallery);
  ADD (a_gallery_that_does_not_fit_is_an_error_that_names_it);
  ADD (maps_full_of_text_take_no_longer_than_others);
  ADD (shapes_of_several_families_are_nobodys);
  for (guint i = 0; i < G_N_ELEMENTS (readings); i++) {
    g_autofree gchar *path = g_strdup_printf ("/whole/a_sign_is_read_as_published/%u", i);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), a_sign_is_read_as_published);
  }
  for (guint i = 0; i < G_N_ELEMENTS (named); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/whole/hostile_outputs_are_an_error_or_nothing/%s", named[i]);
    g_test_add_data_func (path, named[i], hostile_outputs_are_an_error_or_nothing);
  }
  return g_test_run ();
}
