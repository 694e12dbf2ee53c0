/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of a model's description: what is read is printed so that it can be read again, and how
 * far each may go. */
#include "descriptions.h"

static void
what_a_key_is_set_to_is_what_it_is_printed_as (void)
{
  static const gchar *const rows[][2] = {
    { "labels", "cat,dog,bird" },  { "color", "bgr" },          { "resize", "crop" },
    { "crop-fraction", "0.875" },  { "pad-value", "114" },      { "mean", "1,22.5,333,4" },
    { "scale", "58.395,57.12,1" }, { "width", "640" },          { "height", "480" },
    { "max-width", "3200" },       { "decoder", "yolov5" },     { "anchors", "10,13,16,30.5" },
    { "strides", "8,16,32" },      { "activation", "softmax" }, { "skeleton", "coco17" },
    { "threshold", "0.25" },       { "iou-threshold", "0.5" },
  };
  g_autoptr (GstNnDescription) d = gst_nn_description_new ();
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree gchar *nothing = gst_nn_description_get (d, rows[i][0], NULL, NULL), *got = NULL;
    g_assert_null (nothing);
    gst_nn_description_set (d, rows[i][0], rows[i][1], &error);
    g_assert_no_error (error);
    got = gst_nn_description_get (d, rows[i][0], NULL, NULL);
    g_assert_cmpstr (got, ==, rows[i][1]);
  }
}

/* "1,1,1" */
static gchar *
ones (guint n)
{
  g_autoptr (GString) s = g_string_new ("1");
  for (guint i = 1; i < n; i++)
    g_string_append (s, ",1");
  return g_string_free (g_steal_pointer (&s), FALSE);
}

static void
values_are_accepted_up_to_their_ends (void)
{
  g_autofree gchar *pairs = ones (128), *more = ones (130);
  const struct {
    const gchar *key, *value;
    gboolean right;
  } rows[] = {
    { "width", "1", TRUE },       { "width", "0", FALSE },
    { "height", "16384", TRUE },  { "height", "16385", FALSE },
    { "threshold", "0", TRUE },   { "threshold", "1", TRUE },
    { "threshold", "-1", FALSE }, { "crop-fraction", "1", TRUE },
    { "strides", "1", TRUE },     { "strides", "1024", TRUE },
    { "strides", "1025", FALSE }, { "strides", "1,2,3,4,5,6,7,8", TRUE },
    { "anchors", pairs, TRUE },   { "anchors", more, FALSE },
    { "anchors", "1", FALSE },    { "anchors", "1,0", FALSE },
    { "mean", "1,2,3,4", TRUE },  { "scale", "1,0", FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GstNnDescription) d = gst_nn_description_new ();
    if (gst_nn_description_set (d, rows[i].key, rows[i].value, NULL) != rows[i].right)
      g_error ("%s=%s is %s", rows[i].key, rows[i].value, rows[i].right ? "refused" : "accepted");
  }
}

static void
each_channel_has_its_number (void)
{
  static const Sources rows[] = {
    { .nvinfer = "[property]\nonnx-file=model.onnx\noffsets=1;2;3;4;\n" },
    { .modelinfo = "[modelinfo]\nversion=1.0\n[x]\nranges=-1,254;-2,253;-3,252;-4,251;\n" },
    { .proc = MODEL_PROC ("{\"range\":[0,255],\"mean\":[1,2,3,4]}", "[]") },
    { .proc = MODEL_PROC ("{\"range\":[1,256],\"mean\":[2,3,4,5]}", "[]") },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GstNnDescription) d = accepted (&rows[i]);
    g_autofree gchar *mean = gst_nn_description_get (d, "mean", NULL, NULL);
    g_assert_cmpstr (mean, ==, "1,2,3,4");
  }
  refused (&(Sources){ .nvinfer = "[property]\nonnx-file=model.onnx\noffsets=1;2;3;4;5\n" },
           "up to four numbers");
  refused (&(Sources){ .modelinfo = "[modelinfo]\nversion=1.0\n[x]\nranges=0,1;0,1;0,1;0,1;0,1\n" },
           "up to four pairs");
  refused (&(Sources){ .proc = MODEL_PROC ("{\"mean\":[1,2,3,4,5]}", "[]") },
           "one for each channel");
}

