/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators: a row for each, over elements that follow each other. */
#pragma once

#include <glib.h>

typedef void (*CpuUnaryFunc) (gfloat *restrict y, const gfloat *restrict x, gint64 n);

typedef struct {
  const gchar *name; /* of the operator; NULL ends the table */
  CpuUnaryFunc func;
} CpuUnary;

/* Not an operator: Pow by 2. */
#define CPU_UNARY_SQUARE "axon.Square"

/* A row of @n with steps 0 or 1 through a and b. */
typedef void (*CpuPairFunc) (gpointer y, gconstpointer a, gconstpointer b, gint64 n, gint64 sa,
                             gint64 sb);

typedef struct {
  const gchar *name; /* of the operator; NULL ends the table */
  CpuPairFunc func;
  gboolean logical; /* of bytes that are 0 or 1, else of floats */
} CpuPair;

/* y = c ? a : b, with steps 0 or 1 */
typedef void (*CpuChooseFunc) (guint32 *restrict y, const guint8 *restrict c,
                               const guint32 *restrict a, const guint32 *restrict b, gint64 n,
                               gint64 sc, gint64 sa, gint64 sb);

/* y = x * alpha + beta within 0 and 1 */
typedef void (*CpuHardSigmoidFunc) (gfloat *restrict y, const gfloat *restrict x, gint64 n,
                                    gfloat alpha, gfloat beta);

typedef struct {
  const CpuUnary *unaries;
  const CpuPair *pairs;
  CpuChooseFunc choose;
  CpuHardSigmoidFunc hard_sigmoid;
} CpuEltwise;
