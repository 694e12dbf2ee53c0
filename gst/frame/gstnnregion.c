/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnregion.h"

#include "gstnnrelation.h"

#include <gst/video/video.h>

/* Tracked objects may leave the frame; the meta has no places outside. */
static void
set_place (GstVideoRegionOfInterestMeta *roi, GstStructure *detection, const GstNnObject *o,
           const GstNnResultMeta *result)
{
  gdouble x, y, width, height, w = MAX (result->width, 1), h = MAX (result->height, 1);
  gdouble x0, y0, x1, y1;
  gst_nn_object_get_box (o, &x, &y, &width, &height);
  x0 = CLAMP (x, 0, w);
  y0 = CLAMP (y, 0, h);
  x1 = CLAMP (x + width, 0, w);
  y1 = CLAMP (y + height, 0, h);
  gst_structure_set (detection, "x_min", G_TYPE_DOUBLE, x0 / w, "x_max", G_TYPE_DOUBLE, x1 / w,
                     "y_min", G_TYPE_DOUBLE, y0 / h, "y_max", G_TYPE_DOUBLE, y1 / h, NULL);
  roi->x = (guint)(x0 + 0.5);
  roi->y = (guint)(y0 + 0.5);
  roi->w = (guint)(x1 - x0 + 0.5);
  roi->h = (guint)(y1 - y0 + 0.5);
}

void
gst_nn_region_add (GstBuffer *buffer, const GstNnObject *o, const GstNnResultMeta *result)
{
  const gchar *label = gst_nn_object_get_label (o), *model = gst_nn_object_get_model_name (o);
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_add_video_region_of_interest_meta (buffer, label ? label : "object", 0, 0, 0, 0);
  GstStructure *detection = gst_structure_new (
      "detection", "confidence", G_TYPE_DOUBLE, gst_nn_object_get_score (o), "label_id", G_TYPE_INT,
      gst_nn_object_get_class_id (o), "label", G_TYPE_STRING, label ? label : "object",
      "model_name", G_TYPE_STRING, model ? model : "", NULL);
  roi->id = (gint)gst_nn_object_get_id (o);
  roi->parent_id = (gint)gst_nn_object_get_parent_id (o);
  set_place (roi, detection, o, result);
  gst_video_region_of_interest_meta_add_param (roi, detection);
  gst_nn_relation_add_object (buffer, o);
}

static void
set_track (GstVideoRegionOfInterestMeta *roi, const GstNnObject *o)
{
  GstStructure *s = gst_video_region_of_interest_meta_get_param (roi, "object_id");
  gint id = (gint)gst_nn_object_get_track_id (o);
  if (id == 0)
    return;
  if (s != NULL)
    gst_structure_set (s, "id", G_TYPE_INT, id, NULL);
  else
    gst_video_region_of_interest_meta_add_param (
        roi, gst_structure_new ("object_id", "id", G_TYPE_INT, id, NULL));
}

void
gst_nn_region_update_all (GstBuffer *buffer, GstNnResultMeta *result)
{
  gpointer state = NULL;
  GstMeta *meta;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                   GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *)meta;
    GstStructure *detection = gst_video_region_of_interest_meta_get_param (roi, "detection");
    GstNnObject *o = roi->id > 0 ? gst_nn_result_meta_find_object (result, (guint)roi->id) : NULL;
    if (o == NULL || detection == NULL)
      continue;
    set_place (roi, detection, o, result);
    set_track (roi, o);
  }
  gst_nn_relation_add_tracks (buffer, result);
}
