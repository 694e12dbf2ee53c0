/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dense and grouped convolution of floats, compiled per instruction set. */
#include "level.h"

#define DENSE_SOURCE gfloat
#define DENSE_WEIGHT gfloat
#define DENSE_LANES CPU_LANES
#define DENSE_SUMS CPU_FLOAT_SUMS
#include "densetile.h"
#include "floattile.h"

/* Sums of @nr pixels, @step elements apart, and @mr vectors of channels. */
CPU_INLINE void
tile (const CpuFloatOut *out, const gfloat *p, gsize step, const Chunk *k, gint mr, gint nr)
{
  const gfloat *w = k->w, *ahead = k->ahead;
  CpuFloatSums c[CPU_FLOAT_VECTORS];
#pragma GCC unroll 4
  for (gint i = 0; i < mr; i++)
#pragma GCC unroll 12
    for (gint j = 0; j < nr; j++)
      c[i][j] = *(const VF32 *)(k->from + (gsize)j * k->again + i * CPU_LANES);
  for (gint t = 0; t < k->n_taps; t++) {
    float_add_products (c, p + k->taps[t], step, w, k->n, ahead, k->each, mr, nr);
    w += k->n * mr * CPU_LANES;
    ahead += (gsize)k->n * k->each;
  }
  float_put (out, c, mr, nr);
}

#if CPU_REGISTERS == 32
TO_12 (TILE, 1)
TO_12 (TILE, 2)
TO_8 (TILE, 3)
TO_6 (TILE, 4)
static const TileFunc tiles[CPU_FLOAT_VECTORS][CPU_FLOAT_PIXELS] = {
  { TO_12 (NAME, 1) }, { TO_12 (NAME, 2) }, { TO_8 (NAME, 3) }, { TO_6 (NAME, 4) }
};
#else
TO_12 (TILE, 1)
TO_6 (TILE, 2)
static const TileFunc tiles[CPU_FLOAT_VECTORS][CPU_FLOAT_PIXELS] = { { TO_12 (NAME, 1) },
                                                                     { TO_6 (NAME, 2) } };
#endif

static const gint *const tile_pixels = float_tile_pixels;

/* Of a pixel, mostly: few, and a call for each would take longer. */
static inline void
lay_elements (gfloat *to, const gfloat *from, gsize n)
{
  if (n % CPU_LANES == 0 && n <= 16 * CPU_LANES)
    for (gsize i = 0; i < n; i += CPU_LANES)
      vector_store (to + i, vector_load (from + i));
  else
    memcpy (to, from, n * sizeof *to);
}

#include "densepanel.h"

void
CPU_NAME (cpu_float_dense) (const CpuConv *c, const CpuFloatConvRun *run, const CpuConvPart *part,
                            guint8 *scratch)
{
  run_panels (c, run, part, scratch);
}
