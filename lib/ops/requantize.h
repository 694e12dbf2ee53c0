/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From quantised operands to exact sums, and from a sum to a quantised result: what the quantised
 * operators share. */
#pragma once

#include "ops-private.h"

gboolean axon_check_count (const AxonTypeInfo *in, guint index, gint64 channels, GError **error);
gdouble *axon_centre (const AxonTensor *x, const AxonTensor *zero, gsize inner, GError **error);
gfloat axon_product_scale (const AxonTensor *x, const AxonTensor *w, gsize channel,
                           const AxonTensor *y);
gdouble axon_requantize (gdouble sum, gfloat scale, const AxonTensor *zero);
void axon_store_clipped (AxonTensor *out, gdouble *values, const AxonNode *node);
