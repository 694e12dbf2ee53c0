/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What of a model stays here: frames become tensors on the processor, and only those are sent. */
#pragma once

#include "remoteprotocol.h"

typedef struct {
  gboolean from_front;
  guint index; /* of the model's inputs, or of what the front makes */
} RemoteSource;

/* A model seen by what a server has of it. */
typedef struct {
  GPtrArray *inputs, *outputs; /* RemotePort: the server's */
  GArray *sources;             /* RemoteSource, one for each input */
  AxonModel *front;            /* NULL: tensors are sent as they come */
  GArray *front_inputs;        /* guint: the model's input that each of the front's is */
} RemoteView;

RemoteView *remote_view_new (AxonModel *model, GError **error);
void remote_view_free (RemoteView *view);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RemoteView, remote_view_free)
