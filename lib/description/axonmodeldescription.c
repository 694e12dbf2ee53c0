/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Model descriptions. The first source that says a field wins (bits of `said`). */
#include "axonmodeldescription-private.h"
#include "../base/axonutf8-private.h"

#include <string.h>

G_DEFINE_BOXED_TYPE (AxonModelDescription, axon_model_description, axon_model_description_ref,
                     axon_model_description_unref)

/**
 * axon_model_description_new: (constructor)
 *
 * Makes a description that says nothing: red, green and blue from 0 to 255, stretched.
 *
 * Returns: (transfer full): a description
 *
 * Since: 1.0
 */
AxonModelDescription *
axon_model_description_new (void)
{
  AxonModelDescription *d = g_new0 (AxonModelDescription, 1);
  g_atomic_ref_count_init (&d->ref_count);
  d->origin = g_string_new (NULL);
  d->color = g_strdup ("rgb");
  d->resize = AXON_IMAGE_FIT_STRETCH;
  d->crop_fraction = 1;
  d->threshold = d->iou_threshold = -1;
  d->sources = g_new0 (gchar *, AXON_N_FIELDS);
  return d;
}

/**
 * axon_model_description_ref:
 * @description: a description
 *
 * Takes a reference.
 *
 * Returns: (transfer full): @description
 *
 * Since: 1.0
 */
AxonModelDescription *
axon_model_description_ref (AxonModelDescription *description)
{
  g_atomic_ref_count_inc (&description->ref_count);
  return description;
}

/**
 * axon_model_description_unref:
 * @description: (transfer full): a description
 *
 * Gives a reference back.
 *
 * Since: 1.0
 */
void
axon_model_description_unref (AxonModelDescription *description)
{
  if (!g_atomic_ref_count_dec (&description->ref_count))
    return;
  for (guint i = 0; i < AXON_N_FIELDS; i++)
    g_free (description->sources[i]);
  g_free (description->sources);
  g_free (description->model_name);
  g_free (description->preset);
  g_free (description->decoder);
  g_free (description->color);
  g_free (description->anchors);
  g_free (description->activation);
  g_free (description->skeleton);
  g_strfreev (description->labels);
  g_string_free (description->origin, TRUE);
  g_free (description);
}

/**
 * axon_model_description_get_key:
 * @index: from 0
 * @blurb: (out) (optional) (transfer none): what the key means
 *
 * The keys that axon_model_description_set() and description files know.
 *
 * Returns: (transfer none) (nullable): a key; %NULL after the last
 *
 * Since: 1.0
 */
const gchar *
axon_model_description_get_key (guint index, const gchar **blurb)
{
  const AxonDescriptionKey *row = axon_description_key_at (index);
  if (row == NULL)
    return NULL;
  if (blurb != NULL)
    *blurb = _ (row->blurb);
  return row->key;
}

gboolean
axon_model_description_has (const AxonModelDescription *d, AxonField field)
{
  return (d->said & 1u << field) != 0;
}

static void
note (AxonModelDescription *d, const AxonSpeaker *speaker, AxonField field, const gchar *key)
{
  d->said |= 1u << field;
  if (speaker->guesses)
    d->guessed |= 1u << field;
  d->sources[field] = g_strdup (speaker->name);
  g_string_append_printf (d->origin, " %s=%s%s", key, speaker->name,
                          speaker->guesses ? _ (" (a guess)") : "");
}

gboolean
axon_model_description_say (AxonModelDescription *d, const AxonSpeaker *speaker, const gchar *key,
                            const gchar *value, GError **error)
{
  g_autofree gchar *text = NULL;
  gsize n;
  const AxonDescriptionKey *row;
  if (!g_utf8_validate (key, -1, NULL) || !g_utf8_validate (value, -1, NULL)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("a key or its value is not UTF-8"));
    return FALSE;
  }
  row = axon_description_key_find (key, error);
  if (row == NULL)
    return FALSE;
  if (axon_model_description_has (d, row->field)) {
    g_debug ("%s=%s of %s is not used: a source before it said so", key, value, speaker->name);
    return TRUE;
  }
  if (row->is_file && !speaker->names_files) {
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_ARGUMENT,
        _ ("%s=%s: a model names no files; say %s in MODEL.modelinfo beside the model or as a "
           "property"),
        key, value, key);
    return FALSE;
  }
  if (row->is_file)
    text = axon_read_small_file (speaker->directory, value, &n, error);
  if (text != NULL)
    axon_utf8_mend (text);
  if ((row->is_file && text == NULL) || !row->set (d, row->is_file ? text : value, error)) {
    g_prefix_error (error, "%s: ", key);
    return FALSE;
  }
  g_debug ("%s=%s of %s", key, value, speaker->name);
  note (d, speaker, row->field, key);
  return row->field != AXON_FIELD_PRESET || axon_say_preset (d, speaker, value, error);
}

void
axon_model_description_say_labels (AxonModelDescription *d, const AxonSpeaker *speaker,
                                   gchar **labels)
{
  if (axon_model_description_has (d, AXON_FIELD_LABELS)) {
    g_strfreev (labels);
    return;
  }
  g_debug ("%u labels of %s", g_strv_length (labels), speaker->name);
  d->labels = labels;
  note (d, speaker, AXON_FIELD_LABELS, "labels");
}

