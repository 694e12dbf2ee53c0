/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the two files of a batching model share: who waits and what runs (batchmodel.c), and how
 * pictures are put together and taken apart (batchslot.c). */
#pragma once

#include "batch.h"

typedef struct _BatchState BatchState;

/* A batched request and whom it runs for. */
typedef struct {
  BatchState *state; /* lives as long as its slots */
  AxonInferRequest *inner;
  gboolean single;     /* of the model for one picture */
  AxonTensor **stacks; /* inputs of @inner that are of n pictures; NULL: not yet */
  AxonInferRequest **outers;
  guint n_outers;
} BatchSlot;

struct _BatchState {
  gatomicrefcount ref_count;
  AxonCompiledModel *one, *many;
  guint n, n_inputs, n_outputs;
  guint *map;          /* [n][n_inputs]: inputs of @many */
  gboolean has_shapes; /* an input's shape is free */
  GThread *collector;
  GMutex lock;
  GCond changed;
  GQueue waiting;       /* lock: AxonInferRequest */
  gint64 first_at;      /* lock: when the oldest of them came */
  GPtrArray *idle;      /* lock: BatchSlot of @many */
  GPtrArray *single;    /* lock: BatchSlot of @one, idle */
  GPtrArray *slots;     /* lock: all */
  guint timeout_ms;     /* lock */
  gboolean flush, stop; /* lock */
};

void batch_slot_free (gpointer slot);
/* TRUE if pictures of both can be in one batch. */
gboolean batch_is_alike (const BatchState *state, AxonInferRequest *a, AxonInferRequest *b);
/* TRUE if all items share this input, each with a part of it. */
gboolean batch_is_stacked (const BatchState *state, guint input);
/* Inputs of those that it runs for to the slot's request, and what came out of it to item @k. */
gboolean batch_slot_bind (BatchSlot *slot, GError **error);
gboolean batch_slot_unpack (BatchSlot *slot, guint k, GError **error);
