/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What stands behind operators whose results are as many as data says, against the reference. Rows
 * of x whose first element is positive are picked; what is made of them is the row of a table. */
#include "axontest.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TOLERANCE 2e-5
#define ROWS 70
#define COLUMNS 6

static AxonValue *
one (TestModel *t, const gchar *op, AxonValue *x)
{
  return test_model_node (t, op, 1, x)->outputs[0];
}

static AxonValue *
two (TestModel *t, const gchar *op, AxonValue *a, AxonValue *b)
{
  return test_model_node (t, op, 2, a, b)->outputs[0];
}

static AxonValue *
shaped (TestModel *t, AxonValue *x, const gint64 *shape, guint n)
{
  return two (t, "Reshape", x, test_model_ints (t, shape, n));
}

/* [n, COLUMNS] */
static AxonValue *
pick (TestModel *t, AxonValue *x, AxonValue *by)
{
  gfloat zero = 0;
  AxonValue *first = two (t, "Gather", by, test_model_ints (t, (gint64[]){ 0 }, 1));
  AxonValue *positive = two (t, "Greater", first, test_model_constant (t, &AXON_SHAPE (1), &zero));
  AxonValue *found = one (t, "NonZero", shaped (t, positive, (gint64[]){ -1 }, 1));
  axon_node_set_int (first->producer, "axis", 1);
  return two (t, "Gather", x, shaped (t, found, (gint64[]){ -1 }, 1));
}

static AxonValue *
dense (TestModel *t, AxonValue *x)
{
  AxonShape w = AXON_SHAPE (COLUMNS, 33), v = AXON_SHAPE (33, 5), b = AXON_SHAPE (5);
  x = one (t, "Relu", two (t, "MatMul", x, test_model_random (t, &w, 1)));
  x = test_model_node (t, "Gemm", 3, x, test_model_random (t, &v, 2), test_model_random (t, &b, 3))
          ->outputs[0];
  return one (t, "Softmax", x);
}

static AxonValue *
pictures (TestModel *t, AxonValue *x)
{
  AxonShape w = AXON_SHAPE (8, 1, 2, 3);
  x = shaped (t, x, (gint64[]){ -1, 1, 2, 3 }, 4);
  return one (t, "Flatten", one (t, "Relu", two (t, "Conv", x, test_model_random (t, &w, 4))));
}

static AxonValue *
by_their_count (TestModel *t, AxonValue *x)
{
  AxonValue *n = two (t, "Gather", one (t, "Shape", x), test_model_ints (t, (gint64[]){ 0 }, 1));
  AxonNode *shape = test_model_node (t, "Concat", 2, n, test_model_ints (t, (gint64[]){ 3, 2 }, 2));
  AxonNode *turned;
  axon_node_set_int (shape, "axis", 0);
  turned = test_model_node (t, "Transpose", 1, two (t, "Reshape", x, shape->outputs[0]));
  axon_node_set_ints (turned, "perm", (gint64[]){ 2, 0, 1 }, 3);
  return turned->outputs[0];
}

static AxonValue *
turned_over (TestModel *t, AxonValue *x)
{
  return shaped (t, x, (gint64[]){ COLUMNS, -1 }, 2);
}

static AxonValue *
mean_of_rows (TestModel *t, AxonValue *x)
{
  AxonNode *mean = test_model_node (t, "ReduceMean", 1, x);
  axon_node_set_ints (mean, "axes", (gint64[]){ 0 }, 1);
  return two (t, "Sub", x, mean->outputs[0]);
}

static AxonValue *
share_of_rows (TestModel *t, AxonValue *x)
{
  AxonNode *softmax = test_model_node (t, "Softmax", 1, x);
  axon_node_set_int (softmax, "axis", 0);
  return softmax->outputs[0];
}

static AxonValue *
products_of_rows (TestModel *t, AxonValue *x)
{
  return two (t, "MatMul", x, one (t, "Transpose", x));
}

