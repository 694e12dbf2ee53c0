/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Halves and floats, compiled per instruction set: eight at once where there is an instruction. */
#include "../../../lib/base/axonhalf-private.h"
#include "level.h"

#ifdef __F16C__
#include <immintrin.h>
#define EIGHT 8
#else
#define EIGHT 0
#endif

static void
to_float (gfloat *restrict y, const guint16 *restrict x, gint64 n)
{
  gint64 i = 0;
#if EIGHT
  for (; i + EIGHT <= n; i += EIGHT)
    _mm256_storeu_ps (y + i, _mm256_cvtph_ps (_mm_loadu_si128 ((const __m128i *)(x + i))));
#endif
  for (; i < n; i++)
    y[i] = axon_half_to_float (x[i]);
}

static void
from_float (guint16 *restrict y, const gfloat *restrict x, gint64 n)
{
  gint64 i = 0;
#if EIGHT
  for (; i + EIGHT <= n; i += EIGHT)
    _mm_storeu_si128 ((__m128i *)(y + i),
                      _mm256_cvtps_ph (_mm256_loadu_ps (x + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < n; i++)
    y[i] = axon_float_to_half (x[i]);
}

const CpuHalf CPU_NAME (cpu_half) = { .to_float = to_float, .from_float = from_float };
