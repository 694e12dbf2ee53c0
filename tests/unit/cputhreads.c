/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where device CPU keeps its threads. */
#include "axontest.h"

#include <string.h>
#include <time.h>

#define ALL_THREADS "AXON_CPU_ALL_THREADS"

/* A request on two threads, with its input. */
static AxonInferRequest *
request_of (AxonModel *model, AxonTensor *x, const gchar *pinning)
{
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (GError) error = NULL;
  GVariantDict dict;
  AxonInferRequest *request;
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "INFERENCE_NUM_THREADS", "s", "2");
  g_variant_dict_insert (&dict, "ENABLE_CPU_PINNING", "s", pinning);
  compiled = axon_core_compile_model (axon_core_get_default (), model, "CPU",
                                      g_variant_dict_end (&dict), NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  request = axon_compiled_model_create_infer_request (compiled);
  g_assert_true (axon_infer_request_set_input_tensor (request, 0, x, &error));
  return request;
}

static AxonInferRequest *
request_on_two_threads (const gchar *pinning)
{
  TestModel t = test_model_new (13);
  AxonShape s = AXON_SHAPE (1, 4);
  AxonNode *n = test_model_node (&t, "Relu", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &s));
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (AxonTensor) x = test_random (&s, 1);
  return request_of (model, x, pinning);
}

static void
infer (AxonInferRequest *request)
{
  g_autoptr (GError) error = NULL;
  axon_infer_request_infer (request, &error);
  g_assert_no_error (error);
}

static gboolean
is_worker (const gchar *status)
{
  return g_str_has_prefix (status, "Name:\taxon-cpu-worker\n");
}

/* Threads of this process that may run on one processor only, or, if @any is set, anywhere; workers
 * count if @workers is set, and others if @others is. */
static guint
count_threads (gboolean any, gboolean workers, gboolean others)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/task", 0, NULL);
  const gchar *task;
  guint n = 0;
  while ((task = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = g_build_filename ("/proc/self/task", task, "status", NULL);
    g_autofree gchar *status = NULL;
    const gchar *list;
    if (!g_file_get_contents (path, &status, NULL, NULL))
      continue; /* ended meanwhile */
    list = strstr (status, "Cpus_allowed_list:");
    g_assert_nonnull (list);
    n += (is_worker (status) ? workers : others) &&
         (any || strcspn (list, ",-\n") == strcspn (list, "\n"));
  }
  return n;
}

/* Threads that were just made have no name and place yet: they get some time. */
static void
assert_threads (gboolean any, gboolean workers, gboolean others, guint expected)
{
  gint64 end = g_get_monotonic_time () + 5 * G_TIME_SPAN_SECOND;
  while (count_threads (any, workers, others) != expected && g_get_monotonic_time () < end)
    g_usleep (10000);
  g_assert_cmpuint (count_threads (any, workers, others), ==, expected);
}

static gboolean
has_exactly_two_processors (void)
{
  if (g_get_num_processors () == 2)
    return TRUE;
  g_test_skip ("needs a machine with two processors");
  return FALSE;
}

static void
threads_of_one_stream_are_bound_until_a_second_stream_needs_the_processors (void)
{
  g_autoptr (AxonInferRequest) first = NULL;
  g_autoptr (AxonInferRequest) second = NULL;
  if (!has_exactly_two_processors ())
    return;
  first = request_on_two_threads ("YES");
  infer (first);
  assert_threads (FALSE, TRUE, TRUE, 2);
  second = request_on_two_threads ("YES");
  infer (second);
  infer (first);
  assert_threads (FALSE, TRUE, TRUE, 0);
}

static void
without_pinning_only_workers_keep_off_a_processor (void)
{
  g_autoptr (AxonInferRequest) request = request_on_two_threads ("NO");
  infer (request);
  if (has_exactly_two_processors ())
    assert_threads (FALSE, FALSE, TRUE, 0);
}

/* Waking them would take longer than the model. In a process of its own: streams of other tests end
 * by and by. */
static void
a_small_model_has_no_workers (void)
{
  if (!g_test_subprocess ()) {
    g_test_trap_subprocess (NULL, 0, 0);
    g_test_trap_assert_passed ();
    return;
  }
  for (guint i = 0; i < 2; i++) {
    g_autoptr (AxonInferRequest) request = NULL;
    if (i == 0)
      g_unsetenv (ALL_THREADS);
    else
      g_setenv (ALL_THREADS, "1", TRUE);
    request = request_on_two_threads ("NO");
    infer (request);
    if (i == 0 || g_get_num_processors () > 1)
      assert_threads (TRUE, TRUE, FALSE, i);
  }
}

#define ROWS 1000
#define WIDTH 256

/* Rows of any number by matrices, on two threads. */
static AxonInferRequest *
request_of_any_rows (void)
{
  const AxonShape open = AXON_SHAPE (-1, WIDTH), rows = AXON_SHAPE (ROWS, WIDTH);
  const AxonShape square = AXON_SHAPE (WIDTH, WIDTH);
  TestModel t = test_model_new (13);
  AxonValue *y = test_model_input (&t, "x", AXON_DTYPE_F32, &open);
  g_autoptr (AxonTensor) x = test_random (&rows, 1);
  g_autoptr (AxonModel) model = NULL;
  for (guint32 i = 0; i < 4; i++)
    y = test_model_node (&t, "MatMul", 2, y, test_model_random (&t, &square, i))->outputs[0];
  model = test_model_finish (&t, y);
  return request_of (model, x, "NO");
}

static gdouble
seconds_of (clockid_t clock)
{
  struct timespec t;
  clock_gettime (clock, &t);
  return (gdouble)t.tv_sec + (gdouble)t.tv_nsec * 1e-9;
}

/* Nothing was asked of oneDNN before the first frame comes. In a process of its own, whose first
 * model it is. */
static void
the_first_model_runs_in_its_caller_whatever_its_shapes (void)
{
  g_autoptr (AxonInferRequest) request = NULL;
  gdouble own, all;
  if (!g_test_subprocess ()) {
    g_test_trap_subprocess (NULL, 0, 0);
    g_test_trap_assert_passed ();
    return;
  }
  request = request_of_any_rows ();
  infer (request);
  own = seconds_of (CLOCK_THREAD_CPUTIME_ID);
  all = seconds_of (CLOCK_PROCESS_CPUTIME_ID);
  for (guint i = 0; i < 20; i++)
    infer (request);
  own = seconds_of (CLOCK_THREAD_CPUTIME_ID) - own;
  all = seconds_of (CLOCK_PROCESS_CPUTIME_ID) - all;
  g_test_message ("%g of %g s", own, all);
  g_assert_cmpfloat (own, >, all / 4); /* half, or all; nothing where another thread runs it */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/cpu-threads/" #name, name)
  ADD (a_small_model_has_no_workers);
  ADD (the_first_model_runs_in_its_caller_whatever_its_shapes);
  ADD (threads_of_one_stream_are_bound_until_a_second_stream_needs_the_processors);
  ADD (without_pinning_only_workers_keep_off_a_processor);
  return g_test_run ();
}
