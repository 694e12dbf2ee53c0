/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Follows tracks through zones and over lines, frame by frame. A track is in a zone once it is
 * inside of it, until it is outside by more than the margin; it is over a line once it is beyond it
 * by more than the margin: who jitters on an edge is counted once. Objects without a track count
 * for how many there are, and for the heat map. Threads: one at a time. */
#pragma once

#include "gstnnrules.h"

typedef struct _GstNnWatch GstNnWatch;

GstNnWatch *gst_nn_watch_new (void);
void gst_nn_watch_free (GstNnWatch *watch);
/* Other rules; what is known of those with the same name stays. */
void gst_nn_watch_set_rules (GstNnWatch *watch, GstNnRules *rules);
/* Another stream: no track of it has been here. Counts of lines stay. */
void gst_nn_watch_reset (GstNnWatch *watch);
/* Adds what happened to @scene and zones to the objects of @results, which may be NULL. */
void gst_nn_watch_see (GstNnWatch *watch, GstNnResultMeta *results, GstClockTime time,
                       GstNnSceneMeta *scene);
