/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values that are no plain tensors: strings, sequences, optionals, small floats; bodies and
 * functions; shapes that follow from data. */
#include "axontest.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static void
small_floats_round_trip (void)
{
  static const AxonDType types[] = { AXON_DTYPE_F8E4M3FN, AXON_DTYPE_F8E4M3FNUZ, AXON_DTYPE_F8E5M2,
                                     AXON_DTYPE_F8E5M2FNUZ, AXON_DTYPE_F8E8M0 };
  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    for (guint code = 0; code < 256; code++) {
      guint8 byte = (guint8)code, again;
      gdouble v = axon_dtype_load (types[t], &byte, 0);
      axon_dtype_store (types[t], &again, 0, v);
      if (isfinite (v))
        g_assert_cmpuint (again, ==, byte);
      else /* NaN stays NaN; infinity saturates when stored */
        g_assert_true (isinf (v) || isnan (axon_dtype_load (types[t], &again, 0)));
    }
}

/* Some conversions have a loop of their own. */
static void
converted_tensors_have_what_is_loaded_and_stored (void)
{
  static const AxonDType types[] = { AXON_DTYPE_F32,  AXON_DTYPE_F64, AXON_DTYPE_F16,
                                     AXON_DTYPE_BF16, AXON_DTYPE_I8,  AXON_DTYPE_U8,
                                     AXON_DTYPE_I64 };
  static const gdouble values[] = { 0,    -0.0,     1,     -1.5,  127,     -128, 70000,
                                    -1e9, INFINITY, 1e-41, 1e300, 0x1p-25, NAN,  -INFINITY };
  AxonShape shape = AXON_SHAPE (G_N_ELEMENTS (values));
  for (guint i = 0; i < G_N_ELEMENTS (types) * G_N_ELEMENTS (types); i++) {
    AxonDType from = types[i / G_N_ELEMENTS (types)], to = types[i % G_N_ELEMENTS (types)];
    g_autoptr (AxonTensor) x = axon_tensor_new (from, &shape, NULL);
    g_autoptr (AxonTensor) y = NULL;
    for (gsize k = 0; k < G_N_ELEMENTS (values); k++)
      axon_dtype_store (from, axon_tensor_get_data (x), k, values[k]);
    y = axon_tensor_convert (x, to, NULL);
    for (gsize k = 0; k < G_N_ELEMENTS (values); k++) {
      gint64 wanted = 0;
      gdouble got = axon_tensor_get_value (y, k), expected;
      axon_dtype_store (to, &wanted, 0, axon_tensor_get_value (x, k));
      expected = axon_dtype_load (to, &wanted, 0);
      g_assert_true (isnan (expected) ? isnan (got)
                                      : got == expected && signbit (got) == signbit (expected));
    }
  }
}

