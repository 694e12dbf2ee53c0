/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which decoder the shapes of published models mean; no numbers and no shapes break any. */
#include "decoders.h"
#include "decoders/gstnnchoice.h"

#include <math.h>
#include <string.h>

#define N_TENSORS 12
#define N_LABELS 1001

/* A model: the decoder that its shapes mean; "-": none that finds objects. */
typedef struct {
  const gchar *decoder;
  gint width, height;
  guint n_labels;
  const gchar *shapes;
  const gchar *names; /* of outputs, or NULL */
} Model;

static const Model models[] = {
  { "yolov8", 640, 640, 0, "1x84x8400", NULL },
  { "yolov8", 640, 640, 80, "1x84x8400", NULL },
  { "yolov8", 640, 640, 80, "1x8400x84", NULL },
  { "yolov8", 640, 640, 0, "1x8400x84", NULL },
  { "yolov8", 640, 640, 3, "1x8400x7", NULL },
  { "yolov8", 320, 320, 80, "1x84x2100", NULL },
  { "yolov8", 640, 384, 80, "1x84x5040", NULL },
  { "yolov8", 1024, 1024, 0, "1x20x21504", NULL },
  { "yolox", 640, 640, 0, "1x8400x85", NULL },
  { "yolox", 416, 416, 80, "1x3549x85", NULL },
  { "yolox", 640, 640, 2, "1x8400x7", NULL },
  { "yolov5", 640, 640, 80, "1x25200x85", NULL },
  { "yolov5", 640, 640, 1, "1x25200x6", NULL },
  { "yolov5", 1280, 1280, 80, "1x102000x85", NULL },
  { "yolov5", 640, 640, 80, "1x25200x85 1x3x80x80x85 1x3x40x40x85 1x3x20x20x85", NULL },
  { "yolov8-pose", 640, 640, 0, "1x56x8400", NULL },
  { "yolov8-pose", 640, 640, 1, "1x56x8400", NULL },
  { "yolov8-pose", 640, 640, 1, "1x20x8400", NULL },
  { "yolov8", 640, 640, 52, "1x56x8400", NULL },
  { "yolov8-obb", 1024, 1024, 15, "1x20x21504", NULL },
  { "yolov8-seg", 640, 640, 80, "1x116x8400 1x32x160x160", NULL },
  { "yolov5-seg", 640, 640, 80, "1x25200x117 1x32x160x160", NULL },
  { "yolov10", 640, 640, 80, "1x300x6", NULL },
  { "yolo26-seg", 640, 640, 80, "1x300x38 1x32x160x160", NULL },
  { "yolo26-pose", 640, 640, 1, "1x300x57", NULL },
  { "yolo26-obb", 1024, 1024, 15, "1x300x7", NULL },
  { "rtdetr", 640, 640, 80, "1x300x84", NULL },
  { "rtdetr", 640, 640, 80, "1x300x80 1x300x4", NULL },
  { "rtdetr", 560, 560, 91, "1x300x4 1x300x91", "dets labels" },
  { "detr", 800, 800, 0, "1x100x92 1x100x4", NULL },
  { "detr", 800, 800, 91, "1x100x92 1x100x4", "logits pred_boxes" },
  { "boxes-scores", 320, 240, 0, "1x4420x2 1x4420x4", NULL },
  { "boxes-scores", 640, 480, 2, "1x17640x2 1x17640x4", NULL },
  { "boxes-scores", 300, 300, 21, "1x3000x21 1x3000x4", NULL },
  { "boxes-scores", 416, 416, 80, "1x10647x1x4 1x10647x80", NULL },
  { "yolov3", 416, 416, 80, "1x255x13x13 1x255x26x26 1x255x52x52", NULL },
  { "yolov3", 416, 416, 80, "1x13x13x255 1x26x26x255", NULL },
  { "yolov3", 416, 416, 80, "1x52x52x3x85 1x26x26x3x85 1x13x13x3x85", NULL },
  { "nanodet", 320, 320, 80, "1x2125x112", NULL },
  { "nanodet", 320, 320, 0, "1x2100x112", NULL },
  { "nanodet", 416, 416, 0, "1x3598x112", NULL },
  { "picodet", 320, 320, 80,
    "1x1600x80 1x400x80 1x100x80 1x25x80 1x1600x32 1x400x32 1x100x32 1x25x32", NULL },
  { "fastestdet", 352, 352, 80, "1x85x22x22", NULL },
  { "fastestdet", 352, 352, 0, "1x85x22x22", NULL },
  { "centernet", 512, 512, 80, "1x80x128x128 1x2x128x128 1x2x128x128", NULL },
  { "centernet", 512, 512, 80, "1x2x128x128 1x80x128x128 1x2x128x128", "reg hm wh" },
  { "ssd", 300, 300, 21, "1x7668 1x40257 1x2x7668", NULL },
  { "ssd", 300, 300, 21, "1x1917x4 1x1917x21 1x2x7668", NULL },
  { "detection-output", 300, 300, 91, "1x1x100x7", NULL },
  { "detections", 300, 300, 91, "1x100x4 1x100 1x100 1", NULL },
  { "detections", 320, 320, 91, "200x4 200 200", "boxes scores labels" },
  { "detections", 320, 320, 91, "0x4 0 0", "boxes scores labels" },
  { "detections", 640, 640, 80, "1x1 1x100x4 1x100 1x100", NULL },
  { "detections", 640, 640, 80, "1x100x5 1x100", "dets labels" },
  { "nms-graph", 640, 640, 80, "17x7", NULL },
  { "nms-graph", 640, 640, 80, "0x7", NULL },
  { "nms-graph", 320, 320, 80, "1x11x84", NULL },
  { "nms-graph", 320, 320, 80, "1x0x84", NULL },
  { "nms-graph", 416, 416, 80, "1x10647x4 1x80x10647 17x3", NULL },
  { "blazeface", 128, 128, 1, "1x896x16 1x896x1", NULL },
  { "blazeface", 256, 256, 1, "1x896x16 1x896x1", NULL },
  { "blazeface", 192, 192, 1, "1x2304x16 1x2304x1", NULL },
  { "blazeface", 192, 192, 1, "1x2016x18 1x2016x1", NULL },
  { "blazeface", 256, 256, 1, "1x2944x18 1x2944x1", NULL },
  { "blazeface", 224, 224, 1, "1x2254x12 1x2254x1", NULL },
  { "scrfd", 256, 192, 1, "1536x1 384x1 96x1 1536x4 384x4 96x4 1536x10 384x10 96x10", NULL },
  { "scrfd", 640, 640, 1, "1x12800x1 1x3200x1 1x800x1 1x12800x4 1x3200x4 1x800x4", NULL },
  { "yunet", 320, 320, 1,
    "1x1600x1 1x400x1 1x100x1 1x1600x1 1x400x1 1x100x1 1x1600x4 1x400x4 1x100x4 1x1600x10 "
    "1x400x10 1x100x10",
    NULL },
  { "retinaface", 640, 640, 1, "1x16800x4 1x16800x2 1x16800x10", NULL },
  { "retinaface", 640, 608, 1, "1x15960x2 1x15960x10 1x15960x4", NULL },
  { "movenet", 192, 192, 0, "1x1x17x3", NULL },
  { "movenet", 256, 256, 0, "1x6x56", NULL },
  { "-", 192, 256, 0, "1x17x384 1x17x512", NULL }, /* places along two axes */
  { "-", 224, 224, 1000, "1x1000", NULL },         /* classifiers */
  { "-", 224, 224, 0, "1x6", NULL },
  { "-", 224, 224, 7, "1x7", NULL },
  { "-", 224, 224, 84, "1x84", NULL },
  { "-", 62, 62, 0, "1x2x1x1 1x1x1x1", NULL }, /* age and gender */
  { "-", 257, 257, 21, "1x21x257x257", NULL }, /* classes of pixels */
  { "-", 320, 320, 0, "1x2x320x320", NULL },
  { "-", 256, 192, 0, "1x17x64x48", NULL },         /* heat maps of joints */
  { "-", 192, 192, 0, "1x1x1x1404 1x1x1x1", NULL }, /* meshes */
  { "-", 128, 256, 0, "1x512", NULL },              /* embeddings */
  { "-", 320, 48, 0, "1x40x97", NULL },             /* text */
  { "-", 640, 640, 0, "1x1x640x640", NULL },
  { "-", 224, 224, 0, "1x3x672x672", NULL }, /* pictures */
  { "-", 24, 24, 0, "1x4 1x2", NULL },       /* stages that refine a crop */
  { "-", 48, 48, 0, "1x4 1x10 1x2", NULL },
};

