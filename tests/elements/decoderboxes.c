/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Outputs among which one candidate says yes, for families without a shared model. Its box was
 * computed from the published formulas in another language. */
#include "decoders.h"

#include <math.h>

#define N_SPANS 4

typedef struct {
  const gchar *decoder;
  gint width, height;
  guint n_labels;
  const gchar *shapes, *names;
  gfloat fill;
  DecodedSpan spans[N_SPANS];
  gdouble box[4]; /* x, y, width, height */
  gint class_id;
  gdouble score;
} Row;

/* clang-format off */
static const Row rows[] = {
  { "yolov3", 416, 416, 3, "1x24x13x13 1x24x26x26 1x24x52x52", NULL, -9,
    { { 1, 5781, 676, 1, 5, { 0.3f, -0.4f, 0.5f, -0.2f, 2.5f } }, { 1, 10513, 1, 1, 1, { 3 } } },
    { 102.08072, 211.99956, 102.22072, 36.84288 }, 2, 0.880314 },
  { "yolov3", 416, 416, 3, "1x13x13x24 1x26x26x24", NULL, -9,
    { { 0, 1720, 1, 1, 5, { 0.3f, -0.4f, -1.5f, -1.2f, 2.5f } }, { 0, 1726, 1, 1, 1, { 3 } } },
    { 172.00377, 124.80152, 76.75678, 96.08095 }, 1, 0.880314 },
  { "yolov4", 416, 416, 3, "1x52x52x3x8 1x26x26x3x8 1x13x13x3x8", NULL, -9,
    { { 0, 26936, 1, 1, 5, { 0.8f, -0.4f, 0.5f, -0.2f, 2.5f } }, { 0, 26941, 1, 1, 1, { 3 } } },
    { 230.1609, 156.31544, 31.3257, 29.47431 }, 0, 0.880314 },
  { "yolov5-grids", 640, 640, 3, "1x3x80x80x8 1x3x40x40x8 1x3x20x20x8", NULL, -9,
    { { 2, 1816, 1, 1, 5, { 0.8f, -1.4f, 0.5f, -0.2f, 2.5f } }, { 2, 1822, 1, 1, 1, { 3 } } },
    { 162.26866, 312.18333, 179.77941, 72.95379 }, 1, 0.880314 },
  { "yolox", 64, 64, 2, "1x84x7", NULL, 0,
    { { 0, 70, 1, 1, 7, { 0.5f, 0.5f, 0, 0, 1, 0, 0.9f } } },
    { 16, 8, 8, 8 }, 1, 0.9 },
  { "yolov5", 64, 64, 2, "1x252x7", NULL, 0,
    { { 0, 35, 1, 1, 7, { 20, 12, 8, 8, 1, 0, 0.9f } } },
    { 16, 8, 8, 8 }, 1, 0.9 },
  { "yolov6", 320, 320, 3, "1x2100x8", NULL, 0,
    { { 0, 616, 1, 1, 8, { 100, 60, 40, 20, 1, 0.1f, 0.2f, 0.8f } } },
    { 80, 50, 40, 20 }, 2, 0.8 },
  { "yolov7", 320, 320, 3, "1x6300x8", NULL, 0,
    { { 0, 6216, 1, 1, 8, { 100, 60, 40, 20, 0.9f, 0.1f, 0.2f, 0.8f } } },
    { 80, 50, 40, 20 }, 2, 0.72 },
  { "yolov8", 320, 320, 3, "1x7x2100", NULL, 0,
    { { 0, 777, 2100, 1, 7, { 100, 60, 40, 20, 0.1f, 0.2f, 0.8f } } },
    { 80, 50, 40, 20 }, 2, 0.8 },
  { "yolo11", 320, 320, 3, "1x2100x7", NULL, 0,
    { { 0, 5439, 1, 1, 7, { 100, 60, 40, 20, 0.1f, 0.9f, 0.8f } } },
    { 80, 50, 40, 20 }, 1, 0.9 },
  { "yolov10", 320, 320, 3, "1x300x6", NULL, 0,
    { { 0, 0, 1, 1, 6, { 80, 50, 120, 70, 0.85f, 2 } } },
    { 80, 50, 40, 20 }, 2, 0.85 },
  { "rtdetr", 320, 320, 3, "1x300x7", NULL, 0,
    { { 0, 70, 1, 1, 7, { 0.3125f, 0.1875f, 0.125f, 0.0625f, 0.1f, 0.2f, 0.8f } } },
    { 80, 50, 40, 20 }, 2, 0.8 },
  { "rtdetr", 640, 320, 3, "1x300x3 1x300x4", NULL, -9,
    { { 0, 30, 1, 1, 3, { -3, 1.5f, -2 } }, { 1, 40, 1, 1, 4, { 0.5f, 0.25f, 0.125f, 0.0625f } } },
    { 280, 70, 80, 20 }, 1, 0.817574 },
  { "detr", 640, 320, 3, "1x100x4 1x100x4", NULL, 0,
    { { 0, 3, 4, 100, 1, { 9 } }, { 0, 40, 1, 1, 4, { 0.5f, 3, -1, 1 } }, { 1, 40, 1, 1, 4, { 0.5f, 0.25f, 0.125f, 0.0625f } } },
    { 280, 70, 80, 20 }, 1, 0.809234 },
  { "detection-output", 640, 320, 3, "1x1x9x7", NULL, -1,
    { { 0, 0, 1, 1, 7, { 0, 2, 0.7f, 0.25f, 0.5f, 0.375f, 0.75f } } },
    { 160, 160, 80, 80 }, 2, 0.7 },
  { "detections", 640, 320, 3, "1x10x4 1x10 1x10 1", NULL, 0,
    { { 0, 0, 1, 1, 4, { 0.5f, 0.25f, 0.75f, 0.375f } }, { 1, 0, 1, 1, 1, { 2 } }, { 2, 0, 1, 1, 1, { 0.7f } }, { 3, 0, 1, 1, 1, { 1 } } },
    { 160, 160, 80, 80 }, 2, 0.7 },
  { "detections", 640, 320, 3, "10x4 10 10", "boxes scores labels", 0,
    { { 0, 0, 1, 1, 4, { 160, 160, 240, 240 } }, { 1, 0, 1, 1, 1, { 0.7f } }, { 2, 0, 1, 1, 1, { 2 } } },
    { 160, 160, 80, 80 }, 2, 0.7 },
  { "detections", 640, 320, 3, "10x4 10 10", "boxes labels scores", 0,
    { { 0, 0, 1, 1, 4, { 160, 160, 240, 240 } }, { 1, 0, 1, 1, 1, { 2 } }, { 2, 0, 1, 1, 1, { 0.7f } } },
    { 160, 160, 80, 80 }, 2, 0.7 },
  { "detections", 640, 320, 3, "1x10x5 1x10", NULL, 0,
    { { 0, 0, 1, 1, 5, { 160, 160, 240, 240, 0.7f } }, { 1, 0, 1, 1, 1, { 2 } } },
    { 160, 160, 80, 80 }, 2, 0.7 },
  { "nms-graph", 640, 320, 3, "2x7", NULL, 0,
    { { 0, 7, 1, 1, 7, { 0, 160, 160, 240, 240, 2, 0.7f } } },
    { 160, 160, 80, 80 }, 2, 0.7 },
  { "nms-graph", 640, 320, 3, "2x7", "batchno_classid_x1y1x2y2_score", 0,
    { { 0, 7, 1, 1, 7, { 0, 2, 160, 160, 240, 240, 0.7f } } },
    { 160, 160, 80, 80 }, 2, 0.7 },
  { "nms-graph", 640, 320, 3, "1x20x4 1x3x20 1x1x3", NULL, 0,
    { { 0, 44, 1, 1, 4, { 160, 100, 240, 200 } }, { 1, 51, 1, 1, 1, { 0.7f } }, { 2, 0, 1, 1, 3, { 0, 2, 11 } } },
    { 100, 160, 100, 80 }, 2, 0.7 },
  { "centernet", 256, 256, 3, "1x3x64x64 1x2x64x64 1x2x64x64", NULL, 0,
    { { 0, 9502, 1, 1, 2, { 0.8f, 0.5f } }, { 0, 9566, 1, 1, 1, { 0.6f } }, { 1, 1310, 4096, 1, 2, { 12.5f, 7.25f } }, { 2, 1310, 4096, 1, 2, { 0.4f, 0.7f } } },
    { 96.6, 68.3, 50, 29 }, 2, 0.8 },
  { "centernet", 256, 256, 3, "1x3x64x64 1x2x64x64 1x2x64x64", NULL, -9,
    { { 0, 9502, 1, 1, 1, { 2 } }, { 1, 1310, 4096, 1, 2, { 12.5f, 7.25f } }, { 2, 1310, 4096, 1, 2, { 0.4f, 0.7f } } },
    { 96.6, 68.3, 50, 29 }, 2, 0.880797 },
  { "picodet", 320, 320, 3, "1x1600x3 1x400x3 1x100x3 1x25x3 1x1600x32 1x400x32 1x100x32 1x25x32", NULL, 0,
    { { 1, 562, 1, 1, 1, { 0.8f } }, { 5, 5984, 1, 1, 32, { 0, 4, 3, 0, 0, 0, 0, 0, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0, 0, 4, 3, 0, 0 } } },
    { 96.24913, 113.83557, 76.32885, 105.15597 }, 1, 0.8 },
  { "nanodet", 320, 320, 3, "1x2100x35", NULL, 0,
    { { 0, 62546, 1, 1, 1, { 0.8f } }, { 0, 62548, 1, 1, 32, { 0, 4, 3, 0, 0, 0, 0, 0, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0, 0, 4, 3, 0, 0 } } },
    { 96.24913, 113.83557, 76.32885, 105.15597 }, 1, 0.8 },
  { "nanodet", 320, 320, 3, "1x2125x35", NULL, 0,
    { { 0, 62546, 1, 1, 1, { 0.8f } }, { 0, 62548, 1, 1, 32, { 0, 4, 3, 0, 0, 0, 0, 0, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0, 0, 4, 3, 0, 0 } } },
    { 88.24913, 105.83557, 76.32885, 105.15597 }, 1, 0.8 },
  { "ssd", 300, 300, 3, "1x20 1x15 1x2x20", NULL, 0,
    { { 0, 12, 1, 1, 4, { 0.5f, -0.3f, 0.4f, -0.6f } }, { 1, 9, 1, 1, 3, { 0.1f, 0.2f, 0.7f } }, { 2, 12, 1, 1, 4, { 0.2f, 0.3f, 0.4f, 0.7f } }, { 2, 32, 1, 1, 4, { 0.1f, 0.1f, 0.2f, 0.2f } } },
    { 60.50139, 93.18477, 64.99722, 106.43045 }, 2, 0.7 },
  { "ssd", 300, 300, 81, "1x8732x4 1x8732x81", NULL, 0,
    { { 0, 26412, 1, 1, 4, { 0.5f, -0.3f, 0.4f, -0.6f } }, { 1, 534923, 1, 1, 1, { 0.9f } } },
    { 59.22673, 83.09743, 28.14462, 69.12861 }, 80, 0.9 },
  { "ssd", 300, 300, 81, "1x8732x4 1x8732x81", NULL, 0,
    { { 0, 26396, 1, 1, 4, { 0.5f, -0.3f, 0.4f, -0.6f } }, { 1, 534599, 1, 1, 1, { 0.9f } } },
    { 39.18487, 88.39853, 72.30485, 59.1982 }, 80, 0.9 },
  { "ssd", 300, 300, 81, "1x8732x4 1x8732x81", NULL, -9,
    { { 0, 26412, 1, 1, 4, { 0.5f, -0.3f, 0.4f, -0.6f } }, { 1, 534923, 1, 1, 1, { 4 } } },
    { 59.22673, 83.09743, 28.14462, 69.12861 }, 80, 0.999819 },
  { "ssd", 300, 300, 21, "1x8732x4 1x8732x21", NULL, 0,
    { { 0, 26396, 1, 1, 4, { 0.5f, -0.3f, 0.4f, -0.6f } }, { 1, 138596, 1, 1, 1, { 0.9f } } },
    { 31.87755, 81.36147, 88.40578, 72.38053 }, 17, 0.9 },
  { "ssd", 300, 300, 20, "1x8732x4 1x8732x21", NULL, 0,
    { { 0, 26408, 1, 1, 4, { 0.5f, -0.3f, 0.4f, -0.6f } }, { 1, 138659, 1, 1, 1, { 0.9f } } },
    { 20.90691, 103.59886, 112.57849, 30.72383 }, 16, 0.9 },
  { "palm", 192, 192, 1, "1x2016x18 1x2016x1", NULL, -50,
    { { 0, 31698, 1, 1, 18, { 10, -6, 30, 40, -20, -16.92308f, -13.84615f, -10.76923f, -7.69231f, -4.61538f, -1.53846f, 1.53846f, 4.61538f, 7.69231f, 10.76923f, 13.84615f, 16.92308f, 20 } }, { 1, 1761, 1, 1, 1, { 2 } } },
    { 83, 110, 30, 40 }, 0, 0.880797 },
  { "yolov8-pose", 320, 320, 1, "1x56x2100", NULL, 0,
    { { 0, 777, 2100, 1, 56, { 100, 60, 40, 20, 0.8f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51 } } },
    { 80, 50, 40, 20 }, 0, 0.8 },
  { "yolov8-obb", 320, 320, 3, "1x8x2100", NULL, 0,
    { { 0, 777, 2100, 1, 8, { 150, 160, 60, 20, 0.1f, 0.2f, 0.8f, 0.5f } } },
    { 118.87827, 136.84141, 62.24346, 46.31718 }, 2, 0.8 },
  { "yolo26-obb", 320, 320, 3, "1x300x7", NULL, 0,
    { { 0, 0, 1, 1, 7, { 150, 160, 60, 20, 0.8f, 2, 0.5f } } },
    { 118.87827, 136.84141, 62.24346, 46.31718 }, 2, 0.8 },
  { "yolo26-pose", 320, 320, 1, "1x300x57", NULL, 0,
    { { 0, 0, 1, 1, 57, { 80, 50, 120, 70, 0.8f, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51 } } },
    { 80, 50, 40, 20 }, 0, 0.8 },
  { "yolov5-seg", 320, 320, 3, "1x6300x10 1x2x80x80", NULL, 0,
    { { 0, 7770, 1, 1, 10, { 100, 60, 40, 20, 0.9f, 0.1f, 0.2f, 0.8f, 3, -2 } }, { 1, 0, 1, 6400, 1, { 1 } } },
    { 80, 50, 40, 20 }, 2, 0.72 },
  { "yolo26-seg", 320, 320, 3, "1x300x8 1x2x80x80", NULL, 0,
    { { 0, 0, 1, 1, 8, { 80, 50, 120, 70, 0.8f, 2, 3, -2 } }, { 1, 0, 1, 6400, 1, { 1 } } },
    { 80, 50, 40, 20 }, 2, 0.8 },
};
/* clang-format on */