static void
a_tensor_of_another_shape_is_not_converted_into (void)
{
  AxonShape shape = AXON_SHAPE (3), other = AXON_SHAPE (4);
  g_autoptr (AxonTensor) x = test_tensor (&shape, (gfloat[]){ 1, 2, 3 });
  g_autoptr (AxonTensor) y = axon_tensor_new (AXON_DTYPE_F16, &shape, NULL);
  g_autoptr (AxonTensor) z = axon_tensor_new (AXON_DTYPE_F16, &other, NULL);
  g_autoptr (GError) error = NULL;
  g_assert_true (axon_tensor_convert_to (x, y, &error));
  g_assert_cmpfloat (axon_tensor_get_value (y, 2), ==, 3);
  g_assert_false (axon_tensor_convert_to (x, z, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
}

static void
small_floats_saturate_or_overflow_as_asked (void)
{
  guint8 code;
  axon_dtype_store_cast (AXON_DTYPE_F8E4M3FN, &code, 0, 1e6, TRUE);
  g_assert_cmpfloat (axon_dtype_load (AXON_DTYPE_F8E4M3FN, &code, 0), ==, 448);
  axon_dtype_store_cast (AXON_DTYPE_F8E4M3FN, &code, 0, 1e6, FALSE);
  g_assert_true (isnan (axon_dtype_load (AXON_DTYPE_F8E4M3FN, &code, 0)));
  axon_dtype_store_cast (AXON_DTYPE_F8E5M2, &code, 0, -1e6, FALSE);
  g_assert_cmpfloat (axon_dtype_load (AXON_DTYPE_F8E5M2, &code, 0), ==, -INFINITY);
  axon_dtype_store (AXON_DTYPE_I4, &code, 0, 100);
  g_assert_cmpfloat (axon_dtype_load (AXON_DTYPE_I4, &code, 0), ==, 7);
}

static void
strings_are_copied_with_their_tensor (void)
{
  static const gchar *const words[] = { "a", "", "Füße" };
  AxonShape shape = AXON_SHAPE (3);
  g_autoptr (AxonTensor) copy = axon_tensor_new (AXON_DTYPE_STRING, &shape, NULL);
  g_autoptr (GError) error = NULL;
  AxonTensor *original = axon_tensor_new_strings (&shape, words, 3, &error);
  g_assert_no_error (error);
  g_assert_true (axon_tensor_copy_to (original, copy, &error));
  axon_tensor_unref (original);
  g_assert_cmpstr (axon_tensor_get_string (copy, 2), ==, "Füße");
  axon_tensor_set_string (copy, 1, "x");
  g_assert_cmpstr (axon_tensor_get_string (copy, 1), ==, "x");
  g_assert_null (axon_tensor_new_strings (&shape, words, 2, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
}

static void
a_sequence_shares_its_items (void)
{
  static const gfloat one[] = { 1, 2 };
  AxonShape shape = AXON_SHAPE (2);
  g_autoptr (AxonTensor) item = test_tensor (&shape, one);
  g_autoptr (AxonTensor) sequence = axon_tensor_new_sequence (&item, 1);
  g_autoptr (AxonTensor) none = axon_tensor_new_optional (NULL);
  g_autofree gchar *text = axon_tensor_to_string (sequence, 4);
  g_assert_true (axon_tensor_get_item (sequence, 0) == item);
  g_assert_cmpuint (axon_tensor_get_numel (none), ==, 0);
  g_assert_cmpstr (text, ==, "sequence[1] (f32[2] 1 2)");
}

/* Inputs of a backend case; skips the test where the cases are not installed. */
static GPtrArray *
case_inputs (const gchar *name, AxonModel **model)
{
  g_autofree gchar *dir = g_build_filename ("/usr/share/libonnx-testdata/data/node", name, NULL);
  g_autofree gchar *path = g_build_filename (dir, "model.onnx", NULL);
  GPtrArray *inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  g_autoptr (GError) error = NULL;
  *model = NULL;
  if (!g_file_test (path, G_FILE_TEST_EXISTS)) {
    g_test_skip ("libonnx-testdata is not installed");
    return inputs;
  }
  *model = axon_core_read_model (axon_core_get_default (), path, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < axon_model_get_n_inputs (*model); i++) {
    g_autofree gchar *base = g_strdup_printf ("test_data_set_0/input_%u.pb", i);
    g_autofree gchar *file = g_build_filename (dir, base, NULL);
    AxonTensor *tensor = axon_core_read_tensor (axon_core_get_default (), file,
                                                axon_model_get_input_dtype (*model, i), &error);
    g_assert_no_error (error);
    g_ptr_array_add (inputs, tensor);
  }
  return inputs;
}

static AxonTensor *
run_compiled (AxonCompiledModel *compiled, GPtrArray *inputs)
{
  g_autoptr (AxonInferRequest) request = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < inputs->len; i++)
    g_assert_true (axon_infer_request_set_input_tensor (request, i, inputs->pdata[i], &error));
  g_assert_true (axon_infer_request_infer (request, &error));
  g_assert_no_error (error);
  return axon_infer_request_get_output_tensor (request,
                                               axon_compiled_model_get_n_outputs (compiled) - 1);
}

static void
bodies_survive_export (gconstpointer name)
{
  AxonCore *core = axon_core_get_default ();
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (GPtrArray) inputs = case_inputs (name, &model);
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonCompiledModel) imported = NULL;
  g_autoptr (AxonTensor) before = NULL;
  g_autoptr (AxonTensor) after = NULL;
  g_autoptr (GOutputStream) stream = NULL;
  g_autoptr (GBytes) blob = NULL;
  g_autoptr (GError) error = NULL;
  if (model == NULL)
    return;
  compiled = axon_core_compile_model (core, model, "CPU", NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  stream = g_memory_output_stream_new_resizable ();
  g_assert_true (axon_compiled_model_export (compiled, stream, NULL, &error));
  g_assert_true (g_output_stream_close (stream, NULL, &error));
  blob = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
  imported = axon_core_import_model (core, blob, "CPU", NULL, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  before = run_compiled (compiled, inputs);
  after = run_compiled (imported, inputs);
  g_assert_cmpfloat (test_largest_difference (before, after), ==, 0);
}

static int
by_text (const void *a, const void *b)
{
  return strcmp (*(gchar *const *)a, *(gchar *const *)b);
}

/* The line of an If, with what its bodies take from around it in one order: that follows theirs. */
static gchar *
sorted_captures (const gchar *line, const gchar *inputs)
{
  g_autofree gchar *list = g_strndup (inputs, strlen (inputs) - 1);
  g_auto (GStrv) parts = g_strsplit (list, ", ", -1);
  g_autofree gchar *sorted = NULL;
  qsort (parts + 1, g_strv_length (parts) - 1, sizeof *parts, by_text); /* the condition is first */
  sorted = g_strjoinv (", ", parts);
  return g_strdup_printf ("%.*s%s)", (int)(inputs - line), line, sorted);
}

/* The lines of a graph's text in one order, whichever topological order its nodes are in. */
static gchar *
sorted_text (AxonModel *model)
{
  g_autofree gchar *text = axon_model_to_text (model);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    const gchar *inputs = strstr (lines[i], " = If(");
    g_autofree gchar *line = lines[i];
    lines[i] = inputs ? sorted_captures (line, inputs) : g_steal_pointer (&line);
  }
  qsort (lines, g_strv_length (lines), sizeof *lines, by_text);
  return g_strjoinv ("\n", lines);
}

/* Bodies, strings, sequences, every attribute: the text of the graph is the same. */
static void
every_backend_model_survives_writing (void)
{
  static const gchar *const root = "/usr/share/libonnx-testdata/data/node";
  AxonCore *core = axon_core_get_default ();
  g_autoptr (GDir) dir = g_dir_open (root, 0, NULL);
  g_autofree gchar *file = NULL;
  const gchar *name;
  guint n = 0;
  gint fd = g_file_open_tmp ("axon-write-XXXXXX.onnx", &file, NULL);
  g_assert_cmpint (fd, >=, 0);
  close (fd);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = g_build_filename (root, name, "model.onnx", NULL);
    g_autoptr (AxonModel) model = axon_core_read_model (core, path, NULL, NULL);
    g_autoptr (AxonModel) again = NULL;
    g_autofree gchar *before = NULL;
    g_autofree gchar *after = NULL;
    g_autoptr (GError) error = NULL;
    if (model == NULL)
      continue;
    g_test_message ("%s", path);
    axon_core_write_model (core, model, file, &error);
    g_assert_no_error (error);
    again = axon_core_read_model (core, file, NULL, &error);
    g_assert_no_error (error);
    before = sorted_text (model);
    after = sorted_text (again);
    g_assert_true (g_str_equal (before, after)); /* too long to print both */
    n++;
  }
  g_unlink (file);
  if (n == 0)
    g_test_skip ("libonnx-testdata is not installed");
}

static gint64
whole_result (const gchar *op, gint64 value)
{
  AxonShape one = AXON_SHAPE (1);
  const gint64 low[] = { (G_GINT64_CONSTANT (1) << 53) + 3 }, zero[] = { 0 };
  TestModel t = test_model_new (14);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_I64, &one);
  AxonNode *n =
      g_str_equal (op, "Clip")     ? test_model_node (&t, op, 2, x, test_model_ints (&t, low, 1))
      : g_str_equal (op, "CumSum") ? test_model_node (&t, op, 2, x, test_model_ints (&t, zero, 1))
                                   : test_model_node (&t, op, 1, x);
  g_autoptr (AxonTensor) in = axon_tensor_new (AXON_DTYPE_I64, &one, NULL);
  g_autoptr (AxonTensor) y = NULL;
  g_autoptr (AxonModel) model = NULL;
  *(gint64 *)axon_tensor_get_data (in) = value;
  model = test_model_finish (&t, n->outputs[0]);
  y = test_run (model, "TEMPLATE", NULL, in);
  return *(gint64 *)axon_tensor_get_data (y);
}

static void
whole_numbers_beyond_2_to_the_53_stay_exact (void)
{
  const gint64 large = (G_GINT64_CONSTANT (1) << 53) + 1;
  g_assert_cmpint (whole_result ("Abs", -large), ==, large);
  g_assert_cmpint (whole_result ("Neg", large), ==, -large);
  g_assert_cmpint (whole_result ("Relu", large), ==, large);
  g_assert_cmpint (whole_result ("Sign", -large), ==, -1);
  g_assert_cmpint (whole_result ("CumSum", large), ==, large);
  g_assert_cmpint (whole_result ("Clip", large), ==, large + 2);
  g_assert_cmpint (whole_result ("Abs", G_MININT64), ==, G_MININT64); /* as it wraps */
}

/* Their loop takes the upper half of unsigned numbers for negative ones, but for a flipped bit. */
static void
unsigned_64_bits_are_clipped_by_the_bounds_that_are_given (void)
{
  static const guint64 values[] = { 0, 5, 9, G_MAXUINT64, G_GUINT64_CONSTANT (1) << 63 };
  static const guint64 bounds[] = { 1, (G_GUINT64_CONSTANT (1) << 63) + 7 };
  AxonShape shape = AXON_SHAPE (G_N_ELEMENTS (values)), scalar = { 0 };
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_U64, &shape, NULL);
  memcpy (axon_tensor_get_data (x), values, sizeof values);
  for (guint given = 0; given < 4; given++) {
    TestModel t = test_model_new (13);
    AxonValue *in[] = { test_model_input (&t, "x", AXON_DTYPE_U64, &shape), NULL, NULL };
    guint64 lo = given & 1 ? bounds[0] : 0, hi = given & 2 ? bounds[1] : G_MAXUINT64;
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) y = NULL;
    for (guint i = 0; i < 2; i++) {
      g_autoptr (AxonTensor) bound = axon_tensor_new (AXON_DTYPE_U64, &scalar, NULL);
      *(guint64 *)axon_tensor_get_data (bound) = bounds[i];
      if (given & (1u << i))
        in[1 + i] = axon_model_add_constant (t.model, NULL, bound);
    }
    model =
        test_model_finish (&t, test_model_node (&t, "Clip", 3, in[0], in[1], in[2])->outputs[0]);
    y = test_run (model, "CPU", NULL, x);
    for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
      g_assert_cmpuint (((guint64 *)axon_tensor_get_data (y))[i], ==, CLAMP (values[i], lo, hi));
  }
}

