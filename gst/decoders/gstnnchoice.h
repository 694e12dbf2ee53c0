/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which decoder was chosen, and for what: it holds until shapes, the input's size or the number of
 * labels change. One thread. */
#pragma once

#include "gstnndecoder.h"

typedef struct {
  const GstNnDecoder *decoder; /* NULL: none fits */
  GArray *shapes;              /* AxonShape of each output; NULL: nothing was chosen yet */
  gint width, height;
  guint n_labels;
  gsize gallery_length; /* of its vectors; 0: there is none */
} GstNnDecoderChoice;

void gst_nn_decoder_choice_clear (GstNnDecoderChoice *choice);
gboolean gst_nn_decoder_choice_holds (const GstNnDecoderChoice *choice, const GstNnDecodeInput *in);
/* The one called @name, or with NULL the first that fits. NULL: none. */
const GstNnDecoder *gst_nn_decoder_choose (GstNnDecoderChoice *choice, const GstNnDecodeInput *in,
                                           const gchar *name);
/* What it was chosen for, for people. */
gchar *gst_nn_decoder_choice_to_string (const GstNnDecoderChoice *choice);
