/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Model descriptions: one table of keys, read from files beside the model, from ONNX metadata and
 * from element properties. The first source that says a key wins. */
#include <gst/nn/gstnndescription.h>

#include <json-glib/json-glib.h>
#include <string.h>

G_DEFINE_BOXED_TYPE (GstNnDescription, gst_nn_description, gst_nn_description_ref,
                     gst_nn_description_unref)

/**
 * gst_nn_description_new: (constructor)
 *
 * Returns: (transfer full): a description that says nothing
 *
 * Since: 1.0
 */
GstNnDescription *
gst_nn_description_new (void)
{
  GstNnDescription *d = g_new0 (GstNnDescription, 1);
  g_atomic_ref_count_init (&d->ref_count);
  d->origin = g_string_new (NULL);
  d->resize = (AxonImageFit)-1;
  return d;
}

/**
 * gst_nn_description_ref:
 * @description: a description
 *
 * Returns: (transfer full): @description
 *
 * Since: 1.0
 */
GstNnDescription *
gst_nn_description_ref (GstNnDescription *description)
{
  g_atomic_ref_count_inc (&description->ref_count);
  return description;
}

/**
 * gst_nn_description_unref:
 * @description: (transfer full): a description
 *
 * Since: 1.0
 */
void
gst_nn_description_unref (GstNnDescription *description)
{
  if (!g_atomic_ref_count_dec (&description->ref_count))
    return;
  g_free (description->model_name);
  g_free (description->decoder);
  g_free (description->color);
  g_strfreev (description->labels);
  g_string_free (description->origin, TRUE);
  g_free (description);
}

static gboolean
set_labels (GstNnDescription *d, const gchar *text, G_GNUC_UNUSED GError **error)
{
  g_strfreev (d->labels);
  d->labels = g_strsplit (text, ",", -1);
  for (guint i = 0; d->labels[i] != NULL; i++)
    g_strstrip (d->labels[i]);
  return TRUE;
}

static gboolean
set_labels_file (GstNnDescription *d, const gchar *path, GError **error)
{
  g_autofree gchar *text = NULL;
  guint n;
  if (!g_file_get_contents (path, &text, NULL, error))
    return FALSE;
  g_strfreev (d->labels);
  d->labels = g_strsplit (text, "\n", -1);
  n = g_strv_length (d->labels);
  for (guint i = 0; i < n; i++)
    g_strstrip (d->labels[i]);
  while (n > 0 && *d->labels[n - 1] == '\0')
    g_clear_pointer (&d->labels[--n], g_free);
  return TRUE;
}

static gboolean
wrong (GError **error, const gchar *expected, const gchar *got)
{
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "expected %s, got \"%s\"", expected, got);
  return FALSE;
}

static gboolean
set_color (GstNnDescription *d, const gchar *text, GError **error)
{
  static const gchar *const colors[] = { "rgb", "bgr", "gray", NULL };
  g_autofree gchar *lower = g_ascii_strdown (text, -1);
  if (!g_strv_contains (colors, lower))
    return wrong (error, "rgb, bgr or gray", text);
  g_free (d->color);
  d->color = g_steal_pointer (&lower);
  return TRUE;
}

static gboolean
set_resize (GstNnDescription *d, const gchar *text, GError **error)
{
  static const gchar *const fits[] = { "stretch", "letterbox", "top-left", "crop" };
  for (guint i = 0; i < G_N_ELEMENTS (fits); i++)
    if (g_str_equal (fits[i], text)) {
      d->resize = (AxonImageFit)i;
      return TRUE;
    }
  return wrong (error, "stretch, letterbox, top-left or crop", text);
}

static gboolean
set_decoder (GstNnDescription *d, const gchar *text, G_GNUC_UNUSED GError **error)
{
  g_free (d->decoder);
  d->decoder = g_strdup (text);
  return TRUE;
}

