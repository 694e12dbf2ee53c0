/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnntracker.h"
#include "gstnnassign.h"

#include <math.h>

#define SMOOTHING 0.9 /* of looks, BoT-SORT's alpha */
#define PROXIMITY 0.5 /* IoU distance within which looks count, BoT-SORT's */
/* Squared Mahalanobis distance within which looks count, too, where a track was lost: 95 % of a chi
 * square of four degrees of freedom, DeepSORT's gate. */
#define GATE 9.4877

struct _GstNnTracker {
  guint64 *last_id;
  gboolean is_fresh;  /* there were no results since the last reset */
  GPtrArray *tracks;  /* GstNnTracklet */
  GPtrArray *rows;    /* scratch: those of tracks that are matched now */
  GPtrArray *columns; /* scratch: GstNnSighting */
  GstNnAssignment *assignment;
  guint64 n_tracks, n_found_again;
};

/* ByteTrack's associations, in this order; its thresholds are of 1 - IoU. */
static const struct {
  guint states;
  gboolean is_sure; /* objects of high score, or those of low */
  gdouble limit;    /* of the cost; 0: what the IoU threshold leaves */
  gboolean weighs;  /* IoU by score, which prefers the surer of two */
  gboolean has_looks;
} stages[] = {
  { GST_NN_TRACKLET_SEEN | GST_NN_TRACKLET_LOST, TRUE, 0, TRUE, TRUE },
  { GST_NN_TRACKLET_SEEN, FALSE, 0.5, FALSE, FALSE },
  { GST_NN_TRACKLET_TENTATIVE, TRUE, 0.7, TRUE, FALSE },
};

static void
track_free (gpointer data)
{
  GstNnTracklet *track = data;
  g_array_unref (track->looks);
  g_free (track);
}

GstNnTracker *
gst_nn_tracker_new (guint64 *last_id)
{
  GstNnTracker *t = g_new0 (GstNnTracker, 1);
  t->last_id = last_id;
  t->is_fresh = TRUE;
  t->tracks = g_ptr_array_new_with_free_func (track_free);
  t->rows = g_ptr_array_new ();
  t->columns = g_ptr_array_new ();
  t->assignment = gst_nn_assignment_new ();
  return t;
}

void
gst_nn_tracker_free (GstNnTracker *t)
{
  g_ptr_array_unref (t->tracks);
  g_ptr_array_unref (t->rows);
  g_ptr_array_unref (t->columns);
  gst_nn_assignment_free (t->assignment);
  g_free (t);
}

void
gst_nn_tracker_reset (GstNnTracker *t)
{
  g_ptr_array_set_size (t->tracks, 0);
  t->is_fresh = TRUE;
}

/* What is not in the last results keeps its size. */
static void
expect (GstNnTracklet *track, gdouble time)
{
  gdouble frames = MAX (time - track->seen, 0);
  track->expected = track->motion;
  gst_nn_kalman_predict (&track->expected, frames, frames > 1);
  gst_nn_kalman_get_box (&track->expected, &track->expected_box);
}

/* Half of the cosine distance, as BoT-SORT counts it; 1: one of them is not known. */
static gdouble
compare_looks (const GstNnTracklet *track, const GstNnSighting *s)
{
  const gfloat *looks = (const gfloat *)(gpointer)track->looks->data;
  gdouble dot = 0, norm = 0;
  if (s->embedding == NULL || s->n_embedding != track->looks->len)
    return 1;
  for (gsize i = 0; i < s->n_embedding; i++) {
    dot += (gdouble)looks[i] * s->embedding[i];
    norm += (gdouble)s->embedding[i] * s->embedding[i];
  }
  return norm > 0 ? (1 - dot / sqrt (norm)) / 2 : 1;
}

