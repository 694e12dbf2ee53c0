/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONVIF's metadata stream (Analytics Service Specification, 5.3): a frame with its objects, in
 * ONVIF's coordinates: -1 to 1, upwards. Behind `application/x-onvif-metadata` it is what rtponvif
 * elements carry. */
#include "gstnnrecord.h"

static void
append_number (GString *s, const gchar *name, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf (s, " %s=\"%s\"", name,
                          g_ascii_formatd (text, sizeof text, "%.6g", value));
}

static void
append_shape (GString *s, const GstNnObject *o, const GstNnResultMeta *meta)
{
  gdouble x, y, width, height, w = MAX (meta->width, 1), h = MAX (meta->height, 1);
  gst_nn_object_get_box (o, &x, &y, &width, &height);
  g_string_append (s, "<tt:Shape><tt:BoundingBox");
  append_number (s, "left", 2 * x / w - 1);
  append_number (s, "top", 1 - 2 * y / h);
  append_number (s, "right", 2 * (x + width) / w - 1);
  append_number (s, "bottom", 1 - 2 * (y + height) / h);
  g_string_append (s, "/><tt:CenterOfGravity");
  append_number (s, "x", (2 * x + width) / w - 1);
  append_number (s, "y", 1 - (2 * y + height) / h);
  g_string_append (s, "/></tt:Shape>");
}

/* A record is one line. */
static gchar *
escape (const gchar *text)
{
  g_autofree gchar *valid = g_utf8_make_valid (text, -1);
  return g_markup_escape_text (g_strdelimit (valid, "\r\n", ' '), -1);
}

static void
append_class (GString *s, const GstNnObject *o)
{
  const gchar *said = gst_nn_object_get_label (o);
  g_autofree gchar *label = escape (said ? said : "Other");
  g_string_append (s, "<tt:Class><tt:Type");
  append_number (s, "Likelihood", gst_nn_object_get_score (o));
  g_string_append_printf (s, ">%s</tt:Type></tt:Class>", label);
}

static void
append_object (GString *s, const GstNnObject *o, const GstNnResultMeta *meta)
{
  guint64 track = gst_nn_object_get_track_id (o);
  g_string_append (s, "<tt:Object");
  if (track != 0)
    g_string_append_printf (s, " ObjectId=\"%" G_GUINT64_FORMAT "\"", track);
  g_string_append (s, "><tt:Appearance>");
  append_shape (s, o, meta);
  append_class (s, o);
  g_string_append (s, "</tt:Appearance></tt:Object>");
}

/* The time of day where the source knows it, else the stream's, from 1970. */
static gchar *
utc_time (const GstNnRecordInfo *info)
{
  GstClockTime time =
      GST_CLOCK_TIME_IS_VALID (info->unix_time) ? info->unix_time : info->stream_time;
  g_autoptr (GDateTime) seconds = g_date_time_new_from_unix_utc (
      GST_CLOCK_TIME_IS_VALID (time) ? (gint64)(time / GST_SECOND) : 0);
  g_autofree gchar *text = g_date_time_format (seconds, "%Y-%m-%dT%H:%M:%S");
  return g_strdup_printf ("%s.%06uZ", text,
                          GST_CLOCK_TIME_IS_VALID (time) ? (guint)(time % GST_SECOND / GST_USECOND)
                                                         : 0u);
}

gchar *
gst_nn_record_onvif (GstNnResultMeta *meta, const GstNnRecordInfo *info)
{
  g_autofree gchar *time = utc_time (info);
  GString *s = g_string_new ("<?xml version=\"1.0\" encoding=\"UTF-8\"?><tt:MetadataStream "
                             "xmlns:tt=\"http://www.onvif.org/ver10/schema\"><tt:VideoAnalytics>");
  const GstNnObject *o;
  g_string_append_printf (s, "<tt:Frame UtcTime=\"%s\"", time);
  if (info->source != NULL) {
    g_autofree gchar *source = escape (info->source);
    g_string_append_printf (s, " Source=\"%s\"", source);
  }
  g_string_append_c (s, '>');
  for (guint i = 0; meta && (o = gst_nn_result_meta_get_object (meta, i)) != NULL; i++)
    if (gst_nn_record_wants (info, o))
      append_object (s, o, meta);
  g_string_append (s, "</tt:Frame></tt:VideoAnalytics></tt:MetadataStream>");
  return g_string_free (s, FALSE);
}