static gboolean
parse_floats (const gchar *text, gfloat *out, guint *n, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  guint count = g_strv_length (parts);
  if (count < 1 || count > 4)
    return wrong (error, "one to four numbers", text);
  for (guint i = 0; i < count; i++) {
    gchar *end;
    out[i] = (gfloat)g_ascii_strtod (g_strstrip (parts[i]), &end);
    if (*end != '\0' || end == parts[i])
      return wrong (error, "numbers separated by commas", text);
  }
  *n = count;
  return TRUE;
}

static gboolean
set_mean (GstNnDescription *d, const gchar *text, GError **error)
{
  return parse_floats (text, d->mean, &d->n_mean, error);
}

static gboolean
set_scale (GstNnDescription *d, const gchar *text, GError **error)
{
  if (!parse_floats (text, d->scale, &d->n_scale, error))
    return FALSE;
  for (guint i = 0; i < d->n_scale; i++)
    if (d->scale[i] == 0)
      return wrong (error, "divisors other than 0", text);
  return TRUE;
}

static gboolean
set_pad_value (GstNnDescription *d, const gchar *text, GError **error)
{
  gfloat v;
  guint n;
  if (!parse_floats (text, &v, &n, error))
    return FALSE;
  d->pad_value = (gdouble)v;
  return TRUE;
}

static gboolean
set_size (gint *out, const gchar *text, GError **error)
{
  gint64 v;
  if (!g_ascii_string_to_signed (text, 10, 1, 16384, &v, NULL))
    return wrong (error, "a number from 1 to 16384", text);
  *out = (gint)v;
  return TRUE;
}

static gboolean
set_width (GstNnDescription *d, const gchar *text, GError **error)
{
  return set_size (&d->width, text, error);
}

static gboolean
set_height (GstNnDescription *d, const gchar *text, GError **error)
{
  return set_size (&d->height, text, error);
}

/* The keys, in files and as element properties. @done: bit per row, so that the first source wins.
 */
static const struct {
  const gchar *key;
  gboolean (*set) (GstNnDescription *d, const gchar *text, GError **error);
  gboolean is_file; /* relative to the description's directory */
} keys[] = {
  { "labels", set_labels, FALSE },       { "labels-file", set_labels_file, TRUE },
  { "color", set_color, FALSE },         { "resize", set_resize, FALSE },
  { "pad-value", set_pad_value, FALSE }, { "mean", set_mean, FALSE },
  { "scale", set_scale, FALSE },         { "width", set_width, FALSE },
  { "height", set_height, FALSE },       { "decoder", set_decoder, FALSE },
};

static gboolean
is_said (const GstNnDescription *d, const gchar *key)
{
  g_autofree gchar *needle = g_strdup_printf (" %s=", key);
  return strstr (d->origin->str, needle) != NULL ||
         (g_str_has_prefix (key, "labels") && d->labels != NULL);
}

static gboolean
set_from (GstNnDescription *d, const gchar *key, const gchar *value, const gchar *origin,
          const gchar *directory, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    g_autofree gchar *path = NULL;
    if (!g_str_equal (keys[i].key, key))
      continue;
    if (is_said (d, key))
      return TRUE;
    if (keys[i].is_file && directory != NULL && !g_path_is_absolute (value))
      path = g_build_filename (directory, value, NULL);
    if (!keys[i].set (d, path ? path : value, error)) {
      g_prefix_error (error, "%s: %s: ", origin, key);
      return FALSE;
    }
    g_string_append_printf (d->origin, " %s=%s", key, origin);
    return TRUE;
  }
  g_set_error (
      error, AXON_ERROR, AXON_ERROR_ARGUMENT,
      "%s: unknown key \"%s\" (known: labels, labels-file, color, resize, pad-value, mean, "
      "scale, width, height, decoder)",
      origin, key);
  return FALSE;
}

