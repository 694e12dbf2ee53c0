/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer on parts of frames. Each part is a slot with a request of its own; they go before the
 * frame's own slot, which has none, so they are done when it leaves, with all that they gave. */
#pragma once

#include "infer/gstnninferqueue.h"
#include "infer/gstnnregionprops.h"

typedef struct {
  /* streaming thread */
  GHashTable *tracks; /* track id -> when it was inferred, and seen */
  guint64 n_frames;
  GArray *regions; /* scratch: GstNnRegion */
  /* task */
  GstBuffer *done; /* without data: what the parts of a frame gave; or NULL */
  guint64 frame;   /* that it is of */
  gint64 started, ended;
} GstNnInferRegions;

void gst_nn_infer_regions_init (GstNnInferRegions *regions);
void gst_nn_infer_regions_clear (GstNnInferRegions *regions);
/* What was inferred is of another stream. */
void gst_nn_infer_regions_forget (GstNnInferRegions *regions);
/* Streaming thread: the parts of a frame, without those whose tracks need nothing new. */
const GArray *gst_nn_infer_regions_choose (GstNnInferRegions *regions,
                                           const GstNnRegionProps *props, GstBuffer *buffer,
                                           const GstVideoInfo *video);
/* One of them is being inferred. */
void gst_nn_infer_regions_note (GstNnInferRegions *regions, const GstNnRegion *region);
/* The part of its frame that @slot, which is bound, is of. */
void gst_nn_infer_region_apply (GstNnSlot *slot);
/* Task: where to put what the part @slot gave. */
GstBuffer *gst_nn_infer_regions_keep (GstNnInferRegions *regions, const GstNnSlot *slot);
/* Task: adds to the frame of @slot what its parts gave, and tells how long they took. FALSE: it has
 * none. */
gboolean gst_nn_infer_regions_attach (GstNnInferRegions *regions, GstNnSlot *slot);
