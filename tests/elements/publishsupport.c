/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "publish.h"

#include <gio/gio.h>

#define FOR_EVER (30 * G_TIME_SPAN_SECOND)

Publisher *
publisher_new (const gchar *format, ...)
{
  Publisher *p = g_new0 (Publisher, 1);
  g_autofree gchar *properties = NULL;
  g_autofree gchar *launch = NULL;
  va_list args;
  va_start (args, format);
  properties = g_strdup_vprintf (format, args);
  va_end (args);
  launch = g_strconcat ("nnpublish ", properties, NULL);
  p->bus = gst_bus_new ();
  p->element = gst_parse_launch (launch, NULL);
  g_assert_nonnull (p->element);
  gst_element_set_bus (p->element, p->bus);
  p->h = gst_harness_new_with_element (p->element, "sink", "src");
  gst_harness_set_src_caps_str (p->h,
                                "video/x-raw,format=GRAY8,width=320,height=240,framerate=30/1");
  return p;
}

void
publisher_push (Publisher *p, guint n)
{
  GstBuffer *in = gst_harness_create_buffer (p->h, 320 * 240);
  GstNnObject *o = gst_nn_result_meta_add_object (gst_buffer_add_nn_result_meta (in, 320, 240), 0);
  g_autofree gchar *label = g_strdup_printf ("r%u.", n);
  gst_nn_object_set_box (o, 40, 60, 80, 100);
  gst_nn_object_set_class (o, 2, label, 0.75);
  GST_BUFFER_PTS (in) = n * GST_SECOND;
  g_assert_cmpint (gst_harness_push (p->h, in), ==, GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (p->h));
}

void
publisher_free (Publisher *p)
{
  gst_harness_teardown (p->h);
  gst_element_set_bus (p->element, NULL);
  gst_object_unref (p->element);
  gst_object_unref (p->bus);
  g_free (p);
}

guint64
publisher_stat (Publisher *p, const gchar *name)
{
  g_autoptr (GstStructure) stats = NULL;
  GValue n = G_VALUE_INIT;
  g_object_get (p->element, "stats", &stats, NULL);
  g_value_init (&n, G_TYPE_UINT64);
  g_assert_true (g_value_transform (gst_structure_get_value (stats, name), &n));
  return g_value_get_uint64 (&n);
}

void
publisher_wait (Publisher *p, const gchar *name, guint64 n)
{
  gint64 end = g_get_monotonic_time () + FOR_EVER;
  while (publisher_stat (p, name) < n && g_get_monotonic_time () < end)
    g_usleep (5000);
  g_assert_cmpuint (publisher_stat (p, name), >=, n);
}

guint
publisher_messages (Publisher *p, GstMessageType type, gchar **text)
{
  guint n = 0;
  GstMessage *message;
  while ((message = gst_bus_pop_filtered (p->bus, type)) != NULL) {
    g_autoptr (GError) error = NULL;
    n++;
    if (type == GST_MESSAGE_WARNING)
      gst_message_parse_warning (message, &error, NULL);
    else if (type == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, NULL);
    if (text != NULL && error != NULL) {
      g_free (*text);
      *text = g_strdup (error->message);
    }
    gst_message_unref (message);
  }
  return n;
}

void
assert_in_order (const gchar *text, guint first, guint last, gboolean again)
{
  static const gchar mark[] = "\"label\":\"r";
  guint next = first;
  for (const gchar *at = strstr (text, mark); at != NULL; at = strstr (at + 1, mark)) {
    guint n = (guint)g_ascii_strtoull (at + strlen (mark), NULL, 10);
    if (again && n < next)
      continue;
    if (n != next)
      g_error ("record %u comes where %u is expected", n, next);
    next++;
  }
  g_assert_cmpuint (next, ==, last + 1);
}

guint16
free_port (void)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();
  return g_socket_listener_add_any_inet_port (listener, NULL, NULL);
}
