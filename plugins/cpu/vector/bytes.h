/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Vectors of integers from bytes and to bytes. Two vectors side by side are the channels of one
 * pixel, since packing halves twice: what is packed in 128-bit lanes is put in order once. */
#pragma once

#include "vector.h"

#include <string.h>

#define CPU_BYTES (2 * CPU_LANES) /* of a pixel */

#if defined(CPU_EMULATED) || !defined(__SSE4_1__)

/* A vector of bytes. */
CPU_INLINE VI32
widen_bytes (const guint8 *x, gboolean is_signed)
{
  VI32 v = { 0 };
  for (gint i = 0; i < CPU_LANES; i++)
    v[i] = is_signed ? (gint8)x[i] : x[i];
  return v;
}

#if defined(CPU_NEON)

/* Of each lane the low half is a byte of @a, the high half the same byte of @b. */
CPU_INLINE void
interleave_bytes (VI32 *to, const guint8 *a, const guint8 *b, gboolean is_signed)
{
  uint8x8_t x = vld1_u8 (a), y = vld1_u8 (b), low = vzip1_u8 (x, y), high = vzip2_u8 (x, y);
  if (is_signed) {
    to[0] = (VI32)vmovl_s8 (vreinterpret_s8_u8 (low));
    to[1] = (VI32)vmovl_s8 (vreinterpret_s8_u8 (high));
  } else {
    to[0] = (VI32)vmovl_u8 (low);
    to[1] = (VI32)vmovl_u8 (high);
  }
}

CPU_INLINE void
store_pixel (guint8 *to, VI32 first, VI32 second, gint zero, gint lo)
{
  int32x4_t least = vdupq_n_s32 (lo), a = vmaxq_s32 ((int32x4_t)(first + zero), least);
  int32x4_t b = vmaxq_s32 ((int32x4_t)(second + zero), least);
  vst1_u8 (to, vreinterpret_u8_s8 (vmovn_s16 (vcombine_s16 (vmovn_s32 (a), vmovn_s32 (b)))));
}

#else

/* Of each lane the low half is a byte of @a, the high half the same byte of @b. */
CPU_INLINE void
interleave_bytes (VI32 *to, const guint8 *a, const guint8 *b, gboolean is_signed)
{
  for (gint i = 0; i < 2; i++, a += CPU_LANES, b += CPU_LANES)
    to[i] = (widen_bytes (a, is_signed) & 0xffff) | (widen_bytes (b, is_signed) << 16);
}

CPU_INLINE void
store_pixel (guint8 *to, VI32 first, VI32 second, gint zero, gint lo)
{
  for (gint i = 0; i < CPU_LANES; i++) {
    to[i] = (guint8)MAX (first[i] + zero, lo);
    to[CPU_LANES + i] = (guint8)MAX (second[i] + zero, lo);
  }
}

#endif

#if defined(CPU_NEON)

/* Bytes of four rows, @row bytes apart, become the lanes of four vectors, in the order of
 * cpu_int8_place(). Of rows that are not there they are 0. */
CPU_INLINE void
interleave_fours (VI32 to[4], const guint8 *x, gsize row, gint rows)
{
  uint8x16_t r[4] = { vld1q_u8 (x), vdupq_n_u8 (0), vdupq_n_u8 (0), vdupq_n_u8 (0) };
  for (gint i = 1; i < rows; i++)
    r[i] = vld1q_u8 (x + (gsize)i * row);
  uint16x8_t low = (uint16x8_t)vzip1q_u8 (r[0], r[1]), high = (uint16x8_t)vzip2q_u8 (r[0], r[1]);
  uint16x8_t low2 = (uint16x8_t)vzip1q_u8 (r[2], r[3]), high2 = (uint16x8_t)vzip2q_u8 (r[2], r[3]);
  to[0] = (VI32)vzip1q_u16 (low, low2);
  to[1] = (VI32)vzip2q_u16 (low, low2);
  to[2] = (VI32)vzip1q_u16 (high, high2);
  to[3] = (VI32)vzip2q_u16 (high, high2);
}

