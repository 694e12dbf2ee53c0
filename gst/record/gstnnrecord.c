/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnrecord.h"

#include "gstnnthumbnail.h"

#include <json-glib/json-glib.h>

static void
add_number (JsonBuilder *b, const gchar *name, gdouble value)
{
  json_builder_set_member_name (b, name);
  json_builder_add_double_value (b, value);
}

static void
add_int (JsonBuilder *b, const gchar *name, gint64 value)
{
  json_builder_set_member_name (b, name);
  json_builder_add_int_value (b, value);
}

static void
add_time (JsonBuilder *b, const gchar *name, GstClockTime time)
{
  if (GST_CLOCK_TIME_IS_VALID (time))
    add_int (b, name, (gint64)time);
}

static void
add_text (JsonBuilder *b, const gchar *name, const gchar *value)
{
  g_autofree gchar *valid = g_utf8_make_valid (value, -1);
  json_builder_set_member_name (b, name);
  json_builder_add_string_value (b, valid);
}

static void
begin (JsonBuilder *b, const gchar *name)
{
  json_builder_set_member_name (b, name);
  json_builder_begin_object (b);
}

static void
add_model (JsonBuilder *b, const gchar *model_name)
{
  begin (b, "model");
  add_text (b, "name", model_name ? model_name : "");
  json_builder_end_object (b);
}

static void
add_place (JsonBuilder *b, const GstNnObject *o)
{
  gdouble x, y, width, height;
  gst_nn_object_get_box (o, &x, &y, &width, &height);
  add_int (b, "h", (gint64)(height + 0.5));
  add_int (b, "w", (gint64)(width + 0.5));
  add_int (b, "x", (gint64)(x + 0.5));
  add_int (b, "y", (gint64)(y + 0.5));
}

static void
add_detection (JsonBuilder *b, const GstNnObject *o, const GstNnResultMeta *meta)
{
  gdouble x, y, width, height, w = MAX (meta->width, 1), h = MAX (meta->height, 1);
  gst_nn_object_get_box (o, &x, &y, &width, &height);
  begin (b, "detection");
  begin (b, "bounding_box");
  add_number (b, "x_max", (x + width) / w);
  add_number (b, "x_min", x / w);
  add_number (b, "y_max", (y + height) / h);
  add_number (b, "y_min", y / h);
  json_builder_end_object (b);
  add_number (b, "confidence", gst_nn_object_get_score (o));
  if (gst_nn_object_get_label (o) != NULL)
    add_text (b, "label", gst_nn_object_get_label (o));
  add_int (b, "label_id", gst_nn_object_get_class_id (o));
  if (gst_nn_object_get_model_name (o) != NULL)
    add_model (b, gst_nn_object_get_model_name (o));
  json_builder_end_object (b);
}

static void
add_rotation (JsonBuilder *b, const GstNnObject *o)
{
  gdouble x, y, width, height, angle;
  if (!gst_nn_object_get_rotated_box (o, &x, &y, &width, &height, &angle))
    return;
  begin (b, "rotated_box");
  add_number (b, "angle", angle);
  add_number (b, "center_x", x);
  add_number (b, "center_y", y);
  add_number (b, "height", height);
  add_number (b, "width", width);
  json_builder_end_object (b);
}

static void
add_keypoints (JsonBuilder *b, const GstNnObject *o)
{
  const GstNnSkeleton *skeleton = gst_nn_object_get_skeleton (o);
  gdouble x, y, score;
  if (gst_nn_object_get_n_keypoints (o) == 0)
    return;
  json_builder_set_member_name (b, "keypoints");
  json_builder_begin_array (b);
  for (guint i = 0; gst_nn_object_get_keypoint (o, i, &x, &y, &score); i++) {
    const gchar *name = skeleton ? gst_nn_skeleton_get_name (skeleton, i) : NULL;
    json_builder_begin_object (b);
    add_number (b, "confidence", score);
    if (name != NULL)
      add_text (b, "name", name);
    add_number (b, "x", x);
    add_number (b, "y", y);
    json_builder_end_object (b);
  }
  json_builder_end_array (b);
}

static void
add_attribute_value (JsonBuilder *b, const GstNnAttribute *a)
{
  json_builder_begin_object (b);
  add_number (b, "confidence", gst_nn_attribute_get_score (a));
  if (gst_nn_attribute_get_value (a) != NULL)
    add_text (b, "label", gst_nn_attribute_get_value (a));
  add_int (b, "label_id", gst_nn_attribute_get_class_id (a));
  add_model (b, gst_nn_attribute_get_model_name (a));
  json_builder_end_object (b);
}

static gchar *
attribute_key (const GstNnAttribute *a)
{
  const gchar *model = gst_nn_attribute_get_model_name (a);
  g_autofree gchar *key =
      g_strdup_printf ("%s/%s", gst_nn_attribute_get_name (a), model ? model : "model");
  return g_utf8_make_valid (key, -1);
}

