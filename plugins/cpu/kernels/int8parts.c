/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a kernel of bytes derives from the shape of its convolution. */
#include "convparts.h"
#include "int8-private.h"

#define DENSE_PATCH (64 * 1024)      /* bytes of the source that a part lays out: well inside L2 */
#define DEPTHWISE_PATCH (128 * 1024) /* that it reads: inside, too */

#define MOST_JOINED 8
#define FINISHED 5 /* as much as so many products of a vector: a sum becomes a byte */

/* Blocks of a row, of which those at its ends are copied alone, by how they are multiplied. */
#define WIDE_PAIRS 8
#define WIDE_FOURS 3

/* No conversion, whole words. */
static gboolean
reads_directly (const CpuInt8Conv *c, gint run)
{
  return !c->pairs && c->offset == 0 && run % 4 == 0 && cpu_conv_reads_inside (&c->shape);
}

/* Pixels side by side whose channels are computed as those of one: as many as leave least of the
 * vectors empty. Pixels of a block share columns that they read where they are one or two apart. */
static gint
choose_joined (const CpuInt8Conv *c, gint strip, gint block)
{
  const CpuConv *s = &c->shape;
  gint best = 1;
  gint64 least = G_MAXINT64;
  for (gint n = 1; n <= MOST_JOINED && n <= MAX (s->out_w / (block / 2), 1); n++) {
    gboolean shares = n <= 2 && s->dilation_w == 1;
    gint columns = shares ? (block - 1) * n + s->kernel_w : block * s->kernel_w;
    gint64 each = 2 * columns + block * (c->row_words * s->kernel_w + FINISHED);
    gint64 all = each * cpu_ceil_div (s->channels * n, strip) * cpu_ceil_div (s->out_w, n);
    best = all < least ? n : best;
    least = MIN (least, all);
  }
  return best;
}

static void
setup_depthwise (CpuInt8Conv *c, const CpuInt8Kernels *k, guint threads)
{
  CpuConv *s = &c->shape;
  gint each = c->pairs ? 2 : 4, strip = each * k->lanes;
  gint block = c->pairs ? k->depthwise_pixels : k->fours_pixels;
  gboolean side_by_side = s->x_pixel == (gsize)s->channels && s->y_pixel == s->x_pixel;
  c->row_words = cpu_ceil_div (s->kernel_h, each);
  if (side_by_side && s->stride_w == 1)
    c->joined = choose_joined (c, strip, block);
  s->direct =
      c->offset == 0 && s->out_w >= (c->pairs ? WIDE_PAIRS : WIDE_FOURS) * block * c->joined;
  s->padded = cpu_ceil_div (s->channels * c->joined, strip) * strip;
  s->n_panels = s->padded / k->lanes;
  cpu_conv_cut (s, &(const CpuConvCut){ .pixel = (gsize)s->channels,
                                        .patch = DEPTHWISE_PATCH,
                                        .step = 1,
                                        .tile = block * c->joined,
                                        .panels = s->n_panels,
                                        .threads = threads });
  /* the last block of pixels, and strip of channels, may reach beyond */
  s->scratch =
      (gsize)cpu_conv_patch_rows (s) * (gsize)cpu_conv_patch_columns (s) * (gsize)s->channels +
      (gsize)(block * c->joined * s->stride_w * s->channels + strip);
  s->scratch = (s->scratch + 63) / 64 * 64;
}

static void
setup_dense (CpuInt8Conv *c, const CpuInt8Kernels *k, guint threads)
{
  CpuConv *s = &c->shape;
  gboolean by_rows = s->kernel_w == 1 || s->dilation_w == 1;
  gint run = s->channels * (by_rows ? s->kernel_w : 1);
  gsize pixel = (gsize)s->channels * (c->pairs ? 2 : 1), patch;
  s->n_taps = by_rows ? s->kernel_h : s->kernel_h * s->kernel_w;
  c->n_groups = cpu_ceil_div (run * (c->pairs ? 2 : 1), 4);
  s->direct = reads_directly (c, run);
  s->padded = cpu_ceil_div (s->out_channels, k->lanes) * k->lanes;
  s->n_panels = s->padded / k->lanes;
  cpu_conv_cut (s, &(const CpuConvCut){ .pixel = pixel,
                                        .patch = DENSE_PATCH,
                                        .step = 1,
                                        .tile = k->pixels,
                                        .panels = 2,
                                        .threads = threads });
  patch = (gsize)cpu_conv_patch_rows (s) * (gsize)cpu_conv_patch_columns (s) * pixel;
  /* the list of taps; the last word of a run may reach beyond */
  s->scratch = ((gsize)s->n_taps * 4 + 127) / 64 * 64 + (s->direct ? 0 : (patch + 191) / 64 * 64);
}

void
cpu_int8_setup (CpuInt8Conv *c, const CpuInt8Kernels *k, guint threads)
{
  cpu_conv_flatten (&c->shape);
  c->offset = c->pairs || c->is_signed == k->dot4_signed ? 0 : c->is_signed ? 128 : -128;
  c->joined = 1;
  if (c->shape.depthwise)
    setup_depthwise (c, k, threads);
  else
    setup_dense (c, k, threads);
}
