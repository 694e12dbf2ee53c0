/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a source that is compiled per instruction set stands on: vectors of CPU_VECTOR bytes in the
 * compilers' vector extensions, and the few products that need an instruction of their own.
 * Meson defines CPU_LEVEL (the suffix of everything exported), CPU_VECTOR, and CPU_EMULATED for a
 * level whose instructions are written out in C. */
#pragma once

#include <glib.h>

#if defined(__SSE4_1__) && !defined(CPU_EMULATED)
#include <immintrin.h>
#endif

#define CPU_PASTE_(a, b) a##_##b
#define CPU_PASTE(a, b) CPU_PASTE_ (a, b)
#define CPU_NAME(name) CPU_PASTE (name, CPU_LEVEL)

#define CPU_LANES (CPU_VECTOR / 4)
#define CPU_INLINE static inline __attribute__ ((always_inline))

typedef gint32 VI32 __attribute__ ((vector_size (CPU_VECTOR), aligned (4), may_alias));
typedef gfloat VF32 __attribute__ ((vector_size (CPU_VECTOR), aligned (4), may_alias));
typedef gint8 VI8 __attribute__ ((vector_size (CPU_LANES), aligned (1), may_alias));
typedef guint8 VU8 __attribute__ ((vector_size (CPU_LANES), aligned (1), may_alias));

CPU_INLINE VI32
splat (gint32 v)
{
  return (VI32){ 0 } + v;
}

CPU_INLINE VF32
splat_float (gfloat v)
{
  return (VF32){ 0 } + v;
}

#if defined(CPU_EMULATED) || !defined(__SSE4_1__)

/* @v within @lo and @hi; what is no number becomes @lo */
CPU_INLINE VF32
clamp (VF32 v, VF32 lo, VF32 hi)
{
  VI32 above = v > lo, below;
  v = (VF32)(((VI32)v & above) | ((VI32)lo & ~above));
  below = v < hi;
  return (VF32)(((VI32)v & below) | ((VI32)hi & ~below));
}

/* Half to even, for less than 2^22: the sum's last bit is 1. */
CPU_INLINE VI32
round_to_int (VF32 v)
{
  return (VI32)(v + 12582912.0f) - 0x4b400000;
}

/* c + a.lo * b.lo + a.hi * b.hi of signed halves */
CPU_INLINE VI32
dot2 (VI32 c, VI32 a, VI32 b)
{
  return c + ((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16);
}

#else

#if CPU_VECTOR == 16
#define M(v) ((__m128i)(v))
#define MF(v) ((__m128)(v))
#define MADD _mm_madd_epi16
#define MAXF _mm_max_ps
#define MINF _mm_min_ps
#define ROUND _mm_cvtps_epi32
#elif CPU_VECTOR == 32
#define M(v) ((__m256i)(v))
#define MF(v) ((__m256)(v))
#define MADD _mm256_madd_epi16
#define MAXF _mm256_max_ps
#define MINF _mm256_min_ps
#define ROUND _mm256_cvtps_epi32
#else
#define M(v) ((__m512i)(v))
#define MF(v) ((__m512)(v))
#define MADD _mm512_madd_epi16
#define MAXF(a, b)                                                                                 \
  _mm512_maskz_max_ps (0xffff, a, b) /* gcc 12 warns of what the plain one leaves undefined */
#define MINF(a, b) _mm512_maskz_min_ps (0xffff, a, b)
#define ROUND(v) _mm512_maskz_cvtps_epi32 (0xffff, v)
#endif

CPU_INLINE VF32
clamp (VF32 v, VF32 lo, VF32 hi)
{
  return (VF32)MINF (MAXF (MF (v), MF (lo)), MF (hi));
}

CPU_INLINE VI32
round_to_int (VF32 v)
{
  return (VI32)ROUND (MF (v));
}

CPU_INLINE VI32
dot2 (VI32 c, VI32 a, VI32 b)
{
#if CPU_VECTOR == 64 && defined(__AVX512VNNI__)
  return (VI32)_mm512_dpwssd_epi32 (M (c), M (a), M (b));
#elif CPU_VECTOR == 32 && defined(__AVXVNNI__)
  return (VI32)_mm256_dpwssd_avx_epi32 (M (c), M (a), M (b));
#else
  return c + (VI32)MADD (M (a), M (b));
#endif
}
#endif

/* c + the sum of four products, a unsigned, b signed */
#if defined(CPU_EMULATED)
#define CPU_DOT4 TRUE
CPU_INLINE VI32
dot4 (VI32 c, VI32 a, VI32 b)
{
  return c + (a & 0xff) * ((b << 24) >> 24) + ((a >> 8) & 0xff) * ((b << 16) >> 24) +
         ((a >> 16) & 0xff) * ((b << 8) >> 24) + ((a >> 24) & 0xff) * (b >> 24);
}
#elif CPU_VECTOR == 64 && defined(__AVX512VNNI__)
#define CPU_DOT4 TRUE
CPU_INLINE VI32
dot4 (VI32 c, VI32 a, VI32 b)
{
  return (VI32)_mm512_dpbusd_epi32 (M (c), M (a), M (b));
}
#elif CPU_VECTOR == 32 && defined(__AVXVNNI__)
#define CPU_DOT4 TRUE
CPU_INLINE VI32
dot4 (VI32 c, VI32 a, VI32 b)
{
  return (VI32)_mm256_dpbusd_avx_epi32 (M (c), M (a), M (b));
}
#else
#define CPU_DOT4 FALSE
#endif

/* As many bytes as there are lanes, widened. */
CPU_INLINE VI32
load_u8 (const guint8 *x)
{
#if defined(CPU_EMULATED) || !defined(__SSE4_1__)
  return __builtin_convertvector(*(const VU8 *)x, VI32);
#elif CPU_VECTOR == 16
  return (VI32)_mm_cvtepu8_epi32 (_mm_loadu_si32 (x));
#elif CPU_VECTOR == 32
  return (VI32)_mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const __m128i *)(gconstpointer)x));
#else
  return (VI32)_mm512_maskz_cvtepu8_epi32 (0xffff,
                                           _mm_loadu_si128 ((const __m128i *)(gconstpointer)x));
#endif
}

/* Two vectors of integers that fit, as bytes. */
CPU_INLINE void
store_bytes (guint8 *to, VI32 a, VI32 b)
{
#if !defined(CPU_EMULATED) && defined(__SSE4_1__) && CPU_VECTOR == 32
  __m256i v = _mm256_packs_epi32 (M (a), M (b)); /* lanes of 128 bits: a0 b0 a1 b1 */
  v = _mm256_shuffle_epi8 (_mm256_permute4x64_epi64 (v, 0xd8),
                           _mm256_setr_epi8 (0, 2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1,
                                             -1, 0, 2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1,
                                             -1, -1));
  _mm_storeu_si128 ((__m128i *)(gpointer)to,
                    _mm256_castsi256_si128 (_mm256_permute4x64_epi64 (v, 0x08)));
#elif !defined(CPU_EMULATED) && defined(__SSE4_1__) && CPU_VECTOR == 16
  __m128i v =
      _mm_shuffle_epi8 (_mm_packs_epi32 (M (a), M (b)),
                        _mm_setr_epi8 (0, 2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1, -1));
  _mm_storel_epi64 ((__m128i *)(gpointer)to, v);
#else
  *(VI8 *)to = __builtin_convertvector(a, VI8);
  *(VI8 *)(to + CPU_LANES) = __builtin_convertvector(b, VI8);
#endif
}
