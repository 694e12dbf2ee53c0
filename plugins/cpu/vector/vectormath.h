/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of a vector of floats, included by the sources that are compiled per instruction set.
 *
 * What is no number stays so, and infinities give what the reference kernels give. Errors are the
 * largest against double precision, in units of the result's last place (ulp); unit-vectormath
 * proves them. Results below 4e-36 may be 0.
 *
 * Not for -ffast-math, which would remove the sum that rounds. */
#pragma once

#include "post.h"
#include "vectorchoice.h"

/* e^x = 2^n e^r with n whole and |r| <= ln 2 / 2. */
typedef struct {
  VI32 n; /* in the low bits */
  VF32 q; /* e^r - 1 */
} VectorPower;

#define CPU_FEW_VECTORS 4 /* that are worked on side by side */

/* Of @n vectors, CPU_FEW_VECTORS at most, each step of all of them before the next one, which would
 * wait for it. @x: -100 to 100. Adding 1.5 * 2^23 rounds to a whole number, which then stands in
 * the low bits. ln 2 is in two parts, the first short enough for exact products (Cody and Waite
 * 1980). The polynomial is the minimax of (e^r - 1 - r) / r^2. */
CPU_INLINE void
vector_split_powers (VectorPower *to, const VF32 *x, gint n)
{
  static const gfloat factors[] = { 8.366515170e-3f, 4.166719969e-2f, 1.666654366e-1f,
                                    4.999999815e-1f };
  VF32 whole[CPU_FEW_VECTORS], r[CPU_FEW_VECTORS], p[CPU_FEW_VECTORS];
  for (gint u = 0; u < n; u++)
    whole[u] = x[u] * 1.44269504f + 12582912.0f;
  for (gint u = 0; u < n; u++)
    to[u].n = (VI32)whole[u];
  for (gint u = 0; u < n; u++)
    whole[u] -= 12582912.0f;
  for (gint u = 0; u < n; u++)
    r[u] = x[u] - whole[u] * 0.693145752f;
  for (gint u = 0; u < n; u++)
    r[u] -= whole[u] * 1.42860677e-6f;
  for (gint u = 0; u < n; u++)
    p[u] = splat_float (1.388252251e-3f);
  for (guint i = 0; i < G_N_ELEMENTS (factors); i++)
    for (gint u = 0; u < n; u++)
      p[u] = p[u] * r[u] + factors[i];
  for (gint u = 0; u < n; u++)
    to[u].q = p[u] * (r[u] * r[u]) + r[u];
}

CPU_INLINE VectorPower
vector_split_power (VF32 x)
{
  VectorPower power;
  vector_split_powers (&power, &x, 1);
  return power;
}

/* 2^(n + @more), from -126 to 127; 0 of -127 */
CPU_INLINE VF32
vector_power_of_2 (VI32 n, gint more)
{
  return (VF32)(((VU32)n << 23) + ((guint32)(127 + more) << 23));
}

/* e^x where it is a number of some size: 2 ulp; from 89 on infinite, below -86 no less than e^-86.
 * The half is doubled, so that the largest ones get their exponent. */
CPU_INLINE VF32
vector_exp_above (VF32 x)
{
  VectorPower p = vector_split_power (vector_clip (x, splat_float (-86), splat_float (89)));
  VF32 half = vector_power_of_2 (p.n, -1);
  half = p.q * half + half;
  return half + half;
}

/* 2 ulp */
CPU_INLINE VF32
vector_exp (VF32 x)
{
  return vector_if_less (x, splat_float (-86), splat_float (0), vector_exp_above (x));
}

/* e^x of @n vectors that are not above 0: 2 ulp; below -88, and of what is infinite, 0. There 2^n
 * has no exponent. */
