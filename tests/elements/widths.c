/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer's pictures of widths of their own: max-width. */
#include "axontest.h"

#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>
#include <glib/gstdio.h>

#define HEIGHT 8 /* of the model's input */
#define CAPS "video/x-raw,format=RGB,width=400,height=40,framerate=30/1"

/* A file with a model that gives pictures of any width back. */
static gchar *
echo_model (void)
{
  TestModel t = test_model_new (17);
  AxonShape in = AXON_SHAPE (-1, 3, HEIGHT, -1);
  AxonNode *node = test_model_node (&t, "Relu", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &in));
  g_autoptr (AxonModel) model = test_model_finish (&t, node->outputs[0]);
  return test_model_write (model);
}

/* A frame whose columns are as bright as their number, with objects of these widths, 20 high. */
static GstBuffer *
frame_with_objects (const gdouble *widths, guint n)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 400 * 40 * 3, NULL);
  GstNnResultMeta *result = gst_buffer_add_nn_result_meta (buffer, 400, 40);
  GstMapInfo map;
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = (guint8)MIN (i / 3 % 400, 255);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = 0;
  for (guint i = 0; i < n; i++) {
    GstNnObject *o = gst_nn_result_meta_add_object (result, 0);
    gst_nn_object_set_box (o, 0, 0, widths[i], 20);
    gst_nn_object_set_class (o, 0, "line", 0.9);
    gst_nn_object_set_origin (o, "first", 0);
  }
  return buffer;
}

/* What was inferred on object @id. */
static const GstNnTensorMeta *
tensors_of (GstBuffer *buffer, guint id)
{
  gpointer state = NULL;
  GstMeta *meta;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state, GST_NN_TENSOR_META_API_TYPE)))
    if (((GstNnTensorMeta *)meta)->object_id == id)
      return (GstNnTensorMeta *)meta;
  return NULL;
}

static GstBuffer *
infer (const gchar *properties, GstBuffer *buffer)
{
  g_autofree gchar *model = echo_model ();
  g_autofree gchar *launch =
      g_strdup_printf ("nninfer model=%s color=rgb mean=<0> scale=<1> %s", model, properties);
  GstHarness *h = gst_harness_new_parse (launch);
  gst_harness_set_live (h, FALSE);
  gst_harness_set_src_caps_str (h, CAPS);
  buffer = gst_harness_push_and_pull (h, buffer);
  g_assert_nonnull (buffer);
  gst_harness_teardown (h);
  g_unlink (model);
  return buffer;
}

#define LINES "inference-region=roi-list resize=top-left pad-value=100 width=16 max-width=100 "

/* The picture of an object that began at 0 and was @width wide. */
static void
assert_picture (const GstNnTensorMeta *meta, gint64 tensor_width, gdouble width)
{
  const AxonTensor *t;
  gdouble shown = MIN (width * HEIGHT / 20, tensor_width);
  g_assert_nonnull (meta);
  t = g_ptr_array_index (meta->tensors, 0);
  g_assert_cmpint (axon_tensor_get_shape (t)->dims[3], ==, tensor_width);
  g_assert_cmpint (meta->geometry.width, ==, tensor_width);
  for (gint64 x = 0; x < tensor_width; x++) {
    gdouble expected = x < shown ? MIN (((gdouble)x + 0.5) * width / shown - 0.5, 255) : 100;
    if (x < shown - 1 || x > shown)
      g_assert_cmpfloat_with_epsilon (axon_tensor_get_value (t, (gsize)x), MAX (expected, 0), 1.5);
  }
}

static void
each_object_has_the_width_of_its_proportions (gconstpointer device)
{
  /* Of 8 rows: 12, 40, 42 and 140 columns, at least 16 and at most 100, in four steps an octave. */
  static const gdouble widths[] = { 30, 100, 105, 350, 100 };
  static const gint64 expected[] = { 16, 40, 48, 100, 40 };
  g_autofree gchar *properties = g_strdup_printf (LINES "device=\"%s\"", (const gchar *)device);
  GstBuffer *buffer = infer (properties, frame_with_objects (widths, G_N_ELEMENTS (widths)));
  for (guint i = 0; i < G_N_ELEMENTS (widths); i++)
    assert_picture (tensors_of (buffer, i + 1), expected[i], widths[i]);
  gst_buffer_unref (buffer);
}

static void
a_frame_without_objects_has_the_width_of_its_own_proportions (void)
{
  GstBuffer *buffer = infer ("resize=stretch width=16 max-width=400", frame_with_objects (NULL, 0));
  const GstNnTensorMeta *meta = tensors_of (buffer, 0);
  g_assert_nonnull (meta);
  g_assert_cmpint (axon_tensor_get_shape (meta->tensors->pdata[0])->dims[3], ==, 80);
  gst_buffer_unref (buffer);
}

static void
without_max_width_all_have_one_width (void)
{
  static const gdouble widths[] = { 30, 100 };
  GstBuffer *buffer = infer ("inference-region=roi-list resize=top-left pad-value=100 width=64",
                             frame_with_objects (widths, G_N_ELEMENTS (widths)));
  for (guint i = 0; i < G_N_ELEMENTS (widths); i++)
    g_assert_cmpint (axon_tensor_get_shape (tensors_of (buffer, i + 1)->tensors->pdata[0])->dims[3],
                     ==, 64);
  gst_buffer_unref (buffer);
}

static void
a_box_without_height_does_no_harm (void)
{
  static const gdouble widths[] = { 0, 1e-9, 1e9 };
  gst_buffer_unref (infer (LINES, frame_with_objects (widths, G_N_ELEMENTS (widths))));
}

int
main (int argc, char **argv)
{
  static const gchar *const devices[] = { "CPU", "TEMPLATE", "BATCH:CPU(2)" };
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (devices); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/widths/each_object_has_the_width_of_its_proportions/%s", devices[i]);
    g_test_add_data_func (path, devices[i], each_object_has_the_width_of_its_proportions);
  }
#define ADD(name) g_test_add_func ("/widths/" #name, name)
  ADD (a_frame_without_objects_has_the_width_of_its_own_proportions);
  ADD (without_max_width_all_have_one_width);
  ADD (a_box_without_height_does_no_harm);
  return g_test_run ();
}
