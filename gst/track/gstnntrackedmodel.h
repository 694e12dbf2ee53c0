/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The objects that one model finds on a stream of frames, with a tracker of their own: what one
 * model misses says nothing of another's objects. Frames come in three kinds: with new results,
 * with results that were shown before, and without. Streaming thread. */
#pragma once

#include "gstnncamera.h"
#include "gstnntracker.h"

typedef struct {
  GstNnTrackerConfig tracker;
  gboolean predicts; /* objects without results of their own move with their tracks */
  GstClockTime frame_duration;
  const GstNnCamera *camera; /* or NULL: it stands still */
} GstNnTrackedModelConfig;

typedef struct _GstNnTrackedModel GstNnTrackedModel;

GstNnTrackedModel *gst_nn_tracked_model_new (const gchar *name, guint64 *last_id);
void gst_nn_tracked_model_free (GstNnTrackedModel *model);
gboolean gst_nn_tracked_model_has_name (const GstNnTrackedModel *model, const gchar *name);
void gst_nn_tracked_model_reset (GstNnTrackedModel *model);
/* The frame of @buffer, which is writable, at @now. Returns how many objects were put where they
 * are expected. */
guint gst_nn_tracked_model_process (GstNnTrackedModel *model, const GstNnTrackedModelConfig *config,
                                    GstBuffer *buffer, GstClockTime now);
void gst_nn_tracked_model_add_counts (GstNnTrackedModel *model, GstNnTrackerCounts *counts);
