/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What follows the sums of a tile: activations, slopes, a residual; and the way to memory. */
#pragma once

#include "floatconv.h"
#include "vectormath.h"

#include <math.h>
#include <string.h>

#define CPU_FLOAT_SUMS (24 * CPU_LANES)

typedef struct {
  const CpuFloatConvRun *run;
  gint mr, nr;   /* vectors of channels, pixels */
  gint channels; /* that there are: the last vector may have fewer */
  gsize pixel;   /* elements from one pixel of the destination to the next */
  gsize at;      /* the first channel's place in the arrays of the run */
} CpuFloatTile;

/* Where a tile's results go: to memory at once, if nothing but a sum and limits follows, or to a
 * place where float_finish () finds them. */
typedef struct {
  gfloat *y;
  gsize pixel;
  const gfloat *residual; /* nullable; as y lies */
  VF32 lo, hi;
} CpuFloatOut;

CPU_INLINE void
float_put (const CpuFloatOut *out, gsize at, VF32 v, gboolean add)
{
  if (add)
    v += *(const VF32 *)(out->residual + at);
  *(VF32 *)(out->y + at) = vector_at_most (vector_at_least (v, out->lo), out->hi);
}

static gboolean
float_is_limit (const CpuPost *post)
{
  return post->kind == CPU_POST_NONE || post->kind == CPU_POST_RELU || post->kind == CPU_POST_CLIP;
}

/* TRUE if a tile's results may go to memory at once. */
CPU_INLINE gboolean
float_is_plain (const CpuFloatTile *t)
{
  const CpuFloatConvRun *run = t->run;
  return t->channels == t->mr * CPU_LANES && run->slopes == NULL &&
         (run->residual == NULL || run->before.kind == CPU_POST_NONE) &&
         float_is_limit (&run->before) && float_is_limit (&run->after) &&
         (run->before.kind == CPU_POST_NONE || run->after.kind == CPU_POST_NONE);
}

CPU_INLINE CpuFloatOut
float_out_to (gfloat *sums, gsize pixel)
{
  return (CpuFloatOut){ sums, pixel, NULL, splat_float (-INFINITY), splat_float (INFINITY) };
}

/* @at: the first element of the destination */
CPU_INLINE CpuFloatOut
float_out_plain (const CpuFloatTile *t, gsize at)
{
  const CpuFloatConvRun *run = t->run;
  const CpuPost *post = run->before.kind != CPU_POST_NONE ? &run->before : &run->after;
  CpuFloatOut out = float_out_to (run->y + at, t->pixel);
  out.residual = run->residual ? run->residual + at : NULL;
  if (post->kind == CPU_POST_RELU)
    out.lo = splat_float (0);
  else if (post->kind == CPU_POST_CLIP) {
    out.lo = splat_float (post->alpha);
    out.hi = splat_float (post->beta);
  }
  return out;
}

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

/* Fewer elements than a vector has, by powers of two: a call of memcpy() costs more. */
CPU_INLINE void
float_copy_some (gfloat *to, const gfloat *from, gint n)
{
  gint at = 0;
#define COPY(some)                                                                                 \
  if (n & (some)) {                                                                                \
    memcpy (to + at, from + at, (some) * sizeof *to);                                              \
    at += (some);                                                                                  \
  }
#if CPU_LANES > 8
  COPY (8)
#endif
#if CPU_LANES > 4
  COPY (4)
#endif
  COPY (2)
  if (n & 1)
    to[at] = from[at];
#undef COPY
}

CPU_INLINE void
float_load_add (VF32 *to, const gfloat *from, gint n)
{
  VF32 v = splat_float (0);
  if (n >= CPU_LANES)
    v = *(const VF32 *)from;
  else
    float_copy_some ((gfloat *)&v, from, n);
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
  gint whole = t->channels / CPU_LANES, rest = t->channels % CPU_LANES;
  for (gint j = 0; j < t->nr; j++, y += t->pixel, s += t->mr) {
    for (gint i = 0; i < whole; i++)
      *(VF32 *)(y + i * CPU_LANES) = s[i];
    float_copy_some (y + whole * CPU_LANES, (const gfloat *)(s + whole), rest);
  }
}

/* @at: the first element of the destination */
CPU_INLINE void
float_finish (const CpuFloatTile *t, gfloat *sums, gsize at)
{
  const CpuFloatConvRun *run = t->run;
  float_activate (&run->before, sums, t->mr * t->nr);
  if (run->slopes != NULL && !run->slopes_last)
    float_slope (t, sums);
  if (run->residual != NULL)
    float_add_residual (t, sums, run->residual + at);
  if (run->slopes != NULL && run->slopes_last)
    float_slope (t, sums);
  float_activate (&run->after, sums, t->mr * t->nr);
  float_store (t, sums, run->y + at);
}