/* An object can be in several zones. */
static void
add_zones (JsonBuilder *b, const GstNnObject *o)
{
  const GstNnAttribute *a;
  if (gst_nn_object_find_attribute (o, GST_NN_RECORD_ZONE) == NULL)
    return;
  json_builder_set_member_name (b, "zones");
  json_builder_begin_array (b);
  for (guint i = 0; (a = gst_nn_object_get_attribute (o, i)) != NULL; i++)
    if (gst_nn_record_zone (a) != NULL)
      json_builder_add_string_value (b, gst_nn_record_zone (a));
  json_builder_end_array (b);
}

/* The best of each name and model: a member of JSON can be there only once. */
static void
add_attributes (JsonBuilder *b, const GstNnObject *o)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const GstNnAttribute *a;
  for (guint i = 0; (a = gst_nn_object_get_attribute (o, i)) != NULL; i++) {
    gchar *key = attribute_key (a);
    if (!g_hash_table_add (seen, key))
      continue;
    json_builder_set_member_name (b, key);
    add_attribute_value (b, a);
  }
}

static const gchar *const mask_kinds[] = { [GST_NN_MASK_COVERAGE] = "coverage",
                                           [GST_NN_MASK_CLASSES] = "classes",
                                           [GST_NN_MASK_VALUES] = "values" };

static void
add_mask (JsonBuilder *b, const GstNnMask *mask)
{
  gsize n;
  gdouble x, y, width, height, minimum, maximum;
  const guint8 *values = g_bytes_get_data (gst_nn_mask_get_values (mask), &n);
  g_autofree gchar *text = g_base64_encode (values, n);
  gst_nn_mask_get_area (mask, &x, &y, &width, &height);
  begin (b, "mask");
  add_int (b, "columns", gst_nn_mask_get_columns (mask));
  add_text (b, "data", text);
  add_number (b, "h", height);
  add_text (b, "kind", mask_kinds[gst_nn_mask_get_kind (mask)]);
  if (gst_nn_mask_get_kind (mask) == GST_NN_MASK_VALUES) {
    gst_nn_mask_get_range (mask, &minimum, &maximum);
    add_number (b, "maximum", maximum);
    add_number (b, "minimum", minimum);
  }
  add_int (b, "rows", gst_nn_mask_get_rows (mask));
  add_number (b, "w", width);
  add_number (b, "x", x);
  add_number (b, "y", y);
  json_builder_end_object (b);
}

static void
add_tensor_data (JsonBuilder *b, const GstNnObject *o)
{
  gsize n;
  const gfloat *values = gst_nn_object_get_embedding (o, &n);
  if (values != NULL) {
    json_builder_set_member_name (b, "embedding");
    json_builder_begin_array (b);
    for (gsize i = 0; i < n; i++)
      json_builder_add_double_value (b, (gdouble)values[i]);
    json_builder_end_array (b);
  }
  if (gst_nn_object_get_mask (o) != NULL)
    add_mask (b, gst_nn_object_get_mask (o));
}

/* What the frame and an object on it have alike. */
static void
add_findings (JsonBuilder *b, const GstNnObject *o, const GstNnRecordInfo *info)
{
  add_keypoints (b, o);
  if (gst_nn_object_get_text (o) != NULL) {
    begin (b, "text");
    add_number (b, "confidence", gst_nn_object_get_text_score (o));
    add_text (b, "label", gst_nn_object_get_text (o));
    json_builder_end_object (b);
  }
  if (info->tensor_data)
    add_tensor_data (b, o);
}

static void
add_thumbnail (JsonBuilder *b, const GstNnObject *o, const GstNnRecordInfo *info)
{
  gdouble x, y, width, height;
  g_autofree gchar *jpeg = NULL;
  if (info->picture == NULL)
    return;
  gst_nn_object_get_box (o, &x, &y, &width, &height);
  jpeg = gst_nn_thumbnail_new (info->picture, info->thumbnail_size, x, y, width, height);
  if (jpeg == NULL)
    return;
  begin (b, "thumbnail");
  add_text (b, "data", jpeg);
  add_text (b, "media_type", "image/jpeg");
  json_builder_end_object (b);
}

static void
add_object (JsonBuilder *b, const GstNnObject *o, const GstNnResultMeta *meta,
            const GstNnRecordInfo *info)
{
  const gchar *label = gst_nn_object_get_label (o);
  json_builder_begin_object (b);
  add_detection (b, o, meta);
  add_attributes (b, o);
  add_rotation (b, o);
  add_findings (b, o, info);
  if (gst_nn_object_get_track_id (o) != 0) {
    add_int (b, "age", gst_nn_object_get_track_age (o));
    add_int (b, "id", (gint64)gst_nn_object_get_track_id (o));
  }
  if (gst_nn_object_get_pts (o) != info->pts)
    add_time (b, "inferred_pts", gst_nn_object_get_pts (o));
  if (gst_nn_object_get_parent_id (o) != 0)
    add_int (b, "parent_id", gst_nn_object_get_parent_id (o));
  add_int (b, "region_id", gst_nn_object_get_id (o));
  add_text (b, "roi_type", label ? label : "");
  add_thumbnail (b, o, info);
  add_zones (b, o);
  add_place (b, o);
  json_builder_end_object (b);
}

