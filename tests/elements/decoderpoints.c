/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where boxes, keypoints and masks lie, of outputs among which one candidate says yes: each number
 * is another one, so that none can stand for its neighbour. The places were computed from the
 * published formulas in another language. */
#include "decoders.h"

#include <math.h>
#include <string.h>

#define N_SPANS 4
#define N_POINTS 17
/* Frames are that much larger than the input. */
#define SCALE_X 2
#define SCALE_Y 3

typedef struct {
  const gchar *decoder, *shapes;
  gint width, height;
  gfloat fill;
  DecodedSpan spans[N_SPANS];
  gdouble box[4]; /* x, y, width, height in the input */
  guint n_points;
  gdouble points[N_POINTS][2];
} Row;

/* clang-format off */
static const Row rows[] = {
  { "retinaface", "1x2940x4 1x2940x2 1x2940x10", 320, 224, 0,
    { { 0, 3020, 1, 1, 4, { 1.5f, -0.5f, -1, -1.75f } }, { 1, 1511, 1, 1, 1, { 0.9f } }, { 2, 7550, 1, 1, 10, { 0.5f, -1.5f, 2.25f, -0.75f, 0.25f, 1.75f, -1.25f, 3.5f, 2.75f, 4.25f } } },
    { 131.70031, 63.12499, 26.19938, 22.55002 },
    5, { { 141.6, 71.2 }, { 147.2, 73.6 }, { 140.8, 81.6 }, { 136, 87.2 }, { 148.8, 89.6 } } },
  { "retinaface", "1x2940x4 1x2940x2 1x2940x10", 320, 224, 0,
    { { 0, 9848, 1, 1, 4, { 1.5f, -0.5f, -1, -1.75f } }, { 1, 4925, 1, 1, 1, { 0.9f } }, { 2, 24620, 1, 1, 10, { 0.5f, -1.5f, 2.25f, -0.75f, 0.25f, 1.75f, -1.25f, 3.5f, 2.75f, 4.25f } } },
    { 167.40062, 62.24998, 52.39877, 45.10004 },
    5, { { 187.2, 78.4 }, { 198.4, 83.2 }, { 185.6, 99.2 }, { 176, 110.4 }, { 201.6, 115.2 } } },
  { "retinaface", "1x2940x4 1x2940x2 1x2940x10", 320, 224, 0,
    { { 0, 11472, 1, 1, 4, { 1.5f, -0.5f, -1, -1.75f } }, { 1, 5737, 1, 1, 1, { 0.9f } }, { 2, 28680, 1, 1, 10, { 0.5f, -1.5f, 2.25f, -0.75f, 0.25f, 1.75f, -1.25f, 3.5f, 2.75f, 4.25f } } },
    { 77.60246, 8.99992, 209.59507, 180.40015 },
    5, { { 156.8, 73.6 }, { 201.6, 92.8 }, { 150.4, 156.8 }, { 112, 201.6 }, { 214.4, 220.8 } } },
  { "scrfd", "1536x1 384x1 96x1 1536x4 384x4 96x4 1536x10 384x10 96x10", 256, 192, 0,
    { { 0, 335, 1, 1, 1, { 0.9f } }, { 3, 1340, 1, 1, 4, { 1.5f, 0.75f, 2.25f, 1.25f } }, { 6, 3350, 1, 1, 10, { 0.5f, -1.5f, 2.25f, -0.75f, 0.25f, 1.75f, -1.25f, 3.5f, 2.75f, 4.25f } } },
    { 44, 34, 30, 16 },
    5, { { 60, 28 }, { 74, 34 }, { 58, 54 }, { 46, 68 }, { 78, 74 } } },
  { "scrfd", "1536x1 384x1 96x1 1536x4 384x4 96x4 1536x10 384x10 96x10", 256, 192, 0,
    { { 1, 118, 1, 1, 1, { 0.9f } }, { 4, 472, 1, 1, 4, { 1.5f, 0.75f, 2.25f, 1.25f } }, { 7, 1180, 1, 1, 10, { 0.5f, -1.5f, 2.25f, -0.75f, 0.25f, 1.75f, -1.25f, 3.5f, 2.75f, 4.25f } } },
    { 152, 36, 60, 32 },
    5, { { 184, 24 }, { 212, 36 }, { 180, 76 }, { 156, 104 }, { 220, 116 } } },
  { "scrfd", "1536x1 384x1 96x1 1536x4 384x4 96x4 1536x10 384x10 96x10", 256, 192, 0,
    { { 2, 41, 1, 1, 1, { 0.9f } }, { 5, 164, 1, 1, 4, { 1.5f, 0.75f, 2.25f, 1.25f } }, { 8, 410, 1, 1, 10, { 0.5f, -1.5f, 2.25f, -0.75f, 0.25f, 1.75f, -1.25f, 3.5f, 2.75f, 4.25f } } },
    { 80, 40, 120, 64 },
    5, { { 144, 16 }, { 200, 40 }, { 136, 120 }, { 88, 176 }, { 216, 200 } } },
  { "yunet", "1x1120x1 1x280x1 1x70x1 1x1120x1 1x280x1 1x70x1 1x1120x4 1x280x4 1x70x4 1x1120x10 1x280x10 1x70x10", 320, 224, 0,
    { { 0, 207, 1, 1, 1, { 1 } }, { 3, 207, 1, 1, 1, { 0.81f } }, { 6, 828, 1, 1, 4, { 0.5f, 0.25f, 0.75f, 0.5f } }, { 9, 2070, 1, 1, 10, { 0.5f, -1.5f, 2.25f, -0.75f, 0.25f, 1.75f, -1.25f, 3.5f, 2.75f, 4.25f } } },
    { 51.532, 35.40511, 16.936, 13.18977 },
    5, { { 60, 28 }, { 74, 34 }, { 58, 54 }, { 46, 68 }, { 78, 74 } } },
  { "yunet", "1x1120x1 1x280x1 1x70x1 1x1120x1 1x280x1 1x70x1 1x1120x4 1x280x4 1x70x4 1x1120x10 1x280x10 1x70x10", 320, 224, 0,
    { { 1, 71, 1, 1, 1, { 1 } }, { 4, 71, 1, 1, 1, { 0.81f } }, { 7, 284, 1, 1, 4, { 0.5f, 0.25f, 0.75f, 0.5f } }, { 10, 710, 1, 1, 10, { 0.5f, -1.5f, 2.25f, -0.75f, 0.25f, 1.75f, -1.25f, 3.5f, 2.75f, 4.25f } } },
    { 167.064, 38.81023, 33.872, 26.37954 },
    5, { { 184, 24 }, { 212, 36 }, { 180, 76 }, { 156, 104 }, { 220, 116 } } },
  { "yunet", "1x1120x1 1x280x1 1x70x1 1x1120x1 1x280x1 1x70x1 1x1120x4 1x280x4 1x70x4 1x1120x10 1x280x10 1x70x10", 320, 224, 0,
    { { 2, 24, 1, 1, 1, { 1 } }, { 5, 24, 1, 1, 1, { 0.81f } }, { 8, 96, 1, 1, 4, { 0.5f, 0.25f, 0.75f, 0.5f } }, { 11, 240, 1, 1, 10, { 0.5f, -1.5f, 2.25f, -0.75f, 0.25f, 1.75f, -1.25f, 3.5f, 2.75f, 4.25f } } },
    { 110.128, 45.62046, 67.744, 52.75908 },
    5, { { 144, 16 }, { 200, 40 }, { 136, 120 }, { 88, 176 }, { 216, 200 } } },
  { "blazeface", "1x896x16 1x896x1", 128, 128, -50,
    { { 0, 2800, 1, 1, 16, { 3, -5, 20, 14, -11, -3.75f, 3.5f, 10.75f, -5, 2.25f, 9.5f, -6.25f, 1, 8.25f, -7.5f, -0.25f } }, { 1, 175, 1, 1, 1, { 2 } } },
    { 53, 32, 20, 14 },
    6, { { 49, 40.25 }, { 63.5, 54.75 }, { 55, 46.25 }, { 69.5, 37.75 }, { 61, 52.25 }, { 52.5, 43.75 } } },
  { "blazeface", "1x896x16 1x896x1", 128, 128, -50,
    { { 0, 11040, 1, 1, 16, { 3, -5, 20, 14, -11, -3.75f, 3.5f, 10.75f, -5, 2.25f, 9.5f, -6.25f, 1, 8.25f, -7.5f, -0.25f } }, { 1, 690, 1, 1, 1, { 2 } } },
    { 81, 44, 20, 14 },
    6, { { 77, 52.25 }, { 91.5, 66.75 }, { 83, 58.25 }, { 97.5, 49.75 }, { 89, 64.25 }, { 80.5, 55.75 } } },
  { "blazeface", "1x2016x18 1x2016x1", 192, 192, -50,
    { { 0, 26712, 1, 1, 18, { 3, -5, 20, 14, -11, -3.75f, 3.5f, 10.75f, -5, 2.25f, 9.5f, -6.25f, 1, 8.25f, -7.5f, -0.25f, 7, 14.25f } }, { 1, 1484, 1, 1, 1, { 2 } } },
    { 113, 60, 20, 14 },
    7, { { 109, 68.25 }, { 123.5, 82.75 }, { 115, 74.25 }, { 129.5, 65.75 }, { 121, 80.25 }, { 112.5, 71.75 }, { 127, 86.25 } } },
  { "movenet", "1x6x56", 96, 64, 0,
    { { 0, 168, 1, 1, 56, { 0.03125f, 0.09375f, 0.5f, 0.1875f, 0.3125f, 0.515625f, 0.34375f, 0.53125f, 0.53125f, 0.5f, 0.15625f, 0.546875f, 0.125f, 0.375f, 0.5625f, 0.28125f, 0.59375f, 0.578125f, 0.4375f, 0.21875f, 0.59375f, 0.0625f, 0.4375f, 0.609375f, 0.21875f, 0.65625f, 0.625f, 0.375f, 0.28125f, 0.640625f, 0.53125f, 0.5f, 0.65625f, 0.15625f, 0.125f, 0.671875f, 0.3125f, 0.34375f, 0.6875f, 0.46875f, 0.5625f, 0.703125f, 0.09375f, 0.1875f, 0.71875f, 0.25f, 0.40625f, 0.734375f, 0.40625f, 0.625f, 0.75f, 0.25f, 0.125f, 0.75f, 0.5f, 0.9f } } },
    { 12, 16, 36, 32 },
    17, { { 9, 2 }, { 30, 12 }, { 51, 22 }, { 15, 32 }, { 36, 8 }, { 57, 18 }, { 21, 28 }, { 42, 4 }, { 63, 14 }, { 27, 24 }, { 48, 34 }, { 12, 10 }, { 33, 20 }, { 54, 30 }, { 18, 6 }, { 39, 16 }, { 60, 26 } } },
};
/* clang-format on */

