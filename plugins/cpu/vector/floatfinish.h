/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What follows the sums of a tile: activations, slopes, a residual; and the way to memory. */
#pragma once

#include "floatconv.h"
#include "vectormath.h"

#include <string.h>

#define CPU_FLOAT_SUMS (24 * CPU_LANES)

typedef struct {
  const CpuFloatConvRun *run;
  gint mr, nr;   /* vectors of channels, pixels */
  gint channels; /* that there are: the last vector may have fewer */
  gsize pixel;   /* elements from one pixel of the destination to the next */
  gsize at;      /* the first channel's place in the arrays of the run */
} CpuFloatTile;

static void
float_activate (const CpuPost *post, gfloat *sums, gint n)
{
  const VF32 alpha = splat_float (post->alpha), beta = splat_float (post->beta);
  VF32 *s = (VF32 *)(gpointer)sums;
  switch ((gint)post->kind) {
#define CASE(name)                                                                                 \
  case CPU_POST_##name:                                                                            \
    for (gint i = 0; i < n; i++)                                                                   \
      s[i] = vector_function (CPU_POST_##name, s[i], alpha, beta);                                 \
    break;
    CPU_ACTIVATIONS (CASE)
#undef CASE
  default:
    break;
  }
}

/* x < 0 ? slope * x : x, a slope for each channel */
CPU_INLINE void
float_slope (const CpuFloatTile *t, gfloat *sums)
{
  VF32 *s = (VF32 *)(gpointer)sums;
  for (gint i = 0; i < t->mr; i++) {
    VF32 slope = *(const VF32 *)(t->run->slopes + t->at + i * CPU_LANES);
    for (gint j = 0; j < t->nr; j++) {
      VF32 x = s[j * t->mr + i];
      s[j * t->mr + i] = vector_if_less (x, splat_float (0), slope * x, x);
    }
  }
}

CPU_INLINE void
float_load_add (VF32 *to, const gfloat *from, gint n)
{
  VF32 v = splat_float (0);
  if (n >= CPU_LANES)
    v = *(const VF32 *)from;
  else
    memcpy (&v, from, (gsize)n * sizeof *from);
  *to += v;
}

static void
float_add_residual (const CpuFloatTile *t, gfloat *sums, const gfloat *residual)
{
  VF32 *s = (VF32 *)(gpointer)sums;
  for (gint j = 0; j < t->nr; j++, residual += t->pixel)
    for (gint i = 0; i < t->mr; i++, s++)
      float_load_add (s, residual + i * CPU_LANES, t->channels - i * CPU_LANES);
}

static void
float_store (const CpuFloatTile *t, const gfloat *sums, gfloat *y)
{
  const VF32 *s = (const VF32 *)(gconstpointer)sums;
  if (t->channels == t->mr * CPU_LANES) {
    for (gint j = 0; j < t->nr; j++, y += t->pixel)
      for (gint i = 0; i < t->mr; i++)
        *(VF32 *)(y + i * CPU_LANES) = *s++;
    return;
  }
  for (gint j = 0; j < t->nr; j++, y += t->pixel, s += t->mr)
    memcpy (y, s, (gsize)t->channels * sizeof *y);
}

/* @at: the first element of the destination */
CPU_INLINE void
float_finish (const CpuFloatTile *t, gfloat *sums, gsize at)
{
  const CpuFloatConvRun *run = t->run;
  float_activate (&run->before, sums, t->mr * t->nr);
  if (run->slopes != NULL)
    float_slope (t, sums);
  if (run->residual != NULL)
    float_add_residual (t, sums, run->residual + at);
  float_activate (&run->after, sums, t->mr * t->nr);
  float_store (t, sums, run->y + at);
}
