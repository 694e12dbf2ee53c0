/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GLib's locks are futexes of its own, which ThreadSanitizer cannot see. These stand in front of
 * them and tell it what happens before what. Linked to tests with -Db_sanitize=thread only. */
#include <dlfcn.h>
#include <glib-object.h>

void __tsan_acquire (void *address);
void __tsan_release (void *address);

#define SEEN __attribute__ ((no_sanitize ("thread"), visibility ("default")))
#define REAL(name)                                                                                 \
  static __typeof__ (&name) real;                                                                  \
  if (real == NULL)                                                                                \
  real = (__typeof__ (&name))dlsym (RTLD_NEXT, #name)

SEEN void
g_mutex_lock (GMutex *mutex)
{
  REAL (g_mutex_lock);
  real (mutex);
  __tsan_acquire (mutex);
}

SEEN void
g_mutex_unlock (GMutex *mutex)
{
  REAL (g_mutex_unlock);
  __tsan_release (mutex);
  real (mutex);
}

SEEN void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  REAL (g_cond_wait);
  __tsan_release (mutex);
  real (cond, mutex);
  __tsan_acquire (mutex);
}

SEEN gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_time)
{
  gboolean signalled;
  REAL (g_cond_wait_until);
  __tsan_release (mutex);
  signalled = real (cond, mutex, end_time);
  __tsan_acquire (mutex);
  return signalled;
}

/* What came out of a queue was put in before; GstHarness gives buffers and events so. */
SEEN void
g_async_queue_push (GAsyncQueue *queue, gpointer data)
{
  REAL (g_async_queue_push);
  __tsan_release (queue);
  real (queue, data);
}

SEEN gpointer
g_async_queue_try_pop (GAsyncQueue *queue)
{
  gpointer data;
  REAL (g_async_queue_try_pop);
  data = real (queue);
  __tsan_acquire (queue);
  return data;
}

SEEN gpointer
g_async_queue_timeout_pop (GAsyncQueue *queue, guint64 timeout)
{
  gpointer data;
  REAL (g_async_queue_timeout_pop);
  data = real (queue, timeout);
  __tsan_acquire (queue);
  return data;
}

/* What a main context calls was attached before. Callbacks of other sources are not of this type.
 */
typedef struct {
  GSourceFunc func;
  gpointer data;
  GDestroyNotify notify;
} Callback;

SEEN static gboolean
run_callback (gpointer user_data)
{
  Callback *callback = user_data;
  __tsan_acquire (callback);
  return callback->func (callback->data);
}

SEEN static void
end_callback (gpointer user_data)
{
  Callback *callback = user_data;
  __tsan_acquire (callback);
  if (callback->notify != NULL)
    callback->notify (callback->data);
  g_free (callback);
}

SEEN void
g_source_set_callback (GSource *source, GSourceFunc func, gpointer data, GDestroyNotify notify)
{
  Callback *callback;
  REAL (g_source_set_callback);
  if (source->source_funcs != &g_idle_funcs && source->source_funcs != &g_timeout_funcs) {
    real (source, func, data, notify);
    return;
  }
  callback = g_new (Callback, 1);
  *callback = (Callback){ func, data, notify };
  __tsan_release (callback);
  real (source, run_callback, callback, end_callback);
}

SEEN void (g_once_init_leave) (volatile void *location, gsize result)
{
  REAL (g_once_init_leave);
  __tsan_release ((void *)location);
  real (location, result);
}

/* The last reference to go sees what every other holder did: each of them releases before it counts
 * down, and who finds himself alone acquires. Nobody here has toggle references. */
SEEN void
g_object_unref (gpointer object)
{
  gint *count = (gint *)&((GObject *)object)->ref_count;
  gint old;
  REAL (g_object_unref);
  __tsan_release (object);
  while ((old = g_atomic_int_get (count)) > 1)
    if (g_atomic_int_compare_and_exchange (count, old, old - 1))
      return;
  __tsan_acquire (object);
  real (object);
}

SEEN
gboolean (g_atomic_ref_count_dec) (gatomicrefcount *count)
{
  gboolean last;
  REAL (g_atomic_ref_count_dec);
  __tsan_release (count);
  last = real (count);
  if (last)
    __tsan_acquire (count);
  return last;
}

/* Who finds himself the only holder may write: see axon_tensor_is_shared(). */
SEEN
gboolean (g_atomic_ref_count_compare) (gatomicrefcount *count, gint value)
{
  gboolean equal;
  REAL (g_atomic_ref_count_compare);
  equal = real (count, value);
  if (equal)
    __tsan_acquire (count);
  return equal;
}
