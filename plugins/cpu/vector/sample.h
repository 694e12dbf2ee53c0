/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pixels between pixels, at places that data names: GridSample, DeformConv, RoiAlign. */
#pragma once

#include <glib.h>

typedef enum { CPU_SAMPLE_ZEROS, CPU_SAMPLE_BORDER, CPU_SAMPLE_REFLECTION } CpuSamplePadding;
typedef enum { CPU_SAMPLE_NEAREST, CPU_SAMPLE_LINEAR, CPU_SAMPLE_CUBIC } CpuSampleMode;

enum { CPU_SAMPLE_AXES = 3 };

typedef struct {
  gint rank;                    /* spatial dimensions */
  gint64 size[CPU_SAMPLE_AXES]; /* theirs last, 1 before them */
  CpuSamplePadding padding;
  CpuSampleMode mode;
  gboolean align;
  gint taps; /* of a place */
} CpuSampler;

typedef struct {
  /* Tap t of place i, of @n: pixel at[i * place + t * tap] and its weight. What is not read is
   * pixel @none, with weight 0. */
  void (*locate) (const CpuSampler *sampler, const gfloat *grid, gint64 n, gint64 place, gint64 tap,
                  gint32 none, gint32 *at, gfloat *weight);
  /* Of mode linear, and planes two columns wide or more: taps 2 p and 2 p + 1 of place i are pixels
   * at[p * n + i] and the next one, their weights at weight[2 * (p * n + i)] and behind it. */
  void (*locate_pairs) (const CpuSampler *sampler, const gfloat *grid, gint64 n, gint32 *at,
                        gfloat *weight);
  /* Of single elements, where weight 0 is not read; tap t of place i is at[t * n + i]. */
  void (*columns) (gfloat *restrict out, const gfloat *restrict x, const gint32 *restrict at,
                   const gfloat *restrict weight, gint taps, gint64 n);
  /* The same of pairs. */
  void (*pairs) (gfloat *restrict out, const gfloat *restrict x, const gint32 *restrict at,
                 const gfloat *restrict weight, gint taps, gint64 n);
  /* The same of up to four channels that lie side by side, a place that is read behind the last
   * pixel's; results are planes, so far apart. Returns FALSE where that does not do: few places, or
   * something that is infinite, and may have no weight. */
  gboolean (*mix_pixels) (gfloat *restrict out, gint64 plane, const gfloat *restrict x,
                          gint64 channels, const gint32 *restrict at, const gfloat *restrict weight,
                          gint taps, gint64 n);
  /* Adds pixels of @channels elements, times their weights, but those before the first. */
  void (*add_pixels) (gfloat *restrict out, const gfloat *restrict x, const gint32 *restrict at,
                      const gfloat *restrict weight, gint taps, gint64 channels);
} CpuSample;
