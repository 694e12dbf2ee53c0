/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Model descriptions: every source, which of them wins, and what must be refused. */
#include "descriptions.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

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
a_crop_fraction_is_above_0_and_up_to_1 (void)
{
  static const gchar *const bad[] = { "0", "-0.5", "1.5", "nan", "87%" };
  g_autoptr (GstNnDescription) silent = accepted (&(Sources){ .metadata = "axon.resize=crop" });
  g_autoptr (GstNnDescription) d = accepted (&(Sources){ .metadata = "axon.crop-fraction=0.875" });
  g_assert_cmpfloat (silent->crop_fraction, ==, 1);
  g_assert_cmpfloat (d->crop_fraction, ==, 0.875);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree gchar *text = g_strconcat ("axon.crop-fraction=", bad[i], NULL);
    refused (&(Sources){ .metadata = text }, "expected a number");
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

/* Neither does what a link there points to belong to the model. */
static void
what_stands_beside_a_model_names_no_file_elsewhere (void)
{
  static const gchar *const elsewhere[] = { "/etc/passwd", "../names.txt", "a/../../names.txt", "",
                                            "/dev/zero" };
  for (guint i = 0; i < G_N_ELEMENTS (elsewhere); i++) {
    g_autofree gchar *info = g_strconcat ("[axon]\nlabels-file=", elsewhere[i], "\n", NULL);
    g_autofree gchar *proc = g_strdup_printf (
        "{\"json_schema_version\":\"2.2.0\",\"output_postproc\":[{\"labels\":\"%s\"}]}",
        elsewhere[i]);
    refused (&(Sources){ .modelinfo = info }, "expected a file beneath");
    refused (&(Sources){ .proc = proc }, "expected a file beneath");
  }
}

static void
a_link_beside_a_model_is_not_followed (void)
{
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (dir, "model.onnx", NULL);
  g_autofree gchar *info = g_strconcat (path, ".modelinfo", NULL);
  g_autoptr (GstNnDescription) d = gst_nn_description_new ();
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  g_assert_cmpint (symlink ("/etc/passwd", info), ==, 0);
  g_assert_false (gst_nn_description_load (d, path, model, &error));
  g_assert_nonnull (strstr (error->message, "without links"));
  g_unlink (info);
  g_rmdir (dir);
}

static void
text_that_is_not_utf8_does_not_come_out_again (void)
{
  g_autoptr (GstNnDescription) d =
      accepted (&(Sources){ .modelinfo = "[axon]\nlabels-file=names.txt\n", .names = "caf\xe9\n" });
  g_assert_cmpstr (gst_nn_description_get_label (d, 0), ==, "caf?");
  refused (&(Sources){ .property = "col\xe9r=rgb\n" }, "not UTF-8");
}

static void
a_fifo_of_labels_does_not_hang (void)
{
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *fifo = g_build_filename (dir, "fifo", NULL);
  g_autofree gchar *text = g_strconcat ("labels-file=", fifo, "\n", NULL);
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  refused (&(Sources){ .property = text }, "not a regular file");
  refused (&(Sources){ .property = "labels-file=/dev/zero\n" }, "not a regular file");
  refused (&(Sources){ .property = "labels-file=/nonexistent\n" }, "/nonexistent");
  g_unlink (fifo);
  g_rmdir (dir);
}

static void
a_file_of_labels_without_end_is_refused (void)
{
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *big = g_build_filename (dir, "big.txt", NULL);
  g_autofree gchar *text = g_strconcat ("labels-file=", big, "\n", NULL);
  g_assert_true (g_file_set_contents (big, "", 0, NULL));
  g_assert_cmpint (truncate (big, G_GINT64_CONSTANT (1) << 33), ==, 0); /* 8 GiB of holes */
  refused (&(Sources){ .property = text }, "expected at most");
  g_unlink (big);
  g_rmdir (dir);
}

static void
the_first_source_that_says_a_key_wins (void)
{
  Sources s = { .property = "color=gray",
                .modelinfo = "[axon]\ncolor=bgr\nmean=1\nlabels=info\n",
                .proc =
                    MODEL_PROC ("{\"color_space\":\"RGB\",\"mean\":[2],\"std\":[2]}", "[\"proc\"]"),
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

/* GStreamer 1.28: groups by tensor; the relu model's input is "x". */
static void
a_modelinfo_of_gstreamer_is_read (void)
{
  static const gchar text[] = "[modelinfo]\nversion=1.0\ngroup-id=g\n[x]\nid=in\ndir=input\n"
                              "type=float32\ndims=1,3,8,8\nranges=-1.0,1.0;0.0,1.0;0.0,255.0\n";
  const Sources places[] = { { .modelinfo = text }, { .short_info = text } };
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    g_autoptr (GstNnDescription) d = accepted (&places[i]);
    g_assert_cmpuint (d->n_mean, ==, 3);
    g_assert_cmpfloat_with_epsilon (d->mean[0], 127.5, 1e-4);
    g_assert_cmpfloat_with_epsilon (d->scale[0], 127.5, 1e-4);
    g_assert_cmpfloat_with_epsilon (d->scale[1], 255, 1e-4);
    g_assert_cmpfloat_with_epsilon (d->scale[2], 1, 1e-6);
  }
  refused (&(Sources){ .modelinfo = "[modelinfo]\nversion=2.0\n" }, "expected 1.MINOR");
  refused (&(Sources){ .modelinfo = "[modelinfo]\n" }, "expected 1.MINOR");
  refused (&(Sources){ .modelinfo = "[modelinfo]\nversion=1.0\n[x]\ndir=input\nranges=0,0\n" },
           "ranges");
  refused (&(Sources){ .modelinfo = "[modelinfo]\nversion=1.0\n[x]\ndir=input\nranges=1\n" },
           "ranges");
}

#define NVINFER "[property]\nonnx-file=model.onnx\n"

static void
a_configuration_of_nvinfer_is_read (void)
{
  g_autoptr (GstNnDescription) d = accepted (
      &(Sources){ .nvinfer = NVINFER "net-scale-factor=0.0078125\noffsets=127.5;127.5;127.5\n"
                                     "model-color-format=1\nmaintain-aspect-ratio=1\n"
                                     "labelfile-path=names.txt\nnetwork-type=1\n",
                  .names = "cat;dog;bird" });
  g_autoptr (GstNnDescription) other = accepted (
      &(Sources){ .nvinfer = "[property]\nonnx-file=other.onnx\nmodel-color-format=1\n" });
  g_assert_cmpstr (d->color, ==, "bgr");
  g_assert_cmpint (d->resize, ==, AXON_IMAGE_FIT_TOP_LEFT);
  g_assert_cmpfloat (d->mean[2], ==, 127.5);
  g_assert_cmpfloat (d->scale[0], ==, 128);
  g_assert_cmpstr (d->decoder, ==, "classification");
  g_assert_cmpstr (gst_nn_description_get_label (d, 2), ==, "bird");
  g_assert_cmpstr (other->color, ==, "rgb");
  refused (&(Sources){ .nvinfer = NVINFER "net-scale-factor=0\n" }, "net-scale-factor");
  refused (&(Sources){ .nvinfer = NVINFER "offsets=1;x\n" }, "offsets");
  refused (&(Sources){ .nvinfer = NVINFER "model-color-format=7\n" }, "model-color-format");
}

/* A dot of the folder begins no ending. */
static void
labels_stand_beside_a_model_without_an_ending (void)
{
  static const gchar *const folders[] = { NULL, "models.v2" };
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++) {
    g_autoptr (GstNnDescription) d =
        accepted (&(Sources){ .folder = folders[i], .model = "model", .labels = "cat\ndog\n" });
    g_assert_cmpstr (gst_nn_description_get_label (d, 1), ==, "dog");
  }
}

static void
labels_beside_a_model_are_its_own_before_those_of_the_folder (void)
{
  g_autoptr (GstNnDescription) own =
      accepted (&(Sources){ .labels = "cat\ndog\n", .metadata = "names={0: 'meta'}" });
  g_autoptr (GstNnDescription) named =
      accepted (&(Sources){ .shared = "cat\ndog\n", .metadata = "names={0: 'meta'}" });
  g_autoptr (GstNnDescription) folder = accepted (&(Sources){ .shared = "cat\ndog\n" });
  g_autoptr (GstNnDescription) none = accepted (&(Sources){ .labels = "\xff\xfe" });
  g_assert_cmpstr (gst_nn_description_get_label (own, 1), ==, "dog");
  g_assert_cmpstr (gst_nn_description_get_label (named, 0), ==, "meta");
  g_assert_cmpstr (gst_nn_description_get_label (folder, 1), ==, "dog");
  g_assert_null (none->labels);
}

static void
lines_of_labels_lose_the_spaces_around_them (void)
{
  g_autoptr (GstNnDescription) d = accepted (&(Sources){ .labels = " cat\r\ndog \r\n\r\n" });
  g_assert_cmpstr (gst_nn_description_get_label (d, 0), ==, "cat");
  g_assert_cmpstr (gst_nn_description_get_label (d, 1), ==, "dog");
  g_assert_null (gst_nn_description_get_label (d, 2));
}

/* Wherever the line stands that is too long. */
static void
a_text_of_long_lines_is_no_list_of_labels (void)
{
  static const guint lengths[][2] = { { 257, 3 }, { 3, 257 }, { 256, 3 }, { 3, 256 } };
  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    g_autofree gchar *first = g_strnfill (lengths[i][0], 'a');
    g_autofree gchar *second = g_strnfill (lengths[i][1], 'b');
    g_autofree gchar *text = g_strdup_printf ("%s\n%s\n", first, second);
    g_autoptr (GstNnDescription) d = accepted (&(Sources){ .labels = text });
    g_assert_cmpstr (gst_nn_description_get_label (d, 1), ==, i < 2 ? NULL : second);
  }
}