CPU_INLINE void
vector_exp_below_one (VF32 *x, gint n)
{
  VectorPower p[CPU_FEW_VECTORS];
  for (gint u = 0; u < n; u++)
    x[u] = vector_at_least (x[u], splat_float (-88));
  vector_split_powers (p, x, n);
  for (gint u = 0; u < n; u++) {
    VF32 scale = vector_power_of_2 (p[u].n, 0);
    x[u] = p[u].q * scale + scale;
  }
}

/* e^x - 1 for x <= 80: 3 ulp */
CPU_INLINE VF32
vector_expm1 (VF32 x)
{
  VectorPower p = vector_split_power (vector_at_least (x, splat_float (-80)));
  VF32 scale = vector_power_of_2 (p.n, 0);
  return p.q * scale + (scale - 1);
}

/* log (1 + x) for sqrt (1/2) <= 1 + x <= sqrt (2). The polynomial is the minimax of what follows
 * x - x^2 / 2, divided by x^3. */
CPU_INLINE VF32
vector_log1p_near (VF32 x)
{
  VF32 p = x * 6.746641059e-2f - 1.167565197e-1f, s = x * x;
  p = p * x + 1.188816210e-1f;
  p = p * x - 1.240558888e-1f;
  p = p * x + 1.421955238e-1f;
  p = p * x - 1.666799586e-1f;
  p = p * x + 2.000211866e-1f;
  p = p * x - 2.500000960e-1f;
  p = p * x + 3.333331260e-1f;
  return x + (p * x - 0.5f) * s;
}

/* 2 ulp; of denormal numbers, too */
CPU_INLINE VF32
vector_log (VF32 x)
{
  const VF32 least = splat_float (G_MINFLOAT), zero = splat_float (0);
  VF32 normal = vector_if_less (x, least, x * 8388608.0f, x), y, special;
  VI32 bits = (VI32)((VU32)normal - 0x3f3504f3u); /* of sqrt (1/2) */
  VF32 n = __builtin_convertvector(bits >> 23, VF32);
  n -= vector_if_less (x, least, splat_float (23), zero);
  y = vector_log1p_near ((VF32)((bits & 0x7fffff) + 0x3f3504f3) - 1);
  y = n * 0.693145752f + (n * 1.42860677e-6f + y);
  y = vector_if_less (splat_float (G_MAXFLOAT), x, x, y);
  special = vector_if_less (x, zero, splat_float (__builtin_nanf ("")), x - __builtin_inff ());
  return vector_if_less (zero, x, y, special);
}

CPU_INLINE VF32
vector_relu (VF32 x)
{
  return vector_at_least (x, splat_float (0));
}

CPU_INLINE VF32
vector_leaky (VF32 x, VF32 alpha)
{
  return vector_if_less (x, splat_float (0), x * alpha, x);
}

/* 1 + e^-x: 2 ulp; infinite below -89, some number where @x is none. The polynomial is that of
 * vector_split_power () for e^-r / 2: near 1/2, so that its exponent takes n as a whole number, and
 * half of e^-x the largest n. By powers of r^2, whose chain is half as long (Estrin 1960). */
CPU_INLINE VF32
vector_one_and_exp_minus (VF32 x)
{
  VF32 shifted, n, r, s, p;
  x = vector_clip (x, splat_float (-89), splat_float (86));
  shifted = x * -1.44269504f + 12582912.0f;
  n = shifted - 12582912.0f;
  r = (x + n * 0.693145752f) + n * 1.42860677e-6f;
  s = r * r;
  p = s * 6.941261255e-4f + (r * -4.183257585e-3f + 2.083359985e-2f);
  p = p * s + (r * -8.333271830e-2f + 2.499999908e-1f);
  p = p * s + (r * -0.5f + 0.5f);
  return (VF32)((VU32)p + ((VU32)shifted << 23)) * 2 + 1;
}

/* 3 ulp */
CPU_INLINE VF32
vector_sigmoid (VF32 x)
{
  return vector_unless_nan (x, 1 / vector_one_and_exp_minus (x));
}

/* 3 ulp */
CPU_INLINE VF32
vector_silu (VF32 x)
{
  return x / vector_one_and_exp_minus (x);
}

