/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures as wide as they are. Where a model leaves its width free and its description says
 * max-width, as for lines of text, each part of a frame keeps its proportions: the network is
 * compiled once, for any width, and the picture step is a small model of its own for each width.
 * Widths are rounded up to four steps an octave, so that pictures of like width run as one batch
 * and devices plan for few. */
#pragma once

#include "infer/gstnninferqueue.h"

/* TRUE if pictures for @model have widths of their own. */
gboolean gst_nn_infer_width_is_free (const GstNnInferModel *model);
/* The network alone, with its height, for pictures of any width. */
AxonModel *gst_nn_infer_width_build (const GstNnInferModel *model, GError **error);
/* The width that a picture of these sides gets. */
gint gst_nn_infer_width_choose (const GstNnInferModel *model, gdouble width, gdouble height);
/* Streaming thread: makes the picture of @slot, which is mapped, and binds it. */
gboolean gst_nn_infer_width_bind (GstNnSlot *slot, GError **error);
