/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies from one layout to another on device CPU, by its own loops and by oneDNN's. */
#include "axontest.h"

/* Whether what is reshaped is copied to rows by a kernel of ours. */
static gboolean
is_reordered_by_own_loops (AxonModel *model)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, "CPU", NULL, NULL, NULL, NULL, &error);
  g_autoptr (AxonModel) runtime = NULL;
  gboolean is_own = FALSE;
  g_assert_no_error (error);
  runtime = axon_compiled_model_get_runtime_model (compiled, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < runtime->nodes->len; i++) {
    const AxonNode *n = g_ptr_array_index (runtime->nodes, i);
    is_own |= g_str_equal (n->op->name, "Reshape") && g_strcmp0 (n->exec_type, "own") == 0;
  }
  return is_own;
}

static void
copies_of_layouts_can_be_left_to_onednn (void)
{
  static const AxonShape shapes[] = { { 4, { 1, 8, 12, 4 } },
                                      { 4, { 2, 9, 8, 40 } },
                                      { 4, { 2, 33, 31, 5 } },
                                      { 4, { 1, 70, 68, 130 } },
                                      { 4, { 3, 64, 64, 17 } } };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (shapes); i++) {
    static const gint64 perms[2][4] = { { 0, 3, 1, 2 }, { 0, 2, 3, 1 } }, all = -1;
    TestModel t = test_model_new (13);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shapes[i / 2]);
    AxonNode *turned =
        test_model_node (&t, "Transpose", 1, test_model_node (&t, "Neg", 1, x)->outputs[0]);
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) data = test_random (&shapes[i / 2], i);
    axon_node_set_ints (turned, "perm", perms[i % 2], 4);
    model = test_model_finish (
        &t, test_model_node (&t, "Reshape", 2, turned->outputs[0], test_model_ints (&t, &all, 1))
                ->outputs[0]);
    test_compare_devices (model, data, 0);
    g_assert_true (is_reordered_by_own_loops (model));
    g_setenv ("AXON_CPU_DISABLE_KERNELS", "reorder", TRUE);
    test_compare_devices (model, data, 0);
    g_assert_false (is_reordered_by_own_loops (model));
    g_unsetenv ("AXON_CPU_DISABLE_KERNELS");
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/reorder/copies_of_layouts_can_be_left_to_onednn",
                   copies_of_layouts_can_be_left_to_onednn);
  return g_test_run ();
}
