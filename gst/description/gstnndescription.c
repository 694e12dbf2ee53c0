/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Model descriptions: one table of keys, which files beside the model, ONNX metadata and element
 * properties share. The first source that says a field wins (bits of `said`). */
#include "gstnndescription-private.h"

#include <math.h>
#include <string.h>

G_DEFINE_BOXED_TYPE (GstNnDescription, gst_nn_description, gst_nn_description_ref,
                     gst_nn_description_unref)

GstDebugCategory *
gst_nn_description_get_category (void)
{
  static GstDebugCategory *category;
  static gsize once;
  if (g_once_init_enter (&once)) {
    GST_DEBUG_CATEGORY_INIT (category, "nndescription", 0, "what model files do not say");
    g_once_init_leave (&once, 1);
  }
  return category;
}

/**
 * gst_nn_description_new: (constructor)
 *
 * Returns: (transfer full): a description that says nothing: red, green and blue from 0 to 255,
 *   stretched
 *
 * Since: 1.0
 */
GstNnDescription *
gst_nn_description_new (void)
{
  GstNnDescription *d = g_new0 (GstNnDescription, 1);
  g_atomic_ref_count_init (&d->ref_count);
  d->origin = g_string_new (NULL);
  d->color = g_strdup ("rgb");
  d->resize = AXON_IMAGE_FIT_STRETCH;
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
  g_free (description->activation);
  g_free (description->color);
  g_strfreev (description->labels);
  g_string_free (description->origin, TRUE);
  g_free (description);
}

static gboolean
wrong (GError **error, const gchar *expected, const gchar *got)
{
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("expected %s, got \"%s\""), expected,
               got);
  return FALSE;
}

static gboolean
set_labels (GstNnDescription *d, const gchar *text, G_GNUC_UNUSED GError **error)
{
  d->labels = g_strsplit (text, ",", -1);
  for (guint i = 0; d->labels[i] != NULL; i++)
    g_strstrip (d->labels[i]);
  return TRUE;
}

static gboolean
set_labels_file (GstNnDescription *d, const gchar *path, GError **error)
{
  gsize n_bytes;
  g_autofree gchar *text = gst_nn_read_small_file (path, &n_bytes, error);
  guint n;
  if (text == NULL)
    return FALSE;
  d->labels = g_strsplit (text, "\n", -1);
  n = g_strv_length (d->labels);
  for (guint i = 0; i < n; i++)
    if (!g_str_equal (d->labels[i], " ")) /* in a dictionary: the space */
      g_strstrip (d->labels[i]);
  while (n > 0 && *d->labels[n - 1] == '\0')
    g_clear_pointer (&d->labels[--n], g_free);
  return TRUE;
}

static gboolean
set_color (GstNnDescription *d, const gchar *text, GError **error)
{
  static const gchar *const colors[] = { "rgb", "bgr", "gray", NULL };
  g_autofree gchar *lower = g_ascii_strdown (text, -1);
  if (!g_strv_contains (colors, lower))
    return wrong (error, _ ("rgb, bgr or gray"), text);
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
  return wrong (error, _ ("stretch, letterbox, top-left or crop"), text);
}

static gboolean
set_decoder (GstNnDescription *d, const gchar *text, G_GNUC_UNUSED GError **error)
{
  d->decoder = g_strdup (text);
  return TRUE;
}

static gboolean
set_activation (GstNnDescription *d, const gchar *text, GError **error)
{
  static const gchar *const activations[] = { "none", "sigmoid", "softmax", NULL };
  if (!g_strv_contains (activations, text))
    return wrong (error, _ ("none, sigmoid or softmax"), text);
  d->activation = g_strdup (text);
  return TRUE;
}

static gboolean
parse_number (gchar *text, gfloat *out)
{
  gchar *end;
  *out = (gfloat)g_ascii_strtod (g_strstrip (text), &end);
  return *end == '\0' && end != text && isfinite (*out);
}

/* Up to four. */
static gboolean
parse_numbers (const gchar *text, gfloat out[4], guint *n, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  guint count = g_strv_length (parts);
  if (count < 1 || count > 4)
    return wrong (error, _ ("one to four numbers"), text);
  for (guint i = 0; i < count; i++)
    if (!parse_number (parts[i], &out[i]))
      return wrong (error, _ ("numbers separated by commas"), text);
  *n = count;
  return TRUE;
}

static gboolean
set_mean (GstNnDescription *d, const gchar *text, GError **error)
{
  return parse_numbers (text, d->mean, &d->n_mean, error);
}

static gboolean
set_scale (GstNnDescription *d, const gchar *text, GError **error)
{
  if (!parse_numbers (text, d->scale, &d->n_scale, error))
    return FALSE;
  for (guint i = 0; i < d->n_scale; i++)
    if (d->scale[i] == 0)
      return wrong (error, _ ("divisors other than 0"), text);
  return TRUE;
}

static gboolean
set_pad_value (GstNnDescription *d, const gchar *text, GError **error)
{
  g_autofree gchar *copy = g_strdup (text);
  gfloat v;
  if (!parse_number (copy, &v) || v < 0 || v > 255)
    return wrong (error, _ ("a number from 0 to 255"), text);
  d->pad_value = (gdouble)v;
  return TRUE;
}

