/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Outputs that are maps: which dimension is which, which part shows the picture, and what hangs
 * together in them. */
#include "decoders.h"
#include "decoders/gstnnregions.h"

#include <math.h>
#include <string.h>

static void
channels_are_told_from_rows_and_columns (void)
{
  static const struct {
    const gchar *shape;
    gint width, height;
    guint n_labels;
    gint64 channels, rows, columns; /* 0: no map */
  } cases[] = {
    { "1x3x20x40", 80, 40, 3, 3, 20, 40 },
    { "1x20x40x3", 80, 40, 3, 3, 20, 40 },
    { "1x20x40x3", 80, 40, 20, 20, 40, 3 },
    { "1x3x20x40", 80, 40, 40, 40, 3, 20 },
    { "1x3x20x40", 80, 40, 0, 3, 20, 40 },
    { "1x20x40x3", 80, 40, 0, 3, 20, 40 },
    { "1x20x10x20", 10, 20, 20, 20, 20, 10 },
    { "1x20x20x20", 20, 20, 0, 20, 20, 20 },
    { "1x2x2x3", 7, 7, 0, 3, 2, 2 },
    { "1x1x20x40", 80, 40, 3, 1, 20, 40 },
    { "1x20x40x1", 80, 40, 3, 1, 20, 40 },
    { "3x20x40", 80, 40, 3, 3, 20, 40 },
    { "20x40", 80, 40, 3, 1, 20, 40 },
    { "1x20x40", 80, 40, 3, 1, 20, 40 },
    { "2x3x20x40", 80, 40, 3, 0, 0, 0 },
    { "1x1x3x20x40", 80, 40, 3, 0, 0, 0 },
    { "40", 80, 40, 3, 0, 0, 0 },
    { "1x3x0x40", 80, 40, 3, 0, 0, 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstNnMap map = { 0 };
    g_auto (Decoded) d = { 0 };
    decoded_init (&d, AXON_IMAGE_FIT_STRETCH, cases[i].width, cases[i].height, 80, 40);
    decoded_fill (&d, cases[i].shape, NULL, 0, NULL, 0);
    d.in.n_labels = cases[i].n_labels;
    g_test_message ("%s", cases[i].shape);
    g_assert_true (gst_nn_map_init (&map, &d.in, 0) == (cases[i].channels > 0));
    g_assert_cmpint (map.channels, ==, cases[i].channels);
    g_assert_cmpint (map.rows, ==, cases[i].rows);
    g_assert_cmpint (map.columns, ==, cases[i].columns);
    if (map.channels == 0)
      continue;
    g_assert_cmpint (gst_nn_map_find (&map, &d.in, map.channels, map.channels), ==, TRUE);
    g_assert_false (gst_nn_map_find (&map, &d.in, map.channels + 1, 99));
    g_assert_false (gst_nn_map_find (&map, &d.in, 0, map.channels - 1));
  }
}

static void
two_channels_are_shares_where_they_add_up_to_one (void)
{
  static const struct {
    gfloat first, second;
    gboolean are_shares;
  } cases[] = { { 0.3f, 0.7f, TRUE },   { 0, 1, TRUE },         { 1, 0, TRUE },
                { 0.3f, 0.705f, TRUE }, { 0.3f, 0.72f, FALSE }, { 0.3f, 0.68f, FALSE },
                { -0.2f, 1.2f, FALSE }, { 1.2f, -0.2f, FALSE }, { 0, 0, FALSE } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (gint64 at = 0; at < 6; at += 5) {
      const DecodedSpan spans[] = { { 0, 0, 1, 6, 1, { 0.5f } },
                                    { 0, 6, 1, 6, 1, { 0.5f } },
                                    { 0, at, 1, 1, 1, { cases[i].first } },
                                    { 0, 6 + at, 1, 1, 1, { cases[i].second } } };
      GstNnMap map;
      g_auto (Decoded) d = { 0 };
      decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 3, 2, 3, 2);
      decoded_fill (&d, "1x2x2x3", NULL, 0, spans, G_N_ELEMENTS (spans));
      g_assert_true (gst_nn_map_init (&map, &d.in, 0));
      g_assert_true (gst_nn_map_has_shares (&map) == cases[i].are_shares);
    }
}

/* A map of 8 by 4 cells of 10 pixels. */
static void
a_part_of_a_map_shows_the_target (void)
{
  static const struct {
    gdouble to_frame[6], box[4];
    gint64 column, row, columns, rows;
  } cases[] = {
    { { 1, 0, 0, 0, 1, 0 }, { 0, 0, 80, 40 }, 0, 0, 8, 4 },
    { { 1, 0, 0, 0, 1, 0 }, { 20, 10, 30, 20 }, 2, 1, 3, 2 },
    { { 1, 0, 0, 0, 1, 0 }, { 21, 11, 30, 20 }, 2, 1, 4, 3 },
    { { 1, 0, 0, 0, 1, 0 }, { 19, 9, 30, 20 }, 1, 0, 4, 3 },
    { { 2, 0, -20, 0, 4, -40 }, { 0, 0, 40, 40 }, 1, 1, 2, 1 },
    { { 1, 0, 0, 0, 1, 0 }, { -50, -50, 500, 500 }, 0, 0, 8, 4 },
    { { 1, 0, 0, 0, 1, 0 }, { 200, 10, 30, 20 }, 0, 1, 8, 2 },
    { { 1, 0, 0, 0, 1, 0 }, { 20, 100, 30, 20 }, 2, 0, 3, 4 },
    { { 1, 0.1, 0, 0, 1, 0 }, { 20, 10, 30, 20 }, 0, 0, 8, 4 },
    { { 1, 0, 0, 0.1, 1, 0 }, { 20, 10, 30, 20 }, 0, 0, 8, 4 },
    { { -1, 0, 0, 0, 1, 0 }, { 20, 10, 30, 20 }, 0, 0, 8, 4 },
    { { 1, 0, 0, 0, -1, 0 }, { 20, 10, 30, 20 }, 0, 0, 8, 4 },
    { { 0, 0, 0, 0, 1, 0 }, { 20, 10, 30, 20 }, 0, 0, 8, 4 },
    { { 1, 0, 0, 0, 1, 0 }, { 20, 10, 0, 20 }, 0, 0, 8, 4 },
    { { 1, 0, 0, 0, 1, 0 }, { 20, 10, 30, 0 }, 0, 0, 8, 4 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const gdouble *b = cases[i].box;
    GstNnMap map;
    GstNnMapPart part;
    GstNnObject *target;
    g_auto (Decoded) d = { 0 };
    decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 80, 40, 80, 40);
    decoded_fill (&d, "4x8", NULL, 0, NULL, 0);
    memcpy (d.in.to_frame, cases[i].to_frame, sizeof cases[i].to_frame);
    g_assert_true (gst_nn_map_init (&map, &d.in, 0));
    target = gst_nn_result_meta_add_object (d.result, 0);
    gst_nn_object_set_box (target, b[0], b[1], b[2], b[3]);
    part = gst_nn_map_part (&map, &d.in, target);
    g_assert_cmpint (part.column, ==, cases[i].column);
    g_assert_cmpint (part.row, ==, cases[i].row);
    g_assert_cmpint (part.columns, ==, cases[i].columns);
    g_assert_cmpint (part.rows, ==, cases[i].rows);
    g_assert_cmpfloat (part.area[0], ==, 10. * (gdouble)part.column);
    g_assert_cmpfloat (part.area[1], ==, 10. * (gdouble)part.row);
    g_assert_cmpfloat (part.area[2], ==, 10. * (gdouble)part.columns);
    g_assert_cmpfloat (part.area[3], ==, 10. * (gdouble)part.rows);
  }
}

#define MOST_REGIONS 3

/* Rows of digits, of which those above 4 are inside. Widths and heights between centres. */
static const struct {
  const gchar *rows;
  guint n;
  GstNnRegion regions[MOST_REGIONS]; /* by their first cells */
} pictures[] = {
  { "000 000", 0, { { 0 } } },
  { "04445 44444", 1, { { 4.5, 0.5, 0, 0, 0, 5 } } },
  { "0789 0000", 1, { { 2.5, 0.5, 2, 0, 0, 8 } } },
  { "57066 00000", 2, { { 1, 0.5, 1, 0, 0, 6 }, { 4, 0.5, 1, 0, 0, 6 } } },
  { "900 900 900", 1, { { 0.5, 1.5, 2, 0, G_PI_2, 9 } } },
  { "555 505 555", 1, { { 1.5, 1.5, 2, 2, 0, 5 } } },
  { "90009 09990 00000", 1, { { 2.5, 1, 4, 1, 0, 9 } } },
  { "9000 0900 0000 9009",
    3,
    { { 1, 1, G_SQRT2, 0, G_PI_4, 9 }, { 0.5, 3.5, 0, 0, 0, 9 }, { 3.5, 3.5, 0, 0, 0, 9 } } },
  { "0000900 0009990 0099999 0009990 0000900",
    1,
    { { 4.5, 2.5, 2 * G_SQRT2, 2 * G_SQRT2, G_PI_4, 9 } } },
  { "90009 90009 99999", 1, { { 2.5, 1.5, 4, 2, 0, 9 } } },
  { "99999 00009 99999", 1, { { 2.5, 1.5, 4, 2, 0, 9 } } },
  { "0900 0090 0090 0900", 1, { { 2, 2, 3, 1, G_PI_2, 9 } } },
};

/* Turned by a quarter, a rectangle is the same with its sides exchanged. */
static void
assert_region (const GstNnRegion *r, const GstNnRegion *expected)
{
  gboolean turned = fabs (fabs (r->angle - expected->angle) - G_PI_2) < 1e-6;
  g_assert_cmpfloat_with_epsilon (r->x, expected->x, 1e-6);
  g_assert_cmpfloat_with_epsilon (r->y, expected->y, 1e-6);
  g_assert_cmpfloat_with_epsilon (r->mean, expected->mean, 1e-6);
  g_assert_cmpfloat_with_epsilon (turned ? r->height : r->width, expected->width, 1e-6);
  g_assert_cmpfloat_with_epsilon (turned ? r->width : r->height, expected->height, 1e-6);
  g_assert_true (turned || fabs (r->angle - expected->angle) < 1e-6);
  g_assert_cmpfloat (fabs (r->angle), <=, G_PI_4 + 1e-6);
}

static void
cells_that_touch_are_one_region (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (pictures); i++) {
    g_auto (GStrv) rows = g_strsplit (pictures[i].rows, " ", -1);
    gsize n_rows = g_strv_length (rows), n_columns = strlen (rows[0]);
    g_autofree gfloat *values = g_new (gfloat, n_rows * n_columns);
    GstNnMap map = { values, 1, (gint64)n_rows, (gint64)n_columns, 0, (gint64)n_columns, 1 };
    g_autoptr (GArray) found = NULL;
    for (gsize k = 0; k < n_rows * n_columns; k++)
      values[k] = (gfloat)(rows[k / n_columns][k % n_columns] - '0');
    g_test_message ("%s", pictures[i].rows);
    found = gst_nn_map_find_regions (&map, 4);
    g_assert_cmpuint (found->len, ==, pictures[i].n);
    for (guint r = 0; r < found->len; r++)
      assert_region (&g_array_index (found, GstNnRegion, r), &pictures[i].regions[r]);
  }
}