static void
assert_box (const GstNnObject *o, const gdouble box[4], gdouble scale_x, gdouble scale_y)
{
  gdouble got[4];
  gst_nn_object_get_box (o, &got[0], &got[1], &got[2], &got[3]);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat_with_epsilon (got[i], box[i] * (i % 2 ? scale_y : scale_x), 1e-3);
}

static void
assert_point (const GstNnObject *o, guint index, gdouble x, gdouble y)
{
  gdouble got[3];
  g_assert_true (gst_nn_object_get_keypoint (o, index, &got[0], &got[1], &got[2]));
  g_assert_cmpfloat_with_epsilon (got[0], x, 1e-3);
  g_assert_cmpfloat_with_epsilon (got[1], y, 1e-3);
}

static void
points_lie_where_the_formula_puts_them (gconstpointer data)
{
  const Row *row = data;
  g_auto (Decoded) d = { 0 };
  const GstNnObject *o;
  decoded_init (&d, AXON_IMAGE_FIT_STRETCH, row->width, row->height, row->width * SCALE_X,
                row->height * SCALE_Y);
  decoded_fill (&d, row->shapes, NULL, row->fill, row->spans, N_SPANS);
  decoded_run (&d, gst_nn_decoder_find (row->decoder), 0.45, 100);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (d.result), ==, 1);
  o = gst_nn_result_meta_get_object (d.result, 0);
  assert_box (o, row->box, SCALE_X, SCALE_Y);
  g_assert_cmpuint (gst_nn_object_get_n_keypoints (o), ==, row->n_points);
  g_assert_nonnull (gst_nn_object_get_skeleton (o));
  for (guint i = 0; i < row->n_points; i++)
    assert_point (o, i, row->points[i][0] * SCALE_X, row->points[i][1] * SCALE_Y);
}

