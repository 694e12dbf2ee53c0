/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "remoteclient.h"
#include "remotefront.h"
#include "remoteserver.h"

/* A client for what @config says. */
RemoteClient *remote_client_for (const AxonConfig *config, GError **error);

/* The server's description of the model that @config names; "" in @name: that of the configuration
 * alone. */
RemoteServer *remote_server_for (RemoteClient *client, const AxonConfig *config, const gchar *name,
                                 GCancellable *cancellable, GError **error);

/* @model on a server that was checked to have it. Takes @client and @server. */
AxonCompiledModel *remote_model_new (AxonPlugin *plugin, AxonModel *model, RemoteView *view,
                                     RemoteClient *client, RemoteServer *server,
                                     const AxonConfig *config, const gchar *device,
                                     GCancellable *cancellable, GError **error);
