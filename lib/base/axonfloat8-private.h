/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Floats of 8 bits and fewer: OCP 8-bit Floating Point (E4M3, E5M2), their FNUZ forms (Noune et al.
 * 2022), and of OCP Microscaling Formats E2M1 and the scale E8M0. Round to nearest even. */
#pragma once

#include <glib.h>
#include <math.h>

typedef struct {
  gint exp_bits, man_bits, bias;
  gdouble max;
  gint nan, inf;  /* codes without sign; -1: none */
  gboolean is_uz; /* NaN is the code of negative zero */
  gboolean is_unsigned;
} AxonFloat8;

static const AxonFloat8 axon_f8e4m3fn = { 4, 3, 7, 448, 0x7f, -1, FALSE, FALSE };
static const AxonFloat8 axon_f8e4m3fnuz = { 4, 3, 8, 240, 0x80, -1, TRUE, FALSE };
static const AxonFloat8 axon_f8e5m2 = { 5, 2, 15, 57344, 0x7f, 0x7c, FALSE, FALSE };
static const AxonFloat8 axon_f8e5m2fnuz = { 5, 2, 16, 57344, 0x80, -1, TRUE, FALSE };
static const AxonFloat8 axon_f4e2m1 = { 2, 1, 1, 6, -1, -1, FALSE, FALSE };
static const AxonFloat8 axon_f8e8m0 = { 8, 0, 127, 0x1p127, 0xff, -1, FALSE, TRUE };

static inline gdouble
axon_float8_decode (const AxonFloat8 *f, guint8 code)
{
  gint sign_bit = f->exp_bits + f->man_bits, man = code & ((1 << f->man_bits) - 1);
  gint exp = (code >> f->man_bits) & ((1 << f->exp_bits) - 1);
  gint magnitude = code & ((1 << sign_bit) - 1);
  gdouble v;
  if (f->is_unsigned)
    return code == f->nan ? (gdouble)NAN : ldexp (1, code - f->bias);
  if (f->is_uz ? code == f->nan : f->inf >= 0 ? magnitude > f->inf : magnitude == f->nan)
    return (gdouble)NAN;
  if (magnitude == f->inf)
    v = (gdouble)INFINITY;
  else if (exp == 0)
    v = ldexp (man, 1 - f->bias - f->man_bits);
  else
    v = ldexp (man + (1 << f->man_bits), exp - f->bias - f->man_bits);
  return code >> sign_bit & 1 ? -v : v;
}

/* The next power of two at or above @v. */
static inline guint8
axon_float8_encode_scale (const AxonFloat8 *f, gdouble v)
{
  gint exp;
  gdouble man = frexp (v, &exp); /* v = man * 2^exp, 0.5 <= man < 1 */
  if (isnan (v))
    return (guint8)f->nan;
  if (v <= 0)
    return 0;
  return (guint8)CLAMP ((isinf (v) ? 1000 : exp - (man == 0.5)) + f->bias, 0, f->nan - 1);
}

static inline guint8
axon_float8_encode (const AxonFloat8 *f, gdouble v, gboolean saturate)
{
  gdouble a = fabs (v), quantum, rounded;
  gint sign = signbit (v) ? 1 << (f->exp_bits + f->man_bits) : 0, exp;
  if (f->is_unsigned)
    return axon_float8_encode_scale (f, v);
  if (isnan (v))
    return (guint8)(f->is_uz ? f->nan : sign | MAX (f->nan, 0));
  (void)frexp (isinf (a) ? 1 : a, &exp);
  quantum = ldexp (1, MAX (exp - 1, 1 - f->bias) - f->man_bits);
  rounded = isinf (a) ? a : nearbyint (a / quantum) * quantum;
  if (rounded > f->max) {
    if (!saturate)
      return (guint8)(f->is_uz ? f->nan : sign | (f->inf >= 0 ? f->inf : f->nan));
    rounded = f->max;
  }
  if (rounded == 0)
    return (guint8)(f->is_uz ? 0 : sign);
  (void)frexp (rounded, &exp);
  if (exp - 1 < 1 - f->bias)
    return (guint8)(sign | (gint)ldexp (rounded, f->bias - 1 + f->man_bits));
  return (guint8)(sign | (exp - 1 + f->bias) << f->man_bits |
                  ((gint)ldexp (rounded, f->man_bits - (exp - 1)) - (1 << f->man_bits)));
}
