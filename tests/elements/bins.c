/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nndetect, nnclassify and nnsegment: their properties and results are those of their parts. */
#include "axontest.h"

#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <gst/nn/nn.h>
#include <math.h>

static const struct {
  const gchar *name, *region;
  gboolean can_track;
} bins[] = {
  { "nndetect", "full-frame", TRUE },
  { "nnclassify", "roi-list", FALSE },
  { "nnsegment", "full-frame", TRUE },
};

static GstElement *
make (const gchar *name)
{
  GstElement *element = gst_element_factory_make (name, NULL);
  g_assert_nonnull (element);
  return gst_object_ref_sink (element);
}

static void
assert_same_default (GParamSpec *own, GParamSpec *of_part)
{
  g_assert_nonnull (own);
  g_assert_true (own->value_type == of_part->value_type);
  g_assert_cmpstr (g_param_spec_get_blurb (own), ==, g_param_spec_get_blurb (of_part));
  if (!g_str_equal (own->name, "inference-region"))
    g_assert_cmpint (g_param_values_cmp (own, g_param_spec_get_default_value (own),
                                         g_param_spec_get_default_value (of_part)),
                     ==, 0);
}

static void
every_property_of_the_parts_is_one_of_the_whole (void)
{
  static const gchar *const parts[] = { "nninfer", "nndecode" };
  for (guint b = 0; b < G_N_ELEMENTS (bins); b++) {
    g_autoptr (GstElement) bin = make (bins[b].name);
    for (guint p = 0; p < G_N_ELEMENTS (parts); p++) {
      g_autoptr (GstElement) part = make (parts[p]);
      guint n;
      g_autofree GParamSpec **specs =
          g_object_class_list_properties (G_OBJECT_GET_CLASS (part), &n);
      for (guint i = 0; i < n; i++)
        if (specs[i]->owner_type == G_OBJECT_TYPE (part) && !g_str_equal (specs[i]->name, "stats"))
          assert_same_default (
              g_object_class_find_property (G_OBJECT_GET_CLASS (bin), specs[i]->name), specs[i]);
    }
    g_assert_true ((g_object_class_find_property (G_OBJECT_GET_CLASS (bin), "track") != NULL) ==
                   bins[b].can_track);
  }
}

static gchar *
get_text (GObject *object, const gchar *property)
{
  g_auto (GValue) value = G_VALUE_INIT;
  gst_child_proxy_get_property (GST_CHILD_PROXY (object), property, &value);
  return G_VALUE_HOLDS_BOXED (&value) && g_value_get_boxed (&value) == NULL
             ? NULL
             : gst_value_serialize (&value);
}

static void
properties_are_kept_by_the_part_that_has_them (void)
{
  static const gchar *const cases[][3] = {
    { "threshold", "decode", "0.25" },          { "iou-threshold", "decode", "0.75" },
    { "inference-interval", "infer", "3" },     { "labels", "infer", "a,b" },
    { "drop-policy", "infer", "newest" },       { "hold-time", "decode", "5" },
    { "config", "infer", "config, A=(int)1;" },
  };
  for (guint b = 0; b < G_N_ELEMENTS (bins); b++) {
    g_autoptr (GstElement) bin = make (bins[b].name);
    g_autofree gchar *region = get_text (G_OBJECT (bin), "infer::inference-region");
    g_assert_cmpstr (region, ==, bins[b].region);
    for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
      g_autofree gchar *path = g_strdup_printf ("%s::%s", cases[i][1], cases[i][0]);
      g_autofree gchar *before = get_text (G_OBJECT (bin), cases[i][0]);
      g_autofree gchar *own = NULL, *of_part = NULL;
      gst_util_set_object_arg (G_OBJECT (bin), cases[i][0], cases[i][2]);
      own = get_text (G_OBJECT (bin), cases[i][0]);
      of_part = get_text (G_OBJECT (bin), path);
      g_assert_cmpstr (own, ==, of_part);
      g_assert_cmpstr (own, !=, before);
    }
  }
}

/* What a pipeline with the ball of videotestsrc finds on its last frame, for people: of each object
 * what it lies in, its box, and its track. */
