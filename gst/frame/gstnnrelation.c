/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnrelation.h"

#include <gst/analytics/analytics.h>
#include <gst/video/video.h>
#include <math.h>

/* Which object a detection is: relations have no field for its number. */
typedef struct {
  guint id;
} Number;

static const GstAnalyticsMtdImpl number_impl = { .name = "nn-object" };
#define NUMBER_TYPE ((GstAnalyticsMtdType)&number_impl)

static GstAnalyticsRelationMeta *
get_relations (GstBuffer *buffer)
{
  GstAnalyticsRelationMetaInitParams some = { 32, 4096 };
  return gst_buffer_add_analytics_relation_meta_full (buffer, &some);
}

static void
relate (GstAnalyticsRelationMeta *meta, guint a, guint b)
{
  gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, a, b);
  gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, b, a);
}

/* The detection of object @id; FALSE: there is none. */
static gboolean
find_detection (GstAnalyticsRelationMeta *meta, guint id, GstAnalyticsODMtd *detection)
{
  GstAnalyticsMtd number;
  gpointer state = NULL;
  while (gst_analytics_relation_meta_iterate (meta, &state, NUMBER_TYPE, &number)) {
    const Number *n = gst_analytics_relation_meta_get_mtd_data (meta, number.id);
    gpointer related = NULL;
    if (n->id == id)
      return gst_analytics_relation_meta_get_direct_related (
          meta, number.id, GST_ANALYTICS_REL_TYPE_RELATE_TO, gst_analytics_od_mtd_get_mtd_type (),
          &related, detection);
  }
  return FALSE;
}

static gint
whole (gdouble v)
{
  return (gint)floor (CLAMP (v, G_MININT / 2, G_MAXINT / 2) + 0.5);
}

static gboolean
add_detection (GstAnalyticsRelationMeta *meta, const GstNnObject *o, GstAnalyticsODMtd *detection)
{
  const gchar *label = gst_nn_object_get_label (o);
  GQuark type = label ? g_quark_from_string (label) : 0;
  gfloat score = (gfloat)gst_nn_object_get_score (o);
  gdouble x, y, width, height;
#if GST_CHECK_VERSION(1, 26, 0)
  gdouble angle;
  if (gst_nn_object_get_rotated_box (o, &x, &y, &width, &height, &angle))
    return gst_analytics_relation_meta_add_oriented_od_mtd (
        meta, type, whole (x - width / 2), whole (y - height / 2), whole (width), whole (height),
        (gfloat)angle, score, detection);
#endif
  gst_nn_object_get_box (o, &x, &y, &width, &height);
  return gst_analytics_relation_meta_add_od_mtd (meta, type, whole (x), whole (y), whole (width),
                                                 whole (height), score, detection);
}

/* Only those of a list of classes: quarks stay for ever. */
static void
add_classes (GstAnalyticsRelationMeta *meta, const GstNnObject *o,
             const GstAnalyticsODMtd *detection)
{
  for (guint i = 0; i < gst_nn_object_get_n_attributes (o); i++) {
    const GstNnAttribute *a = gst_nn_object_get_attribute (o, i);
    const gchar *value = gst_nn_attribute_get_value (a);
    GstAnalyticsClsMtd classes;
    if (value == NULL || gst_nn_attribute_get_class_id (a) < 0)
      continue;
    if (gst_analytics_relation_meta_add_one_cls_mtd (meta, (gfloat)gst_nn_attribute_get_score (a),
                                                     g_quark_from_string (value), &classes) &&
        detection != NULL)
      relate (meta, detection->id, classes.id);
  }
}

#if GST_CHECK_VERSION(1, 26, 0)
#define HALF 128 /* of a pixel that is covered */

/* A picture of regions: classes as they are, of an object 1 where more than half is covered. */
static GstBuffer *
draw_regions (const GstNnMask *mask, gboolean regions[256])
{
  guint columns = gst_nn_mask_get_columns (mask), rows = gst_nn_mask_get_rows (mask);
  gsize n = (gsize)columns * rows;
  const guint8 *from = g_bytes_get_data (gst_nn_mask_get_values (mask), NULL);
  gboolean is_cover = gst_nn_mask_get_kind (mask) == GST_NN_MASK_COVERAGE;
  guint8 *to = g_malloc (n);
  GstBuffer *picture = gst_buffer_new_wrapped (to, n);
  for (gsize i = 0; i < n; i++) {
    to[i] = is_cover ? from[i] >= HALF : from[i];
    regions[to[i]] = TRUE;
  }
  gst_buffer_add_video_meta_full (picture, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8,
                                  columns, rows, 1, (gsize[4]){ 0 }, (gint[4]){ (gint)columns });
  return picture;
}

