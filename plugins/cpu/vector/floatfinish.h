/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What follows the sums of a tile: activations, slopes, a residual; and the way to memory. */
#pragma once

#include "floatconv.h"
#include "level.h"
#include "vectormath.h"
#include "vectorpart.h"

#include <math.h>
#include <string.h>

#define CPU_FLOAT_SUMS (24 * CPU_LANES)

typedef struct {
  const CpuFloatConvRun *run;
  gint mr, nr;          /* vectors of channels, pixels */
  gint channels;        /* that there are: the last vectors may have fewer, or none */
  gsize pixel, vector;  /* elements from one pixel, and vector, of the destination to the next */
  const gfloat *slopes; /* from the first channel on; NULL: none */
} CpuFloatTile;

/* Where a tile's results go: to memory at once, if nothing but slopes, a sum and limits or a hard
 * swish follows, or to a place where float_finish () finds them. */
typedef struct {
  gfloat *y;
  gsize pixel, vector;
  const gfloat *residual; /* nullable; as y lies */
  const gfloat *slopes;   /* nullable; below 0, before the residual is added or after it */
  gboolean slopes_last, hard_swish;
  gint last; /* channels of the last vector */
  VF32 lo, hi;
} CpuFloatOut;

typedef VF32 CpuFloatSums[CPU_FLOAT_PIXELS]; /* of a vector of channels */

CPU_INLINE VF32
float_limit (const CpuFloatOut *out, VF32 v)
{
  return vector_at_most (vector_at_least (v, out->lo), out->hi);
}

/* @out: a copy, which no store may change, so that limits stay in registers. */
CPU_INLINE void
float_put_whole (const CpuFloatOut out, CpuFloatSums *c, gint mr, gint nr)
{
#pragma GCC unroll 12
  for (gint j = 0; j < nr; j++)
#pragma GCC unroll 4
    for (gint i = 0; i < mr; i++)
      vector_store (out.y + (gsize)j * out.pixel + (gsize)i * out.vector,
                    float_limit (&out, c[i][j]));
}

CPU_INLINE void
float_put_part (const CpuFloatOut out, CpuFloatSums *c, gint mr, gint nr)
{
#pragma GCC unroll 12
  for (gint j = 0; j < nr; j++) {
    gfloat *y = out.y + (gsize)j * out.pixel;
#pragma GCC unroll 4
    for (gint i = 0; i < mr - 1; i++)
      vector_store (y + (gsize)i * out.vector, float_limit (&out, c[i][j]));
    vector_store_part (y + (gsize)(mr - 1) * out.vector, float_limit (&out, c[mr - 1][j]),
                       out.last);
  }
}

/* x < 0 ? slope * x : x, a slope for each channel */
CPU_INLINE void
float_slope_sums (const gfloat *slopes, CpuFloatSums *c, gint mr, gint nr)
{
#pragma GCC unroll 4
  for (gint i = 0; i < mr; i++) {
    VF32 slope = vector_load (slopes + i * CPU_LANES);
#pragma GCC unroll 12
    for (gint j = 0; j < nr; j++)
      c[i][j] = vector_if_less (c[i][j], splat_float (0), slope * c[i][j], c[i][j]);
  }
}

CPU_INLINE void
float_hard_swish_sums (CpuFloatSums *c, gint mr, gint nr)
{
#pragma GCC unroll 4
  for (gint i = 0; i < mr; i++)
#pragma GCC unroll 12
    for (gint j = 0; j < nr; j++)
      c[i][j] = vector_hard_swish (c[i][j]);
}

CPU_INLINE void
float_add_to_sums (const CpuFloatOut *out, CpuFloatSums *c, gint mr, gint nr)
{
  const gint last = out->last;
#pragma GCC unroll 12
  for (gint j = 0; j < nr; j++) {
    const gfloat *from = out->residual + (gsize)j * out->pixel;
#pragma GCC unroll 4
    for (gint i = 0; i < mr - 1; i++)
      c[i][j] += vector_load (from + (gsize)i * out->vector);
    from += (gsize)(mr - 1) * out->vector;
    c[mr - 1][j] += last < CPU_LANES ? vector_load_part (from, last) : vector_load (from);
  }
}

/* Sums of @nr pixels and @mr vectors of channels, which are in registers. */
CPU_INLINE void
float_put (const CpuFloatOut *out, CpuFloatSums *c, gint mr, gint nr)
{
  if (out->slopes != NULL && !out->slopes_last)
    float_slope_sums (out->slopes, c, mr, nr);
  if (out->residual != NULL)
    float_add_to_sums (out, c, mr, nr);
  if (out->slopes != NULL && out->slopes_last)
    float_slope_sums (out->slopes, c, mr, nr);
  if (out->hard_swish)
    float_hard_swish_sums (c, mr, nr);
  if (out->last < CPU_LANES)
    float_put_part (*out, c, mr, nr);
  else
    float_put_whole (*out, c, mr, nr);
}

/* TRUE for what takes a few instructions. */
static gboolean
float_is_short (const CpuPost *post)
{
  return post->kind == CPU_POST_NONE || post->kind == CPU_POST_RELU ||
         post->kind == CPU_POST_CLIP || post->kind == CPU_POST_HARD_SWISH;
}

/* TRUE if a tile's results may go to memory at once. */
CPU_INLINE gboolean
float_is_plain (const CpuFloatTile *t)
{
  const CpuFloatConvRun *run = t->run;
  return t->channels > (t->mr - 1) * CPU_LANES &&
         (run->residual == NULL || run->before.kind == CPU_POST_NONE) &&
         float_is_short (&run->before) && float_is_short (&run->after) &&
         (run->before.kind == CPU_POST_NONE || run->after.kind == CPU_POST_NONE);
}