/* Of 10x20 and so on: each prior has its own size. */
static void
faces_lie_about_the_anchors_that_a_description_says (void)
{
  static const gfloat anchors[] = { 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120 };
  static const DecodedSpan spans[] = {
    { 0, 4 * 407, 1, 1, 4, { 1, -0.5f, 0, 0 } },
    { 1, 2 * 407 + 1, 1, 1, 1, { 0.9f } },
    { 2, 10 * 407 + 8, 1, 1, 2, { 2, -3 } },
  };
  g_auto (Decoded) d = { 0 };
  const GstNnObject *o;
  decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 160, 128, 160, 128);
  decoded_fill (&d, "1x840x4 1x840x2 1x840x10", NULL, 0, spans, G_N_ELEMENTS (spans));
  d.in.anchors = anchors;
  d.in.n_anchors = G_N_ELEMENTS (anchors);
  decoded_run (&d, gst_nn_decoder_find ("retinaface"), 0.45, 100);
  o = gst_nn_result_meta_get_object (d.result, 0);
  /* 407 is the second of cell 203, which is (3, 10) of 20x16 at stride 8. */
  assert_box (o, (gdouble[]){ 28 + 3 - 15, 84 - 2 - 20, 30, 40 }, 1, 1);
  assert_point (o, 4, 28 + 6, 84 - 12);
}