#else

CPU_INLINE void
interleave_fours (VI32 to[4], const guint8 *x, gsize row, gint rows)
{
  for (gint i = 0; i < CPU_VECTOR; i++) {
    guint32 four = 0;
    for (gint r = 0; r < rows; r++)
      four |= (guint32)x[(gsize)r * row + (gsize)i] << (8 * r);
    to[i / 4 % 4][i / 16 * 4 + i % 4] = (gint32)four;
  }
}

#endif

/* The first @n bytes of a vector of results of round_below() plus @zero, not less than @lo, which
 * lie in that order. */
CPU_INLINE void
store_fours (guint8 *to, const VI32 v[4], gint n, gint zero, gint lo, gboolean is_signed)
{
  (void)is_signed;
  for (gint i = 0; i < n; i++)
    to[i] = (guint8)MAX (v[i / 4 % 4][i / 16 * 4 + i % 4] + zero, lo);
}

/* @v, at most @hi, rounded half to even. What is too low or no number becomes very low. */
CPU_INLINE VI32
round_below (VF32 v, VF32 hi)
{
  const VF32 lo = splat_float (-65536);
  VI32 above = v > lo, below;
  v = (VF32)(((VI32)v & above) | ((VI32)lo & ~above));
  below = v < hi;
  v = (VF32)(((VI32)v & below) | ((VI32)hi & ~below));
  return (VI32)(v + 12582912.0f) - 0x4b400000; /* the last bit of this sum is 1 */
}

/* The first @n bytes of pixels of results of round_below() plus @zero, not less than @lo, which a
 * byte holds. */
CPU_INLINE void
store_pixels (guint8 *p, VI32 p0, VI32 p1, guint8 *q, VI32 q0, VI32 q1, gint zero, gint lo, gint n,
              gboolean is_signed)
{
  guint8 bytes[2][CPU_BYTES];
  (void)is_signed;
  if (n == CPU_BYTES) {
    store_pixel (p, p0, p1, zero, lo);
    store_pixel (q, q0, q1, zero, lo);
    return;
  }
  store_pixel (bytes[0], p0, p1, zero, lo);
  store_pixel (bytes[1], q0, q1, zero, lo);
  memcpy (p, bytes[0], (gsize)n);
  memcpy (q, bytes[1], (gsize)n);
}

#else

#if CPU_VECTOR == 16
#define V(name) _mm_##name
typedef __m128i Raw;
typedef __m128i_u UnalignedRaw;
#elif CPU_VECTOR == 32
#define V(name) _mm256_##name
typedef __m256i Raw;
typedef __m256i_u UnalignedRaw;
#else
#define V(name) _mm512_##name
typedef __m512i Raw;
typedef __m512i_u UnalignedRaw;
#endif

/* The first @n. */
CPU_INLINE void
store_bytes (guint8 *to, Raw v, gint n)
{
  if (n == CPU_VECTOR)
    *(UnalignedRaw *)(gpointer)to = v;
  else
#if CPU_VECTOR == 64
    _mm512_mask_storeu_epi8 (to, ((__mmask64)1 << n) - 1, v);
#else
    memcpy (to, &v, (gsize)n);
#endif
}

/* Likewise, of the lower half of a vector. */
#if CPU_VECTOR == 64
CPU_INLINE void
store_half (guint8 *to, __m256i v, gint n)
{
  if (n == CPU_BYTES)
    _mm256_storeu_si256 ((__m256i_u *)(gpointer)to, v);
  else
    _mm256_mask_storeu_epi8 (to, ((__mmask32)1 << n) - 1, v);
}
#else
CPU_INLINE void
store_half (guint8 *to, __m128i v, gint n)
{
  if (n == 16)
    _mm_storeu_si128 ((__m128i_u *)(gpointer)to, v);
  else if (n == 8)
    _mm_storel_epi64 ((__m128i_u *)(gpointer)to, v);
  else
    memcpy (to, &v, (gsize)n);
}
#endif

