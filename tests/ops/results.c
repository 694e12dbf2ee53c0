/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What operators give, one row each: types and shapes are inferred, from as little as is known of
 * the inputs; then runs on the reference and on device CPU give them, and values that can be worked
 * out by hand. */
#include "nodes.h"

#include <math.h>
#include <string.h>

#define MAX_OUTPUTS 4

static const gchar *const devices[] = { "TEMPLATE", "CPU" };

/* The texts of what is expected, one an output. */
static gchar **
split_outputs (const NodeCase *c)
{
  gchar **texts = g_strsplit (c->says, " ", -1);
  g_assert_cmpuint (g_strv_length (texts), <=, MAX_OUTPUTS);
  return texts;
}

static void
all_is_inferred (gconstpointer data)
{
  const NodeCase *c = data;
  g_auto (GStrv) texts = split_outputs (c);
  guint n = g_strv_length (texts);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  g_autoptr (GError) error = NULL;
  AxonNode *node;
  g_autoptr (AxonModel) model = node_case_build (c, n, FALSE, inputs, &node);
  gboolean ok = axon_node_check (node, &error) && axon_model_infer_shapes (model, &error);
  g_assert_no_error (error);
  g_assert_true (ok);
  for (guint i = 0; i < n; i++) {
    g_auto (NodeTensor) expected = { 0 };
    g_autofree gchar *shape = axon_shape_to_string (axon_model_get_output_shape (model, i));
    g_autofree gchar *wanted = NULL;
    node_tensor_parse (texts[i], &expected);
    wanted = axon_shape_to_string (&expected.shape);
    g_assert_cmpstr (axon_dtype_get_name (axon_model_get_output_dtype (model, i)), ==,
                     axon_dtype_get_name (expected.dtype));
    g_assert_cmpstr (shape, ==, wanted);
  }
}

/* That nothing is said of @less that @full contradicts. */
static void
assert_fits (const AxonShape *less, const AxonShape *full)
{
  g_autofree gchar *a = axon_shape_to_string (less), *b = axon_shape_to_string (full);
  if (less->rank >= 0 && full->rank >= 0 && less->rank != full->rank)
    g_test_fail_printf ("%s where less is known, and %s", a, b);
  for (gint d = 0; full->rank >= 0 && d < less->rank; d++)
    if (less->dims[d] < -1 ||
        (less->dims[d] >= 0 && full->dims[d] >= 0 && less->dims[d] != full->dims[d]))
      g_test_fail_printf ("%s where less is known, and %s", a, b);
}

/* Infers again, with what is known now. */
static void
infer_and_compare (AxonNode *node, const AxonTypeInfo *in, const AxonTypeInfo *full)
{
  AxonTypeInfo out[MAX_OUTPUTS] = { 0 };
  g_autoptr (GError) error = NULL;
  gboolean ok = axon_node_infer (node, in, out, &error);
  g_assert_no_error (error);
  g_assert_true (ok);
  for (guint i = 0; i < node->n_outputs; i++) {
    g_assert_cmpint (out[i].dtype, ==, full[i].dtype);
    assert_fits (&out[i].shape, &full[i].shape);
    if (out[i].value != NULL)
      g_assert_cmpfloat (test_largest_difference (out[i].value, full[i].value), ==, 0);
    g_clear_pointer (&out[i].value, axon_tensor_unref);
  }
}

static void
forget_dims (AxonShape *shape)
{
  for (gint d = 0; d < shape->rank; d++)
    shape->dims[d] = -1;
}

/* Each dimension, each rank and each value is forgotten, one at a time, then all of a kind. */
static void
what_is_less_known_contradicts_nothing (gconstpointer data)
{
  const NodeCase *c = data;
  g_auto (GStrv) texts = split_outputs (c);
  guint n_out = g_strv_length (texts);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  g_autoptr (GError) error = NULL;
  AxonNode *node;
  AxonModel *model = node_case_build (c, n_out, FALSE, inputs, &node);
  AxonTypeInfo known[12] = { 0 }, in[12], full[MAX_OUTPUTS] = { 0 };
  guint n = node->n_inputs;
  for (guint i = 0; i < n; i++)
    known[i] =
        node->inputs[i] ? node->inputs[i]->type : (AxonTypeInfo){ .shape = AXON_SHAPE_UNKNOWN };
  g_assert_true (axon_node_infer (node, known, full, &error));
  for (guint i = 0; i < n; i++) {
    for (gint d = 0; d < known[i].shape.rank; d++) {
      memcpy (in, known, sizeof in);
      in[i].value = NULL;
      in[i].shape.dims[d] = -1;
      infer_and_compare (node, in, full);
    }
    memcpy (in, known, sizeof in);
    in[i].value = NULL;
    infer_and_compare (node, in, full);
    in[i].shape = AXON_SHAPE_UNKNOWN;
    infer_and_compare (node, in, full);
  }
  memcpy (in, known, sizeof in);
  for (guint i = 0; i < n; i++)
    in[i].value = NULL;
  infer_and_compare (node, in, full);
  for (guint i = 0; i < n; i++)
    forget_dims (&in[i].shape);
  infer_and_compare (node, in, full);
  for (guint i = 0; i < n; i++)
    in[i].shape = AXON_SHAPE_UNKNOWN;
  infer_and_compare (node, in, full);
  for (guint i = 0; i < n_out; i++)
    g_clear_pointer (&full[i].value, axon_tensor_unref);
  g_object_unref (model);
}

