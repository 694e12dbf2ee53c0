/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nnoverlay takes and gives: frames that it draws into stay as they are; where results are
 * attached, frames of any format and memory get the feature meta:GstVideoOverlayComposition. */
#pragma once

#include <gst/gst.h>

/* What can be on the other side of @caps, which are on the side of @direction. @drawable: what can
 * be drawn into; @attaches: whether results may be attached. */
GstCaps *gst_nn_overlay_caps_other (const GstCaps *caps, GstPadDirection direction,
                                    GstCaps *drawable, gboolean attaches);
/* Takes @others, which gst_nn_overlay_caps_other() gave, fixed then. Results are attached only for
 * those who name the feature: a sink that takes anything would show nothing of them.
 * @peer: NULL, or what is downstream. */
GstCaps *gst_nn_overlay_caps_choose (GstCaps *others, const GstCaps *peer);
/* Whether fixed caps have the feature. */
gboolean gst_nn_overlay_caps_attach (const GstCaps *caps);
