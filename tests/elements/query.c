/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nnquery; nninfer on virtual devices, with extensions, from a compiled file. */
#include "axontest.h"

#include <glib/gstdio.h>
#include <gst/gst.h>
#include <string.h>

#define FRAMES                                                                                     \
  "videotestsrc num-buffers=8 pattern=snow ! video/x-raw,format=RGB,width=64,height=48 ! "

/* Runs to the end; collects element messages of @name. On failure the error's text. */
static GPtrArray *
run (const gchar *format, const gchar *name, gchar **failure, ...)
{
  g_autofree gchar *launch = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = NULL;
  g_autoptr (GstBus) bus = NULL;
  GPtrArray *found = g_ptr_array_new_with_free_func ((GDestroyNotify)gst_structure_free);
  gboolean done = FALSE;
  va_list args;
  va_start (args, failure);
  launch = g_strdup_vprintf (format, args);
  va_end (args);
  pipeline = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!done) {
    GstMessage *m = gst_bus_timed_pop (bus, 30 * GST_SECOND);
    g_assert_nonnull (m);
    if (GST_MESSAGE_TYPE (m) == GST_MESSAGE_ELEMENT &&
        gst_structure_has_name (gst_message_get_structure (m), name))
      g_ptr_array_add (found, gst_structure_copy (gst_message_get_structure (m)));
    if (GST_MESSAGE_TYPE (m) == GST_MESSAGE_ERROR) {
      g_autoptr (GError) problem = NULL;
      gst_message_parse_error (m, &problem, NULL);
      if (failure == NULL)
        g_error ("%s: %s", launch, problem->message);
      *failure = g_strdup (problem->message);
    }
    done = GST_MESSAGE_TYPE (m) == GST_MESSAGE_EOS || GST_MESSAGE_TYPE (m) == GST_MESSAGE_ERROR;
    gst_message_unref (m);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return found;
}

static void
nnquery_tells_what_every_device_takes (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autoptr (GPtrArray) messages =
      run (FRAMES "nnquery model=%s devices=MOCK,CPU ! fakesink", "nn-query", NULL, model);
  const GstStructure *s, *first;
  const GValue *devices, *inputs;
  guint taken, nodes, all;
  guint64 parameters, memory;
  gdouble flops;
  g_assert_cmpuint (messages->len, ==, 1);
  s = g_ptr_array_index (messages, 0);
  g_assert_true (gst_structure_get (s, "parameters", G_TYPE_UINT64, &parameters, "flops",
                                    G_TYPE_DOUBLE, &flops, "memory", G_TYPE_UINT64, &memory,
                                    "nodes", G_TYPE_UINT, &all, NULL));
  g_assert_cmpuint (parameters, >, 100);
  g_assert_cmpfloat (flops, >, (gdouble)parameters);
  g_assert_cmpuint (memory, >, parameters * 4);
  inputs = gst_structure_get_value (s, "inputs");
  g_assert_cmpuint (gst_value_array_get_size (inputs), ==, 1);
  devices = gst_structure_get_value (s, "devices");
  g_assert_cmpuint (gst_value_array_get_size (devices), ==, 2);
  first = gst_value_get_structure (gst_value_array_get_value (devices, 0));
  g_assert_cmpstr (gst_structure_get_string (first, "device"), ==, "MOCK");
  g_assert_true (
      gst_structure_get (first, "taken", G_TYPE_UINT, &taken, "nodes", G_TYPE_UINT, &nodes, NULL));
  g_assert_cmpuint (taken, ==, all);
  g_assert_cmpuint (nodes, ==, all);
}

/* The context reaches nninfer, which has no list of devices of its own. */
static void
nninfer_follows_the_affinities_of_nnquery (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *failure = NULL;
  g_autoptr (GPtrArray) with = NULL;
  g_autoptr (GPtrArray) without = NULL;
  axon_core_set_property (axon_core_get_default (), "MOCK", "MOCK_REFUSE",
                          g_variant_new_string ("Conv"), NULL);
  with =
      run (FRAMES "nnquery model=%s devices=MOCK,CPU ! nninfer model=%s device=HETERO ! fakesink",
           "nn-query", NULL, model, model);
  g_assert_cmpuint (with->len, ==, 1);
  without = run (FRAMES "nninfer model=%s device=HETERO ! fakesink", "nn-query", &failure, model);
  g_assert_nonnull (failure);
  g_assert_nonnull (strstr (failure, "which devices"));
  axon_core_set_property (axon_core_get_default (), "MOCK", "MOCK_REFUSE",
                          g_variant_new_string (""), NULL);
}

