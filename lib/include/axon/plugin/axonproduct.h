/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A product of many numbers. On the way it may be larger or smaller than any double although all of
 * it is not, in whatever order its factors come: so its power of two is kept beside it. No state:
 * any thread. */
#pragma once

#include <glib.h>
#include <math.h>

G_BEGIN_DECLS

/* mantissa * 2^exponent; 1 is { 1, 0 }. */
typedef struct {
  gdouble mantissa;
  gint64 exponent;
} AxonProduct;

/**
 * axon_product_multiply:
 * @product: a product
 * @x: a factor
 *
 * Multiplies by one more number.
 *
 * Since: 1.0
 */
static inline void
axon_product_multiply (AxonProduct *product, gdouble x)
{
  gdouble y = product->mantissa * x, size = fabs (y);
  if (G_UNLIKELY (!(size > 0x1p-512 && size < 0x1p512))) {
    gint exponent[2] = { 0 };
    y = frexp (product->mantissa, &exponent[0]) * frexp (x, &exponent[1]);
    product->exponent += y != 0 && isfinite (y) ? exponent[0] + exponent[1] : 0;
  }
  product->mantissa = y;
}

/**
 * axon_product_value:
 * @product: a product
 *
 * Rounds it to a double.
 *
 * Returns: 0 or an infinity where it has none that is nearer
 *
 * Since: 1.0
 */
static inline gdouble
axon_product_value (const AxonProduct *product)
{
  return ldexp (product->mantissa, (gint)CLAMP (product->exponent, -4096, 4096));
}

G_END_DECLS
