/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Executors: where tasks run. A streams executor has one thread per stream and one FIFO queue.
 * Any thread. */
#pragma once

#include <glib.h>

#include <axon/axonapi.h>

G_BEGIN_DECLS

typedef struct _AxonExecutor AxonExecutor;
typedef void (*AxonTask) (guint stream, gpointer user_data);

/**
 * axon_executor_new:
 * @name: shown as the name of its threads
 * @n_streams: number of streams, each with a thread; 0: immediate, tasks run in the caller's thread
 *
 * Makes an executor.
 *
 * Returns: (transfer full): an executor
 *
 * Since: 1.0
 */
AXON_API AxonExecutor *axon_executor_new (const gchar *name, guint n_streams);

/**
 * axon_executor_ref:
 * @executor: an executor
 *
 * Takes a reference.
 *
 * Returns: (transfer full): @executor
 *
 * Since: 1.0
 */
AXON_API AxonExecutor *axon_executor_ref (AxonExecutor *executor);

/**
 * axon_executor_unref:
 * @executor: (transfer full): an executor
 *
 * Drops a reference. The last one waits until the tasks in the queue have run and the threads have
 * ended, but for a thread that calls this itself.
 *
 * Since: 1.0
 */
AXON_API void axon_executor_unref (AxonExecutor *executor);

/**
 * axon_executor_get_n_streams:
 * @executor: an executor
 *
 * Counts the streams.
 *
 * Returns: the number of streams; 0: immediate
 *
 * Since: 1.0
 */
AXON_API guint axon_executor_get_n_streams (AxonExecutor *executor);

/**
 * axon_executor_get_stream_data:
 * @executor: an executor
 * @stream: the stream that the caller's task runs in
 * @make: (scope call): makes what is to be kept
 * @free: frees it
 *
 * Gives what a device keeps of a stream, in whichever thread its tasks run, and makes it the first
 * time. Only from a task of that stream, or while none runs in it; always with the same functions.
 * It is freed with the stream.
 *
 * Returns: (transfer none) (nullable): what is kept; %NULL of an immediate executor
 *
 * Since: 1.0
 */
AXON_API gpointer axon_executor_get_stream_data (AxonExecutor *executor, guint stream,
                                                 gpointer (*make) (void), GDestroyNotify free);

/**
 * axon_executor_run:
 * @executor: an executor
 * @task: what to do
 * @user_data: for the function
 *
 * Queues a task; tasks begin in the order in which they were queued. Of an immediate executor, runs
 * it.
 *
 * Since: 1.0
 */
AXON_API void axon_executor_run (AxonExecutor *executor, AxonTask task, gpointer user_data);

/**
 * axon_executor_try_run_here:
 * @executor: an executor
 * @task: what to do
 * @user_data: for the function
 *
 * Runs a task in the caller's thread and in the place of a stream that has nothing to do, which
 * takes no other task meanwhile.
 *
 * Returns: %FALSE, and nothing was run, if all streams are at work, or if there are none
 *
 * Since: 1.0
 */
AXON_API gboolean axon_executor_try_run_here (AxonExecutor *executor, AxonTask task,
                                              gpointer user_data);

/**
 * axon_executor_run_and_wait:
 * @executor: an executor
 * @task: what to do
 * @user_data: for the function
 *
 * Queues a task and waits until it has run. Never from a task of the same executor: with one stream
 * it would wait for itself.
 *
 * Since: 1.0
 */
AXON_API void axon_executor_run_and_wait (AxonExecutor *executor, AxonTask task,
                                          gpointer user_data);

/**
 * axon_executor_manager_get:
 * @name: name of the executor
 * @n_streams: as axon_executor_new()
 *
 * Gives the process's executor of that name and number of streams, which everybody who asks for it
 * shares. Its threads end with the last reference.
 *
 * Returns: (transfer full): an executor
 *
 * Since: 1.0
 */
AXON_API AxonExecutor *axon_executor_manager_get (const gchar *name, guint n_streams);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonExecutor, axon_executor_unref)

G_END_DECLS