static void
learn_looks (GstNnTracklet *track, const GstNnSighting *s)
{
  gboolean knows = track->looks->len == s->n_embedding;
  gdouble norm = 0, old_norm = 0;
  gfloat *looks;
  if (s->embedding == NULL)
    return;
  g_array_set_size (track->looks, (guint)s->n_embedding);
  looks = (gfloat *)(gpointer)track->looks->data;
  for (gsize i = 0; i < s->n_embedding; i++)
    norm += (gdouble)s->embedding[i] * s->embedding[i];
  for (gsize i = 0; norm > 0 && i < s->n_embedding; i++) {
    gdouble now = s->embedding[i] / sqrt (norm);
    looks[i] = (gfloat)(knows ? SMOOTHING * looks[i] + (1 - SMOOTHING) * now : now);
    old_norm += (gdouble)looks[i] * looks[i];
  }
  for (gsize i = 0; old_norm > 0 && i < s->n_embedding; i++)
    looks[i] = (gfloat)(looks[i] / sqrt (old_norm));
}

static gdouble
cost_of (const GstNnTrackerConfig *config, guint stage, const GstNnTracklet *track,
         const GstNnSighting *s)
{
  gdouble iou, cost, looks;
  if (config->class_aware && track->class_id != s->class_id)
    return G_MAXDOUBLE;
  iou = gst_nn_box_get_iou (&track->expected_box, &s->box);
  cost = 1 - (stages[stage].weighs ? iou * s->score : iou);
  if (!stages[stage].has_looks || config->appearance_threshold <= 0)
    return cost;
  if (1 - iou > PROXIMITY && !(track->state == GST_NN_TRACKLET_LOST &&
                               gst_nn_kalman_get_distance (&track->expected, &s->box) <= GATE))
    return cost;
  looks = compare_looks (track, s);
  return looks <= config->appearance_threshold ? MIN (cost, looks) : cost;
}

static void
see (GstNnTracker *t, const GstNnTrackerConfig *config, GstNnTracklet *track, GstNnSighting *s,
     gdouble time)
{
  track->motion = track->expected;
  gst_nn_kalman_update (&track->motion, &s->box);
  learn_looks (track, s);
  track->box = s->box;
  track->class_id = s->class_id;
  track->seen = time;
  track->hits++;
  t->n_found_again += track->state == GST_NN_TRACKLET_LOST;
  if (track->id == 0 && track->hits >= config->min_hits) {
    track->id = ++*t->last_id;
    t->n_tracks++;
  }
  track->state = track->id ? GST_NN_TRACKLET_SEEN : GST_NN_TRACKLET_TENTATIVE;
  s->track = track;
}

static gboolean
takes_part (const GstNnTrackerConfig *config, guint stage, const GstNnSighting *s)
{
  gdouble least = stages[stage].is_sure ? config->high_score : config->low_score;
  gboolean is_sure = s->score >= config->high_score;
  return s->track == NULL && s->score >= least && is_sure == stages[stage].is_sure;
}

static void
associate (GstNnTracker *t, const GstNnTrackerConfig *config, guint stage, GstNnSighting *sightings,
           guint n, gdouble time)
{
  gdouble limit = stages[stage].limit > 0 ? stages[stage].limit : 1 - config->iou_threshold, *costs;
  const gint *columns;
  g_ptr_array_set_size (t->rows, 0);
  g_ptr_array_set_size (t->columns, 0);
  for (guint i = 0; i < t->tracks->len; i++) {
    GstNnTracklet *track = g_ptr_array_index (t->tracks, i);
    if ((track->state & stages[stage].states) && track->seen < time)
      g_ptr_array_add (t->rows, track);
  }
  for (guint i = 0; i < n; i++)
    if (takes_part (config, stage, &sightings[i]))
      g_ptr_array_add (t->columns, &sightings[i]);
  if (t->rows->len == 0 || t->columns->len == 0)
    return;
  costs = gst_nn_assignment_begin (t->assignment, t->rows->len, t->columns->len);
  for (guint r = 0; r < t->rows->len; r++)
    for (guint c = 0; c < t->columns->len; c++)
      *costs++ = cost_of (config, stage, g_ptr_array_index (t->rows, r),
                          g_ptr_array_index (t->columns, c));
  columns = gst_nn_assignment_solve (t->assignment, limit);
  for (guint r = 0; r < t->rows->len; r++)
    if (columns[r] >= 0)
      see (t, config, g_ptr_array_index (t->rows, r), g_ptr_array_index (t->columns, columns[r]),
           time);
}