static AxonShape
parse_shape (const gchar *text)
{
  g_auto (GStrv) dims = g_strsplit (text, "x", -1);
  AxonShape s = { .rank = (gint)g_strv_length (dims) };
  for (gint i = 0; i < s.rank; i++)
    s.dims[i] = g_ascii_strtoll (dims[i], NULL, 10);
  return s;
}

static guint
parse_shapes (const gchar *text, AxonShape shapes[N_TENSORS])
{
  g_auto (GStrv) parts = g_strsplit (text, " ", -1);
  guint n = g_strv_length (parts);
  for (guint i = 0; i < n; i++)
    shapes[i] = parse_shape (parts[i]);
  return n;
}

/* Numbers that no model should give, and such as might reach a threshold. */
static gfloat
hostile_number (GRand *rand, guint kind)
{
  static const gfloat odd[] = { NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e-40f, 0, 1, -1, 1e9f };
  union {
    guint32 bits;
    gfloat value;
  } any = { .bits = g_rand_int (rand) };
  if (kind < G_N_ELEMENTS (odd))
    return odd[kind];
  return kind == G_N_ELEMENTS (odd)       ? odd[any.bits % G_N_ELEMENTS (odd)]
         : kind == G_N_ELEMENTS (odd) + 1 ? any.value
                                          : (gfloat)g_rand_double_range (rand, -2, 100);
}
#define N_KINDS 13