/* The mean of a region counts: 0.75 of 5 by 4 cells. */
static void
a_text_counts_up_to_its_mean (void)
{
  static const gdouble thresholds[] = { 0.7, 0.75, 0.7500001 };
  const DecodedSpan spans[] = { { 0, 18, 1, 1, 5, { 0.75f, 0.75f, 0.75f, 0.75f, 0.75f } },
                                { 0, 26, 1, 1, 5, { 0.75f, 0.75f, 0.75f, 0.75f, 0.75f } },
                                { 0, 34, 1, 1, 5, { 0.75f, 0.75f, 0.75f, 0.75f, 0.75f } },
                                { 0, 42, 1, 1, 5, { 0.75f, 0.75f, 0.75f, 0.75f, 0.75f } } };
  for (guint i = 0; i < G_N_ELEMENTS (thresholds); i++) {
    g_auto (Decoded) d = { 0 };
    decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 64, 64, 64, 64);
    decoded_fill (&d, "1x1x8x8", NULL, 0, spans, G_N_ELEMENTS (spans));
    d.in.threshold = thresholds[i];
    decoded_run (&d, gst_nn_decoder_find ("text-detection"), 0.45, 9);
    g_assert_cmpuint (gst_nn_result_meta_get_n_objects (d.result), ==, i < 2);
  }
}

