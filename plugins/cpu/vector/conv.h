/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The shape of a convolution over frames that lie channels last (dense ones of floats read planes,
 * too), and how it is cut into parts. A matrix product is a convolution of one pixel. */
#pragma once

#include <glib.h>

typedef struct {
  gint groups, channels, out_channels; /* channels of one group */
  gint in_h, in_w, out_h, out_w;
  gint kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
  gint frames;
  gsize x_pixel, x_row, x_frame; /* strides of the source in elements */
  gsize x_plane; /* channels of the source are planes, so far apart; 0: they are side by side */
  gsize y_pixel, y_row, y_frame; /* of the destination */
  gint block;             /* channels of both, or of one, lie in blocks of so many; 0: otherwise */
  gsize x_block, y_block; /* elements from one block to the next; 0: it has none */
  gboolean depthwise;     /* channels is their number; groups and out_channels are 1 */
  gint spread; /* floats: channels of each of the groups that are computed as one, whose channels
                  are a vector; 0: each by itself */
  gint repeat; /* of such, of one channel each: channels of the result that each makes; else 0 */
  /* set when the convolution is set up (../kernels/convparts.c) */
  gint n_taps;           /* runs of consecutive elements of the source that a pixel is made of */
  gint tap_size;         /* floats: elements of a run */
  gint padded;           /* out_channels (depthwise: channels), rounded up to whole vectors */
  gboolean direct;       /* the source is read where it lies */
  gint band_h, band_w;   /* output rows and pixels of a part */
  gint n_panels, panels; /* vectors of output channels of a group, or panels of them, and those of a
                            part */
  gint chunk;            /* floats: elements of a run that are summed at once, or taps * run */
  gsize heads[2];        /* floats: where sums and the patch begin in a thread's scratch */
  gsize scratch;         /* bytes of a thread */
} CpuConv;

/* Panel @p begins with this vector of output channels; panels of floats have some vectors each. */
static inline gint
cpu_conv_panel_start (const CpuConv *c, gint lanes, gint p)
{
  return c->padded / lanes * p / c->n_panels;
}

/* Of the source that a dense convolution reads; in each the channels of a pixel are side by side.
 */
static inline gint
cpu_conv_count_planes (const CpuConv *c)
{
  return c->x_plane > 0 ? c->channels : c->x_block > 0 ? MAX (c->channels / c->block, 1) : 1;
}

/* Elements from one of these to the next. */
static inline gsize
cpu_conv_get_plane (const CpuConv *c)
{
  return c->x_plane > 0 ? c->x_plane : c->x_block;
}

/* Where @channel is in a pixel whose blocks, if it has any, are @block elements apart. */
static inline gsize
cpu_conv_channel_at (const CpuConv *c, gsize block, gint channel)
{
  return block > 0 ? (gsize)(channel / c->block) * block + (gsize)(channel % c->block)
                   : (gsize)channel;
}

/* What one thread computes at once. */
typedef struct {
  gint frame, group, y0, y1, x0, x1, panel0, panel1;
} CpuConvPart;
