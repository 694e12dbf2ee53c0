/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AxonPrePostProcessor: the rules of preprocessing, and their numbers. */
#include "axontest.h"

#include <math.h>
#include <string.h>

/* x f32 of @shape -> Relu -> y; layout said as @layout */
static AxonModel *
model_of (const AxonShape *shape)
{
  TestModel t = test_model_new (13);
  AxonNode *n = test_model_node (&t, "Relu", 1, test_model_input (&t, "x", AXON_DTYPE_F32, shape));
  return test_model_finish (&t, n->outputs[0]);
}

static AxonPrePostProcessor *
steps_for (const AxonShape *shape, const gchar *model_layout)
{
  g_autoptr (AxonModel) model = model_of (shape);
  AxonPrePostProcessor *p = axon_pre_post_processor_new (model);
  if (model_layout != NULL)
    axon_pre_post_processor_set_model_layout (p, 0, model_layout);
  return p;
}

/* Builds, runs on TEMPLATE and CPU, returns the output. */
static AxonTensor *
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

static void
assert_refused (AxonPrePostProcessor *p, const gchar *why)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_pre_post_processor_build (p, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  if (strstr (error->message, why) == NULL)
    g_error ("expected \"%s\" in \"%s\"", why, error->message);
  g_object_unref (p);
}

