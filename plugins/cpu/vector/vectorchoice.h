/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Vectors chosen by comparing. gcc 12's C has no ?: of vectors, and of masks written out it does
 * not make the one instruction that there is. */
#pragma once

#include "vector.h"

#if defined(CPU_EMULATED) || !defined(__SSE4_1__)

/* x < y ? then : otherwise */
CPU_INLINE VF32
vector_if_less (VF32 x, VF32 y, VF32 then, VF32 otherwise)
{
  VI32 less = x < y;
  return (VF32)((less & (VI32)then) | (~less & (VI32)otherwise));
}

/* The larger; @x where it is no number. */
CPU_INLINE VF32
vector_at_least (VF32 x, VF32 lo)
{
  return vector_if_less (x, lo, lo, x);
}

/* The smaller; @x where it is no number. */
CPU_INLINE VF32
vector_at_most (VF32 x, VF32 hi)
{
  return vector_if_less (hi, x, hi, x);
}

CPU_INLINE VF32
vector_sqrt (VF32 x)
{
  for (gint i = 0; i < CPU_LANES; i++)
    x[i] = __builtin_sqrtf (x[i]);
  return x;
}

#else

#if CPU_VECTOR == 64
/* gcc 12 warns of what the plain forms leave undefined: these are masked. */
#define WIDE(name, ...) _mm512_maskz_##name (0xffff, __VA_ARGS__)
#define F(v) ((__m512)(v))
#elif CPU_VECTOR == 32
#define WIDE(name, ...) _mm256_##name (__VA_ARGS__)
#define F(v) ((__m256)(v))
#else
#define WIDE(name, ...) _mm_##name (__VA_ARGS__)
#define F(v) ((__m128)(v))
#endif

CPU_INLINE VF32
vector_if_less (VF32 x, VF32 y, VF32 then, VF32 otherwise)
{
#if CPU_VECTOR == 64
  return (VF32)_mm512_mask_blend_ps (_mm512_cmp_ps_mask (F (x), F (y), _CMP_LT_OQ), F (otherwise),
                                     F (then));
#else
  return (VF32)WIDE (blendv_ps, F (otherwise), F (then), F (x < y));
#endif
}

/* The instructions give their second source where one is no number. */
CPU_INLINE VF32
vector_at_least (VF32 x, VF32 lo)
{
  return (VF32)WIDE (max_ps, F (lo), F (x));
}

CPU_INLINE VF32
vector_at_most (VF32 x, VF32 hi)
{
  return (VF32)WIDE (min_ps, F (hi), F (x));
}

CPU_INLINE VF32
vector_sqrt (VF32 x)
{
  return (VF32)WIDE (sqrt_ps, F (x));
}

#undef WIDE
#undef F
#endif

CPU_INLINE VF32
vector_clip (VF32 x, VF32 lo, VF32 hi)
{
  return vector_at_most (vector_at_least (x, lo), hi);
}

CPU_INLINE VF32
vector_abs (VF32 x)
{
  return (VF32)((VI32)x & G_MAXINT32);
}

/* @x, which is not negative, with the sign of @sign */
CPU_INLINE VF32
vector_copy_sign (VF32 x, VF32 sign)
{
  return (VF32)((VI32)x | ((VI32)sign & G_MININT32));
}
