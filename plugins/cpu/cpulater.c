/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpulater.h"

#include "cpudenormals.h"
#include "cpuopenmp.h"
#include "cpupool.h"

#include <axon/axon-plugin.h>

#define WORTH_A_HELPER 4 /* tasks that wait for those that there are */

typedef struct {
  CpuLaterFunc func;
  gpointer data;
} Task;

struct _CpuLater {
  GMutex lock;
  GCond changed;
  GQueue tasks;          /* lock: Task */
  guint busy;            /* lock: tasks that are being done */
  gboolean stop;         /* lock */
  gboolean lacks_memory; /* atomic */
  guint n_helpers;       /* that there may be */
  GPtrArray *helpers;    /* GThread */
  /* of the maker's thread */
  const AxonWork *work;
  CpuFloatMode mode;
  guint width;
};

static void
do_task (CpuLater *self, const Task *task)
{
  if (!task->func (task->data))
    g_atomic_int_set (&self->lacks_memory, TRUE);
}

/* One that waits; FALSE: none does. Caller: lock. */
static gboolean
do_next (CpuLater *self)
{
  Task *task = g_queue_pop_head (&self->tasks);
  if (task == NULL)
    return FALSE;
  self->busy++;
  g_mutex_unlock (&self->lock);
  do_task (self, task);
  g_free (task);
  g_mutex_lock (&self->lock);
  self->busy--;
  g_cond_broadcast (&self->changed);
  return TRUE;
}

static gpointer
helper_main (gpointer data)
{
  CpuLater *self = data;
  axon_work_enter (self->work);
  cpu_float_mode_set (self->mode);
  cpu_pool_stand_in (self->width);
  g_mutex_lock (&self->lock);
  while (!self->stop)
    if (!do_next (self))
      g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);
  return NULL;
}

CpuLater *
cpu_later_new (guint n_helpers)
{
  CpuLater *self = g_new0 (CpuLater, 1);
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  self->n_helpers = n_helpers;
  self->helpers = g_ptr_array_new ();
  self->work = axon_work_get ();
  self->mode = cpu_float_mode_get ();
  self->width = cpu_parallel_width ();
  return self;
}

guint
cpu_later_get_helpers (const CpuLater *self)
{
  return self->n_helpers;
}

/* Where the system gives no thread, those that there are do all. Threads of libgomp would not count
 * as the maker's do. */
static void
get_help (CpuLater *self)
{
  GThread *helper = NULL;
  if (self->helpers->len >= self->n_helpers || !cpu_openmp_is_ours ())
    return;
  helper = g_thread_try_new ("axon-cpu-helper", helper_main, self, NULL);
  if (helper != NULL)
    g_ptr_array_add (self->helpers, helper);
  else
    self->n_helpers = self->helpers->len;
}

void
cpu_later_add (CpuLater *self, CpuLaterFunc func, gpointer data)
{
  const Task task = { func, data };
  guint waiting;
  if (self->n_helpers == 0) {
    do_task (self, &task);
    return;
  }
  g_mutex_lock (&self->lock);
  g_queue_push_tail (&self->tasks, g_memdup2 (&task, sizeof task));
  waiting = g_queue_get_length (&self->tasks);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  if (waiting >= WORTH_A_HELPER)
    get_help (self);
}

gboolean
cpu_later_is_well (CpuLater *self)
{
  return !g_atomic_int_get (&self->lacks_memory);
}

void
cpu_later_finish (CpuLater *self, GCancellable *cancellable)
{
  g_mutex_lock (&self->lock);
  while (!g_cancellable_is_cancelled (cancellable) && do_next (self))
    ;
  while (self->busy > 0)
    g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);
}

void
cpu_later_free (CpuLater *self)
{
  g_mutex_lock (&self->lock);
  self->stop = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  for (guint i = 0; i < self->helpers->len; i++)
    g_thread_join (g_ptr_array_index (self->helpers, i));
  g_ptr_array_unref (self->helpers);
  g_queue_clear_full (&self->tasks, g_free);
  g_cond_clear (&self->changed);
  g_mutex_clear (&self->lock);
  g_free (self);
}
