/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels of device CPU that read pixels where data says, against the reference. */
#include "axontest.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 2e-5

static const struct {
  AxonShape x, w;
  gint64 stride, pad, dilation, offset_groups, group;
  gboolean has_bias, has_mask;
} deformed[] = {
  { { 4, { 1, 3, 7, 9 } }, { 4, { 5, 3, 3, 3 } }, 1, 1, 1, 1, 1, TRUE, FALSE },
  { { 4, { 2, 6, 8, 7 } }, { 4, { 4, 6, 3, 2 } }, 2, 1, 1, 2, 1, FALSE, TRUE },
  { { 4, { 1, 33, 5, 5 } }, { 4, { 17, 33, 1, 1 } }, 1, 0, 1, 1, 1, TRUE, TRUE },
  { { 4, { 1, 4, 9, 9 } }, { 4, { 4, 4, 3, 3 } }, 1, 2, 2, 4, 1, FALSE, FALSE },
  { { 4, { 1, 4, 9, 9 } }, { 4, { 4, 2, 3, 3 } }, 1, 1, 1, 1, 2, FALSE, FALSE },
};

static gint64
length_of (guint k, gint d)
{
  gint64 kernel = (deformed[k].w.dims[d] - 1) * deformed[k].dilation + 1;
  return (deformed[k].x.dims[d] + 2 * deformed[k].pad - kernel) / deformed[k].stride + 1;
}