static AxonValue *
divided_by_their_count (TestModel *t, AxonValue *x)
{
  AxonValue *n = two (t, "Gather", one (t, "Shape", x), test_model_ints (t, (gint64[]){ 0 }, 1));
  AxonNode *cast = test_model_node (t, "Cast", 1, n);
  axon_node_set_int (cast, "to", AXON_DTYPE_F32);
  return two (t, "Div", x, cast->outputs[0]);
}

static AxonValue *
at_most_ten (TestModel *t, AxonValue *x)
{
  AxonValue *n = two (t, "Gather", one (t, "Shape", x), test_model_ints (t, (gint64[]){ 0 }, 1));
  n = two (t, "Min", n, test_model_ints (t, (gint64[]){ 10 }, 1));
  return test_model_node (t, "Slice", 3, x, test_model_ints (t, (gint64[]){ 0 }, 1), n)->outputs[0];
}

static AxonValue *
last_row (TestModel *t, AxonValue *x)
{
  return two (t, "Mul", x, two (t, "Gather", x, test_model_ints (t, (gint64[]){ -1 }, 1)));
}

static AxonValue *
best_of_each (TestModel *t, AxonValue *x)
{
  AxonValue *in[] = { x, test_model_ints (t, (gint64[]){ 3 }, 1) };
  return test_model_node_of (t, NULL, "TopK", in, 2, 2)->outputs[0];
}

static AxonValue *
picked_again (TestModel *t, AxonValue *x)
{
  AxonShape w = AXON_SHAPE (COLUMNS, COLUMNS);
  return dense (t, pick (t, x, two (t, "MatMul", x, test_model_random (t, &w, 5))));
}

static AxonValue *
sums_on_the_way (TestModel *t, AxonValue *x)
{
  return two (t, "CumSum", x, shaped (t, test_model_ints (t, (gint64[]){ 0 }, 1), NULL, 0));
}

static const struct {
  const gchar *name;
  AxonValue *(*make) (TestModel *t, AxonValue *rows);
  gboolean any, independent; /* any: of no rows, too */
} tails[] = {
  { "dense", dense, TRUE, TRUE },
  { "pictures", pictures, TRUE, TRUE },
  { "by their count", by_their_count, TRUE, TRUE },
  { "best of each", best_of_each, TRUE, TRUE },
  { "turned over", turned_over, FALSE, FALSE },
  { "mean of rows", mean_of_rows, FALSE, FALSE },
  { "share of rows", share_of_rows, TRUE, FALSE },
  { "products of rows", products_of_rows, TRUE, FALSE },
  { "divided by their count", divided_by_their_count, FALSE, FALSE },
  { "at most ten", at_most_ten, TRUE, FALSE },
  { "last row", last_row, FALSE, FALSE },
  { "picked again", picked_again, TRUE, FALSE },
  { "sums on the way", sums_on_the_way, TRUE, FALSE },
};

static AxonModel *
model_of (AxonValue *(*make) (TestModel *, AxonValue *))
{
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &AXON_SHAPE (ROWS, COLUMNS));
  return test_model_finish (&t, make (&t, pick (&t, x, x)));
}

/* @n rows among the others. */
static AxonTensor *
input_of (gint64 n, guint32 seed)
{
  AxonTensor *x = test_random (&AXON_SHAPE (ROWS, COLUMNS), seed);
  gfloat *v = axon_tensor_get_data (x);
  for (gint64 i = 0; i < ROWS; i++) {
    gboolean in = (i * 37 + seed) % ROWS < n;
    gfloat size = ABS (v[i * COLUMNS]) + 0.1f;
    v[i * COLUMNS] = in ? size : -size;
  }
  return x;
}

static AxonInferRequest *
request_of (AxonModel *model, const gchar *device, guint capacity)
{
  g_autoptr (GVariant) config = g_variant_ref_sink (g_variant_new_parsed (
      capacity ? "{'CPU_RUNTIME_CACHE_CAPACITY': <%i>}" : "@a{sv} {}", (gint)capacity));
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, device, config, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  return axon_compiled_model_create_infer_request (compiled);
}

