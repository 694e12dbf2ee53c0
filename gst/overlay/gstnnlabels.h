/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Captions of words, which are drawn once and come back in others, put where there is room. */
#pragma once

#include "gstnndrawing.h"

#define GST_NN_LABELS_WORDS 16 /* of a caption; what comes after them is left out */
#define GST_NN_LABELS_PLACES 64

typedef struct {
  const GstNnDrawing *drawing;
  const GstNnGlyphs *words[GST_NN_LABELS_WORDS]; /* of the caption that is being made */
  guint n_words;
  GstVideoRectangle places[GST_NN_LABELS_PLACES]; /* of those that are drawn */
  guint n_places;
} GstNnLabels;

void gst_nn_labels_init (GstNnLabels *labels, const GstNnDrawing *drawing);
/* A new caption. */
void gst_nn_labels_begin (GstNnLabels *labels);
void gst_nn_labels_add (GstNnLabels *labels, const gchar *text);
/* What the style asks for. */
void gst_nn_labels_add_object (GstNnLabels *labels, const GstNnObject *object);
void gst_nn_labels_add_attribute (GstNnLabels *labels, const GstNnAttribute *attribute);
void gst_nn_labels_add_shape (GstNnLabels *labels, const GstNnShape *shape);
void gst_nn_labels_add_count (GstNnLabels *labels, const gchar *label, gint class_id, guint count);
gint gst_nn_labels_get_height (const GstNnLabels *labels);
/* Moved into the frame; returns its height. */
gint gst_nn_labels_draw (GstNnLabels *labels, const GstNnPaint *paint, gint x, gint y);
/* Above a box of @height whose upper left corner is given, below it or in it: the first of these
 * that is on the frame and on no other caption. */
void gst_nn_labels_draw_beside (GstNnLabels *labels, const GstNnPaint *paint, gint x, gint y,
                                gint height);
