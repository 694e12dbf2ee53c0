/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A strip of channels of a depthwise convolution: what its kernels share. */
#pragma once

#include "floatfinish.h"

#define STRIP_BLOCK 24 /* pixels of a row, for all channels, then the next ones */
/* Bytes of the source that rows of a block meet: the first cache keeps them. */
#define STRIP_NEAR 24576

/* The taps of an output place that meet one of @in places; @from: what tap 0 meets. */
CPU_INLINE void
strip_clip_taps (gint from, gint kernel, gint dilation, gint in, gint *first, gint *end)
{
  *first = from < 0 ? MIN ((-from + dilation - 1) / dilation, kernel) : 0;
  *end = from + (kernel - 1) * dilation >= in
             ? CLAMP ((in - from + dilation - 1) / dilation, *first, kernel)
             : kernel;
}

/* A strip of channels of one frame. */
typedef struct {
  const CpuConv *conv;
  CpuFloatWide wide; /* conv, or what it is besides */
  const gfloat *x, *w, *bias;
  CpuFloatTile tile;
  gsize y;           /* element of the destination */
  const gfloat *end; /* of the source's memory */
  gboolean is_plain;
  gint inner_x0, inner_x1, inner_y0, inner_y1; /* output columns and rows that meet all taps */
} Strip;

CPU_INLINE void
strip_set_panel (Strip *s, const CpuConvPart *part, gint panel)
{
  const CpuConv *c = s->wide.conv;
  const CpuFloatConvRun *run = s->tile.run;
  gint vector = cpu_conv_panel_start (c, CPU_LANES, panel), first = vector * CPU_LANES;
  s->tile.mr = cpu_conv_panel_start (c, CPU_LANES, panel + 1) - vector;
  s->tile.channels = MIN (c->channels - first, s->tile.mr * CPU_LANES);
  s->tile.slopes = s->wide.slopes ? s->wide.slopes + first : NULL;
  s->is_plain = run->residual == NULL && float_is_plain (&s->tile);
  s->x = run->x + (gsize)part->frame * c->x_frame +
         cpu_conv_channel_at (s->conv, s->conv->x_block, first);
  s->y = (gsize)part->frame * c->y_frame + cpu_conv_channel_at (s->conv, s->conv->y_block, first);
  s->w = s->wide.weights + (gsize)first * (gsize)(c->kernel_h * c->kernel_w);
  s->bias = s->wide.bias + first;
}

/* Rows of a block that one panel computes before the next one: those whose source stays near. */
CPU_INLINE gint
strip_count_rows (const CpuConv *c)
{
  gsize columns = (gsize)((MIN (STRIP_BLOCK, c->out_w) - 1) * c->stride_w + c->kernel_w);
  gsize near = STRIP_NEAR / (columns * CPU_FLOAT_STRIP * CPU_VECTOR);
  return near > (gsize)c->kernel_h ? (gint)(near - (gsize)c->kernel_h) / c->stride_h + 1 : 1;
}

/* All of @part of the strip's convolution; FALSE: it is none that this computes. */
gboolean CPU_NAME (cpu_float_lines) (Strip *strip, const CpuConvPart *part);
