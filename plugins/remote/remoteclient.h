/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A client of one server: questions with tries, time-outs, cancelling, and a breaker. Owns a thread
 * that everything on the network happens in; no thread is made for a question. */
#pragma once

#include "remotetransport.h"

typedef struct {
  RemoteAddress address;
  gchar *token_file; /* NULL: none */
  guint timeout;     /* milliseconds, all tries together */
  guint retries;
} RemoteAccess;

typedef struct _RemoteClient RemoteClient;
typedef struct _RemoteCall RemoteCall;

void remote_access_free (RemoteAccess *access);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RemoteAccess, remote_access_free)

/* Takes @access. NULL with @error where files of it cannot be used or libsoup is not to be had. */
RemoteClient *remote_client_new (RemoteAccess *access, GError **error);

/* Waits for nobody: calls on their way end first, and hold what they need. */
void remote_client_free (RemoteClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RemoteClient, remote_client_free)

const gchar *remote_client_get_url (const RemoteClient *client);

/* Takes what @question points to. @func is called once, in the client's thread: with an answer of
 * status 200, or with an error that names the server and what it said. Any thread. */
RemoteCall *remote_client_ask (RemoteClient *client, const RemoteQuestion *question,
                               RemoteAnswerFunc func, gpointer data);
/* The call ends soon, with %G_IO_ERROR_CANCELLED. Any thread; harmless afterwards. */
void remote_call_cancel (RemoteCall *call);
void remote_call_unref (RemoteCall *call);

/* Asks and waits; never in the client's thread. NULL with @error. */
GBytes *remote_client_fetch (RemoteClient *client, const RemoteQuestion *question,
                             GCancellable *cancellable, GError **error);
