/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What device CPU makes of configurations and answers of kernels (K2, K6 to K8, Q2, Q5), with the
 * extension of tests/support/oddextension.c. */
#include "axontest.h"

#include <math.h>
#include <string.h>

static AxonCore *
odd_core (void)
{
  AxonCore *core = axon_core_new ();
  g_autoptr (GError) error = NULL;
  axon_core_add_extension (core, ODD_EXTENSION, NULL, &error);
  g_assert_no_error (error);
  return core;
}

static const AxonOp *
find_op (const gchar *name)
{
  static AxonExtension *extension; /* stays: rows are static in the library */
  if (extension == NULL)
    extension = axon_extension_open (ODD_EXTENSION, NULL);
  for (guint i = 0; i < axon_extension_get_info (extension)->n_ops; i++)
    if (g_str_equal (axon_extension_get_info (extension)->ops[i].name, name))
      return &axon_extension_get_info (extension)->ops[i];
  g_assert_not_reached ();
}

/* x f32[batch,11,4,5] -> Abs -> @op -> "y", which @conv multiplies by a matrix of channels. Input 2
 * of the operator is the first again if @third, input 1 is left out; @second: the model takes the
 * second of two outputs. */
static AxonModel *
make_model (const gchar *op, gint64 batch, gboolean conv, gboolean third, gboolean second)
{
  TestModel t = test_model_new (13);
  AxonShape s = AXON_SHAPE (batch, 11, 4, 5), w = AXON_SHAPE (3, 11, 1, 1);
  AxonNode *abs = test_model_node (&t, "Abs", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &s));
  AxonValue *in[] = { abs->outputs[0], NULL, abs->outputs[0] };
  AxonValue *y = axon_model_add_value (t.model, "odd"), *out[] = { second ? NULL : y, y };
  AxonNode *node =
      axon_model_add_node (t.model, find_op (op), 1, "odd", in, third ? 3 : 1, out, second ? 2 : 1);
  g_ptr_array_add (node->origins, g_strdup ("odd"));
  if (conv)
    y = test_model_node (&t, "Conv", 2, y, test_model_random (&t, &w, 3))->outputs[0];
  return test_model_finish (&t, y);
}

static AxonTensor *
infer (AxonCompiledModel *compiled, const AxonTensor *x, GError **error)
{
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  g_assert_true (axon_infer_request_set_input_tensor (r, 0, (AxonTensor *)x, error));
  return axon_infer_request_infer (r, error) ? axon_infer_request_get_output_tensor (r, 0) : NULL;
}

static AxonTensor *
run (AxonModel *model, const AxonTensor *x)
{
  g_autoptr (AxonCore) core = odd_core ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled =
      axon_core_compile_model (core, model, "CPU", NULL, NULL, NULL, NULL, &error);
  AxonTensor *y;
  g_assert_no_error (error);
  y = infer (compiled, x, &error);
  g_assert_no_error (error);
  return y;
}

static AxonTensor *
frame (gint64 batch)
{
  AxonShape s = AXON_SHAPE (batch, 11, 4, 5);
  return test_random (&s, 1);
}

/* y = |x| + 1, |x| once more where @third */
static void
check_plus_one (AxonModel *model, const AxonTensor *x, gboolean third)
{
  g_autoptr (AxonTensor) y = run (model, x);
  g_assert_cmpuint (axon_tensor_get_numel (y), ==, axon_tensor_get_numel (x));
  for (gsize i = 0; i < axon_tensor_get_numel (x); i++) {
    gfloat v = fabsf ((gfloat)axon_tensor_get_value (x, i));
    g_assert_cmpfloat ((gfloat)axon_tensor_get_value (y, i), ==, v + 1.0f + (third ? v : 0.0f));
  }
}

static void
an_input_left_out_in_the_middle_reaches_the_kernel_as_nothing (void)
{
  g_autoptr (AxonModel) model = make_model ("OddOptional", 1, FALSE, TRUE, FALSE);
  g_autoptr (AxonTensor) x = frame (1);
  check_plus_one (model, x, TRUE);
}

static void
an_output_that_nobody_named_has_memory_for_the_kernel (void)
{
  g_autoptr (AxonModel) model = make_model ("OddOptional", 1, FALSE, FALSE, TRUE);
  g_autoptr (AxonTensor) x = frame (1);
  check_plus_one (model, x, FALSE);
}

/* K8: ln 0 in the lanes that pad must not reach a product of the whole block. */
static void
what_a_kernel_leaves_in_padding_reaches_nobody (void)
{
  static const gchar *const ops[] = { "OddLog8", "OddLog16" };
  g_autoptr (AxonTensor) x = frame (2);
  for (guint k = 0; k < G_N_ELEMENTS (ops); k++) {
    g_autoptr (AxonModel) model = make_model (ops[k], 2, TRUE, FALSE, FALSE);
    g_autoptr (AxonTensor) y = run (model, x);
    for (gsize i = 0; i < axon_tensor_get_numel (y); i++)
      g_assert_true (isfinite (axon_tensor_get_value (y, i)));
  }
}

