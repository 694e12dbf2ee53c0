/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of pictures: each a loop that the compiler vectorises. */
#include "level.h"

#include <string.h>

#define SOME 16         /* columns between which lines are fetched */
#define SOME_VALUES 256 /* that are clipped before they become bytes */
#define LINE 64         /* bytes of the cache */

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

/* Of one column: the word that begins with the first pixel, and the one that does with the second,
 * where it is not the same. */
CPU_INLINE void
read_word (guint32 *first, guint32 *second, const guint8 *from, gint size, gint next, gint shift)
{
  if (size == 8) {
    guint64 word;
    memcpy (&word, from, sizeof word);
    word = GUINT64_FROM_LE (word) >> shift;
    *first = (guint32)word;
    if (second != NULL)
      *second = (guint32)(word >> next);
  } else {
    guint32 word;
    memcpy (&word, from, sizeof word);
    *first = GUINT32_FROM_LE (word) >> shift;
  }
}

typedef guint32 Words[CPU_IMAGE_WORDS];

/* What @n columns, SOME at most, need of a later row: @lines one after the other, or one for each.
 */
CPU_INLINE void
fetch_later (const guint8 *later, const gint32 *at, gint n, gint lines)
{
  if (lines <= SOME)
    for (gint i = 0; i < lines; i++)
      __builtin_prefetch (later + at[0] + LINE * i, 0, 2);
  else
    for (gint i = 0; i < n; i++)
      __builtin_prefetch (later + at[i], 0, 2);
}

/* Between them lines of what comes later are fetched, a few at a time: all at once would be waited
 * for. @to: of the rows' first pixels, then of their second ones. */
CPU_INLINE void
read_words (Words *restrict to, const CpuWords *w, const CpuWordRows *r, gint size, gint n_rows,
            gboolean columns, gint first, gint n)
{
  const gint32 *restrict at = w->at + first;
  gint next = w->next, tail = CLAMP (w->tail - first, 0, n);
  gint lines = (at[n - 1] - at[0]) / (n / SOME + 1) / LINE + 1; /* as many each time */
  for (gint i = 0; i < tail; i += SOME) {
    gint end = MIN (i + SOME, tail);
    for (gint k = 0; k < n_rows; k++)
      fetch_later (r->later[k], at + i, end - i, lines);
    for (gint c = i; c < end; c++)
      for (gint k = 0; k < n_rows; k++)
        read_word (&to[k][c], columns ? &to[2 + k][c] : NULL, r->row[k] + at[c], size, next, 0);
  }
  for (gint c = tail; c < n; c++)
    for (gint k = 0; k < n_rows; k++)
      read_word (&to[k][c], columns ? &to[2 + k][c] : NULL, r->row[k] + at[c], size, next,
                 w->shift[first + c]);
}

/* One component, of words with the rows' first pixels and words with their second ones, which may
 * be the same. */
typedef struct {
  const guint32 *first[2], *second[2];
  gint bits, next;
  guint32 mask;
  gfloat fy;
} Samples;

CPU_INLINE gfloat
sample_of (guint32 word, gint bits, guint32 mask)
{
  return (gfloat)(gint32)(word >> bits & mask);
}

CPU_INLINE void
mix_words (gfloat *restrict out, const Samples *samples, const gfloat *restrict f, gfloat unit,
           gboolean rows, gboolean columns, gint n)
{
  const Samples s = *samples;
  const guint32 *restrict a = s.first[0], *restrict b = s.first[1];
  const guint32 *restrict c = s.second[0], *restrict d = s.second[1];
  for (gint i = 0; i < n; i++) {
    gfloat first = sample_of (a[i], s.bits, s.mask), second;
    if (rows)
      first += (sample_of (b[i], s.bits, s.mask) - first) * s.fy;
    if (columns) {
      second = sample_of (c[i], s.next, s.mask);
      if (rows)
        second += (sample_of (d[i], s.next, s.mask) - second) * s.fy;
      first += (second - first) * f[i];
    }
    out[i] = first * unit;
  }
}

