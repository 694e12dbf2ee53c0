/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions of any shape, for tests of kernels by themselves. */
#pragma once

#include "../../plugins/cpu/vector/conv.h"

static gint
one_of (GRand *rand, const gint *values, gint n)
{
  return values[g_rand_int_range (rand, 0, n)];
}

static gint
window_end (gint in, gint pad, gint kernel, gint stride, gint dilation)
{
  return (in + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
}

/* Strides of frames without gaps. */
static void
dense_conv (CpuConv *v)
{
  v->x_pixel = (gsize)(v->groups * v->channels);
  v->x_row = v->x_pixel * (gsize)v->in_w;
  v->x_frame = v->x_row * (gsize)v->in_h;
  v->y_pixel = (gsize)(v->depthwise ? v->channels : v->groups * v->out_channels);
  v->y_row = v->y_pixel * (gsize)v->out_w;
  v->y_frame = v->y_row * (gsize)v->out_h;
}

static void
random_conv (CpuConv *v, GRand *rand, gboolean depthwise)
{
  static const gint channels[] = { 1, 3, 4, 5, 8, 12, 16, 17, 24, 33, 48, 64, 96 };
  static const gint heights[] = { 1, 5, 7, 13 }, widths[] = { 1, 5, 7, 13, 61 };
  do {
    *v =
        (CpuConv){ .groups = depthwise ? 1 : g_rand_int_range (rand, 1, 3),
                   .channels = one_of (rand, channels, G_N_ELEMENTS (channels)),
                   .out_channels = depthwise ? 1 : one_of (rand, channels, G_N_ELEMENTS (channels)),
                   .frames = g_rand_int_range (rand, 1, 3),
                   .in_h = one_of (rand, heights, G_N_ELEMENTS (heights)),
                   .in_w = one_of (rand, widths, G_N_ELEMENTS (widths)),
                   .kernel_h = g_rand_int_range (rand, 1, 6),
                   .kernel_w = g_rand_int_range (rand, 1, 6),
                   .stride_h = g_rand_int_range (rand, 1, 3),
                   .stride_w = g_rand_int_range (rand, 1, 3),
                   .dilation_h = g_rand_int_range (rand, 1, 3),
                   .dilation_w = g_rand_int_range (rand, 1, 3),
                   .pad_top = g_rand_int_range (rand, 0, 3),
                   .pad_left = g_rand_int_range (rand, 0, 3),
                   .depthwise = depthwise };
    v->out_h = window_end (v->in_h, v->pad_top, v->kernel_h, v->stride_h, v->dilation_h);
    v->out_w = window_end (v->in_w, v->pad_left, v->kernel_w, v->stride_w, v->dilation_w);
  } while (v->out_h < 1 || v->out_w < 1);
  dense_conv (v);
}