static AxonTensor *
run (AxonInferRequest *request, gint64 n, guint32 seed, GError **error)
{
  g_autoptr (AxonTensor) x = input_of (n, seed);
  if (!axon_infer_request_set_input_tensor (request, 0, x, error) ||
      !axon_infer_request_infer (request, error))
    return NULL;
  return axon_infer_request_get_output_tensor (request, 0);
}

static guint plans;

static GLogWriterOutput
count_plans (GLogLevelFlags level, const GLogField *fields, gsize n, gpointer user_data)
{
  for (gsize i = 0; i < n; i++)
    if (g_str_equal (fields[i].key, "MESSAGE") &&
        strstr (fields[i].value, "a plan for new shapes") != NULL)
      plans++;
  return g_log_writer_default (level, fields, n, user_data);
}

static void
any_number_of_rows_agrees (void)
{
  static const gint64 counts[] = {
    3, 1, 0, 5, 17, 5, 33, ROWS, 18, 17, 2, 5, 12, 5, 40, 40, 40, 5
  };
  for (guint k = 0; k < G_N_ELEMENTS (tails); k++) {
    g_autoptr (AxonModel) model = model_of (tails[k].make);
    g_autoptr (AxonInferRequest) ours = request_of (model, "CPU", 0);
    g_autoptr (AxonInferRequest) reference = request_of (model, "TEMPLATE", 0);
    for (guint i = 0; i < 2 * G_N_ELEMENTS (counts); i++) {
      gint64 n = counts[i % G_N_ELEMENTS (counts)];
      g_autoptr (GError) error = NULL;
      g_autoptr (AxonTensor) got = NULL;
      g_autoptr (AxonTensor) expected = NULL;
      if (n == 0 && !tails[k].any)
        continue;
      g_test_message ("%s: %" G_GINT64_FORMAT " rows", tails[k].name, n);
      got = run (ours, n, i, &error);
      g_assert_no_error (error);
      expected = run (reference, n, i, &error);
      g_assert_no_error (error);
      g_assert_true (
          axon_shape_equal (axon_tensor_get_shape (got), axon_tensor_get_shape (expected)));
      g_assert_cmpfloat (test_largest_difference (got, expected), <=, TOLERANCE);
    }
  }
}

/* How many plans @request makes for @counts. */
static guint
plans_of (AxonInferRequest *request, const gint64 *counts, guint n)
{
  plans = 0;
  for (guint i = 0; i < n; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonTensor) y = run (request, counts[i], i, &error);
    g_assert_no_error (error);
    g_assert_nonnull (y);
  }
  return plans;
}

static void
the_same_shapes_twice_make_one_plan (void)
{
  static const gint64 same[] = { 8, 8, 8, 8, 8, 8, 8, 8 };
  for (guint k = 0; k < G_N_ELEMENTS (tails); k++) {
    g_autoptr (AxonModel) model = model_of (tails[k].make);
    g_autoptr (AxonInferRequest) request = request_of (model, "CPU", 0);
    guint made;
    g_test_message ("%s", tails[k].name);
    if (tails[k].make == picked_again) /* numbers of rows of the second tail differ */
      continue;
    made = plans_of (request, same, G_N_ELEMENTS (same));
    if (tails[k].independent)
      g_assert_cmpuint (made, ==, 1);
    else /* of floats of their count there are two tails */
      g_assert_cmpuint (made, <=, 1 + (tails[k].make == divided_by_their_count));
  }
}