/* K6 */
static void
a_fixed_offset_is_kept (void)
{
  g_autoptr (AxonModel) model = make_model ("OddOffset", 1, FALSE, FALSE, FALSE);
  g_autoptr (AxonModel) conv = make_model ("OddOffset", 1, TRUE, FALSE, FALSE);
  g_autoptr (AxonTensor) x = frame (1);
  g_autoptr (AxonTensor) y = run (conv, x);
  g_assert_true (isfinite (axon_tensor_get_value (y, 0)));
  check_plus_one (model, x, FALSE);
}

/* K6: a kernel that takes any batch gets the plan's, also where the model's is open. */
static void
a_configuration_for_any_batch_is_completed (void)
{
  static const gint64 batches[] = { 1, 3, -1 };
  for (guint i = 0; i < G_N_ELEMENTS (batches); i++) {
    g_autoptr (AxonModel) model = make_model ("OddBatch", batches[i], FALSE, FALSE, FALSE);
    g_autoptr (AxonTensor) x = frame (batches[i] < 0 ? 2 : batches[i]);
    check_plus_one (model, x, FALSE);
  }
}

typedef struct {
  const gchar *op;
  const gchar *says;
} Refusal;

/* A query refuses what a compile refuses, with the same words. */
static void
check_refusal (const Refusal *refusal)
{
  g_autoptr (AxonCore) core = odd_core ();
  g_autoptr (AxonModel) model = make_model (refusal->op, 1, FALSE, FALSE, FALSE);
  g_autoptr (GHashTable) reasons = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) taken = NULL;
  g_assert_null (axon_core_compile_model (core, model, "CPU", NULL, NULL, NULL, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, refusal->says));
  g_clear_error (&error);
  taken = axon_core_query_model (core, model, "CPU", NULL, &reasons, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (g_hash_table_lookup (taken, "odd"));
  g_assert_nonnull (strstr (g_hash_table_lookup (reasons, "odd"), refusal->says));
}

static void
wrong_configurations_say_what_was_expected_and_what_was_got (void)
{
  static const Refusal refusals[] = {
    { "OddHalf", "configuration 0, input 0: expected f32[1,11,4,5], got f16[1,11,4,5]" },
    { "OddTaller", "configuration 0, output 0: expected f32[1,11,4,5], got f32[1,11,8,5]" },
    { "OddOpen", "configuration 0, input 0: expected f32[1,11,4,5], got f32[?,11,4,5]" },
    { "OddBlocks", "row-major, or in blocks of 8 or 16 channels; got another layout" },
    { "OddNone", "the extension's kernel offers no configuration" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    check_refusal (&refusals[i]);
}

/* K2, K7 */
static void
a_kernel_that_fails_is_told_with_its_words_or_named_without (void)
{
  static const Refusal refusals[] = {
    { "OddInit", "init refuses on purpose" },
    { "OddSilentInit", "init() of the extension's kernel failed without a message" },
    { "OddSilentConfigs",
      "get_supported_configurations() of the extension's kernel failed without a message" },
  };
  static const Refusal runs[] = {
    { "OddExecute", "execute refuses on purpose" },
    { "OddSilentExecute", "execute() of the extension's kernel failed without a message" },
  };
  g_autoptr (AxonCore) core = odd_core ();
  g_autoptr (AxonTensor) x = frame (1);
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    check_refusal (&refusals[i]);
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++) {
    g_autoptr (AxonModel) model = make_model (runs[i].op, 1, FALSE, FALSE, FALSE);
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonCompiledModel) compiled =
        axon_core_compile_model (core, model, "CPU", NULL, NULL, NULL, NULL, &error);
    g_assert_no_error (error);
    g_assert_null (infer (compiled, x, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
    g_assert_nonnull (strstr (error->message, runs[i].says));
  }
}

static void
an_operator_whose_kernel_refuses_runs_by_its_reference_kernel (void)
{
  static const gchar *const devices[] = { "CPU", "AUTO:CPU", "HETERO:CPU,TEMPLATE" };
  g_autoptr (AxonCore) core = odd_core ();
  g_autoptr (AxonModel) model = make_model ("OddOrPlain", 1, FALSE, FALSE, FALSE);
  g_autoptr (AxonTensor) x = frame (1);
  for (guint i = 0; i < G_N_ELEMENTS (devices); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonCompiledModel) compiled =
        axon_core_compile_model (core, model, devices[i], NULL, NULL, NULL, NULL, &error);
    g_assert_no_error (error);
    g_assert_nonnull (compiled);
  }
  check_plus_one (model, x, FALSE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/extensionconfig/" #name, name)
  ADD (an_input_left_out_in_the_middle_reaches_the_kernel_as_nothing);
  ADD (an_output_that_nobody_named_has_memory_for_the_kernel);
  ADD (what_a_kernel_leaves_in_padding_reaches_nobody);
  ADD (a_fixed_offset_is_kept);
  ADD (a_configuration_for_any_batch_is_completed);
  ADD (wrong_configurations_say_what_was_expected_and_what_was_got);
  ADD (a_kernel_that_fails_is_told_with_its_words_or_named_without);
  ADD (an_operator_whose_kernel_refuses_runs_by_its_reference_kernel);
  return g_test_run ();
}
