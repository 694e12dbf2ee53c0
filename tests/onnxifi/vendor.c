/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ONNXIFI vendor library as a client sees it: graphs and runs. handles.c has IDs, infos and
 * events, descriptors.c what tensors and weights are told by. */
#include "onnxifitest.h"

#include <string.h>

static void
a_graph_runs_again_and_again_on_the_same_tensors (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) bytes = relu_bytes (&c, 4);
  onnxGraph graph = client_graph (&c, bytes);
  gfloat x[4] = { -1, 2, -3, 4 }, y[4];
  const guint64 shape[] = { 1, 4 };
  onnxTensorDescriptorV1 in = tensor_f32 ("x", 2, shape, x), out = tensor_f32 ("y", 2, shape, y);
  in.name = c.input;
  out.name = c.output;
  g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==, ONNXIFI_STATUS_SUCCESS);
  for (gint run = 1; run < 4; run++) {
    for (guint i = 0; i < 4; i++)
      x[i] = (gfloat)((gint)i - 2) * (gfloat)run;
    client_run (&c, graph);
    for (guint i = 0; i < 4; i++)
      g_assert_cmpfloat (y[i], ==, MAX (x[i], 0));
  }
  g_assert_cmpint (onnxReleaseGraph (graph), ==, ONNXIFI_STATUS_SUCCESS);
  client_clear (&c);
}

static void
a_run_needs_tensors_and_a_failed_set_takes_them_away (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) bytes = relu_bytes (&c, 4);
  onnxGraph graph = client_graph (&c, bytes);
  gfloat x[4] = { 0 }, y[4];
  const guint64 shape[] = { 1, 4 }, other[] = { 2, 4 };
  onnxTensorDescriptorV1 in = tensor_f32 (c.input, 2, shape, x);
  onnxTensorDescriptorV1 out = tensor_f32 (c.output, 2, shape, y);
  g_assert_cmpint (client_try_run (&c, graph), ==, ONNXIFI_STATUS_UNIDENTIFIED_NAME);
  g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (client_try_run (&c, graph), ==, ONNXIFI_STATUS_SUCCESS);
  in.shape = other;
  g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==, ONNXIFI_STATUS_MISMATCHING_SHAPE);
  g_assert_cmpint (client_try_run (&c, graph), ==, ONNXIFI_STATUS_UNIDENTIFIED_NAME);
  onnxReleaseGraph (graph);
  client_clear (&c);
}

/* Each run reads and writes what was set when it began, whenever its event comes. */
static void
changing_the_tensors_leaves_a_run_in_flight_its_own (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) bytes = relu_bytes (&c, 4);
  onnxGraph graph = client_graph (&c, bytes);
  gfloat x[2][4] = { { 1, 2, 3, 4 }, { 5, -6, 7, 8 } }, y[2][4] = { { 0 } };
  const guint64 shape[] = { 1, 4 };
  onnxMemoryFenceV1 before[2], after[2];
  for (guint i = 0; i < 2; i++) {
    onnxTensorDescriptorV1 in = tensor_f32 (c.input, 2, shape, x[i]);
    onnxTensorDescriptorV1 out = tensor_f32 (c.output, 2, shape, y[i]);
    before[i] = after[i] = client_fence (&c);
    g_assert_cmpint (onnxInitEvent (c.backend, &before[i].event), ==, ONNXIFI_STATUS_SUCCESS);
    g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==, ONNXIFI_STATUS_SUCCESS);
    g_assert_cmpint (onnxRunGraph (graph, &before[i], &after[i]), ==, ONNXIFI_STATUS_SUCCESS);
  }
  for (guint k = 2; k > 0; k--) { /* the second begins first */
    onnxEventState state;
    g_assert_cmpint (onnxGetEventState (after[k - 1].event, &state), ==, ONNXIFI_STATUS_SUCCESS);
    g_assert_cmpint (state, ==, ONNXIFI_EVENT_STATE_NONSIGNALLED);
    g_assert_cmpint (onnxSignalEvent (before[k - 1].event), ==, ONNXIFI_STATUS_SUCCESS);
    g_assert_cmpint (onnxWaitEvent (after[k - 1].event), ==, ONNXIFI_STATUS_SUCCESS);
    g_assert_cmpfloat (y[k - 1][2], ==, x[k - 1][2]);
  }
  g_assert_cmpfloat (y[1][1], ==, 0);
  for (guint i = 0; i < 2; i++) {
    onnxReleaseEvent (before[i].event);
    onnxReleaseEvent (after[i].event);
  }
  onnxReleaseGraph (graph);
  client_clear (&c);
}

