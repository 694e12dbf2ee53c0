/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AxonPrePostProcessor: the rules of preprocessing, and their numbers. */
#include "prepost.h"

static void
mean_and_scale_work_for_all_and_per_channel (void)
{
  AxonShape s = AXON_SHAPE (1, 3, 2, 2);
  const gfloat mean[] = { 1, 2, 3 }, scale[] = { 2 };
  g_autoptr (AxonPrePostProcessor) p = steps_for (&s, "NCHW");
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_F32, &s, NULL);
  g_autoptr (AxonTensor) y = NULL;
  for (guint i = 0; i < 12; i++)
    ((gfloat *)axon_tensor_get_data (x))[i] = 10 + (gfloat)i;
  axon_pre_post_processor_mean (p, 0, mean, 3);
  axon_pre_post_processor_scale (p, 0, scale, 1);
  y = run (p, &x, 1);
  for (guint i = 0; i < 12; i++)
    g_assert_cmpfloat_with_epsilon (axon_tensor_get_value (y, i), (10.0 + i - mean[i / 4]) / 2,
                                    1e-5);
}

static void
mean_and_scale_say_what_they_need (void)
{
  AxonShape s = AXON_SHAPE (1, 3, 2, 2);
  const gfloat two[] = { 1, 2 };
  AxonPrePostProcessor *p = steps_for (&s, "NCHW");
  axon_pre_post_processor_set_tensor_type (p, 0, AXON_DTYPE_U8);
  axon_pre_post_processor_mean (p, 0, two, 1);
  assert_refused (p, "convert_element_type to f32 first");
  p = steps_for (&s, NULL);
  axon_pre_post_processor_mean (p, 0, two, 2);
  assert_refused (p, "a layout with C");
  p = steps_for (&s, "NCHW");
  axon_pre_post_processor_scale (p, 0, two, 2);
  assert_refused (p, "expected 1 or 3 values, got 2");
  p = steps_for (&s, "NCHW");
  axon_pre_post_processor_set_tensor_color (p, 0, AXON_COLOR_FORMAT_NV12_TWO_PLANES);
  axon_pre_post_processor_set_tensor_size (p, 0, 2, 2);
  axon_pre_post_processor_mean (p, 0, two, 1);
  assert_refused (p, "2 planes: convert_color first");
}

/* Layout first, type last; same again adds nothing. */
static void
what_still_differs_is_converted_implicitly (void)
{
  AxonShape s = AXON_SHAPE (1, 3, 2, 4), nhwc = AXON_SHAPE (1, 2, 4, 3);
  g_autoptr (AxonPrePostProcessor) p = steps_for (&s, "NCHW");
  g_autoptr (AxonTensor) x = bytes (&nhwc, 1);
  g_autoptr (AxonTensor) y = NULL;
  g_autofree gchar *plan = NULL;
  axon_pre_post_processor_set_tensor_type (p, 0, AXON_DTYPE_U8);
  axon_pre_post_processor_set_tensor_layout (p, 0, "NHWC");
  y = run (p, &x, 1);
  for (guint c = 0; c < 3; c++)
    for (guint i = 0; i < 8; i++)
      g_assert_cmpfloat (axon_tensor_get_value (y, c * 8 + i), ==,
                         axon_tensor_get_value (x, i * 3 + c));
  plan = axon_pre_post_processor_to_string (p);
  g_assert_nonnull (strstr (plan, "implicit"));
  g_assert_true (strstr (plan, "convert layout") < strstr (plan, "convert type"));
}

static void
nothing_said_adds_nothing (void)
{
  AxonShape s = AXON_SHAPE (1, 3, 2, 2);
  g_autoptr (AxonPrePostProcessor) p = steps_for (&s, "NCHW");
  g_autoptr (AxonModel) model = NULL;
  axon_pre_post_processor_set_tensor_layout (p, 0, "NCHW");
  model = axon_pre_post_processor_build (p, NULL);
  g_assert_cmpuint (axon_model_get_n_nodes (model), ==, 1);
  g_assert_cmpstr (axon_model_get_input_name (model, 0), ==, "x");
}

