/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a kernel of bytes derives from the shape of its convolution. */
#include "convparts.h"
#include "int8-private.h"

#define DENSE_PATCH (64 * 1024)     /* bytes of the source that a part lays out: well inside L2 */
#define DEPTHWISE_PATCH (32 * 1024) /* of a strip of channels */

/* No conversion, whole words. */
static gboolean
reads_directly (const CpuInt8Conv *c, gint run)
{
  return !c->pairs && c->offset == 0 && run % 4 == 0 && cpu_conv_reads_inside (&c->shape);
}

static gsize
patch_rows (const CpuInt8Conv *c)
{
  return (gsize)(c->shape.depthwise ? cpu_int8_strip_rows (c, c->shape.band_h)
                                    : cpu_conv_patch_rows (&c->shape));
}

void
cpu_int8_setup (CpuInt8Conv *c, const CpuInt8Kernels *k, guint threads)
{
  CpuConv *s = &c->shape;
  gint run = s->channels * s->kernel_w, vectors = s->depthwise ? 2 * k->lanes : k->lanes;
  gboolean by_rows = s->kernel_w == 1 || s->dilation_w == 1;
  gsize pixel = s->depthwise ? (gsize)k->lanes * 8 : (gsize)s->channels * (c->pairs ? 2 : 1);
  gsize patch;
  cpu_conv_flatten (s);
  c->offset = c->pairs || c->is_signed == k->dot4_signed ? 0 : c->is_signed ? 128 : -128;
  if (!by_rows)
    run = s->channels;
  c->step = s->depthwise && s->dilation_h == 1 ? 2 : 1;
  c->pairs_of_rows = c->step == 2 ? s->kernel_h / 2 + 1 : (s->kernel_h + 1) / 2;
  s->n_taps = by_rows ? s->kernel_h : s->kernel_h * s->kernel_w;
  c->n_groups = cpu_ceil_div (run * (c->pairs ? 2 : 1), 4);
  s->direct = !s->depthwise && reads_directly (c, run);
  s->padded = cpu_ceil_div (s->depthwise ? s->channels : s->out_channels, vectors) * vectors;
  s->n_panels = s->padded / k->lanes;
  cpu_conv_cut (s, &(const CpuConvCut){ .pixel = pixel,
                                        .patch = s->depthwise ? DEPTHWISE_PATCH : DENSE_PATCH,
                                        .step = c->step,
                                        .tile = k->pixels,
                                        .panels = 2,
                                        .threads = threads });
  patch = patch_rows (c) * (gsize)cpu_conv_patch_columns (s) * pixel;
  /* the list of taps; the last word of a run may reach beyond */
  s->scratch = ((gsize)s->n_taps * 4 + 127) / 64 * 64 + (s->direct ? 0 : (patch + 191) / 64 * 64);
}
