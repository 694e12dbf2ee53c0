/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AxonPrePostProcessor: resizing, cropping and padding. */
#include "prepost.h"

#include <math.h>

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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/prepostsizes/" #name, name)
  ADD (pictures_of_any_size_are_resized_to_the_models);
  ADD (resize_says_what_it_needs);
  ADD (crop_pad_and_clamp);
  ADD (crop_and_pad_want_a_number_per_dimension);
  ADD (resizing_as_pillow_does_averages_what_shrinks);
  ADD (resizing_as_pillow_does_needs_a_known_size);
  ADD (a_border_can_mirror_the_edge_too);
  return g_test_run ();
}