static void
a_task_of_ultralytics_names_the_decoder (void)
{
  static const struct {
    const gchar *more, *decoder, *resize;
  } rows[] = {
    { "task=detect", "yolov8", "letterbox" },
    { "task=detect\nend2end=True", "yolov10", "letterbox" },
    { "task=detect\nargs={'batch': 1, 'nms': True}", "yolov10", "letterbox" },
    { "task=segment\nend2end=True", "yolo26-seg", "letterbox" },
    { "task=pose\nend2end=True", "yolo26-pose", "letterbox" },
    { "task=obb\nend2end=True", "yolo26-obb", "letterbox" },
    { "task=detect\ndescription=Ultralytics RT-DETR-l model", "rtdetr", "stretch" },
    { "task=segment", "yolov8-seg", "letterbox" },
    { "task=segment\nend2end=True", "yolo26-seg", "letterbox" },
    { "task=pose", "yolov8-pose", "letterbox" },
    { "task=obb", "yolov8-obb", "letterbox" },
    { "task=classify", "classification", "crop" },
    { "stride=32", NULL, "letterbox" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *metadata =
        g_strconcat ("names={0: 'a'}\nimgsz=[480, 640]\n", rows[i].more, NULL);
    g_autoptr (GstNnDescription) d = accepted (&(Sources){ .metadata = metadata });
    g_autofree gchar *resize = gst_nn_description_get (d, "resize", NULL, NULL);
    g_assert_cmpstr (d->decoder, ==, rows[i].decoder);
    g_assert_cmpstr (resize, ==, rows[i].resize);
    g_assert_cmpint (d->width, ==, 640);
    g_assert_cmpint (d->height, ==, 480);
  }
}

static void
metadata_of_openvino_is_read (void)
{
  g_autoptr (GstNnDescription) d = accepted (
      &(Sources){ .metadata = "model_info mean_values=123 116 103\nmodel_info scale_values=58\n"
                              "model_info labels=cat dog\nmodel_info resize_type=crop\n"
                              "model_info reverse_input_channels=True\n"
                              "model_info model_type=Classification\nmodel_info other=1" });
  g_assert_cmpfloat (d->mean[1], ==, 116);
  g_assert_cmpfloat (d->scale[0], ==, 58);
  g_assert_cmpstr (d->color, ==, "rgb");
  g_assert_cmpint (d->resize, ==, AXON_IMAGE_FIT_CROP);
  g_assert_cmpstr (d->decoder, ==, "classification");
  g_assert_cmpstr (gst_nn_description_get_label (d, 1), ==, "dog");
  refused (&(Sources){ .metadata = "model_info mean_values=a b" }, "model_info mean_values");
}

static void
a_preset_in_a_file_says_what_the_file_leaves_open (void)
{
  g_autoptr (GstNnDescription) d =
      accepted (&(Sources){ .modelinfo = "[axon]\npreset=yolox\ncolor=rgb\n" });
  g_autoptr (GstNnDescription) meta =
      accepted (&(Sources){ .metadata = "axon.preset=yolox\naxon.label-set=voc20" });
  g_assert_cmpstr (d->color, ==, "rgb");
  g_assert_cmpstr (d->decoder, ==, "yolox");
  g_assert_cmpstr (gst_nn_description_get_label (d, 79), ==, "toothbrush");
  g_assert_cmpstr (gst_nn_description_get_label (meta, 0), ==, "aeroplane");
  refused (&(Sources){ .modelinfo = "[axon]\npreset=nothing\n" }, "axon-inspect --presets");
}

static void
anchors_and_strides_are_checked (void)
{
  refused (&(Sources){ .metadata = "axon.anchors=1,2,3" }, "pairs");
  refused (&(Sources){ .metadata = "axon.anchors=1,-2" }, "above 0");
  refused (&(Sources){ .metadata = "axon.strides=0" }, "strides from 1");
  refused (&(Sources){ .metadata = "axon.strides=1,2,3,4,5,6,7,8,9" }, "one to eight");
  refused (&(Sources){ .metadata = "axon.activation=relu" }, "softmax");
}

static void
thresholds_are_those_of_the_first_source_that_says_them (void)
{
  static const Sources rows[] = {
    { .modelinfo = "[axon]\nthreshold=0.25\niou-threshold=0.7\n" },
    { .metadata = "model_info confidence_threshold=0.25\nmodel_info iou_threshold=0.7" },
    { .nvinfer = NVINFER "[class-attrs-all]\npre-cluster-threshold=0.25\nnms-iou-threshold=0.7\n" },
    { .proc = "{\"json_schema_version\":\"2.2.0\",\"output_postproc\":[{"
              "\"confidence_threshold\":0.25,\"iou_threshold\":0.7}]}" },
  };
  g_autoptr (GstNnDescription) none = accepted (&(Sources){ .metadata = "axon.color=rgb" });
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GstNnDescription) d = accepted (&rows[i]);
    g_assert_cmpfloat_with_epsilon (d->threshold, 0.25, 1e-6);
    g_assert_cmpfloat_with_epsilon (d->iou_threshold, 0.7, 1e-6);
  }
  g_assert_cmpfloat (none->threshold, ==, -1);
  refused (&(Sources){ .metadata = "axon.threshold=2" }, "a number from 0 to 1");
  refused (&(Sources){ .nvinfer = NVINFER "[class-attrs-all]\nnms-iou-threshold=x\n" },
           "a number from 0 to 1");
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/description/" #name, name)
  ADD (a_pad_value_of_four_numbers_is_an_error);
  ADD (a_pad_value_is_from_0_to_255);
  ADD (a_crop_fraction_is_above_0_and_up_to_1);
  ADD (means_and_scales_are_finite_numbers);
  ADD (a_model_names_no_file);
  ADD (a_modelinfo_names_files_beside_it);
  ADD (what_stands_beside_a_model_names_no_file_elsewhere);
  ADD (a_link_beside_a_model_is_not_followed);
  ADD (text_that_is_not_utf8_does_not_come_out_again);
  ADD (a_fifo_of_labels_does_not_hang);
  ADD (a_file_of_labels_without_end_is_refused);
  ADD (the_first_source_that_says_a_key_wins);
  ADD (a_folder_called_like_a_key_says_nothing);
  ADD (an_escape_that_is_none_is_an_error);
  ADD (an_unknown_key_names_those_there_are);
  ADD (descriptions_of_ultralytics_models_are_read);
  ADD (a_modelinfo_of_gstreamer_is_read);
  ADD (a_configuration_of_nvinfer_is_read);
  ADD (labels_stand_beside_a_model_without_an_ending);
  ADD (labels_beside_a_model_are_its_own_before_those_of_the_folder);
  ADD (lines_of_labels_lose_the_spaces_around_them);
  ADD (a_text_of_long_lines_is_no_list_of_labels);
  ADD (a_task_of_ultralytics_names_the_decoder);
  ADD (metadata_of_openvino_is_read);
  ADD (a_preset_in_a_file_says_what_the_file_leaves_open);
  ADD (anchors_and_strides_are_checked);
  ADD (thresholds_are_those_of_the_first_source_that_says_them);
  return g_test_run ();
}
