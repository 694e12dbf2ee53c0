/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups async, callback, cancel. */
#include "behaviour.h"

static void
several_requests_in_flight_give_their_own_results (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  AxonInferRequest *r[6];
  for (guint i = 0; i < G_N_ELEMENTS (r); i++)
    r[i] = behaviour_request (compiled, 100 * i);
  for (guint round = 0; round < 5; round++) {
    for (guint i = 0; i < G_N_ELEMENTS (r); i++)
      g_assert_true (axon_infer_request_start_async (r[i], NULL));
    for (guint i = 0; i < G_N_ELEMENTS (r); i++) {
      g_autoptr (GError) error = NULL;
      axon_infer_request_wait (r[i], &error);
      g_assert_no_error (error);
      behaviour_assert_result (r[i], model, 100 * i);
    }
  }
  for (guint i = 0; i < G_N_ELEMENTS (r); i++)
    g_object_unref (r[i]);
}

static void
waiting_for_nothing_returns_at_once (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (AxonInferRequest) r = behaviour_request (compiled, 1);
  gboolean done;
  g_assert_true (axon_infer_request_wait (r, NULL));
  g_assert_true (axon_infer_request_wait_for (r, 0, &done, NULL));
  g_assert_true (done);
}

static void
synchronous_and_asynchronous_runs_mix (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (AxonInferRequest) r = behaviour_request (compiled, 1);
  for (guint i = 0; i < 6; i++) {
    if (i % 2) {
      g_assert_true (axon_infer_request_start_async (r, NULL));
      g_assert_true (axon_infer_request_wait (r, NULL));
    } else {
      g_assert_true (axon_infer_request_infer (r, NULL));
    }
    behaviour_assert_result (r, model, 1);
  }
}

/* A request that runs says so; where it was too fast to be caught, nothing is proven. */
static void
a_running_request_refuses_to_be_touched (void)
{
  g_autoptr (AxonModel) model = behaviour_conv_model (40);
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (AxonInferRequest) r = behaviour_request (compiled, 1);
  g_autoptr (AxonTensor) x = behaviour_random (axon_model_get_input_shape (model, 0), 2);
  g_autoptr (GError) error = NULL;
  gboolean done;
  g_assert_true (axon_infer_request_start_async (r, NULL));
  if (!axon_infer_request_set_input_tensor (r, 0, x, &error))
    g_assert_error (error, AXON_ERROR, AXON_ERROR_BUSY);
  g_clear_error (&error);
  if (!axon_infer_request_start_async (r, &error))
    g_assert_error (error, AXON_ERROR, AXON_ERROR_BUSY);
  axon_infer_request_wait_for (r, 0, &done, NULL);
  g_assert_true (axon_infer_request_wait (r, NULL));
}

typedef struct {
  gint calls, failures; /* atomic */
  gint restarts;
} Calls;

static void
count (AxonInferRequest *request, const GError *error, gpointer user_data)
{
  Calls *calls = user_data;
  g_atomic_int_inc (&calls->calls);
  if (error != NULL)
    g_atomic_int_inc (&calls->failures);
  if (calls->restarts-- > 0)
    g_assert_true (axon_infer_request_start_async (request, NULL));
}

static void
the_callback_comes_once_for_each_asynchronous_run (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (AxonInferRequest) r = behaviour_request (compiled, 1);
  Calls calls = { 0 };
  axon_infer_request_set_callback (r, count, &calls, NULL);
  for (gint i = 1; i <= 10; i++) {
    g_assert_true (axon_infer_request_start_async (r, NULL));
    g_assert_true (axon_infer_request_wait (r, NULL));
    g_assert_cmpint (g_atomic_int_get (&calls.calls), ==, i); /* wait returns after it */
    g_assert_true (axon_infer_request_infer (r, NULL));
    g_assert_cmpint (g_atomic_int_get (&calls.calls), ==, i); /* and sync calls nobody */
  }
  g_assert_cmpint (calls.failures, ==, 0);
}

static void
a_request_can_be_started_from_its_callback (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (AxonInferRequest) r = behaviour_request (compiled, 1);
  Calls calls = { .restarts = 5 };
  axon_infer_request_set_callback (r, count, &calls, NULL);
  g_assert_true (axon_infer_request_start_async (r, NULL));
  for (guint i = 0; i < 10; i++)
    g_assert_true (axon_infer_request_wait (r, NULL));
  g_assert_cmpint (g_atomic_int_get (&calls.calls), ==, 6);
  g_assert_cmpint (calls.failures, ==, 0);
  behaviour_assert_result (r, model, 1);
}

static void
a_cancelled_run_ends_soon_and_the_request_works_again (void)
{
  g_autoptr (AxonModel) model = behaviour_conv_model (60);
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (AxonInferRequest) r = behaviour_request (compiled, 1);
  guint cancelled = 0;
  axon_infer_request_cancel (r); /* nothing runs: harmless */
  for (guint i = 0; i < 20; i++) {
    g_autoptr (GError) error = NULL;
    gint64 start;
    g_assert_true (axon_infer_request_start_async (r, NULL));
    g_usleep (100 * i); /* before it begins, while it runs */
    start = g_get_monotonic_time ();
    axon_infer_request_cancel (r);
    if (!axon_infer_request_wait (r, &error)) {
      g_assert_error (error, AXON_ERROR, AXON_ERROR_CANCELLED);
      cancelled++;
    }
    g_assert_cmpint (g_get_monotonic_time () - start, <, 10 * G_USEC_PER_SEC);
  }
  if (cancelled == 0)
    g_test_message ("every run was over before it could be cancelled");
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GError) error = NULL;
    axon_infer_request_infer (r, &error);
    g_assert_no_error (error);
  }
  behaviour_assert_result (r, model, 1);
}

static gpointer
run_synchronously (gpointer request)
{
  axon_infer_request_infer (request, NULL);
  return NULL;
}

static void
another_thread_may_cancel_a_synchronous_run (void)
{
  g_autoptr (AxonModel) model = behaviour_conv_model (60);
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (AxonInferRequest) r = behaviour_request (compiled, 1);
  for (guint i = 0; i < 5; i++) {
    GThread *thread = g_thread_new ("user", run_synchronously, r);
    g_usleep (500 * i);
    axon_infer_request_cancel (r);
    g_thread_join (thread);
  }
  g_assert_true (axon_infer_request_infer (r, NULL));
}

void
behaviour_add_async (void)
{
  BEHAVIOUR_ADD ("async", several_requests_in_flight_give_their_own_results);
  BEHAVIOUR_ADD ("async", waiting_for_nothing_returns_at_once);
  BEHAVIOUR_ADD ("async", synchronous_and_asynchronous_runs_mix);
  BEHAVIOUR_ADD ("async", a_running_request_refuses_to_be_touched);
  BEHAVIOUR_ADD ("callback", the_callback_comes_once_for_each_asynchronous_run);
  BEHAVIOUR_ADD ("callback", a_request_can_be_started_from_its_callback);
  BEHAVIOUR_ADD ("cancel", a_cancelled_run_ends_soon_and_the_request_works_again);
  BEHAVIOUR_ADD ("cancel", another_thread_may_cancel_a_synchronous_run);
}
