/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of one float that kernels may apply to their results before they write them, or that
 * are operators of their own. Builders fill a CpuPost, by cpu_post_init(); loops apply it by
 * vectormath.h. */
#pragma once

#include <glib.h>

/* What networks put behind a convolution. F is given each name. */
#define CPU_ACTIVATIONS(F)                                                                         \
  F (RELU)         /* max (x, 0) */                                                                \
  F (CLIP)         /* alpha to beta */                                                             \
  F (LEAKY)        /* x < 0 ? alpha * x : x */                                                     \
  F (SIGMOID)      /* 1 / (1 + e^-x) */                                                            \
  F (SILU)         /* x / (1 + e^-x) */                                                            \
  F (SWISH)        /* x / (1 + e^(-alpha * x)) */                                                  \
  F (HARD_SIGMOID) /* alpha * x + beta within 0 and 1 */                                           \
  F (HARD_SWISH)   /* x * (x / 6 + 1 / 2 within 0 and 1) */                                        \
  F (TANH)                                                                                         \
  F (GELU) /* by erf */                                                                            \
  F (GELU_TANH)                                                                                    \
  F (MISH)     /* x * tanh (softplus (x)) */                                                       \
  F (SOFTPLUS) /* log (1 + e^x) */                                                                 \
  F (ELU)      /* x < 0 ? alpha * (e^x - 1) : x */

/* Other operators, a vector at a time. */
#define CPU_FUNCTIONS(F)                                                                           \
  F (LINEAR) /* alpha * x + beta */                                                                \
  F (SELU)   /* beta * (x > 0 ? x : alpha * (e^x - 1)) */                                          \
  F (CELU)   /* x < 0 ? alpha * (e^(x / alpha) - 1) : x */                                         \
  F (EXP)                                                                                          \
  F (LOG)                                                                                          \
  F (ERF)                                                                                          \
  F (ABS)                                                                                          \
  F (NEG)                                                                                          \
  F (SQRT)                                                                                         \
  F (SQUARE)                                                                                       \
  F (CUBE)                                                                                         \
  F (RECIPROCAL)                                                                                   \
  F (CEIL)                                                                                         \
  F (FLOOR)                                                                                        \
  F (ROUND) /* half to even */                                                                     \
  F (SIGN)                                                                                         \
  F (ACOS)                                                                                         \
  F (ASIN)                                                                                         \
  F (ATAN)                                                                                         \
  F (SOFTSIGN)    /* x / (1 + |x|) */                                                              \
  F (THRESHOLDED) /* x > alpha ? x : 0 */                                                          \
  F (SHRINK)      /* x < -alpha ? x + beta : x > alpha ? x - beta : 0 */

/* By the C library, too, where an angle is beyond CPU_FARTHEST_ANGLE. */
#define CPU_WAVES(F)                                                                               \
  F (COS, cosf)                                                                                    \
  F (SIN, sinf)
#define CPU_FARTHEST_ANGLE 8192

/* Those that nobody waits for, by the C library: F is given its function, too. */
#define CPU_LIBRARY_FUNCTIONS(F)                                                                   \
  F (ACOSH, acoshf)                                                                                \
  F (ASINH, asinhf)                                                                                \
  F (ATANH, atanhf)                                                                                \
  F (COSH, coshf)                                                                                  \
  F (SINH, sinhf)                                                                                  \
  F (TAN, tanf)

#define CPU_FUNCTION(name, ...) CPU_POST_##name,
typedef enum {
  CPU_POST_NONE,
  CPU_ACTIVATIONS (CPU_FUNCTION) CPU_FUNCTIONS (CPU_FUNCTION) CPU_WAVES (CPU_FUNCTION)
      CPU_LIBRARY_FUNCTIONS (CPU_FUNCTION) CPU_N_POSTS
} CpuPostKind;
#undef CPU_FUNCTION

/* Activations come first. */
#define CPU_LAST_ACTIVATION CPU_POST_ELU

typedef struct {
  CpuPostKind kind;
  gfloat alpha, beta;
} CpuPost;
