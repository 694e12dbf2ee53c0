/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators of two whole numbers of 32 or 64 bits, as their definitions in lib/ops have them: sums
 * and products wrap, what is divided by 0 is 0. */
#include "whole.h"

#include "../vector/eltwise.h"

/* clang-format off */
#define DIVIDE(a, b) ((b) == 0 ? 0 : (b) == -1 ? SUBTRACT (0, a) : (a) / (b))
#define SUBTRACT(a, b) (Signed)((Unsigned)(a) - (Unsigned)(b))
#define TRUNCATED(a, b) ((b) == 0 || (b) == -1 ? 0 : (a) % (b))
#define FLOORED(a, b) (TRUNCATED (a, b) + (TRUNCATED (a, b) != 0 && ((a) < 0) != ((b) < 0) ? (b) : 0))

/* With the sign of b, and with that of a */
enum { MOD = CPU_N_PAIRS, N_KINDS };

#define PAIR(name, bits, type, expression)                                                         \
  static void name##_##bits (gpointer y, gconstpointer pa, gconstpointer pb, gint64 n, gint64 sa,  \
                             gint64 sb)                                                            \
  {                                                                                                \
    typedef gint##bits Signed;                                                                     \
    typedef guint##bits Unsigned G_GNUC_UNUSED;                                                    \
    const Signed *pair[2] = { pa, pb };                                                            \
    for (gint64 i = 0; i < n; i++) {                                                               \
      Signed a = pair[0][i * sa], b = pair[1][i * sb];                                             \
      ((type *)y)[i] = (type)(expression);                                                         \
    }                                                                                              \
  }
#define PAIRS(bits)                                                                                \
  PAIR (add, bits, gint##bits, (Unsigned)a + (Unsigned)b)                                          \
  PAIR (sub, bits, gint##bits, SUBTRACT (a, b))                                                    \
  PAIR (mul, bits, gint##bits, (Unsigned)a * (Unsigned)b)                                          \
  PAIR (divide, bits, gint##bits, DIVIDE (a, b))                                                   \
  PAIR (max, bits, gint##bits, MAX (a, b))                                                         \
  PAIR (min, bits, gint##bits, MIN (a, b))                                                         \
  PAIR (equal, bits, guint8, a == b)                                                               \
  PAIR (greater, bits, guint8, a > b)                                                              \
  PAIR (greater_equal, bits, guint8, a >= b)                                                       \
  PAIR (less, bits, guint8, a < b)                                                                 \
  PAIR (less_equal, bits, guint8, a <= b)                                                          \
  PAIR (fmod, bits, gint##bits, TRUNCATED (a, b))                                                  \
  PAIR (mod, bits, gint##bits, FLOORED (a, b))
PAIRS (32)
PAIRS (64)

#define ROW(kind, name) [kind] = { name##_32, name##_64 }
static const CpuPairFunc pairs[N_KINDS][2] = {
  ROW (CPU_PAIR_ADD, add), ROW (CPU_PAIR_SUB, sub), ROW (CPU_PAIR_MUL, mul),
  ROW (CPU_PAIR_DIV, divide), ROW (CPU_PAIR_MAX, max), ROW (CPU_PAIR_MIN, min),
  ROW (CPU_PAIR_EQUAL, equal), ROW (CPU_PAIR_GREATER, greater),
  ROW (CPU_PAIR_GREATER_EQUAL, greater_equal), ROW (CPU_PAIR_LESS, less),
  ROW (CPU_PAIR_LESS_EQUAL, less_equal), ROW (CPU_PAIR_FMOD, fmod), ROW (MOD, mod),
};
/* clang-format on */

CpuPairFunc
cpu_whole_pair (const AxonNode *node, guint kind)
{
  AxonDType a = node->inputs[0]->type.dtype, b = node->inputs[1]->type.dtype;
  if (a != b || (a != AXON_DTYPE_I32 && a != AXON_DTYPE_I64))
    return NULL;
  if (kind == CPU_PAIR_FMOD && axon_node_get_int (node, "fmod") == 0)
    kind = MOD;
  return pairs[kind][a == AXON_DTYPE_I64];
}
