/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What both transforms of a convolution after Winograd share: its points, and where tiles lie. */
#pragma once

#include "floatfinish.h"
#include "winograd.h"

#define ROOT 1.41421356237309504880f
#define HALF 0.70710678118654752440f

typedef struct {
  gint frame, y, x; /* of the first pixel of the result */
} Place;

/* The first pixel, in one dimension, of tile @i. Tiles of dilated filters lie within each other. */
CPU_INLINE gint
pixel_of (gint i, gint size, gint dilation)
{
  return dilation == 1 ? i * size : i / dilation * (dilation * size) + i % dilation;
}

/* How many of @n pixels are met with @dilation. */
CPU_INLINE gint
met_of (gint n, gint dilation)
{
  return dilation == 1 ? n : (MAX (n, 0) + dilation - 1) / dilation;
}

CPU_INLINE Place
place_of (const CpuWinograd *w, gint tile)
{
  gint row = tile / w->tiles_w, frame = row / w->tiles_h;
  return (Place){ frame, pixel_of (row - frame * w->tiles_h, w->tile.rows, w->conv.dilation_h),
                  pixel_of (tile - row * w->tiles_w, w->tile.columns, w->conv.dilation_w) };
}