static void
names_of_inputs_are_kept (void)
{
  AxonShape s = AXON_SHAPE (1, 3, 2, 2);
  g_autoptr (AxonPrePostProcessor) p = steps_for (&s, "NCHW");
  g_autoptr (AxonModel) model = NULL;
  axon_pre_post_processor_set_tensor_type (p, 0, AXON_DTYPE_U8);
  model = axon_pre_post_processor_build (p, NULL);
  g_assert_cmpstr (axon_model_get_input_name (model, 0), ==, "x");
  g_assert_cmpint (axon_model_get_input_dtype (model, 0), ==, AXON_DTYPE_U8);
}

static void
ports_are_found_by_name_and_misses_are_named (void)
{
  AxonShape s = AXON_SHAPE (1, 3, 2, 2);
  g_autoptr (AxonPrePostProcessor) p = steps_for (&s, "NCHW");
  g_autoptr (GError) error = NULL;
  g_assert_cmpint (axon_pre_post_processor_find_input (p, "x", NULL), ==, 0);
  g_assert_cmpint (axon_pre_post_processor_find_input (p, NULL, NULL), ==, 0);
  g_assert_cmpint (axon_pre_post_processor_find_input (p, "z", &error), ==, -1);
  g_assert_nonnull (strstr (error->message, "no input \"z\""));
}

static void
layouts_are_converted_with_leading_dimensions_and_by_numbers (void)
{
  AxonShape s = AXON_SHAPE (1, 3, 2, 2), hwc = AXON_SHAPE (2, 2, 3), dims = AXON_SHAPE (0, 3, 1, 2);
  AxonShape nhwc = AXON_SHAPE (1, 2, 2, 3);
  for (guint way = 0; way < 3; way++) {
    g_autoptr (AxonPrePostProcessor) p = steps_for (&s, way == 1 ? "NC..." : "NCHW");
    g_autoptr (AxonTensor) x = test_random (way == 0 ? &hwc : &nhwc, way);
    g_autoptr (AxonTensor) y = NULL;
    axon_pre_post_processor_set_tensor_from (p, 0, x);
    if (way == 0) {
      axon_pre_post_processor_set_tensor_layout (p, 0, "HWC");
      axon_pre_post_processor_convert_layout (p, 0, "NCHW");
    } else {
      axon_pre_post_processor_set_tensor_layout (p, 0, way == 1 ? "NHWC" : "NHWC");
      axon_pre_post_processor_permute (p, 0, &dims);
    }
    if (way == 1) {
      axon_pre_post_processor_set_model_layout (p, 0, "NCHW");
    }
    y = run (p, &x, 1);
    for (guint c = 0; c < 3; c++)
      for (guint i = 0; i < 4; i++)
        g_assert_cmpfloat (axon_tensor_get_value (y, c * 4 + i), ==,
                           MAX (axon_tensor_get_value (x, i * 3 + c), 0));
  }
}

