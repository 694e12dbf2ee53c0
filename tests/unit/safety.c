/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a model may cost: memory that is refused before it is taken, and time that can be ended. The
 * models are those of which each once took gigabytes, aborted the process or could not be stopped.
 */
#include "axontest.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const gchar *const devices[] = { "CPU", "TEMPLATE" };

static GVariant *
config_of (const gchar *text)
{
  return g_variant_ref_sink (g_variant_new_parsed (text));
}

/* @model takes more than @mib on every device; @node is named. */
static void
assert_refused (AxonModel *model, const gchar *config, AxonTensor *const *inputs, guint n,
                const gchar *node)
{
  for (guint d = 0; d < G_N_ELEMENTS (devices); d++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GVariant) values = config_of (config);
    g_autoptr (AxonTensor) out = test_try_run_all (model, devices[d], values, inputs, n, &error);
    g_assert_null (out);
    g_assert_error (error, AXON_ERROR, AXON_ERROR_MEMORY);
    g_test_message ("%s: %s", devices[d], error->message);
    g_assert_nonnull (strstr (error->message, node));
    g_assert_nonnull (strstr (error->message, "MAX_MEMORY"));
  }
}

static void
a_broadcast_of_two_small_tensors_does_not_take_gigabytes (void)
{
  TestModel t = test_model_new (13);
  AxonShape column = AXON_SHAPE (30000, 1), row = AXON_SHAPE (1, 30000);
  AxonValue *a = test_model_input (&t, "a", AXON_DTYPE_F32, &column);
  AxonValue *b = test_model_input (&t, "b", AXON_DTYPE_F32, &row);
  AxonNode *node = test_model_node (&t, "Add", 2, a, b);
  g_autoptr (AxonModel) model =
      test_model_finish (&t, test_model_node (&t, "Neg", 1, node->outputs[0])->outputs[0]);
  g_autoptr (AxonTensor) x = test_random (&column, 1);
  g_autoptr (AxonTensor) y = test_random (&row, 2);
  assert_refused (model, "{'MAX_MEMORY': <64>}", (AxonTensor *[]){ x, y }, 2, "Add");
}

static void
a_shape_of_86_bytes_does_not_make_a_tensor_of_gigabytes (void)
{
  static const gint64 large[] = { 1 << 15, 1 << 15 };
  TestModel t = test_model_new (13);
  AxonShape one = AXON_SHAPE (1);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &one);
  AxonNode *node = test_model_node (&t, "ConstantOfShape", 1, test_model_ints (&t, large, 2));
  AxonNode *sum = test_model_node (&t, "Add", 2, node->outputs[0], x);
  g_autoptr (AxonModel) model =
      test_model_finish (&t, test_model_node (&t, "Neg", 1, sum->outputs[0])->outputs[0]);
  g_autoptr (AxonTensor) input = test_random (&one, 1);
  assert_refused (model, "{'MAX_MEMORY': <64>}", &input, 1, "");
}

/* What one model took is free again: the budget is not used up by errors. */
static void
memory_that_was_refused_is_not_counted (void)
{
  g_autoptr (AxonModel) relu = test_relu_model ();
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (AxonTensor) x = test_random (&shape, 1);
  gsize before = axon_budget_get_used (axon_work_get_budget ());
  for (guint i = 0; i < 20; i++) {
    a_broadcast_of_two_small_tensors_does_not_take_gigabytes ();
    g_autoptr (GVariant) values = config_of ("{'MAX_MEMORY': <1>}");
    g_autoptr (AxonTensor) y = test_run (relu, "TEMPLATE", values, x);
    g_assert_nonnull (y);
  }
  while (axon_budget_get_used (axon_work_get_budget ()) > before) /* a stream lets go of its last */
    g_usleep (1000);
}

/* A window of 2^28 elements takes seconds, and cos() of a constant nobody can stop from outside. */
static AxonModel *
long_model (void)
{
  TestModel t = test_model_new (17);
  AxonShape one = AXON_SHAPE (1);
  AxonValue *x = test_model_input (&t, "size", AXON_DTYPE_I64, &one);
  AxonNode *size = test_model_node (&t, "Squeeze", 1, x);
  AxonNode *window = test_model_node (&t, "HannWindow", 1, size->outputs[0]);
  return test_model_finish (&t, window->outputs[0]);
}

