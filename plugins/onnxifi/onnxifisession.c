/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "onnxifisession.h"

typedef struct {
  OnnxifiTask func; /* NULL: the thread ends */
  gpointer data;
  gboolean is_done; /* lock */
} Task;

struct _OnnxifiSession {
  const OnnxifiDevice *device;
  GObject *keep;
  onnxBackend backend;
  GThread *thread; /* NULL: any */
  GMutex lock;
  GCond changed;
  GQueue tasks; /* lock: Task, of those who wait for them */
};

static Task *
wait_for_task (OnnxifiSession *self)
{
  Task *task;
  g_mutex_lock (&self->lock);
  while ((task = g_queue_pop_head (&self->tasks)) == NULL)
    g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);
  return task;
}

static gpointer
run_tasks (gpointer data)
{
  OnnxifiSession *self = data;
  gboolean more = TRUE;
  while (more) {
    Task *task = wait_for_task (self);
    more = task->func != NULL;
    if (more)
      task->func (task->data);
    g_mutex_lock (&self->lock);
    task->is_done = TRUE;
    g_cond_broadcast (&self->changed);
    g_mutex_unlock (&self->lock);
  }
  return NULL;
}

static void
hand_over (OnnxifiSession *self, OnnxifiTask func, gpointer data)
{
  Task task = { .func = func, .data = data };
  g_mutex_lock (&self->lock);
  g_queue_push_tail (&self->tasks, &task);
  g_cond_broadcast (&self->changed);
  while (!task.is_done)
    g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);
}

void
onnxifi_session_call (OnnxifiSession *self, OnnxifiTask func, gpointer data)
{
  if (self->thread == NULL)
    func (data);
  else
    hand_over (self, func, data);
}

onnxBackend
onnxifi_session_get_backend (const OnnxifiSession *self)
{
  return self->backend;
}

const OnnxifiDevice *
onnxifi_session_get_device (const OnnxifiSession *self)
{
  return self->device;
}

gboolean
onnxifi_session_is_thread_safe (const OnnxifiSession *self)
{
  return self->thread == NULL;
}

typedef struct {
  OnnxifiSession *session;
  const guint64 *properties;
  onnxStatus status;
} Init;

static void
init (gpointer data)
{
  Init *call = data;
  OnnxifiSession *self = call->session;
  call->status =
      self->device->library->InitBackend (self->device->id, call->properties, &self->backend);
}

static void
release (gpointer data)
{
  OnnxifiSession *self = data;
  self->device->library->ReleaseBackend (self->backend);
}

void
onnxifi_session_free (OnnxifiSession *self)
{
  if (self->backend != NULL)
    onnxifi_session_call (self, release, self);
  if (self->thread != NULL) {
    hand_over (self, NULL, NULL);
    g_thread_join (self->thread);
  }
  g_cond_clear (&self->changed);
  g_mutex_clear (&self->lock);
  g_object_unref (self->keep);
  g_free (self);
}

/* What the user asked for, where the backend takes it. */
static void
choose_properties (const OnnxifiDevice *device, const AxonConfig *config, guint64 *list)
{
  gboolean many = g_str_equal (axon_config_get_string (config, "PERFORMANCE_HINT"), "THROUGHPUT");
  if (device->init_properties & ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION) {
    *list++ = ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION;
    *list++ = many ? ONNXIFI_OPTIMIZATION_HIGH_THROUGHPUT : ONNXIFI_OPTIMIZATION_LOW_LATENCY;
  }
  *list = ONNXIFI_BACKEND_PROPERTY_NONE;
}

OnnxifiSession *
onnxifi_session_new (const OnnxifiDevice *device, GObject *keep, const AxonConfig *config,
                     GError **error)
{
  OnnxifiSession *self = g_new0 (OnnxifiSession, 1);
  guint64 properties[3];
  Init call = { self, properties, ONNXIFI_STATUS_SUCCESS };
  self->device = device;
  self->keep = g_object_ref (keep);
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  g_queue_init (&self->tasks);
  if (!(device->capabilities & ONNXIFI_CAPABILITY_THREAD_SAFE))
    self->thread = g_thread_try_new ("onnxifi", run_tasks, self, error);
  if (self->thread == NULL && !(device->capabilities & ONNXIFI_CAPABILITY_THREAD_SAFE)) {
    onnxifi_session_free (self);
    return NULL;
  }
  choose_properties (device, config, properties);
  onnxifi_session_call (self, init, &call);
  if (onnxifi_check (device->library, "InitBackend", call.status, error))
    return self;
  self->backend = NULL;
  onnxifi_session_free (self);
  return NULL;
}