#if CPU_VECTOR == 16
CPU_INLINE Raw
widen (__m128i v, gboolean is_signed)
{
  return is_signed ? _mm_cvtepi8_epi16 (v) : _mm_cvtepu8_epi16 (v);
}

CPU_INLINE void
interleave_bytes (VI32 *to, const guint8 *a, const guint8 *b, gboolean is_signed)
{
  __m128i both = _mm_unpacklo_epi8 (_mm_loadu_si64 (a), _mm_loadu_si64 (b));
  to[0] = (VI32)widen (both, is_signed);
  to[1] = (VI32)widen (_mm_srli_si128 (both, 8), is_signed);
}

/* gcc 12 warns of what AVX-512's plain forms leave undefined: here and below they are masked. */
/* A vector of bytes. */
CPU_INLINE VI32
widen_bytes (const guint8 *x, gboolean is_signed)
{
  __m128i v = _mm_loadu_si32 (x);
  return (VI32)(is_signed ? _mm_cvtepi8_epi32 (v) : _mm_cvtepu8_epi32 (v));
}

#define MIN_PS(a, b) _mm_min_ps ((__m128)(a), (__m128)(b))
#define TO_INT _mm_cvtps_epi32
CPU_INLINE void
store_ordered (guint8 *p, guint8 *q, Raw v, gint n)
{
  store_half (p, v, n);
  store_half (q, _mm_unpackhi_epi64 (v, v), n);
}
#elif CPU_VECTOR == 32
CPU_INLINE Raw
widen (__m128i v, gboolean is_signed)
{
  return is_signed ? _mm256_cvtepi8_epi16 (v) : _mm256_cvtepu8_epi16 (v);
}

CPU_INLINE void
interleave_bytes (VI32 *to, const guint8 *a, const guint8 *b, gboolean is_signed)
{
  __m128i va = _mm_loadu_si128 ((const __m128i *)(gconstpointer)a);
  __m128i vb = _mm_loadu_si128 ((const __m128i *)(gconstpointer)b);
  to[0] = (VI32)widen (_mm_unpacklo_epi8 (va, vb), is_signed);
  to[1] = (VI32)widen (_mm_unpackhi_epi8 (va, vb), is_signed);
}

CPU_INLINE VI32
widen_bytes (const guint8 *x, gboolean is_signed)
{
  __m128i v = _mm_loadu_si64 (x);
  return (VI32)(is_signed ? _mm256_cvtepi8_epi32 (v) : _mm256_cvtepu8_epi32 (v));
}

#define MIN_PS(a, b) _mm256_min_ps ((__m256)(a), (__m256)(b))
#define TO_INT _mm256_cvtps_epi32
CPU_INLINE void
store_ordered (guint8 *p, guint8 *q, Raw v, gint n)
{
  v = _mm256_permutevar8x32_epi32 (v, _mm256_setr_epi32 (0, 4, 1, 5, 2, 6, 3, 7));
  store_half (p, _mm256_castsi256_si128 (v), n);
  store_half (q, _mm256_extracti128_si256 (v, 1), n);
}
#else
CPU_INLINE Raw
widen (__m256i v, gboolean is_signed)
{
  return is_signed ? _mm512_maskz_cvtepi8_epi16 ((__mmask32)-1, v)
                   : _mm512_maskz_cvtepu8_epi16 ((__mmask32)-1, v);
}

CPU_INLINE void
interleave_bytes (VI32 *to, const guint8 *a, const guint8 *b, gboolean is_signed)
{
  __m256i va = _mm256_loadu_si256 ((const __m256i_u *)(gconstpointer)a);
  __m256i vb = _mm256_loadu_si256 ((const __m256i_u *)(gconstpointer)b);
  __m256i lo = _mm256_unpacklo_epi8 (va, vb), hi = _mm256_unpackhi_epi8 (va, vb);
  to[0] = (VI32)widen (_mm256_permute2x128_si256 (lo, hi, 0x20), is_signed);
  to[1] = (VI32)widen (_mm256_permute2x128_si256 (lo, hi, 0x31), is_signed);
}

