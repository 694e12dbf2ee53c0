/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnelement.h"

/* Whom an error of the library concerns, in GStreamer's words. */
static const struct {
  AxonError code;
  GQuark (*domain) (void);
  gint reason;
} reasons[] = {
  { AXON_ERROR_ARGUMENT, gst_resource_error_quark, GST_RESOURCE_ERROR_SETTINGS },
  { AXON_ERROR_MODEL, gst_stream_error_quark, GST_STREAM_ERROR_FORMAT },
  { AXON_ERROR_UNSUPPORTED, gst_stream_error_quark, GST_STREAM_ERROR_FORMAT },
  { AXON_ERROR_DEVICE, gst_resource_error_quark, GST_RESOURCE_ERROR_NOT_FOUND },
  { AXON_ERROR_MEMORY, gst_resource_error_quark, GST_RESOURCE_ERROR_NO_SPACE_LEFT },
};

void
gst_nn_post_error (GstElement *element, const GError *error)
{
  gboolean ours = error->domain == AXON_ERROR;
  GQuark domain = ours ? GST_LIBRARY_ERROR : GST_RESOURCE_ERROR;
  gint reason = ours ? (gint)GST_LIBRARY_ERROR_FAILED : (gint)GST_RESOURCE_ERROR_FAILED;
  for (guint i = 0; ours && i < G_N_ELEMENTS (reasons); i++)
    if (reasons[i].code == (AxonError)error->code) {
      domain = reasons[i].domain ();
      reason = reasons[i].reason;
    }
  gst_element_message_full (element, GST_MESSAGE_ERROR, domain, reason, g_strdup (error->message),
                            NULL, __FILE__, G_STRFUNC, __LINE__);
}

gboolean
gst_nn_propose_allocation (GstBaseTransform *base, G_GNUC_UNUSED GstQuery *decide_query,
                           GstQuery *query)
{
  return gst_pad_peer_query (GST_BASE_TRANSFORM_SRC_PAD (base), query);
}

void
gst_nn_sync_values (GstElement *element, const GstSegment *segment, GstBuffer *buffer)
{
  GstClockTime time =
      segment->format == GST_FORMAT_TIME
          ? gst_segment_to_stream_time (segment, GST_FORMAT_TIME, GST_BUFFER_TIMESTAMP (buffer))
          : GST_CLOCK_TIME_NONE;
  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (element), time);
}

void
gst_nn_before_transform (GstBaseTransform *base, GstBuffer *buffer)
{
  gst_nn_sync_values (GST_ELEMENT (base), &base->segment, buffer);
}

void
gst_nn_element_init (void)
{
  static gsize once;
  if (!g_once_init_enter (&once))
    return;
  bindtextdomain (GETTEXT_PACKAGE, LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  gst_type_mark_as_plugin_api (GST_TYPE_NN_DESCRIPTION, 0);
  g_once_init_leave (&once, 1);
}
