/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is concluded about models without a word from anybody: the shared ones, as their READMEs
 * say, and small ones that show one thing each. */
#include "axontest.h"

#include <glib/gstdio.h>
#include <gst/nn/nn.h>
#include <string.h>

static GstNnDescription *
load (AxonModel *model, const gchar *path)
{
  g_autoptr (GError) error = NULL;
  GstNnDescription *d = gst_nn_description_new ();
  gst_nn_description_load (d, path, model, &error);
  g_assert_no_error (error);
  return d;
}

static void
says (const GstNnDescription *d, const gchar *what, const gchar *key, const gchar *expected)
{
  g_autofree gchar *got = gst_nn_description_get (d, key, NULL, NULL);
  if (g_strcmp0 (got, expected) != 0)
    g_error ("%s: %s is \"%s\", expected \"%s\"", what, key, got, expected);
}

#define IMAGENET "123.675,116.28,103.53", "58.395,57.12,57.375"

/* As the READMEs say. `labels` is their number. */
static const struct {
  const gchar *model, *color, *mean, *scale, *resize, *decoder;
  guint n_labels;
  const gchar *label; /* of class 1 */
  gboolean is_guess;
} shared[] = {
  { "models/blazeface-short-128", "rgb", "127.5", "127.5", "letterbox", "blazeface", 1, NULL },
  { "models/deeplabv3-mnv2-dm05-257", "rgb", "127.5", "127.5", "stretch", "segmentation", 21,
    "aeroplane" },
  { "models/facemesh-v2-fp16-256", "rgb", "0", "255", "stretch", "facemesh", 0, NULL },
  { "models/fastestdet-352", "bgr", "0", "255", "stretch", "fastestdet", 80, "bicycle" },
  { "models/fastestdet-352-qop-u8s8", "bgr", "0", "255", "stretch", "fastestdet", 80, "bicycle" },
  { "models/light-densenet121", "rgb", IMAGENET, "crop", "classification", 1000, "goldfish" },
  { "models/light-resnet50", "rgb", IMAGENET, "crop", "classification", 1000, "goldfish" },
  { "models/light-squeezenet", "rgb", IMAGENET, "crop", "classification", 1000, "goldfish" },
  { "models/mnist-8", "gray", "0", "1", "stretch", "classification", 10, "1" },
  { "models/mobilenetv2-1.0-224-fp32", "rgb", IMAGENET, "crop", "classification", 1000, "goldfish",
    TRUE },
  { "models/mobilenetv2-1.0-224-qdq-u8s8", "rgb", IMAGENET, "crop", "classification", 1000,
    "goldfish", TRUE },
  { "models/mobilenetv2-1.0-224-qop-u8u8", "rgb", IMAGENET, "crop", "classification", 1000,
    "goldfish", TRUE },
  { "models/ppocr-rec-en-number-v2", "bgr", "127.5", "127.5", "top-left", "ctc", 97, "0" },
  { "models/ppocrv3-det-en", "bgr", IMAGENET, "stretch", "text-detection", 1, NULL },
  { "models/simplepose-192x256", "rgb", IMAGENET, "stretch", "heatmap-pose", 0, NULL },
  { "models/sinet-portrait-320", "bgr", "102.8904,111.2525,126.9121", "16047.89,16019.45,16920.71",
    "stretch", "matte", 2, "person" },
  { "models/superres-espcn-x3", "gray", "0", "255", "stretch", "picture", 0, NULL },
  { "models/ultraface-rfb-320", "rgb", "127", "128", "stretch", "boxes-scores", 2, "face" },
  { "models/ultraface-rfb-320-qdq-s8", "rgb", "127", "128", "stretch", "boxes-scores", 2, "face" },
  { "models/yolox-nano-416", "bgr", "0", "1", "top-left", "yolox", 80, "bicycle" },
  { "models/yunet-n-dynamic", "bgr", "0", "1", "top-left", "yunet", 1, NULL },
  { "families/mtcnn-onet", "rgb", "127.5", "128", "stretch", "none", 1, NULL },
  { "families/mtcnn-pnet", "rgb", "127.5", "128", "stretch", "none", 1, NULL },
  { "families/mtcnn-rnet", "rgb", "127.5", "128", "stretch", "none", 1, NULL },
  { "families/osnet-x025-reid-256x128", "rgb", IMAGENET, "stretch", "embedding", 0, NULL },
  { "families/ppocrv6-rec-tiny", "bgr", "127.5", "127.5", "top-left", "ctc", 6906, "!" },
  { "families/retinaface-mnet025-640", "bgr", "104,117,123", "1", "top-left", "retinaface", 1,
    NULL },
  { "families/scrfd-500m-kps-dynamic", "rgb", "127.5", "128", "top-left", "scrfd", 1, NULL },
  { "families/yolo26n-640-end2end-dynquant", "rgb", "0", "255", "letterbox", "yolov10", 80,
    "bicycle" },
  { "families/yolov5n-640-fp16", "rgb", "0", "255", "letterbox", "yolov5", 80, "bicycle", TRUE },
  { "families/yolov8n-320-dynquant", "rgb", "0", "255", "letterbox", "yolov8", 80, "bicycle" },
  { "families/yolov8n-seg-320-dynquant", "rgb", "0", "255", "letterbox", "yolov8-seg", 80,
    "bicycle" },
};