static void
numbers_of_rows_share_a_plan_where_rows_are_independent (void)
{
  static const gint64 counts[] = { 16, 15, 14, 13, 12, 11, 10, 9 };
  for (guint k = 0; k < G_N_ELEMENTS (tails); k++) {
    g_autoptr (AxonModel) model = model_of (tails[k].make);
    g_autoptr (AxonInferRequest) request = request_of (model, "CPU", 0);
    guint made;
    if (!tails[k].independent)
      continue;
    g_test_message ("%s", tails[k].name);
    made = plans_of (request, counts, G_N_ELEMENTS (counts));
    g_assert_cmpuint (made, ==, 1);
  }
}

static glong
resident_pages (void)
{
  g_autofree gchar *text = NULL;
  glong all = 0, resident = 0;
  g_assert_true (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  sscanf (text, "%ld %ld", &all, &resident);
  return resident;
}

static void
memory_stays_over_a_thousand_frames_of_other_shapes (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (tails); k++) {
    g_autoptr (AxonModel) model = model_of (tails[k].make);
    g_autoptr (AxonInferRequest) request = request_of (model, "CPU", 1);
    gint64 counts[500];
    glong before;
    for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
      counts[i] = 1 + (i * 29) % ROWS;
    plans_of (request, counts, G_N_ELEMENTS (counts));
    before = resident_pages ();
    plans_of (request, counts, G_N_ELEMENTS (counts));
    plans_of (request, counts, G_N_ELEMENTS (counts));
    g_test_message ("%s: %ld pages more", tails[k].name, resident_pages () - before);
    /* sanitizers keep what was freed, an emulator a table of each page that ever was mapped */
    if (g_getenv ("ASAN_OPTIONS") == NULL && g_getenv ("TSAN_OPTIONS") == NULL &&
        g_getenv ("QEMU_CPU") == NULL)
      g_assert_cmpint ((resident_pages () - before) * sysconf (_SC_PAGESIZE), <, 8 << 20);
  }
}

static AxonValue *
pairs (TestModel *t, AxonValue *x)
{
  return one (t, "Relu", shaped (t, x, (gint64[]){ -1, 4, COLUMNS }, 3));
}

static AxonValue *
five (TestModel *t, AxonValue *x)
{
  AxonShape shape = AXON_SHAPE (5, 1);
  return two (t, "Add", x, test_model_random (t, &shape, 6));
}

/* Rows that were filled up must not hide it, nor the plan of a frame before. */
static void
shapes_that_do_not_fit_are_refused_frame_by_frame (void)
{
  static const struct {
    AxonValue *(*make) (TestModel *t, AxonValue *rows);
    gint64 right[2], wrong[3];
    const gchar *node;
  } refused[] = {
    { pairs, { 4, 8 }, { 3, 7, 3 }, "Reshape" },
    { five, { 5, 5 }, { 4, 8, 4 }, "Add" },
  };
  for (guint k = 0; k < G_N_ELEMENTS (refused); k++) {
    g_autoptr (AxonModel) model = model_of (refused[k].make);
    g_autoptr (AxonInferRequest) request = request_of (model, "CPU", 0);
    for (guint i = 0; i < 3; i++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (AxonTensor) wrong = run (request, refused[k].wrong[i], i, &error);
      g_autoptr (AxonTensor) right = NULL;
      g_assert_null (wrong);
      g_assert_error (error, AXON_ERROR, AXON_ERROR_MODEL);
      g_assert_nonnull (strstr (error->message, refused[k].node));
      g_clear_error (&error);
      right = run (request, refused[k].right[i % 2], i, &error);
      g_assert_no_error (error);
    }
  }
}

#define ADD(name) g_test_add_func ("/tails/" #name, name)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_log_set_writer_func (count_plans, NULL, NULL);
  ADD (any_number_of_rows_agrees);
  ADD (the_same_shapes_twice_make_one_plan);
  ADD (numbers_of_rows_share_a_plan_where_rows_are_independent);
  ADD (memory_stays_over_a_thousand_frames_of_other_shapes);
  ADD (shapes_that_do_not_fit_are_refused_frame_by_frame);
  return g_test_run ();
}
