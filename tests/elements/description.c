/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Model descriptions: every source, which of them wins, and what must be refused. */
#include "descriptions.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

static void
refused (const Sources *sources, const gchar *says)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstNnDescription) d = describe (sources, &error);
  g_assert_null (d);
  g_assert_nonnull (error);
  if (strstr (error->message, says) == NULL)
    g_error ("\"%s\" does not say \"%s\"", error->message, says);
}

static GstNnDescription *
accepted (const Sources *sources)
{
  g_autoptr (GError) error = NULL;
  GstNnDescription *d = describe (sources, &error);
  g_assert_no_error (error);
  return d;
}

static void
a_pad_value_of_four_numbers_is_an_error (void)
{
  refused (&(Sources){ .metadata = "axon.pad-value=1,2,3,4" }, "expected a number from 0 to 255");
}

static void
a_pad_value_is_from_0_to_255 (void)
{
  static const gchar *const bad[] = { "-1", "255.5", "nan", "", "grey", "1e300" };
  static const gchar *const good[] = { "0", "114", "127.5", "255" };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree gchar *text = g_strconcat ("axon.pad-value=", bad[i], NULL);
    refused (&(Sources){ .metadata = text }, "expected a number from 0 to 255");
  }
  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    g_autofree gchar *text = g_strconcat ("axon.pad-value=", good[i], NULL);
    g_autoptr (GstNnDescription) d = accepted (&(Sources){ .metadata = text });
    g_assert_cmpfloat (d->pad_value, ==, g_ascii_strtod (good[i], NULL));
  }
}

static void
means_and_scales_are_finite_numbers (void)
{
  refused (&(Sources){ .metadata = "axon.mean=nan" }, "numbers");
  refused (&(Sources){ .metadata = "axon.mean=1,2,3,4,5" }, "one to four numbers");
  refused (&(Sources){ .metadata = "axon.scale=inf" }, "numbers");
  refused (&(Sources){ .metadata = "axon.scale=1e-300" }, "other than 0");
}

static void
a_model_names_no_file (void)
{
  refused (&(Sources){ .metadata = "axon.labels-file=/etc/passwd" }, "a model names no files");
  refused (&(Sources){ .metadata = "axon.labels-file=../labels.txt" }, "a model names no files");
  /* who says the labels himself is not asked for the model's */
  g_autoptr (GstNnDescription) d = accepted (&(Sources){ .metadata = "axon.labels-file=/etc/passwd",
                                                         .modelinfo = "[axon]\nlabels=cat,dog\n" });
  g_assert_cmpstr (gst_nn_description_get_label (d, 1), ==, "dog");
}

static void
a_modelinfo_names_files_beside_it (void)
{
  g_autoptr (GstNnDescription) d = accepted (
      &(Sources){ .modelinfo = "[axon]\nlabels-file=names.txt\n", .names = "cat\ndog\n\n" });
  g_assert_cmpstr (gst_nn_description_get_label (d, 0), ==, "cat");
  g_assert_cmpstr (gst_nn_description_get_label (d, 1), ==, "dog");
  g_assert_null (gst_nn_description_get_label (d, 2));
}

static void
a_fifo_of_labels_does_not_hang (void)
{
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *fifo = g_build_filename (dir, "fifo", NULL);
  g_autofree gchar *text = g_strconcat ("[axon]\nlabels-file=", fifo, "\n", NULL);
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  refused (&(Sources){ .modelinfo = text }, "not a regular file");
  refused (&(Sources){ .modelinfo = "[axon]\nlabels-file=/dev/zero\n" }, "not a regular file");
  refused (&(Sources){ .modelinfo = "[axon]\nlabels-file=/nonexistent\n" }, "/nonexistent");
  g_unlink (fifo);
  g_rmdir (dir);
}

static void
a_file_of_labels_without_end_is_refused (void)
{
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *big = g_build_filename (dir, "big.txt", NULL);
  g_autofree gchar *text = g_strconcat ("[axon]\nlabels-file=", big, "\n", NULL);
  g_assert_true (g_file_set_contents (big, "", 0, NULL));
  g_assert_cmpint (truncate (big, G_GINT64_CONSTANT (1) << 33), ==, 0); /* 8 GiB of holes */
  refused (&(Sources){ .modelinfo = text }, "expected at most");
  g_unlink (big);
  g_rmdir (dir);
}

#define PROC(params, labels)                                                                       \
  "{\"json_schema_version\":\"2.2.0\",\"input_preproc\":[{\"params\":" params                      \
  "}],\"output_postproc\":[{\"labels\":" labels "}]}"

