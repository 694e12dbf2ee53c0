/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The client's thread, and what it owns. */
#include "remoteclient-private.h"

#include "config.h"
#include <axon/axon.h>
#include <glib/gi18n-lib.h>

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

RemoteClient *
remote_client_ref (RemoteClient *client)
{
  g_atomic_ref_count_inc (&client->ref_count);
  return client;
}

void
remote_client_unref (gpointer data)
{
  RemoteClient *client = data;
  if (!g_atomic_ref_count_dec (&client->ref_count))
    return;
  g_main_loop_unref (client->loop);
  g_main_context_unref (client->context);
  remote_token_clear (&client->token);
  remote_breaker_clear (&client->breaker);
  remote_access_free (client->access);
  g_free (client);
}

GSource *
remote_client_attach (RemoteClient *client, guint milliseconds, GSourceFunc func, gpointer data,
                      GDestroyNotify notify)
{
  GSource *source = milliseconds > 0 ? g_timeout_source_new (milliseconds) : g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, func, data, notify);
  g_source_attach (source, client->context);
  return source;
}

static void
quit_if_idle (RemoteClient *client)
{
  if (client->is_quitting && client->n_calls == 0)
    g_main_loop_quit (client->loop);
}

void
remote_client_end_call (RemoteClient *client)
{
  client->n_calls--;
  quit_if_idle (client);
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
  remote_client_unref (client);
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
  if (transport == NULL || (access->token_file != NULL &&
                            !remote_token_read (&client->token, access->token_file, error))) {
    g_prefix_error (error, _ ("device REMOTE: "));
    remote_client_unref (client);
    return NULL;
  }
  g_main_context_push_thread_default (client->context); /* the session belongs to it */
  client->session = transport->open (&access->address, error);
  g_main_context_pop_thread_default (client->context);
  if (client->session == NULL) {
    g_prefix_error (error, _ ("device REMOTE: "));
    remote_client_unref (client);
    return NULL;
  }
  g_thread_unref (g_thread_new ("axon-remote", client_main, remote_client_ref (client)));
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
  g_source_unref (
      remote_client_attach (client, 0, on_quit, remote_client_ref (client), remote_client_unref));
  remote_client_unref (client);
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