/* Without a change of size: results are in pixels of the input. */
static void
load (Decoded *d, const Row *row)
{
  decoded_init (d, AXON_IMAGE_FIT_STRETCH, row->width, row->height, row->width, row->height);
  decoded_fill (d, row->shapes, row->names, row->fill, row->spans, N_SPANS);
  d->in.n_labels = row->n_labels;
}

static void
assert_box (const GstNnObject *o, const gdouble box[4])
{
  gdouble got[4];
  gst_nn_object_get_box (o, &got[0], &got[1], &got[2], &got[3]);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat_with_epsilon (got[i], box[i], 0.01);
}

static void
the_one_candidate_is_where_the_formula_puts_it (gconstpointer data)
{
  const Row *row = data;
  g_auto (Decoded) d = { 0 };
  const GstNnObject *o;
  load (&d, row);
  decoded_run (&d, gst_nn_decoder_find (row->decoder), 0.45, 100);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (d.result), ==, 1);
  o = gst_nn_result_meta_get_object (d.result, 0);
  assert_box (o, row->box);
  g_assert_cmpint (gst_nn_object_get_class_id (o), ==, row->class_id);
  g_assert_cmpfloat_with_epsilon (gst_nn_object_get_score (o), row->score, 1e-4);
}

/* A score that is as high as the threshold is high enough. */
static void
a_candidate_counts_up_to_its_score (gconstpointer data)
{
  const Row *row = data;
  const GstNnDecoder *decoder = gst_nn_decoder_find (row->decoder);
  g_auto (Decoded) d = { 0 };
  gdouble score;
  load (&d, row);
  decoded_run (&d, decoder, 0.45, 100);
  score = gst_nn_object_get_score (gst_nn_result_meta_get_object (d.result, 0));
  d.in.threshold = score;
  decoded_run (&d, decoder, 0.45, 100);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (d.result), ==, 1);
  d.in.threshold = score + 1e-6;
  decoded_run (&d, decoder, 0.45, 100);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (d.result), ==, 0);
}