static gchar *
run (const gchar *chain)
{
  g_autofree gchar *model = test_ball_model ();
  g_auto (GStrv) parts = g_strsplit (chain, "MODEL", -1);
  g_autofree gchar *middle = g_strjoinv (model, parts);
  g_autofree gchar *launch = g_strdup_printf ("videotestsrc num-buffers=8 pattern=ball ! "
                                              "video/x-raw,format=I420,width=320,height=240 ! %s ! "
                                              "appsink name=sink sync=false",
                                              middle);
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) found = g_string_new (NULL);
  GstElement *pipeline = gst_parse_launch (launch, &error);
  g_autoptr (GstElement) sink = NULL;
  GstSample *sample;
  g_assert_no_error (error);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink), 10 * GST_SECOND)) != NULL) {
    GstNnResultMeta *result = gst_buffer_get_nn_result_meta (gst_sample_get_buffer (sample));
    const GstNnObject *o;
    g_string_truncate (found, 0);
    for (guint i = 0; result && (o = gst_nn_result_meta_get_object (result, i)) != NULL; i++) {
      gdouble x, y, width, height;
      gst_nn_object_get_box (o, &x, &y, &width, &height);
      g_string_append_printf (found,
                              "%s in %u at %.0f,%.0f %.0fx%.0f track %" G_GUINT64_FORMAT "\n",
                              gst_nn_object_get_label (o), gst_nn_object_get_parent_id (o), x, y,
                              width, height, gst_nn_object_get_track_id (o));
    }
    gst_sample_unref (sample);
  }
  g_assert_true (gst_app_sink_is_eos (GST_APP_SINK (sink)));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return g_string_free (g_steal_pointer (&found), FALSE);
}

static void
the_whole_finds_what_its_parts_find (void)
{
  static const gchar *const chains[][2] = {
    { "nninfer model=MODEL ! nndecode threshold=0.4", "nndetect model=MODEL threshold=0.4" },
    { "nninfer model=MODEL ! nndecode threshold=0.4", "nnsegment model=MODEL threshold=0.4" },
    { "nninfer model=MODEL inference-interval=3 ! nndecode ! nntrack",
      "nndetect model=MODEL inference-interval=3 track=true" },
    { "nninfer model=MODEL ! nndecode ! nninfer model=MODEL inference-region=roi-list "
      "region-margin=1 ! nndecode",
      "nndetect model=MODEL ! nnclassify model=MODEL region-margin=1" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (chains); i++) {
    g_autofree gchar *parts = run (chains[i][0]), *whole = run (chains[i][1]);
    g_assert_cmpstr (whole, ==, parts);
    g_assert_cmpuint (strlen (whole), >, 0);
  }
}

static void
tracks_come_and_go_with_the_property (void)
{
  g_autoptr (GstElement) bin = make ("nndetect");
  for (guint i = 0; i < 4; i++) {
    g_autoptr (GstElement) track = NULL;
    gboolean tracks = i % 2 == 0, is_on;
    guint64 lost_time = 0;
    g_object_set (bin, "track", tracks, NULL);
    g_object_get (bin, "track", &is_on, NULL);
    track = gst_bin_get_by_name (GST_BIN (bin), "track");
    g_assert_true (is_on == tracks);
    g_assert_true ((track != NULL) == tracks);
    if (tracks) {
      gst_child_proxy_set (GST_CHILD_PROXY (bin), "track::lost-time", (guint64)7, NULL);
      g_object_get (track, "lost-time", &lost_time, NULL);
    }
    g_assert_cmpuint (lost_time, ==, tracks ? 7 : 0);
  }
}

/* Elements were linked while frames flowed. */
static void
tracks_do_not_begin_in_the_middle_of_a_stream (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autoptr (GstElement) bin = make ("nndetect");
  gboolean is_on;
  g_object_set (bin, "model", model, "device", "MOCK", NULL);
  g_assert_cmpint (gst_element_set_state (bin, GST_STATE_PAUSED), !=, GST_STATE_CHANGE_FAILURE);
  g_object_set (bin, "track", TRUE, NULL);
  g_object_get (bin, "track", &is_on, NULL);
  g_assert_false (is_on);
  gst_element_set_state (bin, GST_STATE_NULL);
}

static void
an_error_of_a_part_is_one_of_the_pipeline (void)
{
  g_autoptr (GstElement) pipeline =
      gst_object_ref_sink (gst_parse_launch ("videotestsrc ! nndetect model=/nowhere.onnx ! "
                                             "fakesink",
                                             NULL));
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;
  g_assert_cmpint (gst_element_set_state (pipeline, GST_STATE_PLAYING), ==,
                   GST_STATE_CHANGE_FAILURE);
  message = gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  gst_message_parse_error (message, &error, NULL);
  g_assert_nonnull (strstr (error->message, "/nowhere.onnx"));
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/bins/" #name, name)
  ADD (every_property_of_the_parts_is_one_of_the_whole);
  ADD (properties_are_kept_by_the_part_that_has_them);
  ADD (the_whole_finds_what_its_parts_find);
  ADD (tracks_come_and_go_with_the_property);
  ADD (tracks_do_not_begin_in_the_middle_of_a_stream);
  ADD (an_error_of_a_part_is_one_of_the_pipeline);
  return g_test_run ();
}
