/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "../vector/conv.h"

typedef struct {
  gsize pixel; /* bytes of a pixel of the source, as a part reads it */
  gsize patch; /* bytes of the source that a part may read */
  gint step;   /* rows of the source for each that is read */
  gint tile;   /* pixels that are computed together */
  gint panels; /* vectors of output channels that are computed together */
  guint threads;
  gboolean by_panels; /* panels are cut before bands are */
} CpuConvCut;

/* Bytes of the second cache of a processor. */
gsize cpu_second_cache (void);

gint cpu_ceil_div (gint a, gint b);

/* A product of one pixel each becomes one long row. */
void cpu_conv_flatten (CpuConv *conv);

/* TRUE if tiles may read the source where it lies: no padding, and the rows of a filter are runs of
 * consecutive elements. */
gboolean cpu_conv_reads_inside (const CpuConv *conv);

/* Fills the bands and panels of a part. */
void cpu_conv_cut (CpuConv *conv, const CpuConvCut *cut);
/* For kernels that compute all output channels of some pixels. */
void cpu_conv_cut_pixels (CpuConv *conv, gint lanes, guint threads);
gint cpu_conv_count_parts (const CpuConv *conv);
CpuConvPart cpu_conv_get_part (const CpuConv *conv, gint index);

/* Of the source, with padding, that a part reads. */
gint cpu_conv_patch_columns (const CpuConv *conv);
gint cpu_conv_patch_rows (const CpuConv *conv);
