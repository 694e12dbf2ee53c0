/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnninferregion.h"

#define FORGET 1024 /* frames after which a track that was not seen is over */

typedef struct {
  guint64 inferred, seen; /* frames */
} Track;

void
gst_nn_infer_regions_init (GstNnInferRegions *r)
{
  r->tracks = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  r->regions = g_array_new (FALSE, TRUE, sizeof (GstNnRegion));
}

void
gst_nn_infer_regions_clear (GstNnInferRegions *r)
{
  g_hash_table_unref (r->tracks);
  g_array_unref (r->regions);
  gst_clear_buffer (&r->done);
}

void
gst_nn_infer_regions_forget (GstNnInferRegions *r)
{
  g_hash_table_remove_all (r->tracks);
}

static gboolean
is_over (G_GNUC_UNUSED gpointer id, gpointer track, gpointer regions)
{
  return ((const GstNnInferRegions *)regions)->n_frames - ((const Track *)track)->seen > FORGET;
}

static gboolean
is_due (GstNnInferRegions *r, const GstNnRegion *region, guint interval)
{
  Track *track = region->track_id ? g_hash_table_lookup (r->tracks, &region->track_id) : NULL;
  if (track == NULL)
    return TRUE;
  track->seen = r->n_frames;
  return interval > 0 && r->n_frames - track->inferred >= interval;
}

const GArray *
gst_nn_infer_regions_choose (GstNnInferRegions *r, const GstNnRegionProps *props, GstBuffer *buffer,
                             const GstVideoInfo *video)
{
  guint n = 0;
  if (++r->n_frames % FORGET == 0)
    g_hash_table_foreach_remove (r->tracks, is_over, r);
  g_array_set_size (r->regions, 0);
  gst_nn_region_props_choose (props, gst_buffer_get_nn_result_meta (buffer),
                              GST_VIDEO_INFO_WIDTH (video), GST_VIDEO_INFO_HEIGHT (video),
                              r->regions);
  for (guint i = 0; i < r->regions->len; i++) {
    GstNnRegion region = g_array_index (r->regions, GstNnRegion, i);
    if (is_due (r, &region, props->interval))
      g_array_index (r->regions, GstNnRegion, n++) = region;
  }
  g_array_set_size (r->regions, n);
  return r->regions;
}

void
gst_nn_infer_regions_note (GstNnInferRegions *r, const GstNnRegion *region)
{
  Track now = { r->n_frames, r->n_frames }, *track;
  if (region->track_id == 0)
    return;
  track = g_hash_table_lookup (r->tracks, &region->track_id);
  if (track != NULL)
    *track = now;
  else
    g_hash_table_insert (r->tracks, g_memdup2 (&region->track_id, sizeof region->track_id),
                         g_memdup2 (&now, sizeof now));
}

void
gst_nn_infer_region_apply (GstNnSlot *slot)
{
  AxonImageInfo *info = &slot->frame.info;
  info->crop_x = slot->region.x;
  info->crop_y = slot->region.y;
  info->crop_width = slot->region.width;
  info->crop_height = slot->region.height;
  info->angle = slot->region.angle;
}

GstBuffer *
gst_nn_infer_regions_keep (GstNnInferRegions *r, const GstNnSlot *slot)
{
  if (r->done != NULL && r->frame != slot->frame_id)
    gst_clear_buffer (&r->done); /* of a frame that was flushed */
  if (r->done == NULL) {
    r->done = gst_buffer_new ();
    r->frame = slot->frame_id;
    r->started = slot->started;
  }
  r->ended = slot->ended;
  return r->done;
}

gboolean
gst_nn_infer_regions_attach (GstNnInferRegions *r, GstNnSlot *slot)
{
  g_autoptr (GstBuffer) done = g_steal_pointer (&r->done);
  if (done == NULL || r->frame != slot->frame_id)
    return FALSE;
  slot->buffer = gst_buffer_make_writable (slot->buffer);
  gst_buffer_copy_into (slot->buffer, done, GST_BUFFER_COPY_META, 0, -1);
  slot->started = r->started;
  slot->ended = r->ended;
  return TRUE;
}
