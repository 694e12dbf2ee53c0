/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nninfer does when frames come faster than they can be inferred: how long they wait, and what
 * sinks say about frames that came too late. */
#include "infer/gstnninfer.h"

#include <gst/base/gstbasesrc.h>
#include <string.h>

#define GST_CAT_DEFAULT gst_nn_infer_debug
#define USUAL_DURATION (GST_SECOND / 30) /* of a frame where the caps do not tell */
#define LONGEST_PAUSE GST_SECOND /* between inferences; sinks, too, show one frame a second */

/* Sources that are no GstBaseSrc, such as rtspsrc, say what they are in their class only. */
static gboolean
is_live_source (GstElement *element)
{
  const gchar *kind = gst_element_get_metadata (element, GST_ELEMENT_METADATA_KLASS);
  if (!GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SOURCE) || GST_IS_BIN (element))
    return FALSE;
  return GST_IS_BASE_SRC (element) ? gst_base_src_is_live (GST_BASE_SRC (element))
                                   : kind != NULL && strstr (kind, "Network") != NULL;
}

static void
find_live_source (const GValue *item, gpointer user_data)
{
  if (is_live_source (g_value_get_object (item)))
    *(gboolean *)user_data = TRUE;
}

/* A guess while upstream does not answer, as cameras that are not open yet. */
static gboolean
is_beside_live_source (GstNnInfer *self)
{
  GstObject *top = gst_object_ref (self), *parent;
  gboolean found = FALSE;
  GstIterator *elements;
  while ((parent = gst_object_get_parent (top)) != NULL) {
    gst_object_unref (top);
    top = parent;
  }
  if (GST_IS_BIN (top)) {
    elements = gst_bin_iterate_recurse (GST_BIN (top));
    while (gst_iterator_foreach (elements, find_live_source, &found) == GST_ITERATOR_RESYNC)
      gst_iterator_resync (elements);
    gst_iterator_free (elements);
  }
  gst_object_unref (top);
  return found;
}

gboolean
gst_nn_infer_is_live (GstNnInfer *self)
{
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  gboolean live;
  if (!gst_pad_peer_query (self->sinkpad, query))
    return is_beside_live_source (self);
  gst_query_parse_latency (query, &live, NULL, NULL);
  return live;
}

/* Streaming thread: after caps, and after properties changed. */
void
gst_nn_infer_choose_patience (GstNnInfer *self)
{
  gint n = GST_VIDEO_INFO_FPS_N (&self->video), d = GST_VIDEO_INFO_FPS_D (&self->video);
  GstClockTime duration = n > 0 ? gst_util_uint64_scale_int (GST_SECOND, d, n) : USUAL_DURATION;
  gboolean newest;
  GST_OBJECT_LOCK (self);
  newest = self->drop_policy == GST_NN_DROP_NEWEST ||
           (self->drop_policy == GST_NN_DROP_AUTO && self->stream.is_live);
  if (!newest || !self->stream.is_video)
    self->patience = 0;
  else
    self->patience = self->max_latency ? self->max_latency : duration;
  self->patience_is_stale = FALSE;
  GST_OBJECT_UNLOCK (self);
  GST_INFO_OBJECT (self, newest ? "frames that come too fast pass without inference"
                                : "every frame is inferred");
}

void
gst_nn_infer_forget_qos (GstNnInfer *self)
{
  GST_OBJECT_LOCK (self);
  self->earliest = GST_CLOCK_TIME_NONE;
  self->last_inferred = GST_CLOCK_TIME_NONE;
  self->proportion = 1;
  GST_OBJECT_UNLOCK (self);
}

/* As far behind again is where the stream will be when it has caught up. */
void
gst_nn_infer_note_qos (GstNnInfer *self, GstEvent *event)
{
  GstClockTime time, earliest = GST_CLOCK_TIME_NONE;
  GstClockTimeDiff diff;
  gdouble proportion;
  gst_event_parse_qos (event, NULL, &proportion, &diff, &time);
  if (GST_CLOCK_TIME_IS_VALID (time))
    earliest = (GstClockTime)MAX ((GstClockTimeDiff)time + (diff > 0 ? 2 * diff : diff), 0);
  GST_OBJECT_LOCK (self);
  self->earliest = earliest;
  self->proportion = proportion;
  GST_OBJECT_UNLOCK (self);
}

static void
post_qos (GstNnInfer *self, GstBuffer *buffer, GstClockTime running, GstClockTimeDiff late,
          gdouble proportion)
{
  GstClockTime pts = GST_BUFFER_PTS (buffer);
  GstMessage *message =
      gst_message_new_qos (GST_OBJECT (self), self->stream.is_live, running,
                           gst_segment_to_stream_time (&self->segment, GST_FORMAT_TIME, pts), pts,
                           GST_BUFFER_DURATION (buffer));
  gst_message_set_qos_values (message, late, proportion, 1000000);
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS,
                             gst_nn_stats_get_count (self->stats, GST_NN_COUNT_INFERRED),
                             gst_nn_stats_get_count (self->stats, GST_NN_COUNT_DROPPED));
  gst_element_post_message (GST_ELEMENT (self), message);
}

/* Streaming thread. TRUE if sinks said that they will not show it, unless every frame shall be
 * inferred. Where all come too late, some are inferred nevertheless: not all results are for sinks
 * that show frames. */
gboolean
gst_nn_infer_is_too_late (GstNnInfer *self, GstBuffer *buffer)
{
  GstClockTime running =
      gst_segment_to_running_time (&self->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
  GstClockTime earliest;
  gdouble proportion;
  GST_OBJECT_LOCK (self);
  earliest = self->drop_policy == GST_NN_DROP_NONE ? GST_CLOCK_TIME_NONE : self->earliest;
  proportion = self->proportion;
  GST_OBJECT_UNLOCK (self);
  if (!GST_CLOCK_TIME_IS_VALID (running) || !GST_CLOCK_TIME_IS_VALID (earliest) ||
      running > earliest || !GST_CLOCK_TIME_IS_VALID (self->last_inferred) ||
      running >= self->last_inferred + LONGEST_PAUSE) {
    self->last_inferred = running;
    return FALSE;
  }
  GST_DEBUG_OBJECT (self, "not inferred, too late: %" GST_TIME_FORMAT, GST_TIME_ARGS (running));
  gst_nn_stats_count (self->stats, GST_NN_COUNT_DROPPED);
  post_qos (self, buffer, running, GST_CLOCK_DIFF (running, earliest), proportion);
  return TRUE;
}
