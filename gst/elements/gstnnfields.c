/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnfields.h"

static gpointer
find (const GstNnField *fields, guint n, gconstpointer structure, guint id)
{
  for (guint i = 0; i < n; i++)
    if (fields[i].id == id)
      return G_STRUCT_MEMBER_P (structure, fields[i].offset);
  return NULL;
}

static void
set_boxed (gpointer *field, const GValue *value)
{
  if (*field != NULL)
    g_boxed_free (G_VALUE_TYPE (value), *field);
  *field = g_value_dup_boxed (value);
}

gboolean
gst_nn_fields_set (const GstNnField *fields, guint n, gpointer structure, guint id,
                   const GValue *value)
{
  gpointer field = find (fields, n, structure, id);
  if (field == NULL)
    return FALSE;
  if (G_VALUE_HOLDS_STRING (value)) {
    g_free (*(gchar **)field);
    *(gchar **)field = g_value_dup_string (value);
  } else if (G_VALUE_HOLDS_BOXED (value)) {
    set_boxed (field, value);
  } else if (GST_VALUE_HOLDS_ARRAY (value)) {
    g_value_copy (value, field);
  } else if (G_VALUE_HOLDS_BOOLEAN (value)) {
    *(gboolean *)field = g_value_get_boolean (value);
  } else if (G_VALUE_HOLDS_ENUM (value)) {
    *(gint *)field = g_value_get_enum (value);
  } else if (G_VALUE_HOLDS_UINT (value)) {
    *(guint *)field = g_value_get_uint (value);
  } else if (G_VALUE_HOLDS_UINT64 (value)) {
    *(guint64 *)field = g_value_get_uint64 (value);
  } else {
    *(gdouble *)field = g_value_get_double (value);
  }
  return TRUE;
}

gboolean
gst_nn_fields_get (const GstNnField *fields, guint n, gconstpointer structure, guint id,
                   GValue *value)
{
  gconstpointer field = find (fields, n, structure, id);
  if (field == NULL)
    return FALSE;
  if (G_VALUE_HOLDS_STRING (value))
    g_value_set_string (value, *(gchar *const *)field);
  else if (G_VALUE_HOLDS_BOXED (value))
    g_value_set_boxed (value, *(gconstpointer const *)field);
  else if (GST_VALUE_HOLDS_ARRAY (value))
    g_value_copy (field, value);
  else if (G_VALUE_HOLDS_BOOLEAN (value))
    g_value_set_boolean (value, *(const gboolean *)field);
  else if (G_VALUE_HOLDS_ENUM (value))
    g_value_set_enum (value, *(const gint *)field);
  else if (G_VALUE_HOLDS_UINT (value))
    g_value_set_uint (value, *(const guint *)field);
  else if (G_VALUE_HOLDS_UINT64 (value))
    g_value_set_uint64 (value, *(const guint64 *)field);
  else
    g_value_set_double (value, *(const gdouble *)field);
  return TRUE;
}