/**
 * gst_nn_description_set:
 * @description: a description that is not shared yet
 * @key: `labels`, `labels-file`, `color`, `resize`, `pad-value`, `mean`, `scale`, `width`, `height`
 *   or `decoder`
 * @value: its value as text
 * @error: return location
 *
 * Sets a key, unless an earlier source said it.
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
gst_nn_description_set (GstNnDescription *description, const gchar *key, const gchar *value,
                        GError **error)
{
  return set_from (description, key, value, "property", NULL, error);
}

/* `<model>.modelinfo`: a key file with group [axon] (other groups are other readers'). */
static gboolean
load_modelinfo (GstNnDescription *d, const gchar *model_path, GError **error)
{
  g_autofree gchar *path = g_strconcat (model_path, ".modelinfo", NULL);
  g_autofree gchar *directory = g_path_get_dirname (model_path);
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_auto (GStrv) names = NULL;
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  if (!g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, error)) {
    g_prefix_error (error, "%s: ", path);
    return FALSE;
  }
  names = g_key_file_get_keys (file, "axon", NULL, NULL);
  for (guint i = 0; names != NULL && names[i] != NULL; i++) {
    g_autofree gchar *value = g_key_file_get_string (file, "axon", names[i], error);
    if (value == NULL || !set_from (d, names[i], value, path, directory, error))
      return FALSE;
  }
  return TRUE;
}

