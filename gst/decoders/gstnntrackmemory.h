/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a model said of objects, by their tracks, for frames on which it was not asked. One thread.
 */
#pragma once

#include <gst/nn/nn.h>

typedef struct _GstNnTrackMemory GstNnTrackMemory;

GstNnTrackMemory *gst_nn_track_memory_new (void);
void gst_nn_track_memory_free (GstNnTrackMemory *memory);
void gst_nn_track_memory_clear (GstNnTrackMemory *memory);
/* What @said, without data, says of its frame was said of that object of @result. Takes @said over.
 * Objects in it are forgotten: nobody knows how they move inside of theirs. */
void gst_nn_track_memory_keep (GstNnTrackMemory *memory, GstNnResultMeta *result, guint object_id,
                               GstBuffer *said);
/* A frame: says it again of objects whose tracks were seen before, but not on this frame. */
void gst_nn_track_memory_recall (GstNnTrackMemory *memory, GstNnResultMeta *result);
