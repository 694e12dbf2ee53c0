/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device HETERO: one model cut into parts for several devices. */
#pragma once

#include <axon/axon.h>
#include <axon/axon-plugin.h>

/* heteroaffinity.c: every node gets a device, from the model or from queries in order of priority
 */
gboolean hetero_assign (AxonCore *core, AxonModel *model, const AxonConfig *config,
                        GCancellable *cancellable, GError **error);
gboolean hetero_query (AxonCore *core, AxonModel *model, const AxonConfig *config,
                       AxonSupportedOps *result, GCancellable *cancellable, GError **error);
void hetero_dump (AxonModel *model, GPtrArray *parts);

/* heteromodel.c */
AxonCompiledModel *hetero_model_new (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                                     GCancellable *cancellable, AxonProgressFunc progress,
                                     gpointer user_data, GError **error);
AxonCompiledModel *hetero_model_import (AxonPlugin *plugin, AxonBlob *blob, GVariant *payload,
                                        const AxonConfig *config, GCancellable *cancellable,
                                        GError **error);
