/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnoverlaycaps.h"

#include <gst/video/video.h>

#define META GST_CAPS_FEATURE_META_GST_VIDEO_OVERLAY_COMPOSITION

static gboolean
has_meta (const GstCapsFeatures *features)
{
  return !gst_caps_features_is_any (features) && gst_caps_features_contains (features, META);
}

static void
append (GstCaps *caps, const GstStructure *s, const GstCapsFeatures *features)
{
  gst_caps_append_structure_full (caps, gst_structure_copy (s), gst_caps_features_copy (features));
}

static void
append_drawable (GstCaps *caps, const GstStructure *s, const GstCapsFeatures *features,
                 GstCaps *drawable)
{
  g_autoptr (GstCapsFeatures) bare = gst_caps_features_copy (features);
  g_autoptr (GstCaps) wanted = gst_caps_new_full (gst_structure_copy (s), NULL);
  g_autoptr (GstCaps) both = gst_caps_intersect_full (wanted, drawable, GST_CAPS_INTERSECT_FIRST);
  gst_caps_features_remove (bare, META);
  if (!gst_caps_features_is_equal (bare, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
    return;
  for (guint i = 0; i < gst_caps_get_size (both); i++)
    append (caps, gst_caps_get_structure (both, i), features);
}

/* Of what is upstream: the same drawn into, or with the feature. */
static void
append_outputs (GstCaps *caps, const GstStructure *s, const GstCapsFeatures *features,
                GstCaps *drawable, gboolean attaches)
{
  g_autoptr (GstCapsFeatures) with = gst_caps_features_copy (features);
  append_drawable (caps, s, features, drawable);
  if (!has_meta (features))
    gst_caps_features_add (with, META);
  if (attaches)
    append (caps, s, with);
}

/* Of what is downstream: who knows the feature takes frames that had it before or had not. */
static void
append_inputs (GstCaps *caps, const GstStructure *s, const GstCapsFeatures *features,
               GstCaps *drawable, gboolean attaches)
{
  g_autoptr (GstCapsFeatures) without = gst_caps_features_copy (features);
  if (!attaches || !has_meta (features)) {
    append_drawable (caps, s, features, drawable);
    return;
  }
  gst_caps_features_remove (without, META);
  append (caps, s, without);
  append (caps, s, features);
}

GstCaps *
gst_nn_overlay_caps_other (const GstCaps *caps, GstPadDirection direction, GstCaps *drawable,
                           gboolean attaches)
{
  GstCaps *others = gst_caps_new_empty ();
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const GstStructure *s = gst_caps_get_structure (caps, i);
    const GstCapsFeatures *features = gst_caps_get_features (caps, i);
    if (gst_caps_features_is_any (features))
      append (others, s, features);
    else if (direction == GST_PAD_SINK)
      append_outputs (others, s, features, drawable, attaches);
    else
      append_inputs (others, s, features, drawable, attaches);
  }
  return others;
}

GstCaps *
gst_nn_overlay_caps_choose (GstCaps *others, const GstCaps *peer)
{
  gboolean is_named = FALSE;
  guint index = 0;
  GstCaps *chosen;
  for (guint i = 0; peer != NULL && !gst_caps_is_any (peer) && i < gst_caps_get_size (peer); i++)
    is_named = is_named || has_meta (gst_caps_get_features (peer, i));
  for (guint i = gst_caps_get_size (others); i-- > 0;)
    if (has_meta (gst_caps_get_features (others, i)) == is_named)
      index = i;
  chosen = gst_caps_copy_nth (others, index);
  gst_caps_unref (others);
  return gst_caps_fixate (chosen);
}

gboolean
gst_nn_overlay_caps_attach (const GstCaps *caps)
{
  return has_meta (gst_caps_get_features (caps, 0));
}