static void
a_constant_that_is_an_output_has_its_type_and_shape (void)
{
  static const gfloat values[] = { 1, 2.5f };
  TestModel t = test_model_new (13);
  AxonNode *n = test_model_node (&t, "Constant", 0);
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) y = NULL;
  g_autoptr (GError) error = NULL;
  axon_node_set_floats (n, "value_floats", values, 2);
  model = test_model_finish (&t, n->outputs[0]);
  g_assert_cmpint (axon_model_get_output_dtype (model, 0), ==, AXON_DTYPE_F32);
  g_assert_cmpint (axon_model_get_output_shape (model, 0)->dims[0], ==, 2);
  y = test_try_run_all (model, "CPU", NULL, NULL, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (axon_tensor_get_data (y), axon_tensor_get_n_bytes (y), values, sizeof values);
}

/* y = NonZero (Relu (x + 1)): a planned part, then an interpreted one. */
static void
a_network_before_an_operator_that_counts_agrees (void)
{
  static const gfloat one[] = { 1 };
  AxonShape shape = AXON_SHAPE (2, 3, 4), scalar = AXON_SHAPE (1);
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  AxonNode *add = test_model_node (&t, "Add", 2, x, test_model_constant (&t, &scalar, one));
  AxonNode *relu = test_model_node (&t, "Relu", 1, add->outputs[0]);
  AxonNode *count = test_model_node (&t, "NonZero", 1, relu->outputs[0]);
  g_autoptr (AxonModel) model = test_model_finish (&t, count->outputs[0]);
  for (guint seed = 0; seed < 4; seed++) {
    g_autoptr (AxonTensor) input = test_random (&shape, seed);
    g_autoptr (AxonTensor) a = NULL;
    g_autoptr (AxonTensor) b = NULL;
    for (gsize i = 0; i < axon_tensor_get_numel (input); i += 3)
      ((gfloat *)axon_tensor_get_data (input))[i] = -2;
    a = test_run (model, "TEMPLATE", NULL, input);
    b = test_run (model, "CPU", NULL, input);
    g_assert_true (axon_shape_equal (axon_tensor_get_shape (a), axon_tensor_get_shape (b)));
    g_assert_cmpint (axon_tensor_get_dim (a, 1), <, 24);
    g_assert_cmpfloat (test_largest_difference (a, b), ==, 0);
  }
}

