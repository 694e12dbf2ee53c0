/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Configurations of DeepStream's nvinfer: key files `config_infer*.txt` beside a model that name it
 * as their onnx-file. Read is what says the same: tensor = net-scale-factor * (pixel - offset). */
#include "axonmodeldescription-private.h"

#include <math.h>
#include <string.h>

#define GROUP "property"
#define MAX_FILES 64

static gchar *
get_text (GKeyFile *file, const gchar *key)
{
  gchar *text = g_key_file_get_string (file, GROUP, key, NULL);
  return text ? g_strstrip (text) : NULL;
}

static gboolean
wrong (const gchar *key, const gchar *expected, const gchar *got, GError **error)
{
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("%s: expected %s, got \"%s\""), key,
               expected, got);
  return FALSE;
}

static gboolean
say_normalisation (AxonModelDescription *d, const AxonSpeaker *speaker, GKeyFile *file,
                   GError **error)
{
  g_autofree gchar *factor = get_text (file, "net-scale-factor");
  g_autofree gchar *offsets = get_text (file, "offsets");
  g_auto (GStrv) parts = g_strsplit (offsets ? offsets : "", ";", -1);
  gdouble mean[4], scale;
  gchar *end = NULL;
  guint n = 0;
  for (guint i = 0; parts[i] != NULL && *g_strstrip (parts[i]) != '\0'; i++) {
    gdouble v = g_ascii_strtod (parts[i], &end);
    if (n == G_N_ELEMENTS (mean) || *end != '\0' || !isfinite (v))
      return wrong ("offsets", _ ("up to four numbers separated by semicolons"), offsets, error);
    mean[n++] = v;
  }
  scale = factor ? g_ascii_strtod (factor, &end) : 1;
  if (factor != NULL &&
      (end == factor || *end != '\0' || !(fabs (scale) > 1e-30) || !isfinite (scale)))
    return wrong ("net-scale-factor", _ ("a number other than 0"), factor, error);
  if (n == 0)
    mean[n++] = 0;
  scale = 1 / scale;
  return axon_model_description_say_numbers (d, speaker, "mean", mean, n, error) &&
         axon_model_description_say_numbers (d, speaker, "scale", &scale, 1, error);
}

/* A number that chooses one of some words; NULL without an error: the key is not there. */
static gboolean
choose (GKeyFile *file, const gchar *key, const gchar *const *words, const gchar *by_default,
        const gchar **word, GError **error)
{
  g_autofree gchar *text = get_text (file, key);
  gint64 v;
  *word = by_default;
  if (text == NULL)
    return TRUE;
  if (!g_ascii_string_to_signed (text, 10, 0, (gint64)g_strv_length ((gchar **)words) - 1, &v,
                                 NULL))
    return wrong (key, _ ("one of the numbers that nvinfer documents"), text, error);
  *word = words[v];
  return TRUE;
}

static gboolean
say_picture (AxonModelDescription *d, const AxonSpeaker *speaker, GKeyFile *file, GError **error)
{
  static const gchar *const colors[] = { "rgb", "bgr", "gray", NULL };
  static const gchar *const no_yes[] = { "no", "yes", NULL };
  const gchar *color, *keep, *centred;
  if (!choose (file, "model-color-format", colors, "rgb", &color, error) ||
      !choose (file, "maintain-aspect-ratio", no_yes, "no", &keep, error) ||
      !choose (file, "symmetric-padding", no_yes, "no", &centred, error))
    return FALSE;
  return axon_model_description_say (d, speaker, "color", color, error) &&
         axon_model_description_say (d, speaker, "resize",
                                     g_str_equal (keep, "no")      ? "stretch"
                                     : g_str_equal (centred, "no") ? "top-left"
                                                                   : "letterbox",
                                     error) &&
         say_normalisation (d, speaker, file, error);
}

/* Labels of a classifier stand in one line, separated by semicolons. */
static gboolean
say_labels (AxonModelDescription *d, const AxonSpeaker *speaker, GKeyFile *file, GError **error)
{
  g_autofree gchar *path = get_text (file, "labelfile-path");
  guint n;
  if (path == NULL || axon_model_description_has (d, AXON_FIELD_LABELS))
    return TRUE;
  if (!axon_model_description_say (d, speaker, "labels-file", path, error))
    return FALSE;
  n = g_strv_length (d->labels);
  if (n == 1 && strchr (d->labels[0], ';') != NULL) {
    gchar **parts = g_strsplit (d->labels[0], ";", -1);
    g_strfreev (d->labels);
    d->labels = parts;
  }
  return TRUE;
}

static gboolean
say_decoder (AxonModelDescription *d, const AxonSpeaker *speaker, GKeyFile *file, GError **error)
{
  g_autofree gchar *type = get_text (file, "network-type");
  const gchar *decoder = g_strcmp0 (type, "1") == 0   ? "classification"
                         : g_strcmp0 (type, "2") == 0 ? "segmentation"
                                                      : NULL;
  return decoder == NULL || axon_model_description_say (d, speaker, "decoder", decoder, error);
}

/* Of all classes; those of single ones are left out. */
static gboolean
say_thresholds (AxonModelDescription *d, const AxonSpeaker *speaker, GKeyFile *file, GError **error)
{
  static const struct {
    const gchar *name, *key;
  } same[] = {
    { "pre-cluster-threshold", "threshold" },
    { "threshold", "threshold" },
    { "nms-iou-threshold", "iou-threshold" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (same); i++) {
    g_autofree gchar *text = g_key_file_get_string (file, "class-attrs-all", same[i].name, NULL);
    if (text != NULL &&
        !axon_model_description_say (d, speaker, same[i].key, g_strstrip (text), error))
      return FALSE;
  }
  return TRUE;
}

/* *@is_ours: the file is about this model. Key files of other programs may be called alike. */
static gboolean
try_file (AxonModelDescription *d, const gchar *path, const gchar *directory, const gchar *model,
          gboolean *is_ours, GError **error)
{
  AxonSpeaker speaker = { .name = path, .directory = directory, .names_files = TRUE };
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree gchar *text = NULL, *named = NULL, *base = NULL;
  gsize n = 0;
  if (!axon_read_optional_file (path, &text, &n, error))
    return FALSE;
  if (text == NULL || n == 0 || !g_key_file_load_from_data (file, text, n, G_KEY_FILE_NONE, NULL))
    return TRUE;
  named = get_text (file, "onnx-file");
  base = g_path_get_basename (named ? named : "");
  *is_ours = named != NULL && g_str_equal (base, model);
  return !*is_ours ||
         (say_picture (d, &speaker, file, error) && say_labels (d, &speaker, file, error) &&
          say_decoder (d, &speaker, file, error) && say_thresholds (d, &speaker, file, error));
}

gboolean
axon_load_deepstream (AxonModelDescription *d, const gchar *model_path,
                      G_GNUC_UNUSED AxonModel *model, GError **error)
{
  g_autofree gchar *directory = g_path_get_dirname (model_path);
  g_autofree gchar *base = g_path_get_basename (model_path);
  g_autoptr (GDir) dir = g_dir_open (directory, 0, NULL);
  gboolean is_ours = FALSE;
  const gchar *name;
  guint n = 0;
  while (dir != NULL && !is_ours && n < MAX_FILES && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = NULL;
    if (!g_str_has_prefix (name, "config_infer") || !g_str_has_suffix (name, ".txt"))
      continue;
    n++;
    path = g_build_filename (directory, name, NULL);
    if (!try_file (d, path, directory, base, &is_ours, error)) {
      g_prefix_error (error, "%s: ", path);
      return FALSE;
    }
  }
  return TRUE;
}
