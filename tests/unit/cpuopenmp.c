/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device CPU in a program that links libgomp, which oneDNN then uses. */
#include "axontest.h"

#include <omp.h>

static AxonCompiledModel *
compile (AxonModel *model)
{
  g_autoptr (GError) error = NULL;
  AxonCompiledModel *compiled;
  GVariantDict dict;
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "INFERENCE_NUM_THREADS", "s", "2");
  compiled = axon_core_compile_model (axon_core_get_default (), model, "CPU",
                                      g_variant_dict_end (&dict), NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  return compiled;
}

static void
the_programs_number_of_threads_is_as_before_after_an_inference (void)
{
  TestModel t = test_model_new (13);
  AxonShape s = AXON_SHAPE (1, 4);
  AxonNode *n = test_model_node (&t, "Relu", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &s));
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (AxonCompiledModel) compiled = compile (model);
  g_autoptr (AxonInferRequest) request = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (AxonTensor) x = test_random (&s, 1);
  g_autoptr (GError) error = NULL;
  omp_set_num_threads (5);
  g_assert_true (axon_infer_request_set_input_tensor (request, 0, x, &error));
  axon_infer_request_infer (request, &error);
  g_assert_no_error (error);
  g_assert_cmpint (omp_get_max_threads (), ==, 5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/cpu-openmp/" #name, name)
  ADD (the_programs_number_of_threads_is_as_before_after_an_inference);
  return g_test_run ();
}