static AxonTensor *
bytes (const AxonShape *shape, guint32 seed)
{
  AxonTensor *t = axon_tensor_new (AXON_DTYPE_U8, shape, NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  for (gsize i = 0; i < axon_tensor_get_numel (t); i++)
    ((guint8 *)axon_tensor_get_data (t))[i] = (guint8)g_rand_int (rand);
  return t;
}

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

static gdouble
clip (gdouble v)
{
  return CLAMP (v, 0, 255);
}

/* BT.601, limited range. */
static void
expected_rgb (gdouble y, gdouble u, gdouble v, gdouble *rgb)
{
  gdouble c = 1.164 * (y - 16), d = u - 128, e = v - 128;
  rgb[0] = clip (c + 1.596 * e);
  rgb[1] = clip (c - 0.391 * d - 0.813 * e);
  rgb[2] = clip (c + 2.018 * d);
}

static void
check_yuv (AxonColorFormat format, AxonColorFormat to, AxonTensor **planes, guint n,
           const guint8 *y, const guint8 *u, const guint8 *v, guint chroma_step)
{
  AxonShape s = AXON_SHAPE (1, 3, 4, 6);
  g_autoptr (AxonPrePostProcessor) p = steps_for (&s, "NCHW");
  g_autoptr (AxonTensor) out = NULL;
  axon_pre_post_processor_set_tensor_type (p, 0, AXON_DTYPE_U8);
  axon_pre_post_processor_set_tensor_color (p, 0, format);
  axon_pre_post_processor_set_tensor_size (p, 0, 4, 6);
  axon_pre_post_processor_convert_color (p, 0, to);
  out = run (p, planes, n);
  for (guint row = 0; row < 4; row++)
    for (guint col = 0; col < 6; col++) {
      guint chroma = (row / 2 * 3 + col / 2) * chroma_step;
      gdouble rgb[3];
      expected_rgb (y[row * 6 + col], u[chroma], v[chroma], rgb);
      for (guint c = 0; c < 3; c++)
        g_assert_cmpfloat (
            fabs (axon_tensor_get_value (out, (to == AXON_COLOR_FORMAT_BGR ? 2 - c : c) * 24 +
                                                  row * 6 + col) -
                  rgb[c]),
            <=, 0.51);
    }
}

static void
yuv_in_one_and_several_planes_becomes_rgb_and_bgr (void)
{
  AxonShape whole = AXON_SHAPE (1, 6, 6, 1), luma = AXON_SHAPE (1, 4, 6, 1);
  AxonShape pair = AXON_SHAPE (1, 2, 3, 2), half = AXON_SHAPE (1, 2, 3, 1);
  g_autoptr (AxonTensor) single = bytes (&whole, 1);
  g_autoptr (AxonTensor) y = bytes (&luma, 2);
  g_autoptr (AxonTensor) uv = bytes (&pair, 3);
  g_autoptr (AxonTensor) u = bytes (&half, 4);
  g_autoptr (AxonTensor) v = bytes (&half, 5);
  const guint8 *s = axon_tensor_get_data (single), *c = axon_tensor_get_data (uv);
  AxonTensor *two[] = { y, uv }, *three[] = { y, u, v };
  static const AxonColorFormat targets[] = { AXON_COLOR_FORMAT_RGB, AXON_COLOR_FORMAT_BGR };
  for (guint t = 0; t < 2; t++) {
    check_yuv (AXON_COLOR_FORMAT_NV12_SINGLE_PLANE, targets[t], &single, 1, s, s + 24, s + 25, 2);
    check_yuv (AXON_COLOR_FORMAT_I420_SINGLE_PLANE, targets[t], &single, 1, s, s + 24, s + 30, 1);
    check_yuv (AXON_COLOR_FORMAT_NV12_TWO_PLANES, targets[t], two, 2, axon_tensor_get_data (y), c,
               c + 1, 2);
    check_yuv (AXON_COLOR_FORMAT_I420_THREE_PLANES, targets[t], three, 3, axon_tensor_get_data (y),
               axon_tensor_get_data (u), axon_tensor_get_data (v), 1);
  }
}

static void
planes_become_inputs_with_names (void)
{
  AxonShape s = AXON_SHAPE (1, 3, 4, 6);
  g_autoptr (AxonPrePostProcessor) p = steps_for (&s, "NCHW");
  g_autoptr (AxonModel) model = NULL;
  axon_pre_post_processor_set_tensor_type (p, 0, AXON_DTYPE_U8);
  axon_pre_post_processor_set_tensor_color (p, 0, AXON_COLOR_FORMAT_I420_THREE_PLANES);
  axon_pre_post_processor_set_tensor_size (p, 0, 4, 6);
  axon_pre_post_processor_convert_color (p, 0, AXON_COLOR_FORMAT_RGB);
  model = axon_pre_post_processor_build (p, NULL);
  g_assert_cmpstr (axon_model_get_input_name (model, 0), ==, "x/y");
  g_assert_cmpstr (axon_model_get_input_name (model, 1), ==, "x/u");
  g_assert_cmpstr (axon_model_get_input_name (model, 2), ==, "x/v");
}

static void
packed_colours_are_reordered_and_turned_gray (void)
{
  static const struct {
    AxonColorFormat from, to;
    guint channels, order[3];
  } rows[] = { { AXON_COLOR_FORMAT_RGB, AXON_COLOR_FORMAT_BGR, 3, { 2, 1, 0 } },
               { AXON_COLOR_FORMAT_RGBX, AXON_COLOR_FORMAT_RGB, 4, { 0, 1, 2 } },
               { AXON_COLOR_FORMAT_RGBX, AXON_COLOR_FORMAT_BGR, 4, { 2, 1, 0 } },
               { AXON_COLOR_FORMAT_BGRX, AXON_COLOR_FORMAT_RGB, 4, { 2, 1, 0 } } };
  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    AxonShape s = AXON_SHAPE (1, 2, 2, 3), in = AXON_SHAPE (1, 2, 2, rows[r].channels);
    g_autoptr (AxonPrePostProcessor) p = steps_for (&s, "NHWC");
    g_autoptr (AxonTensor) x = bytes (&in, r);
    g_autoptr (AxonTensor) y = NULL;
    axon_pre_post_processor_set_tensor_type (p, 0, AXON_DTYPE_U8);
    axon_pre_post_processor_set_tensor_color (p, 0, rows[r].from);
    axon_pre_post_processor_convert_color (p, 0, rows[r].to);
    y = run (p, &x, 1);
    for (guint i = 0; i < 4; i++)
      for (guint c = 0; c < 3; c++)
        g_assert_cmpfloat (axon_tensor_get_value (y, i * 3 + c), ==,
                           axon_tensor_get_value (x, i * rows[r].channels + rows[r].order[c]));
  }
  {
    AxonShape s = AXON_SHAPE (1, 2, 2, 1), in = AXON_SHAPE (1, 2, 2, 3);
    g_autoptr (AxonPrePostProcessor) p = steps_for (&s, "NHWC");
    g_autoptr (AxonTensor) x = bytes (&in, 9);
    g_autoptr (AxonTensor) y = NULL;
    axon_pre_post_processor_set_tensor_type (p, 0, AXON_DTYPE_U8);
    axon_pre_post_processor_set_tensor_color (p, 0, AXON_COLOR_FORMAT_BGR);
    axon_pre_post_processor_convert_color (p, 0, AXON_COLOR_FORMAT_GRAY);
    y = run (p, &x, 1);
    for (guint i = 0; i < 4; i++) {
      gdouble gray = 0.114 * axon_tensor_get_value (x, 3 * i) +
                     0.587 * axon_tensor_get_value (x, 3 * i + 1) +
                     0.299 * axon_tensor_get_value (x, 3 * i + 2);
      g_assert_cmpfloat (fabs (axon_tensor_get_value (y, i) - gray), <=, 0.51);
    }
  }
}

