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

/* A model: the decoder that its shapes mean; "-": none that finds objects. */
typedef struct {
  const gchar *decoder;
  gint width, height;
  guint n_labels;
  const gchar *shapes;
  const gchar *names; /* of outputs, or NULL */
} DecodedModel;

#define DECODED_TENSORS 12

extern const DecodedModel decoded_models[];
extern const guint n_decoded_models;

/* "1x20x4 1x20"; how many they are. */
guint decoded_parse_shapes (const gchar *text, AxonShape shapes[DECODED_TENSORS]);
/* Outputs of these @shapes, of zeros, as @m describes them but for that. */
void decoded_load (Decoded *d, const DecodedModel *m, const AxonShape *shapes, guint n);
void decoded_load_with (Decoded *d, const DecodedModel *m, const AxonShape *shapes, guint n,
                        AxonTensor *(*new_output) (const AxonShape *shape));
