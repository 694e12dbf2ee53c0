/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What decoders say of numbers drawn by a seed, in shapes of published models: boxes, points,
 * masks, classes and texts. What they say now differs from decodersaid.txt where somebody has
 * looked at it, only. */
#include "decoders.h"

#include <math.h>
#include <string.h>

#define MOST_NUMBERS 310000 /* of the outputs of a model */
#define MOST_OTHERS 1       /* models of a decoder, beside those that are its own */
#define MOST_OBJECTS 5

typedef struct {
  gdouble least, most, share; /* of numbers drawn between them; the others are @else_ */
  gfloat else_;
  const gchar *activation;
} Filling;

/* Logits, shares, few of many, places in small inputs and in large ones, few of many logits. */
static const Filling fillings[] = {
  { -6, 6, 1, 0, NULL },       { 0, 1, 1, 0, NULL },       { 0, 1, 0.1, 0.02f, NULL },
  { 0, 60, 1, 0, NULL },       { 0, 400, 0.6, 0, NULL },   { -2, 9, 0.01, -9, NULL },
  { -2, 4, 0.05, -9, "none" }, { -6, 6, 1, 0, "sigmoid" }, { -2, 9, 0.01, -9, "softmax" },
};

/* Beside the published ones, which are large: each way to read is met by some numbers. */
static const DecodedModel small_models[] = {
  { "centernet", 64, 64, 3, "1x3x16x16 1x2x16x16 1x2x16x16", NULL },
  { "yolov3", 64, 96, 3, "1x24x3x2 1x24x6x4 1x24x12x8", NULL },
  { "yolov4", 64, 64, 3, "1x8x8x3x8 1x4x4x3x8 1x2x2x3x8", NULL },
  { "yolov5-grids", 64, 64, 3, "1x3x8x8x8 1x3x4x4x8 1x3x2x2x8", NULL },
  { "yolov8-seg", 64, 64, 3, "1x39x84 1x32x16x16", NULL },
  { "yolov5-seg", 64, 64, 3, "1x252x40 1x32x16x16", NULL },
  { "yolo26-seg", 64, 64, 3, "1x300x38 1x32x16x16", NULL },
  { "yolo26-pose", 64, 64, 1, "1x300x57", NULL },
  { "yolo26-obb", 64, 64, 3, "1x300x7", NULL },
  { "yolov8-pose", 64, 64, 1, "1x56x84", NULL },
  { "yolov8-obb", 64, 64, 3, "1x8x84", NULL },
  { "yolox", 64, 96, 3, "1x126x8", NULL },
  { "yolov6", 64, 64, 3, "1x84x8", NULL },
  { "segmentation", 32, 16, 3, "1x3x16x32", NULL },
  { "matte", 32, 16, 0, "1x1x16x32", NULL },
  { "text-detection", 64, 48, 0, "1x1x48x64", NULL },
  { "depth", 24, 16, 0, "1x16x24", NULL },
  { "heatmap-pose", 64, 48, 0, "1x17x12x16", NULL },
  { "picture", 8, 4, 0, "1x3x8x16", NULL },
  { "classification", 32, 32, 6, "1x6", NULL },
  { "embedding", 32, 32, 0, "1x64", NULL },
  { "ctc", 96, 32, 36, "1x24x37", NULL },
  { "landmarks", 32, 32, 0, "1x10", NULL },
};

static void
fill (const Decoded *d, const Filling *f)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  for (guint i = 0; i < d->in.tensors->len; i++) {
    AxonTensor *t = g_ptr_array_index (d->in.tensors, i);
    gfloat *v = axon_tensor_get_data (t);
    for (gsize k = 0; k < axon_tensor_get_numel (t); k++)
      v[k] = f->share < 1 && g_rand_double (rand) >= f->share
                 ? f->else_
                 : (gfloat)g_rand_double_range (rand, f->least, f->most);
  }
}

/* What many numbers are, in one: each has its share. */
static gdouble
add_up (const gdouble *values, gsize n)
{
  gdouble sum = 0;
  for (gsize i = 0; i < n; i++)
    sum += values[i] * (gdouble)(1 + i % 7);
  return fabs (sum) < 1e-6 ? 0 : sum;
}

static void
append_points (GString *text, const GstNnObject *o)
{
  gdouble sum = 0, p[3];
  guint n = gst_nn_object_get_n_keypoints (o);
  for (guint k = 0; gst_nn_object_get_keypoint (o, k, &p[0], &p[1], &p[2]); k++)
    sum += add_up (p, 3) * (1 + k % 5);
  if (n > 0)
    g_string_append_printf (text, " %u points%s %.4g", n,
                            gst_nn_object_get_skeleton (o) ? " joined" : "", sum);
}

static void
append_mask (GString *text, const GstNnObject *o)
{
  GstNnMask *mask = gst_nn_object_get_mask (o);
  GBytes *bytes;
  gdouble area[6], sum = 0;
  gsize n;
  const guint8 *v;
  if (mask == NULL)
    return;
  bytes = gst_nn_mask_get_values (mask);
  v = g_bytes_get_data (bytes, &n);
  for (gsize i = 0; i < n; i++)
    sum += v[i] * (gdouble)(1 + i % 7);
  gst_nn_mask_get_area (mask, &area[0], &area[1], &area[2], &area[3]);
  gst_nn_mask_get_range (mask, &area[4], &area[5]);
  g_string_append_printf (text, " mask %d %ux%u %.4g %.4g", gst_nn_mask_get_kind (mask),
                          gst_nn_mask_get_columns (mask), gst_nn_mask_get_rows (mask),
                          add_up (area, 6), sum);
}

