/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators, over elements that follow each other. */
#pragma once

#include <glib.h>

typedef void (*CpuUnaryFunc) (gfloat *restrict y, const gfloat *restrict x, gint64 n);

enum {
  CPU_UNARY_CEIL,
  CPU_UNARY_COS,
  CPU_UNARY_ERF,
  CPU_UNARY_FLOOR,
  CPU_UNARY_NEG,
  CPU_UNARY_RECIPROCAL,
  CPU_UNARY_ROUND,
  CPU_UNARY_SIGN,
  CPU_UNARY_SIN,
  CPU_UNARY_SOFTSIGN,
  CPU_UNARY_GELU,
  CPU_UNARY_SQRT,
  CPU_UNARY_SQUARE,
  CPU_N_UNARIES
};

/* A row of @n with steps 0 or 1 through a and b. */
typedef void (*CpuPairFunc) (gpointer y, gconstpointer a, gconstpointer b, gint64 n, gint64 sa,
                             gint64 sb);

/* AND and OR are of bytes that are 0 or 1, else of floats. */
enum {
  CPU_PAIR_ADD,
  CPU_PAIR_SUB,
  CPU_PAIR_MUL,
  CPU_PAIR_DIV,
  CPU_PAIR_MAX,
  CPU_PAIR_MIN,
  CPU_PAIR_POW,
  CPU_PAIR_EQUAL,
  CPU_PAIR_GREATER,
  CPU_PAIR_GREATER_EQUAL,
  CPU_PAIR_LESS,
  CPU_PAIR_LESS_EQUAL,
  CPU_PAIR_AND,
  CPU_PAIR_OR,
  CPU_N_PAIRS
};

/* y = c ? a : b, with steps 0 or 1 */
typedef void (*CpuChooseFunc) (guint32 *restrict y, const guint8 *restrict c,
                               const guint32 *restrict a, const guint32 *restrict b, gint64 n,
                               gint64 sc, gint64 sa, gint64 sb);

/* y = x * alpha + beta within 0 and 1 */
typedef void (*CpuHardSigmoidFunc) (gfloat *restrict y, const gfloat *restrict x, gint64 n,
                                    gfloat alpha, gfloat beta);

typedef struct {
  CpuUnaryFunc unary[CPU_N_UNARIES];
  CpuPairFunc pair[CPU_N_PAIRS];
  CpuChooseFunc choose;
  CpuHardSigmoidFunc hard_sigmoid;
} CpuEltwise;
