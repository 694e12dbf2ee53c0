/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The first few floats of a vector, for the ends of rows: what lies behind is neither read nor
 * written. */
#pragma once

#include "vector.h"

#if CPU_VECTOR == 64 && !defined(CPU_EMULATED) && defined(__AVX512F__)

/* @n: 1 to CPU_LANES. The others are 0. */
CPU_INLINE VF32
vector_load_part (const gfloat *x, gint64 n)
{
  return (VF32)_mm512_maskz_loadu_ps ((__mmask16)((1u << n) - 1), x);
}

CPU_INLINE void
vector_store_part (gfloat *y, VF32 v, gint64 n)
{
  _mm512_mask_storeu_ps (y, (__mmask16)((1u << n) - 1), (__m512)v);
}

#else

CPU_INLINE VF32
vector_load_part (const gfloat *x, gint64 n)
{
  VF32 v = { 0 };
  for (gint64 i = 0; i < n; i++)
    v[i] = x[i];
  return v;
}

CPU_INLINE void
vector_store_part (gfloat *y, VF32 v, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    y[i] = v[i];
}

#endif

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
