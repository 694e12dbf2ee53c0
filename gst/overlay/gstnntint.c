/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs of one colour are blended into the rows of the frame that they lie on. */
#include "gstnncanvas.h"
#include "gstnnruns.h"

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

/* The first sample whose middle lies at @v or after it. */
static gint
sample_at (gdouble v, guint shift, gint limit)
{
  gdouble middle = v / (1 << shift) - .5;
  if (!(middle > 0))
    return 0;
  return middle >= limit ? limit : (gint)middle + ((gint)middle < middle);
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

/* By itself, so that compilers know that what is read is not what is written. Rows of a mask are
 * too short for processors to see what comes next: that is the part of the next row, @stride on. */
static G_NO_INLINE void
blend_bytes (guint8 *restrict d, gint n, gssize stride, const Mix *restrict mix)
{
  for (; n >= BLOCK; n -= BLOCK, d += BLOCK) {
    __builtin_prefetch (d + stride, 1);
    for (guint i = 0; i < BLOCK; i++)
      d[i] = (guint8)((guint16)(d[i] * mix->stay[i] + mix->add[i]) >> 8);
  }
  __builtin_prefetch (d + stride, 1);
  for (gint i = 0; i < n; i++)
    d[i] = (guint8)((guint16)(d[i] * mix->stay[i] + mix->add[i]) >> 8);
}

static inline guint16
blend_word (guint16 v, guint16 stay, guint16 add)
{
  return (guint16)((((guint32)v * stay) >> 16) + add);
}

static G_NO_INLINE void
blend_words (guint8 *d, gint n, gint step, gssize stride, guint16 stay, guint16 add)
{
  guint16 v[BLOCK / 2];
  for (; n >= BLOCK / 2 && step == 2; n -= BLOCK / 2, d += BLOCK) {
    __builtin_prefetch (d + stride, 1);
    memcpy (v, d, BLOCK);
    for (guint i = 0; i < BLOCK / 2; i++)
      v[i] = blend_word (v[i], stay, add);
    memcpy (d, v, BLOCK);
  }
  for (gint i = 0; i < n; i++, d += step) {
    memcpy (v, d, 2);
    v[0] = blend_word (v[0], stay, add);
    memcpy (d, v, 2);
  }
}

/* @opacity: 1 to 256 */
static void
blend_run (const Layer *layer, guint8 *d, gint n, const GstNnPaint *paint, guint opacity)
{
  const GstNnPlane *p = &layer->plane;
  if (layer->component < 0)
    blend_bytes (d, n * p->step, p->stride, &layer->mix);
  else
    blend_words (d, n, p->step, p->stride, (guint16)((256 - opacity) << 8),
                 (guint16)((paint->color.value[layer->component] * opacity) >> 8));
}

/* Into the rows of the layer from @first to before @last. */
static void
blend_runs (Layer *layer, const GstNnRuns *runs, gint first, gint last, guint opacity)
{
  const GstNnPlane *p = &layer->plane;
  for (guint i = 0; i < runs->n && last > first; i++) {
    const GstNnRun *run = &runs->of[i];
    gint from = sample_at (run->left, p->x_shift, p->width);
    gint width = sample_at (run->right, p->x_shift, p->width) - from;
    if (layer->component < 0)
      prepare (layer, run->paint, opacity);
    for (gint row = first; row < last && width > 0; row++)
      blend_run (layer, gst_nn_plane_at (p, from, row), width, run->paint, opacity);
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

/* Between the middles of two rows of the mask each row of the frame has an outline of its own. */
static void
blend_band (Layer *layer, GstNnRuns *runs, guint band, guint opacity)
{
  const GstNnPlane *p = &layer->plane;
  gdouble top, bottom, size = 1 << p->y_shift;
  gint first, last;
  gst_nn_runs_get_band (runs, band, &top, &bottom);
  first = sample_at (top, p->y_shift, p->height);
  last = sample_at (bottom, p->y_shift, p->height);
  if (!runs->smooth)
    blend_runs (layer, runs, first, last, opacity);
  for (gint row = first; row < last && runs->smooth; row++) {
    gst_nn_runs_cut_between (runs, band, (row + .5) * size);
    blend_runs (layer, runs, row, row + 1, opacity);
  }
}

void
gst_nn_canvas_tint (GstVideoFrame *frame, const GstNnPaints *paints, guint opacity,
                    const GstNnMask *mask)
{
  GstNnRuns runs;
  Layer layers[GST_VIDEO_MAX_COMPONENTS];
  guint n_layers = get_layers (frame, layers);
  if (opacity == 0)
    return;
  gst_nn_runs_init (&runs, mask, paints);
  for (guint band = 0; band < runs.n_bands; band++) {
    gdouble top, bottom;
    gst_nn_runs_get_band (&runs, band, &top, &bottom);
    if (!(bottom > 0 && top < GST_VIDEO_FRAME_HEIGHT (frame)))
      continue;
    gst_nn_runs_enter (&runs, band);
    for (guint i = 0; i < n_layers; i++)
      blend_band (&layers[i], &runs, band, opacity);
  }
  gst_nn_runs_clear (&runs);
}
