/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exp for loops that the compiler turns into vectors. */
#pragma once

#include "vector.h"

#include <math.h>
#include <string.h>

/* e^x for x <= 0: powers of two, and the series of the rest, |r| <= ln 2 / 2. */
CPU_INLINE gfloat
exp_negative (gfloat x)
{
  gfloat least = x > -87 ? x : -87; /* not fmaxf: it keeps loops from being vectorised */
  gfloat k = rintf (least * 1.44269504f), r = least - k * 0.693359375f, power;
  guint32 bits = (guint32)((gint32)k + 127) << 23;
  r += k * 2.12194440e-4f; /* ln 2 in two parts (Cody and Waite 1980) */
  memcpy (&power, &bits, sizeof power);
  return power *
         (1 +
          r * (1 + r * (1.0f / 2 + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r / 720))))));
}
