/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The client's thread, and the life of a call in it: tries one after another until one succeeds,
 * none is left, the time is over or somebody cancels. All fields of a call but its count belong to
 * that thread. */
#include "remotebreaker.h"
#include "remoteclient.h"
#include "remotejson.h"

#include <axon/axon.h>
#include <string.h>

#define FIRST_PAUSE 50u /* milliseconds before the second try; twice as many before each next */
#define LONGEST_PAUSE 2000u

struct _RemoteClient {
  gatomicrefcount ref_count;
  RemoteAccess *access;
  const RemoteTransport *transport;
  gpointer session;
  GMainContext *context;
  GMainLoop *loop;
  RemoteBreaker breaker;
  gchar *token;
  guint token_number;   /* one more for each that the file had */
  guint n_calls;        /* on their way */
  gboolean is_quitting; /* the thread ends with the last of them */
};

struct _RemoteCall {
  gatomicrefcount ref_count;
  RemoteClient *client;
  RemoteQuestion question;
  RemoteAnswerFunc func;
  gpointer data;
  GCancellable *try; /* ends the try that is on its way */
  GSource *pause, *deadline;
  gboolean cancelled, late, has_new_token, is_over;
  guint n_tries, token_number;
  gint64 started;
};

void
remote_access_free (RemoteAccess *access)
{
  g_free (access->address.url);
  g_free (access->address.ca_file);
  g_free (access->address.certificate_file);
  g_free (access->address.key_file);
  g_free (access->token_file);
  g_free (access);
}

static RemoteClient *
client_ref (RemoteClient *client)
{
  g_atomic_ref_count_inc (&client->ref_count);
  return client;
}

static void
client_unref (gpointer data)
{
  RemoteClient *client = data;
  if (!g_atomic_ref_count_dec (&client->ref_count))
    return;
  g_main_loop_unref (client->loop);
  g_main_context_unref (client->context);
  g_free (client->token);
  remote_breaker_clear (&client->breaker);
  remote_access_free (client->access);
  g_free (client);
}

static RemoteCall *
call_ref (RemoteCall *call)
{
  g_atomic_ref_count_inc (&call->ref_count);
  return call;
}

static void
question_clear (RemoteQuestion *question)
{
  g_clear_pointer (&question->path, g_free);
  g_clear_pointer (&question->body, g_ptr_array_unref);
}

void
remote_call_unref (RemoteCall *call)
{
  if (!g_atomic_ref_count_dec (&call->ref_count))
    return;
  question_clear (&call->question);
  g_object_unref (call->try);
  client_unref (call->client);
  g_free (call);
}

/* Attaches a source to the client's thread: at once, or in some milliseconds. */
static GSource *
attach (RemoteClient *client, guint milliseconds, GSourceFunc func, gpointer data,
        GDestroyNotify notify)
{
  GSource *source = milliseconds > 0 ? g_timeout_source_new (milliseconds) : g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, func, data, notify);
  g_source_attach (source, client->context);
  return source;
}

static void
drop_source (GSource **source)
{
  if (*source == NULL)
    return;
  g_source_destroy (*source);
  g_clear_pointer (source, g_source_unref);
}

static guint
elapsed (const RemoteCall *call)
{
  return (guint)((g_get_monotonic_time () - call->started) / 1000);
}

static void
quit_if_idle (RemoteClient *client)
{
  if (client->is_quitting && client->n_calls == 0)
    g_main_loop_quit (client->loop);
}

static void
end_call (RemoteCall *call, const RemoteAnswer *answer, const GError *error)
{
  drop_source (&call->pause);
  drop_source (&call->deadline);
  call->is_over = TRUE;
  call->client->n_calls--;
  quit_if_idle (call->client);
  call->func (answer, error, call->data);
  remote_call_unref (call);
}

/* What kept a call from an answer, as an error that names the server. Whatever it is, the server
 * may be another tomorrow. */
static void
fail_call (RemoteCall *call, gint code, const gchar *what)
{
  GError *error = g_error_new (AXON_ERROR, code, "device REMOTE: %s: %s",
                               call->client->access->address.url, what);
  if (code != AXON_ERROR_CANCELLED)
    axon_error_set_reason (&error, AXON_REASON_UNREACHABLE);
  end_call (call, NULL, error);
  g_error_free (error);
}

/* Why a try failed; what a moment may mend counts for the breaker. */
typedef struct {
  gchar *text;
  gint code;
  gboolean passing;
  gint64 retry_after; /* milliseconds; -1: the server does not say */
} Failure;

static void
give_up (RemoteCall *call, const Failure *failure)
{
  g_autofree gchar *text =
      call->n_tries > 1 ? g_strdup_printf ("%s (tried %u times)", failure->text, call->n_tries)
                        : g_strdup (failure->text);
  if (failure->passing)
    remote_breaker_note_failure (&call->client->breaker, failure->text);
  fail_call (call, failure->code, text);
}

static void start_try (RemoteCall *call);