/* The input shows 24x16 pixels of the frame around (60, 50), turned by half a radian. */
static void
results_of_a_turned_region_lie_where_it_was_cut_out (void)
{
  static const DecodedSpan spans[] = {
    { 0, 56, 1, 1, 3, { 0.5f, 0.125f, 0.8f } },
    { 0, 56 + 48, 1, 1, 8, { 0.25f, 0.75f, 0.6f, 0.25f, 0.25f, 0.5f, 0.75f, 0.9f } },
  };
  AxonImageInfo info = { .format = AXON_IMAGE_FORMAT_GRAY8,
                         .width = 160,
                         .height = 120,
                         .stride = { 160 },
                         .crop_x = 48,
                         .crop_y = 42,
                         .crop_width = 24,
                         .crop_height = 16,
                         .angle = 0.5 };
  AxonImageGeometry geometry;
  g_auto (Decoded) d = { 0 };
  const GstNnObject *o;
  decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 48, 32, 160, 120);
  axon_image_geometry_init (&geometry, &info, AXON_IMAGE_FIT_STRETCH, 1, 48, 32);
  gst_nn_decode_input_place (&d.in, &geometry, 160, 120);
  decoded_fill (&d, "1x6x56", NULL, 0, spans, G_N_ELEMENTS (spans));
  decoded_run (&d, gst_nn_decoder_find ("movenet"), 0.45, 100);
  o = gst_nn_result_meta_get_object (d.result, 0);
  assert_box (o, (gdouble[]){ 54.734505, 43.613117, 12.448693, 9.263437 }, 1, 1);
  assert_point (o, 0, 52.101757, 45.68517);
  assert_point (o, 16, 67.183198, 49.366223);
}

/* Of 60x20 about (150, 160), turned by half a radian: stretched to the frame, and of a region that
 * is turned itself. */
