/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device AUTO: chooses a device, begins on the processor while it gets ready, falls back. */
#pragma once

#include <axon/axon.h>
#include <axon/axon-plugin.h>

/* autoreserve.c: devices that models of higher priority hold, in the whole process */
typedef struct _AutoReservation AutoReservation;

guint auto_choose (GPtrArray *devices, const gchar *priority);
AutoReservation *auto_reserve (const gchar *device, const gchar *priority);
void auto_release (AutoReservation *reservation);

/* automodel.c */
AxonCompiledModel *auto_model_new (AxonPlugin *plugin, AxonCore *core, AxonModel *model,
                                   GPtrArray *devices, const AxonConfig *config,
                                   GCancellable *cancellable, AxonProgressFunc progress,
                                   gpointer user_data, GError **error);
GPtrArray *auto_filter (AxonCore *core, AxonModel *model, GPtrArray *devices);