static const Row *
find_row (const gchar *decoder)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_equal (rows[i].decoder, decoder))
      return &rows[i];
  g_assert_not_reached ();
}

static const GstNnObject *
decode_row (Decoded *d, const gchar *decoder)
{
  load (d, find_row (decoder));
  decoded_run (d, gst_nn_decoder_find (decoder), 0.45, 100);
  return gst_nn_result_meta_get_object (d->result, 0);
}

static void
persons_have_the_joints_of_coco (void)
{
  static const gchar *const decoders[] = { "yolov8-pose", "yolo26-pose" };
  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++) {
    g_auto (Decoded) d = { 0 };
    const GstNnObject *o = decode_row (&d, decoders[i]);
    gdouble x, y, score;
    g_assert_cmpuint (gst_nn_object_get_n_keypoints (o), ==, 17);
    g_assert_true (gst_nn_object_get_keypoint (o, 16, &x, &y, &score));
    g_assert_cmpfloat (x, ==, 49);
    g_assert_cmpfloat (y, ==, 50);
    g_assert_cmpfloat (score, ==, 51);
    g_assert_cmpstr (gst_nn_skeleton_get_name (gst_nn_object_get_skeleton (o), 9), ==,
                     "left wrist");
    g_assert_cmpuint (gst_nn_skeleton_get_n_bones (gst_nn_object_get_skeleton (o)), ==, 19);
  }
}

