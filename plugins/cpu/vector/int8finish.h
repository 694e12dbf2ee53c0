/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums become results: requantised, as they are, or as floats with an activation. Included by the
 * sources that are compiled per instruction set; plain loops of a constant length, which the
 * compiler turns into vectors. */
#pragma once

#include "bytes.h"
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
    if (n == CPU_BYTES) {
      store_pixels (to_p, p0, p1, to_q, q0, q1, zero, lo, is_signed);
    } else {
      guint8 bytes[2][CPU_BYTES];
      store_pixels (bytes[0], p0, p1, bytes[1], q0, q1, zero, lo, is_signed);
      memcpy (to_p, bytes[0], (gsize)n);
      memcpy (to_q, bytes[1], (gsize)n);
    }
  }
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
