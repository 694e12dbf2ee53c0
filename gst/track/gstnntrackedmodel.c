/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnntrackedmodel.h"
#include "frame/gstnnregion.h"

#define MOST 1000 /* objects of a frame; matching takes the cube of it */

struct _GstNnTrackedModel {
  gchar *name; /* NULL: objects that do not say */
  GstNnTracker *tracker;
  GstClockTime seen;        /* the time of the last results; NONE: none yet */
  GstBuffer *held;          /* without data: tracked objects as they were seen then */
  GPtrArray *fresh, *shown; /* scratch: objects of new results, and of earlier ones */
  GArray *sightings;        /* scratch: of the fresh */
};

GstNnTrackedModel *
gst_nn_tracked_model_new (const gchar *name, guint64 *last_id)
{
  GstNnTrackedModel *m = g_new0 (GstNnTrackedModel, 1);
  m->name = g_strdup (name);
  m->tracker = gst_nn_tracker_new (last_id);
  m->seen = GST_CLOCK_TIME_NONE;
  m->fresh = g_ptr_array_new ();
  m->shown = g_ptr_array_new ();
  m->sightings = g_array_new (FALSE, TRUE, sizeof (GstNnSighting));
  return m;
}

void
gst_nn_tracked_model_free (GstNnTrackedModel *m)
{
  g_free (m->name);
  gst_nn_tracker_free (m->tracker);
  gst_clear_buffer (&m->held);
  g_ptr_array_unref (m->fresh);
  g_ptr_array_unref (m->shown);
  g_array_unref (m->sightings);
  g_free (m);
}

gboolean
gst_nn_tracked_model_has_name (const GstNnTrackedModel *m, const gchar *name)
{
  return g_strcmp0 (m->name, name) == 0;
}

void
gst_nn_tracked_model_reset (GstNnTrackedModel *m)
{
  gst_nn_tracker_reset (m->tracker);
  gst_clear_buffer (&m->held);
  m->seen = GST_CLOCK_TIME_NONE;
}

static gdouble
in_frames (const GstNnTrackedModelConfig *config, GstClockTime time)
{
  return (gdouble)time / (gdouble)config->frame_duration;
}

/* Objects of the frame that this model found: new ones, and those that were shown before, which say
 * so by their timestamp. Returns the time of the new ones. */
static GstClockTime
sort_objects (GstNnTrackedModel *m, GstNnResultMeta *result, GstClockTime now)
{
  GstClockTime newest = m->seen, pts;
  GstNnObject *o;
  g_ptr_array_set_size (m->fresh, 0);
  g_ptr_array_set_size (m->shown, 0);
  for (guint i = 0; result != NULL && (o = gst_nn_result_meta_get_object (result, i)) != NULL;
       i++) {
    if (gst_nn_object_get_parent_id (o) != 0 ||
        !gst_nn_tracked_model_has_name (m, gst_nn_object_get_model_name (o)))
      continue;
    pts = gst_nn_object_get_pts (o);
    pts = GST_CLOCK_TIME_IS_VALID (pts) ? MIN (pts, now) : now;
    if (GST_CLOCK_TIME_IS_VALID (m->seen) && pts <= m->seen) {
      g_ptr_array_add (m->shown, o);
    } else if (m->fresh->len < MOST) {
      g_ptr_array_add (m->fresh, o);
      newest = GST_CLOCK_TIME_IS_VALID (newest) ? MAX (newest, pts) : pts;
    }
  }
  return newest;
}

static void
fill_sightings (GstNnTrackedModel *m, const GstNnTrackedModelConfig *config, GstClockTime seen)
{
  g_array_set_size (m->sightings, m->fresh->len);
  for (guint i = 0; i < m->fresh->len; i++) {
    GstNnSighting *s = &g_array_index (m->sightings, GstNnSighting, i);
    const GstNnObject *o = g_ptr_array_index (m->fresh, i);
    gst_nn_object_get_box (o, &s->box.x, &s->box.y, &s->box.width, &s->box.height);
    gst_nn_camera_to_world (config->camera, seen, &s->box);
    s->score = gst_nn_object_get_score (o);
    s->class_id = gst_nn_object_get_class_id (o);
    s->embedding = gst_nn_object_get_embedding (o, &s->n_embedding);
  }
}

static void
move_to_track (GstNnObject *o, const GstNnTracklet *track, const GstNnTrackedModelConfig *config,
               GstClockTime now)
{
  GstNnBox box;
  gst_nn_tracklet_predict (track, in_frames (config, now), &box);
  gst_nn_camera_to_frame (config->camera, now, &box);
  gst_nn_object_move (o, box.x, box.y, box.width, box.height);
}