/* Loop with the largest trip count and a condition that stays true. */
static void
an_endless_loop_can_be_cancelled (void)
{
  AxonCore *core = axon_core_get_default ();
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (GPtrArray) inputs = case_inputs ("test_loop16_seq_none", &model);
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonInferRequest) request = NULL;
  g_autoptr (GError) error = NULL;
  gboolean done = TRUE;
  if (model == NULL)
    return;
  for (guint i = 0; i < inputs->len; i++)
    if (axon_tensor_get_dtype (inputs->pdata[i]) == AXON_DTYPE_I64)
      *(gint64 *)axon_tensor_get_data (inputs->pdata[i]) = G_MAXINT64;
  compiled = axon_core_compile_model (core, model, "TEMPLATE", NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  request = axon_compiled_model_create_infer_request (compiled);
  for (guint i = 0; i < inputs->len; i++)
    g_assert_true (axon_infer_request_set_input_tensor (request, i, inputs->pdata[i], &error));
  g_assert_true (axon_infer_request_start_async (request, &error));
  (void)axon_infer_request_wait_for (request, 50, &done, NULL);
  axon_infer_request_cancel (request);
  /* It may have failed before: slicing by a turn beyond the data is an error too. */
  g_assert_false (axon_infer_request_wait (request, &error));
}

#define ADD(name) g_test_add_func ("/values/" #name, name)

int
main (int argc, char **argv)
{
  static const gchar *const cases[] = { "test_if", "test_loop11", "test_scan9_sum" };
  g_test_init (&argc, &argv, NULL);
  ADD (small_floats_round_trip);
  ADD (converted_tensors_have_what_is_loaded_and_stored);
  ADD (a_tensor_of_another_shape_is_not_converted_into);
  ADD (small_floats_saturate_or_overflow_as_asked);
  ADD (strings_are_copied_with_their_tensor);
  ADD (a_sequence_shares_its_items);
  ADD (whole_numbers_beyond_2_to_the_53_stay_exact);
  ADD (unsigned_64_bits_are_clipped_by_the_bounds_that_are_given);
  ADD (a_constant_that_is_an_output_has_its_type_and_shape);
  ADD (every_backend_model_survives_writing);
  ADD (a_network_before_an_operator_that_counts_agrees);
  ADD (an_endless_loop_can_be_cancelled);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path = g_strconcat ("/values/bodies_survive_export/", cases[i], NULL);
    g_test_add_data_func (path, cases[i], bodies_survive_export);
  }
  return g_test_run ();
}