static void
fill (const Decoded *d, GRand *rand, guint kind)
{
  for (guint i = 0; i < d->in.tensors->len; i++) {
    gfloat *v = axon_tensor_get_data (g_ptr_array_index (d->in.tensors, i));
    for (gsize k = 0; k < axon_tensor_get_numel (g_ptr_array_index (d->in.tensors, i)); k++)
      v[k] = hostile_number (rand, kind);
  }
}

/* What they say matters to nobody here. */
static const gchar *const *
some_labels (void)
{
  static const gchar *labels[N_LABELS];
  for (guint i = 0; i < N_LABELS; i++)
    labels[i] = "a";
  return labels;
}

static void
load (Decoded *d, const Model *m, const AxonShape *shapes, guint n)
{
  g_auto (GStrv) names = m->names ? g_strsplit (m->names, " ", -1) : NULL;
  decoded_init (d, AXON_IMAGE_FIT_LETTERBOX, m->width, m->height, 640, 480);
  for (guint i = 0; i < n; i++) {
    AxonTensor *t = axon_tensor_new (AXON_DTYPE_F32, &shapes[i], NULL);
    memset (axon_tensor_get_data (t), 0, axon_tensor_get_n_bytes (t));
    decoded_add (d, t, names ? names[i] : NULL);
  }
  d->in.labels = some_labels ();
  d->in.n_labels = m->n_labels;
}

static void
shapes_of_published_models_mean_their_decoders (gconstpointer data)
{
  const Model *m = data;
  AxonShape shapes[N_TENSORS];
  g_auto (Decoded) d = { 0 };
  const GstNnDecoder *decoder;
  load (&d, m, shapes, parse_shapes (m->shapes, shapes));
  decoder = gst_nn_decoder_probe (&d.in);
  if (g_str_equal (m->decoder, "-"))
    g_assert_true (decoder == NULL || decoder->decode == NULL);
  else
    g_assert_cmpstr (decoder ? decoder->name : "none", ==, m->decoder);
}