/* On each device. */
static void
expect_cancelled (AxonModel *model, AxonTensor *input)
{
  for (guint d = 0; d < G_N_ELEMENTS (devices); d++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
        axon_core_get_default (), model, devices[d], NULL, NULL, NULL, NULL, NULL);
    g_autoptr (AxonInferRequest) request = axon_compiled_model_create_infer_request (compiled);
    g_assert_true (axon_infer_request_set_input_tensor (request, 0, input, NULL));
    g_assert_true (axon_infer_request_start_async (request, NULL));
    g_usleep (100000);
    axon_infer_request_cancel (request);
    g_assert_false (axon_infer_request_wait (request, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_CANCELLED);
  }
}

static void
one_long_kernel_sees_that_it_is_cancelled (void)
{
  g_autoptr (AxonModel) model = long_model ();
  const gint64 size = 1 << 28;
  g_autoptr (AxonTensor) x = axon_tensor_new_i64 (&size, 1);
  expect_cancelled (model, x);
}

/* 10^18 products. */
static void
a_sum_over_many_labels_sees_that_it_is_cancelled (void)
{
  TestModel t = test_model_new (13);
  AxonShape shape = AXON_SHAPE (1000, 1000);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  AxonNode *sum = test_model_node (&t, "Einsum", 3, x, x, x);
  g_autoptr (AxonTensor) input = test_random (&shape, 1);
  g_autoptr (AxonModel) model = NULL;
  axon_node_set_string (sum, "equation", "ab,cd,ef->");
  model = test_model_finish (&t, sum->outputs[0]);
  expect_cancelled (model, input);
}

