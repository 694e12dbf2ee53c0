/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The passes of normalisation over elements that share a mean (whose sum reduce.h has). */
#pragma once

#include <glib.h>

typedef struct {
  /* Of (x - mean)^2 */
  gfloat (*square_sum) (const gfloat *restrict x, gint64 n, gfloat mean);
  /* y = (x - mean) * rate * scale + bias of @rows rows of @n, with a parameter for each element of
   * a row; @bias may be NULL. A row's mean is 0 where they are not @centred; its rate is the root
   * of the mean square, plus @epsilon, of what is apart from the mean, inverted. */
  void (*scale_rows) (gfloat *restrict y, const gfloat *restrict x, const gfloat *restrict scale,
                      const gfloat *restrict bias, gint64 rows, gint64 n, gfloat epsilon,
                      gboolean centred);
  /* y = x * factor + shift */
  void (*scale_plane) (gfloat *restrict y, const gfloat *restrict x, gint64 n, gfloat factor,
                       gfloat shift);
  /* Sets sum[i] to that of (x - mean[i])^2 of element i of all @count planes of @n. */
  void (*square_planes) (gfloat *restrict sum, const gfloat *restrict x,
                         const gfloat *restrict mean, gint64 n, gint64 count);
} CpuNormalize;
