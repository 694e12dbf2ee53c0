/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoders of classes and of vectors that are known from a gallery, as those of whole.c are tested.
 */
#include "wholesupport.h"

#include <glib/gstdio.h>
#include <gst/check/gstharness.h>
#include <math.h>
#include <string.h>

static void
every_head_says_an_attribute_of_its_name (void)
{
  const Setting s = { "nndecode decoder=classification labels=calm,glad,sad top-k=2 "
                      "threshold=0.2",
                      8,
                      8,
                      8,
                      8,
                      AXON_IMAGE_FIT_STRETCH,
                      { "age", "gender", "mood" } };
  AxonShape age = AXON_SHAPE (1, 1, 1, 1), gender = AXON_SHAPE (1, 2, 1, 1);
  AxonShape mood = AXON_SHAPE (1, 3);
  AxonTensor *t[] = { test_tensor (&age, (gfloat[]){ 33.25f }),
                      test_tensor (&gender, (gfloat[]){ .9f, .1f }),
                      test_tensor (&mood, (gfloat[]){ 1, 9, 9 }) };
  GstBuffer *out = decode (&s, t, 3);
  const GstNnObject *frame = frame_of (out);
  g_assert_cmpuint (gst_nn_object_get_n_attributes (frame), ==, 4);
  assert_attribute (frame, 0, "age", "33.25", -1, 1);
  assert_attribute (frame, 1, "gender", NULL, 0, .9);
  assert_attribute (frame, 2, "mood", "glad", 1, .4999);
  assert_attribute (frame, 3, "mood", "sad", 2, .4999);
  gst_buffer_unref (out);
  for (guint i = 0; i < 3; i++)
    axon_tensor_unref (t[i]);
}

/* A number has none. */
static void
heads_share_out_the_labels (void)
{
  const Setting s = { "nndecode decoder=classification labels=woman,man,calm,glad,sad top-k=1",
                      8,
                      8,
                      8,
                      8,
                      AXON_IMAGE_FIT_STRETCH,
                      { "age", "gender", "mood" } };
  AxonShape age = AXON_SHAPE (1, 1), gender = AXON_SHAPE (1, 2), mood = AXON_SHAPE (1, 3);
  AxonTensor *t[] = { test_tensor (&age, (gfloat[]){ 8 }),
                      test_tensor (&gender, (gfloat[]){ .1f, .9f }),
                      test_tensor (&mood, (gfloat[]){ 0, 0, 1 }) };
  GstBuffer *out = decode (&s, t, 3);
  assert_attribute (frame_of (out), 0, "age", "8", -1, 1);
  assert_attribute (frame_of (out), 1, "gender", "man", 1, .9);
  assert_attribute (frame_of (out), 2, "mood", "sad", 2, 1);
  gst_buffer_unref (out);
  for (guint i = 0; i < 3; i++)
    axon_tensor_unref (t[i]);
}

