/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a request: bindings (axoninferrequest.c, axonbinding.c) and the run
 * (axoninferrun.c). */
#pragma once

#include <axon/plugin/axoninferrequest.h>

#include "axoncompiledmodel-private.h"

/* One input or output: what the user set, and what the device sees. */
typedef struct {
  AxonTensor *tensor; /* as set; of an output also the result of the last run */
  GPtrArray *batch;   /* inputs: several tensors for one port, or NULL */
  AxonTensor *dense;  /* what the device sees where @tensor is not dense in host memory */
  gboolean is_own;    /* an output that the user set */
} AxonBinding;

struct _AxonInferRequest {
  GObject parent_instance;
  AxonCompiledModel *compiled;
  guint n_inputs, n_outputs;
  AxonBinding *inputs, *outputs;
  gint cancelled; /* atomic */
  guint stage;    /* of the run; one stage runs at a time */

  GArray *profiling;               /* AxonProfilingInfo, of the last run */
  GStringChunk *names;             /* of profiling rows; NULL until needed */
  AxonExecutor *callback_executor; /* from the first callback on; shared by the process */
  gpointer data;                   /* the plugin's */
  GDestroyNotify data_destroy;

  GMutex lock;
  GCond idle;
  gboolean busy;                  /* lock: between start and the callback */
  guint64 started, finished;      /* lock */
  GError *error;                  /* lock: of the last run */
  AxonInferCallback callback;     /* lock */
  gpointer callback_data;         /* lock */
  GDestroyNotify callback_notify; /* lock */
  gboolean direct;                /* lock: the callback runs in the device's thread */
  gboolean silent;                /* lock: a synchronous run calls nobody */

  /* axonwatchdog.c */
  gint64 deadline;    /* lock of the list */
  gboolean entered;   /* lock: the device was called */
  gboolean finishing; /* lock: it returned */
  gboolean abandoned; /* lock: it did not; the request is its until it does */
  gboolean counted;   /* lock: and the plugin knows of it */
};

void axon_binding_clear (AxonBinding *b);
gboolean axon_infer_request_check_tensor (const gchar *what, const gchar *name, AxonDType dtype,
                                          const AxonShape *shape, const AxonTensor *tensor,
                                          GError **error);
gboolean axon_infer_request_check_bound (AxonInferRequest *r, GError **error);
gboolean axon_infer_request_prepare_inputs (AxonInferRequest *r, GError **error);
gboolean axon_infer_request_check_idle (AxonInferRequest *r, GError **error);

/* The end of a run: tells who waits, and lets go of the run's reference. */
void axon_infer_request_end (AxonInferRequest *r, GError *error);

AxonTensor *axon_infer_request_peek_own_output (AxonInferRequest *request, guint index);
AxonTensor *axon_infer_request_steal_output (AxonInferRequest *request, guint index);
