/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "toolcommon.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
tool_init (void)
{
  setlocale (LC_ALL, "");
  bindtextdomain (GETTEXT_PACKAGE, LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);
}

int
tool_fail (GError *error)
{
  g_printerr ("%s: %s\n", g_get_prgname (), error->message);
  g_error_free (error);
  return 1;
}

GVariant *
tool_parse_config (gchar **pairs, GError **error)
{
  GVariantBuilder builder;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a{sv}"));
  for (guint i = 0; pairs != NULL && pairs[i] != NULL; i++) {
    const gchar *equals = strchr (pairs[i], '=');
    g_autofree gchar *key = equals ? g_strndup (pairs[i], (gsize)(equals - pairs[i])) : NULL;
    if (key == NULL) {
      g_variant_builder_clear (&builder);
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("\"%s\": expected KEY=VALUE"),
                   pairs[i]);
      return NULL;
    }
    g_variant_builder_add (&builder, "{sv}", key, g_variant_new_string (equals + 1));
  }
  return g_variant_builder_end (&builder);
}

void
tool_progress (gdouble fraction, const gchar *stage, G_GNUC_UNUSED gpointer user_data)
{
  if (!isatty (STDERR_FILENO))
    return;
  g_printerr ("\r\033[K%3.0f%% %s%s", fraction * 100, stage, fraction >= 1 ? "\r\033[K" : "");
}

gboolean
tool_add_extension (G_GNUC_UNUSED const gchar *name, const gchar *value,
                    G_GNUC_UNUSED gpointer data, GError **error)
{
  return axon_core_add_extension (axon_core_get_default (), value, NULL, error);
}
