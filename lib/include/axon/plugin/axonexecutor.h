/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Executors: where tasks run. A streams executor has one thread per stream and one FIFO queue. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _AxonExecutor AxonExecutor;
typedef void (*AxonTask) (guint stream, gpointer user_data);

#ifndef __GI_SCANNER__ /* for plugins, which are C */
/* @n_streams 0: immediate, tasks run in the caller's thread. */
AxonExecutor *axon_executor_new (const gchar *name, guint n_streams);
AxonExecutor *axon_executor_ref (AxonExecutor *executor);
void axon_executor_unref (AxonExecutor *executor);
guint axon_executor_get_n_streams (AxonExecutor *executor);
void axon_executor_run (AxonExecutor *executor, AxonTask task, gpointer user_data);
void axon_executor_run_and_wait (AxonExecutor *executor, AxonTask task, gpointer user_data);

/* Process-wide: executors by name and number of streams, shared while anybody holds one. */
AxonExecutor *axon_executor_manager_get (const gchar *name, guint n_streams);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonExecutor, axon_executor_unref)
#endif

G_END_DECLS
