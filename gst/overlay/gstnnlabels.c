/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnlabels.h"

void
gst_nn_labels_init (GstNnLabels *l, const GstNnDrawing *drawing)
{
  l->drawing = drawing;
  l->n_words = l->n_places = 0;
}

void
gst_nn_labels_begin (GstNnLabels *l)
{
  l->n_words = 0;
}

void
gst_nn_labels_add (GstNnLabels *l, const gchar *text)
{
  const GstNnGlyphs *word;
  if (*text == '\0' || l->n_words == GST_NN_LABELS_WORDS)
    return;
  word = gst_nn_captions_get (l->drawing->captions, text);
  if (word != NULL)
    l->words[l->n_words++] = word;
}

static void G_GNUC_PRINTF (2, 3) add_number (GstNnLabels *l, const gchar *format, ...)
{
  gchar text[64];
  va_list args;
  va_start (args, format);
  g_vsnprintf (text, sizeof text, format, args);
  va_end (args);
  gst_nn_labels_add (l, text);
}

static void
add_class (GstNnLabels *l, const gchar *label, gint class_id, gdouble score)
{
  const GstNnStyle *style = l->drawing->style;
  if (style->labels && label != NULL)
    gst_nn_labels_add (l, label);
  else if (style->labels && class_id >= 0)
    add_number (l, "%d", class_id);
  if (style->scores)
    add_number (l, "%.0f %%", CLAMP (score, 0, 1) * 100);
}

void
gst_nn_labels_add_attribute (GstNnLabels *l, const GstNnAttribute *a)
{
  add_class (l, gst_nn_attribute_get_value (a), gst_nn_attribute_get_class_id (a),
             gst_nn_attribute_get_score (a));
}

void
gst_nn_labels_add_object (GstNnLabels *l, const GstNnObject *o)
{
  const GstNnStyle *style = l->drawing->style;
  const GstNnAttribute *a;
  add_class (l, gst_nn_object_get_label (o), gst_nn_object_get_class_id (o),
             gst_nn_object_get_score (o));
  if (style->tracks && gst_nn_object_get_track_id (o) != 0)
    add_number (l, "#%" G_GUINT64_FORMAT, gst_nn_object_get_track_id (o));
  if (style->labels && gst_nn_object_get_text (o) != NULL)
    gst_nn_labels_add (l, gst_nn_object_get_text (o));
  for (guint i = 0; (a = gst_nn_object_get_attribute (o, i)) != NULL; i++)
    gst_nn_labels_add_attribute (l, a);
}

/* A zone's name with how many are in it, a line's with how many went each way. */
void
gst_nn_labels_add_shape (GstNnLabels *l, const GstNnShape *shape)
{
  if (l->drawing->style->labels)
    gst_nn_labels_add (l, gst_nn_shape_get_name (shape));
  if (gst_nn_shape_is_zone (shape))
    add_number (l, "%" G_GUINT64_FORMAT, gst_nn_shape_get_count (shape));
  else
    add_number (l, "%" G_GUINT64_FORMAT " / %" G_GUINT64_FORMAT, gst_nn_shape_get_count (shape),
                gst_nn_shape_get_count_back (shape));
}

void
gst_nn_labels_add_count (GstNnLabels *l, const gchar *label, gint class_id, guint count)
{
  if (label != NULL)
    gst_nn_labels_add (l, label);
  else
    add_number (l, "%d", class_id);
  add_number (l, "%u", count);
}

gint
gst_nn_labels_get_height (const GstNnLabels *l)
{
  return l->n_words ? l->words[0]->height : 0;
}

static gint
get_width (const GstNnLabels *l)
{
  gint width = 0;
  for (guint i = 0; i < l->n_words; i++)
    width += l->words[i]->width;
  return width;
}

gint
gst_nn_labels_draw (GstNnLabels *l, const GstNnPaint *paint, gint x, gint y)
{
  GstNnSurface *surface = l->drawing->surface;
  GstVideoRectangle place = { x, y, get_width (l), gst_nn_labels_get_height (l) };
  if (l->n_words == 0)
    return 0;
  place.x = MAX (0, MIN (place.x, surface->width - place.w));
  place.y = MAX (0, MIN (place.y, surface->height - place.h));
  if (l->n_places < GST_NN_LABELS_PLACES)
    l->places[l->n_places++] = place;
  for (guint i = 0, at = 0; i < l->n_words; at += (guint)l->words[i++]->width)
    surface->text (surface, paint, gst_nn_palette_ink (l->drawing->palette, paint), l->words[i],
                   place.x + (gint)at, place.y);
  return place.h;
}

static gboolean
is_free (const GstNnLabels *l, gint x, gint y, gint width, gint height)
{
  if (y < 0 || y + height > l->drawing->surface->height)
    return FALSE;
  for (guint i = 0; i < l->n_places; i++) {
    const GstVideoRectangle *r = &l->places[i];
    if (x < r->x + r->w && r->x < x + width && y < r->y + r->h && r->y < y + height)
      return FALSE;
  }
  return TRUE;
}

void
gst_nn_labels_draw_beside (GstNnLabels *l, const GstNnPaint *paint, gint x, gint y, gint height)
{
  gint w = get_width (l), h = gst_nn_labels_get_height (l);
  const gint places[] = { y - h, y + height, y, y + height - h };
  gint best = y - h >= 0 ? y - h : y;
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    if (is_free (l, MAX (0, MIN (x, l->drawing->surface->width - w)), places[i], w, h)) {
      best = places[i];
      break;
    }
  gst_nn_labels_draw (l, paint, x, best);
}
