/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Half precision and bfloat16 conversions, round to nearest even (IEEE 754-2008). */
#pragma once

#include <glib.h>
#include <string.h>

static inline gfloat
axon_half_to_float (guint16 h)
{
  guint32 sign = (guint32)(h & 0x8000) << 16, exp = (h >> 10) & 0x1f, man = h & 0x3ff, bits;
  gfloat f;
  if (exp == 0x1f) {
    bits = sign | 0x7f800000 | (man << 13);
  } else if (exp != 0) {
    bits = sign | ((exp + 112) << 23) | (man << 13);
  } else {
    f = (gfloat)man * 0x1p-24f;
    return sign ? -f : f;
  }
  memcpy (&f, &bits, 4);
  return f;
}

static inline guint16
axon_float_to_half (gfloat f)
{
  guint32 x, sign, round;
  memcpy (&x, &f, 4);
  sign = (x >> 16) & 0x8000;
  x &= 0x7fffffff;
  if (x >= 0x7f800000)
    return (guint16)(sign | 0x7c00 | (x > 0x7f800000 ? 0x200 : 0));
  if (x >= 0x477ff000)
    return (guint16)(sign | 0x7c00);
  if (x < 0x38800000) {
    gfloat a, magic = 0.5f;
    guint32 m, bias;
    memcpy (&a, &x, 4);
    a += magic;
    memcpy (&m, &a, 4);
    memcpy (&bias, &magic, 4);
    return (guint16)(sign | (m - bias));
  }
  round = ((x >> 13) & 1) + 0xfff;
  return (guint16)(sign | ((x + round - 0x38000000) >> 13));
}

static inline gfloat
axon_bf16_to_float (guint16 b)
{
  guint32 bits = (guint32)b << 16;
  gfloat f;
  memcpy (&f, &bits, 4);
  return f;
}

static inline guint16
axon_float_to_bf16 (gfloat f)
{
  guint32 x;
  memcpy (&x, &f, 4);
  if ((x & 0x7fffffff) > 0x7f800000)
    return (guint16)((x >> 16) | 0x40);
  return (guint16)((x + 0x7fff + ((x >> 16) & 1)) >> 16);
}