/* One context holds the advice for all models of a pipeline; the second pair took the first's. */
static void
two_pairs_of_nnquery_and_nninfer_do_not_disturb_each_other (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *folder = g_dir_make_tmp ("axon-query-XXXXXX", NULL);
  g_autofree gchar *other = g_build_filename (folder, "other.onnx", NULL);
  g_autofree gchar *bytes = NULL;
  g_autoptr (GPtrArray) told = NULL;
  gsize n;
  g_assert_true (g_file_get_contents (model, &bytes, &n, NULL) &&
                 g_file_set_contents (other, bytes, (gssize)n, NULL));
  told = run (FRAMES "nnquery model=%s devices=MOCK,CPU ! nninfer model=%s device=HETERO ! "
                     "nnquery model=%s devices=CPU ! nninfer model=%s device=HETERO ! fakesink",
              "nn-query", NULL, model, model, other, other);
  g_assert_cmpuint (told->len, ==, 2);
  g_unlink (other);
  g_rmdir (folder);
}

static void
a_device_that_is_not_there_is_left_out (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *failure = NULL;
  g_autoptr (GPtrArray) told = run (
      FRAMES "nnquery model=%s devices=NOWHERE,CPU ! nninfer model=%s device=HETERO ! fakesink",
      "nn-query", NULL, model, model);
  g_autoptr (GPtrArray) none = NULL;
  const GValue *devices = gst_structure_get_value (g_ptr_array_index (told, 0), "devices");
  g_assert_cmpuint (gst_value_array_get_size (devices), ==, 1);
  none = run (FRAMES "nnquery model=%s devices=NOWHERE ! fakesink", "nn-query", &failure, model);
  g_assert_nonnull (strstr (failure, "NOWHERE"));
}

