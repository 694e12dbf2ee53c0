/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of pictures on their way to a tensor (columns of floats are gathered by resize.h). */
#pragma once

#include <glib.h>

typedef struct {
  /* out = a + (b - a) * f */
  void (*blend_bytes) (gfloat *restrict out, const guint8 *restrict a, const guint8 *restrict b,
                       gint n, gfloat f);
  /* Bilinear on byte @shift / 8 of words: a0 and a1 of the upper row, b0 and b1 of the lower. */
  void (*blend_words) (gfloat *restrict out, const guint32 *restrict a0, const guint32 *restrict a1,
                       const guint32 *restrict b0, const guint32 *restrict b1,
                       const gfloat *restrict fx, gfloat fy, gint shift, gint n);
  /* y, u, v rows become r, g, b rows, clipped. m: luma scale, luma offset, then the factors of v
   * in r, of u and v in g, of u in b. */
  void (*convert_yuv) (gfloat *restrict y, gfloat *restrict u, gfloat *restrict v, gint n,
                       const gfloat *restrict m);
  /* r becomes the luma */
  void (*to_gray) (gfloat *restrict r, const gfloat *restrict g, const gfloat *restrict b, gint n);
  /* out = (in - mean) * scale */
  void (*normalise) (gfloat *restrict out, const gfloat *restrict in, gint n, gfloat mean,
                     gfloat scale);
} CpuImage;
