/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators: loops over vectors, or plain ones that the compiler vectorises. */
#include "level.h"
#include "vectormath.h"

#include <math.h>

CPU_INLINE void
apply (CpuPostKind kind, gfloat *y, const gfloat *x, gint64 n, const CpuPost *post)
{
  const VF32 alpha = splat_float (post->alpha), beta = splat_float (post->beta);
  gint64 i = 0;
  for (; i + CPU_LANES <= n; i += CPU_LANES)
    *(VF32 *)(y + i) = vector_function (kind, *(const VF32 *)(x + i), alpha, beta);
  if (i < n)
    vector_store_some (y + i, vector_function (kind, vector_load_some (x + i, n - i), alpha, beta),
                       n - i);
}

/* TRUE if an angle is farther than polynomials reach. */
static gboolean
is_far (const gfloat *x, gint64 n)
{
  gboolean far = FALSE;
  for (gint64 i = 0; i < n; i++)
    far |= fabsf (x[i]) > CPU_FARTHEST_ANGLE;
  return far;
}

static void
apply_post (gfloat *y, const gfloat *x, gint64 n, const CpuPost *post)
{
  switch ((gint)post->kind) {
#define CASE(name)                                                                                 \
  case CPU_POST_##name:                                                                            \
    apply (CPU_POST_##name, y, x, n, post);                                                        \
    break;
    CPU_ACTIVATIONS (CASE)
    CPU_FUNCTIONS (CASE)
#undef CASE
#define CASE(name, func)                                                                           \
  case CPU_POST_##name:                                                                            \
    if (is_far (x, n))                                                                             \
      for (gint64 i = 0; i < n; i++)                                                               \
        y[i] = func (x[i]);                                                                        \
    else                                                                                           \
      apply (CPU_POST_##name, y, x, n, post);                                                      \
    break;
    CPU_WAVES (CASE)
#undef CASE
#define CASE(name, func)                                                                           \
  case CPU_POST_##name:                                                                            \
    for (gint64 i = 0; i < n; i++)                                                                 \
      y[i] = func (x[i]);                                                                          \
    break;
    CPU_LIBRARY_FUNCTIONS (CASE)
#undef CASE
  default:
    break;
  }
}

/* Of floats. The larger and the smaller are no number where either is none. */
CPU_INLINE VF32
pair_of (gint kind, VF32 a, VF32 b)
{
  switch (kind) {
  case CPU_PAIR_ADD:
    return a + b;
  case CPU_PAIR_SUB:
    return a - b;
  case CPU_PAIR_MUL:
    return a * b;
  case CPU_PAIR_DIV:
    return a / b;
  case CPU_PAIR_MAX:
    return vector_unless_nan (a, vector_at_least (b, a));
  case CPU_PAIR_MIN:
    return vector_unless_nan (a, vector_at_most (b, a));
  case CPU_PAIR_PRELU:
  default:
    return vector_leaky (a, b);
  }
}

/* @each_a, @each_b: FALSE for one number */
CPU_INLINE void
pair_loop (gint kind, gfloat *y, const gfloat *a, const gfloat *b, gint64 n, gboolean each_a,
           gboolean each_b)
{
  const VF32 one_a = splat_float (each_a ? 0 : *a), one_b = splat_float (each_b ? 0 : *b);
  gint64 i = 0;
  for (; i + CPU_LANES <= n; i += CPU_LANES)
    *(VF32 *)(y + i) = pair_of (kind, each_a ? *(const VF32 *)(a + i) : one_a,
                                each_b ? *(const VF32 *)(b + i) : one_b);
  if (i < n)
    vector_store_some (y + i,
                       pair_of (kind, each_a ? vector_load_some (a + i, n - i) : one_a,
                                each_b ? vector_load_some (b + i, n - i) : one_b),
                       n - i);
}

#define FLOAT_PAIR(name, kind)                                                                     \
  static void name (gpointer y, gconstpointer a, gconstpointer b, gint64 n, gint64 sa, gint64 sb)  \
  {                                                                                                \
    if (sa && sb)                                                                                  \
      pair_loop (kind, y, a, b, n, TRUE, TRUE);                                                    \
    else if (sa)                                                                                   \
      pair_loop (kind, y, a, b, n, TRUE, FALSE);                                                   \
    else if (sb)                                                                                   \
      pair_loop (kind, y, a, b, n, FALSE, TRUE);                                                   \
    else                                                                                           \
      pair_loop (kind, y, a, b, n, FALSE, FALSE);                                                  \
  }
FLOAT_PAIR (pair_add, CPU_PAIR_ADD)
FLOAT_PAIR (pair_sub, CPU_PAIR_SUB)
FLOAT_PAIR (pair_mul, CPU_PAIR_MUL)
FLOAT_PAIR (pair_div, CPU_PAIR_DIV)
FLOAT_PAIR (pair_max, CPU_PAIR_MAX)
FLOAT_PAIR (pair_min, CPU_PAIR_MIN)
FLOAT_PAIR (pair_prelu, CPU_PAIR_PRELU)
#undef FLOAT_PAIR

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
PAIR (pair_pow, gfloat, gfloat, powf (a, b))
PAIR (pair_equal, gfloat, guint8, a == b)
PAIR (pair_greater, gfloat, guint8, a > b)
PAIR (pair_greater_equal, gfloat, guint8, a >= b)
PAIR (pair_less, gfloat, guint8, a < b)
PAIR (pair_less_equal, gfloat, guint8, a <= b)
PAIR (pair_fmod, gfloat, gfloat, fmodf (a, b))
PAIR (pair_unordered, gfloat, guint8, a != a || b != b)
PAIR (pair_same_size, gfloat, guint8, fabsf (a) == b)
/* Shifted by all its bits or more, a word is 0. */
#define SHIFT(a, op, b) ((b) < 8 * sizeof (a) ? (a)op (b) : 0)
#define BITS(name, expr)                                                                           \
  PAIR (name##_1, guint8, guint8, expr)                                                            \
  PAIR (name##_2, guint16, guint16, expr)                                                          \
  PAIR (name##_4, guint32, guint32, expr)                                                          \
  PAIR (name##_8, guint64, guint64, expr)
BITS (bits_and, a &b)
BITS (bits_or, a | b)
BITS (bits_xor, a ^ b)
BITS (bits_left, SHIFT (a, <<, b))
BITS (bits_right, SHIFT (a, >>, b))
#undef BITS
#undef SHIFT
#undef PAIR

/* Both are loaded, then one is taken: no branch in the loop. */
#define CHOOSE(at_a, at_b)                                                                         \
  for (gint64 i = 0; i < n; i++) {                                                                 \
    Word v = a[at_a], w = b[at_b];                                                                 \
    y[i] = c[i] ? v : w;                                                                           \
  }
#define CHOOSER(name, type)                                                                        \
  static void name (gpointer to, const guint8 *restrict c, gconstpointer from_a,                   \
                    gconstpointer from_b, gint64 n, gint64 sc, gint64 sa, gint64 sb)               \
  {                                                                                                \
    typedef type Word;                                                                             \
    Word *restrict y = to;                                                                         \
    const Word *restrict a = from_a, *restrict b = from_b;                                         \
    if (sc && sa && sb)                                                                            \
      CHOOSE (i, i)                                                                                \
    else if (sc && sa)                                                                             \
      CHOOSE (i, 0)                                                                                \
    else if (sc && sb)                                                                             \
      CHOOSE (0, i)                                                                                \
    else                                                                                           \
      for (gint64 i = 0; i < n; i++)                                                               \
        y[i] = c[i * sc] ? a[i * sa] : b[i * sb];                                                  \
  }
CHOOSER (choose_1, guint8)
CHOOSER (choose_2, guint16)
CHOOSER (choose_4, guint32)
CHOOSER (choose_8, guint64)
#undef CHOOSER
#undef CHOOSE

#define WORDS(name)                                                                                \
  {                                                                                                \
    name##_1, name##_2, name##_4, name##_8                                                         \
  }

const CpuEltwise CPU_NAME (cpu_eltwise) = {
  .post = apply_post,
  .pair = { [CPU_PAIR_ADD] = pair_add,
            [CPU_PAIR_SUB] = pair_sub,
            [CPU_PAIR_MUL] = pair_mul,
            [CPU_PAIR_DIV] = pair_div,
            [CPU_PAIR_MAX] = pair_max,
            [CPU_PAIR_MIN] = pair_min,
            [CPU_PAIR_PRELU] = pair_prelu,
            [CPU_PAIR_POW] = pair_pow,
            [CPU_PAIR_EQUAL] = pair_equal,
            [CPU_PAIR_GREATER] = pair_greater,
            [CPU_PAIR_GREATER_EQUAL] = pair_greater_equal,
            [CPU_PAIR_LESS] = pair_less,
            [CPU_PAIR_LESS_EQUAL] = pair_less_equal,
            [CPU_PAIR_FMOD] = pair_fmod,
            [CPU_PAIR_UNORDERED] = pair_unordered,
            [CPU_PAIR_SAME_SIZE] = pair_same_size },
  .bits = { [CPU_BITS_AND] = WORDS (bits_and),
            [CPU_BITS_OR] = WORDS (bits_or),
            [CPU_BITS_XOR] = WORDS (bits_xor),
            [CPU_BITS_LEFT] = WORDS (bits_left),
            [CPU_BITS_RIGHT] = WORDS (bits_right) },
  .choose = WORDS (choose),
};
