/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoders turn raw outputs into objects and classes, in pixels of the model's input; the element
 * undoes the letterbox and suppresses overlaps. A decoder is a file that defines
 * gst_nn_decoder_NAME, and a row of the list in gst/meson.build. */
#pragma once

#include "config.h"
#include <gst/nn/nn.h>

typedef struct {
  GPtrArray *tensors; /* AxonTensor, f32 */
  guint n_labels;     /* that the model's description has; 0: not known */
  gint width, height; /* of the model's input; 0: not known */
  gdouble threshold;
} GstNnDecodeInput;

typedef struct {
  gdouble x, y, width, height;
  gdouble score;
  gint class_id;
} GstNnDetection;

/* A class of the whole picture. */
typedef struct {
  gdouble score;
  gint class_id;
} GstNnScore;

typedef struct {
  const gchar *name;
  const gchar *blurb;
  /* TRUE if it can decode outputs of such shapes. Asked when the shapes change. */
  gboolean (*fits) (const GstNnDecodeInput *in);
  /* Adds GstNnDetection and GstNnScore. Every frame; the shapes fit. */
  void (*decode) (const GstNnDecodeInput *in, GArray *objects, GArray *classes);
} GstNnDecoder;

const GstNnDecoder *gst_nn_decoder_find (const gchar *name);
/* The first of the list that fits, or NULL. */
const GstNnDecoder *gst_nn_decoder_probe (const GstNnDecodeInput *in);
/* Names of all, for people. */
gchar *gst_nn_decoder_list (void);

/* Keeps the best of overlapping objects of the same class; sorts best first. */
void gst_nn_suppress (GArray *objects, gdouble iou_threshold, guint max_objects);

/* For decoders. Scores are compared with the threshold before anything else is computed. */
const AxonTensor *gst_nn_tensor_at (const GstNnDecodeInput *in, guint index);
const AxonShape *gst_nn_shape_at (const GstNnDecodeInput *in, guint index);
/* [1,rows,columns], leading ones aside. */
gboolean gst_nn_is_table (const AxonShape *shape, gint64 *rows, gint64 *columns);
/* Index of the largest of @n scores, @stride apart. */
gint64 gst_nn_best_class (const gfloat *scores, gint64 n, gint64 stride);
/* Cells of the grids at strides 8, 16 and 32. */
gint64 gst_nn_count_cells (gint width, gint height);
/* Nothing where a number is none, or the box is empty. */
void gst_nn_add_object (GArray *objects, gdouble x, gdouble y, gdouble width, gdouble height,
                        gdouble score, gint class_id);