/* Three logits by each activation, and what is between 0 and 1 already. */
static void
scores_are_what_the_activation_makes_of_them (void)
{
  static const struct {
    const gchar *activation;
    gfloat values[3];
    guint n;
    gdouble best;
  } cases[] = {
    { "activation=sigmoid", { 2, 1, -1 }, 2, .8808 },
    { "activation=softmax", { 0, 1, .5f }, 1, .5065 },
    { "activation=none", { 3, 1, 0 }, 2, 3 },
    { "", { 2, 1, -1 }, 1, .7054 },
    { "", { .9f, .8f, .1f }, 2, .9 },
    { "", { NAN, NAN, NAN }, 0, 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *launch = g_strdup_printf ("nndecode threshold=0.5 %s", cases[i].activation);
    const Setting s = { launch, 8, 8, 8, 8, AXON_IMAGE_FIT_STRETCH, { NULL } };
    AxonShape shape = AXON_SHAPE (1, 3);
    g_autoptr (AxonTensor) t = test_tensor (&shape, cases[i].values);
    GstBuffer *out = decode (&s, &t, 1);
    g_assert_cmpuint (gst_nn_object_get_n_attributes (frame_of (out)), ==, cases[i].n);
    if (cases[i].n > 0)
      assert_attribute (frame_of (out), 0, "classification", NULL, 0 + (i == 1), cases[i].best);
    gst_buffer_unref (out);
  }
}

/* A person, the same mirrored, another: who is in a gallery of the first and the last. */
static void
a_person_is_known_from_the_gallery (void)
{
  static const gchar *const names[] = { "Ann", "Ann", "Bob" };
  static const gdouble cosines[] = { 1, .99, 1 };
  g_autofree gchar *path = g_build_filename (g_get_tmp_dir (), "gallery-XXXXXX", NULL);
  g_autofree gchar *launch = NULL;
  g_autoptr (GString) text = g_string_new ("# known\n\n");
  gint fd = g_mkstemp (path);
  g_assert_cmpint (fd, >=, 0);
  g_close (fd, NULL);
  for (gint64 i = 0; i < 3; i += 2) {
    g_autoptr (AxonTensor) t =
        load ("families/osnet-x025-reid-256x128/test_data_set_0/output_0.pb", i, 1);
    if (t == NULL)
      return;
    g_string_append (text, names[i]);
    for (gsize k = 0; k < axon_tensor_get_numel (t); k++)
      g_string_append_printf (text, ",%.9g", axon_tensor_get_value (t, k));
    g_string_append_c (text, '\n');
  }
  g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
  launch = g_strdup_printf ("nndecode decoder=embedding gallery=%s", path);
  for (gint64 i = 0; i < 3; i++) {
    const Setting s = { launch, 128, 256, 128, 256, AXON_IMAGE_FIT_STRETCH, { NULL } };
    g_autoptr (AxonTensor) t =
        load ("families/osnet-x025-reid-256x128/test_data_set_0/output_0.pb", i, 1);
    GstBuffer *out = decode (&s, &t, 1);
    const GstNnAttribute *a = gst_nn_object_find_attribute (frame_of (out), "identity");
    const gfloat *v;
    gdouble sum = 0;
    gsize n;
    g_assert_nonnull (a);
    g_assert_cmpstr (gst_nn_attribute_get_value (a), ==, names[i]);
    g_assert_cmpfloat_with_epsilon (gst_nn_attribute_get_score (a), cosines[i], 2e-3);
    v = gst_nn_object_get_embedding (frame_of (out), &n);
    g_assert_cmpuint (n, ==, 512);
    for (gsize k = 0; k < n; k++)
      sum += (gdouble)v[k] * (gdouble)v[k];
    g_assert_cmpfloat_with_epsilon (sum, 1, 1e-5);
    gst_buffer_unref (out);
  }
  g_unlink (path);
}

static void
push_refused (GstElement *element, AxonTensor *tensor)
{
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  GstBuffer *buffer = gst_buffer_new ();
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=8,height=8,framerate=30/1");
  g_ptr_array_add (gst_buffer_add_nn_tensor_meta (buffer)->tensors, axon_tensor_ref (tensor));
  g_assert_cmpint (gst_harness_push (h, buffer), !=, GST_FLOW_OK);
  gst_harness_teardown (h);
}

static void
a_gallery_that_does_not_fit_is_an_error_that_names_it (void)
{
  static const struct {
    const gchar *text, *said;
  } cases[] = { { "", "has no vector" },   { "a,1,2\nb,1\n", "line 2" },
                { "a,0,0\n", "line 1" },   { "a,1,x\n", "line 1" },
                { "a,1,inf\n", "line 1" }, { "a,1,2,3\n", "gallery of vectors of 3" } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path = g_build_filename (g_get_tmp_dir (), "gallery-XXXXXX", NULL);
    g_autoptr (GstElement) element =
        gst_object_ref_sink (gst_element_factory_make ("nndecode", NULL));
    g_autoptr (GstBus) bus = gst_bus_new ();
    AxonShape shape = AXON_SHAPE (1, 2);
    g_autoptr (AxonTensor) t = test_tensor (&shape, (gfloat[]){ 3, 4 });
    g_autoptr (GError) error = NULL;
    GstMessage *message;
    gint fd = g_mkstemp (path);
    g_assert_cmpint (fd, >=, 0);
    g_close (fd, NULL);
    g_assert_true (g_file_set_contents (path, cases[i].text, -1, NULL));
    gst_util_set_object_arg (G_OBJECT (element), "decoder", "embedding");
    g_object_set (element, "gallery", path, NULL);
    gst_element_set_bus (element, bus);
    if (gst_element_set_state (element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE)
      push_refused (element, t);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    g_assert_nonnull (message);
    gst_message_parse_error (message, &error, NULL);
    if (strstr (error->message, cases[i].said) == NULL)
      g_error ("expected \"%s\", got \"%s\"", cases[i].said, error->message);
    gst_message_unref (message);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
    g_unlink (path);
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/wholeclasses/" #name, name)
  ADD (every_head_says_an_attribute_of_its_name);
  ADD (heads_share_out_the_labels);
  ADD (scores_are_what_the_activation_makes_of_them);
  ADD (a_person_is_known_from_the_gallery);
  ADD (a_gallery_that_does_not_fit_is_an_error_that_names_it);
  return g_test_run ();
}
