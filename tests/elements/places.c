/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where points are beside zones and lines that lie aslant, in a frame that is half as wide again as
 * high, and how warm the places are where they were. The distances were computed in another way:
 * inside is what the corners turn around. */
#include "axontest.h"

#include "analytics/gstnnheat.h"

#define ASPECT 1.5

/* One corner points inwards; no edge is level or upright. */
static gdouble zone_corners[] = { .1, .2, .3, .9, .5, .45, .85, .8, .7, .15 };
static gdouble line_ends[] = { .2, .3, .7, .8 };

static void
points_are_as_far_from_the_edge_of_a_zone_as_it_is (void)
{
  static const struct {
    GstNnPoint p;
    gdouble depth;
  } cases[] = {
    { { .3, .4 }, .059088 },     { { .45, .75 }, .059088 },  { { .75, .6 }, -.083205 },
    { { .9, .3 }, .141449 },     { { 1.125, .6 }, .076326 }, { { .075, .1 }, -.125 },
    { { 1.425, .9 }, -.180278 }, { { 1.05, .12 }, -.03 },    { { .18, .5 }, -.090601 },
    { { 1.2, .3 }, -.092681 },
  };
  GstNnRule zone = { .is_zone = TRUE, .coordinates = zone_corners, .n_points = 5 };
  for (guint turn = 0; turn < 5; turn++) { /* whichever corner is first */
    gdouble first[2] = { zone_corners[0], zone_corners[1] };
    for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
      g_assert_cmpfloat_with_epsilon (gst_nn_place_in_zone (&zone, ASPECT, cases[i].p),
                                      cases[i].depth, 1e-5);
    memmove (zone_corners, zone_corners + 2, 8 * sizeof *zone_corners);
    memcpy (zone_corners + 8, first, sizeof first);
  }
}

static void
points_are_as_far_from_a_line_as_it_is (void)
{
  static const struct {
    GstNnPoint p;
    gdouble distance;
  } cases[] = { { { .45, .2 }, -.16641 },
                { { .3, .6 }, .249615 },
                { { 1.35, .5 }, -.416025 },
                { { .15, .9 }, .582435 } };
  GstNnRule line = { .coordinates = line_ends, .n_points = 2 };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpfloat_with_epsilon (gst_nn_place_by_line (&line, ASPECT, cases[i].p),
                                    cases[i].distance, 1e-5);
}

/* Aslant over it at a twentieth of its length, three and nineteen, and as far beyond its ends. */
static void
a_way_crosses_a_line_only_between_its_ends (void)
{
  static const struct {
    GstNnPoint from, to;
    gboolean crosses;
  } cases[] = {
    { { .3429, .2084 }, { .0614, .4414 }, FALSE },  { { .3013, .1807 }, { .1654, .5107 }, FALSE },
    { { .4179, .2584 }, { .1364, .4914 }, TRUE },   { { .3763, .2307 }, { .2404, .5607 }, TRUE },
    { { .6054, .3834 }, { .3239, .6164 }, TRUE },   { { .5638, .3557 }, { .4279, .6857 }, TRUE },
    { { 1.0929, .7084 }, { .8114, .9414 }, TRUE },  { { 1.0513, .6807 }, { .9154, 1.0107 }, TRUE },
    { { 1.1679, .7584 }, { .8864, .9914 }, FALSE }, { { 1.1263, .7307 }, { .9904, 1.0607 }, FALSE },
  };
  GstNnRule line = { .coordinates = line_ends, .n_points = 2 };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_assert_true (gst_nn_place_crosses (&line, ASPECT, cases[i].from, cases[i].to) ==
                   cases[i].crosses);
    g_assert_true (gst_nn_place_crosses (&line, ASPECT, cases[i].to, cases[i].from) ==
                   cases[i].crosses);
  }
}

static void
assert_heat (const GstNnMask *map, gdouble width, gdouble height, const guint8 expected[6])
{
  gdouble area[4];
  gst_nn_mask_get_area (map, &area[0], &area[1], &area[2], &area[3]);
  g_assert_true (area[0] == 0 && area[1] == 0 && area[2] == width && area[3] == height);
  g_assert_cmpuint (gst_nn_mask_get_columns (map), ==, 3);
  g_assert_cmpuint (gst_nn_mask_get_rows (map), ==, 2);
  g_assert_cmpmem (g_bytes_get_data (gst_nn_mask_get_values (map), NULL), 6, expected, 6);
}

/* To a quarter in two seconds, then twice something new, then to a half in one. */
static void
places_cool_to_a_half_in_the_half_life (void)
{
  static const guint8 before[] = { 127, 0, 0, 0, 0, 255 }, after[] = { 31, 0, 255, 0, 0, 63 };
  GstNnHeat *heat = gst_nn_heat_new (3, 2, 1);
  const GstNnMask *map;
  gst_nn_heat_add (heat, 0.1, 0.2);
  gst_nn_heat_add (heat, 1, 1);
  gst_nn_heat_add (heat, 0.9, 0.6);
  assert_heat (gst_nn_heat_get (heat, GST_SECOND, 30, 20), 30, 20, before);
  map = gst_nn_heat_get (heat, 3 * GST_SECOND, 30, 20);
  assert_heat (map, 30, 20, before);
  gst_nn_heat_add (heat, 0.7, -1);
  gst_nn_heat_add (heat, 0.7, 0.4);
  g_assert_true (gst_nn_heat_get (heat, 4 * GST_SECOND - 1, 30, 20) == map);
  assert_heat (gst_nn_heat_get (heat, 4 * GST_SECOND, 30, 20), 30, 20, after);
  gst_nn_heat_free (heat);
}

static void
the_heat_of_a_frame_of_another_size_covers_it (void)
{
  static const guint8 expected[] = { 0, 0, 0, 0, 255, 0 };
  GstNnHeat *heat = gst_nn_heat_new (3, 2, 0);
  gst_nn_heat_add (heat, 0.5, 0.7);
  assert_heat (gst_nn_heat_get (heat, 0, 30, 20), 30, 20, expected);
  assert_heat (gst_nn_heat_get (heat, 1, 60, 20), 60, 20, expected);
  assert_heat (gst_nn_heat_get (heat, 2, 60, 40), 60, 40, expected);
  gst_nn_heat_free (heat);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/places/" #name, name)
  ADD (points_are_as_far_from_the_edge_of_a_zone_as_it_is);
  ADD (points_are_as_far_from_a_line_as_it_is);
  ADD (a_way_crosses_a_line_only_between_its_ends);
  ADD (places_cool_to_a_half_in_the_half_life);
  ADD (the_heat_of_a_frame_of_another_size_covers_it);
  return g_test_run ();
}
