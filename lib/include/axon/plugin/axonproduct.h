/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A product of many numbers. On the way it may be larger or smaller than any double although all of
 * it is not, in whatever order its factors come: so its power of two is kept beside it. No state:
 * any thread. */
#pragma once

#include <axon/axonapi.h>
#include <glib.h>

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
AXON_API void axon_product_multiply (AxonProduct *product, gdouble x);

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
AXON_API gdouble axon_product_value (const AxonProduct *product);

G_END_DECLS
