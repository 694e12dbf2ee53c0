/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nnpublish to the cluster that librdkafka imitates for tests, which speaks Kafka's protocol. */
#include "publish.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

typedef struct {
  rd_kafka_t *handle;
  rd_kafka_mock_cluster_t *mock;
  const gchar *servers;
} Cluster;

static rd_kafka_t *
client_new (rd_kafka_type_t type, const gchar *servers)
{
  gchar why[256];
  rd_kafka_conf_t *conf = rd_kafka_conf_new ();
  rd_kafka_t *client;
  if (servers != NULL)
    rd_kafka_conf_set (conf, "bootstrap.servers", servers, why, sizeof why);
  if (type == RD_KAFKA_CONSUMER)
    rd_kafka_conf_set (conf, "group.id", "test", why, sizeof why);
  client = rd_kafka_new (type, conf, why, sizeof why);
  g_assert_nonnull (client);
  return client;
}

static void
cluster_new (Cluster *c)
{
  c->handle = client_new (RD_KAFKA_PRODUCER, NULL);
  c->mock = rd_kafka_mock_cluster_new (c->handle, 1);
  c->servers = rd_kafka_mock_cluster_bootstraps (c->mock);
  g_assert_cmpint (rd_kafka_mock_topic_create (c->mock, "door", 4, 1), ==, 0);
}

static void
cluster_clear (Cluster *c)
{
  rd_kafka_mock_cluster_destroy (c->mock);
  rd_kafka_destroy (c->handle);
}

/* All that is in the topic, until @what is there. */
static gchar *
read_topic (const Cluster *c, const gchar *what)
{
  rd_kafka_t *client = client_new (RD_KAFKA_CONSUMER, c->servers);
  rd_kafka_topic_partition_list_t *parts = rd_kafka_topic_partition_list_new (4);
  gint64 end = g_get_monotonic_time () + 30 * G_TIME_SPAN_SECOND;
  GString *text = g_string_new (NULL);
  for (gint i = 0; i < 4; i++)
    rd_kafka_topic_partition_list_add (parts, "door", i)->offset = RD_KAFKA_OFFSET_BEGINNING;
  g_assert_cmpint (rd_kafka_assign (client, parts), ==, 0);
  while (strstr (text->str, what) == NULL && g_get_monotonic_time () < end) {
    rd_kafka_message_t *message = rd_kafka_consumer_poll (client, 100);
    if (message == NULL)
      continue;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
      g_string_append_len (text, message->payload, (gssize)message->len);
    rd_kafka_message_destroy (message);
  }
  rd_kafka_topic_partition_list_destroy (parts);
  rd_kafka_consumer_close (client);
  rd_kafka_destroy (client);
  return g_string_free (text, FALSE);
}

static void
brokers_that_are_down_get_each_record_once_when_they_are_back (void)
{
  Cluster c;
  Publisher *p;
  g_autofree gchar *text = NULL;
  cluster_new (&c);
  p = publisher_new ("location=kafka://%s/door max-reconnect-interval=1 eos-timeout=30000",
                     c.servers);
  for (guint i = 0; i < 50; i++)
    publisher_push (p, i);
  publisher_wait (p, "sent", 50);
  rd_kafka_mock_broker_set_down (c.mock, 1);
  for (guint i = 50; i < 100; i++)
    publisher_push (p, i);
  rd_kafka_mock_broker_set_up (c.mock, 1);
  g_assert_true (gst_harness_push_event (p->h, gst_event_new_eos ()));
  g_assert_cmpuint (publisher_stat (p, "sent"), ==, 100);
  publisher_free (p);
  text = read_topic (&c, "r99.");
  assert_in_order (text, 0, 99, FALSE);
  cluster_clear (&c);
}

static void
a_cluster_that_is_not_there_is_a_warning_and_the_stream_goes_on (void)
{
  Publisher *p = publisher_new ("location=kafka://127.0.0.1:%u/door eos-timeout=0", free_port ());
  gint64 end = g_get_monotonic_time () + 30 * G_TIME_SPAN_SECOND;
  g_autofree gchar *why = NULL;
  guint n = 0;
  while (why == NULL && g_get_monotonic_time () < end) {
    publisher_push (p, n++);
    publisher_messages (p, GST_MESSAGE_WARNING, &why);
    g_usleep (10000);
  }
  g_assert_nonnull (strstr (why, "no broker can be reached"));
  gst_element_set_state (p->element, GST_STATE_READY);
  g_assert_cmpuint (publisher_stat (p, "lost"), ==, n);
  publisher_free (p);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/publishkafka/" #name, name)
  ADD (brokers_that_are_down_get_each_record_once_when_they_are_back);
  ADD (a_cluster_that_is_not_there_is_a_warning_and_the_stream_goes_on);
  return g_test_run ();
}
