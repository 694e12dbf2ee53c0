/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "axondevices-private.h"
#include "axonproperty-private.h"
#include <axon/axonerror.h>

#include "config.h"
#include <glib/gi18n-lib.h>

#include <string.h>

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define NAME_SET LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

static gboolean
illegal (const gchar *text, const gchar *why, GError **error)
{
  g_set_error (
      error, AXON_ERROR, AXON_ERROR_ARGUMENT,
      _ ("illegal device \"%s\": %s (examples: CPU, GPU.1, HETERO:GPU,CPU, MULTI:GPU(2),CPU, "
         "AUTO:-GPU)"),
      text, why);
  return FALSE;
}

/* TRUE for letters, digits and _. */
gboolean
axon_device_name_is_legal (const gchar *name)
{
  return *name != '\0' && name[strspn (name, NAME_SET)] == '\0';
}

/* NAME[.id] at the whole of @text */
static gboolean
parse_name (const gchar *text, gchar **name, gchar **id, GError **error)
{
  gsize n = strspn (text, NAME_SET);
  if (n == 0)
    return illegal (text, _ ("a name is missing"), error);
  if (text[n] != '\0' && text[n] != '.')
    return illegal (text,
                    strpbrk (text + n, "()")
                        ? _ ("a number in brackets stands behind a device of a list only")
                        : _ ("a name has letters, digits and _"),
                    error);
  if (text[n] == '.' &&
      (text[n + 1] == '\0' || strspn (text + n + 1, NAME_SET ".") != strlen (text + n + 1)))
    return illegal (text, _ ("an id has letters and digits"), error);
  *name = g_strndup (text, n);
  *id = text[n] == '.' ? g_strdup (text + n + 1) : NULL;
  return TRUE;
}

AxonDeviceExpr *
axon_device_expr_parse (const gchar *text, GError **error)
{
  g_autoptr (AxonDeviceExpr) expr = g_new0 (AxonDeviceExpr, 1);
  const gchar *colon = strchr (text, ':');
  g_autofree gchar *head = colon ? g_strndup (text, (gsize)(colon - text)) : g_strdup (text);
  if (!parse_name (head, &expr->name, &expr->id, error))
    return NULL;
  if (colon != NULL && (colon[1] == '\0' || expr->id != NULL)) {
    illegal (text, _ ("devices are missing behind the colon"), error);
    return NULL;
  }
  expr->members = colon ? g_strdup (colon + 1) : NULL;
  return g_steal_pointer (&expr);
}

void
axon_device_expr_free (AxonDeviceExpr *expr)
{
  g_free (expr->name);
  g_free (expr->id);
  g_free (expr->members);
  g_free (expr);
}

void
axon_device_ref_free (gpointer data)
{
  AxonDeviceRef *ref = data;
  g_free (ref->device);
  g_free (ref->name);
  g_free (ref->id);
  g_free (ref);
}

static gboolean
parse_number (const gchar *whole, const gchar *bracket, gint *number, GError **error)
{
  gsize n = strlen (bracket);
  g_autofree gchar *digits = NULL;
  gint64 v;
  if (n < 3 || bracket[n - 1] != ')')
    return illegal (whole, _ ("a bracket is not closed"), error);
  digits = g_strndup (bracket + 1, n - 2);
  if (!g_ascii_string_to_signed (digits, 10, 1, 4096, &v, NULL))
    return illegal (whole, _ ("expected a number from 1 to 4096 in brackets"), error);
  *number = (gint)v;
  return TRUE;
}

static AxonDeviceRef *
parse_ref (const gchar *item, GError **error)
{
  AxonDeviceRef *ref = g_new0 (AxonDeviceRef, 1);
  const gchar *start = *item == '-' ? item + 1 : item, *bracket = strchr (start, '(');
  ref->excluded = *item == '-';
  ref->device = bracket ? g_strndup (start, (gsize)(bracket - start)) : g_strdup (start);
  if (!parse_name (ref->device, &ref->name, &ref->id, error) ||
      (bracket != NULL && !parse_number (item, bracket, &ref->number, error))) {
    axon_device_ref_free (ref);
    return NULL;
  }
  return ref;
}

