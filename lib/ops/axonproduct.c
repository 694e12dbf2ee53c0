/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Products of many numbers. */
#include "ops-private.h"

#include <math.h>

void
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

gdouble
axon_product_value (const AxonProduct *product)
{
  return ldexp (product->mantissa, (gint)CLAMP (product->exponent, -4096, 4096));
}
