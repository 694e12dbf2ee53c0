/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/axoninferrequest.h>

G_BEGIN_DECLS

#define AXON_TYPE_CORE (axon_core_get_type ())
AXON_API
G_DECLARE_FINAL_TYPE (AxonCore, axon_core, AXON, CORE, GObject)

/**
 * AxonProgressFunc:
 * @fraction: 0 to 1
 * @stage: what is being done
 * @user_data: as given
 *
 * Reports progress of a long call, in the thread of that call or in one that it waits for.
 *
 * Since: 1.0
 */
typedef void (*AxonProgressFunc) (gdouble fraction, const gchar *stage, gpointer user_data);

/**
 * AxonCipherFunc:
 * @bytes: what to encrypt or decrypt
 * @user_data: as given to axon_core_set_cache_encryption()
 * @error: return location
 *
 * Any thread.
 *
 * Returns: (transfer full) (nullable): the result; %NULL with @error
 *
 * Since: 1.0
 */
typedef GBytes *(*AxonCipherFunc) (GBytes *bytes, gpointer user_data, GError **error);

AXON_API AxonCore *axon_core_new (void);
AXON_API AxonCore *axon_core_get_default (void);
AXON_API AxonModel *axon_core_read_model (AxonCore *core, const gchar *path,
                                          GCancellable *cancellable, GError **error);
AXON_API AxonModel *axon_core_read_model_from_bytes (AxonCore *core, GBytes *bytes,
                                                     GCancellable *cancellable, GError **error);
AXON_API gboolean axon_core_write_model (AxonCore *core, AxonModel *model, const gchar *path,
                                         GError **error);
AXON_API GBytes *axon_core_write_model_to_bytes (AxonCore *core, AxonModel *model,
                                                 AxonWriteFlags flags, GError **error);
AXON_API AxonTensor *axon_core_read_tensor (AxonCore *core, const gchar *path, AxonDType kind,
                                            GError **error);
AXON_API gchar **axon_core_get_available_devices (AxonCore *core);
AXON_API gchar **axon_core_get_candidate_devices (AxonCore *core);
AXON_API gboolean axon_core_register_plugin (AxonCore *core, const gchar *library,
                                             const gchar *name, GError **error);
AXON_API gboolean axon_core_load_environment (AxonCore *core, GError **error);
AXON_API gboolean axon_core_register_plugins (AxonCore *core, const gchar *path, GError **error);
AXON_API gboolean axon_core_unload_plugin (AxonCore *core, const gchar *name, GError **error);
AXON_API gboolean axon_core_add_extension (AxonCore *core, const gchar *path, const gchar *device,
                                           GError **error);
AXON_API gboolean axon_core_has_device (AxonCore *core, const gchar *device, GError **error);
AXON_API GHashTable *axon_core_get_versions (AxonCore *core, const gchar *device, GError **error);
AXON_API gboolean axon_core_set_property (AxonCore *core, const gchar *device, const gchar *key,
                                          GVariant *value, GError **error);
AXON_API GVariant *axon_core_get_property (AxonCore *core, const gchar *device, const gchar *key,
                                           GError **error);
AXON_API AxonCompiledModel *axon_core_compile_model (AxonCore *core, AxonModel *model,
                                                     const gchar *device, GVariant *config,
                                                     GCancellable *cancellable,
                                                     AxonProgressFunc progress, gpointer user_data,
                                                     GError **error);
AXON_API AxonCompiledModel *
axon_core_compile_model_from_file (AxonCore *core, const gchar *path, const gchar *device,
                                   GVariant *config, GCancellable *cancellable,
                                   AxonProgressFunc progress, gpointer user_data, GError **error);
AXON_API AxonCompiledModel *axon_core_compile_model_with_context (
    AxonCore *core, AxonModel *model, AxonRemoteContext *context, GVariant *config,
    GCancellable *cancellable, AxonProgressFunc progress, gpointer user_data, GError **error);
AXON_API AxonCompiledModel *axon_core_import_model (AxonCore *core, GBytes *bytes,
                                                    const gchar *device, AxonRemoteContext *context,
                                                    GVariant *config, GCancellable *cancellable,
                                                    AxonProgressFunc progress, gpointer user_data,
                                                    GError **error);
AXON_API AxonCompiledModel *axon_core_import_model_from_file (AxonCore *core, const gchar *path,
                                                              const gchar *device, GVariant *config,
                                                              GCancellable *cancellable,
                                                              AxonProgressFunc progress,
                                                              gpointer user_data, GError **error);
AXON_API AxonModel *axon_core_read_exported_model (AxonCore *core, const gchar *path,
                                                   GError **error);
AXON_API GVariant *axon_core_read_export_header (AxonCore *core, const gchar *path, GError **error);
AXON_API GHashTable *axon_core_query_model (AxonCore *core, AxonModel *model, const gchar *device,
                                            GVariant *config, GHashTable **reasons,
                                            GCancellable *cancellable, GError **error);
AXON_API AxonRemoteContext *axon_core_create_context (AxonCore *core, const gchar *device,
                                                      GVariant *params, GError **error);
AXON_API AxonRemoteContext *axon_core_get_default_context (AxonCore *core, const gchar *device,
                                                           GError **error);
AXON_API void axon_core_set_cache_encryption (AxonCore *core, AxonCipherFunc encrypt,
                                              AxonCipherFunc decrypt, gpointer user_data,
                                              GDestroyNotify destroy);
AXON_API gchar **axon_core_list_operators (AxonCore *core);

G_END_DECLS