static void
a_shared_model_explains_itself_as_its_readme_does (gconstpointer data)
{
  const gchar *what = shared[GPOINTER_TO_UINT (data)].model;
  guint i = GPOINTER_TO_UINT (data);
  g_autofree gchar *name = g_build_filename (what, "model.onnx", NULL);
  g_autofree gchar *path = test_data (name);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (GstNnDescription) d = NULL;
  g_autofree gchar *doubts = NULL;
  if (path == NULL)
    return;
  model = axon_core_read_model (axon_core_get_default (), path, NULL, &error);
  g_assert_no_error (error);
  d = load (model, path);
  says (d, what, "color", shared[i].color);
  says (d, what, "mean", shared[i].mean);
  says (d, what, "scale", shared[i].scale);
  says (d, what, "resize", shared[i].resize);
  says (d, what, "decoder", shared[i].decoder);
  g_assert_cmpuint (d->labels ? g_strv_length (d->labels) : 0, ==, shared[i].n_labels);
  if (shared[i].label != NULL)
    g_assert_cmpstr (gst_nn_description_get_label (d, 1), ==, shared[i].label);
  doubts = gst_nn_description_get_doubts (d);
  if ((doubts != NULL) != shared[i].is_guess)
    g_error ("%s: doubts are \"%s\"", what, doubts);
}

/* A picture through "OP NUMBER", then the next; without any through Identity. */
static AxonModel *
model_that_begins_with (AxonDType dtype, gint64 channels, const gchar *steps)
{
  TestModel t = test_model_new (13);
  AxonValue *v = test_model_input (&t, "x", dtype, &AXON_SHAPE (1, channels, 32, 32));
  g_auto (GStrv) words = g_strsplit (steps, " ", -1);
  for (guint i = 0; words[i] != NULL && words[i + 1] != NULL; i += 2) {
    gfloat number = (gfloat)g_ascii_strtod (words[i + 1], NULL);
    v = test_model_node (&t, words[i], 2, v, test_model_constant (&t, &AXON_SHAPE (1), &number))
            ->outputs[0];
  }
  return test_model_finish (&t, test_model_node (&t, "Identity", 1, v)->outputs[0]);
}

static void
a_graph_that_normalises_is_not_normalised_again (void)
{
  static const struct {
    AxonDType dtype;
    const gchar *steps, *scale;
  } rows[] = {
    { AXON_DTYPE_F32, "Sub 127.5 Div 127.5", "1" },
    { AXON_DTYPE_F32, "Mul 0.00392157", "1" },
    { AXON_DTYPE_F32, "Sub 123.675", "1" },
    { AXON_DTYPE_F32, "Sub 0.485 Div 0.229", "255" },
    { AXON_DTYPE_F32, "Mul 2 Sub 1", "255" },
    { AXON_DTYPE_U8, "", "1" },
    { AXON_DTYPE_F32, "Mul 0.3", NULL },
    { AXON_DTYPE_F32, "", NULL },
    /* where the order of one ends, and what is a layer begins */
    { AXON_DTYPE_F32, "Mul 0.047", "1" },
    { AXON_DTYPE_F32, "Mul 0.048", NULL },
    { AXON_DTYPE_F32, "Mul 0.91", "255" },
    /* half of 0 to 1 is less than 6 away from 0, half of 0 to 255 is more */
    { AXON_DTYPE_F32, "Add 5.4", "255" },
    { AXON_DTYPE_F32, "Add 5.6", "1" },
    { AXON_DTYPE_F32, "Mul 2 Sub 6.9", "255" },
    { AXON_DTYPE_F32, "Mul 2 Sub 7.1", "1" },
    { AXON_DTYPE_F32, "Add 1.4 Mul 3", "255" },
    { AXON_DTYPE_F32, "Add 2 Mul 3", "1" },
    { AXON_DTYPE_F32, "Sub 1.9 Div 0.25", "255" },
    { AXON_DTYPE_F32, "Sub 2.1 Div 0.25", "1" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (AxonModel) model = model_that_begins_with (rows[i].dtype, 3, rows[i].steps);
    g_autoptr (GstNnDescription) d = load (model, "/nonexistent/small.onnx");
    says (d, rows[i].steps, "scale", rows[i].scale);
  }
}

static void
a_number_for_each_pixel_does_not_normalise (void)
{
  static const gchar *const ops[] = { "Add", "Sub", "Mul", "Div" };
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++) {
    TestModel t = test_model_new (13);
    AxonShape shape = AXON_SHAPE (1, 3, 32, 32);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
    AxonNode *n = test_model_node (&t, ops[i], 2, x, test_model_random (&t, &shape, 3));
    g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
    g_autoptr (GstNnDescription) d = load (model, "/nonexistent/small.onnx");
    says (d, ops[i], "scale", NULL);
  }
}

