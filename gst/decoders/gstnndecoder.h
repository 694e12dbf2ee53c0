/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoders: raw outputs to objects and classes, in pixels of the model's input. A decoder is a row
 * of the table; the element undoes the letterbox and suppresses overlaps. */
#pragma once

#include <gst/nn/nn.h>

typedef struct {
  GPtrArray *tensors; /* AxonTensor, f32 */
  const GstNnDescription *description;
  gint width, height; /* of the model's input */
  gdouble threshold;
} GstNnDecodeInput;

typedef struct {
  const gchar *name;
  const gchar *blurb;
  /* TRUE if the shapes of the outputs look like this decoder's. */
  gboolean (*probe) (const GstNnDecodeInput *in);
  void (*decode) (const GstNnDecodeInput *in, GArray *objects, GArray *classes);
} GstNnDecoder;

extern const GstNnDecoder gst_nn_decoders[];
extern const guint gst_nn_n_decoders;

const GstNnDecoder *gst_nn_decoder_find (const gchar *name);
const GstNnDecoder *gst_nn_decoder_probe (const GstNnDecodeInput *in);

/* Keeps the best of overlapping objects of the same class; sorts best first. */
void gst_nn_suppress (GArray *objects, gdouble iou_threshold, guint max_objects);

/* Shared by decoders */
gint64 gst_nn_count_cells (gint width, gint height);
void gst_nn_add_object (GArray *objects, gdouble x, gdouble y, gdouble width, gdouble height,
                        gdouble score, gint class_id);

gboolean gst_nn_probe_boxes_scores (const GstNnDecodeInput *in);
void gst_nn_decode_boxes_scores (const GstNnDecodeInput *in, GArray *objects, GArray *classes);
gboolean gst_nn_probe_yolox (const GstNnDecodeInput *in);
void gst_nn_decode_yolox (const GstNnDecodeInput *in, GArray *objects, GArray *classes);
gboolean gst_nn_probe_nanodet (const GstNnDecodeInput *in);
void gst_nn_decode_nanodet (const GstNnDecodeInput *in, GArray *objects, GArray *classes);
gboolean gst_nn_probe_yolov5 (const GstNnDecodeInput *in);
void gst_nn_decode_yolov5 (const GstNnDecodeInput *in, GArray *objects, GArray *classes);
gboolean gst_nn_probe_yolov8 (const GstNnDecodeInput *in);
void gst_nn_decode_yolov8 (const GstNnDecodeInput *in, GArray *objects, GArray *classes);
gboolean gst_nn_probe_classification (const GstNnDecodeInput *in);
void gst_nn_decode_classification (const GstNnDecodeInput *in, GArray *objects, GArray *classes);
