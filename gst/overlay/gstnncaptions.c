/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnncaptions.h"

#include <pango/pangocairo.h>

#define MOST 512     /* texts that are kept */
#define LONGEST 1024 /* bytes that are looked at */

struct _GstNnCaptions {
  PangoContext *context; /* with a font map of its own: they may not be shared by threads */
  PangoFontDescription *font;
  gint margin, width, height, baseline;
  GHashTable *texts; /* text -> GstNnGlyphs */
};

static void
glyphs_free (gpointer data)
{
  GstNnGlyphs *glyphs = data;
  g_free (glyphs->coverage);
  g_free (glyphs);
}

GstNnCaptions *
gst_nn_captions_new (gint font_size, gint width)
{
  GstNnCaptions *c = g_new0 (GstNnCaptions, 1);
  g_autoptr (PangoFontMap) fonts = pango_cairo_font_map_new ();
  PangoFontMetrics *metrics;
  c->context = pango_font_map_create_context (fonts);
  c->font = pango_font_description_from_string ("Sans Bold");
  pango_font_description_set_absolute_size (c->font, font_size * PANGO_SCALE);
  metrics = pango_context_get_metrics (c->context, c->font, NULL);
  c->baseline = PANGO_PIXELS_CEIL (pango_font_metrics_get_ascent (metrics)) + 1;
  c->height = c->baseline + PANGO_PIXELS_CEIL (pango_font_metrics_get_descent (metrics)) + 1;
  pango_font_metrics_unref (metrics);
  c->margin = MAX (1, font_size / 5);
  c->width = MAX (1, width - 2 * c->margin);
  c->texts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, glyphs_free);
  return c;
}

void
gst_nn_captions_free (GstNnCaptions *c)
{
  g_hash_table_unref (c->texts);
  g_object_unref (c->context);
  pango_font_description_free (c->font);
  g_free (c);
}

void
gst_nn_captions_trim (GstNnCaptions *c)
{
  if (g_hash_table_size (c->texts) > MOST)
    g_hash_table_remove_all (c->texts);
}

/* Scripts with taller letters than the font's are moved to where they fit best. */
static void
draw (cairo_surface_t *surface, const GstNnCaptions *c, PangoLayout *layout)
{
  cairo_t *cr = cairo_create (surface);
  cairo_move_to (cr, c->margin, c->baseline - PANGO_PIXELS (pango_layout_get_baseline (layout)));
  pango_cairo_show_layout (cr, layout);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
}

static GstNnGlyphs *
render (const GstNnCaptions *c, const gchar *text)
{
  g_autoptr (PangoLayout) layout = pango_layout_new (c->context);
  GstNnGlyphs *glyphs = NULL;
  cairo_surface_t *surface;
  PangoRectangle box;
  pango_layout_set_font_description (layout, c->font);
  pango_layout_set_single_paragraph_mode (layout, TRUE);
  pango_layout_set_width (layout, c->width * PANGO_SCALE);
  pango_layout_set_height (layout, -1);
  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
  pango_layout_set_text (layout, text, -1);
  pango_layout_get_pixel_extents (layout, NULL, &box);
  surface = cairo_image_surface_create (CAIRO_FORMAT_A8, box.width + 2 * c->margin, c->height);
  if (cairo_surface_status (surface) == CAIRO_STATUS_SUCCESS) {
    draw (surface, c, layout);
    glyphs = g_new (GstNnGlyphs, 1);
    glyphs->width = box.width + 2 * c->margin;
    glyphs->height = c->height;
    glyphs->coverage = g_malloc ((gsize)(glyphs->width * glyphs->height));
    for (gint y = 0; y < glyphs->height; y++)
      memcpy (glyphs->coverage + (gsize)(y * glyphs->width),
              cairo_image_surface_get_data (surface) +
                  (gsize)(y * cairo_image_surface_get_stride (surface)),
              (gsize)glyphs->width);
  }
  cairo_surface_destroy (surface);
  return glyphs;
}

const GstNnGlyphs *
gst_nn_captions_get (GstNnCaptions *c, const gchar *text)
{
  GstNnGlyphs *glyphs = g_hash_table_lookup (c->texts, text);
  if (glyphs == NULL) {
    g_autofree gchar *valid = g_utf8_make_valid (text, (gssize)strnlen (text, LONGEST));
    glyphs = render (c, valid);
    if (glyphs != NULL)
      g_hash_table_insert (c->texts, g_strdup (text), glyphs);
  }
  return glyphs;
}
