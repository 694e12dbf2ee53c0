/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Outputs that real models gave for shared pictures, decoded: the boxes of their READMEs, which
 * each family's published code found; and where a mask lies. */
#include "decoders.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

typedef struct {
  const gchar *model, *decoder, *labels; /* labels: COCO's or by comma */
  guint set;
  gdouble threshold, iou, least_overlap, tolerance; /* of scores */
  gint width, height;                               /* of the picture */
} Golden;

static const Golden goldens[] = {
  { "models/blazeface-short-128", "blazeface", "face", 0, 0.5, 0.3, 0.9, 0.001, 1314, 1752 },
  { "models/fastestdet-352", "fastestdet", "coco", 0, 0.55, 0.45, 0.95, 0.001, 768, 512 },
  { "models/fastestdet-352-qop-u8s8", "fastestdet", "coco", 0, 0.55, 0.45, 0.85, 0.05, 768, 512 },
  { "models/ultraface-rfb-320", "boxes-scores", "background,face", 0, 0.7, 0.3, 0.95, 0.001, 1024,
    768 },
  { "models/ultraface-rfb-320-qdq-s8", "boxes-scores", "background,face", 0, 0.7, 0.3, 0.85, 0.05,
    1024, 768 },
  { "models/yolox-nano-416", "yolox", "coco", 0, 0.35, 0.45, 0.95, 0.001, 768, 512 },
  { "models/yunet-n-dynamic", "yunet", "face", 0, 0.7, 0.3, 0.95, 0.001, 1024, 768 },
  { "models/yunet-n-dynamic", "yunet", "face", 1, 0.7, 0.3, 0.95, 0.001, 1024, 768 },
  { "families/retinaface-mnet025-640", "retinaface", "face", 0, 0.5, 0.4, 0.95, 0.001, 1024, 768 },
  { "families/scrfd-500m-kps-dynamic", "scrfd", "face", 0, 0.5, 0.4, 0.95, 0.001, 1024, 768 },
  { "families/yolo26n-640-end2end-dynquant", "yolov10", "coco", 0, 0.25, 0.45, 0.95, 0.001, 768,
    512 },
  { "families/yolov5n-640-fp16", "yolov5", "coco", 0, 0.25, 0.45, 0.95, 0.001, 768, 512 },
  { "families/yolov8n-320-dynquant", "yolov8", "coco", 0, 0.25, 0.45, 0.95, 0.001, 768, 512 },
  { "families/yolov8n-seg-320-dynquant", "yolov8-seg", "coco", 0, 0.25, 0.45, 0.95, 0.001, 768,
    512 },
};

static gchar **
read_labels (const gchar *labels)
{
  g_autofree gchar *path = NULL, *text = NULL;
  if (!g_str_equal (labels, "coco"))
    return g_strsplit (labels, ",", -1);
  path = test_data ("models/labels/coco80.txt");
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  return g_strsplit (g_strstrip (text), "\n", -1);
}

static AxonTensor *
read_output (const gchar *root, guint set, guint i)
{
  g_autofree gchar *path = g_strdup_printf ("%s/test_data_set_%u/output_%u.pb", root, set, i);
  g_autoptr (AxonTensor) raw = NULL;
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return NULL;
  raw = axon_core_read_tensor (axon_core_get_default (), path, AXON_DTYPE_F32, NULL);
  g_assert_nonnull (raw);
  return axon_tensor_convert (raw, AXON_DTYPE_F32, NULL);
}

/* What meta.json says of the data set; the parser owns it. */
static JsonObject *
read_set (const Golden *g, JsonParser *parser)
{
  g_autofree gchar *base = g_build_filename (g->model, "meta.json", NULL);
  g_autofree gchar *path = test_data (base);
  g_assert_true (json_parser_load_from_file (parser, path, NULL));
  return json_array_get_object_element (
      json_object_get_array_member (json_node_get_object (json_parser_get_root (parser)),
                                    "data_sets"),
      g->set);
}

static AxonImageFit
fit_of (JsonObject *preprocess)
{
  const gchar *mode = json_object_get_string_member_with_default (preprocess, "mode", "");
  return g_str_equal (mode, "letterbox_tl")  ? AXON_IMAGE_FIT_TOP_LEFT
         : g_str_equal (mode, "letterbox_c") ? AXON_IMAGE_FIT_LETTERBOX
                                             : AXON_IMAGE_FIT_STRETCH;
}

