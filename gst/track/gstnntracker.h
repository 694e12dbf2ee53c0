/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which object of a frame is which object of the frames before, in the manner of SORT
 * (arXiv:1602.00763) and ByteTrack (arXiv:2110.06864): objects that are surely there are matched
 * first, what is left of the tracks then with those that are less sure, and only sure ones begin
 * tracks. Where objects carry embeddings, looks count too, as in BoT-SORT (arXiv:2206.14651).
 *
 * A tracker's state is that of the last results; what lies between results, or after them, is
 * predicted without changing it, so results that come late need nothing undone. Times are in
 * frames. One thread at a time. */
#pragma once

#include "gstnnkalman.h"

typedef struct {
  gdouble high_score, low_score, new_score;
  gdouble iou_threshold;
  gdouble appearance_threshold; /* cosine distance; 0: looks do not count */
  guint min_hits;
  gdouble lost_frames; /* after which a track that nobody saw is released */
  gboolean class_aware;
} GstNnTrackerConfig;

typedef enum {
  GST_NN_TRACKLET_TENTATIVE = 1 << 0, /* seen less often than it takes */
  GST_NN_TRACKLET_SEEN = 1 << 1,      /* in the last results */
  GST_NN_TRACKLET_LOST = 1 << 2,      /* not in them */
} GstNnTrackletState;

typedef struct {
  guint64 id; /* 0 while tentative */
  GstNnTrackletState state;
  guint hits;
  gint class_id;
  gdouble begun, seen;  /* times */
  GstNnKalman motion;   /* as of seen */
  GstNnBox box;         /* as it was seen */
  GArray *looks;        /* normalised floats; empty: not known */
  GstNnKalman expected; /* motion at the time of the results that are matched */
  GstNnBox expected_box;
} GstNnTracklet;

/* An object of the results. */
typedef struct {
  GstNnBox box;
  gdouble score;
  gint class_id;
  const gfloat *embedding; /* or NULL */
  gsize n_embedding;
  GstNnTracklet *track; /* out; NULL: none */
} GstNnSighting;

typedef struct {
  guint64 n_tracks, n_found_again; /* ever: that got a number, that were lost in between */
  guint n_seen, n_lost;            /* now */
} GstNnTrackerCounts;

typedef struct _GstNnTracker GstNnTracker;

/* Numbers of tracks are taken from @last_id, which several trackers may share. */
GstNnTracker *gst_nn_tracker_new (guint64 *last_id);
void gst_nn_tracker_free (GstNnTracker *tracker);
/* What was seen is not what will be seen. Numbers go on. */
void gst_nn_tracker_reset (GstNnTracker *tracker);
/* Results at @time, which is after that of the last ones; fills in whose they are. */
void gst_nn_tracker_update (GstNnTracker *tracker, const GstNnTrackerConfig *config,
                            GstNnSighting *sightings, guint n_sightings, gdouble time);
/* A track by its number or by where it was seen, NULL: there is none. */
GstNnTracklet *gst_nn_tracker_find (GstNnTracker *tracker, guint64 id);
GstNnTracklet *gst_nn_tracker_find_box (GstNnTracker *tracker, const GstNnBox *box, gint class_id);
void gst_nn_tracker_add_counts (GstNnTracker *tracker, GstNnTrackerCounts *counts);

/* Where it is at @time, as far as one knows. */
void gst_nn_tracklet_predict (const GstNnTracklet *track, gdouble time, GstNnBox *box);
/* Frames since it was first seen. */
guint gst_nn_tracklet_get_age (const GstNnTracklet *track, gdouble time);
