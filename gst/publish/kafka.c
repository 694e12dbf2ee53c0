/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kafka://HOST[:PORT][,HOST...]/TOPIC by librdkafka, which keeps order and sends nothing twice
 * (idempotence), and connects again by itself.
 * Threads: the writer's, in which the library's callbacks run, too. */
#include "gstnnaccess.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <librdkafka/rdkafka.h>

#define PROBE_TIME 1000 /* milliseconds, until brokers that were down must answer */

typedef struct {
  rd_kafka_t *client;
  gchar *location, *topic, *key;
  gchar *down; /* why no broker can be reached; NULL: one can */
  void (*lost) (guint n, const gchar *why, gpointer data);
  gpointer data;
} Kafka;

static void
on_error (G_GNUC_UNUSED rd_kafka_t *client, int code, const char *reason, void *data)
{
  Kafka *k = data;
  if (code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && code != RD_KAFKA_RESP_ERR__AUTHENTICATION)
    return;
  g_free (k->down);
  k->down = g_strdup (reason);
}

static void
on_delivery (G_GNUC_UNUSED rd_kafka_t *client, const rd_kafka_message_t *message, void *data)
{
  Kafka *k = data;
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR && message->err != RD_KAFKA_RESP_ERR__PURGE_QUEUE)
    k->lost (1, rd_kafka_err2str (message->err), k->data);
}

static gboolean
is_reachable (Kafka *k)
{
  const struct rd_kafka_metadata *metadata;
  if (k->down != NULL &&
      rd_kafka_metadata (k->client, 0, NULL, &metadata, PROBE_TIME) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_metadata_destroy (metadata);
    g_clear_pointer (&k->down, g_free);
  }
  return k->down == NULL;
}

static gboolean
kafka_send (gpointer transport, const GstNnOutgoing *record, GError **error)
{
  Kafka *k = transport;
  gsize n;
  const void *data = g_bytes_get_data (record->bytes, &n);
  rd_kafka_resp_err_t code;
  rd_kafka_poll (k->client, 0);
  if (!is_reachable (k)) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_CONNECTED,
                 _ ("%s: no broker can be reached: %s"), k->location, k->down);
    return FALSE;
  }
  code = rd_kafka_producev (
      k->client, RD_KAFKA_V_TOPIC (k->topic), RD_KAFKA_V_MSGFLAGS (RD_KAFKA_MSG_F_COPY),
      RD_KAFKA_V_KEY (k->key, strlen (k->key)), RD_KAFKA_V_VALUE ((void *)data, n), RD_KAFKA_V_END);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
    return TRUE;
  g_set_error (error, G_IO_ERROR,
               code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ? G_IO_ERROR_INVALID_DATA
                                                            : G_IO_ERROR_BUSY,
               "%s: %s", k->location, rd_kafka_err2str (code));
  return FALSE;
}

static guint
kafka_unacknowledged (gpointer transport)
{
  Kafka *k = transport;
  rd_kafka_poll (k->client, 0);
  return (guint)rd_kafka_outq_len (k->client);
}