/* Tracks that nobody saw at @time. */
static void
miss (GstNnTracker *t, const GstNnTrackerConfig *config, gdouble time)
{
  for (guint i = 0; i < t->tracks->len;) {
    GstNnTracklet *track = g_ptr_array_index (t->tracks, i);
    gboolean is_over =
        track->state == GST_NN_TRACKLET_TENTATIVE || time - track->seen > config->lost_frames;
    if (track->seen < time && is_over) {
      g_ptr_array_remove_index (t->tracks, i);
      continue;
    }
    if (track->seen < time)
      track->state = GST_NN_TRACKLET_LOST;
    i++;
  }
}

/* The first results have no past: what they show has its number at once. */
static void
begin (GstNnTracker *t, const GstNnTrackerConfig *config, GstNnSighting *s, gdouble time)
{
  GstNnTracklet *track = g_new0 (GstNnTracklet, 1);
  track->looks = g_array_new (FALSE, TRUE, sizeof (gfloat));
  track->begun = time;
  track->state = GST_NN_TRACKLET_TENTATIVE;
  track->hits = t->is_fresh ? config->min_hits : 0;
  gst_nn_kalman_init (&track->expected, &s->box);
  see (t, config, track, s, time);
  g_ptr_array_add (t->tracks, track);
}

void
gst_nn_tracker_update (GstNnTracker *t, const GstNnTrackerConfig *config, GstNnSighting *sightings,
                       guint n, gdouble time)
{
  for (guint i = 0; i < n; i++)
    sightings[i].track = NULL;
  for (guint i = 0; i < t->tracks->len; i++)
    expect (g_ptr_array_index (t->tracks, i), time);
  for (guint stage = 0; stage < G_N_ELEMENTS (stages); stage++)
    associate (t, config, stage, sightings, n, time);
  miss (t, config, time);
  for (guint i = 0; i < n; i++)
    if (sightings[i].track == NULL && sightings[i].score >= config->new_score)
      begin (t, config, &sightings[i], time);
  t->is_fresh = FALSE;
}

GstNnTracklet *
gst_nn_tracker_find (GstNnTracker *t, guint64 id)
{
  for (guint i = 0; i < t->tracks->len; i++) {
    GstNnTracklet *track = g_ptr_array_index (t->tracks, i);
    if (track->id == id && id != 0)
      return track;
  }
  return NULL;
}

GstNnTracklet *
gst_nn_tracker_find_box (GstNnTracker *t, const GstNnBox *box, gint class_id)
{
  for (guint i = 0; i < t->tracks->len; i++) {
    GstNnTracklet *track = g_ptr_array_index (t->tracks, i);
    const GstNnBox *b = &track->box;
    if (track->state == GST_NN_TRACKLET_SEEN && track->class_id == class_id &&
        fabs (b->x - box->x) < 0.5 && fabs (b->y - box->y) < 0.5 &&
        fabs (b->width - box->width) < 0.5 && fabs (b->height - box->height) < 0.5)
      return track;
  }
  return NULL;
}

void
gst_nn_tracker_add_counts (GstNnTracker *t, GstNnTrackerCounts *counts)
{
  counts->n_tracks += t->n_tracks;
  counts->n_found_again += t->n_found_again;
  for (guint i = 0; i < t->tracks->len; i++) {
    const GstNnTracklet *track = g_ptr_array_index (t->tracks, i);
    counts->n_seen += track->state == GST_NN_TRACKLET_SEEN;
    counts->n_lost += track->state == GST_NN_TRACKLET_LOST;
  }
}

void
gst_nn_tracklet_predict (const GstNnTracklet *track, gdouble time, GstNnBox *box)
{
  GstNnTracklet ahead = *track;
  expect (&ahead, time);
  *box = ahead.expected_box;
}

guint
gst_nn_tracklet_get_age (const GstNnTracklet *track, gdouble time)
{
  return (guint)MAX (floor (time - track->begun + 0.5), 0);
}
