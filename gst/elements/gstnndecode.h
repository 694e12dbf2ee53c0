/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nndecode, by files: properties, states and events (gstnndecode.c), and what it does with a frame
 * (gstnndecodeframe.c). */
#pragma once

#include "decoders/gstnnchoice.h"
#include "decoders/gstnntiles.h"
#include "decoders/gstnntrackmemory.h"
#include "gstnnmodelprops.h"
#include "gstnnstats.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

G_DECLARE_FINAL_TYPE (GstNnDecode, gst_nn_decode, GST, NN_DECODE, GstBaseTransform)

struct _GstNnDecode {
  GstBaseTransform parent_instance;
  gdouble threshold, iou_threshold; /* object lock */
  guint max_objects, top_k;         /* object lock */
  gchar *gallery_path;              /* object lock */
  GstNnGallery *gallery;            /* from start to stop */
  gboolean keep_tensors;            /* object lock */
  GstNnModelProps props;            /* object lock */
  GstNnDescription *override;       /* what the properties say */
  GstNnDecoderChoice choice;
  GstNnStats *stats;
  gdouble used_threshold; /* of the last frame */
  GArray *candidates;     /* scratch */
  GstClockTime hold_time; /* object lock */
  GstBuffer *held;        /* without data: the last results, as they were attached */
  GstNnTrackMemory *memory;
  GPtrArray *parts;   /* scratch: GstNnTensorMeta */
  GArray *tiles;      /* scratch: GstNnTile */
  gint width, height; /* of frames, as caps say; 0: tensors */
};

/* What is counted and measured, by the names that gstnndecode.c gives. */
enum { COUNT_DECODED, COUNT_REUSED, COUNT_WITH_RESULTS };
enum { TIME_DECODING };

/* Streaming thread. What the outputs on @buffer mean, or the last results where there are none, are
 * attached to it; the outputs are self->parts then. FALSE: an error was posted. */
gboolean gst_nn_decode_frame (GstNnDecode *self, GstBuffer *buffer);

GST_DEBUG_CATEGORY_EXTERN (gst_nn_decode_debug);

G_END_DECLS