static void
colours_that_cannot_be_converted_are_named (void)
{
  AxonShape s = AXON_SHAPE (1, 2, 2, 3);
  AxonPrePostProcessor *p = steps_for (&s, "NHWC");
  axon_pre_post_processor_set_tensor_color (p, 0, AXON_COLOR_FORMAT_GRAY);
  axon_pre_post_processor_convert_color (p, 0, AXON_COLOR_FORMAT_RGB);
  assert_refused (p, "Source color format 'GRAY' is not convertible to 'RGB'");
  p = steps_for (&s, "NHWC");
  axon_pre_post_processor_convert_color (p, 0, AXON_COLOR_FORMAT_RGB);
  assert_refused (p, "colour format is not set");
  p = steps_for (&s, "NHWC");
  axon_pre_post_processor_set_tensor_color (p, 0, AXON_COLOR_FORMAT_NV12_TWO_PLANES);
  axon_pre_post_processor_set_tensor_size (p, 0, 2, 2);
  assert_refused (p, "needs convert_color");
}

static void
pictures_of_any_size_are_resized_to_the_models (void)
{
  AxonShape s = AXON_SHAPE (1, 1, 2, 2), in = AXON_SHAPE (1, 4, 4, 1);
  g_autoptr (AxonPrePostProcessor) p = steps_for (&s, "NCHW");
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_U8, &in, NULL);
  g_autoptr (AxonTensor) y = NULL;
  for (guint i = 0; i < 16; i++)
    ((guint8 *)axon_tensor_get_data (x))[i] = (guint8)(i * 10 + (i % 4 == 1));
  axon_pre_post_processor_set_tensor_type (p, 0, AXON_DTYPE_U8);
  axon_pre_post_processor_set_tensor_layout (p, 0, "NHWC");
  axon_pre_post_processor_resize (p, 0, AXON_RESIZE_LINEAR, -1, -1);
  y = run (p, &x, 1);
  /* halves: the mean of each square of four; 8-bit tensors are rounded */
  g_assert_cmpfloat (axon_tensor_get_value (y, 0), ==, rint ((0 + 11 + 40 + 51) / 4.0));
  g_assert_cmpfloat (axon_tensor_get_value (y, 3), ==, rint ((100 + 110 + 140 + 150) / 4.0));
}

static void
resize_says_what_it_needs (void)
{
  AxonShape s = AXON_SHAPE (1, 1, 2, 2), open = AXON_SHAPE (1, 1, -1, -1);
  AxonPrePostProcessor *p = steps_for (&s, NULL);
  axon_pre_post_processor_resize (p, 0, AXON_RESIZE_LINEAR, -1, -1);
  assert_refused (p, "set the tensor's layout");
  p = steps_for (&open, "NCHW");
  axon_pre_post_processor_resize (p, 0, AXON_RESIZE_LINEAR, -1, -1);
  assert_refused (p, "give height and width");
}