/* What was seen, for frames on which nobody looked. */
static void
hold (GstNnTrackedModel *m, GstNnResultMeta *result)
{
  GstNnResultMeta *kept;
  gst_clear_buffer (&m->held);
  if (result == NULL || m->fresh->len == 0)
    return;
  m->held = gst_buffer_new ();
  kept = gst_buffer_add_nn_result_meta (m->held, result->width, result->height);
  for (guint i = 0; i < m->fresh->len; i++)
    if (gst_nn_object_get_track_id (g_ptr_array_index (m->fresh, i)) != 0)
      gst_nn_result_meta_add_copy (kept, 0, g_ptr_array_index (m->fresh, i));
}

/* Results that come late are of an earlier frame: their objects have moved since. */
static guint
take_results (GstNnTrackedModel *m, const GstNnTrackedModelConfig *config, GstNnResultMeta *result,
              GstClockTime seen, GstClockTime now)
{
  guint n_moved = 0;
  fill_sightings (m, config, seen);
  gst_nn_tracker_update (m->tracker, &config->tracker,
                         (GstNnSighting *)(gpointer)m->sightings->data, m->sightings->len,
                         in_frames (config, seen));
  m->seen = seen;
  for (guint i = 0; i < m->fresh->len; i++) {
    const GstNnTracklet *track = g_array_index (m->sightings, GstNnSighting, i).track;
    if (track != NULL && track->id != 0)
      gst_nn_object_set_track (g_ptr_array_index (m->fresh, i), track->id,
                               gst_nn_tracklet_get_age (track, in_frames (config, now)));
  }
  hold (m, result);
  for (guint i = 0; config->predicts && now > seen && i < m->fresh->len; i++) {
    const GstNnTracklet *track = g_array_index (m->sightings, GstNnSighting, i).track;
    if (track == NULL)
      continue;
    move_to_track (g_ptr_array_index (m->fresh, i), track, config, now);
    n_moved++;
  }
  return n_moved;
}

/* Somebody shows the last results again: they are where they were seen. */
static guint
follow_shown (GstNnTrackedModel *m, const GstNnTrackedModelConfig *config, GstClockTime now)
{
  gdouble time = in_frames (config, now);
  guint n_moved = 0;
  for (guint i = 0; i < m->shown->len; i++) {
    GstNnObject *o = g_ptr_array_index (m->shown, i);
    GstNnTracklet *track;
    GstNnBox box;
    gst_nn_object_get_box (o, &box.x, &box.y, &box.width, &box.height);
    gst_nn_camera_to_world (config->camera, m->seen, &box);
    track = gst_nn_tracker_find_box (m->tracker, &box, gst_nn_object_get_class_id (o));
    if (track == NULL)
      continue;
    if (track->id != 0)
      gst_nn_object_set_track (o, track->id, gst_nn_tracklet_get_age (track, time));
    if (config->predicts) {
      move_to_track (o, track, config, now);
      n_moved++;
    }
  }
  return n_moved;
}

/* Nobody looked, nobody shows anything. */
static guint
show_held (GstNnTrackedModel *m, const GstNnTrackedModelConfig *config, GstBuffer *buffer,
           GstClockTime now)
{
  GstNnResultMeta *kept = m->held ? gst_buffer_get_nn_result_meta (m->held) : NULL, *result = NULL;
  gdouble time = in_frames (config, now);
  guint n_shown = 0;
  GstNnObject *o;
  if (kept == NULL || !config->predicts)
    return 0;
  for (guint i = 0; (o = gst_nn_result_meta_get_object (kept, i)) != NULL; i++) {
    GstNnTracklet *track = gst_nn_tracker_find (m->tracker, gst_nn_object_get_track_id (o));
    if (track == NULL || time - track->seen > config->tracker.lost_frames)
      continue;
    if (result == NULL)
      result = gst_buffer_add_nn_result_meta (buffer, kept->width, kept->height);
    o = gst_nn_result_meta_add_copy (result, 0, o);
    gst_nn_object_set_track (o, track->id, gst_nn_tracklet_get_age (track, time));
    move_to_track (o, track, config, now);
    gst_nn_region_add (buffer, o, result);
    n_shown++;
  }
  return n_shown;
}

guint
gst_nn_tracked_model_process (GstNnTrackedModel *m, const GstNnTrackedModelConfig *config,
                              GstBuffer *buffer, GstClockTime now)
{
  GstNnResultMeta *result = gst_buffer_get_nn_result_meta (buffer);
  GstClockTime seen = sort_objects (m, result, now);
  if (m->fresh->len > 0)
    return take_results (m, config, result, seen, now);
  if (m->shown->len > 0)
    return follow_shown (m, config, now);
  if (result == NULL)
    return show_held (m, config, buffer, now);
  return GST_CLOCK_TIME_IS_VALID (m->seen) && now <= m->seen
             ? 0
             : take_results (m, config, result, now, now); /* it looked and found nothing */
}

void
gst_nn_tracked_model_add_counts (GstNnTrackedModel *m, GstNnTrackerCounts *counts)
{
  gst_nn_tracker_add_counts (m->tracker, counts);
}
