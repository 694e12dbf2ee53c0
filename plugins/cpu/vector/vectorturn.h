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

#define CPU_OF_ALL(name, JOIN)                                                                     \
  CPU_INLINE VF32 vector_##name##_of_all (VF32 v)                                                  \
  {                                                                                                \
    CPU_JOIN_WIDE (v, JOIN);                                                                       \
    CPU_JOIN_LANES (v, JOIN, 2);                                                                   \
    CPU_JOIN_LANES (v, JOIN, 1);                                                                   \
    return v;                                                                                      \
  }
CPU_OF_ALL (sum, CPU_ADD)
CPU_OF_ALL (largest, vector_larger)
CPU_OF_ALL (smallest, vector_smaller)
#undef CPU_OF_ALL
