/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnrecord.h"

#define NTP_TO_UNIX (2208988800ULL * GST_SECOND) /* from 1900 to 1970 */

void
gst_nn_record_info_fill (GstNnRecordInfo *info, const GstSegment *segment, GstBuffer *buffer,
                         guint64 frame)
{
  GstClockTime pts = GST_BUFFER_PTS (buffer);
  info->scene = gst_buffer_get_nn_scene_meta (buffer);
  info->stream_time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, pts);
  info->running_time = gst_segment_to_running_time (segment, GST_FORMAT_TIME, pts);
  info->unix_time = gst_nn_buffer_get_unix_time (buffer);
  info->pts = pts;
  info->frame = frame;
  if (!GST_CLOCK_TIME_IS_VALID (info->stream_time))
    info->stream_time = pts;
}

const gchar *
gst_nn_record_zone (const GstNnAttribute *a)
{
  return g_str_equal (gst_nn_attribute_get_name (a), GST_NN_RECORD_ZONE)
             ? gst_nn_attribute_get_value (a)
             : NULL;
}

gboolean
gst_nn_record_wants (const GstNnRecordInfo *info, const GstNnObject *o)
{
  const gchar *label = gst_nn_object_get_label (o);
  const GstNnAttribute *a;
  if (info->labels != NULL && (label == NULL || !g_strv_contains (info->labels, label)))
    return FALSE;
  for (guint i = 0; info->zones != NULL; i++) {
    a = gst_nn_object_get_attribute (o, i);
    if (a == NULL)
      return FALSE;
    if (gst_nn_record_zone (a) != NULL && g_strv_contains (info->zones, gst_nn_record_zone (a)))
      return TRUE;
  }
  return TRUE;
}

GstClockTime
gst_nn_buffer_get_unix_time (GstBuffer *buffer)
{
  static GstStaticCaps unix_caps = GST_STATIC_CAPS ("timestamp/x-unix");
  static GstStaticCaps ntp_caps = GST_STATIC_CAPS ("timestamp/x-ntp");
  g_autoptr (GstCaps) as_unix = gst_static_caps_get (&unix_caps);
  g_autoptr (GstCaps) as_ntp = gst_static_caps_get (&ntp_caps);
  const GstReferenceTimestampMeta *m = gst_buffer_get_reference_timestamp_meta (buffer, as_unix);
  if (m != NULL)
    return m->timestamp;
  m = gst_buffer_get_reference_timestamp_meta (buffer, as_ntp);
  return m != NULL && m->timestamp >= NTP_TO_UNIX ? m->timestamp - NTP_TO_UNIX
                                                  : GST_CLOCK_TIME_NONE;
}