static gchar *
join_numbers (JsonArray *array, gdouble factor)
{
  GString *s = g_string_new (NULL);
  for (guint i = 0; i < json_array_get_length (array); i++) {
    gchar buffer[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd (buffer, sizeof buffer, "%.9g",
                     json_array_get_double_element (array, i) * factor);
    g_string_append_printf (s, "%s%s", i ? "," : "", buffer);
  }
  return g_string_free (s, FALSE);
}

static JsonObject *
first_object (JsonObject *root, const gchar *member)
{
  JsonArray *array =
      json_object_has_member (root, member) ? json_object_get_array_member (root, member) : NULL;
  return array != NULL && json_array_get_length (array) > 0
             ? json_array_get_object_element (array, 0)
             : NULL;
}

/* The params of input_preproc: values are in 0..255 unless "range" says 0..1. */
static gboolean
model_proc_input (GstNnDescription *d, JsonObject *params, const gchar *path, GError **error)
{
  gdouble factor = json_object_has_member (params, "range") ? 255 : 1;
  const gchar *resize = json_object_get_string_member_with_default (params, "resize", "no");
  const gchar *color = json_object_get_string_member_with_default (params, "color_space", "BGR");
  gboolean ok =
      set_from (d, "color", color, path, NULL, error) &&
      set_from (d, "resize", g_str_equal (resize, "aspect-ratio") ? "letterbox" : "stretch", path,
                NULL, error);
  if (ok && json_object_has_member (params, "mean")) {
    g_autofree gchar *mean = join_numbers (json_object_get_array_member (params, "mean"), factor);
    ok = set_from (d, "mean", mean, path, NULL, error);
  }
  if (ok && json_object_has_member (params, "std")) {
    g_autofree gchar *std = join_numbers (json_object_get_array_member (params, "std"), factor);
    ok = set_from (d, "scale", std, path, NULL, error);
  } else if (ok && factor > 1) {
    ok = set_from (d, "scale", "255", path, NULL, error);
  }
  return ok;
}

/* DL Streamer's model-proc 2.x: `<model without .onnx>.json`. */
static gboolean
load_model_proc (GstNnDescription *d, const gchar *model_path, GError **error)
{
  const gchar *dot = strrchr (model_path, '.');
  g_autofree gchar *stem =
      g_strndup (model_path, dot ? (gsize)(dot - model_path) : strlen (model_path));
  g_autofree gchar *path = g_strconcat (stem, ".json", NULL);
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *root, *in, *out;
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  if (!json_parser_load_from_file (parser, path, error))
    return FALSE;
  root = JSON_NODE_HOLDS_OBJECT (json_parser_get_root (parser))
             ? json_node_get_object (json_parser_get_root (parser))
             : NULL;
  if (root == NULL || !json_object_has_member (root, "json_schema_version"))
    return TRUE; /* some other JSON file */
  in = first_object (root, "input_preproc");
  out = first_object (root, "output_postproc");
  if (in != NULL && json_object_has_member (in, "params") &&
      !model_proc_input (d, json_object_get_object_member (in, "params"), path, error))
    return FALSE;
  if (out != NULL && json_object_has_member (out, "labels") &&
      JSON_NODE_HOLDS_ARRAY (json_object_get_member (out, "labels"))) {
    JsonArray *labels = json_object_get_array_member (out, "labels");
    g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
    for (guint i = 0; i < json_array_get_length (labels); i++)
      g_strv_builder_add (builder, json_array_get_string_element (labels, i));
    if (d->labels == NULL)
      d->labels = g_strv_builder_end (builder);
  }
  return TRUE;
}

/* Ultralytics' `names`: {0: 'person', 1: 'bicycle', ...} as Python prints it. */
static gchar **
parse_names (const gchar *text)
{
  g_autoptr (GRegex) regex = g_regex_new ("\\d+\\s*:\\s*(?:'([^']*)'|\"([^\"]*)\")", 0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  for (g_regex_match (regex, text, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL)) {
    g_autofree gchar *single = g_match_info_fetch (match, 1);
    g_autofree gchar *twice = g_match_info_fetch (match, 2);
    g_strv_builder_add (builder, twice && *twice ? twice : single);
  }
  return g_strv_builder_end (builder);
}

/* Keys "axon.*" are ours; `names` and `task` are Ultralytics', whose exports take RGB/255
 * letterboxed with grey. */
static gboolean
load_metadata (GstNnDescription *d, AxonModel *model, GError **error)
{
  g_auto (GStrv) names = axon_model_get_metadata_keys (model);
  const gchar *classes = axon_model_get_metadata (model, "names");
  for (guint i = 0; names[i] != NULL; i++)
    if (g_str_has_prefix (names[i], "axon.") &&
        !set_from (d, names[i] + strlen ("axon."), axon_model_get_metadata (model, names[i]),
                   "metadata", NULL, error))
      return FALSE;
  if (classes == NULL)
    return TRUE;
  if (d->labels == NULL)
    d->labels = parse_names (classes);
  return axon_model_get_metadata (model, "task") == NULL ||
         (set_from (d, "scale", "255", "metadata", NULL, error) &&
          set_from (d, "resize", "letterbox", "metadata", NULL, error) &&
          set_from (d, "pad-value", "114", "metadata", NULL, error));
}

/**
 * gst_nn_description_load:
 * @description: a description that is not shared yet
 * @model_path: (type filename): the model file
 * @model: the model
 * @error: return location
 *
 * Adds what the files beside the model and its own metadata say, then defaults:
 * `<model>.modelinfo`, a DL Streamer model-proc file, ONNX `metadata_props`.
 *
 * Returns: %TRUE unless a file is wrong
 *
 * Since: 1.0
 */
gboolean
gst_nn_description_load (GstNnDescription *description, const gchar *model_path, AxonModel *model,
                         GError **error)
{
  g_autofree gchar *base = g_path_get_basename (model_path);
  if (!load_modelinfo (description, model_path, error) ||
      !load_model_proc (description, model_path, error) ||
      !load_metadata (description, model, error))
    return FALSE;
  if (g_str_has_suffix (base, ".onnx"))
    base[strlen (base) - strlen (".onnx")] = '\0';
  g_free (description->model_name);
  description->model_name = g_steal_pointer (&base);
  if (description->color == NULL)
    description->color = g_strdup ("rgb");
  if ((gint)description->resize < 0)
    description->resize = AXON_IMAGE_FIT_STRETCH;
  return TRUE;
}

/**
 * gst_nn_description_get_label:
 * @description: a description
 * @class_id: a class
 *
 * Returns: (transfer none) (nullable): its label, or %NULL where there is none
 *
 * Since: 1.0
 */
const gchar *
gst_nn_description_get_label (const GstNnDescription *description, gint class_id)
{
  gint n = description && description->labels ? (gint)g_strv_length (description->labels) : 0;
  return class_id >= 0 && class_id < n ? description->labels[class_id] : NULL;
}