/* Each dimension of the tensor is the model's of the same letter, wherever it stands. */
static void
a_batch_and_channels_in_front_keep_their_size_in_another_layout (void)
{
  static const struct {
    const gchar *model, *tensor;
    AxonShape shape, expected;
    guint perm[4]; /* where the model's dimensions stand in the tensor */
  } cases[] = { { "NCHW", "NHWC", { 4, { 2, 3, 4, 5 } }, { 4, { 2, 4, 5, 3 } }, { 0, 3, 1, 2 } },
                { "CHW", "HWC", { 3, { 3, 4, 5 } }, { 3, { 4, 5, 3 } }, { 2, 0, 1 } },
                { "CNHW", "NHWC", { 4, { 3, 2, 4, 5 } }, { 4, { 2, 4, 5, 3 } }, { 3, 0, 1, 2 } } };
  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    g_autoptr (AxonPrePostProcessor) p = steps_for (&cases[k].shape, cases[k].model);
    g_autoptr (AxonTensor) x = test_random (&cases[k].expected, k);
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) y = NULL;
    g_autoptr (GError) error = NULL;
    gint64 at[4] = { 0 };
    axon_pre_post_processor_set_tensor_layout (p, 0, cases[k].tensor);
    model = axon_pre_post_processor_build (p, &error);
    g_assert_no_error (error);
    g_assert_true (axon_shape_equal (axon_model_get_input_shape (model, 0), &cases[k].expected));
    y = run (p, &x, 1);
    for (gsize i = 0; i < axon_tensor_get_numel (y); i++) {
      gsize from = 0, rest = i;
      for (gint d = cases[k].shape.rank - 1; d >= 0; d--) {
        at[cases[k].perm[d]] = (gint64)rest % cases[k].shape.dims[d];
        rest /= (gsize)cases[k].shape.dims[d];
      }
      for (gint d = 0; d < cases[k].shape.rank; d++)
        from = from * (gsize)cases[k].expected.dims[d] + (gsize)at[d];
      g_assert_cmpfloat (axon_tensor_get_value (y, i), ==,
                         MAX (axon_tensor_get_value (x, from), 0));
    }
  }
}

static void
wrong_layouts_are_refused (void)
{
  static const gchar *const wrong[] = { "nchw", "NCHN", "N C", "" };
  AxonShape s = AXON_SHAPE (1, 3, 2, 2), twice = AXON_SHAPE (0, 0, 1, 2);
  AxonPrePostProcessor *p;
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    p = steps_for (&s, "NCHW");
    axon_pre_post_processor_set_tensor_layout (p, 0, wrong[i]);
    assert_refused (p, "expected one capital letter");
  }
  p = steps_for (&s, "NCHW");
  axon_pre_post_processor_permute (p, 0, &twice);
  assert_refused (p, "each of 4 dimensions once");
  p = steps_for (&s, "NCHW");
  axon_pre_post_processor_set_tensor_shape (p, 0, &s);
  axon_pre_post_processor_set_tensor_size (p, 0, 2, 2);
  assert_refused (p, "shape or its size, not both");
}

/* I2, P20: what was set for outputs is part of the model, and of its exports. */
static void
outputs_are_converted_too_and_keep_their_names (void)
{
  AxonShape s = AXON_SHAPE (1, 2, 1, 3);
  g_autoptr (AxonModel) plain = model_of (&s);
  g_autoptr (AxonPrePostProcessor) p = axon_pre_post_processor_new (plain);
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_F32, &s, NULL);
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) y = NULL;
  for (guint i = 0; i < 6; i++)
    ((gfloat *)axon_tensor_get_data (x))[i] = (gfloat)i * 100;
  axon_pre_post_processor_set_output_model_layout (p, 0, "NCHW");
  axon_pre_post_processor_set_output_tensor_layout (p, 0, "NHWC");
  axon_pre_post_processor_clamp_output (p, 0, 0, 300);
  axon_pre_post_processor_set_output_tensor_type (p, 0, AXON_DTYPE_U8);
  model = axon_pre_post_processor_build (p, NULL);
  g_assert_cmpstr (axon_model_get_output_name (model, 0), ==,
                   axon_model_get_output_name (plain, 0));
  g_assert_cmpint (axon_model_get_output_dtype (model, 0), ==, AXON_DTYPE_U8);
  y = run (p, &x, 1);
  g_assert_cmpint (axon_tensor_get_dim (y, 3), ==, 2);
  for (guint i = 0; i < 6; i++)
    g_assert_cmpfloat (axon_tensor_get_value (y, i), ==, MIN (255, (i % 2 * 3 + i / 2) * 100));
}

