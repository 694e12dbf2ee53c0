/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lanes joined with lanes: after all steps each has what all have together. */
#pragma once

#include "vectorextreme.h"

#define CPU_SWAP_4(by, i) (i) ^ (by), ((i) + 1) ^ (by), ((i) + 2) ^ (by), ((i) + 3) ^ (by)
#define CPU_SWAP_8(by, i) CPU_SWAP_4 (by, i), CPU_SWAP_4 (by, (i) + 4)
#if CPU_VECTOR == 64
#define CPU_SWAP(by) CPU_SWAP_8 (by, 0), CPU_SWAP_8 (by, 8)
#elif CPU_VECTOR == 32
#define CPU_SWAP(by) CPU_SWAP_8 (by, 0)
#else
#define CPU_SWAP(by) CPU_SWAP_4 (by, 0)
#endif

/* Lane i with lane i ^ @by */
#define CPU_JOIN_LANES(v, JOIN, by) v = JOIN (v, __builtin_shufflevector (v, v, CPU_SWAP (by)))

#if CPU_VECTOR == 64
#define CPU_JOIN_WIDE(v, JOIN)                                                                     \
  CPU_JOIN_LANES (v, JOIN, 8);                                                                     \
  CPU_JOIN_LANES (v, JOIN, 4)
#elif CPU_VECTOR == 32
#define CPU_JOIN_WIDE(v, JOIN) CPU_JOIN_LANES (v, JOIN, 4)
#else
#define CPU_JOIN_WIDE(v, JOIN)
#endif

#define CPU_ADD(a, b) ((a) + (b))

CPU_INLINE VF32
vector_sum_of_all (VF32 v)
{
  CPU_JOIN_WIDE (v, CPU_ADD);
  CPU_JOIN_LANES (v, CPU_ADD, 2);
  CPU_JOIN_LANES (v, CPU_ADD, 1);
  return v;
}

CPU_INLINE VF32
vector_smallest_of_all (VF32 v)
{
  CPU_JOIN_WIDE (v, vector_smaller);
  CPU_JOIN_LANES (v, vector_smaller, 2);
  CPU_JOIN_LANES (v, vector_smaller, 1);
  return v;
}

CPU_INLINE VF32
vector_largest_of_all (VF32 v)
{
  CPU_JOIN_WIDE (v, vector_larger);
  CPU_JOIN_LANES (v, vector_larger, 2);
  CPU_JOIN_LANES (v, vector_larger, 1);
  return v;
}
