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
arrays_as_gst_launch_writes_them_are_understood (void)
{
  g_autoptr (GstNnDescription) one =
      describe ("mean=<127> scale=<128.5> color=bgr resize=top-left decoder=yolo11");
  g_autoptr (GstNnDescription) three =
      describe ("mean=\"<123.675,116.28,103.53>\" scale=\"< 4, 5, 6 >\" anchors=<10,13,16.5,30> "
                "strides=<8,16> pad-value=114 width=128 height=96 resize=crop crop-fraction=0.875");
  g_assert_cmpuint (one->n_mean, ==, 1);
  g_assert_cmpfloat (one->mean[0], ==, 127);
  g_assert_cmpfloat (one->scale[0], ==, 128.5f);
  g_assert_cmpstr (one->color, ==, "bgr");
  g_assert_cmpstr (one->decoder, ==, "yolo11");
  g_assert_cmpint (one->resize, ==, AXON_IMAGE_FIT_TOP_LEFT);
  g_assert_cmpuint (three->n_mean, ==, 3);
  g_assert_cmpfloat (three->mean[2], ==, 103.53f);
  g_assert_cmpfloat (three->scale[2], ==, 6);
  g_assert_cmpuint (three->n_anchors, ==, 4);
  g_assert_cmpfloat (three->anchors[2], ==, 16.5f);
  g_assert_cmpuint (three->n_strides, ==, 2);
  g_assert_cmpuint (three->strides[1], ==, 16);
  g_assert_cmpfloat (three->pad_value, ==, 114);
  g_assert_cmpint (three->width, ==, 128);
  g_assert_cmpint (three->height, ==, 96);
  g_assert_cmpint (three->resize, ==, AXON_IMAGE_FIT_CROP);
  g_assert_cmpfloat (three->crop_fraction, ==, 0.875);
}

static void
a_value_that_does_not_exist_is_refused_when_it_is_set (void)
{
  static const gchar *const wrong[] = { "color=purple",     "decoder=magic", "mean=127",
                                        "mean=127,116,103", "mean=dark",     "mean=<dark>",
                                        "scale=255",        "anchors=10,13", "strides=8,16",
                                        "strides=<8.5>",    "tiles=3x2",     "tiles=<wide,high>" };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autofree gchar *launch = g_strdup_printf ("nninfer %s", wrong[i]);
    g_autoptr (GError) error = NULL;
    GstElement *element = gst_parse_launch (launch, &error);
    if (error == NULL || error->domain != GST_PARSE_ERROR)
      g_error ("%s was taken", launch);
    gst_clear_object (&element);
  }
}

/* From Python, an array of ints comes as one of ints; nothing is set then. */
static void
an_array_of_what_is_no_number_of_its_kind_is_not_taken_for_zeros (void)
{
  GstElement *element = parse ("nnpreproc mean=<1,2,3>");
  GValue array = G_VALUE_INIT, one = G_VALUE_INIT;
  g_value_init (&array, GST_TYPE_ARRAY);
  g_value_set_int (g_value_init (&one, G_TYPE_INT), 127);
  gst_value_array_append_and_take_value (&array, &one);
  g_test_expect_message ("GLib-GObject", G_LOG_LEVEL_WARNING, "*invalid or out of range*");
  g_object_set_property (G_OBJECT (element), "mean", &array);
  g_test_assert_expected_messages ();
  g_object_get_property (G_OBJECT (element), "mean", &array);
  g_assert_cmpuint (gst_value_array_get_size (&array), ==, 3);
  g_value_unset (&array);
  gst_object_unref (element);
}

