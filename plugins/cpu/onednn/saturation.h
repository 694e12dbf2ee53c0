/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Whether two products of a u8 and an s8 weight, of any two weights of one output channel, always
 * add up to 16 bits: what vpmaddubsw does, which saturates. @weights: @n_channels times @n_each. */
gboolean dnn_pairs_fit (const gint8 *weights, gsize n_channels, gsize n_each);
