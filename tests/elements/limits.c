/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer where the system, or its user, gives it too little. */
#include "nninfer.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

static gint fails_next_thread; /* atomic */

G_MODULE_EXPORT int
pthread_create (pthread_t *thread, const pthread_attr_t *attributes, void *(*run) (void *),
                void *data)
{
  __typeof__ (&pthread_create) real =
      (__typeof__ (&pthread_create))dlsym (RTLD_NEXT, "pthread_create");
  return g_atomic_int_compare_and_exchange (&fails_next_thread, TRUE, FALSE)
             ? EAGAIN
             : real (thread, attributes, run, data);
}

static gchar *
error_of_frame (GstHarness *h, GstBus *bus)
{
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;
  g_assert_cmpint (gst_harness_push (h, frame (h, 0)), ==, GST_FLOW_ERROR);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  gst_message_parse_error (message, &error, NULL);
  gst_element_set_bus (h->element, NULL);
  return g_strdup (error->message);
}

static GstHarness *
harness_without_caps (const gchar *model, const gchar *properties, GstBus *bus)
{
  g_autofree gchar *launch = g_strdup_printf ("nninfer model=%s %s", model, properties);
  GstHarness *h = gst_harness_new_parse (launch);
  gst_element_set_bus (h->element, bus);
  gst_harness_set_live (h, FALSE);
  return h;
}

/* The thread that compiles is the first on the way to PAUSED. */
static void
a_system_without_threads_is_an_error_on_the_bus (void)
{
  g_autofree gchar *model = test_ball_model (), *said = NULL;
  GstElement *element = gst_object_ref_sink (gst_element_factory_make ("nninfer", NULL));
  g_autoptr (GstBus) bus = gst_bus_new ();
  GstHarness *h;
  g_object_set (element, "model", model, "device", "MOCK", NULL);
  gst_element_set_bus (element, bus);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
  g_atomic_int_set (&fails_next_thread, TRUE);
  h = gst_harness_new_with_element (element, "sink", "src");
  g_assert_false (g_atomic_int_get (&fails_next_thread));
  gst_harness_set_src_caps_str (h, CAPS);
  said = error_of_frame (h, bus);
  g_assert_nonnull (strstr (said, "thread"));
  gst_harness_teardown (h);
  gst_object_unref (element);
}

static void
a_change_without_a_thread_leaves_the_model_that_runs (void)
{
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autofree gchar *model = test_ball_model ();
  GstHarness *h = harness_without_caps (model, "device=MOCK", bus);
  g_autoptr (GstElement) element = gst_harness_find_element (h, "nninfer");
  GstMessage *warning;
  gst_harness_set_src_caps_str (h, CAPS);
  gst_buffer_unref (gst_harness_push_and_pull (h, frame (h, 0)));
  g_object_set (element, "nireq", 3, NULL);
  g_atomic_int_set (&fails_next_thread, TRUE);
  gst_buffer_unref (gst_harness_push_and_pull (h, frame (h, 1)));
  g_assert_false (g_atomic_int_get (&fails_next_thread));
  warning = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  g_assert_nonnull (warning);
  gst_message_unref (warning);
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
}

static gchar *
limited (const gchar *model, const gchar *limit)
{
  g_autofree gchar *properties = g_strdup_printf ("max-memory=%s", limit);
  g_autoptr (GstBus) bus = gst_bus_new ();
  GstHarness *h = harness_without_caps (model, properties, bus);
  gchar *said = NULL;
  gst_harness_set_src_caps_str (h, CAPS);
  if (g_str_equal (limit, "1"))
    said = error_of_frame (h, bus);
  else
    gst_buffer_unref (gst_harness_push_and_pull (h, frame (h, 0)));
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
  return said;
}

static void
a_model_that_needs_more_than_max_memory_is_refused (void)
{
  g_autofree gchar *model = test_data ("models/mobilenetv2-1.0-224-fp32/model.onnx"), *said = NULL;
  if (model == NULL)
    return;
  said = limited (model, "1");
  g_assert_nonnull (strstr (said, "MAX_MEMORY"));
  g_assert_null (limited (model, "1000"));
  g_assert_null (limited (model, "0")); /* what the process may */
}

/* A frame is with a driver that asks nobody and does not return; its device is dead from then on.
 */
static GstHarness *
hanging_new (const gchar *device, const gchar *timeout, GstBus *bus)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *properties = g_strdup_printf (
      "device=%s config=config,MOCK_HANG_AT=0 inference-timeout=%s", device, timeout);
  GstHarness *h = harness_without_caps (model, properties, bus);
  gst_harness_set_src_caps_str (h, CAPS);
  g_assert_cmpint (gst_harness_push (h, frame (h, 0)), ==, GST_FLOW_OK);
  return h;
}

static void
a_device_that_hangs_is_an_error_on_the_bus (void)
{
  g_autoptr (GstBus) bus = gst_bus_new ();
  GstHarness *h = hanging_new ("MOCK.0", "100", bus);
  g_autoptr (GstMessage) message =
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR);
  g_autoptr (GError) error = NULL;
  gst_message_parse_error (message, &error, NULL);
  g_assert_nonnull (strstr (error->message, "INFERENCE_TIMEOUT"));
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
}

/* It would not return for ten minutes. */
static void
null_does_not_wait_for_a_device_that_hangs (void)
{
  g_autoptr (GstBus) bus = gst_bus_new ();
  GstHarness *h = hanging_new ("MOCK.1", "1000000", bus);
  g_usleep (20000);
  gst_element_set_bus (h->element, NULL);
  g_assert_cmpint (gst_element_set_state (h->element, GST_STATE_NULL), ==,
                   GST_STATE_CHANGE_SUCCESS);
  gst_harness_teardown (h);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/limits/a_system_without_threads_is_an_error_on_the_bus",
                   a_system_without_threads_is_an_error_on_the_bus);
  g_test_add_func ("/limits/a_change_without_a_thread_leaves_the_model_that_runs",
                   a_change_without_a_thread_leaves_the_model_that_runs);
  g_test_add_func ("/limits/a_model_that_needs_more_than_max_memory_is_refused",
                   a_model_that_needs_more_than_max_memory_is_refused);
  g_test_add_func ("/limits/a_device_that_hangs_is_an_error_on_the_bus",
                   a_device_that_hangs_is_an_error_on_the_bus);
  g_test_add_func ("/limits/null_does_not_wait_for_a_device_that_hangs",
                   null_does_not_wait_for_a_device_that_hangs);
  return g_test_run ();
}
