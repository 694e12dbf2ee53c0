/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Four elements of four bytes, as every level has them. */
#pragma once

#include "level.h"

typedef guint32 CpuFour __attribute__ ((vector_size (16), aligned (4)));

/* Four by four: rows become columns. */
CPU_INLINE void
vector_turn_four (CpuFour v[4])
{
  const CpuFour ab = __builtin_shufflevector (v[0], v[1], 0, 4, 1, 5);
  const CpuFour cd = __builtin_shufflevector (v[2], v[3], 0, 4, 1, 5);
  const CpuFour ab_end = __builtin_shufflevector (v[0], v[1], 2, 6, 3, 7);
  const CpuFour cd_end = __builtin_shufflevector (v[2], v[3], 2, 6, 3, 7);
  v[0] = __builtin_shufflevector (ab, cd, 0, 1, 4, 5);
  v[1] = __builtin_shufflevector (ab, cd, 2, 3, 6, 7);
  v[2] = __builtin_shufflevector (ab_end, cd_end, 0, 1, 4, 5);
  v[3] = __builtin_shufflevector (ab_end, cd_end, 2, 3, 6, 7);
}