static gpointer
signal_later (gpointer event)
{
  g_usleep (50000);
  g_assert_cmpint (onnxSignalEvent (event), ==, ONNXIFI_STATUS_SUCCESS);
  return NULL;
}

static void
releasing_a_graph_waits_for_its_runs (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) bytes = relu_bytes (&c, 4);
  onnxGraph graph = client_graph (&c, bytes);
  gfloat x[4] = { 1, 2, 3, 4 }, y[4] = { 0 };
  const guint64 shape[] = { 1, 4 };
  onnxTensorDescriptorV1 in = tensor_f32 (c.input, 2, shape, x);
  onnxTensorDescriptorV1 out = tensor_f32 (c.output, 2, shape, y);
  onnxMemoryFenceV1 before = client_fence (&c), after = before;
  onnxEventState state;
  GThread *thread;
  g_assert_cmpint (onnxInitEvent (c.backend, &before.event), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxRunGraph (graph, &before, &after), ==, ONNXIFI_STATUS_SUCCESS);
  thread = g_thread_new ("signal", signal_later, before.event);
  g_assert_cmpint (onnxReleaseGraph (graph), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpfloat (y[3], ==, 4);
  g_assert_cmpint (onnxGetEventState (after.event, &state), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (state, ==, ONNXIFI_EVENT_STATE_SIGNALLED);
  g_thread_join (thread);
  onnxReleaseEvent (before.event);
  onnxReleaseEvent (after.event);
  client_clear (&c);
}

/* The output of one run is the input event of the next; nobody waits in between. */
static void
runs_follow_each_other_by_their_events (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) bytes = relu_bytes (&c, 4);
  onnxGraph graph = client_graph (&c, bytes);
  gfloat x[4] = { 1, -2, 3, 4 }, y[4] = { 0 };
  const guint64 shape[] = { 1, 4 };
  onnxTensorDescriptorV1 in = tensor_f32 (c.input, 2, shape, x);
  onnxTensorDescriptorV1 out = tensor_f32 (c.output, 2, shape, y);
  onnxMemoryFenceV1 fences[9];
  fences[0] = client_fence (&c);
  g_assert_cmpint (onnxInitEvent (c.backend, &fences[0].event), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==, ONNXIFI_STATUS_SUCCESS);
  for (guint i = 1; i < G_N_ELEMENTS (fences); i++) {
    fences[i] = client_fence (&c);
    g_assert_cmpint (onnxRunGraph (graph, &fences[i - 1], &fences[i]), ==, ONNXIFI_STATUS_SUCCESS);
  }
  g_assert_cmpint (onnxSignalEvent (fences[0].event), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxWaitEvent (fences[8].event), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpfloat (y[3], ==, 4);
  for (guint i = 0; i < G_N_ELEMENTS (fences); i++)
    g_assert_cmpint (onnxReleaseEvent (fences[i].event), ==, ONNXIFI_STATUS_SUCCESS);
  onnxReleaseGraph (graph);
  client_clear (&c);
}

static void
a_run_whose_event_never_comes_fails_and_blocks_nobody (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) bytes = relu_bytes (&c, 4);
  onnxGraph graph = client_graph (&c, bytes);
  gfloat x[4] = { 1, -2, 3, 4 }, y[4] = { 9, 9, 9, 9 };
  const guint64 shape[] = { 1, 4 };
  onnxTensorDescriptorV1 in = tensor_f32 (c.input, 2, shape, x);
  onnxTensorDescriptorV1 out = tensor_f32 (c.output, 2, shape, y);
  onnxMemoryFenceV1 before = client_fence (&c), after = before;
  onnxEventState state = 5;
  g_assert_cmpint (onnxInitEvent (c.backend, &before.event), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxRunGraph (graph, &before, &after), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxReleaseEvent (before.event), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxWaitEvent (after.event), ==, ONNXIFI_STATUS_INTERNAL_ERROR);
  g_assert_cmpint (onnxGetEventState (after.event, &state), ==, ONNXIFI_STATUS_INTERNAL_ERROR);
  g_assert_cmpint (state, ==, ONNXIFI_EVENT_STATE_INVALID);
  g_assert_cmpfloat (y[0], ==, 9);
  client_run (&c, graph);
  g_assert_cmpfloat (y[0], ==, 1);
  onnxReleaseEvent (after.event);
  onnxReleaseGraph (graph);
  client_clear (&c);
}