static void
deformed_convolutions_agree (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (deformed); k++) {
    gint64 frames = deformed[k].x.dims[0], h = length_of (k, 2), w = length_of (k, 3);
    gint64 taps = deformed[k].offset_groups * deformed[k].w.dims[2] * deformed[k].w.dims[3];
    AxonShape offset = AXON_SHAPE (frames, 2 * taps, h, w), mask = AXON_SHAPE (frames, taps, h, w);
    AxonShape bias = AXON_SHAPE (deformed[k].w.dims[0]);
    TestModel t = test_model_new (19);
    AxonValue *in[] = { test_model_input (&t, "x", AXON_DTYPE_F32, &deformed[k].x),
                        test_model_random (&t, &deformed[k].w, 1),
                        test_model_random (&t, &offset, 2),
                        deformed[k].has_bias ? test_model_random (&t, &bias, 3) : NULL,
                        deformed[k].has_mask ? test_model_random (&t, &mask, 4) : NULL };
    AxonNode *n = test_model_node_of (&t, NULL, "DeformConv", in, 5, 1);
    gint64 s = deformed[k].stride, p = deformed[k].pad, d = deformed[k].dilation;
    g_autoptr (AxonTensor) input = test_random (&deformed[k].x, k);
    g_autoptr (AxonModel) model = NULL;
    axon_node_set_ints (n, "strides", (gint64[]){ s, s }, 2);
    axon_node_set_ints (n, "pads", (gint64[]){ p, p, p, p }, 4);
    axon_node_set_ints (n, "dilations", (gint64[]){ d, d }, 2);
    axon_node_set_int (n, "offset_group", deformed[k].offset_groups);
    axon_node_set_int (n, "group", deformed[k].group);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

static AxonNode *
add_align (TestModel *t, const AxonShape *x, const gfloat *rois, gint64 n, const gint64 *batch)
{
  AxonShape shape = AXON_SHAPE (n, 4);
  AxonNode *node =
      test_model_node (t, "RoiAlign", 3, test_model_input (t, "x", AXON_DTYPE_F32, x),
                       test_model_constant (t, &shape, rois), test_model_ints (t, batch, (guint)n));
  axon_node_set_int (node, "output_height", 3);
  axon_node_set_int (node, "output_width", 4);
  axon_node_set_float (node, "spatial_scale", 0.5);
  return node;
}

/* Within, of no size, partly and wholly outside, turned round. */
static const gfloat regions[] = { 1,  2, 9,   12,  4,   4,   4, 4, -6, -3,
                                  30, 8, 100, 100, 120, 130, 9, 9, 3,  2 };
static const gint64 frames[] = { 0, 1, -1, 0, 1 };

static void
regions_agree_by_averages_and_maxima (void)
{
  static const gchar *const modes[] = { "avg", "max" };
  static const gchar *const coordinates[] = { "half_pixel", "output_half_pixel" };
  static const AxonShape shapes[] = { { 4, { 2, 3, 9, 7 } }, { 4, { 2, 33, 5, 8 } } };
  for (guint i = 0; i < 16; i++) {
    TestModel t = test_model_new (16);
    AxonNode *n = add_align (&t, &shapes[i / 8], regions, 5, frames);
    g_autoptr (AxonTensor) input = test_random (&shapes[i / 8], i);
    g_autoptr (AxonModel) model = NULL;
    axon_node_set_string (n, "mode", modes[i % 2]);
    axon_node_set_string (n, "coordinate_transformation_mode", coordinates[i / 2 % 2]);
    axon_node_set_int (n, "sampling_ratio", i & 4 ? 2 : 0);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

static void
a_region_of_no_frame_is_refused (void)
{
  static const gint64 wrong[] = { 0, 1, 7, 0, 0 };
  AxonShape shape = AXON_SHAPE (2, 3, 9, 7);
  TestModel t = test_model_new (16);
  AxonNode *n = add_align (&t, &shape, regions, 5, wrong);
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (AxonTensor) input = test_random (&shape, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonTensor) y = test_try_run (model, test_device (), NULL, input, &error);
  g_assert_null (y);
  g_assert_error (error, AXON_ERROR, AXON_ERROR_MODEL);
  g_assert_nonnull (strstr (error->message, "index 7 is outside dimension 2"));
}

static const struct {
  AxonShape x;
  gint64 kernel, stride, pad, dilation;
} windows[] = {
  { { 4, { 2, 3, 8, 10 } }, 2, 2, 0, 1 },
  { { 4, { 1, 5, 9, 7 } }, 3, 1, 1, 1 },
  { { 4, { 2, 2, 11, 33 } }, 3, 2, 1, 2 },
};

/* Coarse numbers, some of which are equal, and one that is none. */
static AxonTensor *
pooled_values (const AxonShape *shape)
{
  AxonTensor *x = test_random (shape, 5);
  gfloat *data = axon_tensor_get_data (x);
  for (gsize i = 0; i < axon_tensor_get_numel (x); i++)
    data[i] = roundf (data[i] * 4);
  data[7] = NAN;
  data[1] = data[2] = data[11] = -INFINITY;
  return x;
}

static AxonNode *
index_pool (TestModel *t, guint k)
{
  const gint64 kernel[] = { windows[k].kernel, windows[k].kernel }, pad = windows[k].pad;
  const gint64 strides[] = { windows[k].stride, windows[k].stride };
  const gint64 dilations[] = { windows[k].dilation, windows[k].dilation };
  AxonValue *x = test_model_input (t, "x", AXON_DTYPE_F32, &windows[k].x);
  AxonNode *n = test_model_node_of (t, NULL, "MaxPool", &x, 1, 2);
  axon_node_set_ints (n, "kernel_shape", kernel, 2);
  axon_node_set_ints (n, "strides", strides, 2);
  axon_node_set_ints (n, "dilations", dilations, 2);
  axon_node_set_ints (n, "pads", (gint64[]){ pad, pad, pad, pad }, 4);
  return n;
}

static void
maxima_and_where_they_were_agree (void)
{
  for (guint i = 0; i < 2 * G_N_ELEMENTS (windows); i++) {
    TestModel t = test_model_new (12);
    AxonNode *n = index_pool (&t, i / 2);
    AxonValue *y = n->outputs[i % 2];
    g_autoptr (AxonTensor) x = pooled_values (&windows[i / 2].x);
    g_autoptr (AxonModel) model = NULL;
    if (i % 2 == 1) {
      n = test_model_node (&t, "Cast", 1, y);
      axon_node_set_int (n, "to", AXON_DTYPE_F64);
      y = n->outputs[0];
    }
    model = test_model_finish (&t, y);
    test_compare_devices (model, x, 0);
  }
}

/* Also of several maxima in one place, and in a plane that is not their own. */
static void
maxima_go_back_to_where_they_were (void)
{
  static const gint64 places[] = { 3, 3, 8, 10, 17, 12, 13, 16, 0, 19, 20, 31 };
  const gint64 two[] = { 2, 2 };
  AxonShape shape = AXON_SHAPE (1, 2, 2, 3);
  for (guint i = 0; i < 2; i++) {
    TestModel t = test_model_new (12);
    AxonNode *n = i == 0 ? index_pool (&t, 0) : NULL;
    AxonValue *in[2] = { n ? n->outputs[0] : test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                         n ? n->outputs[1] : NULL };
    g_autoptr (AxonTensor) x = pooled_values (n ? &windows[0].x : &shape);
    g_autoptr (AxonModel) model = NULL;
    if (n == NULL) {
      n = test_model_node (&t, "Reshape", 2, test_model_ints (&t, places, 12),
                           test_model_ints (&t, shape.dims, 4));
      in[1] = n->outputs[0];
    }
    n = test_model_node_of (&t, NULL, "MaxUnpool", in, 2, 1);
    axon_node_set_ints (n, "kernel_shape", two, 2);
    axon_node_set_ints (n, "strides", two, 2);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, x, 0);
  }
}

#define ADD(name) g_test_add_func ("/regions/" #name, name)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (deformed_convolutions_agree);
  ADD (regions_agree_by_averages_and_maxima);
  ADD (a_region_of_no_frame_is_refused);
  ADD (maxima_and_where_they_were_agree);
  ADD (maxima_go_back_to_where_they_were);
  return g_test_run ();
}
