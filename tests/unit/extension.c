/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Extensions (K1 to K10, X1, Q2), with the example of docs/examples/extension. */
#include "axontest.h"

#include <string.h>

static const AxonOp *
find_op (const gchar *name)
{
  static AxonExtension *extension; /* stays: rows are static in the library */
  if (extension == NULL)
    extension = axon_extension_open (EXAMPLE_EXTENSION, NULL);
  for (guint i = 0; i < axon_extension_get_info (extension)->n_ops; i++)
    if (g_str_equal (axon_extension_get_info (extension)->ops[i].name, name))
      return &axon_extension_get_info (extension)->ops[i];
  g_assert_not_reached ();
}

/* x f32[1,c,5,6] -> Relu -> op(add 3) -> Relu */
static AxonModel *
make_model (const gchar *op, gint64 channels, gboolean blocked, const AxonShape *other)
{
  TestModel t = test_model_new (13);
  AxonShape s = other ? *other : AXON_SHAPE (1, channels, 5, 6);
  AxonNode *first = test_model_node (&t, "Relu", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &s));
  AxonValue *out = axon_model_add_value (t.model, "added");
  AxonNode *node =
      axon_model_add_node (t.model, find_op (op), 1, "add", first->outputs, 1, &out, 1);
  g_ptr_array_add (node->origins, g_strdup ("add"));
  axon_node_set_int (node, "add", 3);
  axon_node_set_int (node, "blocked", blocked);
  return test_model_finish (&t, test_model_node (&t, "Relu", 1, out)->outputs[0]);
}

static AxonCore *
core_with (const gchar *device)
{
  AxonCore *core = axon_core_new ();
  g_autoptr (GError) error = NULL;
  axon_core_add_extension (core, EXAMPLE_EXTENSION, device, &error);
  g_assert_no_error (error);
  return core;
}

static void
run (AxonCore *core, AxonModel *model, const gchar *device, const gchar *implementation)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled =
      axon_core_compile_model (core, model, device, g_variant_new_parsed ("{'PERF_COUNT': <true>}"),
                               NULL, NULL, NULL, &error);
  g_autoptr (AxonInferRequest) r = NULL;
  g_autoptr (AxonTensor) x = test_random (axon_model_get_input_shape (model, 0), 1);
  g_autoptr (AxonTensor) y = NULL;
  gboolean found = FALSE;
  g_assert_no_error (error);
  r = axon_compiled_model_create_infer_request (compiled);
  g_assert_true (axon_infer_request_set_input_tensor (r, 0, x, NULL));
  axon_infer_request_infer (r, &error);
  g_assert_no_error (error);
  y = axon_infer_request_get_output_tensor (r, 0);
  for (gsize i = 0; i < axon_tensor_get_numel (x); i++)
    g_assert_cmpfloat (axon_tensor_get_value (y, i), ==,
                       MAX ((gfloat)axon_tensor_get_value (x, i), 0) + 3.0f);
  for (guint i = 0; i < axon_infer_request_get_n_profiling (r); i++) {
    const AxonProfilingInfo *row = axon_infer_request_get_profiling (r, i);
    if (g_str_equal (row->node_name, "add") && g_str_equal (row->node_type, "AddConstant"))
      found = found || g_str_equal (row->exec_type, implementation);
  }
  g_assert_true (found || strstr (device, ":") != NULL || implementation == NULL);
}

/* K5, K6: row-major and blocks of eight, also where the last block is not full. */
static void
the_kernel_runs_row_major_and_in_blocks_of_channels (void)
{
  static const gint64 channels[] = { 1, 3, 8, 11, 16 };
  g_autoptr (AxonCore) core = core_with (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (channels); i++)
    for (guint blocked = 0; blocked < 2; blocked++) {
      g_autoptr (AxonModel) model = make_model ("AddConstant", channels[i], blocked, NULL);
      run (core, model, "CPU", "extension");
    }
}

static void
a_device_without_the_kernel_uses_the_reference_kernel (void)
{
  g_autoptr (AxonCore) core = core_with (NULL);
  g_autoptr (AxonModel) model = make_model ("AddConstant", 3, FALSE, NULL);
  run (core, model, "TEMPLATE", "reference");
}

