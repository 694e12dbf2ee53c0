/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dense and grouped convolution in half precision, compiled for levels whose instructions compute
 * in it (docs/design/halves.md).
 *
 * Source and results are floats. What a part reads is laid out as halves: where a product takes an
 * element of a vector, side by side, else each of them twice, so that one 32-bit load fills a
 * vector. Products are summed in halves for a short run only, then as floats. */
#include "level.h"

#include <string.h>

#if defined(CPU_NEON)
#define DENSE_SOURCE guint16
#else
#define DENSE_SOURCE guint32
#endif
#define DENSE_WEIGHT guint16
#define DENSE_LANES (2 * CPU_LANES)
#define DENSE_SUMS (CPU_FLOAT_PIXELS * 2 * CPU_HALF_VECTORS * CPU_LANES)
#include "densetile.h"

/* Products that are summed as halves at most: their error grows with it, and what it costs to make
 * floats of the sums falls. */
#define RUN (12 * ELEMENTS)
#define ELEMENTS 8 /* that are read at once, where they are */

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

/* gcc 12 copies the element to a vector first, whatever form C has. */
#if defined(__clang__)
#define ADD_ELEMENT(c, x, b, k) ((c) = (VF16)vfmaq_laneq_f16 ((c), (x), (b), (k)))
#else
#define ADD_ELEMENT(c, x, b, k)                                                                    \
  __asm__("fmla %0.8h, %1.8h, %2.h[" #k "]" : "+w"(c) : "w"(x), "x"(b))
#endif

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

/* Pixels of a tile by its vectors of output channels: with two weights and a pixel, or those of all
 * pixels, they fill the registers. */
#if defined(CPU_NEON)
static const gint tile_pixels[CPU_HALF_VECTORS] = { 12, 10 };
#else
static const gint tile_pixels[CPU_HALF_VECTORS] = { 12, 12 };
#endif

/* Adds @n elements of each of @nr pixels, times their weights. */
#if defined(CPU_NEON)

#define ADD_PRODUCTS(k)                                                                            \
  _Pragma ("GCC unroll 2") for (gint i = 0; i < mr; i++)                                           \
  {                                                                                                \
    VF16 x = *(const VF16 *)(gconstpointer)(w + (k * mr + i) * DENSE_LANES);                       \
    _Pragma ("GCC unroll 12") for (gint j = 0; j < nr; j++) ADD_ELEMENT (c[i][j], x, b[j], k);     \
  }                                                                                                \
  __builtin_prefetch (ahead + k * each, 0, 2);

CPU_INLINE void
add_products (VF16 c[][CPU_FLOAT_PIXELS], const guint16 *q, gsize step, const guint16 *w, gint n,
              const guint16 *ahead, gsize each, gint mr, gint nr)
{
  VF16 b[CPU_FLOAT_PIXELS];
  for (; n >= ELEMENTS; n -= ELEMENTS, q += ELEMENTS) {
#pragma GCC unroll 12
    for (gint j = 0; j < nr; j++)
      b[j] = *(const VF16 *)(gconstpointer)(q + (gsize)j * step);
    ADD_PRODUCTS (0)
    ADD_PRODUCTS (1)
    ADD_PRODUCTS (2)
    ADD_PRODUCTS (3)
    ADD_PRODUCTS (4)
    ADD_PRODUCTS (5)
    ADD_PRODUCTS (6)
    ADD_PRODUCTS (7)
    w += ELEMENTS * mr * DENSE_LANES;
    ahead += ELEMENTS * each;
  }
  for (; n > 0; n--, q++, w += mr * DENSE_LANES, ahead += each) {
#pragma GCC unroll 12
    for (gint j = 0; j < nr; j++)
      b[j] = (VF16)vdupq_n_u16 (q[(gsize)j * step]);
    ADD_PRODUCTS (0)
  }
}

#else

CPU_INLINE void
add_products (VF16 c[][CPU_FLOAT_PIXELS], const guint32 *q, gsize step, const guint16 *w, gint n,
              const guint16 *ahead, gsize each, gint mr, gint nr)
{
  for (; n > 0; n--, q++, w += mr * DENSE_LANES, ahead += each) {
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

#endif

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
tile (const CpuFloatOut *out, const DENSE_SOURCE *p, gsize step, const Chunk *k, gint mr, gint nr)
{
  const guint16 *w = k->w, *ahead = k->ahead;
  CpuFloatSums c[2 * CPU_HALF_VECTORS];
  gint runs = (k->n + RUN - 1) / RUN, reads = (k->n + ELEMENTS - 1) / ELEMENTS;
  for (gint i = 0; i < 2 * mr; i++)
    for (gint j = 0; j < nr; j++)
      c[i][j] = *(const VF32 *)(k->from + (gsize)j * k->again + i * CPU_LANES);
  for (gint t = 0; t < k->n_taps; t++)
    for (gint r = 0; r < runs; r++) { /* of nearly the same length */
      gint first = reads * r / runs * ELEMENTS;
      gint n = MIN (k->n, reads * (r + 1) / runs * ELEMENTS) - first;
      VF16 h[CPU_HALF_VECTORS][CPU_FLOAT_PIXELS];
#pragma GCC unroll 2
      for (gint i = 0; i < mr; i++)
#pragma GCC unroll 12
        for (gint j = 0; j < nr; j++)
          h[i][j] = (VF16){ 0 };
      add_products (h, p + k->taps[t] + first, step, w, n, ahead, k->each, mr, nr);
      widen (c, h, k->factors, mr, nr);
      w += n * mr * DENSE_LANES;
      ahead += (gsize)n * k->each;
    }
  float_put (out, c, 2 * mr, nr);
}

TO_12 (TILE, 1)
TO_12 (TILE, 2)
static const TileFunc tiles[CPU_HALF_VECTORS][CPU_FLOAT_PIXELS] = { { TO_12 (NAME, 1) },
                                                                    { TO_12 (NAME, 2) } };

/* What is larger than any half becomes the largest: it must not become infinite. */
CPU_INLINE VF32
limited (VF32 x)
{
  return vector_clip (x, splat_float (-LARGEST), splat_float (LARGEST));
}

#if defined(CPU_NEON)

static void
lay_elements (guint16 *to, const gfloat *from, gsize n)
{
  gsize i = 0;
  for (; i + CPU_LANES <= n; i += CPU_LANES)
    vst1_f16 ((gpointer)(to + i), vcvt_f16_f32 (limited (vector_load (from + i))));
  if (i < n) {
    float16x4_t last = vcvt_f16_f32 (limited (vector_load_part (from + i, (gint64)(n - i))));
    memcpy (to + i, &last, (n - i) * sizeof *to);
  }
}

#else

CPU_INLINE VU32
pairs_of (VF32 x)
{
  VU32 bits = bits_of (limited (x));
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

#endif

#include "densepanel.h"

void
CPU_NAME (cpu_half_dense) (const CpuConv *c, const CpuFloatConvRun *run, const CpuConvPart *part,
                           guint8 *scratch)
{
  run_panels (c, run, part, scratch);
}
