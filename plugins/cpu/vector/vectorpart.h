/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The first few floats of a vector, for the ends of rows: what lies behind is neither read nor
 * written. */
#pragma once

#include "vector.h"

#include <string.h>

/* @n: up to CPU_LANES. By powers of two: a call of memcpy() costs more. */
CPU_INLINE void
vector_copy_part (gfloat *to, const gfloat *from, gint64 n)
{
  gint at = 0;
#define COPY(some)                                                                                 \
  if (n & (some)) {                                                                                \
    memcpy (to + at, from + at, (some) * sizeof *to);                                              \
    at += (some);                                                                                  \
  }
#if CPU_LANES >= 16
  COPY (16)
#endif
#if CPU_LANES >= 8
  COPY (8)
#endif
#if CPU_LANES >= 4
  COPY (4)
#endif
  COPY (2)
  if (n & 1)
    to[at] = from[at];
#undef COPY
}

#if CPU_VECTOR == 64 && !defined(CPU_EMULATED) && defined(__AVX512F__)

/* @n: 1 to CPU_LANES. The others are those of @rest. */
CPU_INLINE VF32
vector_load_part_over (VF32 rest, const gfloat *x, gint64 n)
{
  return (VF32)_mm512_mask_loadu_ps ((__m512)rest, (__mmask16)((1u << n) - 1), x);
}

CPU_INLINE void
vector_store_part (gfloat *y, VF32 v, gint64 n)
{
  _mm512_mask_storeu_ps (y, (__mmask16)((1u << n) - 1), (__m512)v);
}

#else

/* @n: 1 to CPU_LANES. The others are those of @rest. Stores of single floats, read as a vector at
 * once, would wait for each other. */
CPU_INLINE VF32
vector_load_part_over (VF32 rest, const gfloat *x, gint64 n)
{
#if CPU_VECTOR == 32 && !defined(CPU_EMULATED)
  static const gint32 ends[] = { -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0 };
  __m256i mask = _mm256_loadu_si256 ((const __m256i *)(gconstpointer)(ends + 8 - n));
  return (VF32)_mm256_blendv_ps ((__m256)rest, _mm256_maskload_ps (x, mask), (__m256)mask);
#else
  for (gint64 i = 0; i < n; i++)
    rest[i] = x[i];
  return rest;
#endif
}

CPU_INLINE void
vector_store_part (gfloat *y, VF32 v, gint64 n)
{
  vector_copy_part (y, (const gfloat *)&v, n);
}

#endif

/* The others are 0. */
CPU_INLINE VF32
vector_load_part (const gfloat *x, gint64 n)
{
  return vector_load_part_over ((VF32){ 0 }, x, n);
}

CPU_INLINE VF32
vector_load (const gfloat *x)
{
  return *(const VF32 *)(gconstpointer)x;
}

CPU_INLINE void
vector_store (gfloat *y, VF32 v)
{
  *(VF32 *)(gpointer)y = v;
}
