/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* By the processor's instructions where it has them, else by integers. */
#include "half.h"
#include "level.h"

#include <string.h>

#if defined(__F16C__) && !defined(CPU_EMULATED)
#define LANES 8

static inline void
load_halves (gfloat *restrict y, const guint16 *restrict x)
{
  _mm256_storeu_ps (y, _mm256_cvtph_ps (_mm_loadu_si128 ((const __m128i *)(gconstpointer)x)));
}

static inline void
store_halves (guint16 *restrict y, const gfloat *restrict x)
{
  _mm_storeu_si128 ((__m128i *)(gpointer)y,
                    _mm256_cvtps_ph (_mm256_loadu_ps (x), _MM_FROUND_TO_NEAREST_INT));
}

#elif defined(CPU_NEON)
#define LANES 4

static inline void
load_halves (gfloat *restrict y, const guint16 *restrict x)
{
  vst1q_f32 (y, vcvt_f32_f16 (vreinterpret_f16_u16 (vld1_u16 (x))));
}

static inline void
store_halves (guint16 *restrict y, const gfloat *restrict x)
{
  vst1_u16 (y, vreinterpret_u16_f16 (vcvt_f16_f32 (vld1q_f32 (x))));
}

#else
#define LANES 1

static inline gfloat
float_of_bits (guint32 bits)
{
  gfloat v;
  memcpy (&v, &bits, sizeof v);
  return v;
}

/* Halves without an exponent are multiples of 2^-24; as floats none is denormal, so that a thread
 * which flushes these keeps them. */
static inline void
load_halves (gfloat *restrict y, const guint16 *restrict x)
{
  guint32 rest = *x & 0x7fff, sign = (guint32)(*x & 0x8000) << 16, bits;
  gfloat small = (gfloat)(gint32)rest * 0x1p-24f;
  memcpy (&bits, &small, sizeof bits);
  if (rest >= 0x400)
    bits = (rest << 13) + (rest >= 0x7c00 ? 0x70000000 : 0x38000000);
  *y = float_of_bits (bits | sign);
}

/* Rounded by the addition of a number whose last place is the half's; what is too large becomes
 * infinite, what is no number stays so. */
static inline void
store_halves (guint16 *restrict y, const gfloat *restrict x)
{
  guint32 bits, sign, power, half;
  gfloat magnitude, rounded;
  memcpy (&bits, x, sizeof bits);
  sign = bits & 0x80000000u;
  bits ^= sign;
  magnitude = float_of_bits (bits) * 0x1p112f * 0x1p-110f;
  power = (bits & 0x7f800000) + 0x07800000;
  rounded = magnitude + float_of_bits (MAX (power, 0x40000000u));
  memcpy (&half, &rounded, sizeof half);
  half = (half >> 13 & 0x7c00) + (half & 0x0fff);
  *y = (guint16)(sign >> 16 | (bits > 0x7f800000 ? 0x7e00 : half));
}
#endif

static void
to_floats (gfloat *restrict y, const guint16 *restrict x, gint64 n)
{
  gint64 i = 0;
  for (; i + LANES <= n; i += LANES)
    load_halves (y + i, x + i);
  for (; i < n; i++) {
    guint16 part[LANES] = { x[i] };
    gfloat wide[LANES];
    load_halves (wide, part);
    y[i] = wide[0];
  }
}

static void
from_floats (guint16 *restrict y, const gfloat *restrict x, gint64 n)
{
  gint64 i = 0;
  for (; i + LANES <= n; i += LANES)
    store_halves (y + i, x + i);
  for (; i < n; i++) {
    gfloat part[LANES] = { x[i] };
    guint16 narrow[LANES];
    store_halves (narrow, part);
    y[i] = narrow[0];
  }
}

const CpuHalf CPU_NAME (cpu_half) = { to_floats, from_floats };