static void
wrong_fences_are_named_by_their_status (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) bytes = relu_bytes (&c, 4);
  onnxGraph graph = client_graph (&c, bytes);
  gfloat x[4] = { 0 }, y[4];
  const guint64 shape[] = { 1, 4 };
  onnxTensorDescriptorV1 in = tensor_f32 (c.input, 2, shape, x);
  onnxTensorDescriptorV1 out = tensor_f32 (c.output, 2, shape, y);
  onnxMemoryFenceV1 good = client_fence (&c), tag = good, type = good, unknown = good, after = good;
  tag.tag = 1;
  type.type = ONNXIFI_SYNCHRONIZATION_IMPLICIT;
  unknown.type = 99;
  g_assert_cmpint (onnxInitEvent (c.backend, &good.event), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxRunGraph (graph, NULL, &after), ==, ONNXIFI_STATUS_INVALID_POINTER);
  g_assert_cmpint (onnxRunGraph (graph, &good, NULL), ==, ONNXIFI_STATUS_INVALID_POINTER);
  g_assert_cmpint (onnxRunGraph (graph, &tag, &after), ==, ONNXIFI_STATUS_UNSUPPORTED_TAG);
  g_assert_cmpint (onnxRunGraph (graph, &good, &tag), ==, ONNXIFI_STATUS_UNSUPPORTED_TAG);
  g_assert_cmpint (onnxRunGraph (graph, &type, &after), ==, ONNXIFI_STATUS_UNSUPPORTED_FENCE_TYPE);
  g_assert_cmpint (onnxRunGraph (graph, &good, &type), ==, ONNXIFI_STATUS_UNSUPPORTED_FENCE_TYPE);
  g_assert_cmpint (onnxRunGraph (graph, &unknown, &after), ==, ONNXIFI_STATUS_INVALID_FENCE_TYPE);
  after.event = good.event;
  good.event = NULL;
  g_assert_cmpint (onnxRunGraph (graph, &good, &after), ==, ONNXIFI_STATUS_INVALID_EVENT);
  g_assert_null (after.event);
  onnxReleaseGraph (graph);
  client_clear (&c);
}

static void
a_symbolic_batch_means_what_the_tensors_say (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) bytes = relu_bytes (&c, -1);
  onnxGraph graph = client_graph (&c, bytes);
  gfloat x[12], y[12];
  for (guint64 n = 1; n < 4; n++) {
    const guint64 shape[] = { 1, n }, other[] = { 1, n + 1 };
    onnxTensorDescriptorV1 in = tensor_f32 (c.input, 2, shape, x);
    onnxTensorDescriptorV1 out = tensor_f32 (c.output, 2, other, y);
    for (guint i = 0; i < 12; i++)
      x[i] = (gfloat)i - 1;
    g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==, ONNXIFI_STATUS_MISMATCHING_SHAPE);
    out.shape = shape;
    g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==, ONNXIFI_STATUS_SUCCESS);
    memset (y, 0xff, sizeof y);
    client_run (&c, graph);
    for (guint i = 0; i < n; i++)
      g_assert_cmpfloat (y[i], ==, MAX (x[i], 0));
  }
  onnxReleaseGraph (graph);
  client_clear (&c);
}

static void
scalars_and_truth_values_are_tensors_too (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) bytes = is_negative_bytes (&c);
  onnxGraph graph = client_graph (&c, bytes);
  gfloat x = -3;
  guint8 y = 7;
  onnxTensorDescriptorV1 in = tensor_f32 (c.input, 0, NULL, &x);
  onnxTensorDescriptorV1 out = tensor_f32 (c.output, 0, NULL, &y);
  out.dataType = AXON_DTYPE_BOOL;
  g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==, ONNXIFI_STATUS_SUCCESS);
  client_run (&c, graph);
  g_assert_cmpuint (y, ==, 1);
  onnxReleaseGraph (graph);
  client_clear (&c);
}