static gdouble
overlap (const gdouble a[4], const gdouble b[4])
{
  gdouble w = MIN (a[2], b[2]) - MAX (a[0], b[0]), h = MIN (a[3], b[3]) - MAX (a[1], b[1]);
  if (w <= 0 || h <= 0)
    return 0;
  return w * h / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h);
}

static void
read_box (JsonObject *wanted, const Golden *g, gdouble box[4])
{
  JsonArray *numbers = json_object_get_array_member (wanted, "box");
  for (guint k = 0; k < 4; k++)
    box[k] = CLAMP (json_array_get_double_element (numbers, k), 0, k % 2 ? g->height : g->width);
}

/* The object of that label nearest to the wanted box. */
static const GstNnObject *
find_object (const Decoded *d, JsonObject *wanted, const gdouble box[4], gdouble *best)
{
  const GstNnObject *found = NULL, *o;
  *best = 0;
  for (guint i = 0; (o = gst_nn_result_meta_get_object (d->result, i)) != NULL; i++) {
    gdouble got[4], iou;
    gst_nn_object_get_box (o, &got[0], &got[1], &got[2], &got[3]);
    got[2] += got[0];
    got[3] += got[1];
    iou = overlap (got, box);
    if (iou > *best && g_strcmp0 (gst_nn_object_get_label (o),
                                  json_object_get_string_member (wanted, "label")) == 0) {
      *best = iou;
      found = o;
    }
  }
  return found;
}

static void
check_points (const GstNnObject *o, JsonObject *wanted)
{
  JsonArray *points;
  if (!json_object_has_member (wanted, "points"))
    return;
  points = json_object_get_array_member (wanted, "points");
  g_assert_cmpuint (gst_nn_object_get_n_keypoints (o), ==, json_array_get_length (points));
  for (guint k = 0; k < json_array_get_length (points); k++) {
    JsonArray *point = json_array_get_array_element (points, k);
    gdouble x, y, score;
    gst_nn_object_get_keypoint (o, k, &x, &y, &score);
    g_assert_cmpfloat_with_epsilon (x, json_array_get_double_element (point, 0), 1);
    g_assert_cmpfloat_with_epsilon (y, json_array_get_double_element (point, 1), 1);
  }
}

static void
check_mask (const GstNnObject *o, JsonObject *wanted)
{
  g_autoptr (GBytes) values = NULL;
  const guint8 *v;
  gsize n;
  gint64 inside = 0, pixels;
  if (!json_object_has_member (wanted, "mask_pixels_in_proto"))
    return;
  pixels = json_object_get_int_member (wanted, "mask_pixels_in_proto");
  g_assert_nonnull (gst_nn_object_get_mask (o));
  values = g_bytes_ref (gst_nn_mask_get_values (gst_nn_object_get_mask (o)));
  v = g_bytes_get_data (values, &n);
  for (gsize i = 0; i < n; i++)
    inside += v[i] > 127;
  g_assert_cmpint (ABS (inside - pixels), <=, 2 + pixels / 25);
}

/* READMEs list the best. */
static gdouble
least_score (JsonArray *wanted)
{
  gdouble least = 1;
  for (guint i = 0; i < json_array_get_length (wanted); i++)
    least = MIN (
        least, json_object_get_double_member (json_array_get_object_element (wanted, i), "score"));
  return least;
}

static guint
count_from (const Decoded *d, gdouble score)
{
  guint n = 0;
  const GstNnObject *o;
  for (guint i = 0; (o = gst_nn_result_meta_get_object (d->result, i)) != NULL; i++)
    n += gst_nn_object_get_score (o) >= score;
  return n;
}

