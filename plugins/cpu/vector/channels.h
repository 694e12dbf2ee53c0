/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions with parameters by channel. Results may lie on their sources. */
#pragma once

#include <glib.h>

typedef enum {
  CPU_CHANNELS_AFFINE, /* x * a + b */
  CPU_CHANNELS_PRELU,  /* x < 0 ? x * a : x */
  CPU_N_CHANNEL_FUNCTIONS
} CpuChannelKind;

typedef struct {
  /* With parameters for each element; what is not used may be NULL. */
  void (*each) (gfloat *y, const gfloat *x, gint64 n, const gfloat *a, const gfloat *b);
  /* With the same for all. */
  void (*plane) (gfloat *y, const gfloat *x, gint64 n, gfloat a, gfloat b);
} CpuChannelFunction;

typedef struct {
  CpuChannelFunction by[CPU_N_CHANNEL_FUNCTIONS];
} CpuChannels;
