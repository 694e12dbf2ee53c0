/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Largest and smallest of two vectors, where what is no number wins. */
#pragma once

#include "vectorchoice.h"

/* Both orders give the same, but where one is no number: then one of them is, and so is what their
 * bits make together. */
CPU_INLINE VF32
vector_larger (VF32 a, VF32 b)
{
  return (VF32)((VI32)vector_at_least (a, b) | (VI32)vector_at_least (b, a));
}

CPU_INLINE VF32
vector_smaller (VF32 a, VF32 b)
{
  return (VF32)((VI32)vector_at_most (a, b) | (VI32)vector_at_most (b, a));
}
