/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is found in tiles of a frame that overlap, as one: objects that lie where two of them do. */
#include "decoders.h"

#include "decoders/gstnntiles.h"

#define MOST 3

typedef struct {
  guint tile;
  gint class_id;
  gdouble score;
  gdouble box[4]; /* x, y, width, height */
} Found;

/* clang-format off */
static const struct {
  const gchar *name;
  Found found[MOST];
  guint n;
  gdouble expected[MOST][4];
} cases[] = {
  { "cut-below-and-above", { { 0, 1, 0.6, { 10, 20, 15, 30 } }, { 2, 1, 0.5, { 11, 30, 13, 35 } } },
    1, { { 10, 20, 15, 45 } } },
  { "cut-right-and-left", { { 0, 1, 0.6, { 35, 5, 25, 12 } }, { 1, 1, 0.5, { 40, 4, 33, 14 } } },
    1, { { 35, 4, 38, 14 } } },
  { "of-two-classes", { { 0, 1, 0.6, { 35, 5, 25, 12 } }, { 1, 2, 0.5, { 40, 4, 33, 14 } } },
    2, { { 35, 5, 25, 12 }, { 40, 4, 33, 14 } } },
  { "whole-in-both-second-better", { { 0, 1, 0.6, { 42, 10, 14, 20 } }, { 1, 1, 0.8, { 43, 11, 14, 20 } } },
    1, { { 43, 11, 14, 20 } } },
  { "whole-in-both-first-better", { { 0, 1, 0.8, { 42, 10, 14, 20 } }, { 1, 1, 0.6, { 43, 11, 14, 20 } } },
    1, { { 42, 10, 14, 20 } } },
  { "whole-and-beside-each-other", { { 0, 1, 0.8, { 42, 10, 14, 20 } }, { 1, 1, 0.6, { 50, 18, 14, 20 } } },
    2, { { 42, 10, 14, 20 }, { 50, 18, 14, 20 } } },
  { "cut-in-one-and-whole-in-the-other", { { 0, 1, 0.9, { 45, 10, 15, 10 } }, { 1, 1, 0.5, { 44, 9, 30, 12 } } },
    1, { { 44, 9, 30, 12 } } },
  { "cut-by-the-frame", { { 2, 1, 0.6, { 41.5, 60, 15, 20 } }, { 3, 1, 0.5, { 42, 55, 16, 25 } } },
    2, { { 41.5, 60, 15, 20 }, { 42, 55, 16, 25 } } },
  { "behind-another-one", { { 0, 1, 0.7, { 2, 2, 5, 5 } }, { 0, 1, 0.6, { 10, 20, 15, 30 } }, { 2, 1, 0.5, { 11, 30, 13, 35 } } },
    2, { { 2, 2, 5, 5 }, { 10, 20, 15, 45 } } },
  { "whole-in-three", { { 0, 1, 0.5, { 42, 32, 14, 14 } }, { 1, 1, 0.9, { 42, 32, 13, 14 } }, { 2, 1, 0.6, { 42, 32, 12, 14 } } },
    1, { { 42, 32, 13, 14 } } },
  { "cut-and-less-than-half-in-the-other", { { 0, 1, 0.6, { 10, 20, 15, 30 } }, { 2, 1, 0.5, { 20, 30, 20, 35 } } },
    2, { { 10, 20, 15, 30 }, { 20, 30, 20, 35 } } },
};
/* clang-format on */

/* Four tiles of 60x50 in a frame of 100x80. */
static void
what_several_tiles_show_is_one_object (gconstpointer data)
{
  static const gdouble corners[][2] = { { 0, 0 }, { 40, 0 }, { 0, 30 }, { 40, 30 } };
  guint i = GPOINTER_TO_UINT (data), k = 0;
  g_autoptr (GArray) tiles = g_array_new (FALSE, TRUE, sizeof (GstNnTile));
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstNnResultMeta *result = gst_buffer_add_nn_result_meta (buffer, 100, 80);
  for (guint tile = 0; tile < G_N_ELEMENTS (corners); tile++) {
    GstNnTile t = { .x = corners[tile][0], .y = corners[tile][1], .width = 60, .height = 50 };
    t.first_object = k;
    g_array_append_val (tiles, t);
    for (; k < MOST && cases[i].found[k].tile == tile; k++) {
      const Found *f = &cases[i].found[k];
      GstNnObject *o = gst_nn_result_meta_add_object (result, 0);
      gst_nn_object_set_box (o, f->box[0], f->box[1], f->box[2], f->box[3]);
      gst_nn_object_set_class (o, f->class_id, NULL, f->score);
    }
  }
  gst_nn_tiles_merge (result, tiles, 0.75);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (result), ==, cases[i].n);
  for (k = 0; k < cases[i].n; k++) {
    gdouble got[4];
    gst_nn_object_get_box (gst_nn_result_meta_get_object (result, k), &got[0], &got[1], &got[2],
                           &got[3]);
    for (guint j = 0; j < 4; j++)
      g_assert_cmpfloat_with_epsilon (got[j], cases[i].expected[k][j], 1e-9);
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/tiles/what_several_tiles_show_is_one_object/%s", cases[i].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), what_several_tiles_show_is_one_object);
  }
  return g_test_run ();
}