static void
palms_have_seven_points (void)
{
  g_auto (Decoded) d = { 0 };
  const GstNnObject *o = decode_row (&d, "palm");
  gdouble x, y, score;
  g_assert_cmpuint (gst_nn_object_get_n_keypoints (o), ==, 7);
  g_assert_true (gst_nn_object_get_keypoint (o, 0, &x, &y, &score));
  g_assert_cmpfloat_with_epsilon (x, 5.5 * 16 - 20, 1e-3);
  g_assert_cmpfloat_with_epsilon (y, 8.5 * 16 - 20 + 40. / 13, 1e-3);
}

static void
oriented_boxes_keep_their_angle (void)
{
  static const gchar *const decoders[] = { "yolov8-obb", "yolo26-obb" };
  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++) {
    g_auto (Decoded) d = { 0 };
    gdouble x, y, width, height, angle;
    g_assert_true (gst_nn_object_get_rotated_box (decode_row (&d, decoders[i]), &x, &y, &width,
                                                  &height, &angle));
    g_assert_cmpfloat_with_epsilon (x, 150, 1e-3);
    g_assert_cmpfloat_with_epsilon (y, 160, 1e-3);
    g_assert_cmpfloat_with_epsilon (width, 60, 1e-3);
    g_assert_cmpfloat_with_epsilon (height, 20, 1e-3);
    g_assert_cmpfloat_with_epsilon (angle, 0.5, 1e-6);
  }
}