CPU_INLINE VF32
vector_swish (VF32 x, VF32 alpha)
{
  VF32 z = x * alpha;
  return x / vector_unless_nan (z, vector_one_and_exp_minus (z));
}

CPU_INLINE VF32
vector_hard_sigmoid (VF32 x, VF32 alpha, VF32 beta)
{
  return vector_clip (x * alpha + beta, splat_float (0), splat_float (1));
}

CPU_INLINE VF32
vector_hard_swish (VF32 x)
{
  return x * vector_hard_sigmoid (x, splat_float (1.0f / 6), splat_float (0.5f));
}

/* 4 ulp; 1 from 10 on */
CPU_INLINE VF32
vector_tanh (VF32 x)
{
  VF32 e = vector_expm1 (vector_at_most (x + x, splat_float (20)));
  return e / (e + 2);
}

/* 6 ulp: x times a rational function of x^2, a minimax up to 3.95; 1 beyond */
CPU_INLINE VF32
vector_erf (VF32 x)
{
  const VF32 one = vector_copy_sign (splat_float (1), x);
  VF32 s = x * x, p, q;
  p = s * 2.025925592e-6f + 2.846855932e-4f;
  q = s * 3.783187011e-5f + 1.170702659e-3f;
  p = p * s + 3.808066597e-3f;
  q = q * s + 1.505490081e-2f;
  p = p * s + 5.287515647e-2f;
  q = q * s + 1.145587106e-1f;
  p = p * s + 1.915480971e-1f;
  q = q * s + 5.030877576e-1f;
  p = p * s + 1.128379144f;
  q = q * s + 1;
  return vector_if_less (splat_float (3.92f), vector_abs (x), one, x * p / q);
}

/* By erf, with the error of x times 1 + erf: 1e-7 x. */
CPU_INLINE VF32
vector_gelu (VF32 x)
{
  VF32 half = 0.5f * x;
  return half + half * vector_erf (x * 0.70710678f);
}

/* By tanh, which is a sigmoid of twice as much. */
CPU_INLINE VF32
vector_gelu_tanh (VF32 x)
{
  VF32 cubic = x * (x * x) * 0.07135481283f + x * 1.595769122f; /* 2 sqrt (2 / pi) */
  return x / vector_one_and_exp_minus (cubic);
}

/* 3 ulp: the logarithm of 1 + e, half of it where e is above sqrt (2) - 1 */
CPU_INLINE VF32
vector_softplus (VF32 x)
{
  const VF32 zero = splat_float (0), many = splat_float (0.41421356f);
  VF32 e = vector_exp (-vector_abs (x)), near = vector_if_less (many, e, (e - 1) * 0.5f, e);
  VF32 two = vector_if_less (many, e, splat_float (0.693147181f), zero);
  return vector_relu (x) + (two + vector_log1p_near (near));
}

/* tanh (log (1 + e)) is n / (n + 2) with n = e (e + 2); 5 ulp */
CPU_INLINE VF32
vector_mish (VF32 x)
{
  VF32 e = vector_exp (vector_at_most (x, splat_float (20))), n = e * (e + 2);
  return x * (n / (n + 2));
}

CPU_INLINE VF32
vector_elu (VF32 x, VF32 alpha)
{
  const VF32 zero = splat_float (0);
  return vector_if_less (x, zero, alpha * vector_expm1 (vector_at_most (x, zero)), x);
}

CPU_INLINE VF32
vector_celu (VF32 x, VF32 alpha)
{
  const VF32 zero = splat_float (0);
  VF32 z = vector_at_most (x, zero) / alpha; /* above 0 where alpha is below */
  VF32 e = vector_expm1 (-vector_abs (z));   /* e^z - 1 = (1 - e^-z) e^z */
  return vector_if_less (x, zero, alpha * vector_if_less (zero, z, -e * vector_exp (z), e), x);
}