static void
nnquery_reports_and_saves_the_tensors_of_every_buffer (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *folder = g_dir_make_tmp ("axon-query-XXXXXX", NULL);
  g_autoptr (GPtrArray) messages =
      run (FRAMES "nninfer model=%s ! nnquery statistics=true dump-location=%s ! fakesink",
           "nn-tensor-statistics", NULL, model, folder);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const gchar *file;
  guint n_files = 0;
  g_assert_cmpuint (messages->len, ==, 16); /* two outputs, eight frames */
  for (guint i = 0; i < messages->len; i++) {
    gdouble min, max, mean;
    guint64 nan;
    g_assert_true (gst_structure_get (g_ptr_array_index (messages, i), "min", G_TYPE_DOUBLE, &min,
                                      "max", G_TYPE_DOUBLE, &max, "mean", G_TYPE_DOUBLE, &mean,
                                      "nan", G_TYPE_UINT64, &nan, NULL));
    g_assert_cmpfloat (min, <=, mean);
    g_assert_cmpfloat (mean, <=, max);
    g_assert_cmpuint (nan, ==, 0);
  }
  while ((file = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = g_build_filename (folder, file, NULL);
    g_autoptr (AxonTensor) tensor = axon_tensor_load_npy (path, NULL);
    g_assert_nonnull (tensor);
    n_files++;
    g_unlink (path);
  }
  g_assert_cmpuint (n_files, ==, 16);
  g_rmdir (folder);
}

static void
nnquery_reports_tensor_streams_too (void)
{
  g_autoptr (GPtrArray) messages =
      run (FRAMES "nnpreproc width=32 height=32 ! nnquery statistics=true ! fakesink",
           "nn-tensor-statistics", NULL);
  gdouble max = 0;
  g_assert_cmpuint (messages->len, ==, 8);
  gst_structure_get_double (g_ptr_array_index (messages, 0), "max", &max);
  g_assert_cmpfloat (max, >, 200); /* snow, 0 to 255 */
}

static void
nnquery_names_what_it_cannot_read (void)
{
  g_autofree gchar *failure = NULL;
  g_autoptr (GPtrArray) messages =
      run (FRAMES "nnquery model=/no/such.onnx ! fakesink", "nn-query", &failure);
  g_assert_cmpuint (messages->len, ==, 0);
  g_assert_nonnull (strstr (failure, "/no/such.onnx"));
}

static void
nninfer_runs_on_every_virtual_device (void)
{
  static const gchar *const devices[] = { "HETERO:TEMPLATE,CPU", "MULTI:CPU,TEMPLATE",
                                          "AUTO:TEMPLATE,CPU", "BATCH:CPU(3)", "AUTO" };
  g_autofree gchar *model = test_ball_model ();
  for (guint i = 0; i < G_N_ELEMENTS (devices); i++) {
    g_autoptr (GPtrArray) messages =
        run (FRAMES "nninfer model=%s device=%s ! nnquery statistics=true ! fakesink",
             "nn-tensor-statistics", NULL, model, devices[i]);
    g_assert_cmpuint (messages->len, ==, 16);
  }
}

/* The last frames of a stream do not wait for others to fill their batch. */
static void
the_end_of_a_stream_flushes_a_batch (void)
{
  g_autofree gchar *model = test_ball_model ();
  gint64 start = g_get_monotonic_time ();
  g_autoptr (GPtrArray) messages = run (
      FRAMES "nninfer model=%s device=BATCH:CPU(3) config=\"config,AUTO_BATCH_TIMEOUT=20000\" ! "
             "fakesink",
      "nn-query", NULL, model);
  g_assert_cmpuint (messages->len, ==, 0);
  g_assert_cmpint (g_get_monotonic_time () - start, <, 10 * G_USEC_PER_SEC);
}

static void
nninfer_runs_a_compiled_file_on_video_and_on_tensors (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *folder = g_dir_make_tmp ("axon-query-XXXXXX", NULL);
  g_autofree gchar *file = g_build_filename (folder, "ball.axon", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model_from_file (
      axon_core_get_default (), model, "CPU", NULL, NULL, NULL, NULL, &error);
  g_autoptr (GPtrArray) video = NULL;
  g_autoptr (GPtrArray) tensors = NULL;
  g_autoptr (GPtrArray) wrong = NULL;
  g_autofree gchar *failure = NULL;
  g_assert_no_error (error);
  g_assert_true (axon_compiled_model_export_to_file (compiled, file, &error));
  video = run (FRAMES "nninfer model=%s ! nnquery statistics=true ! fakesink",
               "nn-tensor-statistics", NULL, file);
  tensors = run (FRAMES "nnpreproc ! nninfer model=%s ! nnquery statistics=true ! fakesink",
                 "nn-tensor-statistics", NULL, file);
  g_assert_cmpuint (video->len, ==, 16);
  g_assert_cmpuint (tensors->len, ==, 16);
  wrong = run (FRAMES "nnpreproc ! nninfer model=%s device=TEMPLATE ! fakesink", "nn-query",
               &failure, file);
  g_assert_nonnull (strstr (failure, "compiled elsewhere"));
  g_unlink (file);
  g_rmdir (folder);
}

static void
nninfer_loads_extensions_and_names_those_it_cannot (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *failure = NULL;
  g_autoptr (GPtrArray) good = run (FRAMES "nninfer extensions=%s model=%s ! fakesink", "nn-query",
                                    NULL, EXAMPLE_EXTENSION, model);
  g_autoptr (GPtrArray) bad = run (FRAMES "nninfer extensions=/no/such.so model=%s ! fakesink",
                                   "nn-query", &failure, model);
  g_assert_cmpuint (good->len + bad->len, ==, 0);
  g_assert_nonnull (strstr (failure, "/no/such.so"));
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/query/" #name, name)
  ADD (nnquery_tells_what_every_device_takes);
  ADD (nninfer_follows_the_affinities_of_nnquery);
  ADD (two_pairs_of_nnquery_and_nninfer_do_not_disturb_each_other);
  ADD (a_device_that_is_not_there_is_left_out);
  ADD (nnquery_reports_and_saves_the_tensors_of_every_buffer);
  ADD (nnquery_reports_tensor_streams_too);
  ADD (nnquery_names_what_it_cannot_read);
  ADD (nninfer_runs_on_every_virtual_device);
  ADD (the_end_of_a_stream_flushes_a_batch);
  ADD (nninfer_runs_a_compiled_file_on_video_and_on_tensors);
  ADD (nninfer_loads_extensions_and_names_those_it_cannot);
  return g_test_run ();
}
