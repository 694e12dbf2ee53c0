/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Graphs: a compiled model, where its tensors lie (graphio.c), and its runs (run.c). */
#pragma once

#include "backend.h"
#include "event.h"

/* Where inputs and outputs lie: what one onnxSetGraphIO said. Runs keep theirs. */
typedef struct {
  Object parent;
  AxonTensor **inputs, **outputs; /* as the compiled model numbers them */
  guint n_inputs, n_outputs;
  gboolean busy;  /* graph's lock: a run uses it */
  GQueue waiting; /* graph's lock: runs whose turn comes then */
} GraphIO;

typedef struct {
  Object parent;
  Backend *backend;
  AxonModel *model; /* for shapes that depend on those of the inputs */
  AxonCompiledModel *compiled;
  GMutex lock;
  GCond changed;
  GraphIO *io;         /* lock; NULL: not set, or it failed */
  GPtrArray *requests; /* lock: AxonInferRequest, idle */
  guint n_runs;        /* lock: that are not over */
} Graph;

/* A descriptor's type and shape, where it may stand in host memory or in one of @memory_types. */
onnxStatus descriptor_read (const onnxTensorDescriptorV1 *descriptor, AxonDType *dtype,
                            AxonShape *shape);
/* TRUE if @shape may be @declared, whose unknown dimensions are free. */
gboolean shape_fits (const AxonShape *declared, const AxonShape *shape);

/* The graph's from now on, or none where it fails. @io (nullable): a reference to it. */
onnxStatus graph_set_io (Graph *graph, guint n_inputs, const onnxTensorDescriptorV1 *inputs,
                         guint n_outputs, const onnxTensorDescriptorV1 *outputs, GraphIO **io);
/* Begins a run of @io (transfer full), which waits for @before on no thread. *fence gets an event
 * of its own. */
void graph_run (Graph *graph, GraphIO *io, Event *before, onnxMemoryFenceV1 *fence);
onnxStatus fence_check (const onnxMemoryFenceV1 *fence);
