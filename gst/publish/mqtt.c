/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mqtt://HOST[:PORT]/TOPIC, mqtts:// with TLS, by libmosquitto. From quality of service 1 on, the
 * library keeps what the broker has not acknowledged and sends it again.
 * Threads: the writer's sends, one of its own talks to the broker and connects again. */
#include "gstnnaccess.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <mosquitto.h>
#include <signal.h>

#define WINDOW 64     /* messages that are not acknowledged */
#define KEEPALIVE 30  /* seconds */
#define LOOP_TIME 500 /* milliseconds; what is sent wakes it */
#define CONNECT_TIME (10 * G_TIME_SPAN_SECOND)
#define FIRST_DELAY (250 * G_TIME_SPAN_MILLISECOND)

typedef struct {
  struct mosquitto *client;
  gchar *location, *host, *topic;
  gint port, qos;
  gboolean retain;
  GMutex lock; /* for what follows; not held in the library */
  GCond changed;
  gboolean connected, stops;
  guint in_flight;
  gchar *reason; /* why it is not connected */
  gint64 max_delay;
  GThread *thread;
  GCancellable *cancellable;
  void (*ready) (gpointer data);
  gpointer data;
} Mqtt;

static void
set_reason (Mqtt *m, const gchar *reason)
{
  g_free (m->reason);
  m->reason = g_strdup (reason);
}

static void
on_connect (G_GNUC_UNUSED struct mosquitto *client, void *data, int code)
{
  Mqtt *m = data;
  g_mutex_lock (&m->lock);
  m->connected = code == 0;
  if (code != 0)
    set_reason (m, mosquitto_connack_string (code));
  g_cond_broadcast (&m->changed);
  g_mutex_unlock (&m->lock);
  if (code == 0)
    m->ready (m->data);
}

static void
on_disconnect (G_GNUC_UNUSED struct mosquitto *client, void *data, int code)
{
  Mqtt *m = data;
  g_mutex_lock (&m->lock);
  if (m->connected)
    set_reason (m, mosquitto_strerror (code));
  m->connected = FALSE;
  g_mutex_unlock (&m->lock);
}

static void
on_publish (G_GNUC_UNUSED struct mosquitto *client, void *data, G_GNUC_UNUSED int id)
{
  Mqtt *m = data;
  gboolean was_full;
  g_mutex_lock (&m->lock);
  was_full = m->in_flight >= WINDOW;
  m->in_flight -= m->in_flight > 0;
  g_mutex_unlock (&m->lock);
  if (was_full)
    m->ready (m->data);
}

/* The library says here only what is wrong with a certificate. */
static void
on_log (G_GNUC_UNUSED struct mosquitto *client, void *data, int level, const char *text)
{
  Mqtt *m = data;
  if (level != MOSQ_LOG_ERR)
    return;
  g_mutex_lock (&m->lock);
  set_reason (m, text);
  g_mutex_unlock (&m->lock);
}

/* Called and left with the lock. */
static gint64
wait_to_connect (Mqtt *m, int code, gint64 delay)
{
  gint64 end = g_get_monotonic_time () + delay;
  if (code != MOSQ_ERR_SUCCESS && m->reason == NULL)
    set_reason (m, code == MOSQ_ERR_ERRNO ? g_strerror (errno) : mosquitto_strerror (code));
  while (!m->stops && g_cond_wait_until (&m->changed, &m->lock, end)) {
  }
  return MIN (delay * 2, m->max_delay);
}

static gpointer
talk (gpointer data)
{
  Mqtt *m = data;
  gint64 delay = FIRST_DELAY;
  sigset_t pipe;
  int code;
  sigemptyset (&pipe);
  sigaddset (&pipe, SIGPIPE); /* TLS writes to connections that are gone */
  pthread_sigmask (SIG_BLOCK, &pipe, NULL);
  code = mosquitto_connect_async (m->client, m->host, m->port, KEEPALIVE);
  g_mutex_lock (&m->lock);
  while (!m->stops) {
    g_mutex_unlock (&m->lock);
    while (code == MOSQ_ERR_SUCCESS && !g_atomic_int_get (&m->stops))
      code = mosquitto_loop (m->client, LOOP_TIME, 1);
    g_mutex_lock (&m->lock);
    if (m->connected)
      delay = FIRST_DELAY;
    m->connected = FALSE;
    delay = wait_to_connect (m, code, delay);
    g_mutex_unlock (&m->lock);
    code = g_atomic_int_get (&m->stops) ? MOSQ_ERR_NO_CONN : mosquitto_reconnect_async (m->client);
    g_mutex_lock (&m->lock);
  }
  g_mutex_unlock (&m->lock);
  return NULL;
}

