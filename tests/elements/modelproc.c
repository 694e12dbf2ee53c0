/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DL Streamer's model-proc beside a model. */
#include "descriptions.h"

static void
a_model_proc_of_wrong_types_is_an_error (void)
{
  static const struct {
    const gchar *text, *says;
  } bad[] = {
    { MODEL_PROC ("{\"resize\":5}", "[]"), "\"resize\"" },
    { MODEL_PROC ("{\"color_space\":[]}", "[]"), "\"color_space\"" },
    { MODEL_PROC ("{\"color_space\":null}", "[]"), "\"color_space\"" },
    { MODEL_PROC ("{\"mean\":\"1\"}", "[]"), "\"mean\"" },
    { MODEL_PROC ("{\"mean\":[\"1\",2,3]}", "[]"), "\"mean\"" },
    { MODEL_PROC ("{\"std\":{}}", "[]"), "\"std\"" },
    { MODEL_PROC ("{\"range\":[0]}", "[]"), "\"range\"" },
    { MODEL_PROC ("{\"range\":[1,1]}", "[]"), "\"range\"" },
    { MODEL_PROC ("7", "[]"), "\"params\"" },
    { MODEL_PROC ("{}", "[\"a\",7]"), "\"labels\"" },
    { MODEL_PROC ("{}", "{}"), "\"labels\"" },
    { "{\"json_schema_version\":\"2\",\"input_preproc\":5}", "\"input_preproc\"" },
    { "{\"json_schema_version\":\"2\",\"input_preproc\":[5]}", "\"input_preproc\"" },
    { "{\"json_schema_version\":\"2\",\"output_postproc\":[[]]}", "\"output_postproc\"" },
    { "{\"json_schema_version\":", "model.json" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    refused (&(Sources){ .proc = bad[i].text }, bad[i].says);
}

static void
a_json_file_nested_a_hundred_thousand_deep_is_an_error (void)
{
  GString *deep = g_string_new ("{\"json_schema_version\":\"2\",\"x\":");
  for (guint i = 0; i < 100000; i++)
    g_string_append_c (deep, '[');
  for (guint i = 0; i < 100000; i++)
    g_string_append_c (deep, ']');
  g_string_append_c (deep, '}');
  refused (&(Sources){ .proc = deep->str }, "nested");
  g_string_free (deep, TRUE);
}

static void
json_files_that_are_no_model_proc_say_nothing (void)
{
  static const gchar *const others[] = { "", "  \n", "5", "[]", "{}", "{\"resize\":5}" };
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    g_autoptr (GstNnDescription) d = accepted (&(Sources){ .proc = others[i] });
    g_assert_cmpstr (d->color, ==, "rgb");
    g_assert_null (d->labels);
  }
}

static void
a_model_proc_is_read_as_dl_streamer_means_it (void)
{
  g_autoptr (GstNnDescription) d = accepted (&(Sources){
      .proc =
          MODEL_PROC ("{\"range\":[0.0,1.0],\"mean\":[0.5],\"std\":[0.25],\"color_space\":\"RGB\","
                      "\"resize\":\"aspect-ratio\"}",
                      "[\"cat\",\"dog\"]") });
  g_autoptr (GstNnDescription) bytes = accepted (&(Sources){
      .proc = MODEL_PROC ("{\"range\":[0,255]}", "\"names.txt\""), .names = "cat\ndog" });
  g_assert_cmpstr (d->color, ==, "rgb");
  g_assert_cmpint (d->resize, ==, AXON_IMAGE_FIT_LETTERBOX);
  g_assert_cmpfloat_with_epsilon (d->mean[0], 127.5, 1e-4);
  g_assert_cmpfloat_with_epsilon (d->scale[0], 63.75, 1e-4);
  g_assert_cmpstr (gst_nn_description_get_label (d, 1), ==, "dog");
  g_assert_cmpstr (bytes->color, ==, "bgr");
  g_assert_true (bytes->n_scale == 0 || bytes->scale[0] == 1);
  g_assert_true (bytes->n_mean == 0 || bytes->mean[0] == 0);
  g_assert_cmpstr (gst_nn_description_get_label (bytes, 1), ==, "dog");
}

/* DL Streamer's numbers from -1 to 1, of which no mean is said: ours are of bytes. */
static void
a_range_that_begins_below_0_is_one_mean_for_all_channels (void)
{
  g_autoptr (GstNnDescription) d =
      accepted (&(Sources){ .proc = MODEL_PROC ("{\"range\":[-1,1]}", "[]") });
  g_assert_cmpuint (d->n_mean, ==, 1);
  g_assert_cmpfloat_with_epsilon (d->mean[0], 127.5, 1e-4);
  g_assert_cmpuint (d->n_scale, ==, 1);
  g_assert_cmpfloat_with_epsilon (d->scale[0], 127.5, 1e-4);
}

static void
a_model_proc_names_decoder_anchors_and_padding (void)
{
  g_autoptr (GstNnDescription) d = accepted (&(Sources){
      .proc = "{\"json_schema_version\":\"2.2.0\",\"input_preproc\":[{\"params\":"
              "{\"crop\":\"central\",\"padding\":{\"field_value\":[114,114,114]}}}],"
              "\"output_postproc\":[{\"converter\":\"yolo_v3\",\"anchors\":[10,13,16,30]}]}" });
  g_assert_cmpint (d->resize, ==, AXON_IMAGE_FIT_CROP);
  g_assert_cmpfloat (d->pad_value, ==, 114);
  g_assert_cmpstr (d->decoder, ==, "yolov3");
  g_assert_cmpuint (d->n_anchors, ==, 4);
  g_assert_cmpfloat (d->anchors[3], ==, 30);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/modelproc/" #name, name)
  ADD (a_model_proc_of_wrong_types_is_an_error);
  ADD (a_json_file_nested_a_hundred_thousand_deep_is_an_error);
  ADD (json_files_that_are_no_model_proc_say_nothing);
  ADD (a_model_proc_is_read_as_dl_streamer_means_it);
  ADD (a_range_that_begins_below_0_is_one_mean_for_all_channels);
  ADD (a_model_proc_names_decoder_anchors_and_padding);
  return g_test_run ();
}
