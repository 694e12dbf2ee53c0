/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of the core: registry (axonregistry.c), properties (axoncore.c), compiling
 * (axoncompile.c).
 *
 * Locks: core->lock guards the registry's table and the core's own values; entry->lock is held
 * while a plugin loads. Order: core->lock is never held while an entry's is taken. */
#pragma once

#include <axon/axoncore.h>

#include "../../ops/axonopset-private.h"
#include "axondevices-private.h"
#include "axonloader-private.h"
#include "axonplugin-private.h"

/* One device name. Never removed, so that pointers stay valid. */
typedef struct {
  gchar *name;
  gchar *library; /* registered path; NULL: found on the search path */
  GMutex lock;
  AxonPlugin *plugin;         /* lock: NULL until first use and after unloading */
  const AxonPluginInfo *info; /* lock: static in the library, which stays resident */
  GPtrArray *extensions;      /* lock: AxonExtension for this device alone */
  AxonConfig *cache;          /* core->lock: the core's keys, for this device; NULL: the core's */
  GVariant *defaults;         /* properties of a registry file, a{sv}; NULL: none */
} AxonRegistryEntry;

typedef struct _AxonCipher AxonCipher;

struct _AxonCore {
  GObject parent_instance;
  AxonPropertySpec *specs;
  GMutex lock;
  GHashTable *entries;   /* lock: name -> AxonRegistryEntry */
  AxonConfig *config;    /* lock: the core's own keys */
  GHashTable *globals;   /* lock: key -> GVariant, for every plugin that has the key */
  GPtrArray *op_sets;    /* lock: the last one is in use; earlier ones stay for their users */
  GPtrArray *extensions; /* lock: AxonExtension for every device that takes them */
  AxonCipher *cipher;    /* lock: of entries of the cache; may be NULL */
};

AxonOpSet *axon_core_get_op_set (AxonCore *core);
AxonRegistryEntry *axon_core_get_entry (AxonCore *core, const gchar *name, gboolean create);
void axon_registry_entry_free (gpointer data);
const AxonPluginInfo *axon_core_get_plugin_info (AxonCore *core, const gchar *name);
AxonPlugin *axon_core_get_plugin (AxonCore *core, const gchar *name, const AxonPluginInfo **info,
                                  GError **error);
gboolean axon_core_owns_key (AxonCore *core, const gchar *key);
gboolean axon_core_set_own_key (AxonCore *core, const gchar *device, const gchar *key,
                                GVariant *value, GError **error);
/* axondevicelist.c: why there are no more candidates; TRUE for devices such as AUTO and MULTI */
gchar **axon_core_list_unusable_candidates (AxonCore *core);
gboolean axon_core_is_spreading (AxonCore *core, const gchar *name);
/* axoncipher.c */
AxonCipher *axon_core_get_cipher (AxonCore *core);
void axon_cipher_unref (AxonCipher *cipher);
GBytes *axon_cipher_encrypt (AxonCipher *cipher, GBytes *bytes, GError **error);
GBytes *axon_cipher_decrypt (AxonCipher *cipher, GBytes *bytes, GError **error);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonCipher, axon_cipher_unref)

AxonConfig *axon_core_dup_config (AxonCore *core, const gchar *device);
