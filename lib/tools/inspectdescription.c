/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was concluded about a model beyond its graph, from where, and how to run it on a video. */
#include "inspect-private.h"

#include <string.h>

#define MAX_VALUE 44

/* Labels by number and first names; others as they are. */
static gchar *
short_value (const AxonModelDescription *d, const gchar *key, const gchar *value)
{
  guint n;
  if (!g_str_equal (key, "labels"))
    return g_strdup (value);
  n = g_strv_length (d->labels);
  if (n <= 3)
    return g_strdup (value);
  return g_strdup_printf ("%u: %s,%s,%s,...", n, d->labels[0], d->labels[1], d->labels[2]);
}

static void
show_keys (const AxonModelDescription *d)
{
  const gchar *key, *source;
  for (guint i = 0; (key = axon_model_description_get_key (i, NULL)) != NULL; i++) {
    gboolean is_guess;
    g_autofree gchar *value = axon_model_description_get (d, key, &source, &is_guess);
    g_autofree gchar *text = value ? short_value (d, key, value) : NULL;
    if (value != NULL)
      g_print ("  %-12s %-*s %s%s\n", key, MAX_VALUE, text, source,
               is_guess ? _ (" (a guess)") : "");
  }
}

gboolean
inspect_takes_pictures (const AxonModelDescription *d, AxonModel *model)
{
  AxonPictureShape picture;
  return axon_model_get_n_inputs (model) > 0 &&
         axon_picture_shape_init (&picture, axon_model_get_input_shape (model, 0), d->color, NULL);
}

static const gchar *
what_follows (const AxonModelDescription *d)
{
  return g_strcmp0 (d->decoder, "picture") == 0 ? "nntensor2video" : "nndecode ! nnoverlay";
}

/* A guess that is right is settled by its name, a default by being written out. */
static void
show_command (const AxonModelDescription *d, const gchar *path, const gchar *doubts)
{
  g_autofree gchar *quoted = g_shell_quote (path);
  g_autofree gchar *settle = doubts == NULL      ? g_strdup ("")
                             : d->preset != NULL ? g_strconcat (" preset=", d->preset, NULL)
                                                 : g_strconcat (" ", doubts, NULL);
  g_print ("%s\n  gst-launch-1.0 filesrc location=VIDEO ! decodebin ! nninfer model=%s%s ! %s ! "
           "videoconvert ! autovideosink\n",
           _ ("To run it:"), quoted, settle, what_follows (d));
}

gboolean
inspect_description (AxonModel *model, const gchar *path, GError **error)
{
  g_autoptr (AxonModelDescription) d = axon_model_description_new ();
  g_autofree gchar *doubts = NULL;
  if (!axon_model_description_load (d, path, model, error))
    return FALSE;
  if (!inspect_takes_pictures (d, model))
    return TRUE;
  g_print ("%s\n", _ ("What its pictures must be like, and what its outputs mean:"));
  show_keys (d);
  doubts = axon_model_description_get_doubts (d);
  if (doubts != NULL)
    g_print (_ ("Not certain, set it where you know better: %s\n"), doubts);
  if (d->caution != NULL)
    g_print (_ ("Mind: %s\n"), d->caution);
  show_command (d, path, doubts);
  return TRUE;
}

int
inspect_presets (gboolean json)
{
  g_auto (GStrv) names = axon_model_description_list_presets ();
  g_autoptr (JsonBuilder) b = json ? tool_json_new () : NULL;
  tool_json_strings (b, "presets", names);
  tool_json_finish (b);
  for (guint i = 0; !json && names[i] != NULL; i++)
    g_print ("%s\n", names[i]);
  return 0;
}
