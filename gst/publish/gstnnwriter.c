/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In order: what is sent and not acknowledged, the one that is tried, the spool, the queue. */
#include "gstnnwriter.h"

#include "config.h"
#include "gstnnspool.h"
#include <glib/gi18n-lib.h>
#include <signal.h>

#define FIRST_INTERVAL (100 * G_TIME_SPAN_MILLISECOND)
#define LOOK_INTERVAL (10 * G_TIME_SPAN_MILLISECOND) /* for acknowledgements at the end */
#define MAX_QUEUE_BYTES (64 * 1024 * 1024)

struct _GstNnWriter {
  GMutex lock; /* a transport's own is taken inside; not held while it sends, nor while told */
  GCond changed;
  GQueue queue;          /* GstNnOutgoing */
  GQueue unacknowledged; /* writer's thread */
  GstNnOutgoing *current;
  GstNnSpool *spool; /* writer's thread; or NULL */
  guint queue_size, n_unacknowledged, n_spooled;
  gsize queue_bytes;
  guint64 sent, lost;
  gint64 interval, max_interval, retry_at;
  gboolean stops, hurries, drains, is_flushed;
  gboolean is_ready;     /* the transport said so since the last try began */
  gboolean fails, loses; /* said */
  gchar *location;
  GstStructure *options;
  GCancellable *cancellable;
  const GstNnTransport *transport;
  gpointer instance;
  GThread *thread;
  void (*tell) (GstNnWriterNews news, const gchar *text, gpointer data);
  gpointer data;
};

static void
outgoing_free (GstNnOutgoing *record)
{
  if (record != NULL)
    g_bytes_unref (record->bytes);
  g_free (record);
}

static GstNnOutgoing *
outgoing_new (GBytes *bytes, GstClockTime time)
{
  GstNnOutgoing *record = g_new (GstNnOutgoing, 1);
  record->bytes = bytes;
  record->time = time;
  return record;
}

/* Once, until all goes well again. Called and left with the lock. */
static void
say_lost (GstNnWriter *w, const gchar *why)
{
  g_autofree gchar *text = NULL;
  if (w->loses)
    return;
  w->loses = TRUE;
  g_mutex_unlock (&w->lock);
  text = g_strdup_printf (_ ("%s: records get lost: %s"), w->location, why);
  w->tell (GST_NN_WRITER_FAILS, text, w->data);
  g_mutex_lock (&w->lock);
}

static void
on_lost (guint n, const gchar *why, gpointer data)
{
  GstNnWriter *w = data;
  g_mutex_lock (&w->lock);
  w->lost += n;
  say_lost (w, why);
  g_mutex_unlock (&w->lock);
}

static void
on_ready (gpointer data)
{
  GstNnWriter *w = data;
  g_mutex_lock (&w->lock);
  w->is_ready = TRUE;
  w->retry_at = 0;
  g_cond_broadcast (&w->changed);
  g_mutex_unlock (&w->lock);
}

static GstNnOutgoing *
pop (GstNnWriter *w)
{
  GstNnOutgoing *record = g_queue_pop_head (&w->queue);
  if (record != NULL)
    w->queue_bytes -= g_bytes_get_size (record->bytes);
  return record;
}

/* More than half a queue that cannot go on waits on disk. Called and left with the lock. */
static void
spill (GstNnWriter *w)
{
  if (w->spool == NULL || !(w->fails || w->n_spooled > 0) ||
      (g_queue_get_length (&w->queue) <= w->queue_size / 2 && !w->stops))
    return;
  for (GstNnOutgoing *record = pop (w); record != NULL; record = pop (w)) {
    g_autoptr (GError) error = NULL;
    g_mutex_unlock (&w->lock);
    gst_nn_spool_append (w->spool, record->bytes, &error);
    outgoing_free (record);
    g_mutex_lock (&w->lock);
    if (error != NULL) {
      w->lost++;
      say_lost (w, error->message);
    }
  }
  w->n_spooled = gst_nn_spool_get_length (w->spool);
}

static GstNnOutgoing *
take_next (GstNnWriter *w)
{
  GBytes *bytes = w->spool != NULL && w->n_spooled > 0 ? gst_nn_spool_next (w->spool) : NULL;
  if (w->spool != NULL)
    w->n_spooled = gst_nn_spool_get_length (w->spool);
  return bytes != NULL ? outgoing_new (bytes, GST_CLOCK_TIME_NONE) : pop (w);
}

/* Acknowledged are all but the last so many. */
static void
forget_acknowledged (GstNnWriter *w)
{
  guint left = w->transport->unacknowledged ? w->transport->unacknowledged (w->instance) : 0;
  while (g_queue_get_length (&w->unacknowledged) > left) {
    outgoing_free (g_queue_pop_head (&w->unacknowledged));
    w->sent++;
  }
  w->n_unacknowledged = g_queue_get_length (&w->unacknowledged);
}

