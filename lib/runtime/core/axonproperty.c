/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "axonproperty-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#include <string.h>

static GVariant *
parse_bool (const gchar *text)
{
  static const gchar *const yes[] = { "YES", "true", "TRUE", "yes", "1", NULL };
  static const gchar *const no[] = { "NO", "false", "FALSE", "no", "0", NULL };
  if (g_strv_contains (yes, text))
    return g_variant_new_boolean (TRUE);
  return g_strv_contains (no, text) ? g_variant_new_boolean (FALSE) : NULL;
}

static GVariant *
parse_int (const AxonPropertySpec *spec, const gchar *text)
{
  gint64 v;
  if (spec->type == AXON_PROPERTY_STREAMS && g_str_equal (text, "AUTO"))
    return g_variant_new_int32 (-1);
  if (spec->type == AXON_PROPERTY_STREAMS && g_str_equal (text, "NUMA"))
    return g_variant_new_int32 (-2);
  if (!g_ascii_string_to_signed (text, 10, spec->min, spec->max, &v, NULL))
    return NULL;
  return g_variant_new_int32 ((gint32)v);
}

static GVariant *
parse_float (const AxonPropertySpec *spec, const gchar *text)
{
  gchar *end;
  gdouble v = g_ascii_strtod (text, &end);
  return *text != '\0' && *end == '\0' && v >= spec->min && v <= spec->max
             ? g_variant_new_double (v)
             : NULL;
}

static GVariant *
parse_choice (const AxonPropertySpec *spec, const gchar *text)
{
  g_auto (GStrv) choices = g_strsplit (spec->choices, " ", -1);
  if (choices[0] == NULL ? *text != '\0' : !g_strv_contains ((const gchar *const *)choices, text))
    return NULL; /* no choices: only the empty string */
  return g_variant_new_string (text);
}

static GVariant *
parse_map (const gchar *text)
{
  return g_variant_parse (G_VARIANT_TYPE_VARDICT, *text ? text : "{}", NULL, NULL, NULL);
}

/* @text in the type of the row, floating; NULL: it takes other values */
GVariant *
axon_property_parse (const AxonPropertySpec *spec, const gchar *text)
{
  switch (spec->type) {
  case AXON_PROPERTY_STRING:
    return g_variant_new_string (text);
  case AXON_PROPERTY_BOOL:
    return parse_bool (text);
  case AXON_PROPERTY_INT:
  case AXON_PROPERTY_STREAMS:
    return parse_int (spec, text);
  case AXON_PROPERTY_FLOAT:
    return parse_float (spec, text);
  case AXON_PROPERTY_CHOICE:
    return parse_choice (spec, text);
  case AXON_PROPERTY_MAP:
    return parse_map (text);
  default:
    return NULL;
  }
}

/* Any numeric or text value as text, so that one parser judges them all. */
static gchar *
variant_text (GVariant *value)
{
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING))
    return g_variant_dup_string (value, NULL);
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_BOOLEAN))
    return g_strdup (g_variant_get_boolean (value) ? "YES" : "NO");
  return g_variant_print (value, FALSE);
}

static gchar *
describe_choices (const AxonPropertySpec *spec, const gchar *got)
{
  g_auto (GStrv) choices = g_strsplit (spec->choices, " ", -1);
  g_autofree gchar *near = got ? axon_nearest_name (got, (const gchar *const *)choices) : NULL;
  g_autofree gchar *list = g_strjoinv (", ", choices);
  return choices[0] ? g_strdup_printf (_ ("one of %s%s"), list, near ? near : "")
                    : g_strdup (_ ("an empty string"));
}

gchar *
axon_property_describe_accepted (const AxonPropertySpec *spec, const gchar *got)
{
  switch (spec->type) {
  case AXON_PROPERTY_BOOL:
    return g_strdup (_ ("YES or NO"));
  case AXON_PROPERTY_INT:
  case AXON_PROPERTY_FLOAT:
    return g_strdup_printf (_ ("a number from %d to %d"), spec->min, spec->max);
  case AXON_PROPERTY_STREAMS:
    return g_strdup_printf (_ ("AUTO, NUMA or a number from 0 to %d"), spec->max);
  case AXON_PROPERTY_CHOICE:
    return describe_choices (spec, got);
  case AXON_PROPERTY_MAP:
    return g_strdup (_ ("a dictionary such as {'CPU': <{'NUM_STREAMS': <'2'>}>}"));
  default:
    return g_strdup (_ ("a string"));
  }
}

