/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Vectors chosen by comparing, rounded, or of fewer elements. gcc 12's C has no ?: of vectors, and
 * of masks written out it does not make the one instruction that there is. */
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

#define EACH(name, func)                                                                           \
  CPU_INLINE VF32 vector_##name (VF32 x)                                                           \
  {                                                                                                \
    for (gint i = 0; i < CPU_LANES; i++)                                                           \
      x[i] = func (x[i]);                                                                          \
    return x;                                                                                      \
  }
EACH (sqrt, __builtin_sqrtf)
EACH (ceil, __builtin_ceilf)
EACH (floor, __builtin_floorf)
EACH (round, __builtin_rintf)
#undef EACH

#else

#define PASTE(a, b) a##b
#if CPU_VECTOR == 64
/* gcc 12 warns of what the plain forms leave undefined: these are masked. */
#define WIDE(name, ...) PASTE (_mm512_maskz_, name) (0xffff, __VA_ARGS__)
#define F(v) ((__m512)(v))
#define ROUND_PS roundscale_ps
#elif CPU_VECTOR == 32
#define WIDE(name, ...) PASTE (_mm256_, name) (__VA_ARGS__)
#define F(v) ((__m256)(v))
#define ROUND_PS round_ps
#else
#define WIDE(name, ...) PASTE (_mm_, name) (__VA_ARGS__)
#define F(v) ((__m128)(v))
#define ROUND_PS round_ps
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

#define ROUND(name, mode)                                                                          \
  CPU_INLINE VF32 vector_##name (VF32 x)                                                           \
  {                                                                                                \
    return (VF32)WIDE (ROUND_PS, F (x), mode | _MM_FROUND_NO_EXC);                                 \
  }
ROUND (ceil, _MM_FROUND_TO_POS_INF)
ROUND (floor, _MM_FROUND_TO_NEG_INF)
ROUND (round, _MM_FROUND_TO_NEAREST_INT)
#undef ROUND

#undef WIDE
#undef F
#undef ROUND_PS
#undef PASTE
#endif

CPU_INLINE VF32
vector_clip (VF32 x, VF32 lo, VF32 hi)
{
  return vector_at_most (vector_at_least (x, lo), hi);
}

/* @y, or no number where @x is none */
CPU_INLINE VF32
vector_unless_nan (VF32 x, VF32 y)
{
  return (VF32)((VI32)y | (x != x));
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

/* The first @n elements, fewer than a vector has; 0 behind them. */
CPU_INLINE VF32
vector_load_some (const gfloat *from, gint64 n)
{
#if defined(__AVX512F__) && CPU_VECTOR == 64 && !defined(CPU_EMULATED)
  return (VF32)_mm512_maskz_loadu_ps ((__mmask16)((1u << n) - 1), from);
#else
  gfloat part[CPU_LANES] = { 0 };
  for (gint64 i = 0; i < n; i++)
    part[i] = from[i];
  return *(const VF32 *)part;
#endif
}

CPU_INLINE void
vector_store_some (gfloat *to, VF32 v, gint64 n)
{
#if defined(__AVX512F__) && CPU_VECTOR == 64 && !defined(CPU_EMULATED)
  _mm512_mask_storeu_ps (to, (__mmask16)((1u << n) - 1), (__m512)v);
#else
  for (gint64 i = 0; i < n; i++)
    to[i] = v[i];
#endif
}
