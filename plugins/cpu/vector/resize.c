/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Linear interpolation. */
#include "level.h"

static void
blend_rows (gfloat *restrict out, const gfloat *restrict a, const gfloat *restrict b, gint64 n,
            gfloat f)
{
  for (gint64 i = 0; i < n; i++)
    out[i] = a[i] + (b[i] - a[i]) * f;
}

static void
blend_columns (gfloat *restrict out, const gfloat *restrict row, const gint32 *restrict x0,
               const gint32 *restrict x1, const gfloat *restrict f, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    out[i] = row[x0[i]] + (row[x1[i]] - row[x0[i]]) * f[i];
}

const CpuResize CPU_NAME (cpu_resize) = { blend_rows, blend_columns };
