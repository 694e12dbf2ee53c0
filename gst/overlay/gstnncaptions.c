/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnncaptions.h"

#include "gstnnpicture.h"

#include <pango/pangocairo.h>

#define MOST 256    /* pictures that are kept */
#define MARGIN 3    /* left and right of the text */
#define ALIGNMENT 4 /* of widths and heights, for formats with coarse colours */

struct _GstNnCaptions {
  GstVideoInfo info;
  PangoContext *context; /* with a font map of its own: they may not be shared by threads */
  PangoFontDescription *font;
  GHashTable *pictures; /* text and colour -> GstVideoFrame, mapped */
};

GstNnCaptions *
gst_nn_captions_new (const GstVideoInfo *info, gint font_size)
{
  GstNnCaptions *c = g_new0 (GstNnCaptions, 1);
  g_autoptr (PangoFontMap) fonts = pango_cairo_font_map_new ();
  c->info = *info;
  c->context = pango_font_map_create_context (fonts);
  c->font = pango_font_description_from_string ("Sans Bold");
  pango_font_description_set_absolute_size (c->font, font_size * PANGO_SCALE);
  c->pictures =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)gst_nn_picture_free);
  return c;
}

void
gst_nn_captions_free (GstNnCaptions *c)
{
  g_hash_table_unref (c->pictures);
  g_object_unref (c->context);
  pango_font_description_free (c->font);
  g_free (c);
}

static void
draw (const GstVideoFrame *picture, PangoLayout *layout, guint32 rgb)
{
  cairo_surface_t *surface = cairo_image_surface_create_for_data (
      GST_VIDEO_FRAME_PLANE_DATA (picture, 0), CAIRO_FORMAT_RGB24, GST_VIDEO_FRAME_WIDTH (picture),
      GST_VIDEO_FRAME_HEIGHT (picture), GST_VIDEO_FRAME_PLANE_STRIDE (picture, 0));
  cairo_t *cr = cairo_create (surface);
  cairo_set_source_rgb (cr, (rgb >> 16) / 255., (rgb >> 8 & 255) / 255., (rgb & 255) / 255.);
  cairo_paint (cr);
  cairo_set_source_rgb (cr, 0, 0, 0);
  cairo_move_to (cr, MARGIN, 1);
  pango_cairo_show_layout (cr, layout);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
}

static GstVideoFrame *
render (GstNnCaptions *c, const gchar *text, guint32 rgb)
{
  g_autoptr (PangoLayout) layout = pango_layout_new (c->context);
  GstVideoFrame *drawn, *picture;
  PangoRectangle box;
  pango_layout_set_font_description (layout, c->font);
  pango_layout_set_text (layout, text, -1);
  pango_layout_get_pixel_extents (layout, NULL, &box);
  drawn = gst_nn_picture_new (GST_ROUND_UP_N ((guint)box.width + 2 * MARGIN, ALIGNMENT),
                              GST_ROUND_UP_N ((guint)box.height + 2, ALIGNMENT));
  if (drawn == NULL)
    return NULL;
  draw (drawn, layout, rgb);
  picture = gst_nn_picture_convert (drawn, &c->info);
  gst_nn_picture_free (drawn);
  return picture;
}

const GstVideoFrame *
gst_nn_captions_get (GstNnCaptions *c, const gchar *text, guint32 rgb)
{
  g_autofree gchar *key = g_strdup_printf ("%06x %s", rgb, text);
  GstVideoFrame *picture = g_hash_table_lookup (c->pictures, key);
  if (picture != NULL)
    return picture;
  if (g_hash_table_size (c->pictures) >= MOST)
    g_hash_table_remove_all (c->pictures);
  picture = render (c, text, rgb);
  if (picture != NULL)
    g_hash_table_insert (c->pictures, g_steal_pointer (&key), picture);
  return picture;
}