gboolean
axon_model_description_say_numbers (AxonModelDescription *d, const AxonSpeaker *speaker,
                                    const gchar *key, const gdouble *values, guint n,
                                    GError **error)
{
  g_autoptr (GString) s = g_string_new (NULL);
  for (guint i = 0; i < n; i++) {
    gchar buffer[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd (buffer, sizeof buffer, "%.9g", values[i]);
    g_string_append_printf (s, "%s%s", i > 0 ? "," : "", buffer);
  }
  return n == 0 || axon_model_description_say (d, speaker, key, s->str, error);
}

/**
 * axon_model_description_set:
 * @description: a description that is not shared yet
 * @key: one of axon_model_description_get_key()
 * @value: its value as text
 * @error: return location
 *
 * Sets a key, unless an earlier source said it. Of several keys, `preset` is set last: it says all
 * that was not said.
 *
 * Returns: %TRUE on success; %AXON_ERROR_ARGUMENT where there is no such key, or it takes no such
 *   value
 *
 * Since: 1.0
 */
gboolean
axon_model_description_set (AxonModelDescription *description, const gchar *key, const gchar *value,
                            GError **error)
{
  static const AxonSpeaker user = { .name = "property", .names_files = TRUE };
  if (axon_model_description_say (description, &user, key, value, error))
    return TRUE;
  g_prefix_error (error, "%s: ", user.name);
  return FALSE;
}

/**
 * axon_model_description_get:
 * @description: a description
 * @key: one of axon_model_description_get_key()
 * @source: (out) (optional) (transfer none) (nullable): who said so
 * @is_guess: (out) (optional): whether it may be wrong
 *
 * Looks up what was concluded about a key, and from where.
 *
 * Returns: (transfer full) (nullable): the value as axon_model_description_set() takes it; %NULL
 *   where no source said the key
 *
 * Since: 1.0
 */
gchar *
axon_model_description_get (const AxonModelDescription *description, const gchar *key,
                            const gchar **source, gboolean *is_guess)
{
  const AxonDescriptionKey *row = axon_description_key_find (key, NULL);
  gboolean has =
      row != NULL && row->get != NULL && axon_model_description_has (description, row->field);
  if (source != NULL)
    *source = has ? description->sources[row->field] : NULL;
  if (is_guess != NULL)
    *is_guess = has && (description->guessed & 1u << row->field) != 0;
  return has ? row->get (description) : NULL;
}

/* Who says what pixels are divided by, or what is subtracted, knows what pictures must be like: the
 * defaults of the rest are meant. A graph that normalises itself does not say its colours. */
static gboolean
means_defaults (const AxonModelDescription *d)
{
  static const AxonField fields[] = { AXON_FIELD_MEAN, AXON_FIELD_SCALE };
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if (axon_model_description_has (d, fields[i]) &&
        !g_str_equal (d->sources[fields[i]], AXON_SOURCE_GRAPH))
      return TRUE;
  return FALSE;
}

/**
 * axon_model_description_get_doubts:
 * @description: a description that was loaded for a model that takes pictures
 *
 * Names what no source said for certain, though the result depends on it: guesses, and the
 * defaults of what nobody said.
 *
 * Returns: (transfer full) (nullable): keys with the values that are used, such as
 *   `color=rgb mean=0`; %NULL: there are none
 *
 * Since: 1.0
 */
gchar *
axon_model_description_get_doubts (const AxonModelDescription *description)
{
  static const struct {
    const gchar *key, *by_default; /* NULL: nothing is assumed */
  } matters[] = {
    { "color", "rgb" }, { "resize", "stretch" }, { "mean", "0" },
    { "scale", "1" },   { "labels", NULL },      { "decoder", NULL },
  };
  g_autoptr (GString) s = g_string_new (NULL);
  gboolean trusted = means_defaults (description);
  for (guint i = 0; i < G_N_ELEMENTS (matters); i++) {
    gboolean is_guess;
    g_autofree gchar *said =
        axon_model_description_get (description, matters[i].key, NULL, &is_guess);
    const gchar *value = said ? said : matters[i].by_default;
    if (value == NULL || (said != NULL ? !is_guess : trusted))
      continue;
    if (g_str_equal (matters[i].key, "labels"))
      value = _ ("those of the preset");
    g_string_append_printf (s, "%s%s=%s", s->len > 0 ? " " : "", matters[i].key, value);
  }
  return s->len > 0 ? g_string_free (g_steal_pointer (&s), FALSE) : NULL;
}

/**
 * axon_model_description_get_label:
 * @description: (nullable): a description
 * @class_id: a class
 *
 * Looks up what a class is called.
 *
 * Returns: (transfer none) (nullable): its label, or %NULL where there is none
 *
 * Since: 1.0
 */
const gchar *
axon_model_description_get_label (const AxonModelDescription *description, gint class_id)
{
  gint n = description && description->labels ? (gint)g_strv_length (description->labels) : 0;
  return class_id >= 0 && class_id < n ? description->labels[class_id] : NULL;
}
