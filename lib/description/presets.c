/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of well-known models, presets.ini, and the lists of labels that it names; both are
 * compiled in. A row says what MODEL.modelinfo would say, and by what one knows the model. */
#include "axonmodeldescription-private.h"
#include "fingerprint.h"

#include <gio/gio.h>
#include <string.h>

#define FOLDER "/org/axon/description/"

/* Keys of a row that describe nothing. */
static const gchar *const about[] = { "source", "inputs",  "outputs", "operators",
                                      "guess",  "caution", NULL };

static GKeyFile *
get_table (void)
{
  static GKeyFile *table;
  static gsize once;
  if (g_once_init_enter (&once)) {
    g_autoptr (GBytes) bytes =
        g_resources_lookup_data (FOLDER "presets.ini", G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
    table = g_key_file_new ();
    if (bytes == NULL || !g_key_file_load_from_bytes (table, bytes, G_KEY_FILE_NONE, NULL))
      g_assert_not_reached ();
    g_once_init_leave (&once, 1);
  }
  return table;
}

/**
 * axon_model_description_list_presets:
 *
 * Names the rows of the table of well-known models: what the key `preset` takes.
 *
 * Returns: (transfer full) (array zero-terminated=1): the names, in the order in which models are
 *   compared with them
 *
 * Since: 1.0
 */
gchar **
axon_model_description_list_presets (void)
{
  return g_key_file_get_groups (get_table (), NULL);
}

gchar **
axon_label_set_dup (const gchar *name, GError **error)
{
  g_autofree gchar *file = g_strconcat (name, ".txt", NULL);
  g_autofree gchar *path = g_strconcat (FOLDER "labels/", file, NULL);
  g_auto (GStrv) files =
      g_resources_enumerate_children (FOLDER "labels/", G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  g_autoptr (GBytes) bytes = NULL;
  g_autofree gchar *known = NULL;
  if (g_strv_contains ((const gchar *const *)files, file))
    bytes = g_resources_lookup_data (path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  if (bytes != NULL)
    return axon_split_lines (g_bytes_get_data (bytes, NULL));
  for (guint i = 0; files[i] != NULL; i++)
    files[i][strlen (files[i]) - strlen (".txt")] = '\0';
  known = g_strjoinv (", ", files);
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("expected one of %s, got \"%s\""), known,
               name);
  return NULL;
}

static gboolean
say_row (AxonModelDescription *d, const AxonSpeaker *speaker, const gchar *row, GError **error)
{
  GKeyFile *table = get_table ();
  g_auto (GStrv) names = g_key_file_get_keys (table, row, NULL, NULL);
  for (guint i = 0; names[i] != NULL; i++) {
    g_autofree gchar *value = NULL;
    if (g_strv_contains (about, names[i]))
      continue;
    value = g_key_file_get_string (table, row, names[i], NULL);
    if (!axon_model_description_say (d, speaker, names[i], value, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
axon_say_preset (AxonModelDescription *d, const AxonSpeaker *speaker, const gchar *name,
                 GError **error)
{
  g_autofree gchar *who = g_strdup_printf (_ ("preset %s of %s"), name, speaker->name);
  AxonSpeaker row = { .name = who };
  if (g_key_file_has_group (get_table (), name))
    return say_row (d, &row, name, error);
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
               _ ("preset: there is no \"%s\"; axon-inspect --presets lists them"), name);
  return FALSE;
}

/* What only a person can see to. */
static const gchar *
caution_of (GKeyFile *table, const gchar *row)
{
  static const struct {
    const gchar *word, *text;
  } cautions[] = {
    { "cascade", N_ ("it is one stage of a cascade that an application puts together, and wants "
                     "pictures whose width and height are swapped") },
    { "recurrent", N_ ("its further inputs want its last outputs, which nothing here feeds back") },
  };
  g_autofree gchar *word = g_key_file_get_string (table, row, "caution", NULL);
  for (guint i = 0; word != NULL && i < G_N_ELEMENTS (cautions); i++)
    if (g_str_equal (cautions[i].word, word))
      return _ (cautions[i].text);
  return NULL;
}

gboolean
axon_load_preset (AxonModelDescription *d, G_GNUC_UNUSED const gchar *model_path, AxonModel *model,
                  GError **error)
{
  GKeyFile *table = get_table ();
  g_auto (GStrv) rows = g_key_file_get_groups (table, NULL);
  if (axon_model_description_has (d, AXON_FIELD_PRESET))
    return TRUE;
  for (guint i = 0; rows[i] != NULL; i++) {
    g_autofree gchar *who = g_strdup_printf (_ ("known as %s"), rows[i]);
    AxonSpeaker row = { .name = who,
                        .guesses = g_key_file_get_boolean (table, rows[i], "guess", NULL) };
    if (!axon_fingerprint_fits (table, rows[i], model))
      continue;
    d->preset = g_strdup (rows[i]);
    d->caution = caution_of (table, rows[i]);
    return say_row (d, &row, rows[i], error);
  }
  return TRUE;
}
