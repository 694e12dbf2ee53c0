/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rectangles as small as they can be: edges are a pixel that is stretched, masks have as many
 * pixels as they came with, and slanting lines are cut into pieces, whose corners are empty. */
#include "gstnnsurface.h"

#include <math.h>

#define PIECE 128. /* pixels of a line at most */
#define OPAQUE 0xff000000u

/* A picture of four bytes a pixel, of which the word is 0xAARRGGBB; all transparent. */
static GstBuffer *
new_picture (guint width, guint height)
{
  gsize size = (gsize)width * height * 4;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);
  gst_buffer_memset (buffer, 0, 0, size);
  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE,
                             GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, width, height);
  return buffer;
}

/* Takes @picture. */
static void
add (GstNnLayers *layers, GstBuffer *picture, gint x, gint y, guint width, guint height)
{
  GstVideoOverlayRectangle *rectangle = gst_video_overlay_rectangle_new_raw (
      picture, x, y, width, height, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE);
  gst_video_overlay_composition_add_rectangle (layers->composition, rectangle);
  gst_video_overlay_rectangle_unref (rectangle);
  gst_buffer_unref (picture);
}

static GstBuffer *
pixel_of (GstNnLayers *layers, guint32 rgb)
{
  GstBuffer *pixel = g_hash_table_lookup (layers->pixels, GUINT_TO_POINTER (rgb));
  guint32 word = OPAQUE | rgb;
  if (pixel == NULL) {
    pixel = new_picture (1, 1);
    gst_buffer_fill (pixel, 0, &word, sizeof word);
    g_hash_table_insert (layers->pixels, GUINT_TO_POINTER (rgb), pixel);
  }
  return gst_buffer_ref (pixel);
}

static void
fill (GstNnSurface *surface, const GstNnPaint *paint, gint x, gint y, gint width, gint height)
{
  GstNnLayers *layers = (GstNnLayers *)surface;
  gint x0 = CLAMP (x, 0, surface->width), x1 = CLAMP (x + width, x0, surface->width);
  gint y0 = CLAMP (y, 0, surface->height), y1 = CLAMP (y + height, y0, surface->height);
  if (x1 > x0 && y1 > y0)
    add (layers, pixel_of (layers, paint->rgb), x0, y0, (guint)(x1 - x0), (guint)(y1 - y0));
}

/* A colour as new_picture() stores it. */
static GstNnColor
stored (guint32 rgb)
{
  guint32 word = OPAQUE | rgb;
  GstNnColor color = { { 0 } };
  const GstVideoFormatInfo *info =
      gst_video_format_get_info (GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB);
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (info); c++)
    color.value[c] = ((const guint8 *)&word)[GST_VIDEO_FORMAT_INFO_POFFSET (info, c)];
  return color;
}

static void
add_piece (GstNnLayers *layers, const GstNnPaint *paint, gint t, gdouble x0, gdouble y0, gdouble x1,
           gdouble y1)
{
  gint left = (gint)floor (MIN (x0, x1)) - t, top = (gint)floor (MIN (y0, y1)) - t;
  gint right = (gint)ceil (MAX (x0, x1)) + t, bottom = (gint)ceil (MAX (y0, y1)) + t;
  guint width = (guint)(right - left), height = (guint)(bottom - top);
  GstBuffer *picture = new_picture (width, height);
  GstNnColor color = stored (paint->rgb);
  GstVideoInfo info;
  GstVideoFrame frame;
  gst_video_info_set_format (&info, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, width, height);
  if (gst_video_frame_map (&frame, &info, picture, GST_MAP_WRITE)) {
    gst_nn_canvas_line (&frame, &color, t, x0 - left, y0 - top, x1 - left, y1 - top);
    gst_video_frame_unmap (&frame);
  }
  add (layers, picture, left, top, width, height);
}