static gboolean
on_pause_over (gpointer data)
{
  RemoteCall *call = data;
  drop_source (&call->pause);
  start_try (call);
  return G_SOURCE_REMOVE;
}

static void
try_again_or_give_up (RemoteCall *call, const Failure *failure)
{
  guint pause = MIN (FIRST_PAUSE << MIN (call->n_tries - 1, 8u), LONGEST_PAUSE);
  guint timeout = call->client->access->timeout;
  pause += g_random_int_range (0, (gint32)pause / 2 + 1); /* clients do not come all at once */
  if (failure->retry_after > 0)
    pause = (guint)MIN (failure->retry_after, G_MAXINT);
  if (!failure->passing || call->n_tries > call->client->access->retries ||
      elapsed (call) + pause >= timeout)
    give_up (call, failure);
  else
    call->pause = attach (call->client, pause, on_pause_over, call, NULL);
}

/* The first line of the file. */
static gboolean
read_token (RemoteClient *client, GError **error)
{
  g_autofree gchar *text = NULL;
  gsize n;
  if (client->access->token_file == NULL)
    return TRUE;
  if (!g_file_get_contents (client->access->token_file, &text, &n, error))
    return FALSE;
  text[strcspn (text, "\r\n")] = '\0';
  g_strstrip (text);
  for (const gchar *c = text; *c != '\0'; c++)
    if (!g_ascii_isgraph (*c))
      *text = '\0';
  if (*text == '\0') {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "%s: its first line is no bearer's token",
                 client->access->token_file);
    return FALSE;
  }
  g_free (client->token);
  client->token = g_steal_pointer (&text);
  return TRUE;
}

/* TRUE if there is another token than the one that was refused, here already or in the file. */
static gboolean
renew_token (RemoteCall *call)
{
  RemoteClient *client = call->client;
  g_autofree gchar *old = g_strdup (client->token);
  if (call->has_new_token || client->token == NULL)
    return FALSE;
  if (call->token_number == client->token_number && read_token (client, NULL) &&
      !g_str_equal (old, client->token))
    client->token_number++;
  call->has_new_token = TRUE;
  return call->token_number != client->token_number;
}

static gboolean
is_passing (guint status)
{
  return status == 408 || status == 425 || status == 429 || status == 502 || status == 503 ||
         status == 504;
}

static void
end_interrupted (RemoteCall *call)
{
  g_autofree gchar *late =
      g_strdup_printf ("no answer within %u ms (TIMEOUT)", call->client->access->timeout);
  if (call->cancelled) {
    fail_call (call, AXON_ERROR_CANCELLED, "cancelled");
    return;
  }
  remote_breaker_note_failure (&call->client->breaker, late);
  fail_call (call, AXON_ERROR_DEVICE, late);
}

static void
on_answer (const RemoteAnswer *answer, const GError *error, gpointer data)
{
  RemoteCall *call = data;
  Failure failure = { .code = AXON_ERROR_DEVICE, .passing = TRUE, .retry_after = -1 };
  if (call->cancelled || call->late) {
    end_interrupted (call);
    return;
  }
  if (answer != NULL && answer->status == 200) {
    remote_breaker_note_success (&call->client->breaker);
    end_call (call, answer, NULL);
    return;
  }
  if (answer != NULL && answer->status == 401 && renew_token (call)) {
    start_try (call);
    return;
  }
  if (answer != NULL) {
    failure.text = remote_answer_describe (answer);
    failure.passing = is_passing (answer->status);
    failure.retry_after = answer->retry_after;
  } else {
    failure.text = g_strdup (error->message);
    failure.passing = error->domain != AXON_ERROR && error->domain != G_TLS_ERROR;
    failure.code = error->domain == AXON_ERROR ? error->code : AXON_ERROR_DEVICE;
  }
  try_again_or_give_up (call, &failure);
  g_free (failure.text);
}

static void
start_try (RemoteCall *call)
{
  RemoteClient *client = call->client;
  g_autofree gchar *why = NULL;
  if (call->cancelled || call->late) {
    end_interrupted (call);
    return;
  }
  why = remote_breaker_refuse (&client->breaker);
  if (why != NULL) {
    fail_call (call, AXON_ERROR_DEVICE, why);
    return;
  }
  call->n_tries++;
  call->token_number = client->token_number;
  client->transport->send (client->session, &call->question, client->token, call->try, on_answer,
                           call);
}

/* Ends what the call waits for: a try, which answers then, or a pause. */
static void
interrupt (RemoteCall *call)
{
  if (call->is_over)
    return;
  if (call->pause != NULL) {
    drop_source (&call->pause);
    end_interrupted (call);
  } else {
    g_cancellable_cancel (call->try);
  }
}

static gboolean
on_deadline (gpointer data)
{
  RemoteCall *call = data;
  call->late = TRUE;
  drop_source (&call->deadline);
  interrupt (call);
  return G_SOURCE_REMOVE;
}

