/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inferences that fail: the stream stops, or goes on for so many frames without results. */
#include "infer/gstnninfer.h"

#define GST_CAT_DEFAULT gst_nn_infer_debug

gboolean
gst_nn_infer_forgives (GstNnInfer *self, const GError *error)
{
  guint most;
  if (g_error_matches (error, AXON_ERROR, AXON_ERROR_CANCELLED))
    return FALSE;
  GST_OBJECT_LOCK (self);
  most = self->max_errors;
  GST_OBJECT_UNLOCK (self);
  gst_nn_stats_count (self->stats, GST_NN_COUNT_FAILED);
  if (self->n_errors >= most)
    return FALSE;
  if (self->n_errors++ == 0) /* once until a frame is inferred again */
    gst_nn_post_warning (GST_ELEMENT (self), error);
  GST_DEBUG_OBJECT (self, "%u. error: %s", self->n_errors, error->message);
  return TRUE;
}

void
gst_nn_infer_note_success (GstNnInfer *self)
{
  if (self->n_errors > 0)
    GST_INFO_OBJECT (self, "inferred again after %u errors", self->n_errors);
  self->n_errors = 0;
}