GPtrArray *
axon_device_list_parse (const gchar *text, GError **error)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (axon_device_ref_free);
  g_auto (GStrv) items = g_strsplit (text, ",", -1);
  for (guint i = 0; items[i] != NULL; i++) {
    AxonDeviceRef *ref = parse_ref (g_strstrip (items[i]), error);
    if (ref == NULL)
      return NULL;
    g_ptr_array_add (list, ref);
  }
  return g_steal_pointer (&list);
}

static GVariant *
as_dict (GVariant *value)
{
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING))
    return g_variant_parse (G_VARIANT_TYPE_VARDICT, g_variant_get_string (value, NULL), NULL, NULL,
                            NULL);
  return g_variant_is_of_type (value, G_VARIANT_TYPE_VARDICT) ? g_variant_ref (value) : NULL;
}

static void
merge_dict (GVariantDict *dict, GVariant *values)
{
  GVariantIter iter;
  const gchar *key;
  GVariant *value;
  g_variant_iter_init (&iter, values);
  while (g_variant_iter_loop (&iter, "{&sv}", &key, &value))
    g_variant_dict_insert_value (dict, key, value);
}

/* TRUE if @entry, a device of DEVICE_PROPERTIES, covers @device: GPU covers GPU.0 too. */
static gboolean
covers (const gchar *entry, const gchar *device)
{
  gsize n = strlen (entry);
  return g_str_has_prefix (device, entry) && (device[n] == '\0' || device[n] == '.');
}

/* Moves what @values say of @device from DEVICE_PROPERTIES and DEVICE_PROPERTIES_<device> to the
 * top, and drops what they say of others. Floating a{sv}. For devices that are not virtual, and for
 * virtual ones that configure the devices behind them. */
GVariant *
axon_device_properties_flatten (GVariant *values, const gchar *device)
{
  GVariantDict dict;
  GVariantIter iter;
  const gchar *key;
  GVariant *value;
  g_autoptr (GPtrArray) own = g_ptr_array_new_with_free_func ((GDestroyNotify)g_variant_unref);
  g_variant_dict_init (&dict, NULL);
  g_variant_iter_init (&iter, values);
  while (g_variant_iter_loop (&iter, "{&sv}", &key, &value)) {
    g_autoptr (GVariant) map = NULL;
    if (g_str_equal (key, "DEVICE_PROPERTIES")) {
      GVariantIter inner;
      const gchar *name;
      GVariant *properties;
      map = as_dict (value);
      g_variant_iter_init (&inner, map);
      while (map != NULL && g_variant_iter_loop (&inner, "{&sv}", &name, &properties))
        if (covers (name, device))
          g_ptr_array_insert (own, 0, as_dict (properties)); /* the longer form below wins */
    } else if (g_str_has_prefix (key, "DEVICE_PROPERTIES_")) {
      map = covers (key + strlen ("DEVICE_PROPERTIES_"), device) ? as_dict (value) : NULL;
      if (map != NULL)
        g_ptr_array_add (own, g_steal_pointer (&map));
    } else {
      g_variant_dict_insert_value (&dict, key, value);
    }
  }
  for (guint i = 0; i < own->len; i++)
    if (own->pdata[i] != NULL)
      merge_dict (&dict, own->pdata[i]);
  return g_variant_dict_end (&dict);
}

GVariant *
axon_config_for_device (const AxonConfig *config, const gchar *device)
{
  g_autoptr (GVariant) all = NULL;
  GVariantDict dict;
  GHashTableIter iter;
  gpointer key, value;
  g_variant_dict_init (&dict, NULL);
  if (config->others != NULL) {
    g_hash_table_iter_init (&iter, config->others);
    while (g_hash_table_iter_next (&iter, &key, &value))
      g_variant_dict_insert_value (&dict, key, value);
  }
  all = g_variant_ref_sink (g_variant_dict_end (&dict));
  return g_variant_ref_sink (axon_device_properties_flatten (all, device));
}

GVariant *
axon_variant_with (GVariant *config, const gchar *key, GVariant *value)
{
  g_autoptr (GVariant) owned = g_variant_ref_sink (value);
  GVariantDict dict;
  g_variant_dict_init (&dict, config);
  if (!g_variant_dict_contains (&dict, key))
    g_variant_dict_insert_value (&dict, key, owned);
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}
