/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which decoder was chosen, and for what: it holds until the model, shapes, the input's size or the
 * number of labels change. Where the number of rows depends on the picture it stays as long as it
 * fits. One thread. */
#pragma once

#include "gstnndecoder.h"

typedef struct {
  const GstNnDecoder *decoder; /* NULL: none fits */
  GArray *shapes;              /* AxonShape of each output; NULL: nothing was chosen yet */
  gint width, height;
  guint n_labels;
  GstNnDescription *description; /* of the model, or NULL */
  gsize gallery_length;          /* of its vectors; 0: there is none */
} GstNnDecoderChoice;

void gst_nn_decoder_choice_clear (GstNnDecoderChoice *choice);
gboolean gst_nn_decoder_choice_holds (const GstNnDecoderChoice *choice, const GstNnDecodeInput *in);
/* The one called @name; without a name, or where that is only a guess and does not fit, the first
 * that does. NULL: none. */
const GstNnDecoder *gst_nn_decoder_choose (GstNnDecoderChoice *choice, const GstNnDecodeInput *in,
                                           const gchar *name, gboolean is_guess);
/* What it was chosen for, for people. */
gchar *gst_nn_decoder_choice_to_string (const GstNnDecoderChoice *choice);
