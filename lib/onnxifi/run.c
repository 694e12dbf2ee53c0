/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs: begun when their input event is signalled, by whoever signals it, and when no other run
 * uses the same tensors. */
#include "graph.h"
#include "status.h"

typedef struct {
  Graph *graph;
  GraphIO *io;
  Event *after; /* the run's own */
} Run;

static void start (Run *run);

/* The next run of the same tensors takes its turn. */
static void
end (Run *run, gboolean ok, gboolean had_turn)
{
  Graph *graph = run->graph;
  Run *next = NULL;
  event_signal (run->after, ok);
  g_mutex_lock (&graph->lock);
  if (had_turn) {
    next = g_queue_pop_head (&run->io->waiting);
    run->io->busy = next != NULL;
  }
  graph->n_runs--;
  g_cond_broadcast (&graph->changed);
  g_mutex_unlock (&graph->lock);
  if (next != NULL)
    start (next);
  object_unref (run->after);
  object_unref (run->io);
  object_unref (graph);
  g_free (run);
}

static AxonInferRequest *
take_request (Graph *graph)
{
  AxonInferRequest *request = NULL;
  g_mutex_lock (&graph->lock);
  if (graph->requests->len > 0)
    request = g_ptr_array_steal_index_fast (graph->requests, graph->requests->len - 1);
  g_mutex_unlock (&graph->lock);
  return request ? request : axon_compiled_model_create_infer_request (graph->compiled);
}

static void
give_request (Graph *graph, AxonInferRequest *request)
{
  g_mutex_lock (&graph->lock);
  g_ptr_array_add (graph->requests, request);
  g_mutex_unlock (&graph->lock);
}

static void
finished (AxonInferRequest *request, const GError *error, gpointer user_data)
{
  Run *run = user_data;
  if (error != NULL)
    g_debug ("%s", error->message);
  give_request (run->graph, request);
  end (run, error == NULL, TRUE);
}

static gboolean
bind_tensors (AxonInferRequest *request, const GraphIO *io, GError **error)
{
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < io->n_inputs; i++)
    ok = axon_infer_request_set_input_tensor (request, i, io->inputs[i], error);
  for (guint i = 0; ok && i < io->n_outputs; i++)
    ok = axon_infer_request_set_output_tensor (request, i, io->outputs[i], error);
  return ok;
}

/* The run has its turn. */
static void
start (Run *run)
{
  AxonInferRequest *request = take_request (run->graph);
  g_autoptr (GError) error = NULL;
  axon_infer_request_set_callback (request, finished, run, NULL);
  if (bind_tensors (request, run->io, &error) && axon_infer_request_start_async (request, &error))
    return;
  g_debug ("%s", error->message);
  give_request (run->graph, request);
  end (run, FALSE, TRUE);
}

/* The input event came. */
static void
arrive (gpointer user_data, gboolean ok)
{
  Run *run = user_data;
  gboolean turn;
  if (!ok) {
    end (run, FALSE, FALSE);
    return;
  }
  g_mutex_lock (&run->graph->lock);
  turn = !run->io->busy;
  if (turn)
    run->io->busy = TRUE;
  else
    g_queue_push_tail (&run->io->waiting, run);
  g_mutex_unlock (&run->graph->lock);
  if (turn)
    start (run);
}

void
graph_run (Graph *graph, GraphIO *io, Event *before, onnxMemoryFenceV1 *fence)
{
  Run *run = g_new0 (Run, 1);
  run->graph = object_ref (graph);
  run->io = io;
  run->after = event_new (TRUE);
  g_mutex_lock (&graph->lock);
  graph->n_runs++;
  g_mutex_unlock (&graph->lock);
  fence->event = handle_new (OBJECT_EVENT, run->after);
  event_then (before, arrive, run);
}

onnxStatus
fence_check (const onnxMemoryFenceV1 *fence)
{
  if (fence->tag != ONNXIFI_TAG_MEMORY_FENCE_V1)
    return ONNXIFI_STATUS_UNSUPPORTED_TAG;
  if (fence->type == ONNXIFI_SYNCHRONIZATION_EVENT)
    return ONNXIFI_STATUS_SUCCESS;
  return fence->type == ONNXIFI_SYNCHRONIZATION_IMPLICIT ? ONNXIFI_STATUS_UNSUPPORTED_FENCE_TYPE
                                                         : ONNXIFI_STATUS_INVALID_FENCE_TYPE;
}

static onnxStatus
check_fences (const onnxMemoryFenceV1 *before, const onnxMemoryFenceV1 *after)
{
  onnxStatus status = fence_check (before);
  return status == ONNXIFI_STATUS_SUCCESS ? fence_check (after) : status;
}

static GraphIO *
get_io (Graph *graph)
{
  GraphIO *io;
  g_mutex_lock (&graph->lock);
  io = graph->io ? object_ref (graph->io) : NULL;
  g_mutex_unlock (&graph->lock);
  return io;
}

onnxStatus
onnxRunGraph (onnxGraph graph, const onnxMemoryFenceV1 *inputFence, onnxMemoryFenceV1 *outputFence)
{
  onnxStatus status;
  Event *before;
  GraphIO *io;
  Graph *self;
  if (inputFence == NULL || outputFence == NULL)
    return ONNXIFI_STATUS_INVALID_POINTER;
  status = check_fences (inputFence, outputFence);
  if (status != ONNXIFI_STATUS_SUCCESS)
    return status;
  outputFence->event = NULL;
  self = handle_find (OBJECT_GRAPH, graph);
  if (self == NULL)
    return ONNXIFI_STATUS_INVALID_GRAPH;
  before = handle_find (OBJECT_EVENT, inputFence->event);
  io = get_io (self);
  status = before == NULL ? ONNXIFI_STATUS_INVALID_EVENT
           : io == NULL   ? ONNXIFI_STATUS_UNIDENTIFIED_NAME
                          : ONNXIFI_STATUS_SUCCESS;
  if (status == ONNXIFI_STATUS_SUCCESS)
    graph_run (self, g_steal_pointer (&io), before, outputFence);
  g_clear_pointer (&io, object_unref);
  g_clear_pointer (&before, object_unref);
  object_unref (self);
  return status;
}