static void
compiling_ends_after_max_compile_time (void)
{
  TestModel t = test_model_new (13);
  AxonShape shape = AXON_SHAPE (1, 64);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  for (guint i = 0; i < 20000; i++)
    x = test_model_node (&t, "Relu", 1, x)->outputs[0];
  g_autoptr (AxonModel) model = test_model_finish (&t, x);
  g_autoptr (GVariant) values = config_of ("{'MAX_COMPILE_TIME': <1>}");
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_core_compile_model (axon_core_get_default (), model, "TEMPLATE", values, NULL,
                                          NULL, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  g_assert_nonnull (strstr (error->message, "MAX_COMPILE_TIME"));
}

static void
an_empty_shape_whose_strides_overflow_is_refused (void)
{
  AxonShape shape = AXON_SHAPE (0, G_MAXINT64 / 2, 4);
  g_autoptr (GError) error = NULL;
  g_assert_cmpint (axon_shape_get_numel (&shape), ==, -1);
  g_assert_null (axon_tensor_new (AXON_DTYPE_F32, &shape, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  shape = AXON_SHAPE (0, 4, 5);
  g_assert_cmpint (axon_shape_get_numel (&shape), ==, 0);
}

/* Symptom: four times the hidden size overflowed while shapes were compared. */
static void
a_hidden_size_of_2_to_the_62_is_refused (void)
{
  TestModel t = test_model_new (14);
  AxonShape x = AXON_SHAPE (5, 1, 3), w = AXON_SHAPE (1, 8, 3);
  AxonShape r = AXON_SHAPE (1, 8, G_GINT64_CONSTANT (1) << 62);
  g_autoptr (GError) error = NULL;
  test_model_node (&t, "LSTM", 3, test_model_input (&t, "x", AXON_DTYPE_F32, &x),
                   test_model_input (&t, "w", AXON_DTYPE_F32, &w),
                   test_model_input (&t, "r", AXON_DTYPE_F32, &r));
  g_assert_false (axon_model_infer_shapes (t.model, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_MODEL);
  g_assert_nonnull (strstr (error->message, "too large"));
  g_object_unref (t.model);
}

/* Model { graph { node { op_type: "Relu" input: "x", ... } } }, with @n inputs of a node. */
static GBytes *
wide_model (guint n)
{
  g_autoptr (GByteArray) node = g_byte_array_new ();
  g_autoptr (GByteArray) graph = g_byte_array_new ();
  GByteArray *model = g_byte_array_new ();
  const guint8 head[] = { 0x08, 0x08, 0x42, 0x04, 0x0a, 0x00, 0x10, 0x0d }; /* IR 8, opset 13 */
  for (guint i = 0; i < n; i++)
    g_byte_array_append (node, (const guint8 *)"\x0a\x01x", 3);
  g_byte_array_append (node, (const guint8 *)"\x12\x01y\x22\x03Sum", 8);
  for (guint k = 0; k < 2; k++) {
    GByteArray *to = k ? model : graph, *from = k ? graph : node;
    guint8 size[6];
    guint at = 0, left = from->len;
    if (k)
      g_byte_array_append (to, head, sizeof head);
    size[at++] = k ? 0x3a : 0x0a;
    for (; left > 0x7f; left >>= 7)
      size[at++] = (guint8)(left | 0x80);
    size[at++] = (guint8)left;
    g_byte_array_append (to, size, at);
    g_byte_array_append (to, from->data, from->len);
  }
  return g_byte_array_free_to_bytes (model);
}

static void
a_node_of_130000_inputs_is_refused (void)
{
  g_autoptr (GBytes) bytes = wide_model (130000);
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_core_read_model_from_bytes (axon_core_get_default (), bytes, NULL, &error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, "65536"));
}

/* Symptom: 2.77 GB were taken for 48 bytes before anybody looked whether they hold so much. */
static void
a_sequence_of_48_bytes_takes_no_gigabytes (void)
{
  static const guint8 found[] = { 0x6a, 0x0e, 0x70, 0xd2, 0x60, 0xb0, 0x8f, 0x75, 0x74, 0x90,
                                  0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x10, 0x00, 0x00,
                                  0x00, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0d, 0x0d, 0x0d,
                                  0x0d, 0x0d, 0x10, 0x21, 0x68, 0x3d, 0x1a, 0x0a, 0x08, 0x11,
                                  0x10, 0x01, 0x0a, 0x04, 0x28, 0x99, 0x8b, 0x3e };
  /* SequenceProto { tensor_values { dims: 1 << 30; data_type: FLOAT } } */
  static const guint8 plain[] = { 0x1a, 0x08, 0x08, 0x80, 0x80, 0x80, 0x80, 0x04, 0x10, 0x01 };
  const struct {
    const guint8 *bytes;
    gsize n;
  } files[] = { { found, sizeof found }, { plain, sizeof plain } };
  g_autofree gchar *path = NULL;
  gint fd = g_file_open_tmp ("axon-sequence-XXXXXX.pb", &path, NULL);
  struct rusage before, after;
  g_assert_cmpint (fd, >=, 0);
  close (fd);
  getrusage (RUSAGE_SELF, &before);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_true (
        g_file_set_contents (path, (const gchar *)files[i].bytes, (gssize)files[i].n, NULL));
    g_assert_null (
        axon_core_read_tensor (axon_core_get_default (), path, AXON_DTYPE_SEQUENCE, &error));
    g_test_message ("%s", error->message);
    g_assert_false (g_error_matches (error, AXON_ERROR, AXON_ERROR_MEMORY));
  }
  getrusage (RUSAGE_SELF, &after);
  g_assert_cmpint (after.ru_maxrss, <, before.ru_maxrss + 64 * 1024);
  g_unlink (path);
}

static void
a_plugin_that_everybody_can_write_to_is_not_loaded (void)
{
  g_autofree gchar *folder = g_dir_make_tmp ("axon-plugins-XXXXXX", NULL);
  g_autofree gchar *file = g_build_filename (folder, "libaxon-open.so", NULL);
  g_autofree gchar *path = g_strdup (g_getenv ("AXON_PLUGIN_PATH"));
  const struct {
    mode_t folder, file;
  } modes[] = { { 0777, 0755 }, { 0755, 0777 } };
  g_assert_true (g_file_set_contents (file, "no library", -1, NULL));
  g_setenv ("AXON_PLUGIN_PATH", folder, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++) {
    g_autoptr (AxonCore) core = axon_core_new ();
    g_autoptr (AxonModel) model = test_relu_model ();
    g_autoptr (GError) error = NULL;
    g_assert_cmpint (g_chmod (folder, modes[i].folder), ==, 0);
    g_assert_cmpint (g_chmod (file, modes[i].file), ==, 0);
    g_assert_null (axon_core_compile_model (core, model, "OPEN", NULL, NULL, NULL, NULL, &error));
    g_assert_nonnull (strstr (error->message, "written by everybody"));
  }
  g_setenv ("AXON_PLUGIN_PATH", path ? path : "", TRUE);
  g_unlink (file);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/safety/" #name, name)
  ADD (a_broadcast_of_two_small_tensors_does_not_take_gigabytes);
  ADD (a_shape_of_86_bytes_does_not_make_a_tensor_of_gigabytes);
  ADD (memory_that_was_refused_is_not_counted);
  ADD (one_long_kernel_sees_that_it_is_cancelled);
  ADD (a_sum_over_many_labels_sees_that_it_is_cancelled);
  ADD (compiling_ends_after_max_compile_time);
  ADD (an_empty_shape_whose_strides_overflow_is_refused);
  ADD (a_hidden_size_of_2_to_the_62_is_refused);
  ADD (a_node_of_130000_inputs_is_refused);
  ADD (a_sequence_of_48_bytes_takes_no_gigabytes);
  ADD (a_plugin_that_everybody_can_write_to_is_not_loaded);
  return g_test_run ();
}
