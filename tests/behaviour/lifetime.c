/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Group lifetime: whatever is dropped first, the rest works (P13). */
#include "behaviour.h"

static AxonCompiledModel *
compile_on (AxonCore *core, AxonModel *model)
{
  g_autoptr (GError) error = NULL;
  AxonCompiledModel *compiled = axon_core_compile_model (
      core, model, behaviour_device, behaviour_config (), NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  return compiled;
}

/* All six orders in which core, compiled model and request can be released. */
static void
core_model_and_request_are_released_in_any_order (void)
{
  static const guint orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                      { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  for (guint o = 0; o < 6; o++) {
    GObject *objects[3];
    objects[0] = G_OBJECT (behaviour_new_core ());
    objects[1] = G_OBJECT (compile_on (AXON_CORE (objects[0]), model));
    objects[2] = G_OBJECT (behaviour_request (AXON_COMPILED_MODEL (objects[1]), o));
    for (guint i = 0; i < 3; i++) {
      if (objects[2] != NULL) {
        g_autoptr (GError) error = NULL;
        axon_infer_request_infer (AXON_INFER_REQUEST (objects[2]), &error);
        g_assert_no_error (error);
        behaviour_assert_result (AXON_INFER_REQUEST (objects[2]), model, o);
      }
      g_clear_object (&objects[orders[o][i]]);
    }
  }
}

static void
requests_can_be_made_after_the_core_is_gone (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  AxonCore *core = behaviour_new_core ();
  g_autoptr (AxonCompiledModel) compiled = compile_on (core, model);
  g_autoptr (AxonInferRequest) r = NULL;
  g_autoptr (GError) error = NULL;
  g_object_unref (core);
  r = behaviour_request (compiled, 1);
  axon_infer_request_infer (r, &error);
  g_assert_no_error (error);
  behaviour_assert_result (r, model, 1);
}

static void
tensors_and_values_outlive_everything (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  AxonCore *core = behaviour_new_core ();
  AxonCompiledModel *compiled = compile_on (core, model);
  AxonInferRequest *r = behaviour_request (compiled, 1);
  g_autoptr (GVariant) name = axon_compiled_model_get_property (compiled, "NETWORK_NAME", NULL);
  g_autoptr (AxonTensor) in = axon_infer_request_get_input_tensor (r, 0);
  g_autoptr (AxonTensor) out = NULL;
  g_autofree AxonTensor **expected = NULL;
  g_assert_true (axon_infer_request_infer (r, NULL));
  out = axon_infer_request_get_output_tensor (r, 0);
  g_object_unref (core);
  g_object_unref (r);
  g_object_unref (compiled);
  expected = behaviour_reference (model, &in);
  behaviour_assert_close (out, expected[0]);
  g_assert_cmpstr (g_variant_get_string (name, NULL), ==, "dense");
  axon_tensor_unref (expected[0]);
}

static void
a_request_that_is_dropped_while_it_runs_ends_by_itself (void)
{
  g_autoptr (AxonModel) model = behaviour_conv_model (10);
  for (guint i = 0; i < 10; i++) {
    AxonCore *core = behaviour_new_core ();
    AxonCompiledModel *compiled = compile_on (core, model);
    AxonInferRequest *r = behaviour_request (compiled, 1);
    g_assert_true (axon_infer_request_start_async (r, NULL));
    g_object_unref (r);
    g_object_unref (compiled);
    g_object_unref (core);
  }
}

static void
an_unloaded_device_serves_those_who_have_it (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCore) core = behaviour_new_core ();
  g_autoptr (AxonCompiledModel) compiled = compile_on (core, model);
  g_autoptr (AxonInferRequest) r = NULL;
  g_autoptr (GError) error = NULL;
  g_assert_true (axon_core_unload_plugin (core, behaviour_name, &error));
  g_assert_false (axon_core_unload_plugin (core, behaviour_name, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  r = behaviour_request (compiled, 1);
  g_assert_true (axon_infer_request_infer (r, NULL));
  behaviour_assert_result (r, model, 1);
  g_clear_object (&compiled);
  compiled = compile_on (core, model); /* and can be loaded again */
}

static guint
count_threads (void)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/task", 0, NULL);
  guint n = 0;
  while (dir != NULL && g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static void
threads_do_not_grow_with_compiles (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  guint before = 0, after;
  for (guint i = 0; i < 60; i++) {
    g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
    g_autoptr (AxonInferRequest) r = behaviour_request (compiled, 1);
    g_assert_true (axon_infer_request_infer (r, NULL));
    if (i == 10)
      before = count_threads ();
  }
  for (guint i = 0; i < 100 && count_threads () > before; i++)
    g_usleep (10000); /* those that end on their own */
  after = count_threads ();
  g_assert_cmpuint (after, <=, before);
}

void
behaviour_add_lifetime (void)
{
  BEHAVIOUR_ADD ("lifetime", core_model_and_request_are_released_in_any_order);
  BEHAVIOUR_ADD ("lifetime", requests_can_be_made_after_the_core_is_gone);
  BEHAVIOUR_ADD ("lifetime", tensors_and_values_outlive_everything);
  BEHAVIOUR_ADD ("lifetime", a_request_that_is_dropped_while_it_runs_ends_by_itself);
  BEHAVIOUR_ADD ("lifetime", an_unloaded_device_serves_those_who_have_it);
  BEHAVIOUR_ADD ("lifetime", threads_do_not_grow_with_compiles);
}