/* On the frame, but for rotated boxes. */
static void
check_places (const GstNnObject *o)
{
  gdouble box[5], x, y, score;
  gst_nn_object_get_box (o, &box[0], &box[1], &box[2], &box[3]);
  g_assert_true (isfinite (box[0] + box[1]) && box[2] > 0 && box[3] > 0);
  g_assert_true (isfinite (gst_nn_object_get_score (o)));
  for (guint k = 0; gst_nn_object_get_keypoint (o, k, &x, &y, &score); k++)
    g_assert_true (isfinite (x) && isfinite (y) && isfinite (score));
  if (gst_nn_object_get_rotated_box (o, &x, &y, &box[2], &box[3], &box[4])) {
    g_assert_true (isfinite (x + y + box[2] + box[3] + box[4]));
    return;
  }
  g_assert_true (box[0] >= 0 && box[1] >= 0);
  g_assert_true (box[0] + box[2] <= 640 + 1e-6 && box[1] + box[3] <= 480 + 1e-6);
}

/* Whoever says that outputs fit decodes whatever they hold. */
static void
decode_by_all (Decoded *d)
{
  g_autofree gchar *list = gst_nn_decoder_list ();
  g_auto (GStrv) names = g_strsplit (list, ", ", -1);
  for (guint i = 0; names[i] != NULL; i++) {
    const GstNnDecoder *decoder = gst_nn_decoder_find (names[i]);
    const GstNnObject *o;
    if (!decoder->fits (&d->in))
      continue;
    decoded_run (d, decoder, 0.45, 20);
    g_assert_cmpuint (gst_nn_result_meta_get_n_objects (d->result), <=, 20);
    for (guint k = 0; (o = gst_nn_result_meta_get_object (d->result, k)) != NULL; k++)
      if (decoder->decode != NULL)
        check_places (o);
  }
}

static void
no_numbers_break_a_decoder (gconstpointer data)
{
  const Model *m = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  AxonShape shapes[N_TENSORS];
  g_auto (Decoded) d = { 0 };
  load (&d, m, shapes, parse_shapes (m->shapes, shapes));
  d.in.threshold = 0.1;
  for (guint kind = 0; kind < N_KINDS; kind++) {
    fill (&d, rand, kind);
    decode_by_all (&d);
  }
}

/* The shapes above, which are filled with such numbers, are met by all that there are. */
static void
hostile_numbers_meet_every_decoder (void)
{
  g_autofree gchar *list = gst_nn_decoder_list ();
  g_auto (GStrv) names = g_strsplit (list, ", ", -1);
  for (guint i = 0; names[i] != NULL; i++) {
    gboolean is_met = FALSE;
    for (guint k = 0; k < G_N_ELEMENTS (models) && !is_met; k++) {
      AxonShape shapes[N_TENSORS];
      g_auto (Decoded) d = { 0 };
      load (&d, &models[k], shapes, parse_shapes (models[k].shapes, shapes));
      is_met = gst_nn_decoder_find (names[i])->fits (&d.in);
    }
    if (!is_met)
      g_test_message ("no shapes fit %s", names[i]);
    if (!is_met)
      g_test_fail ();
  }
}

/* A dimension more or less, other, or none; a tensor less, or in another place. */
static guint
mutate (AxonShape *shapes, guint n, GRand *rand)
{
  AxonShape *s = &shapes[g_rand_int_range (rand, 0, (gint32)n)];
  gint64 *dim = &s->dims[g_rand_int_range (rand, 0, s->rank)];
  AxonShape other = *s;
  switch (g_rand_int_range (rand, 0, 7)) {
  case 0:
    *dim += g_rand_boolean (rand) ? 1 : *dim > 0 ? -1 : 2;
    break;
  case 1:
    *dim = g_rand_int_range (rand, 0, 12);
    break;
  case 2:
    s->rank = MAX (s->rank - 1, 1);
    break;
  case 3:
    s->dims[s->rank++] = g_rand_int_range (rand, 1, 8);
    break;
  case 4:
    *s = shapes[0];
    shapes[0] = other;
    break;
  case 5:
    return MAX (n - 1, 1);
  default:
    *dim = s->dims[0];
    s->dims[0] = 1;
  }
  return n;
}

static gboolean
is_small (const AxonShape *shapes, guint n)
{
  gint64 all = 0;
  for (guint i = 0; i < n; i++)
    all += axon_shape_get_numel (&shapes[i]);
  return all < 400000;
}