static void
real_outputs_decode_to_the_boxes_of_the_readme (gconstpointer data)
{
  const Golden *g = data;
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_auto (GStrv) labels = NULL;
  g_auto (Decoded) d = { 0 };
  g_autofree gchar *root = test_data (g->model);
  JsonObject *set, *preprocess;
  JsonArray *size, *wanted;
  AxonTensor *output;
  decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 1, 1, 1, 1);
  if (root == NULL)
    return;
  set = read_set (g, parser);
  preprocess = json_object_get_object_member (set, "preprocess");
  size = json_object_get_array_member (preprocess, "size");
  decoded_clear (&d);
  decoded_init (&d, fit_of (preprocess), (gint)json_array_get_int_element (size, 0),
                (gint)json_array_get_int_element (size, 1), g->width, g->height);
  for (guint i = 0; (output = read_output (root, g->set, i)) != NULL; i++)
    decoded_add (&d, output, NULL);
  labels = read_labels (g->labels);
  decoded_set_labels (&d, labels);
  d.in.threshold = g->threshold;
  g_assert_cmpstr (gst_nn_decoder_probe (&d.in)->name, ==, g->decoder);
  decoded_run (&d, gst_nn_decoder_find (g->decoder), g->iou, 100);
  wanted = json_object_get_array_member (set, "reference_result");
  g_assert_cmpuint (count_from (&d, least_score (wanted) - g->tolerance), ==,
                    json_array_get_length (wanted));
  for (guint i = 0; i < json_array_get_length (wanted); i++) {
    JsonObject *w = json_array_get_object_element (wanted, i);
    gdouble box[4], iou;
    const GstNnObject *o;
    read_box (w, g, box);
    o = find_object (&d, w, box, &iou);
    g_assert_nonnull (o);
    g_assert_cmpfloat (iou, >=, g->least_overlap);
    g_assert_cmpfloat_with_epsilon (gst_nn_object_get_score (o),
                                    json_object_get_double_member (w, "score"), g->tolerance);
    check_points (o, w);
    check_mask (o, w);
  }
}

/* Rows of numbers in an order that no decoder relies on; there is one output. */
static void
what_suppression_in_the_graph_chose_is_decoded (void)
{
  static const gdouble first[] = { 224.7 - 31.1, 164.7 - 93.5, 62.2, 187.0 };
  g_auto (GStrv) labels = NULL;
  g_auto (Decoded) d = { 0 };
  g_autofree gchar *root = test_data ("families/nms-yolov8-graph");
  gdouble got[4];
  const GstNnObject *o;
  decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 320, 320, 320, 320);
  if (root == NULL)
    return;
  decoded_add (&d, read_output (root, 0, 0), NULL);
  labels = read_labels ("coco");
  decoded_set_labels (&d, labels);
  d.in.threshold = 0.25;
  g_assert_cmpstr (gst_nn_decoder_probe (&d.in)->name, ==, "nms-graph");
  decoded_run (&d, gst_nn_decoder_find ("nms-graph"), 0.45, 100);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (d.result), ==, 11);
  o = gst_nn_result_meta_get_object (d.result, 0);
  g_assert_cmpstr (gst_nn_object_get_label (o), ==, "person");
  g_assert_cmpfloat_with_epsilon (gst_nn_object_get_score (o), 0.9314, 1e-3);
  gst_nn_object_get_box (o, &got[0], &got[1], &got[2], &got[3]);
  for (guint k = 0; k < 4; k++)
    g_assert_cmpfloat_with_epsilon (got[k], first[k], 0.2);
}

/* By an eighth of a turn: each corner is at one edge of the box. */
static void
a_mask_of_a_turned_region_lies_in_the_box_around_its_corners (void)
{
  static const gdouble turned[6] = { 1, -1, 4, 1, 1, 0 }, all[4] = { 0, 0, 4, 4 };
  g_auto (Decoded) d = { 0 };
  gdouble x, y, width, height;
  GstNnObject *object;
  decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 4, 4, 8, 8);
  memcpy (d.in.to_frame, turned, sizeof turned);
  object = gst_nn_result_meta_add_object (d.result, 0);
  gst_nn_say_mask (&d.in, object, GST_NN_MASK_COVERAGE, 1, 1, g_malloc0 (1), all);
  gst_nn_mask_get_area (gst_nn_object_get_mask (object), &x, &y, &width, &height);
  g_assert_true (x == 0 && y == 0 && width == 8 && height == 8);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (goldens); i++) {
    g_autofree gchar *name = g_path_get_basename (goldens[i].model);
    g_autofree gchar *path =
        g_strdup_printf ("/decodergolden/real_outputs_decode_to_the_boxes_of_the_readme/%s-%u",
                         name, goldens[i].set);
    g_test_add_data_func (path, &goldens[i], real_outputs_decode_to_the_boxes_of_the_readme);
  }
  g_test_add_func ("/decodergolden/what_suppression_in_the_graph_chose_is_decoded",
                   what_suppression_in_the_graph_chose_is_decoded);
  g_test_add_func ("/decodergolden/a_mask_of_a_turned_region_lies_in_the_box_around_its_corners",
                   a_mask_of_a_turned_region_lies_in_the_box_around_its_corners);
  return g_test_run ();
}
