/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums become results: requantised, as they are, or as floats with an activation. Included by the
 * sources that are compiled per instruction set; plain loops of a constant length, which the
 * compiler turns into vectors. */
#pragma once

#include "exp.h"
#include "int8.h"

CPU_INLINE gfloat
sigmoid (gfloat x)
{
  gfloat e = exp_negative (x < 0 ? x : -x), d = 1 / (1 + e);
  return x < 0 ? e * d : d;
}

CPU_INLINE gfloat
activate (CpuInt8Activation kind, gfloat v, gfloat alpha, gfloat beta)
{
  switch (kind) {
  case CPU_INT8_CLIP:
    v = v > alpha ? v : alpha;
    return v < beta ? v : beta;
  case CPU_INT8_LEAKY:
    return v < 0 ? v * alpha : v;
  case CPU_INT8_SIGMOID:
    return sigmoid (v);
  case CPU_INT8_SWISH:
    return v * sigmoid (alpha * v);
  case CPU_INT8_LINEAR:
  default:
    return v;
  }
}

CPU_INLINE VI32
requantise (const gint32 *sum, const gfloat *scale, VF32 lo, VF32 hi, VI32 zero)
{
  VF32 v = __builtin_convertvector(*(const VI32 *)sum, VF32) * *(const VF32 *)scale;
  return round_to_int (clamp (v, lo, hi)) + zero;
}

/* @nr pixels of @n channels; @width are there to be read: one vector or two. */
CPU_INLINE void
finish_bytes (const CpuInt8Finish *f, guint8 *y, gsize stride, const gint32 *sum,
              const gfloat *scale, gint nr, gint width, gint n)
{
  const VF32 lo = splat_float (f->lo), hi = splat_float (f->hi);
  const VI32 zero = splat (f->zero);
  gint second = width > CPU_LANES ? CPU_LANES : 0;
  for (gint j = 0; j < nr; j++, y += stride, sum += width) {
    VI32 a = requantise (sum, scale, lo, hi, zero);
    VI32 b = requantise (sum + second, scale + second, lo, hi, zero);
    if (n == 2 * CPU_LANES) {
      store_bytes (y, a, b);
    } else {
      guint8 bytes[2 * CPU_LANES];
      store_bytes (bytes, a, b);
      memcpy (y, bytes, (gsize)n);
    }
  }
}

CPU_INLINE void
finish_f32 (gfloat *restrict y, const gint32 *restrict sum, const gfloat *restrict scale,
            const gfloat *restrict shift, const CpuInt8Finish *f, CpuInt8Activation kind, gint n)
{
  const gfloat alpha = f->alpha, beta = f->beta;
  for (gint c = 0; c < n; c++)
    y[c] = activate (kind, (gfloat)sum[c] * scale[c] + shift[c], alpha, beta);
}

CPU_INLINE void
finish_pixel (const CpuInt8Finish *f, gfloat *y, const gint32 *sum, const gfloat *scale,
              const gfloat *shift, gint n)
{
  switch (f->activation) {
  case CPU_INT8_CLIP:
    finish_f32 (y, sum, scale, shift, f, CPU_INT8_CLIP, n);
    break;
  case CPU_INT8_LEAKY:
    finish_f32 (y, sum, scale, shift, f, CPU_INT8_LEAKY, n);
    break;
  case CPU_INT8_SIGMOID:
    finish_f32 (y, sum, scale, shift, f, CPU_INT8_SIGMOID, n);
    break;
  case CPU_INT8_SWISH:
    finish_f32 (y, sum, scale, shift, f, CPU_INT8_SWISH, n);
    break;
  case CPU_INT8_LINEAR:
  default:
    finish_f32 (y, sum, scale, shift, f, CPU_INT8_LINEAR, n);
  }
}

/* @nr pixels of @n channels, @stride elements apart, the first at element @at; @sum has @width
 * channels a pixel. Whole vectors are loops of a constant length. */
CPU_INLINE void
finish_tile (const CpuInt8Finish *f, gpointer y, gsize at, gsize stride, const gint32 *sum,
             const gfloat *scale, const gfloat *shift, gint nr, gint width, gint n)
{
  gfloat *to = (gfloat *)y + at;
  if (f->type == CPU_INT8_U8 || f->type == CPU_INT8_I8) {
    finish_bytes (f, (guint8 *)y + at, stride, sum, scale, nr, width, n);
    return;
  }
  for (gint j = 0; j < nr; j++, to += stride, sum += width) {
    if (f->type == CPU_INT8_I32)
      memcpy (to, sum, (gsize)n * sizeof *sum);
    else if (n == 2 * CPU_LANES)
      finish_pixel (f, to, sum, scale, shift, 2 * CPU_LANES);
    else if (n == CPU_LANES)
      finish_pixel (f, to, sum, scale, shift, CPU_LANES);
    else
      finish_pixel (f, to, sum, scale, shift, n);
  }
}
