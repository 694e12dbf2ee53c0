/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of vector/vectormath.h, every level that this processor has and emulated ones:
 * the largest error that each states, infinities, and what is no number. */
#include "kerneltables.h"

#include <math.h>
#include <string.h>

typedef struct {
  const gchar *name;
  CpuPost post;
  gdouble (*exact) (gdouble x);
  gdouble ulps;
  gdouble least; /* results that are smaller may be 0 */
} Function;

static gdouble
sigmoid (gdouble x)
{
  return 1 / (1 + exp (-x));
}

static gdouble
swish (gdouble x)
{
  return x / (1 + exp (-x));
}

static gdouble
softplus (gdouble x)
{
  return log1p (exp (-fabs (x))) + fmax (x, 0);
}

static gdouble
mish (gdouble x)
{
  return x * tanh (softplus (x));
}

static gdouble
elu (gdouble x)
{
  return x < 0 ? 1.5 * expm1 (x) : x;
}

static gdouble
celu (gdouble x)
{
  return x < 0 ? 2 * expm1 (x / 2) : x;
}

static gdouble
celu_that_falls (gdouble x)
{
  return x < 0 ? -2 * expm1 (x / -2) : x;
}

static gdouble
selu (gdouble x)
{
  return 1.25 * elu (x);
}

static gdouble
softsign (gdouble x)
{
  return x / (1 + fabs (x));
}

static const Function functions[] = {
  { "exp", { .kind = CPU_POST_EXP }, exp, 1.5, 5e-38 },
  { "log", { .kind = CPU_POST_LOG }, log, 1.5, 0 },
  { "sigmoid", { .kind = CPU_POST_SIGMOID }, sigmoid, 3, 5e-38 },
  { "silu", { .kind = CPU_POST_SILU }, swish, 3, 4e-36 },
  { "swish", { CPU_POST_SWISH, 1, 0 }, swish, 3, 4e-36 },
  { "tanh", { .kind = CPU_POST_TANH }, tanh, 4, 0 },
  { "erf", { .kind = CPU_POST_ERF }, erf, 6, 0 },
  { "softplus", { .kind = CPU_POST_SOFTPLUS }, softplus, 3, 5e-38 },
  { "mish", { .kind = CPU_POST_MISH }, mish, 5, 4e-36 },
  { "elu", { CPU_POST_ELU, 1.5, 0 }, elu, 3, 0 },
  { "celu", { CPU_POST_CELU, 2, 0 }, celu, 3, 0 },
  { "celu of a negative alpha", { CPU_POST_CELU, -2, 0 }, celu_that_falls, 5, 0 },
  { "selu", { CPU_POST_SELU, 1.5, 1.25 }, selu, 4, 0 },
  { "softsign", { .kind = CPU_POST_SOFTSIGN }, softsign, 2, 0 },
  { "sqrt", { .kind = CPU_POST_SQRT }, sqrt, 0.5, 0 },
  { "acos", { .kind = CPU_POST_ACOS }, acos, 3, 0 },
  { "asin", { .kind = CPU_POST_ASIN }, asin, 3, 0 },
  { "atan", { .kind = CPU_POST_ATAN }, atan, 3, 0 },
  { "sin", { .kind = CPU_POST_SIN }, sin, 2, 0 },
  { "cos", { .kind = CPU_POST_COS }, cos, 2, 0 },
};

#define N 1021 /* at a time: whole vectors, and some elements */

/* Every 5003rd of all floats, so that each exponent gets many. */
#define STEP 5003

static gdouble
error_in_ulps (gfloat y, gdouble exact, gfloat rounded)
{
  return fabs ((gdouble)y - exact) /
         (gdouble)(nextafterf (fabsf (rounded), INFINITY) - fabsf (rounded));
}

static void
check (const Function *f, gfloat x, gfloat y)
{
  gdouble exact = f->exact ((gdouble)x);
  gfloat rounded = (gfloat)exact;
  gdouble least = MAX (f->least, 1.2e-38);
  if (isnan (rounded) || isnan (y) || isinf (rounded) || isinf (y)) {
    /* At the border of what overflows, either may. */
    if (isnan (rounded) != isnan (y) || (!isnan (y) && !(fabsf (y) >= 3.3e38f)))
      g_error ("%s (%g): %g, expected %g", f->name, x, y, rounded);
  } else if (fabs (exact) < least ? fabs ((gdouble)y - exact) > least
                                  : error_in_ulps (y, exact, rounded) > f->ulps)
    g_error ("%s (%g): %g, expected %g", f->name, x, y, rounded);
}

static void
errors_are_what_the_header_says (gconstpointer data)
{
  const Function *f = data;
  for (guint k = 0; k < G_N_ELEMENTS (tables); k++) {
    gfloat x[N], y[N];
    guint64 bits = 0;
    if (!table_is_here (k) || !table_has_floats (k))
      continue;
    while (bits <= G_MAXUINT32) {
      for (gint i = 0; i < N; i++, bits += STEP) {
        guint32 word = (guint32)MIN (bits, G_MAXUINT32);
        memcpy (&x[i], &word, sizeof word);
      }
      tables[k].vector->eltwise->post (y, x, N, &f->post);
      for (gint i = 0; i < N; i++)
        check (f, x[i], y[i]);
    }
  }
}

static void
nothing_behind_the_last_element_is_written (void)
{
  const CpuPost post = { .kind = CPU_POST_SIGMOID };
  for (guint k = 0; k < G_N_ELEMENTS (tables); k++)
    for (gint n = 0; n < 40 && table_is_here (k) && table_has_floats (k); n++) {
      gfloat x[41] = { 0 }, y[41] = { 0 };
      tables[k].vector->eltwise->post (y, x, n, &post);
      for (gint i = 0; i <= 40; i++)
        g_assert_cmpfloat (y[i], ==, i < n ? 0.5f : 0);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++) {
    g_autofree gchar *path =
        g_strconcat ("/vectormath/errors_are_what_the_header_says/", functions[i].name, NULL);
    g_test_add_data_func (path, &functions[i], errors_are_what_the_header_says);
  }
  g_test_add_func ("/vectormath/nothing_behind_the_last_element_is_written",
                   nothing_behind_the_last_element_is_written);
  return g_test_run ();
}
