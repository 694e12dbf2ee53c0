/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "toolcommon.h"

#include <locale.h>
#include <math.h>
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
  tool_progress_clear ();
  g_printerr ("%s: %s\n", g_get_prgname (), error->message);
  g_error_free (error);
  return TOOL_FAILED;
}

int
tool_misused (GError *error)
{
  tool_fail (error);
  return TOOL_USAGE;
}

int
tool_show_usage (GOptionContext *context)
{
  g_autofree gchar *help = g_option_context_get_help (context, TRUE, NULL);
  g_printerr ("%s", help);
  return TOOL_USAGE;
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

static gboolean progress_shown;

void
tool_progress (gdouble fraction, const gchar *stage, G_GNUC_UNUSED gpointer user_data)
{
  if (!isatty (STDERR_FILENO))
    return;
  g_printerr ("\r\033[K%3.0f%% %s", fraction * 100, stage);
  progress_shown = TRUE;
  if (fraction >= 1)
    tool_progress_clear ();
}

void
tool_progress_clear (void)
{
  if (progress_shown)
    g_printerr ("\r\033[K");
  progress_shown = FALSE;
}

gboolean
tool_add_extension (G_GNUC_UNUSED const gchar *name, const gchar *value,
                    G_GNUC_UNUSED gpointer data, GError **error)
{
  return axon_core_add_extension (axon_core_get_default (), value, NULL, error);
}

JsonBuilder *
tool_json_new (void)
{
  return json_builder_begin_object (json_builder_new ());
}

void
tool_json_text (JsonBuilder *b, const gchar *name, const gchar *value)
{
  json_builder_set_member_name (b, name);
  if (value != NULL)
    json_builder_add_string_value (b, value);
  else
    json_builder_add_null_value (b);
}

/* JSON has no infinity and no NaN. */
void
tool_json_number (JsonBuilder *b, const gchar *name, gdouble value)
{
  json_builder_set_member_name (b, name);
  if (isfinite (value))
    json_builder_add_double_value (b, value);
  else
    json_builder_add_null_value (b);
}

void
tool_json_whole (JsonBuilder *b, const gchar *name, gint64 value)
{
  json_builder_set_member_name (b, name);
  json_builder_add_int_value (b, value);
}

void
tool_json_truth (JsonBuilder *b, const gchar *name, gboolean value)
{
  json_builder_set_member_name (b, name);
  json_builder_add_boolean_value (b, value);
}

void
tool_json_port (JsonBuilder *b, const gchar *name, AxonDType type, const AxonShape *shape)
{
  tool_json_text (b, "name", name);
  tool_json_text (b, "type", axon_dtype_get_name (type));
  json_builder_set_member_name (b, "shape");
  if (shape == NULL || shape->rank < 0) {
    json_builder_add_null_value (b);
    return;
  }
  json_builder_begin_array (b);
  for (gint i = 0; i < shape->rank; i++)
    json_builder_add_int_value (b, shape->dims[i]);
  json_builder_end_array (b);
}

void
tool_json_begin_list (JsonBuilder *b, const gchar *name)
{
  if (b == NULL)
    return;
  json_builder_set_member_name (b, name);
  json_builder_begin_array (b);
}

void
tool_json_end_list (JsonBuilder *b)
{
  if (b != NULL)
    json_builder_end_array (b);
}

void
tool_json_strings (JsonBuilder *b, const gchar *name, gchar **strings)
{
  tool_json_begin_list (b, name);
  for (guint i = 0; b != NULL && strings[i] != NULL; i++)
    json_builder_add_string_value (b, strings[i]);
  tool_json_end_list (b);
}

void
tool_json_finish (JsonBuilder *b)
{
  g_autoptr (JsonNode) root = NULL;
  g_autofree gchar *text = NULL;
  if (b == NULL)
    return;
  json_builder_end_object (b);
  root = json_builder_get_root (b);
  if (json_object_get_size (json_node_get_object (root)) == 0)
    return;
  text = json_to_string (root, TRUE);
  tool_progress_clear ();
  g_print ("%s\n", text);
}
