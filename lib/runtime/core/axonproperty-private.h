/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/plugin/axonproperty.h>

/* What becomes of keys that the table does not have. */
typedef enum {
  AXON_UNKNOWN_KEYS_FAIL,
  AXON_UNKNOWN_KEYS_IGNORE, /* queries */
  AXON_UNKNOWN_KEYS_KEEP,   /* virtual devices forward them */
} AxonUnknownKeys;

struct _AxonConfig {
  const AxonPropertySpec *specs;
  guint n_specs;
  GVariant **values;
  GHashTable *others; /* key -> GVariant, what AXON_UNKNOWN_KEYS_KEEP kept; may be NULL */
};

/* @text in the type of the row, floating; NULL: it takes other values */
GVariant *axon_property_parse (const AxonPropertySpec *spec, const gchar *text);
AxonConfig *axon_config_new (const AxonPropertySpec *specs, guint n_specs);
const AxonPropertySpec *axon_config_find_spec (const AxonConfig *config, const gchar *key);
GVariant *axon_config_parse (const AxonConfig *config, const gchar *key, GVariant *value,
                             GError **error);
gboolean axon_config_set (AxonConfig *config, const gchar *key, GVariant *value, GError **error);
gboolean axon_config_overlay (AxonConfig *config, GVariant *values, AxonUnknownKeys unknown,
                              GError **error);
GVariant *axon_config_to_variant (const AxonConfig *config);
void axon_config_set_unknown_key_error (const AxonConfig *config, const gchar *key, GError **error);
gboolean axon_property_is_standard (const gchar *key, GError **error);
AxonPropertySpec *axon_property_resolve (const AxonPropertySpec *specs, guint n_specs);
