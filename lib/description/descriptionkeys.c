/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one table of keys, which files beside the model, ONNX metadata, presets and element
 * properties share: how each is read, and how it is printed. */
#include "axonmodeldescription-private.h"

#include <math.h>
#include <string.h>

static gboolean
wrong (GError **error, const gchar *expected, const gchar *got)
{
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("expected %s, got \"%s\""), expected,
               got);
  return FALSE;
}

static gboolean
set_labels (AxonModelDescription *d, const gchar *text, G_GNUC_UNUSED GError **error)
{
  d->labels = g_strsplit (text, ",", -1);
  for (guint i = 0; d->labels[i] != NULL; i++)
    if (!g_str_equal (d->labels[i], " ")) /* in a dictionary: the space */
      g_strstrip (d->labels[i]);
  return TRUE;
}

static gchar *
get_labels (const AxonModelDescription *d)
{
  return g_strjoinv (",", d->labels);
}

static gboolean
set_labels_file (AxonModelDescription *d, const gchar *text, G_GNUC_UNUSED GError **error)
{
  d->labels = axon_split_lines (text);
  return TRUE;
}

static gboolean
set_label_set (AxonModelDescription *d, const gchar *name, GError **error)
{
  d->labels = axon_label_set_dup (name, error);
  return d->labels != NULL;
}

static gboolean
set_word (gchar **word, const gchar *const *words, const gchar *expected, const gchar *text,
          GError **error)
{
  g_autofree gchar *lower = g_ascii_strdown (text, -1);
  if (!g_strv_contains (words, lower))
    return wrong (error, expected, text);
  g_free (*word);
  *word = g_steal_pointer (&lower);
  return TRUE;
}

static gboolean
set_color (AxonModelDescription *d, const gchar *text, GError **error)
{
  static const gchar *const colors[] = { "rgb", "bgr", "gray", NULL };
  return set_word (&d->color, colors, _ ("rgb, bgr or gray"), text, error);
}

static gchar *
get_color (const AxonModelDescription *d)
{
  return g_strdup (d->color);
}

static const gchar *const fits[] = { "stretch", "letterbox", "top-left", "crop" };

static gboolean
set_resize (AxonModelDescription *d, const gchar *text, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (fits); i++)
    if (g_str_equal (fits[i], text)) {
      d->resize = (AxonImageFit)i;
      return TRUE;
    }
  return wrong (error, _ ("stretch, letterbox, top-left or crop"), text);
}

