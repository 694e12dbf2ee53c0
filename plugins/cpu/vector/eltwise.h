/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators, over elements that follow each other. */
#pragma once

#include "post.h"

/* y = f (x); @y may be @x. */
typedef void (*CpuPostFunc) (gfloat *y, const gfloat *x, gint64 n, const CpuPost *post);

/* A row of @n with steps 0 or 1 through a and b. Where the result is of floats, @y may be either.
 */
typedef void (*CpuPairFunc) (gpointer y, gconstpointer a, gconstpointer b, gint64 n, gint64 sa,
                             gint64 sb);

/* Of floats; results of comparisons are bytes. */
enum {
  CPU_PAIR_ADD,
  CPU_PAIR_SUB,
  CPU_PAIR_MUL,
  CPU_PAIR_DIV,
  CPU_PAIR_MAX,
  CPU_PAIR_MIN,
  CPU_PAIR_PRELU, /* a < 0 ? a * b : a */
  CPU_PAIR_POW,
  CPU_PAIR_EQUAL,
  CPU_PAIR_GREATER,
  CPU_PAIR_GREATER_EQUAL,
  CPU_PAIR_LESS,
  CPU_PAIR_LESS_EQUAL,
  CPU_PAIR_FMOD,
  CPU_PAIR_UNORDERED, /* a or b is no number */
  CPU_PAIR_SAME_SIZE, /* |a| = b */
  CPU_N_PAIRS
};

enum { CPU_BITS_AND, CPU_BITS_OR, CPU_BITS_XOR, CPU_BITS_LEFT, CPU_BITS_RIGHT, CPU_N_BITS };
#define CPU_N_WORDS 4 /* of 1 << i bytes */

/* y = c ? a : b, with steps 0 or 1 */
typedef void (*CpuChooseFunc) (gpointer y, const guint8 *restrict c, gconstpointer a,
                               gconstpointer b, gint64 n, gint64 sc, gint64 sa, gint64 sb);

typedef struct {
  CpuPostFunc post;
  CpuPairFunc pair[CPU_N_PAIRS];
  CpuPairFunc bits[CPU_N_BITS][CPU_N_WORDS];
  CpuChooseFunc choose[CPU_N_WORDS];
} CpuEltwise;
