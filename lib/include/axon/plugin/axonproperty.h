/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Typed properties: one row per key, values as GVariants that also read from strings. */
#pragma once

#include <gio/gio.h>

#include <axon/axonerror.h>

G_BEGIN_DECLS

/**
 * AxonPropertyType:
 * @AXON_PROPERTY_STANDARD: type, range, choices and blurb are those of the well-known key
 * @AXON_PROPERTY_STRING: `s`
 * @AXON_PROPERTY_BOOL: `b`; as text `YES` or `NO`, `true` or `false`
 * @AXON_PROPERTY_INT: `i` within min and max
 * @AXON_PROPERTY_FLOAT: `d` within min and max
 * @AXON_PROPERTY_CHOICE: `s`, one of the choices
 * @AXON_PROPERTY_STREAMS: `i`; as text `AUTO` (-1), `NUMA` (-2) or a number
 * @AXON_PROPERTY_STRINGS: `as`; read-only
 * @AXON_PROPERTY_RANGE: `(iii)`, least, most and step; read-only
 * @AXON_PROPERTY_PAIR: `(ii)`, least and most; read-only
 * @AXON_PROPERTY_LIST: `a(ss)`, keys with `RO` or `RW`; read-only
 * @AXON_PROPERTY_MAP: `a{sv}`; as text in GVariant's notation
 *
 * Since: 1.0
 */
typedef enum {
  AXON_PROPERTY_STANDARD,
  AXON_PROPERTY_STRING,
  AXON_PROPERTY_BOOL,
  AXON_PROPERTY_INT,
  AXON_PROPERTY_FLOAT,
  AXON_PROPERTY_CHOICE,
  AXON_PROPERTY_STREAMS,
  AXON_PROPERTY_STRINGS,
  AXON_PROPERTY_RANGE,
  AXON_PROPERTY_PAIR,
  AXON_PROPERTY_LIST,
  AXON_PROPERTY_MAP,
} AxonPropertyType;

/**
 * AxonPropertyFlags:
 * @AXON_PROPERTY_READ_ONLY: a metric
 * @AXON_PROPERTY_READ_WRITE: may be set, also in a compile call
 * @AXON_PROPERTY_COMPILED: can be read from the compiled model too
 * @AXON_PROPERTY_HIDDEN: works, but is not listed in `SUPPORTED_PROPERTIES`
 * @AXON_PROPERTY_MODEL_ONLY: exists on the compiled model only
 * @AXON_PROPERTY_MODEL_WRITE: may be set on the compiled model at any time
 * @AXON_PROPERTY_PROCESS: one value for the whole process, which the plugin keeps; not in a compile
 *   call
 *
 * Since: 1.0
 */
typedef enum {
  AXON_PROPERTY_READ_ONLY = 0,
  AXON_PROPERTY_READ_WRITE = 1 << 0,
  AXON_PROPERTY_COMPILED = 1 << 1,
  AXON_PROPERTY_HIDDEN = 1 << 2,
  AXON_PROPERTY_MODEL_ONLY = 1 << 3,
  AXON_PROPERTY_MODEL_WRITE = 1 << 4,
  AXON_PROPERTY_PROCESS = 1 << 5,
} AxonPropertyFlags;

typedef struct {
  const gchar *key;
  AxonPropertyType type;
  AxonPropertyFlags flags;
  const gchar *default_text; /* NULL: told by the plugin's get_metric */
  gint min, max;
  const gchar *choices; /* separated by spaces */
  const gchar *blurb;
  gpointer padding[2];
} AxonPropertySpec;

/* Shorthand for the rows of a plugin's table. */
#define AXON_RO AXON_PROPERTY_READ_ONLY
#define AXON_RO_COMPILED (AXON_PROPERTY_READ_ONLY | AXON_PROPERTY_COMPILED)
#define AXON_RW (AXON_PROPERTY_READ_WRITE | AXON_PROPERTY_COMPILED)
#define AXON_RW_PLUGIN AXON_PROPERTY_READ_WRITE
#define AXON_RW_HIDDEN (AXON_PROPERTY_READ_WRITE | AXON_PROPERTY_HIDDEN)
#define AXON_RO_HIDDEN (AXON_PROPERTY_READ_ONLY | AXON_PROPERTY_HIDDEN)
#define AXON_RW_PROCESS (AXON_PROPERTY_READ_WRITE | AXON_PROPERTY_PROCESS)
#define AXON_MODEL (AXON_PROPERTY_COMPILED | AXON_PROPERTY_MODEL_ONLY)

/* Values of the writable rows of a table. Copied for every compile. */
typedef struct _AxonConfig AxonConfig;

AXON_API AxonConfig *axon_config_copy (const AxonConfig *config);
AXON_API void axon_config_free (AxonConfig *config);
AXON_API GVariant *axon_config_get (const AxonConfig *config, const gchar *key);
AXON_API gint axon_config_get_int (const AxonConfig *config, const gchar *key);
AXON_API gdouble axon_config_get_float (const AxonConfig *config, const gchar *key);
AXON_API gboolean axon_config_get_bool (const AxonConfig *config, const gchar *key);
AXON_API const gchar *axon_config_get_string (const AxonConfig *config, const gchar *key);
AXON_API gchar *axon_property_value_to_text (const AxonPropertySpec *spec, GVariant *value);
AXON_API gchar *axon_property_describe_accepted (const AxonPropertySpec *spec, const gchar *got);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonConfig, axon_config_free)

G_END_DECLS