static gboolean
set_size (gint *out, const gchar *text, GError **error)
{
  gint64 v;
  if (!g_ascii_string_to_signed (text, 10, 1, 16384, &v, NULL))
    return wrong (error, _ ("a number from 1 to 16384"), text);
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

/* What keys are about: the bits of `said`. */
enum { LABELS, COLOR, RESIZE, PAD_VALUE, MEAN, SCALE, WIDTH, HEIGHT, DECODER, ACTIVATION };

static const struct {
  const gchar *key;
  guint field;
  gboolean (*set) (GstNnDescription *d, const gchar *text, GError **error);
  gboolean is_file;
  const gchar *blurb;
} keys[] = {
  { "labels", LABELS, set_labels, FALSE, N_ ("Names of the classes, separated by commas") },
  { "labels-file", LABELS, set_labels_file, TRUE, N_ ("File with one class name per line") },
  { "color", COLOR, set_color, FALSE, N_ ("Channel order that the model wants: rgb, bgr or gray") },
  { "resize", RESIZE, set_resize, FALSE,
    N_ ("How a frame becomes the model's shape: stretch, letterbox, top-left or crop") },
  { "pad-value", PAD_VALUE, set_pad_value, FALSE, N_ ("Pixel value of letterbox bars, 0 to 255") },
  { "mean", MEAN, set_mean, FALSE,
    N_ ("Subtracted from pixel values: one number, or one per channel") },
  { "scale", SCALE, set_scale, FALSE,
    N_ ("Divisor of pixel values after the mean: one number, or one per channel") },
  { "width", WIDTH, set_width, FALSE, N_ ("Input width where the model leaves it free") },
  { "height", HEIGHT, set_height, FALSE, N_ ("Input height where the model leaves it free") },
  { "decoder", DECODER, set_decoder, FALSE, N_ ("Decoder of the outputs; see nndecode") },
  { "activation", ACTIVATION, set_activation, FALSE,
    N_ ("What scores still lack: none, sigmoid or softmax") },
};

/**
 * gst_nn_description_get_key:
 * @index: from 0
 * @blurb: (out) (optional) (transfer none): what the key means
 *
 * The keys that gst_nn_description_set() and description files know.
 *
 * Returns: (transfer none) (nullable): a key; %NULL after the last
 *
 * Since: 1.0
 */
const gchar *
gst_nn_description_get_key (guint index, const gchar **blurb)
{
  if (index >= G_N_ELEMENTS (keys))
    return NULL;
  if (blurb != NULL)
    *blurb = _ (keys[index].blurb);
  return keys[index].key;
}

static gint
find_key (const gchar *key, GError **error)
{
  g_autoptr (GString) known = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    if (g_str_equal (keys[i].key, key))
      return (gint)i;
    g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", keys[i].key);
  }
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("unknown key \"%s\" (known: %s)"), key,
               known->str);
  return -1;
}

static void
note (GstNnDescription *d, const GstNnSpeaker *speaker, guint field, const gchar *key)
{
  d->said |= 1u << field;
  g_string_append_printf (d->origin, " %s=%s", key, speaker->name);
}

gboolean
gst_nn_description_say (GstNnDescription *d, const GstNnSpeaker *speaker, const gchar *key,
                        const gchar *value, GError **error)
{
  g_autofree gchar *path = NULL;
  gint i = find_key (key, error);
  if (i < 0)
    return FALSE;
  if (d->said & 1u << keys[i].field) {
    GST_DEBUG ("%s=%s of %s is not used: a source before it said so", key, value, speaker->name);
    return TRUE;
  }
  if (keys[i].is_file && !speaker->names_files) {
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_ARGUMENT,
        _ ("%s=%s: a model names no files; say %s in MODEL.modelinfo beside the model or as a "
           "property"),
        key, value, key);
    return FALSE;
  }
  if (keys[i].is_file && speaker->directory != NULL && !g_path_is_absolute (value))
    path = g_build_filename (speaker->directory, value, NULL);
  if (!keys[i].set (d, path ? path : value, error)) {
    g_prefix_error (error, "%s: ", key);
    return FALSE;
  }
  GST_DEBUG ("%s=%s of %s", key, value, speaker->name);
  note (d, speaker, keys[i].field, key);
  return TRUE;
}

void
gst_nn_description_say_labels (GstNnDescription *d, const GstNnSpeaker *speaker, gchar **labels)
{
  if (d->said & 1u << LABELS) {
    g_strfreev (labels);
    return;
  }
  GST_DEBUG ("%u labels of %s", g_strv_length (labels), speaker->name);
  d->labels = labels;
  note (d, speaker, LABELS, "labels");
}

/**
 * gst_nn_description_set:
 * @description: a description that is not shared yet
 * @key: one of gst_nn_description_get_key()
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
  static const GstNnSpeaker user = { .name = "property", .names_files = TRUE };
  if (gst_nn_description_say (description, &user, key, value, error))
    return TRUE;
  g_prefix_error (error, "%s: ", user.name);
  return FALSE;
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
