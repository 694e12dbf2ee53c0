/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution of floats with few output channels, compiled per instruction set.
 *
 * By themselves these would leave most of a vector empty. With those of the filter's other columns
 * they fill it: each pixel of the source is multiplied for all columns at once, and the result at x
 * is the sum of what the pixels below the filter have for their columns. */
#include "floatfinish.h"

/* The result at @x: those columns that are within the source. */
static VF32
sum_some (const CpuConv *c, const gfloat *products, gsize pixel, VF32 sum, gint x)
{
  for (gint k = 0; k < c->kernel_w; k++) {
    gint at = x * c->stride_w - c->pad_left + k * c->dilation_w;
    if (at >= 0 && at < c->in_w)
      sum += vector_load (products + (gsize)at * pixel + k * c->out_channels);
  }
  return sum;
}

/* Pixels lie @out_channels apart: each overwrites what the one before had in excess. */
static void
sum_row (const CpuConv *c, const gfloat *products, gsize pixel, VF32 bias, gfloat *sums)
{
  gint reach = (c->kernel_w - 1) * c->dilation_w, out = c->out_channels;
  gsize column = (gsize)c->dilation_w * pixel + (gsize)out;
  for (gint x = 0; x < c->out_w; x++) {
    gint first = x * c->stride_w - c->pad_left;
    VF32 sum = bias;
    if (first >= 0 && first + reach < c->in_w) {
      const gfloat *p = products + (gsize)first * pixel;
      for (gint k = 0; k < c->kernel_w; k++, p += column)
        sum += vector_load (p);
    } else {
      sum = sum_some (c, products, pixel, sum, x);
    }
    vector_store (sums + (gsize)x * (gsize)out, sum);
  }
}

static void
finish_row (const CpuFloatConvRun *run, gfloat *sums, gint n, gsize at)
{
  gint vectors = (n + CPU_LANES - 1) / CPU_LANES;
  float_activate (&run->before, sums, vectors);
  if (run->residual != NULL)
    for (gint i = 0; i < n; i += CPU_LANES)
      float_load_add ((VF32 *)(gpointer)(sums + i), run->residual + at + i, n - i);
  float_activate (&run->after, sums, vectors);
  memcpy (run->y + at, sums, (gsize)n * sizeof *sums);
}

void
CPU_NAME (cpu_float_columns) (const CpuFloatColumns *columns, const CpuFloatConvRun *run,
                              const CpuConvPart *part, guint8 *scratch)
{
  const CpuConv *c = &columns->conv;
  gfloat *products = (gfloat *)(gpointer)(scratch + columns->heads[0]);
  gfloat *sums = (gfloat *)(gpointer)(scratch + columns->heads[1]);
  CpuConv p = columns->products;
  CpuConvPart band = { .y1 = part->y1 - part->y0, .x1 = p.out_w, .panel1 = p.n_panels };
  CpuFloatConvRun of_products = { .x = run->x + (gsize)part->frame * c->x_frame,
                                  .y = products,
                                  .weights = run->weights,
                                  .bias = run->bias + CPU_LANES };
  p.pad_top -= part->y0 * c->stride_h;
  CPU_NAME (cpu_float_dense) (&p, &of_products, &band, scratch);
  for (gint y = part->y0; y < part->y1; y++, products += p.y_row) {
    sum_row (c, products, p.y_pixel, vector_load (run->bias), sums);
    finish_row (run, sums, c->out_w * c->out_channels,
                (gsize)part->frame * c->y_frame + (gsize)y * c->y_row);
  }
}