static gboolean
on_begin (gpointer data)
{
  RemoteCall *call = data;
  call->client->n_calls++;
  call->deadline =
      attach (call->client, MAX (call->client->access->timeout, 1u), on_deadline, call, NULL);
  start_try (call);
  return G_SOURCE_REMOVE;
}

static gboolean
on_cancel (gpointer data)
{
  RemoteCall *call = data;
  call->cancelled = TRUE;
  interrupt (call);
  return G_SOURCE_REMOVE;
}

RemoteCall *
remote_client_ask (RemoteClient *client, const RemoteQuestion *question, RemoteAnswerFunc func,
                   gpointer data)
{
  RemoteCall *call = g_new0 (RemoteCall, 1);
  g_atomic_ref_count_init (&call->ref_count);
  call->client = client_ref (client);
  call->question = *question;
  call->question.repeatable = client->access->retries > 0;
  call->func = func;
  call->data = data;
  call->try = g_cancellable_new ();
  call->started = g_get_monotonic_time ();
  g_source_unref (attach (client, 0, on_begin, call_ref (call), NULL));
  return call;
}

void
remote_call_cancel (RemoteCall *call)
{
  g_source_unref (
      attach (call->client, 0, on_cancel, call_ref (call), (GDestroyNotify)remote_call_unref));
}

static gpointer
client_main (gpointer data)
{
  RemoteClient *client = data;
  g_main_context_push_thread_default (client->context);
  g_main_loop_run (client->loop);
  client->transport->close (client->session);
  while (g_main_context_iteration (client->context, FALSE))
    continue; /* what the session closes in idle moments */
  g_main_context_pop_thread_default (client->context);
  client_unref (client);
  return NULL;
}

RemoteClient *
remote_client_new (RemoteAccess *access, GError **error)
{
  const RemoteTransport *transport = remote_transport_load (error);
  RemoteClient *client = g_new0 (RemoteClient, 1);
  g_atomic_ref_count_init (&client->ref_count);
  client->access = access;
  client->transport = transport;
  client->context = g_main_context_new ();
  client->loop = g_main_loop_new (client->context, FALSE);
  if (transport == NULL || !read_token (client, error)) {
    g_prefix_error (error, "device REMOTE: ");
    client_unref (client);
    return NULL;
  }
  g_main_context_push_thread_default (client->context); /* the session belongs to it */
  client->session = transport->open (&access->address, error);
  g_main_context_pop_thread_default (client->context);
  if (client->session == NULL) {
    g_prefix_error (error, "device REMOTE: ");
    client_unref (client);
    return NULL;
  }
  g_thread_unref (g_thread_new ("axon-remote", client_main, client_ref (client)));
  return client;
}

static gboolean
on_quit (gpointer data)
{
  RemoteClient *client = data;
  client->is_quitting = TRUE;
  quit_if_idle (client);
  return G_SOURCE_REMOVE;
}

void
remote_client_free (RemoteClient *client)
{
  g_source_unref (attach (client, 0, on_quit, client_ref (client), client_unref));
  client_unref (client);
}

const gchar *
remote_client_get_url (const RemoteClient *client)
{
  return client->access->address.url;
}

typedef struct {
  GMutex lock;
  GCond changed;
  gboolean is_done;
  GBytes *body;
  GError *error;
} Fetch;

static void
on_fetched (const RemoteAnswer *answer, const GError *error, gpointer data)
{
  Fetch *fetch = data;
  g_mutex_lock (&fetch->lock);
  fetch->body = answer ? g_bytes_ref (answer->body) : NULL;
  fetch->error = error ? g_error_copy (error) : NULL;
  fetch->is_done = TRUE;
  g_cond_signal (&fetch->changed);
  g_mutex_unlock (&fetch->lock);
}

static void
on_cancellable (G_GNUC_UNUSED GCancellable *cancellable, gpointer call)
{
  remote_call_cancel (call);
}

GBytes *
remote_client_fetch (RemoteClient *client, const RemoteQuestion *question,
                     GCancellable *cancellable, GError **error)
{
  Fetch fetch = { .is_done = FALSE };
  RemoteCall *call;
  gulong id;
  g_mutex_init (&fetch.lock);
  g_cond_init (&fetch.changed);
  call = remote_client_ask (client, question, on_fetched, &fetch);
  id = cancellable ? g_cancellable_connect (cancellable, G_CALLBACK (on_cancellable), call, NULL)
                   : 0;
  g_mutex_lock (&fetch.lock);
  while (!fetch.is_done)
    g_cond_wait (&fetch.changed, &fetch.lock);
  g_mutex_unlock (&fetch.lock);
  if (id != 0)
    g_cancellable_disconnect (cancellable, id);
  remote_call_unref (call);
  g_mutex_clear (&fetch.lock);
  g_cond_clear (&fetch.changed);
  if (fetch.error != NULL)
    g_propagate_error (error, fetch.error);
  return fetch.body;
}