/* Maps of 80x80, of which the first is 1 and the second 0; weights 3 and -2. */
static void
a_mask_covers_the_cells_of_its_box (void)
{
  static const gchar *const decoders[] = { "yolov5-seg", "yolo26-seg" };
  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++) {
    g_auto (Decoded) d = { 0 };
    GstNnMask *mask = gst_nn_object_get_mask (decode_row (&d, decoders[i]));
    gdouble x, y, width, height;
    g_assert_nonnull (mask);
    g_assert_cmpuint (gst_nn_mask_get_columns (mask), ==, 10);
    g_assert_cmpuint (gst_nn_mask_get_rows (mask), ==, 5);
    gst_nn_mask_get_area (mask, &x, &y, &width, &height);
    g_assert_cmpfloat (x, ==, 80);
    g_assert_cmpfloat (y, ==, 52);
    g_assert_cmpfloat (width, ==, 40);
    g_assert_cmpfloat (height, ==, 20);
    g_assert_cmpint (gst_nn_mask_get_value_at (mask, 100, 60), ==, 243); /* sigmoid (3) */
  }
}

/* One grid of 8x8 cells of 32 pixels, one anchor each. */
static void
anchors_of_the_description_are_taken (void)
{
  static const gfloat anchors[] = { 40, 80 };
  static const guint strides[] = { 32 };
  g_auto (Decoded) d = { 0 };
  Row row = { .width = 256, .height = 256, .shapes = "1x64x4 1x64x2" };
  row.spans[0] = (DecodedSpan){ 1, 2 * (8 * 3 + 5) + 1, 1, 1, 1, { 4 } };
  load (&d, &row);
  d.in.anchors = anchors;
  d.in.n_anchors = 2;
  d.in.strides = strides;
  d.in.n_strides = 1;
  d.in.activation = "softmax";
  d.in.threshold = 0.9;
  decoded_run (&d, gst_nn_decoder_find ("ssd"), 0.45, 100);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (d.result), ==, 1);
  assert_box (gst_nn_result_meta_get_object (d.result, 0),
              (gdouble[]){ 5.5 * 32 - 20, 3.5 * 32 - 40, 40, 80 });
  g_assert_cmpfloat_with_epsilon (
      gst_nn_object_get_score (gst_nn_result_meta_get_object (d.result, 0)), 1 / (1 + exp (-4)),
      1e-6);
}

