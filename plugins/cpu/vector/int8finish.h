/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums become results: requantised, as they are, or as floats with an activation. Included by the
 * sources that are compiled per instruction set. */
#pragma once

#include "bytes.h"
#include "int8.h"
#include "vectormath.h"
#include "vectorpart.h"

/* @nr pixels of @n channels; @width are there to be read: one vector or two. */
CPU_INLINE void
requantise (const CpuInt8Finish *f, guint8 *y, gsize stride, const gint32 *sum, const gfloat *scale,
            gint nr, gint width, gint n, gboolean is_signed)
{
  const VF32 hi = splat_float (f->hi);
  const gint zero = f->zero, lo = (gint)f->lo + zero;
  const gint second = width > CPU_LANES ? CPU_LANES : 0;
  const VF32 scale0 = *(const VF32 *)scale, scale1 = *(const VF32 *)(scale + second);
  for (gint j = 0; j < nr; j += 2) {
    gboolean more = j + 1 < nr; /* the last of an odd number is computed twice */
    const gint32 *p = sum + j * width, *q = p + more * width;
    guint8 *to_p = y + (gsize)j * stride, *to_q = to_p + more * stride;
    VI32 p0 = round_below (__builtin_convertvector(*(const VI32 *)p, VF32) * scale0, hi);
    VI32 p1 = round_below (__builtin_convertvector(*(const VI32 *)(p + second), VF32) * scale1, hi);
    VI32 q0 = round_below (__builtin_convertvector(*(const VI32 *)q, VF32) * scale0, hi);
    VI32 q1 = round_below (__builtin_convertvector(*(const VI32 *)(q + second), VF32) * scale1, hi);
    store_pixels (to_p, p0, p1, to_q, q0, q1, zero, lo, n, is_signed);
  }
}

/* Sums and scales lie in fours (cpu_int8_place()): @nr pixels of a vector of bytes, of which @n are
 * stored. */
CPU_INLINE void
requantise_fours (const CpuInt8Finish *f, guint8 *y, gsize stride, const gint32 *sum,
                  const gfloat *scale, gint nr, gint n, gboolean is_signed)
{
  const VF32 hi = splat_float (f->hi);
  const gint zero = f->zero, lo = (gint)f->lo + zero;
  VF32 by[4];
#pragma GCC unroll 4
  for (gint i = 0; i < 4; i++)
    by[i] = vector_load (scale + i * CPU_LANES);
  for (gint j = 0; j < nr; j++, y += stride) {
    VI32 v[4];
#pragma GCC unroll 4
    for (gint i = 0; i < 4; i++, sum += CPU_LANES)
      v[i] = round_below (__builtin_convertvector(*(const VI32 *)sum, VF32) * by[i], hi);
    store_fours (y, v, n, zero, lo, is_signed);
  }
}

CPU_INLINE void
finish_fours (const CpuInt8Finish *f, guint8 *y, gsize stride, const gint32 *sum,
              const gfloat *scale, gint nr, gint n)
{
  const gboolean is_signed = f->type == CPU_INT8_I8;
  if (n == CPU_VECTOR)
    requantise_fours (f, y, stride, sum, scale, nr, CPU_VECTOR, is_signed);
  else
    requantise_fours (f, y, stride, sum, scale, nr, n, is_signed);
}

CPU_INLINE void
finish_bytes (const CpuInt8Finish *f, guint8 *y, gsize stride, const gint32 *sum,
              const gfloat *scale, gint nr, gint width, gint n)
{
  const gboolean is_signed = f->type == CPU_INT8_I8;
  if (n == CPU_BYTES)
    requantise (f, y, stride, sum, scale, nr, width, CPU_BYTES, is_signed);
  else if (n == CPU_LANES)
    requantise (f, y, stride, sum, scale, nr, width, CPU_LANES, is_signed);
  else
    requantise (f, y, stride, sum, scale, nr, width, n, is_signed);
}

CPU_INLINE void
finish_floats (const CpuPost *post, CpuPostKind kind, gfloat *y, gsize stride, const gint32 *sum,
               const gfloat *scale, const gfloat *shift, gint nr, gint width, gint n)
{
  const VF32 alpha = splat_float (post->alpha), beta = splat_float (post->beta);
  for (gint j = 0; j < nr; j++, y += stride, sum += width)
    for (gint c = 0; c < n; c += CPU_LANES) {
      VF32 v = __builtin_convertvector(*(const VI32 *)(sum + c), VF32) * vector_load (scale + c);
      v = vector_function (kind, v + vector_load (shift + c), alpha, beta);
      if (n - c >= CPU_LANES)
        vector_store (y + c, v);
      else
        vector_store_part (y + c, v, n - c);
    }
}

static void
finish_f32 (const CpuPost *post, gfloat *y, gsize stride, const gint32 *sum, const gfloat *scale,
            const gfloat *shift, gint nr, gint width, gint n)
{
  switch ((gint)post->kind) {
#define CASE(name)                                                                                 \
  case CPU_POST_##name:                                                                            \
    finish_floats (post, CPU_POST_##name, y, stride, sum, scale, shift, nr, width, n);             \
    break;
    CPU_INT8_ACTIVATIONS (CASE)
    CASE (NONE)
#undef CASE
  default:
    break;
  }
}

/* @nr pixels of @n channels, @stride elements apart, the first at element @at; @sum has @width
 * channels a pixel. */
CPU_INLINE void
finish_tile (const CpuInt8Finish *f, gpointer y, gsize at, gsize stride, const gint32 *sum,
             const gfloat *scale, const gfloat *shift, gint nr, gint width, gint n)
{
  gfloat *to = (gfloat *)y + at;
  if (cpu_int8_makes_bytes (f))
    finish_bytes (f, (guint8 *)y + at, stride, sum, scale, nr, width, n);
  else if (f->type == CPU_INT8_F32)
    finish_f32 (&f->post, to, stride, sum, scale, shift, nr, width, n);
  else
    for (gint j = 0; j < nr; j++, to += stride, sum += width)
      memcpy (to, sum, (gsize)n * sizeof *sum);
}
