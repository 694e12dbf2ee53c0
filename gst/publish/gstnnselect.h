/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which frames are told of: those on which something is other than on the last, not too many a
 * second. What happened (an event) is always told. Threads: one at a time. */
#pragma once

#include "record/gstnnrecord.h"

typedef struct {
  gboolean empty, on_change; /* frames without results, too; only what is other */
  GstClockTime min_interval; /* of running time, between two records; 0: any */
} GstNnSelectSettings;

typedef struct {
  guint last; /* of what was told last */
  GstClockTime next;
} GstNnSelectState;

/* @meta: or NULL */
gboolean gst_nn_select (GstNnSelectState *state, const GstNnSelectSettings *settings,
                        GstNnResultMeta *meta, const GstNnRecordInfo *info);
