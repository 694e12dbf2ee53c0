/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which integer convolutions oneDNN computes exactly, whatever the input. */
#include "../../plugins/cpu/onednn/int8bounds.h"

#include <string.h>

#define FITS(n_channels, ...)                                                                      \
  dnn_pairs_fit ((const gint8[]){ __VA_ARGS__ }, n_channels,                                       \
                 sizeof ((const gint8[]){ __VA_ARGS__ }) / (n_channels))

static void
weights_of_seven_bits_fit (void)
{
  g_assert_true (FITS (1, 64, 64, -64, -64));
  g_assert_true (FITS (1, 0, 0, 0));
  g_assert_false (FITS (1, 64, 65));
  g_assert_false (FITS (1, -64, -65));
}

static void
one_large_weight_fits_beside_small_ones (void)
{
  g_assert_true (FITS (1, 127));
  g_assert_true (FITS (1, -128));
  g_assert_true (FITS (1, 1, 127, -1, 0, 1));
  g_assert_true (FITS (1, -128, 127, 0));
  g_assert_false (FITS (1, 127, 2));
  g_assert_false (FITS (1, -1, 0, -128));
}

static void
any_two_weights_of_a_channel_count_as_a_pair (void)
{
  g_assert_false (FITS (1, 100, 0, 0, 0, 0, 0, 0, 29));
  g_assert_false (FITS (1, 29, 0, 100));
  g_assert_false (FITS (1, -29, 5, 0, 5, -100));
  g_assert_true (FITS (1, 100, -100, 28, -28, 28, -28));
}

static void
weights_of_different_channels_never_meet (void)
{
  g_assert_true (FITS (2, 127, 0, 127, 0));
  g_assert_false (FITS (2, 127, 0, 100, 100));
  g_assert_false (FITS (2, 100, 100, 127, 0));
}

static gboolean
bias_adds (gint weight, gsize n, gint low, gint high, gint32 bias)
{
  g_autofree gint8 *weights = g_malloc (2 * n);
  gint32 both[] = { 0, bias };
  memset (weights, 0, n);
  memset (weights + n, weight, n);
  return dnn_bias_adds_exactly (weights, 2, n, low, high, both);
}

static void
a_bias_is_added_exactly_to_sums_of_24_bits (void)
{
  g_assert_true (bias_adds (127, 518, 0, 255, 3));
  g_assert_false (bias_adds (127, 519, 0, 255, 3));
  g_assert_false (bias_adds (-127, 519, 0, 255, 3));
  g_assert_true (bias_adds (127, 1024, -128, 127, 3));
  g_assert_false (bias_adds (-128, 1024, -255, 0, 3));
  g_assert_true (bias_adds (127, 519, 0, 255, 0));
}

static void
a_bias_must_be_a_float_unless_it_is_all (void)
{
  g_assert_true (bias_adds (1, 1, 0, 255, 1 << 24));
  g_assert_false (bias_adds (1, 1, 0, 255, (1 << 24) + 1));
  g_assert_true (bias_adds (1, 1, 0, 255, (1 << 24) + 2));
  g_assert_true (bias_adds (1, 1, 0, 255, G_MININT32));
  g_assert_false (bias_adds (1, 1, 0, 255, G_MAXINT32));
  g_assert_true (bias_adds (0, 9, 0, 255, G_MAXINT32));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/int8bounds/" #name, name)
  ADD (weights_of_seven_bits_fit);
  ADD (one_large_weight_fits_beside_small_ones);
  ADD (any_two_weights_of_a_channel_count_as_a_pair);
  ADD (weights_of_different_channels_never_meet);
  ADD (a_bias_is_added_exactly_to_sums_of_24_bits);
  ADD (a_bias_must_be_a_float_unless_it_is_all);
  return g_test_run ();
}
