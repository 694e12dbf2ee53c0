/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which parts of a frame are inferred: objects with their margins, up to the border, and tiles. */
#include "infer/gstnnregionprops.h"

#include <gst/nn/nn.h>
#include <math.h>

#define WIDTH 100
#define HEIGHT 80

typedef struct {
  gint align;
  gdouble margin;
  gboolean is_square;
  gdouble box[4], turned[3];   /* a rotated box of that width, height, angle; 0: none */
  gdouble x, y, width, height; /* width 0: nothing is cut */
  gdouble angle;
} Cut;

static const Cut cuts[] = {
  { GST_NN_REGION_UPRIGHT, 0, FALSE, { 10, 20, 30, 40 }, { 0 }, 10, 20, 30, 40, 0 },
  { GST_NN_REGION_UPRIGHT, 0.5, FALSE, { 30, 30, 20, 10 }, { 0 }, 20, 25, 40, 20, 0 },
  { GST_NN_REGION_UPRIGHT, 0, TRUE, { 30, 30, 20, 10 }, { 0 }, 30, 25, 20, 20, 0 },
  { GST_NN_REGION_UPRIGHT, 0, FALSE, { -10, 20, 30, 40 }, { 0 }, 0, 20, 20, 40, 0 },
  { GST_NN_REGION_UPRIGHT, 0, FALSE, { 10, -20, 30, 40 }, { 0 }, 10, 0, 30, 20, 0 },
  { GST_NN_REGION_UPRIGHT, 0, FALSE, { 90, 20, 30, 40 }, { 0 }, 90, 20, 10, 40, 0 },
  { GST_NN_REGION_UPRIGHT, 0, FALSE, { 10, 70, 30, 40 }, { 0 }, 10, 70, 30, 10, 0 },
  { GST_NN_REGION_UPRIGHT, 0, FALSE, { -30, 20, 30.5, 40 }, { 0 }, 0, 0, 0, 0, 0 },
  { GST_NN_REGION_UPRIGHT, 0, FALSE, { -30, 20, 31, 40 }, { 0 }, 0, 20, 1, 40, 0 },
  { GST_NN_REGION_UPRIGHT, 0, FALSE, { 10, 79, 30, 40 }, { 0 }, 10, 79, 30, 1, 0 },
  { GST_NN_REGION_UPRIGHT, 0, FALSE, { 10, 79.5, 30, 40 }, { 0 }, 0, 0, 0, 0, 0 },
  { GST_NN_REGION_UPRIGHT, 0, FALSE, { 10, 20, 0, 40 }, { 0 }, 0, 0, 0, 0, 0 },
  { GST_NN_REGION_UPRIGHT, 0, FALSE, { 10, 20, 30, 0 }, { 0 }, 0, 0, 0, 0, 0 },
  { GST_NN_REGION_UPRIGHT, 0, TRUE, { -10, 20, 30, 10 }, { 0 }, -10, 10, 30, 30, 0 },
  { GST_NN_REGION_UPRIGHT, 0, TRUE, { -30, 20, 30, 10 }, { 0 }, 0, 0, 0, 0, 0 },
  { GST_NN_REGION_UPRIGHT, 0, TRUE, { 100, 20, 30, 10 }, { 0 }, 0, 0, 0, 0, 0 },
  { GST_NN_REGION_UPRIGHT, 0, TRUE, { 10, 80, 10, 30 }, { 0 }, 0, 0, 0, 0, 0 },
  { GST_NN_REGION_UPRIGHT, 0, TRUE, { 10, -30, 30, 30 }, { 0 }, 0, 0, 0, 0, 0 },
  { GST_NN_REGION_BOX, 0, FALSE, { 10, 20, 30, 40 }, { 20, 10, 0.5 }, 40, 35, 20, 10, 0.5 },
  { GST_NN_REGION_BOX, 0.25, FALSE, { 10, 20, 30, 40 }, { 20, 10, 0.5 }, 35, 32.5, 30, 15, 0.5 },
  { GST_NN_REGION_UPRIGHT,
    0,
    FALSE,
    { 10, 20, 30, 40 },
    { 20, 10, 0.5 },
    38.8270467,
    30.8178318,
    22.3459066,
    18.3643364,
    0 },
};

