/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program whose functions have the names of the library's own. */
#include <axon/axon.h>

static guint n_calls;

#define OWN(name)                                                                                  \
  G_MODULE_EXPORT void name (void);                                                                \
  void name (void)                                                                                 \
  {                                                                                                \
    n_calls++;                                                                                     \
  }

OWN (step_resize)
OWN (step_crop)
OWN (color_name)
OWN (work_add)
OWN (axon_check_axis)
OWN (onnx__model__unpack)

static void
an_application_may_name_its_functions_as_it_likes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = axon_core_read_model (
      axon_core_get_default (), TEST_SOURCE_ROOT "/pipelines/quickstart/ball.onnx", NULL, &error);
  g_autoptr (AxonPrePostProcessor) steps = axon_pre_post_processor_new (model);
  AxonShape shape = AXON_SHAPE (1, 3, 10, 10);
  g_autoptr (AxonModel) built = NULL;
  g_assert_no_error (error);
  axon_pre_post_processor_set_tensor_layout (steps, 0, "NCHW");
  axon_pre_post_processor_set_model_layout (steps, 0, "NCHW");
  axon_pre_post_processor_set_tensor_shape (steps, 0, &shape);
  axon_pre_post_processor_resize (steps, 0, 0, 96, 128);
  built = axon_pre_post_processor_build (steps, &error);
  g_assert_no_error (error);
  g_assert_nonnull (built);
  g_assert_cmpuint (n_calls, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/symbols/an_application_may_name_its_functions_as_it_likes",
                   an_application_may_name_its_functions_as_it_likes);
  return g_test_run ();
}