static void
kafka_close (gpointer transport)
{
  Kafka *k = transport;
  if (k->client != NULL) {
    rd_kafka_purge (k->client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush (k->client, 0);
    rd_kafka_destroy (k->client);
  }
  g_free (k->location);
  g_free (k->topic);
  g_free (k->key);
  g_free (k->down);
  g_free (k);
}

static gboolean
set_all (rd_kafka_conf_t *conf, const gchar *const *pairs, gchar *why, gsize n)
{
  for (; pairs[0] != NULL; pairs += 2)
    if (pairs[1] != NULL &&
        rd_kafka_conf_set (conf, pairs[0], pairs[1], why, n) != RD_KAFKA_CONF_OK)
      return FALSE;
  return TRUE;
}

static gboolean
set_user (rd_kafka_conf_t *conf, const GstStructure *o, gchar *why, gsize n, GError **error)
{
  g_autoptr (GError) failed = NULL;
  g_autofree gchar *password = gst_nn_read_secret (o, "password-file", &failed);
  const gchar *user = gst_structure_get_string (o, "user");
  const gchar *ca = gst_structure_get_string (o, "ca-file");
  const gchar *const pairs[] = { "security.protocol",
                                 user ? (ca ? "SASL_SSL" : "SASL_PLAINTEXT")
                                 : ca ? "SSL"
                                      : NULL,
                                 "ssl.ca.location",
                                 ca,
                                 "sasl.mechanism",
                                 user ? "PLAIN" : NULL,
                                 "sasl.username",
                                 user,
                                 "sasl.password",
                                 password,
                                 NULL };
  if (failed == NULL)
    return set_all (conf, pairs, why, n);
  g_propagate_error (error, g_steal_pointer (&failed));
  return FALSE;
}

static gboolean
connect_all (Kafka *k, const gchar *brokers, const GstStructure *o, GError **error)
{
  rd_kafka_conf_t *conf = rd_kafka_conf_new ();
  gchar why[512] = "";
  const gchar *const pairs[] = { "bootstrap.servers",
                                 brokers,
                                 "enable.idempotence",
                                 "true",
                                 "message.timeout.ms",
                                 "0",
                                 "queue.buffering.max.messages",
                                 "1000",
                                 "linger.ms",
                                 "5",
                                 "client.id",
                                 gst_structure_get_string (o, "client-id"),
                                 NULL };
  rd_kafka_conf_set_opaque (conf, k);
  rd_kafka_conf_set_error_cb (conf, on_error);
  rd_kafka_conf_set_dr_msg_cb (conf, on_delivery);
  rd_kafka_conf_set_log_cb (conf, NULL);
  if (set_all (conf, pairs, why, sizeof why) && set_user (conf, o, why, sizeof why, error))
    k->client = rd_kafka_new (RD_KAFKA_PRODUCER, conf, why, sizeof why);
  if (k->client != NULL)
    return TRUE;
  rd_kafka_conf_destroy (conf);
  if (error != NULL && *error == NULL)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "%s: %s", k->location, why);
  return FALSE;
}

static gpointer
kafka_open (const GstNnTransportSettings *settings, GError **error)
{
  Kafka *k = g_new0 (Kafka, 1);
  const gchar *brokers = strstr (settings->location, "://") + 3;
  const gchar *slash = strchr (brokers, '/');
  g_autofree gchar *list = g_strndup (brokers, slash ? (gsize)(slash - brokers) : 0);
  k->location = g_strdup (settings->location);
  k->key = g_strdup (gst_structure_get_string (settings->options, "key"));
  k->lost = settings->lost;
  k->data = settings->data;
  k->topic = g_strdup (slash ? slash + 1 : "");
  if (*list == 0 || *k->topic == 0)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                 _ ("%s: expected kafka://HOST[:PORT][,HOST[:PORT]...]/TOPIC"), k->location);
  else if (connect_all (k, list, settings->options, error))
    return k;
  kafka_close (k);
  return NULL;
}

static const GstNnTransportOption kafka_options[] = {
  { "key", G_TYPE_STRING, "nnpublish", N_ ("records of one key are in one partition, in order") },
  { "client-id", G_TYPE_STRING, NULL, N_ ("what brokers call this client") },
  { "user", G_TYPE_STRING, NULL, N_ ("name for the brokers (SASL PLAIN)") },
  { "password-file", G_TYPE_STRING, NULL, N_ ("its first line is the password") },
  { "ca-file", G_TYPE_STRING, NULL, N_ ("TLS, with these certificates to trust") },
  { NULL, G_TYPE_NONE, NULL, NULL },
};

G_MODULE_EXPORT const GstNnTransport gst_nn_transport = {
  .version = GST_NN_TRANSPORT_VERSION,
  .options = kafka_options,
  .open = kafka_open,
  .send = kafka_send,
  .unacknowledged = kafka_unacknowledged,
  .close = kafka_close,
};
