/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* 255 * 128 is the most that fits into 16 bits. Which weights a kernel pairs is its own affair, so
 * the two largest of a channel decide, and the two smallest. */
#include "saturation.h"

#define MOST 128

static gboolean
channel_fits (const gint8 *weights, gsize n)
{
  gint high[2] = { 0, 0 }, low[2] = { 0, 0 }; /* the extreme one first */
  for (gsize i = 0; i < n; i++) {
    gint w = weights[i];
    if (w > high[1]) {
      high[1] = MIN (w, high[0]);
      high[0] = MAX (w, high[0]);
    } else if (w < low[1]) {
      low[1] = MAX (w, low[0]);
      low[0] = MIN (w, low[0]);
    }
  }
  return high[0] + high[1] <= MOST && low[0] + low[1] >= -MOST;
}

gboolean
dnn_pairs_fit (const gint8 *weights, gsize n_channels, gsize n_each)
{
  for (gsize c = 0; c < n_channels; c++)
    if (!channel_fits (weights + c * n_each, n_each))
      return FALSE;
  return TRUE;
}
