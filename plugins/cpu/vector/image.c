/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of pictures: each a loop that the compiler vectorises. */
#include "level.h"

static void
blend_bytes (gfloat *restrict out, const guint8 *restrict a, const guint8 *restrict b, gint n,
             gfloat f)
{
  for (gint i = 0; i < n; i++) {
    gfloat va = a[i], vb = b[i];
    out[i] = va + (vb - va) * f;
  }
}

static void
blend_words (gfloat *restrict out, const guint32 *restrict a0, const guint32 *restrict a1,
             const guint32 *restrict b0, const guint32 *restrict b1, const gfloat *restrict fx,
             gfloat fy, gint shift, gint n)
{
  for (gint i = 0; i < n; i++) {
    gfloat p = (gfloat)(gint32)(a0[i] >> shift & 255), q = (gfloat)(gint32)(a1[i] >> shift & 255);
    gfloat r = (gfloat)(gint32)(b0[i] >> shift & 255), s = (gfloat)(gint32)(b1[i] >> shift & 255);
    gfloat top = p + (q - p) * fx[i], bottom = r + (s - r) * fx[i];
    out[i] = top + (bottom - top) * fy;
  }
}

static void
convert_yuv (gfloat *restrict y, gfloat *restrict u, gfloat *restrict v, gint n,
             const gfloat *restrict m)
{
  gfloat ys = m[0], yo = m[1], rv = m[2], gu = m[3], gv = m[4], bu = m[5];
  for (gint i = 0; i < n; i++) {
    gfloat l = y[i] * ys + yo, cu = u[i] - 128, cv = v[i] - 128;
    gfloat r = l + rv * cv, g = l - gu * cu - gv * cv, b = l + bu * cu;
    r = r > 0 ? r : 0;
    g = g > 0 ? g : 0;
    b = b > 0 ? b : 0;
    y[i] = r < 255 ? r : 255;
    u[i] = g < 255 ? g : 255;
    v[i] = b < 255 ? b : 255;
  }
}

static void
to_gray (gfloat *restrict r, const gfloat *restrict g, const gfloat *restrict b, gint n)
{
  for (gint i = 0; i < n; i++)
    r[i] = 0.299f * r[i] + 0.587f * g[i] + 0.114f * b[i];
}

static void
normalise (gfloat *restrict out, const gfloat *restrict in, gint n, gfloat mean, gfloat scale)
{
  for (gint i = 0; i < n; i++)
    out[i] = (in[i] - mean) * scale;
}

const CpuImage CPU_NAME (cpu_image) = { blend_bytes, blend_words, convert_yuv, to_gray, normalise };
