/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/nn/gstnnresultmeta.h>

#include <gst/video/video.h>

/**
 * gst_nn_result_meta_api_get_type: (skip)
 *
 * Returns: the API type. Its tags are those that videoconvert and videoscale accept, and for which
 *   they call the transform below.
 *
 * Since: 1.0
 */
GType
gst_nn_result_meta_api_get_type (void)
{
  static const gchar *tags[] = { GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                 GST_META_TAG_VIDEO_ORIENTATION_STR, NULL };
  static gsize type;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_meta_api_type_register ("GstNnResultMetaAPI", tags));
  return type;
}

static gboolean
result_meta_init (GstMeta *meta, G_GNUC_UNUSED gpointer params, G_GNUC_UNUSED GstBuffer *buffer)
{
  GstNnResultMeta *m = (GstNnResultMeta *)meta;
  m->width = m->height = 0;
  m->objects = g_array_new (FALSE, TRUE, sizeof (GstNnObject));
  m->classes = g_array_new (FALSE, TRUE, sizeof (GstNnClass));
  m->model_name = NULL;
  return TRUE;
}

static void
result_meta_free (GstMeta *meta, G_GNUC_UNUSED GstBuffer *buffer)
{
  GstNnResultMeta *m = (GstNnResultMeta *)meta;
  g_array_unref (m->objects);
  g_array_unref (m->classes);
  g_free (m->model_name);
}

static void
scale_objects (GstNnResultMeta *m, gdouble sx, gdouble sy)
{
  for (guint i = 0; i < m->objects->len; i++) {
    GstNnObject *o = &g_array_index (m->objects, GstNnObject, i);
    o->x *= sx;
    o->width *= sx;
    o->y *= sy;
    o->height *= sy;
  }
}

static gboolean
result_meta_transform (GstBuffer *to, GstMeta *meta, G_GNUC_UNUSED GstBuffer *from, GQuark type,
                       gpointer data)
{
  GstNnResultMeta *m = (GstNnResultMeta *)meta, *copy;
  gint width = m->width, height = m->height;
  if (GST_VIDEO_META_TRANSFORM_IS_SCALE (type)) {
    GstVideoMetaTransform *scale = data;
    width = GST_VIDEO_INFO_WIDTH (scale->out_info);
    height = GST_VIDEO_INFO_HEIGHT (scale->out_info);
  } else if (!GST_META_TRANSFORM_IS_COPY (type)) {
    return FALSE;
  }
  copy = gst_buffer_add_nn_result_meta (to, width, height);
  if (copy == NULL)
    return FALSE;
  g_array_append_vals (copy->objects, m->objects->data, m->objects->len);
  g_array_append_vals (copy->classes, m->classes->data, m->classes->len);
  copy->model_name = g_strdup (m->model_name);
  if (m->width > 0 && m->height > 0)
    scale_objects (copy, (gdouble)width / m->width, (gdouble)height / m->height);
  return TRUE;
}

/**
 * gst_nn_result_meta_get_info: (skip)
 *
 * Returns: the registered meta
 *
 * Since: 1.0
 */
const GstMetaInfo *
gst_nn_result_meta_get_info (void)
{
  static const GstMetaInfo *info;
  if (g_once_init_enter (&info)) {
    const GstMetaInfo *registered =
        gst_meta_register (GST_NN_RESULT_META_API_TYPE, "GstNnResultMeta", sizeof (GstNnResultMeta),
                           result_meta_init, result_meta_free, result_meta_transform);
    g_once_init_leave (&info, registered);
  }
  return info;
}

/**
 * gst_buffer_add_nn_result_meta:
 * @buffer: a writable buffer
 * @width: of the frame
 * @height: of the frame
 *
 * Returns: (transfer none): a new, empty meta
 *
 * Since: 1.0
 */
GstNnResultMeta *
gst_buffer_add_nn_result_meta (GstBuffer *buffer, gint width, gint height)
{
  GstNnResultMeta *m =
      (GstNnResultMeta *)gst_buffer_add_meta (buffer, GST_NN_RESULT_META_INFO, NULL);
  if (m != NULL) {
    m->width = width;
    m->height = height;
  }
  return m;
}

/**
 * gst_buffer_get_nn_result_meta:
 * @buffer: a buffer
 *
 * Returns: (transfer none) (nullable): its first result meta
 *
 * Since: 1.0
 */
GstNnResultMeta *
gst_buffer_get_nn_result_meta (GstBuffer *buffer)
{
  return (GstNnResultMeta *)gst_buffer_get_meta (buffer, GST_NN_RESULT_META_API_TYPE);
}

/**
 * gst_nn_result_meta_get_n_objects:
 * @meta: a result meta
 *
 * Returns: the number of objects
 *
 * Since: 1.0
 */
guint
gst_nn_result_meta_get_n_objects (GstNnResultMeta *meta)
{
  return meta->objects->len;
}

/**
 * gst_nn_result_meta_get_object:
 * @meta: a result meta
 * @index: an object
 *
 * Returns: (transfer none) (nullable): the object; valid as long as the buffer
 *
 * Since: 1.0
 */
const GstNnObject *
gst_nn_result_meta_get_object (GstNnResultMeta *meta, guint index)
{
  return index < meta->objects->len ? &g_array_index (meta->objects, GstNnObject, index) : NULL;
}

/**
 * gst_nn_result_meta_get_n_classes:
 * @meta: a result meta
 *
 * Returns: the number of classes of the frame
 *
 * Since: 1.0
 */
guint
gst_nn_result_meta_get_n_classes (GstNnResultMeta *meta)
{
  return meta->classes->len;
}

/**
 * gst_nn_result_meta_get_class:
 * @meta: a result meta
 * @index: a class
 *
 * Returns: (transfer none) (nullable): the class; valid as long as the buffer
 *
 * Since: 1.0
 */
const GstNnClass *
gst_nn_result_meta_get_class (GstNnResultMeta *meta, guint index)
{
  return index < meta->classes->len ? &g_array_index (meta->classes, GstNnClass, index) : NULL;
}
