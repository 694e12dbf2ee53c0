/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators, each a loop that the compiler vectorises. */
#include "exp.h"
#include "level.h"

/* Abramowitz and Stegun 7.1.26 (error below 1.5e-7), near 0 the series 7.1.5. */
CPU_INLINE gfloat
erf_of (gfloat x)
{
  gfloat a = fabsf (x), s = x * x, t = 1 / (1 + 0.3275911f * a);
  gfloat far =
      1 - t *
              (0.254829592f +
               t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f)))) *
              exp_negative (-s);
  gfloat near =
      1.12837917f * x *
      (1 - s * (1.0f / 3 - s * (1.0f / 10 - s * (1.0f / 42 - s * (1.0f / 216 - s / 1320)))));
  return a < 0.5f ? near : copysignf (far, x);
}

#define UNARY(name, expr)                                                                          \
  static void name (gfloat *restrict y, const gfloat *restrict x, gint64 n)                        \
  {                                                                                                \
    for (gint64 i = 0; i < n; i++) {                                                               \
      gfloat v = x[i];                                                                             \
      y[i] = expr;                                                                                 \
    }                                                                                              \
  }
UNARY (unary_ceil, ceilf (v))
UNARY (unary_cos, cosf (v))
UNARY (unary_floor, floorf (v))
UNARY (unary_gelu, 0.5f * v * (1 + erf_of (v * 0.70710678f)))
UNARY (unary_neg, -v)
UNARY (unary_reciprocal, 1 / v)
UNARY (unary_round, rintf (v))
UNARY (unary_sign, (gfloat)((v > 0) - (v < 0)))
UNARY (unary_sin, sinf (v))
UNARY (unary_softsign, v / (1 + fabsf (v)))
UNARY (unary_square, v *v)
UNARY (unary_root, sqrtf (v))
UNARY (unary_erf, erf_of (v))
#undef UNARY

#define PAIR(name, in_type, out_type, expr)                                                        \
  static void name (gpointer y_, gconstpointer a_, gconstpointer b_, gint64 n, gint64 sa,          \
                    gint64 sb)                                                                     \
  {                                                                                                \
    out_type *restrict y = y_;                                                                     \
    const in_type *restrict pa = a_, *restrict pb = b_;                                            \
    if (sa && sb)                                                                                  \
      for (gint64 i = 0; i < n; i++) {                                                             \
        in_type a = pa[i], b = pb[i];                                                              \
        y[i] = (out_type)(expr);                                                                   \
      }                                                                                            \
    else if (sa)                                                                                   \
      for (gint64 i = 0; i < n; i++) {                                                             \
        in_type a = pa[i], b = *pb;                                                                \
        y[i] = (out_type)(expr);                                                                   \
      }                                                                                            \
    else                                                                                           \
      for (gint64 i = 0; i < n; i++) {                                                             \
        in_type a = *pa, b = pb[i * sb];                                                           \
        y[i] = (out_type)(expr);                                                                   \
      }                                                                                            \
  }
PAIR (pair_add, gfloat, gfloat, a + b)
PAIR (pair_sub, gfloat, gfloat, a - b)
PAIR (pair_mul, gfloat, gfloat, a *b)
PAIR (pair_div, gfloat, gfloat, a / b)
PAIR (pair_max, gfloat, gfloat, a > b || a != a ? a : b)
PAIR (pair_min, gfloat, gfloat, a < b || a != a ? a : b)
PAIR (pair_pow, gfloat, gfloat, powf (a, b))
PAIR (pair_equal, gfloat, guint8, a == b)
PAIR (pair_greater, gfloat, guint8, a > b)
PAIR (pair_greater_equal, gfloat, guint8, a >= b)
PAIR (pair_less, gfloat, guint8, a < b)
PAIR (pair_less_equal, gfloat, guint8, a <= b)
PAIR (pair_and, guint8, guint8, a &b)
PAIR (pair_or, guint8, guint8, a | b)
#undef PAIR

static void
choose (guint32 *restrict y, const guint8 *restrict c, const guint32 *restrict a,
        const guint32 *restrict b, gint64 n, gint64 sc, gint64 sa, gint64 sb)
{
  /* Both are loaded, then one is taken: no branch in the loop. */
#define CHOOSE(at_a, at_b)                                                                         \
  for (gint64 i = 0; i < n; i++) {                                                                 \
    guint32 v = a[at_a], w = b[at_b];                                                              \
    y[i] = c[i] ? v : w;                                                                           \
  }
  if (sc && sa && sb)
    CHOOSE (i, i)
  else if (sc && sa)
    CHOOSE (i, 0)
  else if (sc && sb)
    CHOOSE (0, i)
  else
    for (gint64 i = 0; i < n; i++)
      y[i] = c[i * sc] ? a[i * sa] : b[i * sb];
#undef CHOOSE
}

static void
hard_sigmoid (gfloat *restrict y, const gfloat *restrict x, gint64 n, gfloat alpha, gfloat beta)
{
  for (gint64 i = 0; i < n; i++) {
    gfloat v = x[i] * alpha + beta;
    v = v > 0 ? v : 0;
    y[i] = v < 1 ? v : 1;
  }
}

const CpuEltwise CPU_NAME (cpu_eltwise) = {
  .unary = { [CPU_UNARY_CEIL] = unary_ceil,
             [CPU_UNARY_COS] = unary_cos,
             [CPU_UNARY_ERF] = unary_erf,
             [CPU_UNARY_FLOOR] = unary_floor,
             [CPU_UNARY_NEG] = unary_neg,
             [CPU_UNARY_RECIPROCAL] = unary_reciprocal,
             [CPU_UNARY_ROUND] = unary_round,
             [CPU_UNARY_SIGN] = unary_sign,
             [CPU_UNARY_SIN] = unary_sin,
             [CPU_UNARY_SOFTSIGN] = unary_softsign,
             [CPU_UNARY_GELU] = unary_gelu,
             [CPU_UNARY_SQRT] = unary_root,
             [CPU_UNARY_SQUARE] = unary_square },
  .pair = { [CPU_PAIR_ADD] = pair_add,
            [CPU_PAIR_SUB] = pair_sub,
            [CPU_PAIR_MUL] = pair_mul,
            [CPU_PAIR_DIV] = pair_div,
            [CPU_PAIR_MAX] = pair_max,
            [CPU_PAIR_MIN] = pair_min,
            [CPU_PAIR_POW] = pair_pow,
            [CPU_PAIR_EQUAL] = pair_equal,
            [CPU_PAIR_GREATER] = pair_greater,
            [CPU_PAIR_GREATER_EQUAL] = pair_greater_equal,
            [CPU_PAIR_LESS] = pair_less,
            [CPU_PAIR_LESS_EQUAL] = pair_less_equal,
            [CPU_PAIR_AND] = pair_and,
            [CPU_PAIR_OR] = pair_or },
  .choose = choose,
  .hard_sigmoid = hard_sigmoid,
};
