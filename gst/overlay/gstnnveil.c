/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnveil.h"

#include <math.h>

#define CELLS 8 /* along the longer side: of a face nobody can tell whose it is */

GPtrArray *
gst_nn_veil_parse (const gchar *text)
{
  g_auto (GStrv) names = g_strsplit (text ? text : "", ",", -1);
  GPtrArray *list = NULL;
  for (guint i = 0; names[i] != NULL; i++) {
    g_strstrip (names[i]);
    if (*names[i] == '\0')
      continue;
    if (list == NULL)
      list = g_ptr_array_new_with_free_func (g_free);
    g_ptr_array_add (list, g_strdup (names[i]));
  }
  return list;
}

void
gst_nn_veil_copy (GstNnVeil *to, const GstNnVeil *from)
{
  *to = *from;
  if (to->blurred != NULL)
    g_ptr_array_ref (to->blurred);
  if (to->pixelated != NULL)
    g_ptr_array_ref (to->pixelated);
}

void
gst_nn_veil_clear (GstNnVeil *veil)
{
  g_clear_pointer (&veil->blurred, g_ptr_array_unref);
  g_clear_pointer (&veil->pixelated, g_ptr_array_unref);
}

static gboolean
is_in (const GPtrArray *list, const GstNnObject *o)
{
  const gchar *label = gst_nn_object_get_label (o);
  gchar number[16];
  g_snprintf (number, sizeof number, "%d", gst_nn_object_get_class_id (o));
  for (guint i = 0; list != NULL && i < list->len; i++) {
    const gchar *name = g_ptr_array_index (list, i);
    if (g_str_equal (name, "*") || g_str_equal (name, number) || g_strcmp0 (name, label) == 0)
      return TRUE;
  }
  return FALSE;
}

gboolean
gst_nn_veil_needs_frame (const GstNnVeil *veil, GstNnResultMeta *meta)
{
  if (veil->blurred == NULL && veil->pixelated == NULL)
    return FALSE;
  if (meta == NULL)
    return veil->fail_closed;
  for (guint i = 0; i < gst_nn_result_meta_get_n_objects (meta); i++) {
    const GstNnObject *o = gst_nn_result_meta_get_object (meta, i);
    if (is_in (veil->blurred, o) || is_in (veil->pixelated, o))
      return TRUE;
  }
  return FALSE;
}

void
gst_nn_veil_draw (const GstNnVeil *veil, GstVideoFrame *frame, GstNnResultMeta *meta)
{
  if (meta == NULL)
    gst_nn_canvas_hide (frame, 0, 0, GST_VIDEO_FRAME_WIDTH (frame), GST_VIDEO_FRAME_HEIGHT (frame),
                        CELLS, veil->pixelated == NULL);
  for (guint i = 0; meta != NULL && i < gst_nn_result_meta_get_n_objects (meta); i++) {
    const GstNnObject *o = gst_nn_result_meta_get_object (meta, i);
    gboolean is_pixelated = is_in (veil->pixelated, o);
    gdouble x, y, w, h;
    if (!is_pixelated && !is_in (veil->blurred, o))
      continue;
    gst_nn_object_get_box (o, &x, &y, &w, &h);
    gst_nn_canvas_hide (frame, gst_nn_pixel (x), gst_nn_pixel (y),
                        gst_nn_pixel (ceil (x + w)) - gst_nn_pixel (x),
                        gst_nn_pixel (ceil (y + h)) - gst_nn_pixel (y), CELLS, !is_pixelated);
  }
}
