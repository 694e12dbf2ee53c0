/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of labels beside a model, one per line: `MODEL.labels` and `MODEL.txt` are about that
 * model; `labels.txt` is about the folder, and a model that names its classes itself knows better.
 */
#include "axonmodeldescription-private.h"

#include <string.h>

#define MAX_LABEL_BYTES 256

/* A text about something else has longer lines. */
static gboolean
are_labels (gchar *const *lines)
{
  guint i;
  for (i = 0; lines[i] != NULL; i++)
    if (strlen (lines[i]) > MAX_LABEL_BYTES)
      return FALSE;
  return i > 0;
}

static gboolean
try_file (AxonModelDescription *d, const gchar *path, GError **error)
{
  AxonSpeaker speaker = { .name = path };
  g_autofree gchar *text = NULL;
  g_auto (GStrv) lines = NULL;
  gsize n = 0;
  if (axon_model_description_has (d, AXON_FIELD_LABELS))
    return TRUE;
  if (!axon_read_optional_file (path, &text, &n, error))
    return FALSE;
  if (text == NULL)
    return TRUE;
  lines = g_utf8_validate (text, (gssize)n, NULL) ? axon_split_lines (text) : NULL;
  if (lines != NULL && are_labels (lines))
    axon_model_description_say_labels (d, &speaker, g_steal_pointer (&lines));
  else
    g_info ("%s is not read as labels: it is no text of short lines", path);
  return TRUE;
}

gboolean
axon_load_own_labels (AxonModelDescription *d, const gchar *model_path,
                      G_GNUC_UNUSED AxonModel *model, GError **error)
{
  g_autofree gchar *labels = axon_path_beside (model_path, ".labels");
  g_autofree gchar *text = axon_path_beside (model_path, ".txt");
  return try_file (d, labels, error) && try_file (d, text, error);
}

gboolean
axon_load_shared_labels (AxonModelDescription *d, const gchar *model_path,
                         G_GNUC_UNUSED AxonModel *model, GError **error)
{
  g_autofree gchar *directory = g_path_get_dirname (model_path);
  g_autofree gchar *path = g_build_filename (directory, "labels.txt", NULL);
  return try_file (d, path, error);
}
