/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a source that is compiled per instruction set stands on: vectors of CPU_VECTOR bytes in the
 * compilers' vector extensions, and the few products that need an instruction of their own.
 * Meson defines CPU_LEVEL (the suffix of everything exported), CPU_VECTOR, CPU_BASE for a level
 * that has of its own what another has no instructions for and takes the rest from that other, and
 * CPU_EMULATED for a level whose instructions are written out in C. */
#pragma once

#include <glib.h>

#if defined(__SSE4_1__) && !defined(CPU_EMULATED)
#include <immintrin.h>
#elif defined(__ARM_NEON) && !defined(CPU_EMULATED)
#define CPU_NEON
#include <arm_neon.h>
#endif

#define CPU_PASTE_(a, b) a##_##b
#define CPU_PASTE(a, b) CPU_PASTE_ (a, b)
#define CPU_NAME(name) CPU_PASTE (name, CPU_LEVEL)

#ifndef CPU_BASE
#define CPU_BASE CPU_LEVEL
#endif
#define CPU_BASE_NAME(name) CPU_PASTE (name, CPU_BASE)

#define CPU_LANES (CPU_VECTOR / 4)

/* Floats of what memory gives at once. */
#define CPU_LINE (64 / sizeof (gfloat))

#if CPU_VECTOR == 64 || defined(__aarch64__)
#define CPU_REGISTERS 32
#else
#define CPU_REGISTERS 16
#endif
#define CPU_INLINE static inline __attribute__ ((always_inline))

/* How many weights each product fetches of those that come next, a @line at most, so that all
 * @n_tiles together fetch them evenly: each product has @weights of its own. */
CPU_INLINE gsize
fetched_by_product (gsize weights, gsize n_tiles, gsize line)
{
  return MIN ((weights + n_tiles - 1) / n_tiles, line);
}

typedef gint32 VI32 __attribute__ ((vector_size (CPU_VECTOR), aligned (4), may_alias));
typedef guint32 VU32 __attribute__ ((vector_size (CPU_VECTOR), aligned (4), may_alias));
typedef gfloat VF32 __attribute__ ((vector_size (CPU_VECTOR), aligned (4), may_alias));

CPU_INLINE VI32
splat (gint32 v)
{
  return (VI32){ 0 } + v;
}

CPU_INLINE VF32
splat_float (gfloat v)
{
  return v - (VF32){ 0 }; /* not +, which would have to make 0 of -0 */
}

#if defined(CPU_NEON)

/* c + a.lo * b.lo + a.hi * b.hi of signed halves */
CPU_INLINE VI32
dot2 (VI32 c, VI32 a, VI32 b)
{
  int16x8_t x = vreinterpretq_s16_s32 ((int32x4_t)a), y = vreinterpretq_s16_s32 ((int32x4_t)b);
  int32x4_t low = vmull_s16 (vget_low_s16 (x), vget_low_s16 (y)), high = vmull_high_s16 (x, y);
  return c + (VI32)vpaddq_s32 (low, high);
}

#elif defined(CPU_EMULATED) || !defined(__SSE4_1__)

/* c + a.lo * b.lo + a.hi * b.hi of signed halves */
CPU_INLINE VI32
dot2 (VI32 c, VI32 a, VI32 b)
{
  return c + ((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16);
}

#else

#if CPU_VECTOR == 16
#define M(v) ((__m128i)(v))
#define MADD _mm_madd_epi16
#elif CPU_VECTOR == 32
#define M(v) ((__m256i)(v))
#define MADD _mm256_madd_epi16
#else
#define M(v) ((__m512i)(v))
#define MADD _mm512_madd_epi16
#endif

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
#elif defined(CPU_NEON) && defined(__ARM_FEATURE_DOTPROD)
#define CPU_DOT4 TRUE
#define CPU_DOT4_SIGNED TRUE
/* Both signed. */
CPU_INLINE VI32
dot4 (VI32 c, VI32 a, VI32 b)
{
  return (VI32)vdotq_s32 ((int32x4_t)c, vreinterpretq_s8_s32 ((int32x4_t)a),
                          vreinterpretq_s8_s32 ((int32x4_t)b));
}
#else
#define CPU_DOT4 FALSE
#endif

#ifndef CPU_DOT4_SIGNED
#define CPU_DOT4_SIGNED FALSE
#endif