static void
say_failed (GstNnWriter *w, const GError *error)
{
  gint64 wait = w->interval;
  w->retry_at = w->is_ready ? 0 : g_get_monotonic_time () + wait;
  w->interval = MIN (wait * 2, w->max_interval);
  if (w->fails || w->stops)
    return;
  w->fails = TRUE;
  g_mutex_unlock (&w->lock);
  w->tell (GST_NN_WRITER_FAILS, error->message, w->data);
  g_mutex_lock (&w->lock);
}

static void
say_goes_on (GstNnWriter *w)
{
  g_autofree gchar *text = NULL;
  w->interval = FIRST_INTERVAL;
  if (!w->fails)
    return;
  w->fails = w->loses = FALSE;
  text = g_strdup_printf (_ ("%s: records go out again; %llu were lost so far"), w->location,
                          (unsigned long long)w->lost);
  g_mutex_unlock (&w->lock);
  w->tell (GST_NN_WRITER_GOES_ON, text, w->data);
  g_mutex_lock (&w->lock);
}

/* Called and left with the lock. */
static void
send_current (GstNnWriter *w)
{
  g_autoptr (GError) error = NULL;
  gboolean ok;
  w->is_flushed = w->is_ready = FALSE;
  g_mutex_unlock (&w->lock);
  ok = w->transport->send (w->instance, w->current, &error);
  g_mutex_lock (&w->lock);
  if (ok) {
    g_queue_push_tail (&w->unacknowledged, g_steal_pointer (&w->current));
    say_goes_on (w);
  } else if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA)) {
    g_clear_pointer (&w->current, outgoing_free);
    w->lost++;
    say_lost (w, error->message);
  } else {
    say_failed (w, error);
  }
}

/* The stream has ended: on disk, too. Called and left with the lock. */
static void
flush (GstNnWriter *w)
{
  g_autoptr (GError) error = NULL;
  gboolean ok;
  g_mutex_unlock (&w->lock);
  ok = w->transport->flush == NULL || w->transport->flush (w->instance, &error);
  g_mutex_lock (&w->lock);
  if (!ok)
    say_failed (w, error);
  w->is_flushed = TRUE;
  g_cond_broadcast (&w->changed);
}

static gpointer
run (gpointer data)
{
  GstNnWriter *w = data;
  sigset_t pipe;
  sigemptyset (&pipe);
  sigaddset (&pipe, SIGPIPE); /* a reader that went away, as `head` does, would end the process */
  pthread_sigmask (SIG_BLOCK, &pipe, NULL);
  g_mutex_lock (&w->lock);
  while (!w->stops) {
    gint64 now = g_get_monotonic_time ();
    spill (w);
    forget_acknowledged (w);
    if (w->current == NULL)
      w->current = take_next (w);
    if (w->current != NULL && now >= w->retry_at)
      send_current (w);
    else if (w->current != NULL)
      g_cond_wait_until (&w->changed, &w->lock, w->retry_at);
    else if (w->n_unacknowledged > 0)
      g_cond_wait_until (&w->changed, &w->lock, now + LOOK_INTERVAL);
    else if (w->drains && !w->is_flushed)
      flush (w);
    else
      g_cond_wait (&w->changed, &w->lock);
  }
  g_mutex_unlock (&w->lock);
  return NULL;
}

void
gst_nn_writer_push (GstNnWriter *w, GBytes *bytes, GstClockTime time)
{
  gboolean was_empty;
  g_mutex_lock (&w->lock);
  was_empty = g_queue_is_empty (&w->queue);
  g_queue_push_tail (&w->queue, outgoing_new (bytes, time));
  w->queue_bytes += g_bytes_get_size (bytes);
  while (g_queue_get_length (&w->queue) > w->queue_size || w->queue_bytes > MAX_QUEUE_BYTES) {
    outgoing_free (pop (w));
    w->lost++;
    say_lost (w, _ ("the queue is full"));
  }
  /* Who waits to try again, waits on; but for what the spool may take now. */
  if (was_empty || w->spool != NULL)
    g_cond_broadcast (&w->changed);
  g_mutex_unlock (&w->lock);
}

gboolean
gst_nn_writer_drain (GstNnWriter *w, gint64 timeout)
{
  gint64 end = g_get_monotonic_time () + timeout;
  gboolean ok;
  g_mutex_lock (&w->lock);
  w->drains = TRUE;
  w->is_flushed = FALSE;
  w->retry_at = 0;
  g_cond_broadcast (&w->changed);
  while (!w->is_flushed && !w->hurries && g_cond_wait_until (&w->changed, &w->lock, end)) {
  }
  ok = w->is_flushed && !w->fails;
  w->drains = FALSE;
  g_mutex_unlock (&w->lock);
  return ok;
}

void
gst_nn_writer_hurry (GstNnWriter *w)
{
  g_mutex_lock (&w->lock);
  w->hurries = w->fails;
  g_cond_broadcast (&w->changed);
  g_mutex_unlock (&w->lock);
}

