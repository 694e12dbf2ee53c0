/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AxonPrePostProcessor: formats of colours and planes. */
#include "prepost.h"

#include <math.h>

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

static void
only_one_to_sixteen_channels_can_be_reversed (void)
{
  static const struct {
    AxonShape shape;
    const gchar *layout;
    gboolean ok;
  } cases[] = {
    { { 4, { 1, 1, 1, 1 } }, "NCHW", TRUE },   { { 4, { 1, 16, 1, 1 } }, "NCHW", TRUE },
    { { 4, { 1, 17, 1, 1 } }, "NCHW", FALSE }, { { 4, { 1, -1, 1, 1 } }, "NCHW", FALSE },
    { { 4, { 1, 0, 1, 1 } }, "NCHW", FALSE },  { { 3, { 1, 3, 3 } }, "NHW", FALSE }
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    AxonPrePostProcessor *p = steps_for (&cases[i].shape, cases[i].layout);
    axon_pre_post_processor_reverse_channels (p, 0);
    if (cases[i].ok) {
      g_autoptr (AxonModel) model = axon_pre_post_processor_build (p, NULL);
      g_assert_nonnull (model);
      g_object_unref (p);
    } else {
      assert_refused (p, "reverse_channels: the layout must have C, and a known size of it");
    }
  }
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
#define ADD(name) g_test_add_func ("/prepostcolors/" #name, name)
  ADD (yuv_in_one_and_several_planes_becomes_rgb_and_bgr);
  ADD (planes_become_inputs_with_names);
  ADD (packed_colours_are_reordered_and_turned_gray);
  ADD (colours_that_cannot_be_converted_are_named);
  ADD (channels_are_reversed);
  ADD (only_one_to_sixteen_channels_can_be_reversed);
  ADD (pictures_that_a_model_gives_change_colours_too);
  return g_test_run ();
}