/* K10: kernels for one device only */
static void
an_extension_can_be_added_for_one_device (void)
{
  g_autoptr (AxonCore) cpu = core_with ("CPU");
  g_autoptr (AxonCore) template = core_with ("TEMPLATE");
  g_autoptr (AxonModel) model = make_model ("AddConstant", 3, FALSE, NULL);
  run (cpu, model, "CPU", "extension");
  run (template, model, "CPU", "reference");
}

/* X1 */
static void
a_device_that_takes_no_extensions_says_so (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (GError) error = NULL;
  g_assert_false (axon_core_add_extension (core, EXAMPLE_EXTENSION, "MOCK", &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "MOCK takes no extensions"));
}

/* Q2 */
static void
an_operator_without_reference_kernel_runs_where_a_kernel_is (void)
{
  g_autoptr (AxonCore) core = core_with (NULL);
  g_autoptr (AxonModel) model = make_model ("AddConstantOnDevice", 3, FALSE, NULL);
  g_autoptr (GHashTable) reasons = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) taken =
      axon_core_query_model (core, model, "TEMPLATE", NULL, &reasons, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (g_hash_table_contains (taken, "add"));
  g_assert_nonnull (strstr (g_hash_table_lookup (reasons, "add"), "no reference kernel"));
  g_assert_null (axon_core_compile_model (core, model, "TEMPLATE", NULL, NULL, NULL, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED);
  run (core, model, "CPU", NULL);
  run (core, model, "HETERO:TEMPLATE,CPU", NULL);
}

/* K4, K7: the constructor's error is told by the first call, with its text. */
static void
a_kernel_that_refuses_tells_why (void)
{
  AxonShape vector = AXON_SHAPE (1, 4);
  g_autoptr (AxonCore) core = core_with (NULL);
  g_autoptr (AxonModel) model = make_model ("AddConstantOnDevice", 3, FALSE, &vector);
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_core_compile_model (core, model, "CPU", NULL, NULL, NULL, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED);
  g_assert_nonnull (
      strstr (error->message, "expected f32 of rank 4 and known shape, got f32[1,4]"));
}

static void
a_library_that_is_none_is_refused (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  static const gchar *const paths[] = { "/no/such/file.so", "/proc/self/exe", "/etc/passwd" };
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (axon_core_add_extension (core, paths[i], NULL, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
    g_assert_nonnull (strstr (error->message, paths[i]));
  }
}

/* K2, K6, K8 */
static void
layouts_and_messages_have_bounds (void)
{
  AxonTensorDesc desc;
  AxonShape s = AXON_SHAPE (2, 11, 3, 4);
  AxonResponse response;
  g_autofree gchar *text = g_strnfill (1000, 'x');
  axon_tensor_desc_init_channel_blocks (&desc, AXON_DTYPE_F32, &s, 8);
  g_assert_cmpuint (desc.n_blocked, ==, 5);
  g_assert_cmpint (desc.blocked[1], ==, 2);
  g_assert_cmpint (desc.blocked[4], ==, 8);
  g_assert_cmpuint (desc.order[4], ==, 1);
  g_assert_cmpuint (desc.offset, ==, AXON_ANY_OFFSET);
  g_assert_cmpuint (axon_tensor_desc_get_n_elements (&desc), ==, 2 * 16 * 3 * 4);
  g_assert_false (axon_tensor_desc_is_planar (&desc));
  axon_tensor_desc_init_planar (&desc, AXON_DTYPE_F32, &s);
  g_assert_true (axon_tensor_desc_is_planar (&desc));
  g_assert_cmpint (axon_div_up (11, 8), ==, 2);
  g_assert_cmpint (axon_div_up (11, 0), ==, 0);
  axon_response_set (&response, "%s", text);
  g_assert_cmpuint (strlen (response.message), ==, sizeof response.message - 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/extension/" #name, name)
  ADD (the_kernel_runs_row_major_and_in_blocks_of_channels);
  ADD (a_device_without_the_kernel_uses_the_reference_kernel);
  ADD (an_extension_can_be_added_for_one_device);
  ADD (a_device_that_takes_no_extensions_says_so);
  ADD (an_operator_without_reference_kernel_runs_where_a_kernel_is);
  ADD (a_kernel_that_refuses_tells_why);
  ADD (a_library_that_is_none_is_refused);
  ADD (layouts_and_messages_have_bounds);
  return g_test_run ();
}
