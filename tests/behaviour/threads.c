/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Group threads: eight of them, a hundred times. */
#include "behaviour.h"

#define THREADS 8
#define ROUNDS 100

typedef struct {
  AxonCore *core;
  AxonModel *model;
  AxonCompiledModel *compiled;
  guint index;
} User;

static void
run_threads (GThreadFunc func, AxonCore *core, AxonModel *model, AxonCompiledModel *compiled)
{
  GThread *threads[THREADS];
  User users[THREADS];
  for (guint i = 0; i < THREADS; i++) {
    users[i] = (User){ core, model, compiled, i };
    threads[i] = g_thread_new ("user", func, &users[i]);
  }
  for (guint i = 0; i < THREADS; i++)
    g_thread_join (threads[i]);
}

static gpointer
infer (gpointer data)
{
  User *user = data;
  g_autoptr (AxonInferRequest) r = behaviour_request (user->compiled, user->index * 10);
  for (guint i = 0; i < ROUNDS; i++) {
    g_autoptr (GError) error = NULL;
    axon_infer_request_infer (r, &error);
    g_assert_no_error (error);
    behaviour_assert_result (r, user->model, user->index * 10);
  }
  return NULL;
}

static void
eight_threads_infer_on_one_model (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  run_threads (infer, NULL, model, compiled);
}

static gpointer
compile_and_query (gpointer data)
{
  User *user = data;
  for (guint i = 0; i < ROUNDS / 10; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
        user->core, user->model, behaviour_device, behaviour_config (), NULL, NULL, NULL, &error);
    g_autoptr (GHashTable) taken = NULL;
    g_autoptr (AxonInferRequest) r = NULL;
    g_assert_no_error (error);
    taken = axon_core_query_model (user->core, user->model, behaviour_device, behaviour_config (),
                                   NULL, NULL, &error);
    g_assert_no_error (error);
    r = behaviour_request (compiled, i);
    axon_infer_request_infer (r, &error);
    g_assert_no_error (error);
    behaviour_assert_result (r, user->model, i);
  }
  return NULL;
}

static void
eight_threads_compile_and_query_one_model (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  run_threads (compile_and_query, behaviour_core (), model, NULL);
}

static gpointer
get_and_unload (gpointer data)
{
  User *user = data;
  for (guint i = 0; i < ROUNDS; i++) {
    g_autoptr (GVariant) value =
        axon_core_get_property (user->core, behaviour_name, "SUPPORTED_PROPERTIES", NULL);
    g_autoptr (GHashTable) versions = axon_core_get_versions (user->core, behaviour_name, NULL);
    g_assert_nonnull (value);
    g_assert_nonnull (versions);
    if (user->index % 2)
      axon_core_unload_plugin (user->core, behaviour_name, NULL); /* may be unloaded already */
    else
      axon_core_set_property (user->core, NULL, "CACHE_DIR", g_variant_new_string (""), NULL);
  }
  return NULL;
}

static void
properties_can_be_read_while_others_unload_the_device (void)
{
  g_autoptr (AxonCore) core = behaviour_new_core ();
  run_threads (get_and_unload, core, NULL, NULL);
}

/* Threads that come and go leave nothing behind. */
static gpointer
infer_once (gpointer data)
{
  User *user = data;
  g_autoptr (AxonInferRequest) r = behaviour_request (user->compiled, 1);
  g_assert_true (axon_infer_request_infer (r, NULL));
  return NULL;
}

static gsize
resident_kb (void)
{
  g_autofree gchar *text = NULL;
  gchar *end;
  if (!g_file_get_contents ("/proc/self/statm", &text, NULL, NULL))
    return 0;
  g_ascii_strtoull (text, &end, 10);
  return (gsize)g_ascii_strtoull (end, NULL, 10) * 4;
}

static void
threads_that_come_and_go_leave_nothing_behind (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (GVariant) streams =
      axon_core_get_property (behaviour_core (), behaviour_name, "NUM_STREAMS", NULL);
  g_autoptr (AxonCompiledModel) compiled =
      streams ? behaviour_compile_with (model, "NUM_STREAMS", "0", NULL)
              : behaviour_compile (model, NULL);
  gsize before = 0;
  for (guint i = 0; i < 30; i++) {
    if (i == 10)
      before = resident_kb ();
    run_threads (infer_once, NULL, model, compiled);
  }
  if (g_getenv ("ASAN_OPTIONS") == NULL && g_getenv ("TSAN_OPTIONS") == NULL)
    g_assert_cmpuint (resident_kb (), <, before + 20 * 1024);
}

void
behaviour_add_threads (void)
{
  BEHAVIOUR_ADD ("threads", eight_threads_infer_on_one_model);
  BEHAVIOUR_ADD ("threads", eight_threads_compile_and_query_one_model);
  BEHAVIOUR_ADD ("threads", properties_can_be_read_while_others_unload_the_device);
  BEHAVIOUR_ADD ("threads", threads_that_come_and_go_leave_nothing_behind);
}
