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

/* Wherever it lies. */
typedef guint16 Short __attribute__ ((aligned (1), may_alias));

CPU_INLINE gint
order (guint16 v, gboolean swapped)
{
  return swapped ? GUINT16_SWAP_LE_BE (v) : v;
}

CPU_INLINE void
blend_ordered (gfloat *restrict out, const Short *restrict a, const Short *restrict b, gint n,
               gfloat f, gfloat unit, gboolean swapped)
{
  for (gint i = 0; i < n; i++) {
    gfloat va = (gfloat)order (a[i], swapped), vb = (gfloat)order (b[i], swapped);
    out[i] = (va + (vb - va) * f) * unit;
  }
}

static void
blend_shorts (gfloat *restrict out, const guint8 *restrict a, const guint8 *restrict b, gint n,
              gfloat f, CpuSamples samples)
{
  if (samples.swapped)
    blend_ordered (out, (const Short *)a, (const Short *)b, n, f, samples.unit, TRUE);
  else
    blend_ordered (out, (const Short *)a, (const Short *)b, n, f, samples.unit, FALSE);
}

static void
pick_columns (gfloat *restrict out, const gfloat *restrict row, const gint32 *restrict at, gint n)
{
  for (gint i = 0; i < n; i++)
    out[i] = row[at[i]];
}

#define BLEND_TURNED(at)                                                                           \
  for (gint i = 0; i < n; i++) {                                                                   \
    const guint8 *top = from->data + (t->y0[i] >> from->shift_y) * from->stride;                   \
    const guint8 *bottom = from->data + (t->y1[i] >> from->shift_y) * from->stride;                \
    gint x0 = (t->x0[i] >> from->shift_x) * from->step;                                            \
    gint x1 = (t->x1[i] >> from->shift_x) * from->step;                                            \
    gfloat p = at (top, x0), q = at (top, x1), r = at (bottom, x0), s = at (bottom, x1);           \
    gfloat above = p + (q - p) * t->fx[i], below = r + (s - r) * t->fx[i];                         \
    out[i] = above + (below - above) * t->fy[i];                                                   \
  }

static void
turned_bytes (gfloat *restrict out, const CpuComponent *from, const CpuTurnedTaps *t, gint n)
{
#define BYTE(row, x) (row)[x]
  BLEND_TURNED (BYTE)
}

static void
turned_shorts (gfloat *restrict out, const CpuComponent *from, const CpuTurnedTaps *t, gint n,
               CpuSamples samples){
#define SHORT(row, x) ((gfloat)order (((const Short *)(row))[x], samples.swapped) * samples.unit)
  BLEND_TURNED (SHORT)
}

CPU_INLINE gfloat clip (gfloat v)
{
  v = v > 0 ? v : 0;
  return v < 255 ? v : 255;
}

static void
convert_yuv (gfloat *restrict y, gfloat *restrict u, gfloat *restrict v, gint n,
             const CpuColors *colors)
{
  const CpuColors c = *colors;
  for (gint i = 0; i < n; i++) {
    gfloat l = y[i] * c.luma_scale + c.luma_offset, cu = u[i] - c.center, cv = v[i] - c.center;
    y[i] = clip (l + c.v_to_r * cv);
    u[i] = clip (l - c.u_to_g * cu - c.v_to_g * cv);
    v[i] = clip (l + c.u_to_b * cu);
  }
}

static void
convert_luma (gfloat *restrict y, gint n, const CpuColors *colors)
{
  const CpuColors c = *colors;
  for (gint i = 0; i < n; i++)
    y[i] = clip (y[i] * c.luma_scale + c.luma_offset);
}

static void
to_gray (gfloat *restrict r, const gfloat *restrict g, const gfloat *restrict b, gint n)
{
  for (gint i = 0; i < n; i++)
    r[i] = 0.299f * r[i] + 0.587f * g[i] + 0.114f * b[i];
}

static void
normalise (gfloat *restrict out, const gfloat *restrict in, gint n, gint step, gfloat mean,
           gfloat scale)
{
  if (step == 1)
    for (gint i = 0; i < n; i++)
      out[i] = (in[i] - mean) * scale;
  else
    for (gint i = 0; i < n; i++)
      out[i * step] = (in[i] - mean) * scale;
}

CPU_INLINE guint8
to_byte (gfloat v)
{
  return (guint8)(gint32)(clip (v) + 0.5f);
}

static void
normalise_bytes (guint8 *restrict out, const gfloat *restrict in, gint n, gint step, gfloat mean,
                 gfloat scale)
{
  if (step == 1)
    for (gint i = 0; i < n; i++)
      out[i] = to_byte ((in[i] - mean) * scale);
  else
    for (gint i = 0; i < n; i++)
      out[i * step] = to_byte ((in[i] - mean) * scale);
}

const CpuImage CPU_NAME (cpu_image) = { blend_bytes,   blend_shorts,   pick_columns, turned_bytes,
                                        turned_shorts, convert_yuv,    convert_luma, to_gray,
                                        normalise,     normalise_bytes };
