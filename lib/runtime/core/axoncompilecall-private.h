/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device's compile where it may take too long. */
#pragma once

#include "axonplugin-private.h"

/* Milliseconds that compiling may take in this thread; 0: for ever. */
guint axon_compile_time_get (void);
void axon_compile_time_set (guint milliseconds);

/* The class's compile_model, abandoned where it does not return soon after @cancellable. */
AxonCompiledModel *axon_compile_call (AxonPlugin *plugin, AxonModel *model,
                                      AxonRemoteContext *context, const AxonConfig *config,
                                      GCancellable *cancellable, AxonProgressFunc progress,
                                      gpointer user_data, GError **error);
