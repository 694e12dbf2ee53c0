/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Typed properties: one row per key, values as GVariants that also read from strings. */
#pragma once

#include <gio/gio.h>

#include "../../base/axonerror.h"

G_BEGIN_DECLS

typedef enum {
  AXON_PROPERTY_STRING,  /* s */
  AXON_PROPERTY_BOOL,    /* b; text YES/NO, true/false */
  AXON_PROPERTY_INT,     /* i within min..max */
  AXON_PROPERTY_CHOICE,  /* s out of choices */
  AXON_PROPERTY_STREAMS, /* i; text AUTO (-1) or a number */
  AXON_PROPERTY_STRINGS, /* as; read-only lists */
  AXON_PROPERTY_RANGE,   /* (iii); read-only */
} AxonPropertyType;

typedef enum {
  AXON_PROPERTY_READ_ONLY = 0,
  AXON_PROPERTY_READ_WRITE = 1 << 0,
  AXON_PROPERTY_COMPILED = 1 << 1, /* readable on the compiled model too */
} AxonPropertyFlags;

typedef struct {
  const gchar *key;
  AxonPropertyType type;
  AxonPropertyFlags flags;
  const gchar *default_text; /* NULL: computed by the plugin's get_metric */
  gint min, max;
  const gchar *choices; /* separated by spaces */
  const gchar *blurb;
} AxonPropertySpec;

/* Values of the writable rows of a table. A value type: copied for every compile. */
typedef struct {
  const AxonPropertySpec *specs;
  guint n_specs;
  GVariant **values;
} AxonConfig;

#ifndef __GI_SCANNER__ /* for plugins, which are C */
AxonConfig *axon_config_new (const AxonPropertySpec *specs, guint n_specs);
AxonConfig *axon_config_copy (const AxonConfig *config);
void axon_config_free (AxonConfig *config);
gboolean axon_config_set (AxonConfig *config, const gchar *key, GVariant *value, GError **error);
gboolean axon_config_overlay (AxonConfig *config, GVariant *values, GError **error);
GVariant *axon_config_get (const AxonConfig *config, const gchar *key);
gint axon_config_get_int (const AxonConfig *config, const gchar *key);
gboolean axon_config_get_bool (const AxonConfig *config, const gchar *key);
const gchar *axon_config_get_string (const AxonConfig *config, const gchar *key);
const AxonPropertySpec *axon_config_find_spec (const AxonConfig *config, const gchar *key);
gchar *axon_property_value_to_text (const AxonPropertySpec *spec, GVariant *value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonConfig, axon_config_free)
#endif

G_END_DECLS