/* Of six cells, three, two and one: as many as are asked for, and no class that no cell has. */
static void
classes_of_pixels_are_told_by_what_they_cover (void)
{
  static const gint ids[] = { 2, 0, 7 };
  static const gdouble shares[] = { 3. / 6, 2. / 6, 1. / 6 };
  const DecodedSpan spans[] = { { 0, 0, 1, 1, 6, { 2, 0, 7, 2, 0, 2 } } };
  for (guint most = 0; most < 6; most++) {
    const GstNnAttribute *a;
    const GstNnObject *frame;
    g_auto (Decoded) d = { 0 };
    decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 3, 2, 3, 2);
    decoded_fill (&d, "1x2x3", NULL, 0, spans, 1);
    d.in.top_k = most;
    decoded_run (&d, gst_nn_decoder_find ("segmentation"), 0.45, 9);
    frame = gst_nn_result_meta_get_frame (d.result);
    for (guint i = 0; i < MIN (most, 3); i++) {
      a = gst_nn_object_get_attribute (frame, i);
      g_assert_nonnull (a);
      g_assert_cmpint (gst_nn_attribute_get_class_id (a), ==, ids[i]);
      g_assert_cmpfloat_with_epsilon (gst_nn_attribute_get_score (a), shares[i], 1e-6);
    }
    g_assert_null (gst_nn_object_get_attribute (frame, MIN (most, 3)));
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/decodermaps/" #name, name)
  ADD (channels_are_told_from_rows_and_columns);
  ADD (two_channels_are_shares_where_they_add_up_to_one);
  ADD (a_part_of_a_map_shows_the_target);
  ADD (cells_that_touch_are_one_region);
  ADD (a_text_counts_up_to_its_mean);
  ADD (classes_of_pixels_are_told_by_what_they_cover);
  return g_test_run ();
}