AxonConfig *
axon_config_new (const AxonPropertySpec *specs, guint n_specs)
{
  AxonConfig *config = g_new0 (AxonConfig, 1);
  config->specs = specs;
  config->n_specs = n_specs;
  config->values = g_new0 (GVariant *, n_specs + 1);
  for (guint i = 0; i < n_specs; i++)
    if (specs[i].default_text != NULL) {
      GVariant *value = axon_property_parse (&specs[i], specs[i].default_text);
      g_assert (value != NULL); /* axon_plugin_check_table() saw to it */
      config->values[i] = g_variant_ref_sink (value);
    }
  return config;
}

AxonConfig *
axon_config_copy (const AxonConfig *config)
{
  AxonConfig *copy = g_memdup2 (config, sizeof *config);
  copy->values = g_memdup2 (config->values, (config->n_specs + 1) * sizeof *config->values);
  for (guint i = 0; i < config->n_specs; i++)
    if (copy->values[i] != NULL)
      g_variant_ref (copy->values[i]);
  if (copy->others != NULL)
    g_hash_table_ref (copy->others); /* never changed after the overlay */
  return copy;
}

void
axon_config_free (AxonConfig *config)
{
  for (guint i = 0; i < config->n_specs; i++)
    g_clear_pointer (&config->values[i], g_variant_unref);
  g_clear_pointer (&config->others, g_hash_table_unref);
  g_free (config->values);
  g_free (config);
}

const AxonPropertySpec *
axon_config_find_spec (const AxonConfig *config, const gchar *key)
{
  for (guint i = 0; i < config->n_specs; i++)
    if (g_str_equal (config->specs[i].key, key))
      return &config->specs[i];
  return NULL;
}

void
axon_config_set_unknown_key_error (const AxonConfig *config, const gchar *key, GError **error)
{
  g_autofree const gchar **keys = g_new0 (const gchar *, config->n_specs + 1);
  g_autofree gchar *near = NULL;
  for (guint i = 0; i < config->n_specs; i++)
    keys[i] = config->specs[i].key;
  near = axon_nearest_name (key, keys);
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("unknown property \"%s\"%s"), key, near);
}

/* @value in the type of the row (transfer full); NULL with an error: no such writable row, or it
 * takes other values. */
GVariant *
axon_config_parse (const AxonConfig *config, const gchar *key, GVariant *value, GError **error)
{
  const AxonPropertySpec *spec = axon_config_find_spec (config, key);
  g_autofree gchar *text = variant_text (value);
  g_autofree gchar *accepted = NULL;
  GVariant *parsed;
  if (spec == NULL) {
    axon_config_set_unknown_key_error (config, key, error);
    return NULL;
  }
  if (!(spec->flags & AXON_PROPERTY_READ_WRITE)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("property \"%s\" is read-only"), key);
    return NULL;
  }
  parsed = axon_property_parse (spec, text);
  if (parsed == NULL) {
    accepted = axon_property_describe_accepted (spec, text);
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("property \"%s\": expected %s, got \"%s\""), key, accepted, text);
  }
  return parsed ? g_variant_ref_sink (parsed) : NULL;
}

gboolean
axon_config_set (AxonConfig *config, const gchar *key, GVariant *value, GError **error)
{
  GVariant *parsed = axon_config_parse (config, key, value, error);
  const AxonPropertySpec *spec = axon_config_find_spec (config, key);
  if (parsed == NULL)
    return FALSE;
  g_clear_pointer (&config->values[spec - config->specs], g_variant_unref);
  config->values[spec - config->specs] = parsed;
  return TRUE;
}

/* A value of one call. */
static gboolean
overlay_key (AxonConfig *config, const gchar *key, GVariant *value, GError **error)
{
  const AxonPropertySpec *spec = axon_config_find_spec (config, key);
  if (spec == NULL || !(spec->flags & AXON_PROPERTY_PROCESS))
    return axon_config_set (config, key, value, error);
  g_set_error (
      error, AXON_ERROR, AXON_ERROR_ARGUMENT,
      _ ("property \"%s\" holds for the whole process: set it with axon_core_set_property (), "
         "not for one call"),
      key);
  return FALSE;
}

static void
keep_other (AxonConfig *config, const gchar *key, GVariant *value)
{
  if (config->others == NULL)
    config->others =
        g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_variant_unref);
  g_hash_table_insert (config->others, g_strdup (key), g_variant_ref (value));
}