static void
crop_pad_and_clamp (void)
{
  AxonShape s = AXON_SHAPE (1, 1, 2, 3), in = AXON_SHAPE (1, 1, 4, 4);
  AxonShape crop_begin = AXON_SHAPE (0, 0, 1, 1), crop_end = AXON_SHAPE (1, 1, -2, 3);
  AxonShape pad_begin = AXON_SHAPE (0, 0, 1, 1), pad_end = AXON_SHAPE (0, 0, 0, 0);
  g_autoptr (AxonPrePostProcessor) p = steps_for (&s, "NCHW");
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_F32, &in, NULL);
  g_autoptr (AxonTensor) y = NULL;
  static const gdouble expected[] = { 7, 7, 7, 7, 5, 5.5 };
  for (guint i = 0; i < 16; i++)
    ((gfloat *)axon_tensor_get_data (x))[i] = (gfloat)i;
  axon_pre_post_processor_set_tensor_shape (p, 0, &in);
  axon_pre_post_processor_crop (p, 0, &crop_begin, &crop_end);
  axon_pre_post_processor_clamp (p, 0, 0, 5.5);
  axon_pre_post_processor_pad (p, 0, &pad_begin, &pad_end, 7, AXON_PAD_CONSTANT);
  y = run (p, &x, 1);
  for (guint i = 0; i < 6; i++)
    g_assert_cmpfloat (axon_tensor_get_value (y, i), ==, expected[i]);
}