/* The first try to connect may take its time; after that it is said why it is not. With the lock.
 */
static void
wait_for_broker (Mqtt *m)
{
  gint64 now = g_get_monotonic_time (), end = now + CONNECT_TIME;
  for (; !m->connected && m->reason == NULL && now < end; now = g_get_monotonic_time ()) {
    if (g_cancellable_is_cancelled (m->cancellable))
      break;
    g_cond_wait_until (&m->changed, &m->lock, now + 50 * G_TIME_SPAN_MILLISECOND);
  }
}

static gboolean
mqtt_send (gpointer transport, const GstNnOutgoing *record, GError **error)
{
  Mqtt *m = transport;
  gsize n;
  const void *data = g_bytes_get_data (record->bytes, &n);
  gboolean can;
  int code;
  g_mutex_lock (&m->lock);
  wait_for_broker (m);
  can = m->connected && m->in_flight < WINDOW;
  if (!can)
    g_set_error (error, G_IO_ERROR, m->connected ? G_IO_ERROR_BUSY : G_IO_ERROR_NOT_CONNECTED,
                 _ ("%s: the broker cannot be reached: %s"), m->location,
                 m->reason ? m->reason : _ ("no answer yet"));
  m->in_flight += can;
  g_mutex_unlock (&m->lock);
  if (!can)
    return FALSE;
  code = mosquitto_publish (m->client, NULL, m->topic, (int)n, data, m->qos, m->retain);
  if (code == MOSQ_ERR_SUCCESS || (code == MOSQ_ERR_NO_CONN && m->qos > 0)) /* the library has it */
    return TRUE;
  g_mutex_lock (&m->lock);
  m->in_flight -= m->in_flight > 0;
  g_mutex_unlock (&m->lock);
  g_set_error (error, G_IO_ERROR,
               code == MOSQ_ERR_PAYLOAD_SIZE || code == MOSQ_ERR_OVERSIZE_PACKET
                   ? G_IO_ERROR_INVALID_DATA
                   : G_IO_ERROR_FAILED,
               "%s: %s", m->location, mosquitto_strerror (code));
  return FALSE;
}

static guint
mqtt_unacknowledged (gpointer transport)
{
  Mqtt *m = transport;
  guint n;
  g_mutex_lock (&m->lock);
  n = m->in_flight;
  g_mutex_unlock (&m->lock);
  return n;
}

static void
mqtt_close (gpointer transport)
{
  Mqtt *m = transport;
  if (m->thread != NULL) {
    mosquitto_disconnect (m->client);
    g_mutex_lock (&m->lock);
    g_atomic_int_set (&m->stops, TRUE);
    g_cond_broadcast (&m->changed);
    g_mutex_unlock (&m->lock);
    g_thread_join (m->thread);
  }
  if (m->client != NULL)
    mosquitto_destroy (m->client);
  g_mutex_clear (&m->lock);
  g_cond_clear (&m->changed);
  g_free (m->location);
  g_free (m->host);
  g_free (m->topic);
  g_free (m->reason);
  g_object_unref (m->cancellable);
  g_free (m);
}

static gboolean
parse_location (Mqtt *m, gboolean *tls, GError **error)
{
  g_autoptr (GUri) uri = g_uri_parse (m->location, G_URI_FLAGS_NONE, error);
  if (uri == NULL)
    return FALSE;
  *tls = g_str_equal (g_uri_get_scheme (uri), "mqtts");
  m->host = g_strdup (g_uri_get_host (uri));
  m->port = g_uri_get_port (uri) > 0 ? g_uri_get_port (uri) : *tls ? 8883 : 1883;
  m->topic = g_strdup (*g_uri_get_path (uri) == '/' ? g_uri_get_path (uri) + 1 : "");
  if (m->host != NULL && *m->host != 0 && *m->topic != 0 &&
      mosquitto_pub_topic_check (m->topic) == MOSQ_ERR_SUCCESS &&
      g_uri_get_fragment (uri) == NULL && g_uri_get_query (uri) == NULL)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
               _ ("%s: expected mqtt://HOST[:PORT]/TOPIC, a topic without + and #"), m->location);
  return FALSE;
}

