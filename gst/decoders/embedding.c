/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Embeddings: a vector that is near to those of alike things, scaled to length 1, so that its
 * product with another is their cosine (ArcFace, Deng et al., 2019; OSNet, Zhou et al., 2019). Of a
 * gallery the most alike is said, with the cosine as score. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>

static gboolean
fits (const GstNnDecodeInput *in)
{
  gint at = gst_nn_longest_row (in);
  gint64 n = at >= 0 ? gst_nn_count_row (in, (guint)at) : 0;
  return n > 1 && (in->gallery == NULL || (gint64)gst_nn_gallery_get_length (in->gallery) == n);
}

static void
whole (const GstNnDecodeInput *in, GstNnObject *target)
{
  guint at = (guint)gst_nn_longest_row (in), index;
  gsize n = axon_tensor_get_numel (gst_nn_tensor_at (in, at));
  g_autofree gfloat *unit = g_new (gfloat, n);
  const gchar *name;
  gdouble cosine;
  if (!gst_nn_normalize (axon_tensor_get_data (gst_nn_tensor_at (in, at)), n, unit))
    return;
  gst_nn_object_set_embedding (target, unit, n);
  if (in->gallery == NULL)
    return;
  name = gst_nn_gallery_match (in->gallery, unit, &cosine, &index);
  if (cosine >= in->threshold)
    gst_nn_say_class (in, target, "identity", (gint)index, name, cosine);
}

const GstNnDecoder gst_nn_decoder_embedding = {
  .name = "embedding",
  .blurb = N_ ("a vector to compare with others, such as those of a gallery"),
  .fits = fits,
  .recognises = gst_nn_by_name_only,
  .whole = whole,
};
