/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "../../model/axonmodel.h"
#include "../infer/axoninferrequest.h"
#include "axonplugin.h"

G_BEGIN_DECLS

#define AXON_TYPE_CORE (axon_core_get_type ())
G_DECLARE_FINAL_TYPE (AxonCore, axon_core, AXON, CORE, GObject)

AxonCore *axon_core_new (void);
AxonCore *axon_core_get_default (void);
AxonModel *axon_core_read_model (AxonCore *core, const gchar *path, GCancellable *cancellable,
                                 GError **error);
AxonModel *axon_core_read_model_from_bytes (AxonCore *core, GBytes *bytes,
                                            GCancellable *cancellable, GError **error);
AxonTensor *axon_core_read_tensor (AxonCore *core, const gchar *path, gchar **name, GError **error);
gchar **axon_core_get_available_devices (AxonCore *core);
gboolean axon_core_has_device (AxonCore *core, const gchar *device, GError **error);
gboolean axon_core_set_property (AxonCore *core, const gchar *device, const gchar *key,
                                 GVariant *value, GError **error);
GVariant *axon_core_get_property (AxonCore *core, const gchar *device, const gchar *key,
                                  GError **error);
AxonCompiledModel *axon_core_compile_model (AxonCore *core, AxonModel *model, const gchar *device,
                                            GVariant *config, GCancellable *cancellable,
                                            AxonProgressFunc progress, gpointer user_data,
                                            GError **error);
GHashTable *axon_core_query_model (AxonCore *core, AxonModel *model, const gchar *device,
                                   GVariant *config, GHashTable **reasons,
                                   GCancellable *cancellable, GError **error);
gchar **axon_core_list_operators (AxonCore *core);
const AxonPropertySpec *axon_core_get_property_specs (AxonCore *core, const gchar *device,
                                                      guint *n_specs, GError **error);

G_END_DECLS