static void
append_words (GString *text, const GstNnObject *o)
{
  gsize n = 0;
  const gfloat *embedding = gst_nn_object_get_embedding (o, &n);
  gdouble sum = 0;
  for (guint i = 0; i < MIN (gst_nn_object_get_n_attributes (o), 3); i++) {
    const GstNnAttribute *a = gst_nn_object_get_attribute (o, i);
    g_string_append_printf (text, " %s=%.20s %d %.3g", gst_nn_attribute_get_name (a),
                            gst_nn_attribute_get_value (a), gst_nn_attribute_get_class_id (a),
                            gst_nn_attribute_get_score (a));
  }
  if (gst_nn_object_get_text (o) != NULL)
    g_string_append_printf (text, " \"%.20s\" %.3g", gst_nn_object_get_text (o),
                            gst_nn_object_get_text_score (o));
  for (gsize i = 0; i < n; i++)
    sum += (gdouble)embedding[i] * (gdouble)(1 + i % 7);
  if (n > 0)
    g_string_append_printf (text, " %" G_GSIZE_FORMAT " numbers %.3g", n, sum);
}

static void
append_object (GString *text, const GstNnObject *o)
{
  gdouble b[5];
  gst_nn_object_get_box (o, &b[0], &b[1], &b[2], &b[3]);
  g_string_append_printf (text, " %d@%.3g[%.4g,%.4g %.4gx%.4g]", gst_nn_object_get_class_id (o),
                          gst_nn_object_get_score (o), b[0], b[1], b[2], b[3]);
  if (gst_nn_object_get_rotated_box (o, &b[0], &b[1], &b[2], &b[3], &b[4]))
    g_string_append_printf (text, " turned %.4g", add_up (b, 5));
  append_points (text, o);
  append_mask (text, o);
  append_words (text, o);
}

/* The first objects each, and how many there are; or what is said of the whole frame. */
static void
append_said (GString *text, Decoded *d, const GstNnDecoder *decoder)
{
  const GstNnObject *o;
  decoded_run (d, decoder, 0.45, MOST_OBJECTS);
  g_string_append_printf (text, " %u:", gst_nn_result_meta_get_n_objects (d->result));
  for (guint i = 0; i < 2 && (o = gst_nn_result_meta_get_object (d->result, i)) != NULL; i++)
    append_object (text, o);
  if (decoder->whole != NULL)
    append_object (text, gst_nn_result_meta_get_frame (d->result));
}

static void
describe (GString *text, const DecodedModel *m, const GstNnDecoder *decoder, Decoded *d)
{
  g_string_append_printf (text, "%s of %s, %dx%d, %u labels%s%s\n", decoder->name, m->shapes,
                          m->width, m->height, m->n_labels, m->names ? ", " : "",
                          m->names ? m->names : "");
  for (guint i = 0; i < G_N_ELEMENTS (fillings); i++) {
    d->in.activation = fillings[i].activation;
    d->in.threshold = i % 2 ? 0.6 : 0.3;
    fill (d, &fillings[i]);
    append_said (text, d, decoder);
    g_string_append_c (text, '\n');
  }
}

static gint64
count_numbers (const AxonShape *shapes, guint n)
{
  gint64 numbers = 0;
  for (guint i = 0; i < n; i++)
    numbers += axon_shape_get_numel (&shapes[i]);
  return numbers;
}

/* TRUE if it can decode outputs of that model. */
static gboolean
describe_model (GString *text, const DecodedModel *m, const GstNnDecoder *decoder)
{
  AxonShape shapes[DECODED_TENSORS];
  guint n = decoded_parse_shapes (m->shapes, shapes);
  g_auto (Decoded) d = { 0 };
  if (count_numbers (shapes, n) > MOST_NUMBERS)
    return FALSE;
  decoded_load (&d, m, shapes, n);
  if (!decoder->fits (&d.in))
    return FALSE;
  d.in.top_k = 2;
  describe (text, m, decoder, &d);
  return TRUE;
}

static void
describe_decoder (GString *text, const gchar *name)
{
  const GstNnDecoder *decoder = gst_nn_decoder_find (name);
  guint n_others = 0;
  for (guint i = 0; i < G_N_ELEMENTS (small_models); i++)
    describe_model (text, &small_models[i], decoder);
  for (guint i = 0; i < n_decoded_models; i++) {
    gboolean is_own = g_str_equal (decoded_models[i].decoder, name);
    if (is_own || n_others < MOST_OTHERS)
      n_others += describe_model (text, &decoded_models[i], decoder) && !is_own;
  }
}

static void
decoders_say_what_somebody_has_looked_at (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree gchar *list = gst_nn_decoder_list ();
  g_auto (GStrv) names = g_strsplit (list, ", ", -1);
  for (guint i = 0; names[i] != NULL; i++)
    describe_decoder (text, names[i]);
  test_assert_approved ("elements/decodersaid.txt", text->str);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decodersaid/decoders_say_what_somebody_has_looked_at",
                   decoders_say_what_somebody_has_looked_at);
  return g_test_run ();
}
