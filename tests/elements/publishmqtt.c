/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nnpublish to a mosquitto that the test starts, with TLS and a password, on a free port. */
#include "publish.h"

#include <glib/gstdio.h>
#include <mosquitto.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static const gchar *broker_path;

typedef struct {
  gchar *dir;
  guint16 port;
  GSubprocess *process;
} Broker;

static void
run_or_fail (const gchar *dir, const gchar *command)
{
  g_auto (GStrv) argv = NULL;
  gint status = 0;
  g_autofree gchar *errors = NULL;
  g_assert_true (g_shell_parse_argv (command, NULL, &argv, NULL));
  if (!g_spawn_sync (dir, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &errors, &status,
                     NULL) ||
      status != 0)
    g_error ("%s: %s", command, errors ? errors : "cannot be run");
}

static void
write_file (const gchar *dir, const gchar *name, const gchar *text)
{
  g_autofree gchar *path = g_build_filename (dir, name, NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
end_with_the_test (G_GNUC_UNUSED gpointer data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

static void
broker_start (Broker *b)
{
  g_autofree gchar *config = g_build_filename (b->dir, "config", NULL);
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  gint64 end = g_get_monotonic_time () + 30 * G_TIME_SPAN_SECOND;
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (
      G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_subprocess_launcher_set_child_setup (launcher, end_with_the_test, NULL, NULL);
  b->process = g_subprocess_launcher_spawn (launcher, NULL, broker_path, "-c", config, NULL);
  g_assert_nonnull (b->process);
  while (g_get_monotonic_time () < end) { /* until it listens */
    g_autoptr (GSocketConnection) c =
        g_socket_client_connect_to_host (client, "127.0.0.1", b->port, NULL, NULL);
    if (c != NULL)
      return;
    g_usleep (10000);
  }
  g_error ("the broker does not listen");
}

static void
broker_kill (Broker *b)
{
  g_subprocess_force_exit (b->process);
  g_subprocess_wait (b->process, NULL, NULL);
  g_clear_object (&b->process);
}

/* Returns when it has stopped. */
static pid_t
broker_stop (Broker *b)
{
  pid_t pid = (pid_t)g_ascii_strtoll (g_subprocess_get_identifier (b->process), NULL, 10);
  siginfo_t info;
  g_assert_cmpint (kill (pid, SIGSTOP), ==, 0);
  g_assert_cmpint (waitid (P_PID, (id_t)pid, &info, WSTOPPED | WNOWAIT), ==, 0);
  return pid;
}

/* What it knows of sessions would not outlive a sudden end else. */
static void
broker_save (Broker *b)
{
  g_autofree gchar *path = g_build_filename (b->dir, "mosquitto.db", NULL);
  g_unlink (path);
  g_subprocess_send_signal (b->process, SIGUSR1);
  while (!g_file_test (path, G_FILE_TEST_EXISTS))
    g_usleep (1000);
}

/* Its own authority; a second one, which signed nothing. */
static Broker *
broker_new (void)
{
  Broker *b = g_new0 (Broker, 1);
  const gchar *user = g_get_user_name ();
  g_autofree gchar *config = NULL;
  b->dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  b->port = free_port ();
  run_or_fail (b->dir, "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 "
                       "-addext subjectAltName=IP:127.0.0.1 -keyout key -out ca");
  run_or_fail (b->dir, "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other "
                       "-keyout otherkey -out other");
  run_or_fail (b->dir, "mosquitto_passwd -c -b passwords axon right");
  write_file (b->dir, "right", "right\n");
  write_file (b->dir, "wrong", "wrong\n");
  config = g_strdup_printf ("user %s\nlistener %u 127.0.0.1\ncafile %s/ca\ncertfile %s/ca\n"
                            "keyfile %s/key\nallow_anonymous false\npassword_file %s/passwords\n"
                            "persistence true\npersistence_location %s/\nautosave_interval 1\n"
                            "autosave_on_changes true\nmax_queued_messages 0\n",
                            user, b->port, b->dir, b->dir, b->dir, b->dir, b->dir);
  write_file (b->dir, "config", config);
  broker_start (b);
  return b;
}

static void
broker_free (Broker *b)
{
  static const gchar *const names[] = { "key",   "ca",    "otherkey",     "other", "passwords",
                                        "right", "wrong", "mosquitto.db", "config" };
  broker_kill (b);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree gchar *path = g_build_filename (b->dir, names[i], NULL);
    g_unlink (path);
  }
  g_rmdir (b->dir);
  g_free (b->dir);
  g_free (b);
}

/* Hears everything on the topic, and connects again. */
typedef struct {
  struct mosquitto *client;
  GMutex lock;
  GString *text;
  gint subscribed, stops;
  GThread *thread;
} Listener;

/* mosquitto_loop_start()'s thread ends when TLS is interrupted. */
static gpointer
listen_again (gpointer data)
{
  Listener *l = data;
  while (!g_atomic_int_get (&l->stops))
    if (mosquitto_loop (l->client, 50, 1) != MOSQ_ERR_SUCCESS) {
      g_usleep (50000);
      mosquitto_reconnect (l->client);
    }
  return NULL;
}

static void
on_connect (struct mosquitto *client, G_GNUC_UNUSED void *data, int code)
{
  g_assert_cmpint (code, ==, 0);
  mosquitto_subscribe (client, NULL, "cameras/#", 1);
}

static void
on_subscribe (G_GNUC_UNUSED struct mosquitto *client, void *data, G_GNUC_UNUSED int id,
              G_GNUC_UNUSED int n, G_GNUC_UNUSED const int *granted)
{
  g_atomic_int_set (&((Listener *)data)->subscribed, TRUE);
}

static void
on_message (G_GNUC_UNUSED struct mosquitto *client, void *data,
            const struct mosquitto_message *message)
{
  Listener *l = data;
  g_mutex_lock (&l->lock);
  g_string_append_len (l->text, message->payload, message->payloadlen);
  g_string_append_c (l->text, '\n');
  g_mutex_unlock (&l->lock);
}

static Listener *
listener_new (const Broker *b)
{
  Listener *l = g_new0 (Listener, 1);
  g_autofree gchar *ca = g_build_filename (b->dir, "ca", NULL);
  l->text = g_string_new (NULL);
  l->client = mosquitto_new ("listener", false, l); /* what comes while it is away waits */
  mosquitto_username_pw_set (l->client, "axon", "right");
  mosquitto_tls_set (l->client, ca, NULL, NULL, NULL, NULL);
  mosquitto_connect_callback_set (l->client, on_connect);
  mosquitto_subscribe_callback_set (l->client, on_subscribe);
  mosquitto_message_callback_set (l->client, on_message);
  mosquitto_threaded_set (l->client, true);
  g_assert_cmpint (mosquitto_connect (l->client, "127.0.0.1", b->port, 5), ==, 0);
  l->thread = g_thread_new ("listener", listen_again, l);
  while (!g_atomic_int_get (&l->subscribed))
    g_usleep (1000);
  return l;
}

static gchar *
listener_wait (Listener *l, const gchar *what)
{
  gint64 end = g_get_monotonic_time () + 30 * G_TIME_SPAN_SECOND;
  gboolean found = FALSE;
  gchar *text;
  while (!found && g_get_monotonic_time () < end) {
    g_mutex_lock (&l->lock);
    found = strstr (l->text->str, what) != NULL;
    g_mutex_unlock (&l->lock);
    g_usleep (5000);
  }
  g_mutex_lock (&l->lock);
  text = g_strdup (l->text->str);
  g_mutex_unlock (&l->lock);
  if (!found)
    g_error ("%s is not in: %s", what, text);
  return text;
}

static void
listener_free (Listener *l)
{
  g_atomic_int_set (&l->stops, TRUE);
  g_thread_join (l->thread);
  mosquitto_destroy (l->client);
  g_string_free (l->text, TRUE);
  g_free (l);
}

static Publisher *
publisher_to (const Broker *b, const gchar *secret, const gchar *ca, const gchar *more)
{
  return publisher_new ("location=mqtts://127.0.0.1:%u/cameras/door eos-timeout=20000 "
                        "options=options,user=axon,password-file=%s/%s,ca-file=%s/%s,"
                        "max-reconnect-interval=1%s",
                        b->port, b->dir, secret, b->dir, ca, more);
}

static void
a_broker_that_is_killed_gets_all_in_order_when_it_is_back (void)
{
  Broker *b = broker_new ();
  Listener *l = listener_new (b);
  Publisher *p = publisher_to (b, "right", "ca", "");
  g_autofree gchar *text = NULL;
  for (guint i = 0; i < 100; i++)
    publisher_push (p, i);
  publisher_wait (p, "sent", 100);
  broker_save (b);
  broker_kill (b);
  for (guint i = 100; i < 200; i++)
    publisher_push (p, i);
  publisher_wait (p, "failing", 1);
  g_atomic_int_set (&l->subscribed, FALSE);
  broker_start (b);
  while (!g_atomic_int_get (&l->subscribed))
    g_usleep (1000);
  for (guint i = 200; i < 300; i++)
    publisher_push (p, i);
  g_object_set (p->element, "eos-timeout", 100000, NULL); /* for busy machines */
  g_assert_true (gst_harness_push_event (p->h, gst_event_new_eos ()));
  g_assert_cmpuint (publisher_stat (p, "sent"), ==, 300);
  g_assert_cmpuint (publisher_stat (p, "lost"), ==, 0);
  publisher_free (p);
  text = listener_wait (l, "r299.");
  assert_in_order (text, 0, 299, TRUE);
  listener_free (l);
  broker_free (b);
}

/* Each end of a stream has the next record tried again, and the pause before the one after that
 * doubled: soon nothing but the broker's word ends it within the test. */
static void
a_broker_that_was_busy_gets_the_rest_as_soon_as_it_answers (void)
{
  Broker *b = broker_new ();
  Publisher *p = publisher_to (b, "right", "ca", " max-reconnect-interval=3600");
  guint n = 0;
  pid_t pid;
  publisher_push (p, n++);
  publisher_wait (p, "sent", n);
  pid = broker_stop (b);
  while (n < 100) /* more than wait for an answer */
    publisher_push (p, n++);
  publisher_wait (p, "failing", 1);
  g_object_set (p->element, "eos-timeout", 20, NULL);
  for (guint i = 0; i < 14; i++) {
    g_assert_true (gst_harness_push_event (p->h, gst_event_new_eos ()));
    g_assert_true (gst_harness_push_event (p->h, gst_event_new_flush_start ()));
    g_assert_true (gst_harness_push_event (p->h, gst_event_new_flush_stop (FALSE)));
  }
  g_assert_cmpint (kill (pid, SIGCONT), ==, 0);
  publisher_wait (p, "sent", n);
  g_assert_cmpuint (publisher_stat (p, "lost"), ==, 0);
  publisher_free (p);
  broker_free (b);
}

static void
a_wrong_certificate_or_password_is_one_warning_and_the_stream_goes_on (void)
{
  static const struct {
    const gchar *secret, *ca, *said;
  } rows[] = { { "right", "other", "ertificate" }, { "wrong", "ca", "authori" } };
  Broker *b = broker_new ();
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Publisher *p = publisher_to (b, rows[i].secret, rows[i].ca, "");
    g_autofree gchar *why = NULL;
    gint64 end = g_get_monotonic_time () + 30 * G_TIME_SPAN_SECOND;
    g_object_set (p->element, "eos-timeout", 0, NULL);
    for (guint n = 0; n < 10; n++)
      publisher_push (p, n);
    publisher_wait (p, "failing", 1);
    while (g_get_monotonic_time () < end && publisher_messages (p, GST_MESSAGE_WARNING, &why) == 0)
      g_usleep (5000);
    if (why == NULL || strstr (why, rows[i].said) == NULL)
      g_error ("%s is not in: %s", rows[i].said, why);
    g_assert_cmpuint (publisher_stat (p, "sent"), ==, 0);
    publisher_free (p);
  }
  broker_free (b);
}

static void
a_broker_keeps_the_last_record_and_tells_the_last_will (void)
{
  Broker *b = broker_new ();
  Publisher *p = publisher_to (b, "right", "ca",
                               ",retain=true,qos=2,last-will=gone,last-will-topic=cameras/will");
  Listener *l;
  publisher_push (p, 7);
  publisher_wait (p, "sent", 1);
  l = listener_new (b);
  g_free (listener_wait (l, "r7.")); /* came later */
  g_assert_false (strstr (l->text->str, "gone") != NULL);
  publisher_free (p);
  listener_free (l);
  broker_free (b);
}

static void
a_topic_that_is_none_is_an_error (void)
{
  GstElement *element = gst_parse_launch ("nnpublish location=mqtt://host/a/#", NULL);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
}

int
main (int argc, char **argv)
{
  g_autofree gchar *in_path = g_find_program_in_path ("mosquitto");
  g_autofree gchar *openssl = g_find_program_in_path ("openssl");
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  mosquitto_lib_init ();
  broker_path = in_path ? in_path : "/usr/sbin/mosquitto";
#define ADD(name) g_test_add_func ("/publishmqtt/" #name, name)
  ADD (a_topic_that_is_none_is_an_error);
  if (!g_file_test (broker_path, G_FILE_TEST_IS_EXECUTABLE) || openssl == NULL) {
    g_test_message ("Debian's mosquitto and openssl are not installed: no broker is tried");
    return g_test_run ();
  }
  ADD (a_broker_that_is_killed_gets_all_in_order_when_it_is_back);
  ADD (a_broker_that_was_busy_gets_the_rest_as_soon_as_it_answers);
  ADD (a_wrong_certificate_or_password_is_one_warning_and_the_stream_goes_on);
  ADD (a_broker_keeps_the_last_record_and_tells_the_last_will);
  return g_test_run ();
}