CPU_INLINE VF32
vector_sign (VF32 x)
{
  const VF32 zero = splat_float (0), one = splat_float (1);
  return vector_if_less (zero, x, one, vector_if_less (x, zero, -one, zero));
}

CPU_INLINE VF32
vector_threshold (VF32 x, VF32 alpha)
{
  return vector_if_less (alpha, x, x, splat_float (0));
}

CPU_INLINE VF32
vector_shrink (VF32 x, VF32 alpha, VF32 beta)
{
  VF32 above = vector_if_less (alpha, x, x - beta, splat_float (0));
  return vector_if_less (x, -alpha, x + beta, above);
}

/* The sine of x + @quarters right angles: 2 ulp up to CPU_FARTHEST_ANGLE. A right angle is in four
 * parts, of which the first three are short enough for exact products. Polynomials of Cephes
 * (Moshier 1992) up to half of one. */
CPU_INLINE VF32
vector_wave (VF32 x, gint quarters)
{
  VF32 shifted = x * 0.636619772f + 12582912.0f, n = shifted - 12582912.0f;
  VF32 r = ((x - n * 1.5703125f) - n * 4.837512969970703e-4f) - n * 7.549533620476723e-8f;
  VI32 turn = (VI32)shifted + quarters, is_cosine = -(turn & 1);
  VF32 s, sine, cosine;
  r -= n * 2.5633442e-12f;
  s = r * r;
  sine = s * -1.9515295891e-4f + 8.3321608736e-3f;
  sine = (sine * s - 1.6666654611e-1f) * (s * r) + r;
  cosine = s * 2.443315711809948e-5f - 1.388731625493765e-3f;
  cosine = (cosine * s + 4.166664568298827e-2f) * (s * s) + (1 - s * 0.5f);
  return (VF32)((VU32)((is_cosine & (VI32)cosine) | (~is_cosine & (VI32)sine)) ^
                ((VU32)(turn & 2) << 30));
}

/* Polynomial of Cephes (Moshier 1992) for the inverse sine, up to 1/2, with @s = @x^2. */
CPU_INLINE VF32
vector_small_asin (VF32 x, VF32 s)
{
  VF32 p = s * 4.2163199048e-2f + 2.4181311049e-2f;
  p = p * s + 4.5470025998e-2f;
  p = p * s + 7.4953002686e-2f;
  p = p * s + 1.6666752422e-1f;
  return p * (s * x) + x;
}

/* 3 ulp: above 1/2 by that of the root of half of what is left of 1, of which a right angle lacks
 * the double. Beyond 1 that root is no number. */
CPU_INLINE VF32
vector_asin (VF32 x)
{
  const VF32 half = splat_float (0.5f);
  VF32 size = vector_abs (x), rest = 0.5f - size * 0.5f;
  VF32 s = vector_if_less (half, size, rest, x * x);
  VF32 a = vector_small_asin (vector_if_less (half, size, vector_sqrt (rest), size), s);
  return vector_copy_sign (vector_if_less (half, size, 1.57079633f - (a + a), a), x);
}

/* 3 ulp. Near 1 it is the double of a small angle, whose error it has; near -1 what that lacks of
 * two right ones. */
CPU_INLINE VF32
vector_acos (VF32 x)
{
  const VF32 half = splat_float (0.5f), zero = splat_float (0);
  VF32 size = vector_abs (x), rest = 0.5f - size * 0.5f;
  VF32 s = vector_if_less (half, size, rest, x * x);
  VF32 a = vector_small_asin (vector_if_less (half, size, vector_sqrt (rest), x), s);
  VF32 wide = vector_if_less (x, zero, 3.14159265f - (a + a), a + a);
  return vector_if_less (half, size, wide, (7.54978995e-8f - a) + 1.57079625f);
}

/* 3 ulp: beyond 3/16 of a circle by that of 1 / x, beyond 1/16 by that of how far it is from 1/8.
 * Polynomial of Cephes. */
