/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory shared with a server on this machine: one region for a request, known to the server by its
 * name. */
#pragma once

#include "remoteclient.h"
#include "remoteprotocol.h"

typedef struct {
  RemoteRegion region;
  RemoteClient *client; /* outlives it */
  gchar *name;
  gsize size;
  gsize *inputs, *outputs, *output_sizes;
} RemoteShared;

/* TRUE if @url is on this machine. */
gboolean remote_is_local (const gchar *url);

/* Makes a region with room for these ports and tells the server; waits. NULL with @error where a
 * size is not known before the run, or the server does not take it. */
RemoteShared *remote_shared_new (RemoteClient *client, const GPtrArray *inputs,
                                 const GPtrArray *outputs, GError **error);
/* Takes it from the server, without waiting, and unmaps it. */
void remote_shared_free (RemoteShared *shared);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RemoteShared, remote_shared_free)