static void
bars_are_on_both_sides_only_where_nvinfer_pads_so (void)
{
  static const struct {
    const gchar *text, *resize;
  } rows[] = {
    { "maintain-aspect-ratio=0\nsymmetric-padding=1\n", "stretch" },
    { "maintain-aspect-ratio=1\nsymmetric-padding=0\n", "top-left" },
    { "maintain-aspect-ratio=1\nsymmetric-padding=1\n", "letterbox" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *text = g_strconcat (
        "[property]\nonnx-file=model.onnx\nmodel-color-format=2\n", rows[i].text, NULL);
    g_autoptr (GstNnDescription) d = accepted (&(Sources){ .nvinfer = text });
    g_autofree gchar *resize = gst_nn_description_get (d, "resize", NULL, NULL);
    g_assert_cmpstr (resize, ==, rows[i].resize);
    g_assert_cmpstr (d->color, ==, "gray");
  }
  refused (&(Sources){ .nvinfer = "[property]\nonnx-file=model.onnx\nmodel-color-format=3\n" },
           "model-color-format");
}

static void
a_json_file_may_be_nested_64_deep_and_strings_may_have_brackets (void)
{
  g_autofree gchar *in = g_strnfill (63, '['), *out = g_strnfill (63, ']');
  g_autofree gchar *most = g_strdup_printf ("{\"x\":%s%s}", in, out);
  g_autofree gchar *more = g_strdup_printf ("{\"x\":[%s%s]}", in, out);
  g_autofree gchar *quoted =
      g_strdup_printf ("{\"json_schema_version\":\"2\",\"x\":\"\\\"%s%s/#'\",\"y\":{},"
                       "\"output_postproc\":[{\"labels\":[\"a\",\"b\"]}]}",
                       in, in);
  g_autoptr (GstNnDescription) d = accepted (&(Sources){ .proc = most });
  g_autoptr (GstNnDescription) strings = accepted (&(Sources){ .proc = quoted });
  g_assert_nonnull (d);
  refused (&(Sources){ .proc = more }, "nested at most 64 deep; byte 68 is not");
  refused (&(Sources){ .proc = "{} // words" }, "byte 3 is not");
  g_assert_cmpstr (gst_nn_description_get_label (strings, 1), ==, "b");
}

/* Sizes that no model has are left to the frame. */
static void
a_size_of_ultralytics_is_from_1_to_16384 (void)
{
  static const struct {
    const gchar *size;
    gint width, height; /* -1: none */
  } rows[] = {
    { "[480, 640]", 640, 480 }, { "[1, 16384]", 16384, 1 }, { "[16384, 1]", 1, 16384 },
    { "[0, 640]", -1, -1 },     { "[480, 0]", -1, -1 },     { "[16385, 640]", -1, -1 },
    { "[480, 16385]", -1, -1 }, { "[-1, 640]", -1, -1 },    { "[480]", -1, -1 },
    { "480, 640", -1, -1 },
  };
  g_autoptr (GstNnDescription) silent = accepted (&(Sources){ .metadata = "names={0: 'a'}" });
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *metadata =
        g_strconcat ("names={0: 'a'}\nstride=32\nimgsz=", rows[i].size, NULL);
    g_autoptr (GstNnDescription) d = accepted (&(Sources){ .metadata = metadata });
    g_assert_cmpint (d->width, ==, rows[i].width < 0 ? silent->width : rows[i].width);
    g_assert_cmpint (d->height, ==, rows[i].height < 0 ? silent->height : rows[i].height);
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/keys/" #name, name)
  ADD (what_a_key_is_set_to_is_what_it_is_printed_as);
  ADD (values_are_accepted_up_to_their_ends);
  ADD (a_size_of_ultralytics_is_from_1_to_16384);
  ADD (each_channel_has_its_number);
  ADD (bars_are_on_both_sides_only_where_nvinfer_pads_so);
  ADD (a_json_file_may_be_nested_64_deep_and_strings_may_have_brackets);
  return g_test_run ();
}
