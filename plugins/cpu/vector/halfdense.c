/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dense and grouped convolution in half precision, compiled for levels whose instructions compute
 * in it (docs/design/halves.md).
 *
 * Source and results are floats. What a part reads is laid out as halves, each of them twice, so
 * that one 32-bit load fills a vector. Products are summed in halves for a short run only, then as
 * floats. */
#include "level.h"

#define DENSE_SOURCE guint32
#define DENSE_WEIGHT guint16
#define DENSE_LANES (2 * CPU_LANES)
#define DENSE_SUMS (CPU_FLOAT_PIXELS * 2 * CPU_HALF_VECTORS * CPU_LANES)
#include "densetile.h"

/* Products that are summed as halves at most: their error grows with it, and what it costs to make
 * floats of the sums falls. */
#define RUN 96

#define LARGEST 65504.f

typedef _Float16 VF16 __attribute__ ((vector_size (CPU_VECTOR), aligned (2), may_alias));
typedef _Float16 VF16Part __attribute__ ((vector_size (CPU_VECTOR / 2), aligned (2), may_alias));

/* gcc 12 converts vectors of halves element by element, and warns of what plain forms leave
 * undefined: these are masked. */
#if defined(CPU_NEON)

CPU_INLINE VF32
floats_of (VF16Part x)
{
  return (VF32)vcvt_f32_f16 ((float16x4_t)x);
}

CPU_INLINE VU32
bits_of (VF32 x)
{
  return (VU32)vmovl_u16 (vreinterpret_u16_f16 (vcvt_f16_f32 ((float32x4_t)x)));
}

#else

CPU_INLINE VF32
floats_of (VF16Part x)
{
  return (VF32)_mm512_maskz_cvtph_ps (0xffff, (__m256i)x);
}

CPU_INLINE VU32
bits_of (VF32 x)
{
  return (VU32)_mm512_maskz_cvtepu16_epi32 (
      0xffff, _mm512_maskz_cvtps_ph (0xffff, (__m512)x, _MM_FROUND_TO_NEAREST_INT));
}

#endif

/* Pixels of a tile by its vectors of output channels: with two weights and a pixel they fill the
 * registers. */
static const gint tile_pixels[CPU_HALF_VECTORS] = { 12, 12 };

/* Adds @n elements of each of @nr pixels, times their weights. */
CPU_INLINE void
add_products (VF16 c[][CPU_FLOAT_PIXELS], const guint32 *q, gsize step, const guint16 *w, gint n,
              const guint16 *ahead, gint mr, gint nr)
{
  for (; n > 0; n--, q++, w += mr * DENSE_LANES, ahead += DENSE_LINE) {
    VF16 x[CPU_HALF_VECTORS];
    __builtin_prefetch (ahead, 0, 2);
#pragma GCC unroll 2
    for (gint i = 0; i < mr; i++)
      x[i] = *(const VF16 *)(gconstpointer)(w + i * DENSE_LANES);
#pragma GCC unroll 12
    for (gint j = 0; j < nr; j++) {
      VF16 b = (VF16)((VU32){ 0 } + q[(gsize)j * step]);
#pragma GCC unroll 2
      for (gint i = 0; i < mr; i++)
        c[i][j] += b * x[i];
    }
  }
}

/* Adds sums of halves, times their channel's factor, to those of floats. */
CPU_INLINE void
widen (CpuFloatSums *c, VF16 h[][CPU_FLOAT_PIXELS], const gfloat *factors, gint mr, gint nr)
{
#pragma GCC unroll 2
  for (gint i = 0; i < mr; i++) {
    VF32 low = vector_load (factors + 2 * i * CPU_LANES);
    VF32 high = vector_load (factors + (2 * i + 1) * CPU_LANES);
#pragma GCC unroll 12
    for (gint j = 0; j < nr; j++) {
      union {
        VF16 all;
        VF16Part part[2];
      } sums = { h[i][j] };
      c[2 * i][j] += floats_of (sums.part[0]) * low;
      c[2 * i + 1][j] += floats_of (sums.part[1]) * high;
    }
  }
}

/* Sums of @nr pixels, @step elements apart, and @mr vectors of channels. */
CPU_INLINE void
tile (const CpuFloatOut *out, const guint32 *p, gsize step, const Chunk *k, gint mr, gint nr)
{
  const guint16 *w = k->w, *ahead = k->ahead;
  CpuFloatSums c[2 * CPU_HALF_VECTORS];
  gint runs = (k->n + RUN - 1) / RUN;
  for (gint i = 0; i < 2 * mr; i++)
    for (gint j = 0; j < nr; j++)
      c[i][j] = *(const VF32 *)(k->from + (gsize)j * k->again + i * CPU_LANES);
  for (gint t = 0; t < k->n_taps; t++)
    for (gint r = 0; r < runs; r++) { /* of nearly the same length */
      gint first = k->n * r / runs, n = k->n * (r + 1) / runs - first;
      VF16 h[CPU_HALF_VECTORS][CPU_FLOAT_PIXELS];
#pragma GCC unroll 2
      for (gint i = 0; i < mr; i++)
#pragma GCC unroll 12
        for (gint j = 0; j < nr; j++)
          h[i][j] = (VF16){ 0 };
      add_products (h, p + k->taps[t] + first, step, w, n, ahead, mr, nr);
      widen (c, h, k->factors, mr, nr);
      w += n * mr * DENSE_LANES;
      ahead += n * DENSE_LINE;
    }
  float_put (out, c, 2 * mr, nr);
}

TO_12 (TILE, 1)
TO_12 (TILE, 2)
static const TileFunc tiles[CPU_HALF_VECTORS][CPU_FLOAT_PIXELS] = { { TO_12 (NAME, 1) },
                                                                    { TO_12 (NAME, 2) } };

/* What is larger than any half becomes the largest: it must not become infinite. */
CPU_INLINE VU32
pairs_of (VF32 x)
{
  VF32 limited = vector_clip (x, splat_float (-LARGEST), splat_float (LARGEST));
  VU32 bits = bits_of (limited);
  return bits | bits << 16;
}

static void
lay_elements (guint32 *to, const gfloat *from, gsize n)
{
  gsize i = 0;
  for (; i + CPU_LANES <= n; i += CPU_LANES)
    *(VU32 *)(to + i) = pairs_of (vector_load (from + i));
  if (i < n) {
    VU32 last = pairs_of (vector_load_part (from + i, (gint64)(n - i)));
    vector_store_part ((gfloat *)(gpointer)(to + i), (VF32)last, (gint64)(n - i));
  }
}

#include "densepanel.h"

void
CPU_NAME (cpu_half_dense) (const CpuConv *c, const CpuFloatConvRun *run, const CpuConvPart *part,
                           guint8 *scratch)
{
  run_panels (c, run, part, scratch);
}