static void
an_object_is_cut_with_its_margin_up_to_the_border (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cuts); i++) {
    const Cut *c = &cuts[i];
    GstNnRegionProps props = { .mode = GST_NN_REGION_ROI_LIST,
                               .align = c->align,
                               .margin = c->margin,
                               .is_square = c->is_square };
    g_autoptr (GArray) regions = g_array_new (FALSE, TRUE, sizeof (GstNnRegion));
    GstBuffer *buffer = gst_buffer_new ();
    GstNnResultMeta *result = gst_buffer_add_nn_result_meta (buffer, WIDTH, HEIGHT);
    GstNnObject *o = gst_nn_result_meta_add_object (result, 0);
    const GstNnRegion *r;
    gst_nn_object_set_box (o, c->box[0], c->box[1], c->box[2], c->box[3]);
    if (c->turned[0] > 0)
      gst_nn_object_set_rotated_box (o, 50, 40, c->turned[0], c->turned[1], c->turned[2]);
    gst_nn_region_props_choose (&props, result, WIDTH, HEIGHT, regions);
    g_test_message ("%u", i);
    g_assert_cmpuint (regions->len, ==, c->width > 0);
    r = &g_array_index (regions, GstNnRegion, 0);
    if (regions->len > 0) {
      g_assert_cmpfloat_with_epsilon (r->x, c->x, 1e-6);
      g_assert_cmpfloat_with_epsilon (r->y, c->y, 1e-6);
      g_assert_cmpfloat_with_epsilon (r->width, c->width, 1e-6);
      g_assert_cmpfloat_with_epsilon (r->height, c->height, 1e-6);
      g_assert_cmpfloat_with_epsilon (r->angle, c->angle, 1e-6);
      g_assert_cmpuint (r->object_id, ==, gst_nn_object_get_id (o));
    }
    gst_buffer_unref (buffer);
  }
}

/* The middle, and how far the eyes are from level. */
static void
faces_are_turned_until_the_eyes_are_level (void)
{
  GstNnRegionProps props = { .mode = GST_NN_REGION_ROI_LIST, .align = GST_NN_REGION_EYES };
  for (guint n = 0; n < 3; n++) {
    g_autoptr (GArray) regions = g_array_new (FALSE, TRUE, sizeof (GstNnRegion));
    GstBuffer *buffer = gst_buffer_new ();
    GstNnResultMeta *result = gst_buffer_add_nn_result_meta (buffer, WIDTH, HEIGHT);
    GstNnObject *o = gst_nn_result_meta_add_object (result, 0);
    gst_nn_object_set_box (o, 20, 20, 40, 40);
    for (guint k = 0; k < n; k++)
      gst_nn_object_add_keypoint (o, 30 + 16 * k, 30 + 12 * k, 1);
    gst_nn_region_props_choose (&props, result, WIDTH, HEIGHT, regions);
    g_assert_cmpuint (regions->len, ==, 1);
    g_assert_cmpfloat_with_epsilon (g_array_index (regions, GstNnRegion, 0).angle,
                                    n == 2 ? atan2 (12, 16) : 0, 1e-9);
    gst_buffer_unref (buffer);
  }
}

/* A frame of another size than the results are of. */
static void
regions_are_in_pixels_of_the_frame (void)
{
  GstNnRegionProps props = { .mode = GST_NN_REGION_ROI_LIST };
  g_autoptr (GArray) regions = g_array_new (FALSE, TRUE, sizeof (GstNnRegion));
  GstBuffer *buffer = gst_buffer_new ();
  GstNnResultMeta *result = gst_buffer_add_nn_result_meta (buffer, WIDTH, HEIGHT);
  const GstNnRegion *r;
  gst_nn_object_set_box (gst_nn_result_meta_add_object (result, 0), 10, 20, 30, 40);
  gst_nn_region_props_choose (&props, result, 2 * WIDTH, 3 * HEIGHT, regions);
  g_assert_cmpuint (regions->len, ==, 1);
  r = &g_array_index (regions, GstNnRegion, 0);
  g_assert_cmpfloat (r->x, ==, 20);
  g_assert_cmpfloat (r->y, ==, 60);
  g_assert_cmpfloat (r->width, ==, 60);
  g_assert_cmpfloat (r->height, ==, 120);
  gst_nn_region_props_choose (&props, NULL, WIDTH, HEIGHT, regions);
  g_assert_cmpuint (regions->len, ==, 1);
  gst_buffer_unref (buffer);
}

/* The whole first; each tile begins where the one before it has left the part that both have. */
static void
tiles_share_a_part_of_each_other (void)
{
  GstNnRegionProps props = {
    .mode = GST_NN_REGION_FULL_FRAME, .n_columns = 3, .n_rows = 2, .overlap = 0.5
  };
  g_autoptr (GArray) regions = g_array_new (FALSE, TRUE, sizeof (GstNnRegion));
  gst_nn_region_props_choose (&props, NULL, 80, 60, regions);
  g_assert_cmpuint (regions->len, ==, 7);
  g_assert_cmpfloat (g_array_index (regions, GstNnRegion, 0).width, ==, 80);
  g_assert_cmpfloat (g_array_index (regions, GstNnRegion, 0).height, ==, 60);
  for (guint i = 0; i < 6; i++) {
    const GstNnRegion *r = &g_array_index (regions, GstNnRegion, i + 1);
    g_assert_cmpfloat (r->x, ==, i % 3 * 20);
    g_assert_cmpfloat (r->y, ==, i / 3 * 20);
    g_assert_cmpfloat (r->width, ==, 40);
    g_assert_cmpfloat (r->height, ==, 40);
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/cuts/" #name, name)
  ADD (an_object_is_cut_with_its_margin_up_to_the_border);
  ADD (faces_are_turned_until_the_eyes_are_level);
  ADD (regions_are_in_pixels_of_the_frame);
  ADD (tiles_share_a_part_of_each_other);
  return g_test_run ();
}