static void
steps_run_in_the_order_of_the_calls (void)
{
  AxonShape s = AXON_SHAPE (1, 1, 1, 1);
  const gfloat ten[] = { 10 }, two[] = { 2 };
  for (guint order = 0; order < 2; order++) {
    g_autoptr (AxonPrePostProcessor) p = steps_for (&s, "NCHW");
    g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_F32, &s, NULL);
    g_autoptr (AxonTensor) y = NULL;
    *(gfloat *)axon_tensor_get_data (x) = 50;
    if (order == 0)
      axon_pre_post_processor_mean (p, 0, ten, 1);
    axon_pre_post_processor_scale (p, 0, two, 1);
    if (order == 1)
      axon_pre_post_processor_mean (p, 0, ten, 1);
    y = run (p, &x, 1);
    g_assert_cmpfloat (axon_tensor_get_value (y, 0), ==, order == 0 ? 20 : 15);
  }
}

/* value -> -value */
static gboolean
negate (AxonModel *model, const gchar *value, gchar **result, gpointer user_data, GError **error)
{
  AxonValue *in = axon_model_find_value (model, value);
  AxonValue *out = axon_model_add_value (model, NULL);
  AxonNode *node =
      axon_model_add_node (model, axon_builtin_op (NULL, "Neg", 13), 13, "mine", &in, 1, &out, 1);
  ++*(gint *)user_data;
  *result = g_strdup (out->name);
  return axon_model_infer_node (model, node, error);
}

static gboolean
forget_the_result (G_GNUC_UNUSED AxonModel *model, G_GNUC_UNUSED const gchar *value, gchar **result,
                   G_GNUC_UNUSED gpointer user_data, G_GNUC_UNUSED GError **error)
{
  *result = g_strdup ("nowhere");
  return TRUE;
}

static void
steps_of_ones_own_add_nodes (void)
{
  static const gfloat values[] = { -1, 2, -3 }, expected[] = { -1, 0, -3 };
  AxonShape s = AXON_SHAPE (1, 3);
  g_autoptr (AxonPrePostProcessor) p = steps_for (&s, NULL);
  AxonPrePostProcessor *wrong = steps_for (&s, NULL);
  g_autoptr (AxonTensor) x = test_tensor (&s, values);
  g_autoptr (AxonTensor) want = test_tensor (&s, expected);
  g_autoptr (AxonTensor) y = NULL;
  g_autofree gchar *plan = NULL;
  gint calls = 0;
  axon_pre_post_processor_custom (p, 0, negate, &calls, NULL);
  axon_pre_post_processor_custom_output (p, 0, negate, &calls, NULL);
  y = run (p, &x, 1);
  plan = axon_pre_post_processor_to_string (p);
  g_assert_cmpfloat (test_largest_difference (want, y), ==, 0);
  g_assert_cmpint (calls, ==, 2);
  g_assert_nonnull (strstr (plan, "custom"));
  axon_pre_post_processor_custom (wrong, 0, forget_the_result, NULL, NULL);
  assert_refused (wrong, "\"nowhere\"");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/prepost/" #name, name)
  ADD (mean_and_scale_work_for_all_and_per_channel);
  ADD (mean_and_scale_say_what_they_need);
  ADD (what_still_differs_is_converted_implicitly);
  ADD (nothing_said_adds_nothing);
  ADD (names_of_inputs_are_kept);
  ADD (ports_are_found_by_name_and_misses_are_named);
  ADD (layouts_are_converted_with_leading_dimensions_and_by_numbers);
  ADD (a_batch_and_channels_in_front_keep_their_size_in_another_layout);
  ADD (wrong_layouts_are_refused);
  ADD (outputs_are_converted_too_and_keep_their_names);
  ADD (steps_run_in_the_order_of_the_calls);
  ADD (steps_of_ones_own_add_nodes);
  return g_test_run ();
}