static void
no_shapes_break_a_decoder (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  for (guint round = 0; round < 4000; round++) {
    Model m = models[g_rand_int_range (rand, 0, G_N_ELEMENTS (models))];
    AxonShape shapes[N_TENSORS];
    guint n = parse_shapes (m.shapes, shapes);
    g_auto (Decoded) d = { 0 };
    if (!is_small (shapes, n))
      continue;
    for (gint i = g_rand_int_range (rand, 1, 4); i > 0; i--)
      n = mutate (shapes, n, rand);
    if (!is_small (shapes, n))
      continue;
    m.names = NULL;
    m.n_labels = (guint)g_rand_int_range (rand, 0, 4) * 27;
    load (&d, &m, shapes, n);
    d.in.threshold = 0.1;
    fill (&d, rand, N_KINDS - 1 - (guint)g_rand_int_range (rand, 0, 3));
    decode_by_all (&d);
  }
}

/* What a description says wrongly, too. */
static void
no_anchors_or_strides_break_a_decoder (void)
{
  static const gfloat anchors[] = { 1,  2,  NAN, 4,  INFINITY, 6,  0,  -1, 9,  10,
                                    11, 12, 13,  14, 15,       16, 17, 18, 19, 20 };
  static const guint strides[] = { 8, 16, 0, 16, 1000000, 32, 8, 8 };
  static const gchar *const activations[] = { NULL, "none", "sigmoid", "softmax" };
  g_autoptr (GRand) rand = g_rand_new_with_seed (13);
  for (guint i = 0; i < G_N_ELEMENTS (models); i++) {
    AxonShape shapes[N_TENSORS];
    guint n = parse_shapes (models[i].shapes, shapes);
    g_auto (Decoded) d = { 0 };
    if (!is_small (shapes, n))
      continue;
    load (&d, &models[i], shapes, n);
    fill (&d, rand, N_KINDS - 1);
    d.in.anchors = anchors;
    d.in.strides = strides;
    for (guint k = 0; k < 12; k++) {
      d.in.n_anchors = (guint)g_rand_int_range (rand, 0, G_N_ELEMENTS (anchors) + 1);
      d.in.n_strides = (guint)g_rand_int_range (rand, 0, G_N_ELEMENTS (strides) + 1);
      d.in.activation = activations[k % G_N_ELEMENTS (activations)];
      decode_by_all (&d);
    }
  }
}

static void
what_cannot_be_decoded_is_told_output_by_output (void)
{
  const Model m = { "-", 64, 48, 2, "1x7x11x13 1x5", NULL };
  GstNnDecoderChoice choice = { NULL };
  AxonShape shapes[N_TENSORS];
  g_auto (Decoded) d = { 0 };
  g_autofree gchar *text = NULL;
  load (&d, &m, shapes, parse_shapes (m.shapes, shapes));
  g_assert_null (gst_nn_decoder_choose (&choice, &d.in, "yolov8", FALSE));
  text = gst_nn_decoder_choice_to_string (&choice);
  g_assert_cmpstr (text, ==, "outputs [1,7,11,13] [1,5] of an input of 64x48, 2 labels");
  gst_nn_decoder_choice_clear (&choice);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD_EACH(i, name)                                                                          \
  do {                                                                                             \
    g_autofree gchar *path =                                                                       \
        g_strdup_printf ("/decodershapes/" #name "/%s-%u", models[i].decoder, i);                  \
    g_test_add_data_func (path, &models[i], name);                                                 \
  } while (0)
  for (guint i = 0; i < G_N_ELEMENTS (models); i++) {
    ADD_EACH (i, shapes_of_published_models_mean_their_decoders);
    ADD_EACH (i, no_numbers_break_a_decoder);
  }
  g_test_add_func ("/decodershapes/hostile_numbers_meet_every_decoder",
                   hostile_numbers_meet_every_decoder);
  g_test_add_func ("/decodershapes/no_shapes_break_a_decoder", no_shapes_break_a_decoder);
  g_test_add_func ("/decodershapes/no_anchors_or_strides_break_a_decoder",
                   no_anchors_or_strides_break_a_decoder);
  g_test_add_func ("/decodershapes/what_cannot_be_decoded_is_told_output_by_output",
                   what_cannot_be_decoded_is_told_output_by_output);
  return g_test_run ();
}