static void
oriented_boxes_turn_with_the_way_to_the_frame (void)
{
  static const struct {
    gdouble to_frame[6], x, y, width, height, angle;
  } cases[] = {
    { { 2, 0, 0, 0, 3, 0 }, 300, 480, 136.151677, 56.0384, 0.686491 },
    { { 0.484456, -0.123702, 192.279324, 0.123702, 0.484456, 112.694756 },
      245.155438,
      208.76298,
      30,
      10,
      0.75 },
  };
  static const DecodedSpan span = {
    0, 777, 2100, 1, 8, { 150, 160, 60, 20, 0.1f, 0.2f, 0.8f, 0.5f }
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Decoded) d = { 0 };
    gdouble x, y, width, height, angle;
    decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 320, 320, 640, 960);
    memcpy (d.in.to_frame, cases[i].to_frame, sizeof d.in.to_frame);
    decoded_fill (&d, "1x8x2100", NULL, 0, &span, 1);
    d.in.n_labels = 3;
    decoded_run (&d, gst_nn_decoder_find ("yolov8-obb"), 0.45, 100);
    g_assert_true (gst_nn_object_get_rotated_box (gst_nn_result_meta_get_object (d.result, 0), &x,
                                                  &y, &width, &height, &angle));
    g_assert_cmpfloat_with_epsilon (x, cases[i].x, 0.01);
    g_assert_cmpfloat_with_epsilon (y, cases[i].y, 0.01);
    g_assert_cmpfloat_with_epsilon (width, cases[i].width, 0.01);
    g_assert_cmpfloat_with_epsilon (height, cases[i].height, 0.01);
    g_assert_cmpfloat_with_epsilon (angle, cases[i].angle, 1e-4);
  }
}

/* What reaches out of the frame on each side, and what lies beside it. */
static void
boxes_end_at_the_edges_of_the_frame (void)
{
  static const struct {
    gfloat corners[4];
    gdouble box[4]; /* the frame's; without width: none */
  } cases[] = {
    { { -8, 4, 24, 20 }, { 0, 12, 48, 48 } },
    { { 10, -6, 24, 20 }, { 20, 0, 28, 60 } },
    { { 50, 4, 90, 20 }, { 100, 12, 28, 48 } },
    { { 10, 30, 24, 70 }, { 20, 90, 28, 54 } },
    { { -9, -9, 90, 70 }, { 0, 0, 128, 144 } },
    { { 70, 4, 90, 20 }, { 0 } },
    { { 10, -20, 24, -4 }, { 0 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Decoded) d = { 0 };
    DecodedSpan span = { 0, 12, 1, 1, 6, { 0, 0, 0, 0, 0.9f, 1 } };
    guint n = cases[i].box[2] > 0;
    memcpy (span.values, cases[i].corners, sizeof cases[i].corners);
    decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 64, 48, 128, 144);
    decoded_fill (&d, "1x300x6", NULL, 0, &span, 1);
    decoded_run (&d, gst_nn_decoder_find ("yolov10"), 0.45, 100);
    g_assert_cmpuint (gst_nn_result_meta_get_n_objects (d.result), ==, n);
    if (n > 0)
      assert_box (gst_nn_result_meta_get_object (d.result, 0), cases[i].box, 1, 1);
  }
}

static guint8
mask_byte (const GstNnMask *mask, guint column, guint row)
{
  const guint8 *v = g_bytes_get_data (gst_nn_mask_get_values (mask), NULL);
  return v[row * gst_nn_mask_get_columns (mask) + column];
}

/* Maps of 16x8 cells, which grow to the right and down: 3 and -2 of them are a mask. */
static void
each_cell_of_a_mask_is_the_sum_of_its_own_place (void)
{
  g_auto (Decoded) d = { 0 };
  DecodedSpan spans[] = { { 0, 8, 1, 1, 8, { 16, 12, 44, 30, 0.8f, 2, 3, -2 } },
                          { 1, 0, 1, 8, 16, { 0 } } };
  const GstNnMask *mask;
  gdouble x, y, width, height;
  for (guint i = 0; i < 16; i++)
    spans[1].values[i] = (gfloat)i / 8;
  decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 64, 48, 128, 144);
  decoded_fill (&d, "1x300x8 1x2x8x16", NULL, 0, spans, G_N_ELEMENTS (spans));
  for (guint i = 0; i < 128; i++)
    ((gfloat *)axon_tensor_get_data (g_ptr_array_index (d.in.tensors, 1)))[128 + i] =
        (gfloat)(i / 16) / 4;
  decoded_run (&d, gst_nn_decoder_find ("yolo26-seg"), 0.45, 100);
  mask = gst_nn_object_get_mask (gst_nn_result_meta_get_object (d.result, 0));
  g_assert_cmpuint (gst_nn_mask_get_columns (mask), ==, 7);
  g_assert_cmpuint (gst_nn_mask_get_rows (mask), ==, 3);
  gst_nn_mask_get_area (mask, &x, &y, &width, &height);
  g_assert_true (x == 32 && y == 36 && width == 56 && height == 54);
  for (guint row = 0; row < 3; row++)
    for (guint column = 0; column < 7; column++) {
      gdouble sum = 3 * (column + 4) / 8. - 2 * (row + 2) / 4.;
      g_assert_cmpint (mask_byte (mask, column, row), ==, (gint)(255 / (1 + exp (-sum)) + 0.5));
    }
}