CPU_INLINE VI32
widen_bytes (const guint8 *x, gboolean is_signed)
{
  __m128i v = _mm_loadu_si128 ((const __m128i_u *)(gconstpointer)x);
  return (VI32)(is_signed ? _mm512_maskz_cvtepi8_epi32 (0xffff, v)
                          : _mm512_maskz_cvtepu8_epi32 (0xffff, v));
}

#define MIN_PS(a, b) _mm512_maskz_min_ps (0xffff, (__m512)(a), (__m512)(b))
#define TO_INT(v) _mm512_maskz_cvtps_epi32 (0xffff, v)
CPU_INLINE void
store_ordered (guint8 *p, guint8 *q, Raw v, gint n)
{
  const __m512i order = _mm512_setr_epi32 (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  v = _mm512_maskz_permutexvar_epi32 (0xffff, order, v);
  store_half (p, _mm512_maskz_extracti64x4_epi64 (0xf, v, 0), n);
  store_half (q, _mm512_maskz_extracti64x4_epi64 (0xf, v, 1), n);
}
#endif

/* The minimum's second source is what it gives for no number, and that converts to the least
 * integer, as does what is too low. */
CPU_INLINE VI32
round_below (VF32 v, VF32 hi)
{
  return (VI32)TO_INT (MIN_PS (hi, v));
}

CPU_INLINE void
store_pixels (guint8 *p, VI32 p0, VI32 p1, guint8 *q, VI32 q0, VI32 q1, gint zero, gint lo, gint n,
              gboolean is_signed)
{
  const Raw zeros = V (set1_epi16) ((gint16)zero), least = V (set1_epi8) ((gchar)lo);
  Raw a = V (adds_epi16) (V (packs_epi32) (M (p0), M (p1)), zeros);
  Raw b = V (adds_epi16) (V (packs_epi32) (M (q0), M (q1)), zeros);
  Raw v = is_signed ? V (max_epi8) (V (packs_epi16) (a, b), least)
                    : V (max_epu8) (V (packus_epi16) (a, b), least);
  store_ordered (p, q, v, n);
}

/* Bytes of four rows, @row bytes apart, become the lanes of four vectors, in the order of
 * cpu_int8_place(). Of rows that are not there they are 0. */
CPU_INLINE void
interleave_fours (VI32 to[4], const guint8 *x, gsize row, gint rows)
{
  Raw r[4] = { { 0 } };
#pragma GCC unroll 4
  for (gint i = 0; i < rows; i++)
    r[i] = *(const UnalignedRaw *)(gconstpointer)(x + (gsize)i * row);
  Raw low = V (unpacklo_epi8) (r[0], r[1]), high = V (unpackhi_epi8) (r[0], r[1]);
  Raw low2 = V (unpacklo_epi8) (r[2], r[3]), high2 = V (unpackhi_epi8) (r[2], r[3]);
  to[0] = (VI32)V (unpacklo_epi16) (low, low2);
  to[1] = (VI32)V (unpackhi_epi16) (low, low2);
  to[2] = (VI32)V (unpacklo_epi16) (high, high2);
  to[3] = (VI32)V (unpackhi_epi16) (high, high2);
}

/* The first @n bytes of a vector of results of round_below() plus @zero, not less than @lo, which
 * lie in that order. */
CPU_INLINE void
store_fours (guint8 *to, const VI32 v[4], gint n, gint zero, gint lo, gboolean is_signed)
{
  const Raw zeros = V (set1_epi16) ((gint16)zero), least = V (set1_epi8) ((gchar)lo);
  Raw a = V (adds_epi16) (V (packs_epi32) (M (v[0]), M (v[1])), zeros);
  Raw b = V (adds_epi16) (V (packs_epi32) (M (v[2]), M (v[3])), zeros);
  Raw all = is_signed ? V (max_epi8) (V (packs_epi16) (a, b), least)
                      : V (max_epu8) (V (packus_epi16) (a, b), least);
  store_bytes (to, all, n);
}

#endif
