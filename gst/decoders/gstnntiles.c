/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnntiles.h"

/* Part of a cut object that lies in the whole one, as SAHI (arXiv:2202.06934). */
#define MOSTLY 0.5
#define TOUCHES 0.02 /* of a tile's side */

typedef struct {
  GstNnObject *object;
  guint tile;
  gdouble x0, y0, x1, y1;
  gboolean is_cut, is_gone;
} Found;

/* TRUE if it ends at a border of its tile that is none of the frame's. */
static gboolean
is_cut (const Found *f, const GstNnTile *t, const GstNnResultMeta *result)
{
  gdouble across = t->width * TOUCHES, down = t->height * TOUCHES;
  return (t->x > 0 && f->x0 <= t->x + across) || (t->y > 0 && f->y0 <= t->y + down) ||
         (t->x + t->width < result->width - 0.5 && f->x1 >= t->x + t->width - across) ||
         (t->y + t->height < result->height - 0.5 && f->y1 >= t->y + t->height - down);
}

static gdouble
area (const Found *f)
{
  return (f->x1 - f->x0) * (f->y1 - f->y0);
}

/* The better of two takes the other's place in, where that was cut off. */
static void
merge (Found *a, Found *b, gdouble iou_threshold)
{
  gdouble width = MIN (a->x1, b->x1) - MAX (a->x0, b->x0);
  gdouble height = MIN (a->y1, b->y1) - MAX (a->y0, b->y0);
  gdouble both = MAX (width, 0) * MAX (height, 0), sum = area (a) + area (b) - both;
  Found *small = area (a) < area (b) ? a : b, *large = small == a ? b : a;
  gboolean is_part = small->is_cut && both > MOSTLY * area (small);
  Found *kept = large;
  if (!is_part && !(both > iou_threshold * sum))
    return;
  if (!is_part && gst_nn_object_get_score (small->object) > gst_nn_object_get_score (large->object))
    kept = small;
  (kept == a ? b : a)->is_gone = TRUE;
  if (!is_part || !large->is_cut)
    return;
  large->x0 = MIN (a->x0, b->x0);
  large->y0 = MIN (a->y0, b->y0);
  large->x1 = MAX (a->x1, b->x1);
  large->y1 = MAX (a->y1, b->y1);
  gst_nn_object_move (large->object, large->x0, large->y0, large->x1 - large->x0,
                      large->y1 - large->y0);
}

static void
find (GstNnResultMeta *result, const GArray *tiles, Found *found, guint n)
{
  guint tile = 0;
  for (guint i = 0; i < n; i++) {
    Found *f = &found[i];
    gdouble width, height;
    while (tile + 1 < tiles->len && g_array_index (tiles, GstNnTile, tile + 1).first_object <= i)
      tile++;
    f->object = gst_nn_result_meta_get_object (result, i);
    f->tile = tile;
    gst_nn_object_get_box (f->object, &f->x0, &f->y0, &width, &height);
    f->x1 = f->x0 + width;
    f->y1 = f->y0 + height;
    f->is_cut = is_cut (f, &g_array_index (tiles, GstNnTile, tile), result);
  }
}

void
gst_nn_tiles_merge (GstNnResultMeta *result, const GArray *tiles, gdouble iou_threshold)
{
  guint n = gst_nn_result_meta_get_n_objects (result);
  g_autofree Found *found = g_new0 (Found, n + 1);
  g_autofree guint *gone = g_new0 (guint, n + 1);
  guint n_gone = 0;
  find (result, tiles, found, n);
  for (guint i = 0; i < n; i++)
    for (guint j = i + 1; j < n && !found[i].is_gone; j++)
      if (!found[j].is_gone && found[i].tile != found[j].tile &&
          gst_nn_object_get_class_id (found[i].object) ==
              gst_nn_object_get_class_id (found[j].object))
        merge (&found[i], &found[j], iou_threshold);
  for (guint i = 0; i < n; i++)
    if (found[i].is_gone)
      gone[n_gone++] = gst_nn_object_get_id (found[i].object);
  for (guint i = 0; i < n_gone; i++)
    gst_nn_result_meta_remove_object (result, gone[i]);
}