/* Two grids of 6x4 and 3x2 cells, two anchors each: one of either, each in a place of its own. */
static void
each_grid_of_a_description_has_anchors_of_its_own (void)
{
  static const gfloat anchors[] = { 10, 20, 12, 24, 26, 28, 30, 22 };
  static const guint strides[] = { 16, 32 };
  static const struct {
    gint64 at;
    gdouble box[4];
  } cases[] = { { 30, { 56 + 1 - 5, 40 - 4 - 10, 10, 20 } },
                { 17, { 40 + 1.2 - 6, 24 - 4.8 - 12, 12, 24 } },
                { 48 + 10, { 80 + 2.6 - 13, 48 - 5.6 - 14, 26, 28 } },
                { 48 + 3, { 48 + 3 - 15, 16 - 4.4 - 11, 30, 22 } } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Decoded) d = { 0 };
    Row row = { .width = 96, .height = 64, .shapes = "1x60x4 1x60x3" };
    row.spans[0] = (DecodedSpan){ 0, 4 * cases[i].at, 1, 1, 2, { 1, -2 } };
    row.spans[1] = (DecodedSpan){ 1, 3 * cases[i].at + 2, 1, 1, 1, { 0.9f } };
    load (&d, &row);
    d.in.anchors = anchors;
    d.in.n_anchors = G_N_ELEMENTS (anchors);
    d.in.strides = strides;
    d.in.n_strides = G_N_ELEMENTS (strides);
    decoded_run (&d, gst_nn_decoder_find ("ssd"), 0.45, 100);
    g_assert_cmpuint (gst_nn_result_meta_get_n_objects (d.result), ==, 1);
    assert_box (gst_nn_result_meta_get_object (d.result, 0), cases[i].box);
  }
}

/* Of thin boxes that cross only the weaker of the same direction goes; upright boxes around them
 * would be the same. */
static void
crossing_boxes_are_two_objects (void)
{
  static const gdouble angles[] = { 0.7, -0.7, 0.72 };
  g_autoptr (GArray) objects = g_array_new (FALSE, TRUE, sizeof (GstNnDetection));
  for (guint i = 0; i < G_N_ELEMENTS (angles); i++)
    g_assert_nonnull (
        gst_nn_add_rotated (objects, (gdouble[]){ 100, 100 }, 80, 8, angles[i], 0.9 - 0.1 * i, 0));
  gst_nn_suppress (objects, 0.45, 100);
  g_assert_cmpuint (objects->len, ==, 2);
  g_assert_cmpfloat (g_array_index (objects, GstNnDetection, 1).angle, ==, -0.7);
}

/* A hundred thousand candidates are no more work than the best ten thousand. */
static void
of_too_many_candidates_the_best_stay (void)
{
  g_autoptr (GArray) objects = g_array_new (FALSE, TRUE, sizeof (GstNnDetection));
  for (guint i = 0; i < 100000; i++)
    gst_nn_add_object (objects, i % 300, i / 300, 0.5, 0.5, (i * 7919 % 100000) / 1e5, 0);
  g_assert_cmpuint (objects->len, ==, GST_NN_MAX_OBJECTS);
  gst_nn_suppress (objects, 0.45, GST_NN_MAX_OBJECTS);
  g_assert_cmpuint (objects->len, ==, GST_NN_MAX_OBJECTS);
  g_assert_cmpfloat (g_array_index (objects, GstNnDetection, 0).score, ==, 0.99999);
  g_assert_cmpfloat (g_array_index (objects, GstNnDetection, objects->len - 1).score, ==, 0.9);
}