/* A region of 40x24 pixels of the frame at (20, 30) is seen by maps of 10x6 cells; the object in it
 * is 24x16 at (28, 34): six columns and four rows. */
static void
maps_of_a_region_lie_where_the_object_lies (gconstpointer data)
{
  AxonImageInfo info = { .format = AXON_IMAGE_FORMAT_GRAY8,
                         .width = 100,
                         .height = 80,
                         .stride = { 100 },
                         .crop_x = 20,
                         .crop_y = 30,
                         .crop_width = 40,
                         .crop_height = 24 };
  const GstNnDecoder *decoder = gst_nn_decoder_find (data);
  AxonImageGeometry geometry;
  g_auto (Decoded) d = { 0 };
  const GstNnMask *mask;
  GstNnObject *o;
  gdouble x, y, width, height;
  gfloat *v;
  decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 20, 12, 100, 80);
  axon_image_geometry_init (&geometry, &info, AXON_IMAGE_FIT_STRETCH, 1, 20, 12);
  gst_nn_decode_input_place (&d.in, &geometry, 100, 80);
  decoded_fill (&d, "1x1x6x10", NULL, 0, NULL, 0);
  v = axon_tensor_get_data (g_ptr_array_index (d.in.tensors, 0));
  for (guint i = 0; i < 60; i++) /* 0 to 255 for the numbers of the part that is seen */
    v[i] = (gfloat)i;
  o = gst_nn_result_meta_add_object (d.result, 0);
  gst_nn_object_set_box (o, 28, 34, 24, 16);
  g_assert_true (decoder->fits (&d.in));
  decoder->whole (&d.in, o);
  mask = gst_nn_object_get_mask (o);
  g_assert_cmpuint (gst_nn_mask_get_columns (mask), ==, 6);
  g_assert_cmpuint (gst_nn_mask_get_rows (mask), ==, 4);
  gst_nn_mask_get_area (mask, &x, &y, &width, &height);
  g_assert_cmpfloat_with_epsilon (x, 28, 1e-6);
  g_assert_cmpfloat_with_epsilon (y, 34, 1e-6);
  g_assert_cmpfloat_with_epsilon (width, 24, 1e-6);
  g_assert_cmpfloat_with_epsilon (height, 16, 1e-6);
  for (guint row = 0; row < 4 && gst_nn_mask_get_kind (mask) == GST_NN_MASK_VALUES; row++)
    for (guint column = 0; column < 6; column++) /* from 12 to 47 */
      g_assert_cmpint (mask_byte (mask, column, row), ==,
                       (gint)((row * 10 + column) * 255 / 35. + 0.5));
  for (guint row = 0; row < 4 && gst_nn_mask_get_kind (mask) == GST_NN_MASK_CLASSES; row++)
    for (guint column = 0; column < 6; column++)
      g_assert_cmpint (mask_byte (mask, column, row), ==, 12 + row * 10 + column);
}