/* A class of the frame is an object of the whole frame, under the name of its model. */
static void
add_frame_class (JsonBuilder *b, const GstNnAttribute *a, const GstNnObject *frame)
{
  g_autofree gchar *key = attribute_key (a);
  json_builder_begin_object (b);
  json_builder_set_member_name (b, key);
  add_attribute_value (b, a);
  add_place (b, frame);
  json_builder_end_object (b);
}

static void
add_times (JsonBuilder *b, const GstNnRecordInfo *info)
{
  add_time (b, "pts", info->pts);
  add_time (b, "running_time", info->running_time);
  add_time (b, "timestamp", info->stream_time);
  if (GST_CLOCK_TIME_IS_VALID (info->unix_time)) {
    g_autoptr (GDateTime) seconds =
        g_date_time_new_from_unix_utc ((gint64)(info->unix_time / GST_SECOND));
    g_autoptr (GDateTime) time =
        g_date_time_add (seconds, (GTimeSpan)(info->unix_time % GST_SECOND / GST_USECOND));
    g_autofree gchar *text = g_date_time_format_iso8601 (time);
    add_text (b, "wall_clock", text);
  }
}

/* A member for each field of an event, as it is on the bus. */
static gboolean
add_field (GQuark field, const GValue *value, gpointer data)
{
  JsonBuilder *b = data;
  if (G_VALUE_HOLDS_STRING (value)) {
    add_text (b, g_quark_to_string (field), g_value_get_string (value));
  } else if (G_VALUE_HOLDS_DOUBLE (value)) {
    add_number (b, g_quark_to_string (field), g_value_get_double (value));
  } else {
    GValue number = G_VALUE_INIT;
    g_value_init (&number, G_TYPE_INT64);
    if (g_value_transform (value, &number))
      add_int (b, g_quark_to_string (field), g_value_get_int64 (&number));
  }
  return TRUE;
}

static void
add_shape (JsonBuilder *b, const GstNnShape *shape)
{
  json_builder_begin_object (b);
  add_int (b, "count", (gint64)gst_nn_shape_get_count (shape));
  if (!gst_nn_shape_is_zone (shape))
    add_int (b, "count_back", (gint64)gst_nn_shape_get_count_back (shape));
  add_text (b, "name", gst_nn_shape_get_name (shape));
  json_builder_end_object (b);
}

static void
add_shapes (JsonBuilder *b, const gchar *name, const GstNnSceneMeta *scene, gboolean zones)
{
  json_builder_set_member_name (b, name);
  json_builder_begin_array (b);
  for (guint i = 0; i < scene->shapes->len; i++)
    if (gst_nn_shape_is_zone (g_ptr_array_index (scene->shapes, i)) == zones)
      add_shape (b, g_ptr_array_index (scene->shapes, i));
  json_builder_end_array (b);
}

static void
add_scene (JsonBuilder *b, const GstNnSceneMeta *scene)
{
  if (scene->events->len > 0) {
    json_builder_set_member_name (b, "events");
    json_builder_begin_array (b);
    for (guint i = 0; i < scene->events->len; i++) {
      json_builder_begin_object (b);
      gst_structure_foreach (g_ptr_array_index (scene->events, i), add_field, b);
      json_builder_end_object (b);
    }
    json_builder_end_array (b);
  }
  add_shapes (b, "lines", scene, FALSE);
  add_shapes (b, "zones", scene, TRUE);
}

static void
add_objects (JsonBuilder *b, GstNnResultMeta *meta, const GstNnRecordInfo *info)
{
  const GstNnObject *frame = gst_nn_result_meta_get_frame (meta), *o;
  const GstNnAttribute *a;
  json_builder_set_member_name (b, "objects");
  json_builder_begin_array (b);
  for (guint i = 0; (o = gst_nn_result_meta_get_object (meta, i)) != NULL; i++)
    if (gst_nn_record_wants (info, o))
      add_object (b, o, meta, info);
  for (guint i = 0; (a = gst_nn_object_get_attribute (frame, i)) != NULL; i++)
    add_frame_class (b, a, frame);
  json_builder_end_array (b);
}

gchar *
gst_nn_record_new (GstNnResultMeta *meta, const GstNnRecordInfo *info)
{
  g_autoptr (JsonBuilder) b = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  json_builder_begin_object (b);
  if (meta != NULL) {
    add_findings (b, gst_nn_result_meta_get_frame (meta), info);
    add_objects (b, meta, info);
    begin (b, "resolution");
    add_int (b, "height", meta->height);
    add_int (b, "width", meta->width);
    json_builder_end_object (b);
  }
  if (info->scene != NULL)
    add_scene (b, info->scene);
  if (info->source != NULL)
    add_text (b, "source", info->source);
  add_times (b, info);
  json_builder_end_object (b);
  root = json_builder_get_root (b);
  return json_to_string (root, FALSE);
}
