/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a server says of itself and of a model, and whether a local model is the same. */
#pragma once

#include "remoteclient.h"
#include "remoteprotocol.h"

typedef struct {
  gchar *name;          /* of the server's software and its version, for people */
  gchar *model, *path;  /* path: /v2/models/NAME[/versions/V] */
  gboolean binary_data; /* extensions */
  gboolean shared_memory;
  GPtrArray *inputs, *outputs; /* RemotePort */
} RemoteServer;

void remote_server_free (RemoteServer *server);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RemoteServer, remote_server_free)

/* Asks for readiness and metadata; waits. @version: "" for whichever the server chooses. */
RemoteServer *remote_server_ask (RemoteClient *client, const gchar *model, const gchar *version,
                                 GCancellable *cancellable, GError **error);

/* AXON_ERROR_MODEL with both descriptions where names, types or shapes differ. A dimension that one
 * leaves free fits any of the other. Of ports that the server does not list it says nothing. */
gboolean remote_server_check (const RemoteServer *server, const gchar *url, const GPtrArray *inputs,
                              const GPtrArray *outputs, GError **error);

/* A model of one node that stands for the server's (transfer full); NULL with @error where the
 * server does not list its ports. */
AxonModel *remote_server_make_model (const RemoteServer *server, const gchar *url, GError **error);
extern const AxonOp remote_ops[1];
