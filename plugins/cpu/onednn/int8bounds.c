/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bounds that hold for every input: any two weights may meet in a pair, as that is the kernel's
 * affair, and every input may have the sign of its weight. */
#include "int8bounds.h"

#define MAX_PAIR 128      /* 255 * 128 <= G_MAXINT16 */
#define MAX_SUM (1 << 24) /* integers up to there are floats */

static gboolean
pairs_of_channel_fit (const gint8 *weights, gsize n)
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
  return high[0] + high[1] <= MAX_PAIR && low[0] + low[1] >= -MAX_PAIR;
}

gboolean
dnn_pairs_fit (const gint8 *weights, gsize n_channels, gsize n_each)
{
  for (gsize c = 0; c < n_channels; c++)
    if (!pairs_of_channel_fit (weights + c * n_each, n_each))
      return FALSE;
  return TRUE;
}

/* The sum of two floats is rounded once: it is as good as their sum as integers, rounded once. */
static gboolean
bias_adds_exactly (gint32 bias, gint64 least, gint64 most)
{
  if (bias == 0 || (least == 0 && most == 0))
    return TRUE;
  return least >= -MAX_SUM && most <= MAX_SUM && (gdouble)(gfloat)bias == (gdouble)bias;
}

gboolean
dnn_bias_adds_exactly (const gint8 *weights, gsize n_channels, gsize n_each, gint low, gint high,
                       const gint32 *bias)
{
  for (gsize c = 0; c < n_channels; c++, weights += n_each) {
    gint64 all = 0, positive = 0, negative;
    for (gsize i = 0; i < n_each; i++) {
      all += weights[i];
      positive += MAX (weights[i], 0);
    }
    negative = all - positive;
    if (!bias_adds_exactly (bias[c], positive * low + negative * high,
                            positive * high + negative * low))
      return FALSE;
  }
  return TRUE;
}