static void
a_model_proc_of_wrong_types_is_an_error (void)
{
  static const struct {
    const gchar *text, *says;
  } bad[] = {
    { PROC ("{\"resize\":5}", "[]"), "\"resize\"" },
    { PROC ("{\"color_space\":[]}", "[]"), "\"color_space\"" },
    { PROC ("{\"color_space\":null}", "[]"), "\"color_space\"" },
    { PROC ("{\"mean\":\"1\"}", "[]"), "\"mean\"" },
    { PROC ("{\"mean\":[\"1\",2,3]}", "[]"), "\"mean\"" },
    { PROC ("{\"std\":{}}", "[]"), "\"std\"" },
    { PROC ("{\"range\":[0]}", "[]"), "\"range\"" },
    { PROC ("{\"range\":[1,1]}", "[]"), "\"range\"" },
    { PROC ("7", "[]"), "\"params\"" },
    { PROC ("{}", "[\"a\",7]"), "\"labels\"" },
    { PROC ("{}", "{}"), "\"labels\"" },
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
      .proc = PROC ("{\"range\":[0.0,1.0],\"mean\":[0.5],\"std\":[0.25],\"color_space\":\"RGB\","
                    "\"resize\":\"aspect-ratio\"}",
                    "[\"cat\",\"dog\"]") });
  g_autoptr (GstNnDescription) bytes = accepted (
      &(Sources){ .proc = PROC ("{\"range\":[0,255]}", "\"names.txt\""), .names = "cat\ndog" });
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

static void
the_first_source_that_says_a_key_wins (void)
{
  Sources s = { .property = "color=gray",
                .modelinfo = "[axon]\ncolor=bgr\nmean=1\nlabels=info\n",
                .proc = PROC ("{\"color_space\":\"RGB\",\"mean\":[2],\"std\":[2]}", "[\"proc\"]"),
                .metadata = "axon.color=rgb\naxon.mean=3\naxon.scale=3\naxon.pad-value=3\n"
                            "names={0: 'meta'}\ntask=detect" };
  g_autoptr (GstNnDescription) d = accepted (&s);
  g_assert_cmpstr (d->color, ==, "gray");
  g_assert_cmpfloat (d->mean[0], ==, 1);
  g_assert_cmpfloat (d->scale[0], ==, 2);
  g_assert_cmpfloat (d->pad_value, ==, 3);
  g_assert_cmpint (d->resize, ==, AXON_IMAGE_FIT_STRETCH); /* model-proc's default */
  g_assert_cmpstr (gst_nn_description_get_label (d, 0), ==, "info");
  g_assert_nonnull (strstr (d->origin->str, "color=property"));
  g_assert_nonnull (strstr (d->origin->str, "pad-value=metadata"));
}

/* A path is part of what people read; it must not count as a key. */
static void
a_folder_called_like_a_key_says_nothing (void)
{
  Sources s = { .folder = "a mean=b scale=c",
                .modelinfo = "[axon]\ncolor=bgr\n",
                .metadata = "axon.mean=3\naxon.scale=4" };
  g_autoptr (GstNnDescription) d = accepted (&s);
  g_assert_cmpfloat (d->mean[0], ==, 3);
  g_assert_cmpfloat (d->scale[0], ==, 4);
}

static void
an_escape_that_is_none_is_an_error (void)
{
  refused (&(Sources){ .modelinfo = "[axon]\nlabels-file=/nonexistent\\q\n" }, "labels-file");
}

static void
an_unknown_key_names_those_there_are (void)
{
  refused (&(Sources){ .modelinfo = "[axon]\ncolour=bgr\n" }, "unknown key \"colour\"");
  refused (&(Sources){ .modelinfo = "[axon]\ncolour=bgr\n" }, "labels-file");
}

static void
descriptions_of_ultralytics_models_are_read (void)
{
  g_autoptr (GstNnDescription) d =
      accepted (&(Sources){ .metadata = "names={0: 'person', 1: \"dog's\"}\ntask=detect" });
  g_assert_cmpstr (gst_nn_description_get_label (d, 0), ==, "person");
  g_assert_cmpstr (gst_nn_description_get_label (d, 1), ==, "dog's");
  g_assert_cmpfloat (d->scale[0], ==, 255);
  g_assert_cmpfloat (d->pad_value, ==, 114);
  g_assert_cmpint (d->resize, ==, AXON_IMAGE_FIT_LETTERBOX);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/description/" #name, name)
  ADD (a_pad_value_of_four_numbers_is_an_error);
  ADD (a_pad_value_is_from_0_to_255);
  ADD (means_and_scales_are_finite_numbers);
  ADD (a_model_names_no_file);
  ADD (a_modelinfo_names_files_beside_it);
  ADD (a_fifo_of_labels_does_not_hang);
  ADD (a_file_of_labels_without_end_is_refused);
  ADD (a_model_proc_of_wrong_types_is_an_error);
  ADD (a_json_file_nested_a_hundred_thousand_deep_is_an_error);
  ADD (json_files_that_are_no_model_proc_say_nothing);
  ADD (a_model_proc_is_read_as_dl_streamer_means_it);
  ADD (the_first_source_that_says_a_key_wins);
  ADD (a_folder_called_like_a_key_says_nothing);
  ADD (an_escape_that_is_none_is_an_error);
  ADD (an_unknown_key_names_those_there_are);
  ADD (descriptions_of_ultralytics_models_are_read);
  return g_test_run ();
}
