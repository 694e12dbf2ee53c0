/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "axonlayout.h"

#include <string.h>

gboolean
axon_layout_is_valid (const gchar *layout)
{
  const gchar *dots = strstr (layout, "...");
  gboolean seen[256] = { FALSE };
  for (const gchar *p = layout; *p != '\0'; p++) {
    if (p == dots) {
      p += 2;
      continue;
    }
    if (*p != '?' && (!g_ascii_isupper (*p) || seen[(guchar)*p]))
      return FALSE;
    seen[(guchar)*p] = TRUE;
  }
  return *layout != '\0';
}

gchar *
axon_layout_expand (const gchar *layout, gint rank)
{
  const gchar *dots = strstr (layout, "...");
  gsize n = strlen (layout);
  GString *s;
  if (dots == NULL)
    return rank == (gint)n ? g_strdup (layout) : NULL;
  if (rank < (gint)n - 3)
    return NULL;
  s = g_string_new_len (layout, dots - layout);
  for (gint i = (gint)n - 3; i < rank; i++)
    g_string_append_c (s, '?');
  g_string_append (s, dots + 3);
  return g_string_free (s, FALSE);
}

gint
axon_layout_find (const gchar *layout, gchar letter, gint rank)
{
  g_autofree gchar *full = layout ? axon_layout_expand (layout, rank) : NULL;
  const gchar *at = full ? strchr (full, letter) : NULL;
  return at ? (gint)(at - full) : -1;
}
