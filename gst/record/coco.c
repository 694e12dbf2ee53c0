/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* COCO's results (https://cocodataset.org/#format-results): one array a frame; `jq -s add` makes of
 * all lines the file that pycocotools loads. */
#include "gstnnrecord.h"

#include <json-glib/json-glib.h>

static void
add_bbox (JsonBuilder *b, const GstNnObject *o)
{
  gdouble box[4];
  gst_nn_object_get_box (o, &box[0], &box[1], &box[2], &box[3]);
  json_builder_set_member_name (b, "bbox");
  json_builder_begin_array (b);
  for (guint i = 0; i < 4; i++)
    json_builder_add_double_value (b, box[i]);
  json_builder_end_array (b);
}

/* x, y and the visibility, which of results is their score. */
static void
add_keypoints (JsonBuilder *b, const GstNnObject *o)
{
  gdouble point[3];
  if (gst_nn_object_get_n_keypoints (o) == 0)
    return;
  json_builder_set_member_name (b, "keypoints");
  json_builder_begin_array (b);
  for (guint i = 0; gst_nn_object_get_keypoint (o, i, &point[0], &point[1], &point[2]); i++)
    for (guint j = 0; j < 3; j++)
      json_builder_add_double_value (b, point[j]);
  json_builder_end_array (b);
}

static void
add_result (JsonBuilder *b, const GstNnObject *o, const GstNnRecordInfo *info)
{
  json_builder_begin_object (b);
  add_bbox (b, o);
  json_builder_set_member_name (b, "category_id");
  json_builder_add_int_value (b, gst_nn_object_get_class_id (o));
  json_builder_set_member_name (b, "image_id");
  json_builder_add_int_value (b, (gint64)info->frame);
  add_keypoints (b, o);
  json_builder_set_member_name (b, "score");
  json_builder_add_double_value (b, gst_nn_object_get_score (o));
  json_builder_end_object (b);
}

gchar *
gst_nn_record_coco (GstNnResultMeta *meta, const GstNnRecordInfo *info)
{
  g_autoptr (JsonBuilder) b = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  const GstNnObject *o;
  json_builder_begin_array (b);
  for (guint i = 0; meta && (o = gst_nn_result_meta_get_object (meta, i)) != NULL; i++)
    if (gst_nn_record_wants (info, o))
      add_result (b, o, info);
  json_builder_end_array (b);
  root = json_builder_get_root (b);
  return json_to_string (root, FALSE);
}