static gchar *
get_resize (const AxonModelDescription *d)
{
  return g_strdup (fits[d->resize]);
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

static gchar *
print_numbers (const gfloat *values, guint n)
{
  g_autoptr (GString) s = g_string_new (NULL);
  for (guint i = 0; i < n; i++) {
    gchar buffer[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd (buffer, sizeof buffer, "%.7g", (gdouble)values[i]);
    g_string_append_printf (s, "%s%s", i > 0 ? "," : "", buffer);
  }
  return g_string_free (g_steal_pointer (&s), FALSE);
}

static gboolean
set_mean (AxonModelDescription *d, const gchar *text, GError **error)
{
  return parse_numbers (text, d->mean, &d->n_mean, error);
}

static gchar *
get_mean (const AxonModelDescription *d)
{
  return print_numbers (d->mean, d->n_mean);
}

static gboolean
set_scale (AxonModelDescription *d, const gchar *text, GError **error)
{
  if (!parse_numbers (text, d->scale, &d->n_scale, error))
    return FALSE;
  for (guint i = 0; i < d->n_scale; i++)
    if (d->scale[i] == 0)
      return wrong (error, _ ("divisors other than 0"), text);
  return TRUE;
}

static gchar *
get_scale (const AxonModelDescription *d)
{
  return print_numbers (d->scale, d->n_scale);
}

static gboolean
set_pad_value (AxonModelDescription *d, const gchar *text, GError **error)
{
  g_autofree gchar *copy = g_strdup (text);
  gfloat v;
  if (!parse_number (copy, &v) || v < 0 || v > 255)
    return wrong (error, _ ("a number from 0 to 255"), text);
  d->pad_value = (gdouble)v;
  return TRUE;
}

static gchar *
get_pad_value (const AxonModelDescription *d)
{
  gfloat value = (gfloat)d->pad_value;
  return print_numbers (&value, 1);
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
set_width (AxonModelDescription *d, const gchar *text, GError **error)
{
  return set_size (&d->width, text, error);
}

static gchar *
get_width (const AxonModelDescription *d)
{
  return g_strdup_printf ("%d", d->width);
}

static gboolean
set_height (AxonModelDescription *d, const gchar *text, GError **error)
{
  return set_size (&d->height, text, error);
}

static gchar *
get_height (const AxonModelDescription *d)
{
  return g_strdup_printf ("%d", d->height);
}

static gboolean
set_max_width (AxonModelDescription *d, const gchar *text, GError **error)
{
  return set_size (&d->max_width, text, error);
}

static gchar *
get_max_width (const AxonModelDescription *d)
{
  return g_strdup_printf ("%d", d->max_width);
}

static gboolean
set_decoder (AxonModelDescription *d, const gchar *text, G_GNUC_UNUSED GError **error)
{
  d->decoder = g_strdup (text);
  return TRUE;
}

static gchar *
get_decoder (const AxonModelDescription *d)
{
  return g_strdup (d->decoder);
}

#define MAX_ANCHORS 64

static gboolean
set_anchors (AxonModelDescription *d, const gchar *text, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", MAX_ANCHORS * 2 + 1);
  guint n = g_strv_length (parts);
  g_autofree gfloat *values = g_new (gfloat, n + 1);
  if (n < 2 || n > MAX_ANCHORS * 2 || n % 2 != 0)
    return wrong (error, _ ("at most 64 pairs of a width and a height"), text);
  for (guint i = 0; i < n; i++)
    if (!parse_number (parts[i], &values[i]) || values[i] <= 0)
      return wrong (error, _ ("sizes above 0 separated by commas"), text);
  d->anchors = g_steal_pointer (&values);
  d->n_anchors = n;
  return TRUE;
}

static gchar *
get_anchors (const AxonModelDescription *d)
{
  return print_numbers (d->anchors, d->n_anchors);
}

static gboolean
set_strides (AxonModelDescription *d, const gchar *text, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  guint n = g_strv_length (parts);
  gint64 v;
  if (n < 1 || n > G_N_ELEMENTS (d->strides))
    return wrong (error, _ ("one to eight strides"), text);
  for (guint i = 0; i < n; i++) {
    if (!g_ascii_string_to_signed (g_strstrip (parts[i]), 10, 1, 1024, &v, NULL))
      return wrong (error, _ ("strides from 1 to 1024 separated by commas"), text);
    d->strides[i] = (guint)v;
  }
  d->n_strides = n;
  return TRUE;
}

static gchar *
get_strides (const AxonModelDescription *d)
{
  g_autoptr (GString) s = g_string_new (NULL);
  for (guint i = 0; i < d->n_strides; i++)
    g_string_append_printf (s, "%s%u", i > 0 ? "," : "", d->strides[i]);
  return g_string_free (g_steal_pointer (&s), FALSE);
}

static gboolean
set_activation (AxonModelDescription *d, const gchar *text, GError **error)
{
  static const gchar *const activations[] = { "none", "sigmoid", "softmax", NULL };
  return set_word (&d->activation, activations, _ ("none, sigmoid or softmax"), text, error);
}

static gchar *
get_activation (const AxonModelDescription *d)
{
  return g_strdup (d->activation);
}

static gboolean
set_skeleton (AxonModelDescription *d, const gchar *text, G_GNUC_UNUSED GError **error)
{
  d->skeleton = g_strdup (text);
  return TRUE;
}

static gchar *
get_skeleton (const AxonModelDescription *d)
{
  return g_strdup (d->skeleton);
}

static gboolean
set_fraction (gdouble *out, const gchar *text, GError **error)
{
  g_autofree gchar *copy = g_strdup (text);
  gfloat v;
  if (!parse_number (copy, &v) || v < 0 || v > 1)
    return wrong (error, _ ("a number from 0 to 1"), text);
  *out = (gdouble)v;
  return TRUE;
}

static gchar *
get_fraction (gdouble value)
{
  gfloat v = (gfloat)value;
  return print_numbers (&v, 1);
}

static gboolean
set_crop_fraction (AxonModelDescription *d, const gchar *text, GError **error)
{
  gdouble v;
  if (!set_fraction (&v, text, error))
    return FALSE;
  if (!(v > 0))
    return wrong (error, _ ("a number above 0, up to 1"), text);
  d->crop_fraction = v;
  return TRUE;
}

static gchar *
get_crop_fraction (const AxonModelDescription *d)
{
  return get_fraction (d->crop_fraction);
}

static gboolean
set_threshold (AxonModelDescription *d, const gchar *text, GError **error)
{
  return set_fraction (&d->threshold, text, error);
}

static gchar *
get_threshold (const AxonModelDescription *d)
{
  return get_fraction (d->threshold);
}

static gboolean
set_iou_threshold (AxonModelDescription *d, const gchar *text, GError **error)
{
  return set_fraction (&d->iou_threshold, text, error);
}

static gchar *
get_iou_threshold (const AxonModelDescription *d)
{
  return get_fraction (d->iou_threshold);
}

static gboolean
set_preset (AxonModelDescription *d, const gchar *text, G_GNUC_UNUSED GError **error)
{
  d->preset = g_strdup (text);
  return TRUE;
}

static gchar *
get_preset (const AxonModelDescription *d)
{
  return g_strdup (d->preset);
}

/* `preset` is last: elements set keys in this order, and it says what the others left open. */
static const AxonDescriptionKey keys[] = {
  { "labels", AXON_FIELD_LABELS, set_labels, get_labels, FALSE,
    N_ ("Names of the classes, separated by commas") },
  { "labels-file", AXON_FIELD_LABELS, set_labels_file, NULL, TRUE,
    N_ ("File with one class name per line") },
  { "label-set", AXON_FIELD_LABELS, set_label_set, NULL, FALSE,
    N_ ("Built-in list of class names, such as coco80, voc21 or imagenet1000") },
  { "color", AXON_FIELD_COLOR, set_color, get_color, FALSE,
    N_ ("Channel order that the model wants: rgb, bgr or gray") },
  { "resize", AXON_FIELD_RESIZE, set_resize, get_resize, FALSE,
    N_ ("How a frame becomes the model's shape: stretch, letterbox, top-left or crop") },
  { "crop-fraction", AXON_FIELD_CROP_FRACTION, set_crop_fraction, get_crop_fraction, FALSE,
    N_ ("How much of the shorter side resize=crop takes, above 0 and up to 1") },
  { "pad-value", AXON_FIELD_PAD_VALUE, set_pad_value, get_pad_value, FALSE,
    N_ ("Pixel value of letterbox bars, 0 to 255") },
  { "mean", AXON_FIELD_MEAN, set_mean, get_mean, FALSE,
    N_ ("Subtracted from pixel values: one number, or one per channel") },
  { "scale", AXON_FIELD_SCALE, set_scale, get_scale, FALSE,
    N_ ("Divisor of pixel values after the mean: one number, or one per channel") },
  { "width", AXON_FIELD_WIDTH, set_width, get_width, FALSE,
    N_ ("Input width where the model leaves it free") },
  { "height", AXON_FIELD_HEIGHT, set_height, get_height, FALSE,
    N_ ("Input height where the model leaves it free") },
  { "max-width", AXON_FIELD_MAX_WIDTH, set_max_width, get_max_width, FALSE,
    N_ ("Up to where each picture is as wide as it is for its height, where the model leaves its "
        "width free") },
  { "decoder", AXON_FIELD_DECODER, set_decoder, get_decoder, FALSE, N_ ("Decoder of the outputs") },
  { "anchors", AXON_FIELD_ANCHORS, set_anchors, get_anchors, FALSE,
    N_ ("Widths and heights of anchors in pixels, finest grid first") },
  { "strides", AXON_FIELD_STRIDES, set_strides, get_strides, FALSE,
    N_ ("Pixels between the cells of each grid") },
  { "activation", AXON_FIELD_ACTIVATION, set_activation, get_activation, FALSE,
    N_ ("What scores still lack: none, sigmoid or softmax") },
  { "skeleton", AXON_FIELD_SKELETON, set_skeleton, get_skeleton, FALSE,
    N_ ("Which keypoints belong together, such as coco17") },
  { "threshold", AXON_FIELD_THRESHOLD, set_threshold, get_threshold, FALSE,
    N_ ("Least score of a result") },
  { "iou-threshold", AXON_FIELD_IOU_THRESHOLD, set_iou_threshold, get_iou_threshold, FALSE,
    N_ ("Overlap from which the worse of two objects of a class is dropped") },
  { "preset", AXON_FIELD_PRESET, set_preset, get_preset, FALSE,
    N_ ("Well-known model that this one is like; axon-inspect --presets lists them") },
};

const AxonDescriptionKey *
axon_description_key_at (guint index)
{
  return index < G_N_ELEMENTS (keys) ? &keys[index] : NULL;
}

const AxonDescriptionKey *
axon_description_key_find (const gchar *key, GError **error)
{
  g_autoptr (GString) known = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    if (g_str_equal (keys[i].key, key))
      return &keys[i];
    g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", keys[i].key);
  }
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("unknown key \"%s\" (known: %s)"), key,
               known->str);
  return NULL;
}