static void
a_picture_of_one_channel_is_gray (void)
{
  g_autoptr (AxonModel) model = model_that_begins_with (AXON_DTYPE_F32, 1, "Add 1");
  g_autoptr (GstNnDescription) d = load (model, "/nonexistent/small.onnx");
  says (d, "one channel", "color", "gray");
}

/* Three anchors in each cell of the grids of a picture of 64 x 64: 3 * (64 + 16 + 4). */
static void
a_model_of_another_number_of_cells_is_another_model (void)
{
  static const gint64 rows[] = { 251, 252, 253 };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    TestModel t = test_model_new (13);
    AxonValue *x = test_model_input (&t, "images", AXON_DTYPE_F32, &AXON_SHAPE (1, 3, 64, 64));
    AxonNode *mean = test_model_node (&t, "ReduceMean", 1, x);
    gint64 sizes[] = { 1, rows[i], 85 };
    AxonValue *in[] = { mean->outputs[0], test_model_ints (&t, sizes, 3) };
    AxonValue *out = axon_model_add_value (t.model, "output0");
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (GstNnDescription) d = NULL;
    axon_node_set_int (mean, "keepdims", 0);
    axon_pass_add_node (t.model, mean, NULL, "Expand", 13, in, 2, out);
    model = test_model_finish (&t, out);
    d = load (model, "/nonexistent/small.onnx");
    g_assert_cmpint (g_strcmp0 (d->decoder, "yolov5") == 0, ==, rows[i] == 252);
  }
}

static void
a_model_that_nobody_knows_is_doubted (void)
{
  g_autoptr (AxonModel) model = model_that_begins_with (AXON_DTYPE_F32, 3, "Mul 0.3");
  g_autoptr (GstNnDescription) d = load (model, "/nonexistent/small.onnx");
  g_autofree gchar *doubts = gst_nn_description_get_doubts (d);
  g_assert_cmpstr (doubts, ==, "color=rgb resize=stretch mean=0 scale=1");
}

static void
who_says_how_pixels_are_scaled_means_the_other_defaults (void)
{
  g_autoptr (AxonModel) plain = model_that_begins_with (AXON_DTYPE_F32, 3, "Mul 0.3");
  g_autoptr (AxonModel) graph = model_that_begins_with (AXON_DTYPE_F32, 3, "Sub 127 Div 128");
  g_autoptr (GError) error = NULL;
  g_autoptr (GstNnDescription) said = gst_nn_description_new ();
  g_autoptr (GstNnDescription) seen = load (graph, "/nonexistent/small.onnx");
  g_autofree gchar *doubts = gst_nn_description_get_doubts (seen);
  g_assert_true (gst_nn_description_set (said, "scale", "255", &error));
  g_assert_true (gst_nn_description_load (said, "/nonexistent/small.onnx", plain, &error));
  g_assert_null (gst_nn_description_get_doubts (said));
  g_assert_cmpstr (doubts, ==, "color=rgb resize=stretch");
}