/* Frames that are higher than the input have bars on the left and the right. */
static void
maps_without_the_bars_beside_the_picture_cover_the_frame (void)
{
  g_auto (Decoded) d = { 0 };
  const GstNnMask *mask;
  gdouble x, y, width, height;
  decoded_init (&d, AXON_IMAGE_FIT_LETTERBOX, 16, 8, 12, 24); /* 4x8 from column 6 on */
  decoded_fill (&d, "1x1x8x16", NULL, 0, NULL, 0);
  for (guint i = 0; i < 128; i++)
    ((gfloat *)axon_tensor_get_data (g_ptr_array_index (d.in.tensors, 0)))[i] =
        (gfloat)(i % 16) / 255;
  decoded_run (&d, gst_nn_decoder_find ("matte"), 0.45, 100);
  mask = gst_nn_object_get_mask (gst_nn_result_meta_get_frame (d.result));
  g_assert_cmpuint (gst_nn_mask_get_columns (mask), ==, 4);
  g_assert_cmpuint (gst_nn_mask_get_rows (mask), ==, 8);
  gst_nn_mask_get_area (mask, &x, &y, &width, &height);
  g_assert_true (x == 0 && y == 0 && width == 12 && height == 24);
  for (guint i = 0; i < 32; i++)
    g_assert_cmpint (mask_byte (mask, i % 4, i / 4), ==, 6 + i % 4);
}

/* Maps of 8x6 cells of 8x8 pixels: the neighbours of each peak differ in another way. */
static void
joints_lie_towards_their_higher_neighbours_in_each_direction (void)
{
  static const struct {
    gint64 column, row;
    gfloat left, right, above, below;
    gdouble x, y;
  } joints[] = {
    { 3, 2, .1f, .4f, .3f, .2f, 3.25, 1.75 }, { 5, 4, .4f, .1f, .2f, .3f, 4.75, 4.25 },
    { 6, 1, .2f, .2f, .3f, .3f, 6, 1 },       { 1, 3, .5f, 0, 0, .5f, 0.75, 3.25 },
    { 6, 4, 0, .5f, .5f, 0, 6.25, 3.75 },     { 0, 5, 0, .5f, .5f, 0, 0, 5 },
    { 7, 0, .5f, 0, 0, .5f, 7, 0 },
  };
  g_auto (Decoded) d = { 0 };
  gfloat *v;
  decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 64, 48, 128, 144);
  decoded_fill (&d, "1x7x6x8", NULL, 0, NULL, 0);
  v = axon_tensor_get_data (g_ptr_array_index (d.in.tensors, 0));
  for (guint i = 0; i < G_N_ELEMENTS (joints); i++, v += 48) {
    gfloat *peak = v + joints[i].row * 8 + joints[i].column;
    *peak = .9f;
    if (joints[i].column > 0)
      peak[-1] = joints[i].left;
    if (joints[i].column < 7)
      peak[1] = joints[i].right;
    if (joints[i].row > 0)
      peak[-8] = joints[i].above;
    if (joints[i].row < 5)
      peak[8] = joints[i].below;
  }
  decoded_run (&d, gst_nn_decoder_find ("heatmap-pose"), 0.45, 100);
  for (guint i = 0; i < G_N_ELEMENTS (joints); i++)
    assert_point (gst_nn_result_meta_get_frame (d.result), i, joints[i].x * 16, joints[i].y * 24);
}

int
main (int argc, char **argv)
{
  static const gchar *const maps[] = { "depth", "anomaly", "matte", "segmentation" };
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *path = g_strdup_printf (
        "/decoderpoints/points_lie_where_the_formula_puts_them/%s-%u", rows[i].decoder, i);
    g_test_add_data_func (path, &rows[i], points_lie_where_the_formula_puts_them);
  }
  for (guint i = 0; i < G_N_ELEMENTS (maps); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/decoderpoints/maps_of_a_region_lie_where_the_object_lies/%s", maps[i]);
    g_test_add_data_func (path, maps[i], maps_of_a_region_lie_where_the_object_lies);
  }
#define ADD(name) g_test_add_func ("/decoderpoints/" #name, name)
  ADD (faces_lie_about_the_anchors_that_a_description_says);
  ADD (results_of_a_turned_region_lie_where_it_was_cut_out);
  ADD (oriented_boxes_turn_with_the_way_to_the_frame);
  ADD (boxes_end_at_the_edges_of_the_frame);
  ADD (each_cell_of_a_mask_is_the_sum_of_its_own_place);
  ADD (maps_without_the_bars_beside_the_picture_cover_the_frame);
  ADD (joints_lie_towards_their_higher_neighbours_in_each_direction);
  return g_test_run ();
}