static void
crop_and_pad_want_a_number_per_dimension (void)
{
  AxonShape s = AXON_SHAPE (1, 1, 2, 2), two = AXON_SHAPE (0, 0), four = AXON_SHAPE (0, 0, 1, 1);
  AxonPrePostProcessor *p = steps_for (&s, "NCHW");
  axon_pre_post_processor_crop (p, 0, &two, &four);
  assert_refused (p, "expected begin and end with 4 numbers, got 2 and 4");
  p = steps_for (&s, "NCHW");
  axon_pre_post_processor_pad (p, 0, &four, &two, 0, AXON_PAD_EDGE);
  assert_refused (p, "expected begin and end with 4 numbers, got 4 and 2");
  p = steps_for (&s, "NCHW");
  axon_pre_post_processor_clamp (p, 0, 2, 1);
  assert_refused (p, "2 is more than 1");
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

static void
channels_are_reversed (void)
{
  AxonShape s = AXON_SHAPE (1, 3, 1, 2);
  g_autoptr (AxonPrePostProcessor) p = steps_for (&s, "NCHW");
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_F32, &s, NULL);
  g_autoptr (AxonTensor) y = NULL;
  for (guint i = 0; i < 6; i++)
    ((gfloat *)axon_tensor_get_data (x))[i] = (gfloat)i;
  axon_pre_post_processor_reverse_channels (p, 0);
  y = run (p, &x, 1);
  for (guint i = 0; i < 6; i++)
    g_assert_cmpfloat (axon_tensor_get_value (y, i), ==, (2 - i / 2) * 2 + i % 2);
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

/* Numbers of Pillow's precompute_coeffs: each output is a mean over what shrinks. */
static void
resizing_as_pillow_does_averages_what_shrinks (void)
{
  static const gfloat row[] = { 0, 10, 20, 30, 0, 10, 20, 30, 0, 10, 20, 30, 0, 10, 20, 30 };
  static const gfloat linear[] = { 50.0f / 7, 160.0f / 7 };
  AxonShape from = AXON_SHAPE (1, 1, 4, 4), to = AXON_SHAPE (1, 1, 2, 2);
  g_autoptr (AxonTensor) x = test_tensor (&from, row);
  for (guint cubic = 0; cubic < 2; cubic++) {
    g_autoptr (AxonPrePostProcessor) p = steps_for (&to, "NCHW");
    g_autoptr (AxonTensor) y = NULL;
    axon_pre_post_processor_set_tensor_size (p, 0, 4, 4);
    axon_pre_post_processor_resize (
        p, 0, cubic ? AXON_RESIZE_CUBIC_PILLOW : AXON_RESIZE_LINEAR_PILLOW, -1, -1);
    y = run (p, &x, 1);
    for (guint i = 0; i < 4; i++) {
      gdouble value = axon_tensor_get_value (y, i);
      if (!cubic)
        g_assert_cmpfloat (fabs (value - (gdouble)linear[i % 2]), <, 1e-4);
      g_assert_cmpfloat (
          fabs (axon_tensor_get_value (y, i) + axon_tensor_get_value (y, i ^ 1) - 30), <, 1e-4);
    }
  }
  g_autoptr (AxonPrePostProcessor) same = steps_for (&from, "NCHW");
  g_autoptr (AxonTensor) y = NULL;
  axon_pre_post_processor_set_tensor_size (same, 0, 4, 4);
  axon_pre_post_processor_resize (same, 0, AXON_RESIZE_CUBIC_PILLOW, -1, -1);
  y = run (same, &x, 1);
  g_assert_cmpfloat (test_largest_difference (x, y), <, 1e-5);
}

static void
resizing_as_pillow_does_needs_a_known_size (void)
{
  AxonShape s = AXON_SHAPE (1, 1, 2, 2);
  AxonPrePostProcessor *p = steps_for (&s, "NCHW");
  axon_pre_post_processor_resize (p, 0, AXON_RESIZE_LINEAR_PILLOW, -1, -1);
  assert_refused (p, "must be known");
}

static void
a_border_can_mirror_the_edge_too (void)
{
  static const gfloat values[] = { 1, 2, 3 }, expected[] = { 2, 1, 1, 2, 3, 3 };
  AxonShape small = AXON_SHAPE (1, 3), large = AXON_SHAPE (1, 6);
  AxonShape begin = AXON_SHAPE (0, 2), end = AXON_SHAPE (0, 1), much = AXON_SHAPE (0, 4);
  g_autoptr (AxonPrePostProcessor) p = steps_for (&large, NULL);
  AxonPrePostProcessor *wrong = steps_for (&large, NULL);
  g_autoptr (AxonTensor) x = test_tensor (&small, values);
  g_autoptr (AxonTensor) want = test_tensor (&large, expected);
  g_autoptr (AxonTensor) y = NULL;
  axon_pre_post_processor_set_tensor_shape (p, 0, &small);
  axon_pre_post_processor_pad (p, 0, &begin, &end, 0, AXON_PAD_SYMMETRIC);
  y = run (p, &x, 1);
  g_assert_cmpfloat (test_largest_difference (want, y), ==, 0);
  axon_pre_post_processor_set_tensor_shape (wrong, 0, &small);
  axon_pre_post_processor_pad (wrong, 0, &begin, &much, 0, AXON_PAD_SYMMETRIC);
  assert_refused (wrong, "cannot be mirrored");
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

static void
pictures_that_a_model_gives_change_colours_too (void)
{
  static const gfloat rgb[] = { 1, 2, 3 }, bgr[] = { 3, 2, 1 };
  AxonShape s = AXON_SHAPE (1, 3, 1, 1);
  g_autoptr (AxonPrePostProcessor) p = steps_for (&s, "NCHW");
  g_autoptr (AxonTensor) x = test_tensor (&s, rgb);
  g_autoptr (AxonTensor) want = test_tensor (&s, bgr);
  g_autoptr (AxonTensor) y = NULL;
  axon_pre_post_processor_set_output_model_layout (p, 0, "NCHW");
  axon_pre_post_processor_set_output_model_color (p, 0, AXON_COLOR_FORMAT_RGB);
  axon_pre_post_processor_convert_output_color (p, 0, AXON_COLOR_FORMAT_BGR);
  y = run (p, &x, 1);
  g_assert_cmpfloat (test_largest_difference (want, y), ==, 0);
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
  ADD (yuv_in_one_and_several_planes_becomes_rgb_and_bgr);
  ADD (planes_become_inputs_with_names);
  ADD (packed_colours_are_reordered_and_turned_gray);
  ADD (colours_that_cannot_be_converted_are_named);
  ADD (pictures_of_any_size_are_resized_to_the_models);
  ADD (resize_says_what_it_needs);
  ADD (crop_pad_and_clamp);
  ADD (crop_and_pad_want_a_number_per_dimension);
  ADD (layouts_are_converted_with_leading_dimensions_and_by_numbers);
  ADD (wrong_layouts_are_refused);
  ADD (channels_are_reversed);
  ADD (outputs_are_converted_too_and_keep_their_names);
  ADD (steps_run_in_the_order_of_the_calls);
  ADD (resizing_as_pillow_does_averages_what_shrinks);
  ADD (resizing_as_pillow_does_needs_a_known_size);
  ADD (a_border_can_mirror_the_edge_too);
  ADD (steps_of_ones_own_add_nodes);
  ADD (pictures_that_a_model_gives_change_colours_too);
  return g_test_run ();
}
