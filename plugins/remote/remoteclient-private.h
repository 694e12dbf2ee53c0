/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A client as its calls see it. All but its counts belongs to the client's thread. */
#pragma once

#include "remotebreaker.h"
#include "remoteclient.h"
#include "remotetoken.h"

struct _RemoteClient {
  gatomicrefcount ref_count;
  RemoteAccess *access;
  const RemoteTransport *transport;
  gpointer session;
  GMainContext *context;
  GMainLoop *loop;
  RemoteBreaker breaker;
  RemoteToken token;
  guint n_calls;        /* on their way */
  gboolean is_quitting; /* the thread ends with the last of them */
};

RemoteClient *remote_client_ref (RemoteClient *client);
void remote_client_unref (gpointer client);

/* Attaches a source to the client's thread: at once, or in some milliseconds. */
GSource *remote_client_attach (RemoteClient *client, guint milliseconds, GSourceFunc func,
                               gpointer data, GDestroyNotify notify);

/* A call has ended: the thread of a client that is not wanted any more ends with its last. */
void remote_client_end_call (RemoteClient *client);
