/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From what a decoder finds to the result tree of a frame. One thread. */
#pragma once

#include "gstnndecoder.h"

/* Fills @in->to_frame: where the picture lay in the model's input. Without a geometry the whole
 * frame was stretched to the input, whose size is the description's, else the frame's. */
void gst_nn_decode_input_place (GstNnDecodeInput *in, const AxonImageGeometry *geometry,
                                gint frame_width, gint frame_height);
/* Adds what @decoder finds to @result; @candidates is scratch. */
void gst_nn_decode_into (GstNnResultMeta *result, const GstNnDecoder *decoder,
                         const GstNnDecodeInput *in, gdouble iou_threshold, guint max_objects,
                         GstClockTime pts, GArray *candidates);
/* Adds the results on @from, of an object of @buffer or (0) of its frame, in the size that results
 * have there, and tells others by region metas. */
void gst_nn_results_attach (GstBuffer *buffer, guint object_id, GstBuffer *from);
