/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of AxonPrePostProcessor share. */
#pragma once

#include "axontest.h"

#include <string.h>

/* x f32 of @shape -> Relu -> y; layout said as @layout */
static inline AxonModel *
model_of (const AxonShape *shape)
{
  TestModel t = test_model_new (13);
  AxonNode *n = test_model_node (&t, "Relu", 1, test_model_input (&t, "x", AXON_DTYPE_F32, shape));
  return test_model_finish (&t, n->outputs[0]);
}

static inline AxonPrePostProcessor *
steps_for (const AxonShape *shape, const gchar *model_layout)
{
  g_autoptr (AxonModel) model = model_of (shape);
  AxonPrePostProcessor *p = axon_pre_post_processor_new (model);
  if (model_layout != NULL)
    axon_pre_post_processor_set_model_layout (p, 0, model_layout);
  return p;
}

/* Builds, runs on TEMPLATE and CPU, returns the output. */
static inline AxonTensor *
run (AxonPrePostProcessor *p, AxonTensor **inputs, guint n)
{
  static const gchar *const devices[] = { "TEMPLATE", "CPU" };
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = axon_pre_post_processor_build (p, &error);
  AxonTensor *results[2];
  g_assert_no_error (error);
  g_assert_cmpuint (axon_model_get_n_inputs (model), ==, n);
  for (guint d = 0; d < 2; d++) {
    g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
        axon_core_get_default (), model, devices[d], NULL, NULL, NULL, NULL, &error);
    g_autoptr (AxonInferRequest) r = NULL;
    g_assert_no_error (error);
    r = axon_compiled_model_create_infer_request (compiled);
    for (guint i = 0; i < n; i++) {
      axon_infer_request_set_input_tensor (r, i, inputs[i], &error);
      g_assert_no_error (error);
    }
    axon_infer_request_infer (r, &error);
    g_assert_no_error (error);
    results[d] = axon_infer_request_get_output_tensor (r, 0);
  }
  g_assert_cmpfloat (test_largest_difference (results[0], results[1]), <, 1e-3);
  axon_tensor_unref (results[1]);
  return results[0];
}

static inline void
assert_refused (AxonPrePostProcessor *p, const gchar *why)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_pre_post_processor_build (p, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  if (strstr (error->message, why) == NULL)
    g_error ("expected \"%s\" in \"%s\"", why, error->message);
  g_object_unref (p);
}

static inline AxonTensor *
bytes (const AxonShape *shape, guint32 seed)
{
  AxonTensor *t = axon_tensor_new (AXON_DTYPE_U8, shape, NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  for (gsize i = 0; i < axon_tensor_get_numel (t); i++)
    ((guint8 *)axon_tensor_get_data (t))[i] = (guint8)g_rand_int (rand);
  return t;
}