GstStructure *
gst_nn_writer_get_stats (GstNnWriter *w)
{
  GstStructure *stats;
  guint waiting;
  g_mutex_lock (&w->lock);
  waiting = g_queue_get_length (&w->queue) + w->n_unacknowledged + (w->current != NULL);
  stats = gst_structure_new ("nnpublish-stats", "sent", G_TYPE_UINT64, w->sent, "lost",
                             G_TYPE_UINT64, w->lost, "queued", G_TYPE_UINT, waiting, "spooled",
                             G_TYPE_UINT, w->n_spooled, "failing", G_TYPE_BOOLEAN, w->fails, NULL);
  g_mutex_unlock (&w->lock);
  return stats;
}

/* What was not sent: to the spool, in order; or it is lost. Nobody else is here any more. */
static void
keep_rest (GstNnWriter *w)
{
  g_autoptr (GError) error = NULL;
  g_autolist (GBytes) older = NULL;
  guint n;
  if (w->current != NULL)
    g_queue_push_tail (&w->unacknowledged, g_steal_pointer (&w->current));
  n = g_queue_get_length (&w->unacknowledged);
  if (w->spool == NULL) {
    n += g_queue_get_length (&w->queue);
  } else { /* older than all that waits on disk */
    for (GList *i = w->unacknowledged.tail; i != NULL; i = i->prev)
      older = g_list_prepend (older, g_bytes_ref (((GstNnOutgoing *)i->data)->bytes));
    if (older == NULL || gst_nn_spool_prepend (w->spool, older, &error))
      n = 0;
    w->fails = TRUE;
    spill (w);
  }
  w->lost += n;
  g_queue_clear_full (&w->unacknowledged, (GDestroyNotify)outgoing_free);
  g_queue_clear_full (&w->queue, (GDestroyNotify)outgoing_free);
  w->n_unacknowledged = 0;
  if (n > 0)
    say_lost (w, error ? error->message : _ ("the stream ends before they are sent"));
}

static void
writer_free (GstNnWriter *w)
{
  if (w->instance != NULL)
    w->transport->close (w->instance);
  g_clear_pointer (&w->spool, gst_nn_spool_close);
  g_queue_clear_full (&w->queue, (GDestroyNotify)outgoing_free);
  g_queue_clear_full (&w->unacknowledged, (GDestroyNotify)outgoing_free);
  g_clear_pointer (&w->options, gst_structure_free);
  g_object_unref (w->cancellable);
  g_free (w->location);
  g_mutex_clear (&w->lock);
  g_cond_clear (&w->changed);
  g_free (w);
}

GstStructure *
gst_nn_writer_close (GstNnWriter *w)
{
  GstStructure *stats;
  g_mutex_lock (&w->lock);
  w->stops = TRUE;
  g_cond_broadcast (&w->changed);
  g_mutex_unlock (&w->lock);
  g_cancellable_cancel (w->cancellable);
  g_thread_join (w->thread);
  g_mutex_lock (&w->lock);
  forget_acknowledged (w);
  keep_rest (w);
  g_mutex_unlock (&w->lock);
  stats = gst_nn_writer_get_stats (w);
  writer_free (w);
  return stats;
}

static gboolean
open_transport (GstNnWriter *w, const GstNnWriterSettings *settings, GError **error)
{
  GstNnTransportSettings s = {
    .location = w->location,
    .media_type = settings->media_type,
    .append = settings->append,
    .cancellable = w->cancellable,
    .ready = on_ready,
    .lost = on_lost,
    .data = w,
  };
  w->transport = gst_nn_transport_find (w->location, error);
  if (w->transport != NULL)
    w->options = gst_nn_transport_options (w->transport, settings->options, error);
  if (w->options == NULL)
    return FALSE;
  if (settings->spool != NULL)
    w->spool = gst_nn_spool_open (settings->spool, settings->spool_size, error);
  if (settings->spool != NULL && w->spool == NULL)
    return FALSE;
  w->n_spooled = w->spool ? gst_nn_spool_get_length (w->spool) : 0;
  s.options = w->options;
  w->instance = w->transport->open (&s, error);
  return w->instance != NULL;
}

GstNnWriter *
gst_nn_writer_new (const GstNnWriterSettings *settings, GError **error)
{
  GstNnWriter *w = g_new0 (GstNnWriter, 1);
  g_mutex_init (&w->lock);
  g_cond_init (&w->changed);
  w->location = g_strdup (settings->location);
  w->cancellable = g_cancellable_new ();
  w->queue_size = settings->queue_size;
  w->interval = FIRST_INTERVAL;
  w->max_interval = MAX (FIRST_INTERVAL, settings->max_interval * G_TIME_SPAN_SECOND);
  w->tell = settings->tell;
  w->data = settings->data;
  if (open_transport (w, settings, error)) {
    w->thread = g_thread_new ("nnpublish", run, w);
    return w;
  }
  writer_free (w);
  return NULL;
}