CPU_INLINE VF32
vector_atan (VF32 x)
{
  const VF32 far = splat_float (2.41421356f), near = splat_float (0.414213562f);
  const VF32 zero = splat_float (0), one = splat_float (1);
  VF32 size = vector_abs (x), s, p;
  VF32 over = vector_if_less (far, size, -one, vector_if_less (near, size, size - 1, size));
  VF32 under = vector_if_less (far, size, size, vector_if_less (near, size, size + 1, one));
  VF32 begin = vector_if_less (far, size, splat_float (1.57079633f),
                               vector_if_less (near, size, splat_float (0.785398163f), zero));
  VF32 r = over / under;
  s = r * r;
  p = s * 8.05374449538e-2f - 1.38776856032e-1f;
  p = p * s + 1.99777106478e-1f;
  p = p * s - 3.33329491539e-1f;
  return vector_copy_sign (begin + (p * (s * r) + r), x);
}

/* With a constant @kind this is one function: what loops over many vectors calls, in a switch
 * outside of the loop made by CPU_ACTIVATIONS or CPU_FUNCTIONS. */
CPU_INLINE VF32
vector_function (CpuPostKind kind, VF32 x, VF32 alpha, VF32 beta)
{
  switch ((gint)kind) {
  case CPU_POST_RELU:
    return vector_relu (x);
  case CPU_POST_CLIP:
    return vector_clip (x, alpha, beta);
  case CPU_POST_LEAKY:
    return vector_leaky (x, alpha);
  case CPU_POST_SIGMOID:
    return vector_sigmoid (x);
  case CPU_POST_SILU:
    return vector_silu (x);
  case CPU_POST_SWISH:
    return vector_swish (x, alpha);
  case CPU_POST_HARD_SIGMOID:
    return vector_hard_sigmoid (x, alpha, beta);
  case CPU_POST_HARD_SWISH:
    return vector_hard_swish (x);
  case CPU_POST_TANH:
    return vector_tanh (x);
  case CPU_POST_GELU:
    return vector_gelu (x);
  case CPU_POST_GELU_TANH:
    return vector_gelu_tanh (x);
  case CPU_POST_MISH:
    return vector_mish (x);
  case CPU_POST_SOFTPLUS:
    return vector_softplus (x);
  case CPU_POST_ELU:
    return vector_elu (x, alpha);
  case CPU_POST_LINEAR:
    return x * alpha + beta;
  case CPU_POST_SELU:
    return beta * vector_elu (x, alpha);
  case CPU_POST_CELU:
    return vector_celu (x, alpha);
  case CPU_POST_EXP:
    return vector_exp (x);
  case CPU_POST_LOG:
    return vector_log (x);
  case CPU_POST_ERF:
    return vector_erf (x);
  case CPU_POST_ABS:
    return vector_abs (x);
  case CPU_POST_NEG:
    return -x;
  case CPU_POST_SQRT:
    return vector_sqrt (x);
  case CPU_POST_SQUARE:
    return x * x;
  case CPU_POST_CUBE:
    return x * x * x;
  case CPU_POST_RECIPROCAL:
    return 1 / x;
  case CPU_POST_CEIL:
    return vector_ceil (x);
  case CPU_POST_FLOOR:
    return vector_floor (x);
  case CPU_POST_ROUND:
    return vector_round (x);
  case CPU_POST_SIGN:
    return vector_sign (x);
  case CPU_POST_SOFTSIGN:
    return x / (1 + vector_abs (x));
  case CPU_POST_THRESHOLDED:
    return vector_threshold (x, alpha);
  case CPU_POST_SHRINK:
    return vector_shrink (x, alpha, beta);
  case CPU_POST_ACOS:
    return vector_acos (x);
  case CPU_POST_ASIN:
    return vector_asin (x);
  case CPU_POST_ATAN:
    return vector_atan (x);
  case CPU_POST_SIN:
    return vector_wave (x, 0);
  case CPU_POST_COS:
    return vector_wave (x, 1);
  default:
    return x;
  }
}