static void
what_is_not_set_is_said_so (void)
{
  GstElement *element = parse ("nninfer");
  gint color, width;
  gdouble pad;
  GValue mean = G_VALUE_INIT;
  g_object_get (element, "color", &color, "width", &width, "pad-value", &pad, NULL);
  g_object_get_property (G_OBJECT (element), "mean", &mean);
  g_assert_cmpint (color, ==, 0);
  g_assert_cmpint (width, ==, 0);
  g_assert_cmpfloat (pad, ==, -1);
  g_assert_cmpuint (gst_value_array_get_size (&mean), ==, 0);
  gst_util_set_object_arg (G_OBJECT (element), "color", "gray");
  gst_util_set_object_arg (G_OBJECT (element), "mean", "<1,2.5,103.53>");
  g_object_set (element, "width", 64, "pad-value", 114.0, NULL);
  g_object_get (element, "color", &color, "width", &width, "pad-value", &pad, NULL);
  g_object_get_property (G_OBJECT (element), "mean", &mean);
  g_assert_cmpint (color, ==, 3);
  g_assert_cmpint (width, ==, 64);
  g_assert_cmpfloat (pad, ==, 114);
  g_assert_cmpuint (gst_value_array_get_size (&mean), ==, 3);
  g_assert_cmpfloat (g_value_get_double (gst_value_array_get_value (&mean, 2)), ==, 103.53);
  g_value_unset (&mean);
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

/* All properties of all elements of the plugin that are its own. */
static void
for_each_property (void (*check) (const gchar *element, const GParamSpec *spec))
{
  GList *features = gst_registry_get_feature_list_by_plugin (gst_registry_get (), "nn");
  g_assert_nonnull (features);
  for (GList *l = features; l != NULL; l = l->next) {
    const gchar *name = gst_plugin_feature_get_name (l->data);
    GstElement *element = parse (name);
    guint n;
    g_autofree GParamSpec **specs =
        g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
    for (guint k = 0; k < n; k++)
      if (g_str_has_prefix (g_type_name (specs[k]->owner_type), "GstNn"))
        check (name, specs[k]);
    gst_object_unref (element);
  }
  gst_plugin_feature_list_free (features);
}

static void
check_words (const gchar *element, const GParamSpec *spec)
{
  const gchar *blurb = g_param_spec_get_blurb ((GParamSpec *)spec);
  gboolean says_when = (spec->flags & (GST_PARAM_MUTABLE_READY | GST_PARAM_MUTABLE_PLAYING)) ||
                       !(spec->flags & G_PARAM_WRITABLE);
  if (blurb == NULL || !says_when || strlen (blurb) < 10)
    g_error ("%s %s: \"%s\"", element, spec->name, blurb ? blurb : "");
}

static void
every_property_has_words_and_says_when_it_may_be_set (void)
{
  for_each_property (check_words);
}

/* What GstDirectControlBinding takes; it refuses text and arrays. */
static void
check_controllable (const gchar *element, const GParamSpec *spec)
{
  const GType types[] = { G_TYPE_INT,   G_TYPE_UINT,   G_TYPE_INT64,   G_TYPE_UINT64,
                          G_TYPE_FLOAT, G_TYPE_DOUBLE, G_TYPE_BOOLEAN, G_TYPE_ENUM };
  gboolean can = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    can = can || g_type_is_a (spec->value_type, types[i]);
  if ((spec->flags & GST_PARAM_CONTROLLABLE) && !can)
    g_error ("%s %s: no control source controls a %s", element, spec->name,
             g_type_name (spec->value_type));
}

static void
what_claims_to_be_controllable_is_of_a_type_that_can_be_controlled (void)
{
  for_each_property (check_controllable);
}

static void
check_default (const gchar *element, const GParamSpec *spec)
{
  g_autoptr (GstElement) fresh = gst_object_ref_sink (parse (element));
  GValue value = G_VALUE_INIT;
  if ((spec->flags & G_PARAM_READWRITE) != G_PARAM_READWRITE)
    return;
  g_value_init (&value, spec->value_type);
  g_object_get_property (G_OBJECT (fresh), spec->name, &value);
  if (!g_param_value_defaults ((GParamSpec *)spec, &value)) {
    g_autofree gchar *text = g_strdup_value_contents (&value);
    g_error ("%s %s: a new element has %s, which is not the default", element, spec->name, text);
  }
  g_value_unset (&value);
}

static void
a_new_element_has_the_defaults_that_its_properties_name (void)
{
  for_each_property (check_default);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/properties/" #name, name)
  ADD (arrays_as_gst_launch_writes_them_are_understood);
  ADD (a_value_that_does_not_exist_is_refused_when_it_is_set);
  ADD (an_array_of_what_is_no_number_of_its_kind_is_not_taken_for_zeros);
  ADD (what_is_not_set_is_said_so);
  ADD (every_element_shows_what_it_uses);
  ADD (every_property_has_words_and_says_when_it_may_be_set);
  ADD (what_claims_to_be_controllable_is_of_a_type_that_can_be_controlled);
  ADD (a_new_element_has_the_defaults_that_its_properties_name);
  return g_test_run ();
}
