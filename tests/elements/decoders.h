/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of decoders share: outputs without a model, decoded without a pipeline. */
#pragma once

#include "axontest.h"

#include "decoders/gstnnresults.h"

typedef struct {
  GstNnDecodeInput in;
  GPtrArray *names; /* or NULL; ended by NULL */
  GstBuffer *buffer;
  GstNnResultMeta *result;
} Decoded;

#define DECODED_VALUES 57

/* Numbers of an output that are not what the others are. */
typedef struct {
  guint tensor;
  gint64 at, step; /* of the first number, and from one to the next */
  guint times, n;  /* how often, how many */
  gfloat values[DECODED_VALUES];
} DecodedSpan;

/* An input of that size, which a frame of @frame_width x @frame_height was fitted into. */
void decoded_init (Decoded *d, AxonImageFit fit, gint width, gint height, gint frame_width,
                   gint frame_height);
/* Takes @tensor over. */
void decoded_add (Decoded *d, AxonTensor *tensor, const gchar *name);
/* Adds an output for each of @shapes, such as "1x20x4 1x20"; @names may be NULL. */
void decoded_fill (Decoded *d, const gchar *shapes, const gchar *names, gfloat fill,
                   const DecodedSpan *spans, guint n_spans);
void decoded_set_labels (Decoded *d, gchar **labels);
/* Decodes; the results of an earlier call are gone. */
void decoded_run (Decoded *d, const GstNnDecoder *decoder, gdouble iou_threshold, guint most);
void decoded_clear (Decoded *d);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Decoded, decoded_clear)
