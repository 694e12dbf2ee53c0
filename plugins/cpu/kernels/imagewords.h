/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames that are upright: only what a row of the tensor shows is read of a row of the frame. */
#pragma once

#include "../vector/image.h"

#include <axon/axon-plugin.h>

/* Components that lie together, in one plane and by the same step. */
typedef struct {
  CpuWords words;
  const guint8 *data;
  gint64 stride;
  gint shift_y;
  gint component; /* the first one; they follow each other */
} CpuImageGroup;

typedef struct {
  gint n_groups;
  CpuImageGroup group[3];
} CpuImageWords;

/* Of the memory that it needs for a row of @width columns. */
gsize cpu_image_words_count (gint width);

/* @columns: pixels of each column, and the weight of the second; @memory holds tables. FALSE where
 * a row is shorter than a word, two pixels do not fit into one, or bytes are in another order. */
gboolean cpu_image_words_init (CpuImageWords *w, const AxonImageInfo *info,
                               const AxonImageSampling *sampling, const guint8 *const *planes,
                               gfloat unit, const CpuTurnedTaps *columns, gint32 *memory);

/* Pixel rows of a row of the tensor, and the weight of the second one. */
typedef struct {
  gint32 y[2];
  gfloat f;
} CpuImageRows;

/* Components of @n columns from @first on, between @rows; @later is what is read next. */
void cpu_image_words_fetch (const CpuImageWords *w, const CpuImage *loops, const CpuImageRows *rows,
                            const CpuImageRows *later, gboolean between_columns, gint first, gint n,
                            gfloat *const *out);
