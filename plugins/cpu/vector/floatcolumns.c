/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution of floats with few output channels, compiled per instruction set.
 *
 * By themselves these would leave most of a vector empty. With those of the filter's other columns
 * they fill it: each pixel of the source is multiplied for all columns at once, and the result at x
 * is the sum of what the pixels below the filter have for their columns. */
#include "floatfinish.h"

/* A pixel of the phase whose first tap is at @at: those taps that are within the source. */
static VF32
sum_inside (const CpuConv *c, const CpuColumnPhase *p, const gfloat *products, gsize pixel,
            VF32 sum, gint at)
{
  for (gint t = 0, k = p->column; t < p->taps; t++, k += p->stride, at += p->dilation)
    if (at >= 0 && at < c->in_w)
      sum += vector_load (products + (gsize)at * pixel + k * c->out_channels);
  return sum;
}

CPU_INLINE VF32
sum_pixel (const CpuConv *c, const CpuColumnPhase *p, const gfloat *products, gsize pixel, VF32 sum,
           gint at)
{
  gssize tap = p->dilation * (gssize)pixel + p->stride * c->out_channels;
  if (at < 0 || at + (p->taps - 1) * p->dilation >= c->in_w)
    return sum_inside (c, p, products, pixel, sum, at);
  products += (gsize)at * pixel + p->column * c->out_channels;
  for (gint t = 0; t < p->taps; t++, products += tap)
    sum += vector_load (products);
  return sum;
}

/* Pixels lie @out_channels apart: each overwrites what the one before had in excess. */
static void
sum_row (const CpuFloatColumns *columns, const gfloat *products, VF32 bias, gfloat *sums)
{
  const CpuConv *c = &columns->conv;
  const gsize pixel = columns->products.y_pixel;
  for (gint x = 0, q = 0; x < c->out_w; q++)
    for (gint i = 0; i < columns->n_phases && x < c->out_w; i++, x++, sums += c->out_channels) {
      const CpuColumnPhase *p = &columns->phases[i];
      vector_store (sums, sum_pixel (c, p, products, pixel, bias, p->first + q * p->step));
    }
}

/* All columns that a pixel of the source makes, @n elements. */
CPU_INLINE void
copy_pixels (const CpuFloatColumns *columns, const gfloat *products, gint n, gfloat *sums)
{
  const gsize pixel = columns->products.y_pixel;
  for (gint x = 0; x < columns->conv.in_w; x++, products += pixel, sums += n)
    if (n == 2 || n == 4)
      memcpy (sums, products, (gsize)n * sizeof *sums);
    else
      vector_store (sums, vector_load (products));
}

static void
copy_row (const CpuFloatColumns *columns, const gfloat *products, gfloat *sums)
{
  gint n = columns->n_phases * columns->conv.out_channels;
  if (n == 2)
    copy_pixels (columns, products, 2, sums);
  else if (n == 4)
    copy_pixels (columns, products, 4, sums);
  else
    copy_pixels (columns, products, n, sums);
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
  for (gint y = part->y0; y < part->y1; y++, products += p.y_row)
    for (gint i = 0; i < columns->rows; i++) {
      const gfloat *from = products + i * c->kernel_w * c->out_channels;
      if (columns->is_copied)
        copy_row (columns, from, sums);
      else
        sum_row (columns, from, vector_load (run->bias), sums);
      float_finish_row (run, sums, c->out_w * c->out_channels,
                        (gsize)part->frame * c->y_frame + (gsize)y * c->y_row +
                            (gsize)i * columns->row_step);
    }
}
