/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blurring and pixelating are one: all that is left are means of squares, so that nothing can be
 * had back; they differ in how the squares are filled. */
#include "gstnncanvas.h"

/* An area of a plane, cut into squares of @size x @size_y samples. */
typedef struct {
  gint x0, y0, x1, y1;
  gint size_x, size_y, columns, rows;
} Grid;

static guint16
mean (const GstNnPlane *p, const Grid *g, gint column, gint row)
{
  gint x0 = g->x0 + column * g->size_x, x1 = MIN (x0 + g->size_x, g->x1);
  gint y0 = g->y0 + row * g->size_y, y1 = MIN (y0 + g->size_y, g->y1);
  guint64 sum = 0;
  for (gint y = y0; y < y1; y++) {
    const guint8 *s = gst_nn_plane_at (p, x0, y);
    for (gint x = x0; x < x1; x++, s += p->step)
      sum += gst_nn_plane_get (p, s);
  }
  return (guint16)(sum / (guint64)((x1 - x0) * (y1 - y0)));
}

/* The squares between whose middles a sample lies, and how far on the way, of 256. */
typedef struct {
  gint first, second, way;
} Between;

static Between
between (gint at, gint size, gint n)
{
  gint v = (2 * at + 1 - size) * 128 / size; /* in squares, times 256 */
  gint first = v < 0 ? 0 : MIN (v / 256, n - 1);
  return (Between){ first, MIN (first + 1, n - 1), v < 0 ? 0 : v % 256 };
}

static void
fill_smooth (const GstNnPlane *p, const Grid *g, const guint16 *means)
{
  g_autofree Between *along = g_new (Between, (gsize)(g->x1 - g->x0));
  g_autofree gint *row = g_new (gint, (gsize)g->columns);
  for (gint x = 0; x < g->x1 - g->x0; x++)
    along[x] = between (x, g->size_x, g->columns);
  for (gint y = g->y0; y < g->y1; y++) {
    Between down = between (y - g->y0, g->size_y, g->rows);
    guint8 *d = gst_nn_plane_at (p, g->x0, y);
    for (gint i = 0; i < g->columns; i++)
      row[i] = (means[down.first * g->columns + i] * (256 - down.way) +
                means[down.second * g->columns + i] * down.way) /
               256;
    for (gint x = 0; x < g->x1 - g->x0; x++, d += p->step) {
      const Between *b = &along[x];
      gst_nn_plane_set (
          p, d, (guint16)((row[b->first] * (256 - b->way) + row[b->second] * b->way) / 256));
    }
  }
}

static void
fill_squares (const GstNnPlane *p, const Grid *g, const guint16 *means)
{
  for (gint y = g->y0; y < g->y1; y++) {
    const guint16 *row = means + (y - g->y0) / g->size_y * g->columns;
    guint8 *d = gst_nn_plane_at (p, g->x0, y);
    for (gint x = g->x0; x < g->x1; x++, d += p->step)
      gst_nn_plane_set (p, d, row[(x - g->x0) / g->size_x]);
  }
}

static void
hide (const GstNnPlane *p, const Grid *g, gboolean smooth)
{
  g_autofree guint16 *means = g_new (guint16, (gsize)(g->columns * g->rows));
  for (gint row = 0; row < g->rows; row++)
    for (gint column = 0; column < g->columns; column++)
      means[row * g->columns + column] = mean (p, g, column, row);
  if (smooth)
    fill_smooth (p, g, means);
  else
    fill_squares (p, g, means);
}

void
gst_nn_canvas_hide (GstVideoFrame *frame, gint x, gint y, gint width, gint height, guint cells,
                    gboolean smooth)
{
  gint side = MAX (2, (MAX (width, height) + (gint)cells - 1) / (gint)cells);
  gint x0 = CLAMP (x, 0, GST_VIDEO_FRAME_WIDTH (frame));
  gint y0 = CLAMP (y, 0, GST_VIDEO_FRAME_HEIGHT (frame));
  gint x1 = CLAMP (x + width, x0, GST_VIDEO_FRAME_WIDTH (frame));
  gint y1 = CLAMP (y + height, y0, GST_VIDEO_FRAME_HEIGHT (frame));
  for (guint c = 0; x1 > x0 && y1 > y0 && c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++) {
    GstNnPlane p = gst_nn_plane_of (frame, c);
    Grid g = { .x0 = x0 >> p.x_shift,
               .y0 = y0 >> p.y_shift,
               .x1 = GST_NN_PLANE_COARSE (x1, p.x_shift),
               .y1 = GST_NN_PLANE_COARSE (y1, p.y_shift),
               .size_x = MAX (1, side >> p.x_shift),
               .size_y = MAX (1, side >> p.y_shift) };
    g.columns = (g.x1 - g.x0 + g.size_x - 1) / g.size_x;
    g.rows = (g.y1 - g.y0 + g.size_y - 1) / g.size_y;
    hide (&p, &g, smooth);
  }
}