CPU_INLINE void
blend_words_of (gfloat *const *out, const CpuWords *w, const CpuWordRows *r, gboolean rows,
                gboolean columns, gint first, gint n)
{
  Words words[4];
  if (w->size == 8)
    read_words (words, w, r, 8, rows ? 2 : 1, columns, first, n);
  else
    read_words (words, w, r, 4, rows ? 2 : 1, FALSE, first, n);
  for (gint i = 0; i < w->n; i++) {
    gint bits = w->bits[i], own = w->size == 8 ? 2 : 0; /* words of second pixels */
    const Samples samples = { { words[0], words[1] },
                              { words[own], words[own + 1] },
                              bits,
                              own > 0 ? bits : bits + w->next,
                              w->mask,
                              r->f };
    mix_words (out[i], &samples, w->f + first, w->unit, rows, columns, n);
  }
}

static void
blend_words (gfloat *const *out, const CpuWords *w, const CpuWordRows *r, gboolean between_columns,
             gint first, gint n)
{
  if (r->f > 0 && between_columns)
    blend_words_of (out, w, r, TRUE, TRUE, first, n);
  else if (r->f > 0)
    blend_words_of (out, w, r, TRUE, FALSE, first, n);
  else if (between_columns)
    blend_words_of (out, w, r, FALSE, TRUE, first, n);
  else
    blend_words_of (out, w, r, FALSE, FALSE, first, n);
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

/* Values of a byte and a half more. On their own: compilers that see what becomes of them compare
 * as bytes. */
CPU_INLINE void
clip_values (gfloat *restrict out, const gfloat *restrict in, gint n, gfloat mean, gfloat scale)
{
  for (gint i = 0; i < n; i++)
    out[i] = clip ((in[i] - mean) * scale) + 0.5f;
}

static void
normalise_bytes (guint8 *restrict out, const gfloat *restrict in, gint n, gint step, gfloat mean,
                 gfloat scale)
{
  for (gint first = 0; first < n; first += SOME_VALUES) {
    gfloat values[SOME_VALUES];
    gint some = MIN (SOME_VALUES, n - first);
    clip_values (values, in + first, some, mean, scale);
    if (step == 1)
      for (gint i = 0; i < some; i++)
        out[first + i] = (guint8)(gint32)values[i];
    else
      for (gint i = 0; i < some; i++)
        out[(first + i) * step] = (guint8)(gint32)values[i];
  }
}

static void
normalise_pixels (gfloat *restrict out, const gfloat *const *in, gint n, const gfloat *mean,
                  const gfloat *scale)
{
  const gfloat *restrict a = in[0], *restrict b = in[1], *restrict c = in[2];
  const gfloat m[] = { mean[0], mean[1], mean[2] }, s[] = { scale[0], scale[1], scale[2] };
  for (gint i = 0; i < n; i++) {
    out[3 * i] = (a[i] - m[0]) * s[0];
    out[3 * i + 1] = (b[i] - m[1]) * s[1];
    out[3 * i + 2] = (c[i] - m[2]) * s[2];
  }
}

static void
normalise_pixels_to_bytes (guint8 *restrict out, const gfloat *const *in, gint n,
                           const gfloat *mean, const gfloat *scale)
{
  for (gint first = 0; first < n; first += SOME_VALUES) {
    gfloat values[3][SOME_VALUES];
    guint8 *restrict to = out + 3 * first;
    gint some = MIN (SOME_VALUES, n - first);
    for (gint c = 0; c < 3; c++)
      clip_values (values[c], in[c] + first, some, mean[c], scale[c]);
    for (gint i = 0; i < some; i++)
      for (gint c = 0; c < 3; c++)
        to[3 * i + c] = (guint8)(gint32)values[c][i];
  }
}

const CpuImage CPU_NAME (cpu_image) = { blend_words,
                                        blend_bytes,
                                        blend_shorts,
                                        pick_columns,
                                        turned_bytes,
                                        turned_shorts,
                                        convert_yuv,
                                        convert_luma,
                                        to_gray,
                                        normalise,
                                        normalise_bytes,
                                        normalise_pixels,
                                        normalise_pixels_to_bytes };