static void
line (GstNnSurface *surface, const GstNnPaint *paint, gint thickness, gdouble x0, gdouble y0,
      gdouble x1, gdouble y1)
{
  guint n;
  if (!gst_nn_canvas_clip (surface->width, surface->height, thickness, &x0, &y0, &x1, &y1))
    return;
  n = MAX (1, (guint)ceil (MAX (fabs (x1 - x0), fabs (y1 - y0)) / PIECE));
  for (guint i = 0; i < n; i++) {
    gdouble dx = (x1 - x0) / n, dy = (y1 - y0) / n;
    add_piece ((GstNnLayers *)surface, paint, thickness, x0 + i * dx, y0 + i * dy,
               x0 + (i + 1) * dx, y0 + (i + 1) * dy);
  }
}

static void
tint (GstNnSurface *surface, const GstNnPaints *paints, guint opacity, const GstNnMask *mask)
{
  guint columns = gst_nn_mask_get_columns (mask), rows = gst_nn_mask_get_rows (mask);
  const guint8 *values = g_bytes_get_data (gst_nn_mask_get_values (mask), NULL);
  guint32 alpha = MIN (opacity, 255u) << 24;
  gdouble x, y, width, height;
  GstBuffer *picture;
  GstMapInfo map;
  gst_nn_mask_get_area (mask, &x, &y, &width, &height);
  if (gst_nn_pixel (width) < 1 || gst_nn_pixel (height) < 1)
    return;
  picture = new_picture (columns, rows);
  if (gst_buffer_map (picture, &map, GST_MAP_WRITE)) {
    for (gsize i = 0; i < (gsize)columns * rows; i++) {
      const GstNnPaint *paint = paints->of[values[i]];
      ((guint32 *)map.data)[i] = paint != NULL ? alpha | paint->rgb : 0;
    }
    gst_buffer_unmap (picture, &map);
  }
  add ((GstNnLayers *)surface, picture, gst_nn_pixel (x), gst_nn_pixel (y),
       (guint)gst_nn_pixel (ceil (width)), (guint)gst_nn_pixel (ceil (height)));
}

static void
text (GstNnSurface *surface, const GstNnPaint *ground, const GstNnPaint *ink,
      const GstNnGlyphs *glyphs, gint x, gint y)
{
  GstBuffer *picture = new_picture ((guint)glyphs->width, (guint)glyphs->height);
  GstMapInfo map;
  if (gst_buffer_map (picture, &map, GST_MAP_WRITE)) {
    for (gsize i = 0; i < (gsize)(glyphs->width * glyphs->height); i++) {
      guint32 word = OPAQUE, covered = glyphs->coverage[i];
      for (guint shift = 0; shift < 24; shift += 8)
        word |=
            ((ground->rgb >> shift & 255) * (255 - covered) + (ink->rgb >> shift & 255) * covered) /
                255
            << shift;
      ((guint32 *)map.data)[i] = word;
    }
    gst_buffer_unmap (picture, &map);
  }
  add ((GstNnLayers *)surface, picture, x, y, (guint)glyphs->width, (guint)glyphs->height);
}

GHashTable *
gst_nn_layers_pixels_new (void)
{
  return g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify)gst_buffer_unref);
}

void
gst_nn_layers_init (GstNnLayers *layers, GHashTable *pixels, gint width, gint height)
{
  layers->surface = (GstNnSurface){
    .width = width, .height = height, .fill = fill, .line = line, .tint = tint, .text = text
  };
  layers->composition = gst_video_overlay_composition_new (NULL);
  layers->pixels = pixels;
}

void
gst_nn_layers_attach (GstNnLayers *layers, GstBuffer *buffer)
{
  GstVideoOverlayCompositionMeta *meta = gst_buffer_get_video_overlay_composition_meta (buffer);
  GstVideoOverlayComposition *all = g_steal_pointer (&layers->composition);
  guint n = gst_video_overlay_composition_n_rectangles (all);
  if (meta != NULL && n > 0) {
    meta->overlay = gst_video_overlay_composition_make_writable (meta->overlay);
    for (guint i = 0; i < n; i++)
      gst_video_overlay_composition_add_rectangle (
          meta->overlay, gst_video_overlay_composition_get_rectangle (all, i));
  } else if (n > 0) {
    gst_buffer_add_video_overlay_composition_meta (buffer, all);
  }
  gst_video_overlay_composition_unref (all);
}
