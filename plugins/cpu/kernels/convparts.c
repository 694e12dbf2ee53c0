/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a convolution is cut into parts: bands that keep what a part reads near, and enough of them
 * for every thread. */
#include "convparts.h"

#include <unistd.h>

#define SMALL 100000 /* products that are not worth a second thread */
#define PARTS_PER_THREAD 3
#define DEFAULT_L2 (512 * 1024)

gsize
cpu_second_cache (void)
{
  long size = sysconf (_SC_LEVEL2_CACHE_SIZE);
  return size > 0 ? (gsize)size : DEFAULT_L2;
}

void
cpu_conv_flatten (CpuConv *c)
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

gboolean
cpu_conv_reads_inside (const CpuConv *c)
{
  return c->pad_top == 0 && c->pad_left == 0 &&
         (c->kernel_w == 1 || c->dilation_w > 1 ||
          c->x_pixel == (gsize)(c->channels / cpu_conv_count_planes (c))) &&
         (c->out_h - 1) * c->stride_h + (c->kernel_h - 1) * c->dilation_h < c->in_h &&
         (c->out_w - 1) * c->stride_w + (c->kernel_w - 1) * c->dilation_w < c->in_w;
}

gint
cpu_ceil_div (gint a, gint b)
{
  return (a + b - 1) / b;
}

gint
cpu_conv_count_parts (const CpuConv *c)
{
  return c->frames * c->groups * cpu_ceil_div (c->out_h, c->band_h) *
         cpu_ceil_div (c->out_w, c->band_w) * cpu_ceil_div (c->n_panels, c->panels);
}

gint
cpu_conv_patch_columns (const CpuConv *c)
{
  return (c->band_w - 1) * c->stride_w + (c->kernel_w - 1) * c->dilation_w + 1;
}

gint
cpu_conv_patch_rows (const CpuConv *c)
{
  return (c->band_h - 1) * c->stride_h + (c->kernel_h - 1) * c->dilation_h + 1;
}

/* All of the output, or as much as @patch bytes of the source make. */
static void
choose_bands (CpuConv *c, const CpuConvCut *cut)
{
  gsize row;
  c->band_h = c->out_h;
  c->band_w = c->out_w;
  c->panels = c->n_panels;
  if (c->out_h == 1) {
    c->band_w = (gint)CLAMP (cut->patch / (cut->pixel * (gsize)c->stride_w), (gsize)(2 * cut->tile),
                             (gsize)c->out_w);
    c->band_w = MIN (c->band_w, c->out_w);
    return;
  }
  row = (gsize)cpu_conv_patch_columns (c) * cut->pixel * (gsize)c->stride_h / (gsize)cut->step;
  c->band_h = (gint)CLAMP (cut->patch / MAX (row, 1), 1, (gsize)c->out_h);
}

static void
cut_panels (CpuConv *c, const CpuConvCut *cut, gint wanted)
{
  while (cpu_conv_count_parts (c) < wanted && c->panels > cut->panels)
    c->panels = cpu_ceil_div (c->panels, 2 * cut->panels) * cut->panels; /* half, in whole tiles */
}

static void
cut_bands (CpuConv *c, const CpuConvCut *cut, gint wanted)
{
  while (cpu_conv_count_parts (c) < wanted && (c->band_h > 1 || c->band_w > 2 * cut->tile)) {
    gint *band = c->out_h > 1 && c->band_h > 1 ? &c->band_h : &c->band_w;
    if (band == &c->band_w && c->out_h > 1)
      break;
    *band = cpu_ceil_div (*band, 2);
  }
  c->band_h = cpu_ceil_div (c->out_h, cpu_ceil_div (c->out_h, c->band_h));
  c->band_w = cpu_ceil_div (c->out_w, cpu_ceil_div (c->out_w, c->band_w));
}

void
cpu_conv_cut (CpuConv *c, const CpuConvCut *cut)
{
  gdouble products = (gdouble)c->frames * c->groups * c->out_h * c->out_w * c->kernel_h *
                     c->kernel_w * c->channels * c->out_channels;
  gint wanted = cut->threads > 1 && products > SMALL ? (gint)cut->threads * PARTS_PER_THREAD : 1;
  choose_bands (c, cut);
  if (cut->by_panels)
    cut_panels (c, cut, wanted);
  cut_bands (c, cut, wanted);
  cut_panels (c, cut, wanted);
}

void
cpu_conv_cut_pixels (CpuConv *c, gint lanes, guint threads)
{
  CpuConvCut cut = { .pixel = (gsize)c->channels * sizeof (gfloat),
                     .patch = cpu_second_cache () / 8,
                     .step = 1,
                     .tile = lanes,
                     .panels = 1,
                     .threads = threads };
  c->n_panels = 1;
  cpu_conv_cut (c, &cut);
}

/* All groups of a band follow each other: their channels are side by side. */
CpuConvPart
cpu_conv_get_part (const CpuConv *c, gint index)
{
  gint panels = cpu_ceil_div (c->n_panels, c->panels), columns = cpu_ceil_div (c->out_w, c->band_w);
  gint rows = cpu_ceil_div (c->out_h, c->band_h), p = index % panels, rest = index / panels;
  gint group = rest % c->groups, band = rest / c->groups;
  gint x = band % columns, y = band / columns % rows;
  return (CpuConvPart){ .frame = band / columns / rows,
                        .group = group,
                        .y0 = y * c->band_h,
                        .y1 = MIN ((y + 1) * c->band_h, c->out_h),
                        .x0 = x * c->band_w,
                        .x1 = MIN ((x + 1) * c->band_w, c->out_w),
                        .panel0 = p * c->panels,
                        .panel1 = MIN ((p + 1) * c->panels, c->n_panels) };
}
