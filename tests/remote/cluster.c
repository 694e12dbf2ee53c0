/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two servers on 127.0.0.2 and 127.0.0.3, of which one goes and comes back while frames run. */
#include "remotesupport.h"

#include <string.h>

#define BINARY "\"binary_tensor_data\""

typedef struct {
  InferenceServerOptions options;
  InferenceServer *server;
} Member;

static void
member_start (Member *m, AxonModel *model, const gchar *address)
{
  m->options.address = address;
  m->options.extensions = BINARY;
  m->server = inference_server_new (model, &m->options);
  m->options.port = inference_server_port (m->server);
}

static void
member_stop (Member *m)
{
  g_clear_pointer (&m->server, inference_server_free);
}

/* Keeps requests running until it is told to stop; counts those that fail. */
typedef struct {
  AxonCompiledModel *compiled;
  gint stop, n_done, n_wrong; /* atomic */
} Load;

static void
run_one (Load *load, AxonInferRequest *request, AxonTensor *in)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonTensor) out = NULL;
  if (axon_infer_request_infer (request, &error))
    out = axon_infer_request_get_output_tensor (request, 0);
  else
    g_test_message ("%s", error->message);
  for (gsize k = 0; k < 4 && out != NULL; k++)
    if (axon_tensor_get_value (out, k) != MAX (axon_tensor_get_value (in, k), 0))
      g_atomic_int_inc (&load->n_wrong);
  if (out == NULL)
    g_atomic_int_inc (&load->n_wrong);
  g_atomic_int_inc (&load->n_done);
}

static gpointer
load_main (gpointer data)
{
  Load *load = data;
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (AxonInferRequest) request = axon_compiled_model_create_infer_request (load->compiled);
  g_autoptr (AxonTensor) in = test_random (&shape, g_random_int ());
  axon_infer_request_set_input_tensor (request, 0, in, NULL);
  while (!g_atomic_int_get (&load->stop))
    run_one (load, request, in);
  return NULL;
}

#define N_THREADS 6u

static void
load_start (Load *load, AxonCompiledModel *compiled, GThread **threads)
{
  *load = (Load){ .compiled = compiled };
  for (guint i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("load", load_main, load);
}

static void
load_stop (Load *load, GThread **threads)
{
  g_atomic_int_set (&load->stop, TRUE);
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  g_assert_cmpint (load->n_wrong, ==, 0);
}

/* Until the server has so many more inferences than it had. */
static void
wait_for_inferences (InferenceServer *server, guint n)
{
  guint before = inference_server_get_n_inferences (server);
  while (inference_server_get_n_inferences (server) < before + n)
    g_usleep (5000);
}

static void
wait_for_load (Load *load, gint n)
{
  gint before = g_atomic_int_get (&load->n_done);
  while (g_atomic_int_get (&load->n_done) < before + n)
    g_usleep (5000);
}

static AxonCore *
core_for (const Member *members, guint n)
{
  AxonCore *core = axon_core_new ();
  g_autoptr (GError) error = NULL;
  axon_core_set_property (core, "REMOTE", "REMOTE_MODEL", g_variant_new_string ("m"), NULL);
  axon_core_set_property (core, "REMOTE", "RETRIES", g_variant_new_string ("1"), NULL);
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *url = inference_server_url (members[i].server);
    g_autofree gchar *device = g_strdup_printf ("REMOTE.%u", i);
    axon_core_set_property (core, device, "URL", g_variant_new_string (url), &error);
    g_assert_no_error (error);
  }
  return core;
}

static AxonCompiledModel *
compile (AxonCore *core, AxonModel *model, const gchar *device)
{
  g_autoptr (GError) error = NULL;
  AxonCompiledModel *compiled =
      axon_core_compile_model (core, model, device, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  return compiled;
}

static void
a_cluster_loses_and_regains_a_member_and_no_frame_is_lost (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  Member members[2] = { 0 };
  GThread *threads[N_THREADS];
  g_autoptr (AxonCore) core = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  Load load;
  member_start (&members[0], model, "127.0.0.2");
  member_start (&members[1], model, "127.0.0.3");
  core = core_for (members, 2);
  compiled = compile (core, model, "MULTI:REMOTE.0,REMOTE.1");
  load_start (&load, compiled, threads);
  for (guint round = 0; round < 2; round++) {
    wait_for_inferences (members[0].server, 20);
    member_stop (&members[0]);
    wait_for_inferences (members[1].server, 50);
    member_start (&members[0], model, "127.0.0.2");
    wait_for_inferences (members[0].server, 20);
  }
  load_stop (&load, threads);
  member_stop (&members[0]);
  member_stop (&members[1]);
}

static void
auto_falls_back_to_the_processor_and_returns (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  Member member = { 0 };
  GThread *threads[N_THREADS];
  g_autoptr (AxonCore) core = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  Load load;
  member_start (&member, model, "127.0.0.2");
  core = core_for (&member, 1);
  compiled = compile (core, model, "AUTO:REMOTE.0,CPU");
  load_start (&load, compiled, threads);
  for (guint round = 0; round < 2; round++) {
    wait_for_inferences (member.server, 20);
    member_stop (&member);
    wait_for_load (&load, 50);
    member_start (&member, model, "127.0.0.2");
  }
  wait_for_inferences (member.server, 20);
  load_stop (&load, threads);
  member_stop (&member);
}

static void
auto_begins_on_the_processor_where_the_cluster_is_gone (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  Member member = { 0 };
  GThread *threads[N_THREADS];
  g_autoptr (AxonCore) core = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  Load load;
  member_start (&member, model, "127.0.0.3");
  core = core_for (&member, 1);
  member_stop (&member);
  compiled = compile (core, model, "AUTO:REMOTE.0,CPU");
  load_start (&load, compiled, threads);
  wait_for_load (&load, 20);
  member_start (&member, model, "127.0.0.3");
  wait_for_inferences (member.server, 20);
  load_stop (&load, threads);
  member_stop (&member);
}

static void
multi_waits_for_nobody_who_never_comes_back (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  Member member = { 0 };
  g_autoptr (AxonCore) core = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  member_start (&member, model, "127.0.0.3");
  core = core_for (&member, 1);
  compiled = compile (core, model, "MULTI:REMOTE.0,CPU");
  remote_run_many (compiled, 8, 4);
  member_stop (&member);
  remote_run_many (compiled, 8, 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/cluster/" #name, name)
  ADD (a_cluster_loses_and_regains_a_member_and_no_frame_is_lost);
  ADD (auto_falls_back_to_the_processor_and_returns);
  ADD (auto_begins_on_the_processor_where_the_cluster_is_gone);
  ADD (multi_waits_for_nobody_who_never_comes_back);
  return g_test_run ();
}
