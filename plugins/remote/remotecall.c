/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of a call in its client's thread: tries one after another until one succeeds, none is
 * left, the time is over or somebody cancels. All fields of a call but its count belong to that
 * thread. */
#include "remoteclient-private.h"
#include "remotejson.h"

#include "config.h"
#include <axon/axon.h>
#include <glib/gi18n-lib.h>

#define FIRST_PAUSE 50u /* milliseconds before the second try; twice as many before each next */
#define LONGEST_PAUSE 2000u

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
  remote_client_unref (call->client);
  g_free (call);
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
end_call (RemoteCall *call, const RemoteAnswer *answer, const GError *error)
{
  drop_source (&call->pause);
  drop_source (&call->deadline);
  call->is_over = TRUE;
  remote_client_end_call (call->client);
  call->func (answer, error, call->data);
  remote_call_unref (call);
}

/* What kept a call from an answer, as an error that names the server. Whatever it is, the server
 * may be another tomorrow. */
static void
fail_call (RemoteCall *call, gint code, const gchar *what)
{
  GError *error = g_error_new (AXON_ERROR, code, _ ("device REMOTE: %s: %s"),
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
      call->n_tries > 1 ? g_strdup_printf (_ ("%s (tried %u times)"), failure->text, call->n_tries)
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
    call->pause = remote_client_attach (call->client, pause, on_pause_over, call, NULL);
}

/* TRUE if there is another token than the one that was refused. */
static gboolean
renew_token (RemoteCall *call)
{
  RemoteClient *client = call->client;
  if (call->has_new_token || client->token.text == NULL)
    return FALSE;
  call->has_new_token = TRUE;
  return remote_token_renew (&client->token, client->access->token_file, call->token_number);
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
      g_strdup_printf (_ ("no answer within %u ms (TIMEOUT)"), call->client->access->timeout);
  if (call->cancelled) {
    fail_call (call, AXON_ERROR_CANCELLED, _ ("cancelled"));
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
  call->token_number = client->token.number;
  client->transport->send (client->session, &call->question, client->token.text, call->try,
                           on_answer, call);
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
  call->deadline = remote_client_attach (call->client, MAX (call->client->access->timeout, 1u),
                                         on_deadline, call, NULL);
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
  call->client = remote_client_ref (client);
  call->question = *question;
  call->question.repeatable = client->access->retries > 0;
  call->func = func;
  call->data = data;
  call->try = g_cancellable_new ();
  call->started = g_get_monotonic_time ();
  g_source_unref (remote_client_attach (client, 0, on_begin, call_ref (call), NULL));
  return call;
}

void
remote_call_cancel (RemoteCall *call)
{
  g_source_unref (remote_client_attach (call->client, 0, on_cancel, call_ref (call),
                                        (GDestroyNotify)remote_call_unref));
}