static gboolean
check (int code, const gchar *what, GError **error)
{
  if (code == MOSQ_ERR_SUCCESS)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "%s: %s", what,
               code == MOSQ_ERR_ERRNO ? g_strerror (errno) : mosquitto_strerror (code));
  return FALSE;
}

static gboolean
set_up (Mqtt *m, const GstStructure *o, gboolean tls, GError **error)
{
  const gchar *ca = gst_structure_get_string (o, "ca-file");
  const gchar *user = gst_structure_get_string (o, "user");
  const gchar *will = gst_structure_get_string (o, "last-will");
  const gchar *will_topic = gst_structure_get_string (o, "last-will-topic");
  g_autoptr (GError) failed = NULL;
  g_autofree gchar *password = gst_nn_read_secret (o, "password-file", &failed);
  if (failed != NULL) {
    g_propagate_error (error, g_steal_pointer (&failed));
    return FALSE;
  }
  return check (mosquitto_threaded_set (m->client, true), m->location, error) &&
         (user == NULL ||
          check (mosquitto_username_pw_set (m->client, user, password), "user", error)) &&
         (!tls ||
          check (mosquitto_tls_set (m->client, ca, ca ? NULL : "/etc/ssl/certs", NULL, NULL, NULL),
                 ca ? ca : "/etc/ssl/certs", error)) &&
         (will == NULL || check (mosquitto_will_set (m->client, will_topic ? will_topic : m->topic,
                                                     (int)strlen (will), will, m->qos, m->retain),
                                 "last-will", error));
}

static gpointer
mqtt_open (const GstNnTransportSettings *settings, GError **error)
{
  static gsize once;
  Mqtt *m = g_new0 (Mqtt, 1);
  const GstStructure *o = settings->options;
  const gchar *id = gst_structure_get_string (o, "client-id");
  gboolean tls = FALSE;
  gint delay = 30;
  if (g_once_init_enter (&once)) {
    mosquitto_lib_init ();
    g_once_init_leave (&once, 1);
  }
  g_mutex_init (&m->lock);
  g_cond_init (&m->changed);
  m->location = g_strdup (settings->location);
  m->cancellable = g_object_ref (settings->cancellable);
  m->ready = settings->ready;
  m->data = settings->data;
  gst_structure_get (o, "qos", G_TYPE_INT, &m->qos, "retain", G_TYPE_BOOLEAN, &m->retain,
                     "max-reconnect-interval", G_TYPE_INT, &delay, NULL);
  m->qos = CLAMP (m->qos, 0, 2);
  m->max_delay = MAX (delay, 1) * G_TIME_SPAN_SECOND;
  m->client = mosquitto_new (id, true, m);
  if (m->client == NULL || !parse_location (m, &tls, error) || !set_up (m, o, tls, error)) {
    mqtt_close (m);
    return NULL;
  }
  mosquitto_connect_callback_set (m->client, on_connect);
  mosquitto_disconnect_callback_set (m->client, on_disconnect);
  mosquitto_publish_callback_set (m->client, on_publish);
  mosquitto_log_callback_set (m->client, on_log);
  m->thread = g_thread_new ("nnpublish-mqtt", talk, m);
  return m;
}

static const GstNnTransportOption mqtt_options[] = {
  { "qos", G_TYPE_INT, "1", N_ ("0: may be lost, 1: may come twice, 2: comes once") },
  { "retain", G_TYPE_BOOLEAN, "false", N_ ("the broker keeps the last for who comes later") },
  { "client-id", G_TYPE_STRING, NULL, N_ ("otherwise one is made up") },
  { "user", G_TYPE_STRING, NULL, N_ ("name for the broker") },
  { "password-file", G_TYPE_STRING, NULL, N_ ("its first line is the password") },
  { "ca-file", G_TYPE_STRING, NULL,
    N_ ("certificates to trust with mqtts, otherwise the system's") },
  { "last-will", G_TYPE_STRING, NULL, N_ ("what the broker says when this client is gone") },
  { "last-will-topic", G_TYPE_STRING, NULL, N_ ("where it says so, otherwise the location's") },
  { "max-reconnect-interval", G_TYPE_INT, "30", N_ ("seconds between two tries to connect") },
  { NULL, G_TYPE_NONE, NULL, NULL },
};

G_MODULE_EXPORT const GstNnTransport gst_nn_transport = {
  .version = GST_NN_TRANSPORT_VERSION,
  .options = mqtt_options,
  .open = mqtt_open,
  .send = mqtt_send,
  .unacknowledged = mqtt_unacknowledged,
  .close = mqtt_close,
};