static gpointer
run_many (G_GNUC_UNUSED gpointer data)
{
  Client c = client_new ();
  g_autoptr (GBytes) bytes = relu_bytes (&c, 4);
  const guint64 shape[] = { 1, 4 };
  for (guint g = 0; g < 3; g++) {
    onnxGraph graph = client_graph (&c, bytes);
    gfloat x[4] = { -1, 1, 2, 3 }, y[4] = { 0 };
    onnxTensorDescriptorV1 in = tensor_f32 (c.input, 2, shape, x);
    onnxTensorDescriptorV1 out = tensor_f32 (c.output, 2, shape, y);
    g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==, ONNXIFI_STATUS_SUCCESS);
    for (guint i = 0; i < 20; i++) {
      x[1] = (gfloat)i;
      client_run (&c, graph);
      g_assert_cmpfloat (y[1], ==, (gfloat)i);
    }
    onnxReleaseGraph (graph);
  }
  client_clear (&c);
  return NULL;
}

static void
graphs_of_several_backends_run_in_several_threads (void)
{
  GThread *threads[4];
  for (guint i = 0; i < 4; i++)
    threads[i] = g_thread_new ("client", run_many, NULL);
  for (guint i = 0; i < 4; i++)
    g_thread_join (threads[i]);
}

static void
setting_and_running_at_once_is_an_extension (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) bytes = relu_bytes (&c, 4);
  onnxGraph graph = client_graph (&c, bytes);
  gfloat x[4] = { -1, 1, 2, 3 }, y[4] = { 9 };
  const guint64 shape[] = { 1, 4 };
  onnxTensorDescriptorV1 in = tensor_f32 (c.input, 2, shape, x);
  onnxTensorDescriptorV1 out = tensor_f32 (c.output, 2, shape, y);
  onnxMemoryFenceV1 after = client_fence (&c);
  onnxExtensionFunctionPointer function = NULL;
  g_assert_cmpint (onnxGetExtensionFunctionAddress (c.id, "onnxSetIOAndRunGraph", &function), ==,
                   ONNXIFI_STATUS_SUCCESS);
  g_assert_true (function == (onnxExtensionFunctionPointer)onnxSetIOAndRunGraph);
  g_assert_cmpint (onnxSetIOAndRunGraph (graph, 1, &in, 1, &out, &after), ==,
                   ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpint (onnxWaitEvent (after.event), ==, ONNXIFI_STATUS_SUCCESS);
  g_assert_cmpfloat (y[0], ==, 0);
  g_assert_cmpfloat (y[3], ==, 3);
  g_assert_cmpint (onnxSignalEvent (after.event), ==, ONNXIFI_STATUS_INVALID_STATE);
  onnxReleaseEvent (after.event);
  out.name = "nobody";
  g_assert_cmpint (onnxSetIOAndRunGraph (graph, 1, &in, 1, &out, &after), ==,
                   ONNXIFI_STATUS_INVALID_NAME);
  g_assert_null (after.event);
  g_assert_cmpint (onnxSetIOAndRunGraph (graph, 1, &in, 1, &out, NULL), ==,
                   ONNXIFI_STATUS_INVALID_POINTER);
  g_assert_cmpint (onnxGetExtensionFunctionAddress (c.id, "onnxNothing", &function), ==,
                   ONNXIFI_STATUS_UNIDENTIFIED_NAME);
  g_assert_null (function);
  g_assert_cmpint (onnxGetExtensionFunctionAddress (c.id, NULL, &function), ==,
                   ONNXIFI_STATUS_INVALID_POINTER);
  g_assert_cmpint (onnxGetExtensionFunctionAddress (&c, "onnxNothing", &function), ==,
                   ONNXIFI_STATUS_INVALID_ID);
  onnxReleaseGraph (graph);
  client_clear (&c);
}

#define ADD(test) g_test_add_func ("/vendor/" #test, test)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (a_graph_runs_again_and_again_on_the_same_tensors);
  ADD (a_run_needs_tensors_and_a_failed_set_takes_them_away);
  ADD (changing_the_tensors_leaves_a_run_in_flight_its_own);
  ADD (releasing_a_graph_waits_for_its_runs);
  ADD (runs_follow_each_other_by_their_events);
  ADD (a_run_whose_event_never_comes_fails_and_blocks_nobody);
  ADD (wrong_fences_are_named_by_their_status);
  ADD (a_symbolic_batch_means_what_the_tensors_say);
  ADD (scalars_and_truth_values_are_tensors_too);
  ADD (graphs_of_several_backends_run_in_several_threads);
  ADD (setting_and_running_at_once_is_an_extension);
  return g_test_run ();
}
