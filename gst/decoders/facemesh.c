/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MediaPipe's face mesh: 468 or, with the irises, 478 points as x, y, z in pixels of the input, and
 * the logit of a face being there (Kartynnik et al., "Real-time facial surface geometry from
 * monocular video on mobile GPUs", 2019; face_landmarks_detector_graph of
 * github.com/google-ai-edge/mediapipe). The depth z is left to the raw outputs. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* The score is the first single number; a second one tells of the tongue. */
static gboolean
find_mesh (const GstNnDecodeInput *in, guint *mesh, gint *score)
{
  gboolean found = FALSE;
  *score = -1;
  for (guint i = 0; i < in->tensors->len; i++) {
    gint64 n = (gint64)axon_tensor_get_numel (gst_nn_tensor_at (in, i));
    if (n == 468 * 3 || n == 478 * 3) {
      *mesh = i;
      found = TRUE;
    } else if (n == 1 && *score < 0) {
      *score = (gint)i;
    }
  }
  return found;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  guint mesh;
  gint score;
  return find_mesh (in, &mesh, &score);
}

static gboolean
recognises (const GstNnDecodeInput *in)
{
  guint mesh;
  gint score;
  return find_mesh (in, &mesh, &score) && score >= 0;
}

static void
whole (const GstNnDecodeInput *in, GstNnObject *target)
{
  gdouble score = 1;
  const gfloat *v;
  gint score_at;
  guint mesh;
  gsize n;
  if (!find_mesh (in, &mesh, &score_at))
    return;
  if (score_at >= 0) {
    v = axon_tensor_get_data (gst_nn_tensor_at (in, (guint)score_at));
    score = 1 / (1 + exp (-(gdouble)v[0]));
  }
  if (!(score >= in->threshold))
    return;
  v = axon_tensor_get_data (gst_nn_tensor_at (in, mesh));
  n = axon_tensor_get_numel (gst_nn_tensor_at (in, mesh)) / 3;
  for (gsize i = 0; i < n; i++, v += 3)
    gst_nn_say_keypoint (in, target, (gdouble)v[0], (gdouble)v[1], score);
}

const GstNnDecoder gst_nn_decoder_facemesh = {
  .name = "facemesh",
  .blurb =
      N_ ("468 or 478 points of a face as x, y, z in pixels, and the face's score (MediaPipe)"),
  .fits = fits,
  .recognises = recognises,
  .whole = whole,
};
