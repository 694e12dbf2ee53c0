/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Executors: where tasks run. A streams executor has one thread per stream and one FIFO queue. */
#pragma once

#include <glib.h>

#include <axon/axonapi.h>

G_BEGIN_DECLS

typedef struct _AxonExecutor AxonExecutor;
typedef void (*AxonTask) (guint stream, gpointer user_data);

/* @n_streams 0: immediate, tasks run in the caller's thread. */
AXON_API AxonExecutor *axon_executor_new (const gchar *name, guint n_streams);
AXON_API AxonExecutor *axon_executor_ref (AxonExecutor *executor);
AXON_API void axon_executor_unref (AxonExecutor *executor);
AXON_API guint axon_executor_get_n_streams (AxonExecutor *executor);
AXON_API void axon_executor_run (AxonExecutor *executor, AxonTask task, gpointer user_data);
AXON_API void axon_executor_run_and_wait (AxonExecutor *executor, AxonTask task,
                                          gpointer user_data);

/* Process-wide: executors by name and number of streams, shared while anybody holds one. */
AXON_API AxonExecutor *axon_executor_manager_get (const gchar *name, guint n_streams);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonExecutor, axon_executor_unref)

G_END_DECLS
