/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks are mostly areas: each of their rows is cut once into runs of one colour, which are blended
 * into all the rows of the frame that it lies on. */
#include "gstnncanvas.h"

#include <math.h>

/* Bytes that compilers take at once; holds whole groups of 1, 2, 3 and 4. */
#define BLOCK 48

/* What each byte of a block keeps, of 256, and gets. */
typedef struct {
  guint16 stay[BLOCK], add[BLOCK];
} Mix;

/* The samples of a plane of a frame come in groups of bytes, as Y U Y V: for each byte of these the
 * component, or -1 where there is none. Samples of two bytes are a layer for each component. */
typedef struct {
  GstNnPlane plane; /* of groups, or of the component */
  gint component;   /* -1: there are groups */
  gint8 components[BLOCK];
  const GstNnPaint *paint; /* that the mix is of */
  Mix mix;
} Layer;

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
prepare (Layer *layer, const GstNnPaint *paint, guint opacity)
{
  if (layer->paint == paint)
    return;
  layer->paint = paint;
  for (guint i = 0; i < BLOCK; i++) {
    gint c = layer->components[i];
    layer->mix.stay[i] = (guint16)(c < 0 ? 256 : 256 - opacity);
    layer->mix.add[i] = (guint16)(c < 0 ? 0 : paint->color.value[c] * opacity);
  }
}

/* By itself, so that compilers know that what is read is not what is written. */
static G_NO_INLINE void
blend_bytes (guint8 *restrict d, gint n, const Mix *restrict mix)
{
  for (; n >= BLOCK; n -= BLOCK, d += BLOCK)
    for (guint i = 0; i < BLOCK; i++)
      d[i] = (guint8)((guint16)(d[i] * mix->stay[i] + mix->add[i]) >> 8);
  for (gint i = 0; i < n; i++)
    d[i] = (guint8)((guint16)(d[i] * mix->stay[i] + mix->add[i]) >> 8);
}

/* The step of a constant lets compilers take several at once. */
static inline void
blend_words (guint8 *d, gint n, gint step, guint value, guint opacity)
{
  guint stay = 256 - opacity, add = value * opacity;
  for (gint i = 0; i < n; i++, d += step) {
    guint16 v;
    memcpy (&v, d, 2);
    v = (guint16)((v * stay + add) >> 8);
    memcpy (d, &v, 2);
  }
}

static void
blend_run (const Layer *layer, guint8 *d, gint n, const GstNnPaint *paint, guint opacity)
{
  guint value = layer->component < 0 ? 0 : paint->color.value[layer->component];
  if (layer->component < 0)
    blend_bytes (d, n * layer->plane.step, &layer->mix);
  else if (layer->plane.step == 2)
    blend_words (d, n, 2, value, opacity);
  else
    blend_words (d, n, layer->plane.step, value, opacity);
}

/* @top and @bottom: of a row of the mask, in pixels of the frame */
static void
blend_runs (Layer *layer, const Run *runs, guint n, gdouble top, gdouble bottom, guint opacity)
{
  const GstNnPlane *p = &layer->plane;
  gint first = sample_at (top, p->y_shift, p->height);
  gint last = sample_at (bottom, p->y_shift, p->height);
  for (guint i = 0; i < n && last > first; i++) {
    gint from = sample_at (runs[i].left, p->x_shift, p->width);
    gint width = sample_at (runs[i].right, p->x_shift, p->width) - from;
    if (layer->component < 0)
      prepare (layer, runs[i].paint, opacity);
    for (gint row = first; row < last && width > 0; row++)
      blend_run (layer, gst_nn_plane_at (p, from, row), width, runs[i].paint, opacity);
  }
}

/* The components of the frame's plane @index as one layer. */
static Layer
group (const GstVideoFrame *frame, guint index)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  guint8 *base = GST_VIDEO_FRAME_PLANE_DATA (frame, index);
  Layer layer = { .component = -1 };
  memset (layer.components, -1, sizeof layer.components);
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); c++) {
    GstNnPlane p = gst_nn_plane_of (frame, c);
    if (GST_VIDEO_FORMAT_INFO_PLANE (format, c) != index)
      continue;
    for (gssize i = p.data - base; i < BLOCK; i += p.step)
      layer.components[i] = (gint8)c;
    if (p.step > layer.plane.step)
      layer.plane = p;
  }
  layer.plane.data = base;
  return layer;
}

static guint
get_layers (const GstVideoFrame *frame, Layer *layers)
{
  guint n = 0;
  if (gst_nn_plane_of (frame, 0).bytes == 1) {
    for (; n < GST_VIDEO_FRAME_N_PLANES (frame); n++)
      layers[n] = group (frame, n);
    return n;
  }
  for (; n < GST_VIDEO_FRAME_N_COMPONENTS (frame); n++)
    layers[n] = (Layer){ .plane = gst_nn_plane_of (frame, n), .component = (gint)n };
  return n;
}

void
gst_nn_canvas_tint (GstVideoFrame *frame, const GstNnPaints *paints, guint opacity,
                    const GstNnMask *mask)
{
  guint columns = gst_nn_mask_get_columns (mask), rows = gst_nn_mask_get_rows (mask);
  const guint8 *values = g_bytes_get_data (gst_nn_mask_get_values (mask), NULL);
  g_autofree Run *runs = g_new (Run, columns);
  Layer layers[GST_VIDEO_MAX_COMPONENTS];
  guint n_layers = get_layers (frame, layers);
  gdouble x, y, width, height;
  gst_nn_mask_get_area (mask, &x, &y, &width, &height);
  for (guint r = 0; r < rows; r++) {
    gdouble top = y + r * height / rows, bottom = y + (r + 1) * height / rows;
    guint n;
    if (!(bottom > 0 && top < GST_VIDEO_FRAME_HEIGHT (frame)))
      continue;
    n = cut_row (runs, values + (gsize)r * columns, columns, x, width / columns, paints);
    for (guint i = 0; i < n_layers; i++)
      blend_runs (&layers[i], runs, n, top, bottom, opacity);
  }
}
