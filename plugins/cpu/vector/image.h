/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of pictures on their way to a tensor (columns of floats are gathered by resize.h). */
#pragma once

#include <glib.h>

/* Samples of 16 bits: each is value * unit, of bytes in the other order where swapped. */
typedef struct {
  gfloat unit;
  gboolean swapped;
} CpuSamples;

/* A component of a frame: pixel (x, y) is sample (x >> shift_x) * step of row y >> shift_y. */
typedef struct {
  const guint8 *data;
  gint64 stride; /* bytes */
  gint step, shift_x, shift_y;
} CpuComponent;

/* Four pixels for each of a row of the tensor, and the weights of the second ones. */
typedef struct {
  gint32 *x0, *x1, *y0, *y1;
  gfloat *fx, *fy;
} CpuTurnedTaps;

/* Samples become r, g, b of 0 to 255. */
typedef struct {
  gfloat luma_scale, luma_offset, center, v_to_r, u_to_g, v_to_g, u_to_b;
} CpuColors;

enum { CPU_IMAGE_WORDS = 256 /* columns at a time */ };

/* Components that lie together, by columns of the tensor: two pixels beside each other
 * are read at once, as a word of four bytes, or of eight where they do not fit. */
typedef struct {
  gint32 *at;    /* the byte of a row where the word begins */
  gint32 *shift; /* bits of it that are not the pixels', from column @tail on */
  gfloat *f;     /* weight of the second pixel */
  gint tail;
  gint size, next; /* of the word, in bytes; bits from the first pixel to the second */
  guint32 mask;    /* of a sample */
  gfloat unit;     /* each is value * unit */
  gint n, bits[3]; /* components, and how far each is from the first one */
} CpuWords;

/* Two rows of them, the next ones to be read, and the weight of the second. */
typedef struct {
  const guint8 *row[2], *later[2];
  gfloat f;
} CpuWordRows;

typedef struct {
  /* Bilinear, of @n columns from @first on, CPU_IMAGE_WORDS at most; out begins with @first. */
  void (*blend_words) (gfloat *const *out, const CpuWords *words, const CpuWordRows *rows,
                       gboolean between_columns, gint first, gint n);
  /* out = a + (b - a) * f */
  void (*blend_bytes) (gfloat *restrict out, const guint8 *restrict a, const guint8 *restrict b,
                       gint n, gfloat f);
  void (*blend_shorts) (gfloat *restrict out, const guint8 *restrict a, const guint8 *restrict b,
                        gint n, gfloat f, CpuSamples samples);
  /* out = row[at] */
  void (*pick_columns) (gfloat *restrict out, const gfloat *restrict row, const gint32 *restrict at,
                        gint n);
  /* Bilinear on any four pixels. */
  void (*turned_bytes) (gfloat *restrict out, const CpuComponent *from, const CpuTurnedTaps *taps,
                        gint n);
  void (*turned_shorts) (gfloat *restrict out, const CpuComponent *from, const CpuTurnedTaps *taps,
                         gint n, CpuSamples samples);
  /* y, u, v rows become r, g, b rows, clipped. */
  void (*convert_yuv) (gfloat *restrict y, gfloat *restrict u, gfloat *restrict v, gint n,
                       const CpuColors *colors);
  /* The luma becomes gray of full range, clipped. */
  void (*convert_luma) (gfloat *restrict y, gint n, const CpuColors *colors);
  /* r becomes the luma */
  void (*to_gray) (gfloat *restrict r, const gfloat *restrict g, const gfloat *restrict b, gint n);
  /* out[i * step] = (in[i] - mean) * scale; bytes are rounded and clipped. */
  void (*normalise) (gfloat *restrict out, const gfloat *restrict in, gint n, gint step,
                     gfloat mean, gfloat scale);
  void (*normalise_bytes) (guint8 *restrict out, const gfloat *restrict in, gint n, gint step,
                           gfloat mean, gfloat scale);
  /* The same of three channels, side by side. */
  void (*normalise_pixels) (gfloat *restrict out, const gfloat *const *in, gint n,
                            const gfloat *mean, const gfloat *scale);
  void (*normalise_pixels_to_bytes) (guint8 *restrict out, const gfloat *const *in, gint n,
                                     const gfloat *mean, const gfloat *scale);
} CpuImage;
