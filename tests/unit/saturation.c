/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which weights of an integer convolution oneDNN multiplies exactly without VNNI. */
#include "../../plugins/cpu/onednn/saturation.h"

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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/saturation/" #name, name)
  ADD (weights_of_seven_bits_fit);
  ADD (one_large_weight_fits_beside_small_ones);
  ADD (any_two_weights_of_a_channel_count_as_a_pair);
  ADD (weights_of_different_channels_never_meet);
  return g_test_run ();
}
