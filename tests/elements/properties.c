/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties that describe a model: their types, who has them, and what gst-launch may write. */
#include "nninfer.h"

#include <string.h>

#define BALL TEST_SOURCE_ROOT "/pipelines/quickstart/ball.onnx"

static GstElement *
parse (const gchar *launch)
{
  g_autoptr (GError) error = NULL;
  GstElement *element = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  return element;
}

/* What a frame is told that was inferred with these properties. */
static GstNnDescription *
describe (const gchar *properties)
{
  g_autofree gchar *launch = g_strdup_printf ("nninfer model=" BALL " device=MOCK %s", properties);
  GstHarness *h = gst_harness_new_parse (launch);
  GstNnDescription *d;
  GstBuffer *out;
  gst_harness_set_live (h, FALSE);
  gst_harness_set_src_caps_str (h, CAPS);
  out = gst_harness_push_and_pull (h, frame (h, 0));
  g_assert_nonnull (out);
  d = gst_nn_description_ref (gst_buffer_get_nn_tensor_meta (out)->description);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  return d;
}

static void
what_was_written_as_text_is_still_understood (void)
{
  g_autoptr (GstNnDescription) one = describe ("mean=127 scale=128.5 color=bgr resize=top-left");
  g_autoptr (GstNnDescription) three =
      describe ("mean=123.675,116.28,103.53 pad-value=114 width=128 height=96 resize=crop "
                "crop-fraction=0.875");
  g_assert_cmpuint (one->n_mean, ==, 1);
  g_assert_cmpfloat (one->mean[0], ==, 127);
  g_assert_cmpfloat (one->scale[0], ==, 128.5f);
  g_assert_cmpstr (one->color, ==, "bgr");
  g_assert_cmpint (one->resize, ==, AXON_IMAGE_FIT_TOP_LEFT);
  g_assert_cmpuint (three->n_mean, ==, 3);
  g_assert_cmpfloat (three->mean[2], ==, 103.53f);
  g_assert_cmpfloat (three->pad_value, ==, 114);
  g_assert_cmpint (three->width, ==, 128);
  g_assert_cmpint (three->height, ==, 96);
  g_assert_cmpint (three->resize, ==, AXON_IMAGE_FIT_CROP);
  g_assert_cmpfloat (three->crop_fraction, ==, 0.875);
}

static void
arrays_as_gst_launch_writes_them_are_understood (void)
{
  g_autoptr (GstNnDescription) d = describe ("mean=\"<1,2.5,3>\" scale=\"< 4, 5, 6 >\"");
  g_assert_cmpuint (d->n_mean, ==, 3);
  g_assert_cmpfloat (d->mean[1], ==, 2.5f);
  g_assert_cmpfloat (d->scale[2], ==, 6);
}

static void
a_value_that_does_not_exist_is_refused_when_it_is_set (void)
{
  g_autoptr (GError) error = NULL;
  GstElement *element = gst_parse_launch ("nninfer color=purple", &error);
  g_assert_error (error, GST_PARSE_ERROR, GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY);
  gst_clear_object (&element);
}

static void
what_is_not_set_is_said_so (void)
{
  GstElement *element = parse ("nninfer");
  gint color, width;
  gdouble pad;
  gchar *mean;
  g_object_get (element, "color", &color, "width", &width, "pad-value", &pad, "mean", &mean, NULL);
  g_assert_cmpint (color, ==, 0);
  g_assert_cmpint (width, ==, 0);
  g_assert_cmpfloat (pad, ==, -1);
  g_assert_null (mean);
  gst_util_set_object_arg (G_OBJECT (element), "color", "gray");
  g_object_set (element, "width", 64, "pad-value", 114.0, "mean", "1,2,3", NULL);
  g_object_get (element, "color", &color, "width", &width, "pad-value", &pad, "mean", &mean, NULL);
  g_assert_cmpint (color, ==, 3);
  g_assert_cmpint (width, ==, 64);
  g_assert_cmpfloat (pad, ==, 114);
  g_assert_cmpstr (mean, ==, "1,2,3");
  g_free (mean);
  gst_object_unref (element);
}

static void
every_element_shows_what_it_uses (void)
{
  static const struct {
    const gchar *element;
    gboolean pictures, results;
  } rows[] = { { "nninfer", TRUE, TRUE },
               { "nnpreproc", TRUE, FALSE },
               { "nndecode", FALSE, TRUE } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstElement *element = parse (rows[i].element);
    GObjectClass *klass = G_OBJECT_GET_CLASS (element);
    g_assert_true ((g_object_class_find_property (klass, "mean") != NULL) == rows[i].pictures);
    g_assert_true ((g_object_class_find_property (klass, "resize") != NULL) == rows[i].pictures);
    g_assert_true ((g_object_class_find_property (klass, "labels") != NULL) == rows[i].results);
    g_assert_true ((g_object_class_find_property (klass, "decoder") != NULL) == rows[i].results);
    gst_object_unref (element);
  }
}

static void
every_property_has_words_and_says_when_it_may_be_set (void)
{
  static const gchar *const elements[] = { "nninfer",   "nnpreproc",  "nndecode",
                                           "nnoverlay", "nnpublish",  "nnquery",
                                           "nndetect",  "nnclassify", "nnsegment" };
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    GstElement *element = parse (elements[i]);
    guint n;
    g_autofree GParamSpec **specs =
        g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
    for (guint k = 0; k < n; k++) {
      const gchar *blurb = g_param_spec_get_blurb (specs[k]);
      gboolean is_ours = g_str_has_prefix (g_type_name (specs[k]->owner_type), "GstNn");
      gboolean says_when =
          (specs[k]->flags & (GST_PARAM_MUTABLE_READY | GST_PARAM_MUTABLE_PLAYING)) ||
          !(specs[k]->flags & G_PARAM_WRITABLE);
      if (is_ours && (blurb == NULL || !says_when || strlen (blurb) < 10))
        g_error ("%s %s: \"%s\"", elements[i], specs[k]->name, blurb);
    }
    gst_object_unref (element);
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/properties/" #name, name)
  ADD (what_was_written_as_text_is_still_understood);
  ADD (arrays_as_gst_launch_writes_them_are_understood);
  ADD (a_value_that_does_not_exist_is_refused_when_it_is_set);
  ADD (what_is_not_set_is_said_so);
  ADD (every_element_shows_what_it_uses);
  ADD (every_property_has_words_and_says_when_it_may_be_set);
  return g_test_run ();
}