static void
add_mask (GstAnalyticsRelationMeta *meta, const GstNnObject *o, const GstAnalyticsODMtd *detection)
{
  const GstNnMask *mask = gst_nn_object_get_mask (o);
  gboolean regions[256] = { FALSE };
  GstAnalyticsSegmentationMtd segmentation;
  gdouble x, y, width, height;
  guint ids[256];
  gsize n = 0;
  GstBuffer *picture;
  if (mask == NULL || gst_nn_mask_get_kind (mask) == GST_NN_MASK_VALUES)
    return;
  picture = draw_regions (mask, regions);
  for (guint i = 0; i < 256; i++)
    if (regions[i])
      ids[n++] = i;
  gst_nn_mask_get_area (mask, &x, &y, &width, &height);
  if (gst_analytics_relation_meta_add_segmentation_mtd (
          meta, picture,
          detection ? GST_SEGMENTATION_TYPE_INSTANCE : GST_SEGMENTATION_TYPE_SEMANTIC, n, ids,
          whole (x), whole (y), (guint)MAX (whole (width), 0), (guint)MAX (whole (height), 0),
          &segmentation)) {
    if (detection != NULL)
      relate (meta, detection->id, segmentation.id);
  } else {
    gst_buffer_unref (picture);
  }
}
#else
#define add_mask(meta, o, detection)
#endif

static void
add_number (GstAnalyticsRelationMeta *meta, const GstNnObject *o,
            const GstAnalyticsODMtd *detection)
{
  GstAnalyticsMtd number;
  Number *n = gst_analytics_relation_meta_add_mtd (meta, &number_impl, sizeof *n, &number);
  if (n == NULL)
    return;
  n->id = gst_nn_object_get_id (o);
  relate (meta, detection->id, number.id);
}

void
gst_nn_relation_add_object (GstBuffer *buffer, const GstNnObject *object)
{
  GstAnalyticsRelationMeta *meta = get_relations (buffer);
  GstAnalyticsODMtd detection, parent;
  if (meta == NULL || !add_detection (meta, object, &detection))
    return;
  add_number (meta, object, &detection);
  add_classes (meta, object, &detection);
  add_mask (meta, object, &detection);
  if (gst_nn_object_get_parent_id (object) == 0 ||
      !find_detection (meta, gst_nn_object_get_parent_id (object), &parent))
    return;
  gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_IS_PART_OF, detection.id,
                                            parent.id);
  gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_CONTAIN, parent.id,
                                            detection.id);
}

void
gst_nn_relation_add_said (GstBuffer *buffer, guint object_id, const GstNnObject *said)
{
  GstAnalyticsRelationMeta *meta;
  GstAnalyticsODMtd detection;
  if (gst_nn_object_get_n_attributes (said) == 0 && gst_nn_object_get_mask (said) == NULL)
    return;
  meta = get_relations (buffer);
  if (meta == NULL || (object_id != 0 && !find_detection (meta, object_id, &detection)))
    return;
  add_classes (meta, said, object_id != 0 ? &detection : NULL);
  add_mask (meta, said, object_id != 0 ? &detection : NULL);
}

static gboolean
has_track (GstAnalyticsRelationMeta *meta, const GstAnalyticsODMtd *detection)
{
  GstAnalyticsTrackingMtd track;
  gpointer state = NULL;
  return gst_analytics_relation_meta_get_direct_related (
      meta, detection->id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
      gst_analytics_tracking_mtd_get_mtd_type (), &state, &track);
}

static void
add_track (GstAnalyticsRelationMeta *meta, const GstBuffer *buffer, const GstNnObject *o)
{
  GstClockTime now = GST_BUFFER_PTS (buffer), first = now;
  GstAnalyticsTrackingMtd track;
  GstAnalyticsODMtd detection;
  guint64 id = gst_nn_object_get_track_id (o);
  if (id == 0 || !find_detection (meta, gst_nn_object_get_id (o), &detection) ||
      has_track (meta, &detection))
    return;
  if (GST_CLOCK_TIME_IS_VALID (now) && GST_BUFFER_DURATION_IS_VALID (buffer))
    first = now - MIN (now, gst_nn_object_get_track_age (o) * GST_BUFFER_DURATION (buffer));
  if (!gst_analytics_relation_meta_add_tracking_mtd (meta, id, first, &track))
    return;
  gst_analytics_tracking_mtd_update_last_seen (&track, now);
  relate (meta, detection.id, track.id);
}

void
gst_nn_relation_add_tracks (GstBuffer *buffer, GstNnResultMeta *result)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  const GstNnObject *o;
  for (guint i = 0; meta != NULL && (o = gst_nn_result_meta_get_object (result, i)) != NULL; i++)
    add_track (meta, buffer, o);
}