/* @values: a{sv} or NULL. All problems in one message. */
gboolean
axon_config_overlay (AxonConfig *config, GVariant *values, AxonUnknownKeys unknown, GError **error)
{
  g_autoptr (GString) problems = g_string_new (NULL);
  GVariantIter iter;
  const gchar *key;
  GVariant *value;
  if (values == NULL)
    return TRUE;
  g_variant_iter_init (&iter, values);
  while (g_variant_iter_loop (&iter, "{&sv}", &key, &value)) {
    g_autoptr (GError) problem = NULL;
    const AxonPropertySpec *spec = axon_config_find_spec (config, key);
    gboolean known = spec != NULL && !(spec->flags & AXON_PROPERTY_MODEL_ONLY);
    if (!known && unknown == AXON_UNKNOWN_KEYS_KEEP)
      keep_other (config, key, value);
    else if (!known && unknown == AXON_UNKNOWN_KEYS_IGNORE)
      continue;
    else if (!overlay_key (config, key, value, &problem))
      g_string_append_printf (problems, "%s%s", problems->len ? "; " : "", problem->message);
  }
  if (problems->len == 0)
    return TRUE;
  g_set_error_literal (error, AXON_ERROR, AXON_ERROR_ARGUMENT, problems->str);
  return FALSE;
}

GVariant *
axon_config_get (const AxonConfig *config, const gchar *key)
{
  const AxonPropertySpec *spec = axon_config_find_spec (config, key);
  return spec ? config->values[spec - config->specs] : NULL;
}

gint
axon_config_get_int (const AxonConfig *config, const gchar *key)
{
  GVariant *value = axon_config_get (config, key);
  return value ? g_variant_get_int32 (value) : 0;
}

gboolean
axon_config_get_bool (const AxonConfig *config, const gchar *key)
{
  GVariant *value = axon_config_get (config, key);
  return value != NULL && g_variant_get_boolean (value);
}

const gchar *
axon_config_get_string (const AxonConfig *config, const gchar *key)
{
  GVariant *value = axon_config_get (config, key);
  return value ? g_variant_get_string (value, NULL) : "";
}

gdouble
axon_config_get_float (const AxonConfig *config, const gchar *key)
{
  GVariant *value = axon_config_get (config, key);
  return value ? g_variant_get_double (value) : 0;
}

/* Floating a{sv} of every value, for exports and keys of the cache: the order is the table's. */
GVariant *
axon_config_to_variant (const AxonConfig *config)
{
  GVariantBuilder builder;
  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  for (guint i = 0; i < config->n_specs; i++)
    if (config->values[i] != NULL)
      g_variant_builder_add (&builder, "{sv}", config->specs[i].key, config->values[i]);
  return g_variant_builder_end (&builder);
}

static gchar *
list_to_text (GVariant *value)
{
  g_autoptr (GString) s = g_string_new (NULL);
  GVariantIter iter;
  const gchar *key, *mode;
  g_variant_iter_init (&iter, value);
  while (g_variant_iter_loop (&iter, "(&s&s)", &key, &mode))
    g_string_append_printf (s, "%s%s:%s", s->len ? " " : "", key, mode);
  return g_string_free (g_steal_pointer (&s), FALSE);
}

gchar *
axon_property_value_to_text (const AxonPropertySpec *spec, GVariant *value)
{
  gint lo, hi, step;
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING_ARRAY)) {
    g_autofree const gchar **list = g_variant_get_strv (value, NULL);
    return g_strjoinv (" ", (gchar **)list);
  }
  if (g_variant_is_of_type (value, G_VARIANT_TYPE ("a(ss)")))
    return list_to_text (value);
  if (g_variant_is_of_type (value, G_VARIANT_TYPE ("(iii)"))) {
    g_variant_get (value, "(iii)", &lo, &hi, &step);
    return g_strdup_printf ("%d %d %d", lo, hi, step);
  }
  if (g_variant_is_of_type (value, G_VARIANT_TYPE ("(ii)"))) {
    g_variant_get (value, "(ii)", &lo, &hi);
    return g_strdup_printf ("%d %d", lo, hi);
  }
  if (spec->type == AXON_PROPERTY_STREAMS && g_variant_get_int32 (value) < 0)
    return g_strdup (g_variant_get_int32 (value) == -1 ? "AUTO" : "NUMA");
  return variant_text (value);
}
