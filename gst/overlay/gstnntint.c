/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks are mostly areas: each of their rows is cut once into runs of one colour, which are blended
 * into all the rows of the frame that it lies on. */
#include "gstnncanvas.h"

#include <math.h>

#define BLOCK 16 /* samples that compilers take at once */

/* Part of a row of a mask, in pixels of the frame. */
typedef struct {
  gdouble left, right;
  const GstNnPaint *paint;
} Run;

static guint
cut_row (Run *runs, const guint8 *values, guint columns, gdouble x, gdouble step,
         const GstNnPaints *paints)
{
  guint n = 0;
  for (guint c = 0, next; c < columns; c = next) {
    const GstNnPaint *paint = paints->of[values[c]];
    for (next = c + 1; next < columns && paints->of[values[next]] == paint;)
      next++;
    if (paint != NULL)
      runs[n++] = (Run){ x + c * step, x + next * step, paint };
  }
  return n;
}

/* The first sample whose middle lies at @v or after it. */
static gint
sample_at (gdouble v, guint shift, gint limit)
{
  return (gint)fmin (fmax (ceil (v / (1 << shift) - .5), 0), limit);
}

static void
blend_bytes (guint8 *d, gint n, guint16 stay, guint16 add)
{
  for (; n >= BLOCK; n -= BLOCK, d += BLOCK)
    for (guint i = 0; i < BLOCK; i++)
      d[i] = (guint8)((guint16)(d[i] * stay + add) >> 8);
  for (gint i = 0; i < n; i++)
    d[i] = (guint8)((guint16)(d[i] * stay + add) >> 8);
}

static void
blend (const GstNnPlane *p, guint8 *d, gint n, guint16 value, guint opacity)
{
  guint stay = 256 - opacity, add = value * opacity;
  if (p->bytes == 1 && p->step == 1) {
    blend_bytes (d, n, (guint16)stay, (guint16)(add + (stay ? 128 : 0)));
    return;
  }
  for (gint i = 0; i < n; i++, d += p->step)
    gst_nn_plane_set (p, d, (guint16)((gst_nn_plane_get (p, d) * stay + add + 128) >> 8));
}

/* @top and @bottom: of a row of the mask, in pixels of the frame */
static void
blend_runs (const GstNnPlane *p, guint component, const Run *runs, guint n, gdouble top,
            gdouble bottom, guint opacity)
{
  gint last = sample_at (bottom, p->y_shift, p->height);
  for (gint row = sample_at (top, p->y_shift, p->height); row < last; row++)
    for (guint i = 0; i < n; i++) {
      gint from = sample_at (runs[i].left, p->x_shift, p->width);
      gint to = sample_at (runs[i].right, p->x_shift, p->width);
      if (to > from)
        blend (p, gst_nn_plane_at (p, from, row), to - from, runs[i].paint->color.value[component],
               opacity);
    }
}

void
gst_nn_canvas_tint (GstVideoFrame *frame, const GstNnPaints *paints, guint opacity,
                    const GstNnMask *mask)
{
  guint columns = gst_nn_mask_get_columns (mask), rows = gst_nn_mask_get_rows (mask);
  guint n_planes = GST_VIDEO_FRAME_N_COMPONENTS (frame);
  const guint8 *values = g_bytes_get_data (gst_nn_mask_get_values (mask), NULL);
  g_autofree Run *runs = g_new (Run, columns);
  GstNnPlane planes[GST_VIDEO_MAX_COMPONENTS];
  gdouble x, y, width, height;
  gst_nn_mask_get_area (mask, &x, &y, &width, &height);
  for (guint c = 0; c < n_planes; c++)
    planes[c] = gst_nn_plane_of (frame, c);
  for (guint r = 0; r < rows; r++) {
    gdouble top = y + r * height / rows, bottom = y + (r + 1) * height / rows;
    guint n;
    if (!(bottom > 0 && top < GST_VIDEO_FRAME_HEIGHT (frame)))
      continue;
    n = cut_row (runs, values + (gsize)r * columns, columns, x, width / columns, paints);
    for (guint c = 0; c < n_planes; c++)
      blend_runs (&planes[c], c, runs, n, top, bottom, opacity);
  }
}
