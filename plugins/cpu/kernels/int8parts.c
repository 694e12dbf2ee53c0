/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a product of bytes is cut into parts: what a kernel derives from the geometry, bands that
 * keep what a part reads near, and enough of them for every thread. */
#include "int8-private.h"

#define DENSE_PATCH (64 * 1024)     /* bytes of the source that a part lays out: well inside L2 */
#define DEPTHWISE_PATCH (32 * 1024) /* of a strip of channels */
#define SMALL 100000                /* products that are not worth a second thread */
#define PARTS_PER_THREAD 3

/* A product of one pixel each is one long row. */
static void
flatten (CpuInt8Conv *c)
{
  if (c->kernel_h * c->kernel_w > 1 || c->stride_h > 1 || c->stride_w > 1 || c->in_h != c->out_h ||
      c->in_w != c->out_w || c->depthwise)
    return;
  if (c->x_row == (gsize)c->in_w * c->x_pixel && c->y_row == (gsize)c->out_w * c->y_pixel) {
    c->in_w = c->out_w = c->in_w * c->in_h;
    c->in_h = c->out_h = 1;
  }
  if (c->in_h == 1 && c->x_frame == (gsize)c->in_w * c->x_pixel &&
      c->y_frame == (gsize)c->out_w * c->y_pixel) {
    c->in_w = c->out_w = c->in_w * c->frames;
    c->frames = 1;
  }
}

/* TRUE if tiles may read the source where it lies: no padding, no conversion, whole words. */
static gboolean
reads_directly (const CpuInt8Conv *c, gint run)
{
  return !c->pairs && !c->is_signed && run % 4 == 0 && c->pad_top == 0 && c->pad_left == 0 &&
         (c->kernel_w == 1 || c->dilation_w > 1 || c->x_pixel == (gsize)c->channels) &&
         (c->out_h - 1) * c->stride_h + (c->kernel_h - 1) * c->dilation_h < c->in_h &&
         (c->out_w - 1) * c->stride_w + (c->kernel_w - 1) * c->dilation_w < c->in_w;
}

static gint
ceil_div (gint a, gint b)
{
  return (a + b - 1) / b;
}

gint
cpu_int8_count_parts (const CpuInt8Conv *c)
{
  return c->frames * c->groups * ceil_div (c->out_h, c->band_h) * ceil_div (c->out_w, c->band_w) *
         ceil_div (c->n_panels, c->panels);
}

static gsize
patch_columns (const CpuInt8Conv *c)
{
  return (gsize)((c->band_w - 1) * c->stride_w + (c->kernel_w - 1) * c->dilation_w + 1);
}

static gsize
patch_rows (const CpuInt8Conv *c)
{
  return (gsize)(c->depthwise
                     ? cpu_int8_strip_rows (c, c->band_h)
                     : (c->band_h - 1) * c->stride_h + (c->kernel_h - 1) * c->dilation_h + 1);
}

/* Bands that keep what a part reads near, and give every thread several parts. */
static void
cut (CpuInt8Conv *c, const CpuInt8Kernels *k, guint threads)
{
  gsize pixel = c->depthwise ? (gsize)k->lanes * 8 : (gsize)c->channels * (c->pairs ? 2 : 1);
  gint budget = c->depthwise ? DEPTHWISE_PATCH : DENSE_PATCH, wanted, row;
  gdouble products = (gdouble)c->frames * c->groups * c->out_h * c->out_w * c->kernel_h *
                     c->kernel_w * c->channels * c->out_channels;
  c->band_h = c->out_h;
  c->band_w = c->out_w;
  c->panels = c->n_panels;
  if (c->out_h == 1) {
    c->band_w = CLAMP (budget / (gint)(pixel * (gsize)c->stride_w), 2 * k->pixels, c->out_w);
  } else {
    row = (gint)MIN (patch_columns (c) * pixel * (gsize)c->stride_h / (gsize)c->step, G_MAXINT);
    c->band_h = CLAMP (budget / row, 1, c->out_h);
  }
  wanted = threads > 1 && products > SMALL ? (gint)threads * PARTS_PER_THREAD : 1;
  while (cpu_int8_count_parts (c) < wanted && (c->band_h > 1 || c->band_w > 2 * k->pixels)) {
    gint *band = c->out_h > 1 && c->band_h > 1 ? &c->band_h : &c->band_w;
    if (band == &c->band_w && c->out_h > 1)
      break;
    *band = ceil_div (*band, 2);
  }
  c->band_h = ceil_div (c->out_h, ceil_div (c->out_h, c->band_h));
  c->band_w = ceil_div (c->out_w, ceil_div (c->out_w, c->band_w));
  while (cpu_int8_count_parts (c) < wanted && c->panels > 2)
    c->panels = ceil_div (c->panels, 4) * 2; /* half, in twos */
}

void
cpu_int8_setup (CpuInt8Conv *c, const CpuInt8Kernels *k, guint threads)
{
  gint run = c->channels * c->kernel_w, vectors = c->depthwise ? 2 * k->lanes : k->lanes;
  gboolean by_rows = c->kernel_w == 1 || c->dilation_w == 1;
  gint width = c->depthwise ? c->channels : c->out_channels;
  gsize patch;
  flatten (c);
  if (!by_rows)
    run = c->channels;
  c->step = c->depthwise && c->dilation_h == 1 ? 2 : 1;
  c->pairs_of_rows = c->step == 2 ? c->kernel_h / 2 + 1 : (c->kernel_h + 1) / 2;
  c->n_taps = by_rows ? c->kernel_h : c->kernel_h * c->kernel_w;
  c->n_groups = ceil_div (run * (c->pairs ? 2 : 1), 4);
  c->direct = !c->depthwise && reads_directly (c, run);
  c->padded = ceil_div (width, vectors) * vectors;
  c->n_panels = c->padded / k->lanes;
  cut (c, k, threads);
  patch = patch_rows (c) * patch_columns (c) *
          (c->depthwise ? (gsize)k->lanes * 8 : (gsize)c->channels * (c->pairs ? 2 : 1));
  /* the list of taps; the last word of a run may reach beyond */
  c->scratch = ((gsize)c->n_taps * 4 + 127) / 64 * 64 + (c->direct ? 0 : (patch + 191) / 64 * 64);
}

CpuInt8Part
cpu_int8_get_part (const CpuInt8Conv *c, gint index)
{
  gint panels = ceil_div (c->n_panels, c->panels), columns = ceil_div (c->out_w, c->band_w);
  gint rows = ceil_div (c->out_h, c->band_h), p = index % panels, x = index / panels % columns;
  gint y = index / panels / columns % rows, rest = index / panels / columns / rows;
  return (CpuInt8Part){ .frame = rest / c->groups,
                        .group = rest % c->groups,
                        .y0 = y * c->band_h,
                        .y1 = MIN ((y + 1) * c->band_h, c->out_h),
                        .x0 = x * c->band_w,
                        .x1 = MIN ((x + 1) * c->band_w, c->out_w),
                        .panel0 = p * c->panels,
                        .panel1 = MIN ((p + 1) * c->panels, c->n_panels) };
}
