/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the weights of an integer convolution can make of any input, to know at compile time whether
 * oneDNN computes it exactly. Weights: @n_channels output channels of @n_each. */
#pragma once

#include <glib.h>

/* Two products of a u8 and any two weights of a channel always add up to 16 bits: vpmaddubsw adds
 * pairs there, and saturates. */
gboolean dnn_pairs_fit (const gint8 *weights, gsize n_channels, gsize n_each);

/* Sums over inputs between @low and @high and @bias (by channel), added as floats, are what their
 * sum as integers is as a float. */
gboolean dnn_bias_adds_exactly (const gint8 *weights, gsize n_channels, gsize n_each, gint low,
                                gint high, const gint32 *bias);
