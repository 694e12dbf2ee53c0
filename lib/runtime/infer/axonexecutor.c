/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads: workers hold a reference on the queue, not on the executor. Whoever drops the executor
 * joins them, except a worker itself, which is left to end on its own. A stream that a caller runs
 * a task in is lent: its worker waits until it is back. */
#include <axon/plugin/axonexecutor.h>
#include "../../base/axonwork-private.h"

typedef struct {
  AxonTask task;
  gpointer user_data;
} Item;

/* What a device keeps of a stream; of its tasks. */
typedef struct {
  gpointer data;
  GDestroyNotify free;
} Kept;

typedef struct {
  gatomicrefcount ref_count;
  GMutex lock;
  GCond wake;
  GQueue items;  /* lock */
  gboolean stop; /* lock */
  guint n_lent;  /* lock: streams */
  guint8 *taken; /* lock: by stream, TRUE while a task runs in it */
  guint n_streams;
  Kept *kept; /* by stream */
} Queue;

struct _AxonExecutor {
  gatomicrefcount ref_count;
  gchar *name;
  gchar *key; /* in the manager's table; NULL: not shared by name */
  guint n_streams;
  GThread **threads;
  Queue *queue;
};

typedef struct {
  Queue *queue;
  guint stream;
} Worker;

static GMutex manager_lock;
static GHashTable *manager_table; /* manager_lock: key -> executor, no reference */

static void
queue_unref (Queue *queue)
{
  if (!g_atomic_ref_count_dec (&queue->ref_count))
    return;
  for (guint i = 0; i < queue->n_streams; i++)
    if (queue->kept[i].data != NULL)
      queue->kept[i].free (queue->kept[i].data);
  g_mutex_clear (&queue->lock);
  g_cond_clear (&queue->wake);
  g_free (queue->kept);
  g_free (queue->taken);
  g_free (queue);
}

/* Some of those who wait may wait for their stream only. */
static void
call_worker (Queue *queue)
{
  if (queue->n_lent > 0)
    g_cond_broadcast (&queue->wake);
  else
    g_cond_signal (&queue->wake);
}

static Item *
queue_pop (Queue *queue, guint stream)
{
  Item *item;
  g_mutex_lock (&queue->lock);
  while ((g_queue_is_empty (&queue->items) && !queue->stop) || queue->taken[stream])
    g_cond_wait (&queue->wake, &queue->lock);
  item = g_queue_pop_head (&queue->items);
  queue->taken[stream] = item != NULL;
  g_mutex_unlock (&queue->lock);
  return item;
}

static void
queue_give_back (Queue *queue, guint stream, gboolean was_lent)
{
  g_mutex_lock (&queue->lock);
  queue->taken[stream] = FALSE;
  if (was_lent && (queue->stop || !g_queue_is_empty (&queue->items)))
    call_worker (queue);
  queue->n_lent -= was_lent;
  g_mutex_unlock (&queue->lock);
}

static gpointer
worker_main (gpointer data)
{
  Worker worker = *(Worker *)data;
  Item *item;
  g_free (data);
  while ((item = queue_pop (worker.queue, worker.stream)) != NULL) {
    item->task (worker.stream, item->user_data);
    g_free (item);
    queue_give_back (worker.queue, worker.stream, FALSE);
  }
  queue_unref (worker.queue);
  return NULL;
}

#define THREAD_NAME_SIZE 16 /* of Linux; a longer name is not shown at all */

AxonExecutor *
axon_executor_new (const gchar *name, guint n_streams)
{
  AxonExecutor *e = g_new0 (AxonExecutor, 1);
  gchar shown[THREAD_NAME_SIZE];
  g_strlcpy (shown, name, sizeof shown);
  g_atomic_ref_count_init (&e->ref_count);
  e->name = g_strdup (name);
  e->n_streams = n_streams;
  e->threads = g_new0 (GThread *, n_streams + 1);
  e->queue = g_new0 (Queue, 1);
  g_atomic_ref_count_init (&e->queue->ref_count);
  e->queue->taken = g_new0 (guint8, n_streams + 1);
  e->queue->kept = g_new0 (Kept, n_streams + 1);
  e->queue->n_streams = n_streams;
  g_mutex_init (&e->queue->lock);
  g_cond_init (&e->queue->wake);
  for (guint i = 0; i < e->n_streams; i++) {
    Worker *worker = g_new (Worker, 1);
    *worker = (Worker){ e->queue, i };
    g_atomic_ref_count_inc (&e->queue->ref_count);
    e->threads[i] = g_thread_try_new (shown, worker_main, worker, NULL);
    if (e->threads[i] == NULL) { /* without any, tasks run in the caller's thread */
      g_message ("executor %s has %u threads instead of %u: no more can be made", name, i,
                 n_streams);
      queue_unref (e->queue);
      g_free (worker);
      e->n_streams = i;
    }
  }
  return e;
}

AxonExecutor *
axon_executor_ref (AxonExecutor *executor)
{
  g_atomic_ref_count_inc (&executor->ref_count);
  return executor;
}