/* Frames of noise through a model; what nninfer warned of on the way. */
static GPtrArray *
warnings_of (const gchar *path, const gchar *properties)
{
  GPtrArray *texts = g_ptr_array_new_with_free_func (g_free);
  g_autofree gchar *line =
      g_strdup_printf ("videotestsrc num-buffers=3 ! video/x-raw,width=32,height=32 ! nninfer "
                       "model=%s device=MOCK %s "
                       "! fakesink",
                       path, properties);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (line, &error);
  g_autoptr (GstBus) bus = NULL;
  GstMessage *message;
  gboolean ended = FALSE;
  g_assert_no_error (error);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!ended) {
    message = gst_bus_timed_pop_filtered (
        bus, 30 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    g_assert_nonnull (message);
    ended = GST_MESSAGE_TYPE (message) != GST_MESSAGE_WARNING;
    g_assert_cmpint (GST_MESSAGE_TYPE (message), !=, GST_MESSAGE_ERROR);
    if (!ended) {
      g_autoptr (GError) warning = NULL;
      gst_message_parse_warning (message, &warning, NULL);
      g_ptr_array_add (texts, g_strdup (warning->message));
    }
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return texts;
}

static void
what_nobody_said_is_one_warning_that_names_its_properties (void)
{
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (dir, "small.onnx", NULL);
  g_autoptr (AxonModel) model = model_that_begins_with (AXON_DTYPE_F32, 3, "Mul 0.3");
  g_autoptr (GPtrArray) warnings = NULL, none = NULL;
  g_autoptr (GError) error = NULL;
  axon_core_write_model (axon_core_get_default (), model, path, &error);
  g_assert_no_error (error);
  warnings = warnings_of (path, "");
  none = warnings_of (path, "scale=<255>");
  g_unlink (path);
  g_rmdir (dir);
  g_assert_cmpuint (warnings->len, ==, 1);
  g_assert_nonnull (
      strstr (warnings->pdata[0], "color=rgb resize=stretch mean=\"<0>\" scale=\"<1>\""));
  g_assert_cmpuint (none->len, ==, 0);
}

/* Each row can be named, and says nothing that a person may not say. */
static void
every_preset_is_a_description (void)
{
  g_auto (GStrv) names = axon_model_description_list_presets ();
  g_assert_cmpuint (g_strv_length (names), >=, 60);
  for (guint i = 0; names[i] != NULL; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GstNnDescription) d = gst_nn_description_new ();
    g_autofree gchar *color = NULL;
    gst_nn_description_set (d, "preset", names[i], &error);
    g_assert_no_error (error);
    color = gst_nn_description_get (d, "color", NULL, NULL);
    g_assert_nonnull (color);
    if (d->labels != NULL)
      g_assert_cmpuint (g_strv_length (d->labels), >, 0);
  }
}

static void
a_preset_says_what_properties_leave_open (void)
{
  g_autoptr (GstNnDescription) d = gst_nn_description_new ();
  g_assert_true (gst_nn_description_set (d, "color", "gray", NULL));
  g_assert_true (gst_nn_description_set (d, "preset", "yolox", NULL));
  says (d, "yolox", "color", "gray");
  says (d, "yolox", "pad-value", "114");
  says (d, "yolox", "decoder", "yolox");
}

static void
an_unknown_preset_or_list_is_an_error (void)
{
  g_autoptr (GstNnDescription) d = gst_nn_description_new ();
  g_autoptr (GError) error = NULL;
  g_assert_false (gst_nn_description_set (d, "preset", "yolo99", &error));
  g_assert_nonnull (strstr (error->message, "axon-inspect --presets"));
  g_clear_error (&error);
  g_assert_false (gst_nn_description_set (d, "label-set", "../presets", &error));
  g_assert_nonnull (strstr (error->message, "coco80"));
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/explain/" #name, name)
  ADD (a_graph_that_normalises_is_not_normalised_again);
  ADD (a_number_for_each_pixel_does_not_normalise);
  ADD (a_picture_of_one_channel_is_gray);
  ADD (a_model_that_nobody_knows_is_doubted);
  ADD (who_says_how_pixels_are_scaled_means_the_other_defaults);
  ADD (what_nobody_said_is_one_warning_that_names_its_properties);
  ADD (a_model_of_another_number_of_cells_is_another_model);
  ADD (every_preset_is_a_description);
  ADD (a_preset_says_what_properties_leave_open);
  ADD (an_unknown_preset_or_list_is_an_error);
  for (guint i = 0; i < G_N_ELEMENTS (shared); i++) {
    g_autofree gchar *path =
        g_strconcat ("/explain/a_shared_model_explains_itself_as_its_readme_does/",
                     strchr (shared[i].model, '/') + 1, NULL);
    g_test_add_data_func (path, GUINT_TO_POINTER (i),
                          a_shared_model_explains_itself_as_its_readme_does);
  }
  return g_test_run ();
}