CPU_INLINE CpuFloatOut
float_out_to (gfloat *sums, gsize pixel)
{
  return (CpuFloatOut){ .y = sums,
                        .pixel = pixel,
                        .vector = CPU_LANES,
                        .last = CPU_LANES,
                        .lo = splat_float (-INFINITY),
                        .hi = splat_float (INFINITY) };
}

/* To the first element of the destination: float_out_move () says where else. */
CPU_INLINE CpuFloatOut
float_out_plain (const CpuFloatTile *t)
{
  const CpuFloatConvRun *run = t->run;
  const CpuPost *post = run->before.kind != CPU_POST_NONE ? &run->before : &run->after;
  CpuFloatOut out = float_out_to (run->y, t->pixel);
  out.vector = t->vector;
  out.residual = run->residual;
  out.slopes = t->slopes;
  out.slopes_last = run->slopes_last;
  out.last = t->channels - (t->mr - 1) * CPU_LANES;
  out.hard_swish = post->kind == CPU_POST_HARD_SWISH;
  if (post->kind == CPU_POST_RELU)
    out.lo = splat_float (0);
  else if (post->kind == CPU_POST_CLIP) {
    out.lo = splat_float (post->alpha);
    out.hi = splat_float (post->beta);
  }
  return out;
}

/* @at: the first element of the destination. What is the same for all tiles stays: a vector that
 * was written in parts is not read again at once without waiting. */
CPU_INLINE void
float_out_move (CpuFloatOut *out, const CpuFloatConvRun *run, gsize at)
{
  out->y = run->y + at;
  out->residual = run->residual ? run->residual + at : NULL;
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

/* As float_slope_sums () */
CPU_INLINE void
float_slope (const CpuFloatTile *t, gfloat *sums)
{
  VF32 *s = (VF32 *)(gpointer)sums;
  for (gint i = 0; i < t->mr; i++) {
    VF32 slope = vector_load (t->slopes + i * CPU_LANES);
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
  else if (n > 0)
    vector_copy_part ((gfloat *)&v, from, n);
  *to += v;
}

static void
float_add_residual (const CpuFloatTile *t, gfloat *sums, const gfloat *residual)
{
  VF32 *s = (VF32 *)(gpointer)sums;
  for (gint j = 0; j < t->nr; j++, residual += t->pixel)
    for (gint i = 0; i < t->mr; i++, s++)
      float_load_add (s, residual + (gsize)i * t->vector, t->channels - i * CPU_LANES);
}

CPU_INLINE void
float_store_all (const CpuFloatTile *t, const gfloat *sums, gfloat *y, gint kind, VF32 alpha,
                 VF32 beta)
{
  const VF32 *s = (const VF32 *)(gconstpointer)sums;
  gint whole = t->channels / CPU_LANES, rest = t->channels % CPU_LANES;
  for (gint j = 0; j < t->nr; j++, y += t->pixel, s += t->mr) {
    for (gint i = 0; i < whole; i++)
      *(VF32 *)(y + (gsize)i * t->vector) = vector_function (kind, s[i], alpha, beta);
    if (rest > 0) {
      VF32 last = vector_function (kind, s[whole], alpha, beta);
      vector_store_part (y + (gsize)whole * t->vector, last, rest);
    }
  }
}

/* What short functions and the commonest of the others make of the sums goes to memory at once. */
static void
float_store (const CpuFloatTile *t, const CpuPost *post, gfloat *sums, gfloat *y)
{
  const VF32 alpha = splat_float (post->alpha), beta = splat_float (post->beta);
  switch ((gint)post->kind) {
#define CASE(name)                                                                                 \
  case CPU_POST_##name:                                                                            \
    float_store_all (t, sums, y, CPU_POST_##name, alpha, beta);                                    \
    break;
    CASE (RELU)
    CASE (CLIP)
    CASE (SILU)
    CASE (HARD_SWISH)
#undef CASE
  default:
    float_activate (post, sums, t->mr * t->nr);
    float_store_all (t, sums, y, CPU_POST_NONE, alpha, beta);
  }
}

/* @at: the first element of the destination */
CPU_INLINE void
float_finish (const CpuFloatTile *t, gfloat *sums, gsize at)
{
  const CpuFloatConvRun *run = t->run;
  const CpuPost *last = &run->after;
  if (last->kind == CPU_POST_NONE && t->slopes == NULL && run->residual == NULL)
    last = &run->before;
  else
    float_activate (&run->before, sums, t->mr * t->nr);
  if (t->slopes != NULL && !run->slopes_last)
    float_slope (t, sums);
  if (run->residual != NULL)
    float_add_residual (t, sums, run->residual + at);
  if (t->slopes != NULL && run->slopes_last)
    float_slope (t, sums);
  float_store (t, last, sums, run->y + at);
}

/* @n elements side by side, the first of which is element @at of the destination; behind @sums
 * there is room for a vector. */
static inline void
float_finish_row (const CpuFloatConvRun *run, gfloat *sums, gint n, gsize at)
{
  gint vectors = (n + CPU_LANES - 1) / CPU_LANES;
  float_activate (&run->before, sums, vectors);
  if (run->residual != NULL)
    for (gint i = 0; i < n; i += CPU_LANES)
      float_load_add ((VF32 *)(gpointer)(sums + i), run->residual + at + i, n - i);
  float_activate (&run->after, sums, vectors);
  memcpy (run->y + at, sums, (gsize)n * sizeof *sums);
}