/* Under the manager's lock where the table could hand out the executor meanwhile. */
static gboolean
drop_reference (AxonExecutor *e)
{
  gboolean last;
  if (e->key == NULL)
    return g_atomic_ref_count_dec (&e->ref_count);
  g_mutex_lock (&manager_lock);
  last = g_atomic_ref_count_dec (&e->ref_count);
  if (last)
    g_hash_table_remove (manager_table, e->key);
  g_mutex_unlock (&manager_lock);
  return last;
}

void
axon_executor_unref (AxonExecutor *e)
{
  if (!drop_reference (e))
    return;
  g_mutex_lock (&e->queue->lock);
  e->queue->stop = TRUE;
  g_cond_broadcast (&e->queue->wake);
  g_mutex_unlock (&e->queue->lock);
  for (guint i = 0; i < e->n_streams; i++)
    if (e->threads[i] == g_thread_self ())
      g_thread_unref (e->threads[i]);
    else
      g_thread_join (e->threads[i]);
  queue_unref (e->queue);
  g_free (e->threads);
  g_free (e->key);
  g_free (e->name);
  g_free (e);
}

guint
axon_executor_get_n_streams (AxonExecutor *executor)
{
  return executor->n_streams;
}

gpointer
axon_executor_get_stream_data (AxonExecutor *executor, guint stream, gpointer (*make) (void),
                               GDestroyNotify free)
{
  Kept *kept = &executor->queue->kept[stream];
  if (executor->n_streams == 0)
    return NULL;
  if (kept->data == NULL)
    *kept = (Kept){ make (), free };
  return kept->data;
}

void
axon_executor_run (AxonExecutor *executor, AxonTask task, gpointer user_data)
{
  Item *item;
  if (executor->n_streams == 0) {
    task (0, user_data);
    return;
  }
  item = g_new (Item, 1);
  *item = (Item){ task, user_data };
  g_mutex_lock (&executor->queue->lock);
  g_queue_push_tail (&executor->queue->items, item);
  call_worker (executor->queue);
  g_mutex_unlock (&executor->queue->lock);
}

/* The number of a stream that nobody uses, or that of streams. */
static guint
borrow_stream (AxonExecutor *executor)
{
  Queue *queue = executor->queue;
  guint stream = executor->n_streams;
  g_mutex_lock (&queue->lock);
  if (g_queue_is_empty (&queue->items) && !queue->stop)
    for (stream = 0; stream < executor->n_streams && queue->taken[stream];)
      stream++;
  if (stream < executor->n_streams) {
    queue->taken[stream] = TRUE;
    queue->n_lent++;
  }
  g_mutex_unlock (&queue->lock);
  return stream;
}

gboolean
axon_executor_try_run_here (AxonExecutor *executor, AxonTask task, gpointer user_data)
{
  guint stream = borrow_stream (executor);
  if (stream == executor->n_streams)
    return FALSE;
  axon_executor_ref (executor);
  task (stream, user_data);
  queue_give_back (executor->queue, stream, TRUE);
  axon_executor_unref (executor);
  return TRUE;
}

typedef struct {
  AxonTask task;
  gpointer user_data;
  const AxonWork *work; /* of the thread that waits */
  GMutex lock;
  GCond done_cond;
  gboolean done;
} Waited;

static void
run_waited (guint stream, gpointer data)
{
  Waited *w = data;
  const AxonWork *before = axon_work_enter (w->work);
  w->task (stream, w->user_data);
  axon_work_enter (before);
  g_mutex_lock (&w->lock);
  w->done = TRUE;
  g_cond_signal (&w->done_cond);
  g_mutex_unlock (&w->lock);
}

void
axon_executor_run_and_wait (AxonExecutor *executor, AxonTask task, gpointer user_data)
{
  Waited w = { .task = task, .user_data = user_data, .work = axon_work_get () };
  g_mutex_init (&w.lock);
  g_cond_init (&w.done_cond);
  axon_executor_run (executor, run_waited, &w);
  g_mutex_lock (&w.lock);
  while (!w.done)
    g_cond_wait (&w.done_cond, &w.lock);
  g_mutex_unlock (&w.lock);
  g_mutex_clear (&w.lock);
  g_cond_clear (&w.done_cond);
}

AxonExecutor *
axon_executor_manager_get (const gchar *name, guint n_streams)
{
  g_autofree gchar *key = g_strdup_printf ("%s/%u", name, n_streams);
  AxonExecutor *e;
  g_mutex_lock (&manager_lock);
  if (manager_table == NULL)
    manager_table = g_hash_table_new (g_str_hash, g_str_equal);
  e = g_hash_table_lookup (manager_table, key);
  if (e != NULL) {
    g_atomic_ref_count_inc (&e->ref_count);
  } else {
    e = axon_executor_new (name, n_streams);
    e->key = g_steal_pointer (&key);
    g_hash_table_insert (manager_table, e->key, e);
  }
  g_mutex_unlock (&manager_lock);
  return e;
}