static void
fill (AxonTensor *tensor, G_GNUC_UNUSED gpointer user_data)
{
  node_fill (tensor);
}

/* An output as it is spelled: "?" and a missing shape are anything, and so are missing values. */
static void
assert_is (const AxonTensor *y, const gchar *text)
{
  g_auto (NodeTensor) expected = { 0 };
  g_autofree gchar *shape = axon_shape_to_string (axon_tensor_get_shape (y));
  node_tensor_parse (text, &expected);
  g_assert_cmpint (axon_tensor_get_dtype (y), ==, expected.dtype);
  if (!axon_shape_accepts (&expected.shape, axon_tensor_get_shape (y)))
    g_test_fail_printf ("a run gave %s, expected %s", shape, text);
  for (gsize i = 0; expected.has_values && i < axon_tensor_get_numel (y); i++) {
    gdouble wanted = axon_tensor_get_value (expected.tensor, i), got = axon_tensor_get_value (y, i);
    if (!(wanted == got || (isnan (wanted) && isnan (got)) ||
          fabs (wanted - got) <= 1e-4 * fmax (1, fabs (wanted))))
      g_test_fail_printf ("value %" G_GSIZE_FORMAT ": %g, expected %s", i, got, text);
  }
}

static void
run_and_compare (const NodeCase *c, const gchar *device, gboolean is_open)
{
  g_auto (GStrv) texts = split_outputs (c);
  guint n = g_strv_length (texts);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonInferRequest) request = NULL;
  AxonNode *node;
  g_autoptr (AxonModel) model = node_case_build (c, n, FALSE, inputs, &node);
  for (guint i = 0; is_open && i < axon_model_get_n_inputs (model); i++)
    forget_dims (&((AxonValue *)model->inputs->pdata[i])->type.shape);
  if (inputs->len < axon_model_get_n_inputs (model))
    return; /* of a shape that the row leaves open */
  node_fill_inputs (c, inputs, fill, NULL);
  axon_model_infer_shapes (model, &error);
  g_assert_no_error (error);
  compiled = axon_core_compile_model (axon_core_get_default (), model, device, NULL, NULL, NULL,
                                      NULL, &error);
  g_assert_no_error (error);
  request = axon_compiled_model_create_infer_request (compiled);
  for (guint i = 0; i < inputs->len; i++)
    g_assert_true (axon_infer_request_set_input_tensor (request, i, inputs->pdata[i], &error));
  axon_infer_request_infer (request, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < n; i++) {
    g_autoptr (AxonTensor) y = axon_infer_request_get_output_tensor (request, i);
    assert_is (y, texts[i]);
  }
}

static void
a_run_gives_what_was_inferred (gconstpointer data)
{
  for (guint d = 0; d < 2 * G_N_ELEMENTS (devices); d++)
    run_and_compare (data, devices[d / 2], d % 2 == 1);
}

static void
add_cases (const gchar *table, const NodeCase *cases, guint n)
{
  static const struct {
    const gchar *name;
    GTestDataFunc func;
  } tests[] = {
    { "all_is_inferred", all_is_inferred },
    { "what_is_less_known_contradicts_nothing", what_is_less_known_contradicts_nothing },
    { "a_run_gives_what_was_inferred", a_run_gives_what_was_inferred },
  };
  for (guint i = 0; i < n; i++)
    for (guint t = 0; t < G_N_ELEMENTS (tests); t++) {
      g_autofree gchar *path =
          g_strdup_printf ("/results/%s/%s/%s-%u", tests[t].name, table, cases[i].op, i);
      g_test_add_data_func (path, &cases[i], tests[t].func);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add_cases ("computed", result_cases, n_result_cases);
  add_cases ("moved", move_cases, n_move_cases);
  add_cases ("numbers", number_cases, n_number_cases);
  return g_test_run ();
}