/* Nothing says where the picture lay in the input, and perhaps not even how large it was. */
static void
without_a_geometry_the_frame_was_stretched_to_the_input (void)
{
  static const struct {
    gint described, width, height;
    gdouble box[4];
  } cases[] = {
    { 0, 640, 480, { 64, 96, 128, 96 } },
    { 320, 640, 480, { 64, 96, 128, 96 } },
    { 0, 1, 1, { 0.1, 0.2, 0.2, 0.2 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GstNnDescription) description = gst_nn_description_new ();
    AxonImageGeometry none = { 0 };
    Row row = { .width = cases[i].width, .height = cases[i].height, .shapes = "1x1x4 1x1x1" };
    g_auto (Decoded) d = { 0 };
    row.spans[0] = (DecodedSpan){ 0, 0, 1, 1, 4, { 0.1f, 0.2f, 0.3f, 0.4f } };
    row.spans[1] = (DecodedSpan){ 1, 0, 1, 1, 1, { 0.9f } };
    load (&d, &row);
    description->width = description->height = cases[i].described;
    d.in.description = description;
    gst_nn_decode_input_place (&d.in, &none, cases[i].width, cases[i].height);
    decoded_run (&d, gst_nn_decoder_find ("boxes-scores"), 0.45, 100);
    assert_box (gst_nn_result_meta_get_object (d.result, 0), cases[i].box);
  }
}

/* As the model's authors have it; Ultralytics takes the best. */
static void
a_query_of_rt_detr_may_have_several_classes (void)
{
  static const struct {
    const gchar *shapes;
    guint n_objects;
    DecodedSpan spans[2];
  } cases[] = {
    { "1x300x3 1x300x4",
      2,
      { { 0, 30, 1, 1, 3, { 2, -3, 1 } }, { 1, 40, 1, 1, 4, { 0.5f, 0.5f, 0.2f, 0.2f } } } },
    { "1x300x7", 1, { { 0, 70, 1, 1, 7, { 0.5f, 0.5f, 0.2f, 0.2f, 0.88f, 0.04f, 0.73f } } } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Row row = {
      .width = 100, .height = 100, .n_labels = 3, .shapes = cases[i].shapes, .fill = i ? 0 : -9
    };
    g_auto (Decoded) d = { 0 };
    memcpy (row.spans, cases[i].spans, sizeof cases[i].spans);
    load (&d, &row);
    decoded_run (&d, gst_nn_decoder_find ("rtdetr"), 0.45, 100);
    g_assert_cmpuint (gst_nn_result_meta_get_n_objects (d.result), ==, cases[i].n_objects);
    for (guint k = 0; k < cases[i].n_objects; k++) {
      const GstNnObject *o = gst_nn_result_meta_get_object (d.result, k);
      assert_box (o, (gdouble[]){ 40, 40, 20, 20 });
      g_assert_cmpint (gst_nn_object_get_class_id (o), ==, k == 0 ? 0 : 2);
    }
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *path = g_strdup_printf (
        "/decoderboxes/the_one_candidate_is_where_the_formula_puts_it/%s-%u", rows[i].decoder, i);
    g_autofree gchar *score = g_strdup_printf (
        "/decoderboxes/a_candidate_counts_up_to_its_score/%s-%u", rows[i].decoder, i);
    g_test_add_data_func (path, &rows[i], the_one_candidate_is_where_the_formula_puts_it);
    g_test_add_data_func (score, &rows[i], a_candidate_counts_up_to_its_score);
  }
#define ADD(name) g_test_add_func ("/decoderboxes/" #name, name)
  ADD (persons_have_the_joints_of_coco);
  ADD (palms_have_seven_points);
  ADD (oriented_boxes_keep_their_angle);
  ADD (a_mask_covers_the_cells_of_its_box);
  ADD (anchors_of_the_description_are_taken);
  ADD (each_grid_of_a_description_has_anchors_of_its_own);
  ADD (crossing_boxes_are_two_objects);
  ADD (of_too_many_candidates_the_best_stay);
  ADD (a_query_of_rt_detr_may_have_several_classes);
  ADD (without_a_geometry_the_frame_was_stretched_to_the_input);
  return g_test_run ();
}
