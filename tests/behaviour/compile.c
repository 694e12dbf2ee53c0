/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups compile and query (P15 to P21, Q1 to Q10). */
#include "behaviour.h"

/* P20 */
static void
compiling_and_querying_leave_the_model_unchanged (void)
{
  g_autoptr (AxonModel) identity = behaviour_dense_model ();
  g_autofree gchar *before = NULL;
  g_autofree gchar *after = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (GHashTable) taken = NULL;
  /* An Identity and a constant branch invite passes to work. */
  AxonValue *last = g_ptr_array_index (identity->outputs, 0);
  AxonValue *out = axon_model_add_value (identity, "copy");
  AxonNode *node = axon_model_add_node (identity, axon_builtin_op (NULL, "Identity", 13), 13,
                                        "identity", &last, 1, &out, 1);
  g_ptr_array_add (node->origins, g_strdup ("identity"));
  axon_model_add_output (identity, out);
  g_assert_true (axon_model_infer_shapes (identity, NULL));
  before = axon_model_to_text (identity);
  compiled = behaviour_compile (identity, NULL);
  taken = axon_core_query_model (behaviour_core (), identity, behaviour_device, behaviour_config (),
                                 NULL, NULL, NULL);
  after = axon_model_to_text (identity);
  g_assert_cmpstr (before, ==, after);
  g_assert_true (axon_model_verify (identity, NULL));
}

static void
ports_of_a_compiled_model_are_those_of_the_model (void)
{
  g_autoptr (AxonModel) model = behaviour_two_port_model ();
  g_autoptr (AxonCompiledModel) c = behaviour_compile (model, NULL);
  g_assert_cmpuint (axon_compiled_model_get_n_inputs (c), ==, 2);
  g_assert_cmpuint (axon_compiled_model_get_n_outputs (c), ==, 2);
  for (guint i = 0; i < 2; i++) {
    g_assert_cmpstr (axon_compiled_model_get_input_name (c, i), ==,
                     axon_model_get_input_name (model, i));
    g_assert_cmpstr (axon_compiled_model_get_output_name (c, i), ==,
                     axon_model_get_output_name (model, i));
    g_assert_cmpint (axon_compiled_model_get_input_dtype (c, i), ==, AXON_DTYPE_F32);
    g_assert_cmpint (axon_compiled_model_get_output_dtype (c, i), ==, AXON_DTYPE_F32);
    g_assert_true (axon_shape_equal (axon_compiled_model_get_input_shape (c, i),
                                     axon_model_get_input_shape (model, i)));
    g_assert_true (axon_shape_equal (axon_compiled_model_get_output_shape (c, i),
                                     axon_model_get_output_shape (model, i)));
    g_assert_cmpint (axon_compiled_model_find_input (c, axon_model_get_input_name (model, i)), ==,
                     (gint)i);
  }
  g_assert_cmpint (axon_compiled_model_find_output (c, "no such"), ==, -1);
}

static void
an_input_that_is_an_output_comes_through (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonInferRequest) r = NULL;
  g_autoptr (GError) error = NULL;
  axon_model_add_output (model, g_ptr_array_index (model->inputs, 0));
  compiled = behaviour_compile (model, NULL);
  r = behaviour_request (compiled, 5);
  axon_infer_request_infer (r, &error);
  g_assert_no_error (error);
  behaviour_assert_result (r, model, 5);
}

static void
two_models_run_side_by_side (void)
{
  g_autoptr (AxonModel) a = behaviour_dense_model ();
  g_autoptr (AxonModel) b = behaviour_conv_model (2);
  g_autoptr (AxonCompiledModel) ca = behaviour_compile (a, NULL);
  g_autoptr (AxonCompiledModel) cb = behaviour_compile (b, NULL);
  g_autoptr (AxonInferRequest) ra = behaviour_request (ca, 1);
  g_autoptr (AxonInferRequest) rb = behaviour_request (cb, 2);
  g_assert_true (axon_infer_request_start_async (ra, NULL));
  g_assert_true (axon_infer_request_start_async (rb, NULL));
  g_assert_true (axon_infer_request_wait (ra, NULL));
  g_assert_true (axon_infer_request_wait (rb, NULL));
  behaviour_assert_result (ra, a, 1);
  behaviour_assert_result (rb, b, 2);
}

static void
a_cancelled_compile_fails_with_cancelled (void)
{
  g_autoptr (AxonModel) model = behaviour_conv_model (4);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_cancellable_cancel (cancellable);
  g_assert_null (axon_core_compile_model (behaviour_core (), model, behaviour_device,
                                          behaviour_config (), cancellable, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* Q1, Q6, Q7: original names, each once, taken or refused with a reason. */
static void
a_query_judges_every_node_by_its_original_name (void)
{
  g_autoptr (AxonModel) model = behaviour_conv_model (3);
  g_autoptr (GHashTable) reasons = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) taken = axon_core_query_model (
      behaviour_core (), model, behaviour_device, behaviour_config (), &reasons, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < model->nodes->len; i++) {
    const gchar *name = ((AxonNode *)g_ptr_array_index (model->nodes, i))->name;
    const gchar *device = g_hash_table_lookup (taken, name);
    const gchar *why = g_hash_table_lookup (reasons, name);
    g_assert_true ((device != NULL) != (why != NULL));
    g_assert_true (device == NULL || *device != '\0');
    g_assert_true (why == NULL || *why != '\0');
  }
  g_assert_cmpuint (g_hash_table_size (taken) + g_hash_table_size (reasons), ==, model->nodes->len);
}

/* Q5: the same passes, so what is taken compiles. */
static void
what_a_query_takes_whole_compiles (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (GHashTable) taken = axon_core_query_model (behaviour_core (), model, behaviour_device,
                                                        behaviour_config (), NULL, NULL, NULL);
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_assert_nonnull (taken);
  if (g_hash_table_size (taken) == model->nodes->len)
    compiled = behaviour_compile (model, NULL);
}

void
behaviour_add_compile (void)
{
  BEHAVIOUR_ADD ("compile", compiling_and_querying_leave_the_model_unchanged);
  BEHAVIOUR_ADD ("compile", ports_of_a_compiled_model_are_those_of_the_model);
  BEHAVIOUR_ADD ("compile", an_input_that_is_an_output_comes_through);
  BEHAVIOUR_ADD ("compile", two_models_run_side_by_side);
  BEHAVIOUR_ADD ("compile", a_cancelled_compile_fails_with_cancelled);
  BEHAVIOUR_ADD ("query", a_query_judges_every_node_by_its_original_name);
  BEHAVIOUR_ADD ("query", what_a_query_takes_whole_compiles);
}
