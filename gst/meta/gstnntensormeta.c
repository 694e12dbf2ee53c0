/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/nn/gstnntensormeta.h>

/**
 * gst_nn_tensor_meta_api_get_type: (skip)
 *
 * Returns: the API type. It has no tags, so elements that change pictures copy the meta.
 *
 * Since: 1.0
 */
GType
gst_nn_tensor_meta_api_get_type (void)
{
  static const gchar *tags[] = { NULL };
  static gsize type;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_meta_api_type_register ("GstNnTensorMetaAPI", tags));
  return type;
}

static gboolean
tensor_meta_init (GstMeta *meta, G_GNUC_UNUSED gpointer params, G_GNUC_UNUSED GstBuffer *buffer)
{
  GstNnTensorMeta *m = (GstNnTensorMeta *)meta;
  m->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  m->names = NULL;
  m->description = NULL;
  m->geometry = (AxonImageGeometry){ 0 };
  m->width = m->height = 0;
  m->pts = GST_CLOCK_TIME_NONE;
  m->object_id = 0;
  return TRUE;
}

static void
tensor_meta_free (GstMeta *meta, G_GNUC_UNUSED GstBuffer *buffer)
{
  GstNnTensorMeta *m = (GstNnTensorMeta *)meta;
  g_ptr_array_unref (m->tensors);
  g_strfreev (m->names);
  g_clear_pointer (&m->description, gst_nn_description_unref);
}

/* Geometry is in pixels of the picture that was inferred: it stays true whatever happens after. */
static gboolean
tensor_meta_transform (GstBuffer *to, GstMeta *meta, G_GNUC_UNUSED GstBuffer *from,
                       G_GNUC_UNUSED GQuark type, G_GNUC_UNUSED gpointer data)
{
  GstNnTensorMeta *m = (GstNnTensorMeta *)meta, *copy = gst_buffer_add_nn_tensor_meta (to);
  if (copy == NULL)
    return FALSE;
  g_ptr_array_unref (copy->tensors);
  copy->tensors = g_ptr_array_ref (m->tensors);
  copy->names = g_strdupv (m->names);
  copy->description = m->description ? gst_nn_description_ref (m->description) : NULL;
  copy->geometry = m->geometry;
  copy->width = m->width;
  copy->height = m->height;
  copy->pts = m->pts;
  copy->object_id = m->object_id;
  return TRUE;
}

/**
 * gst_nn_tensor_meta_get_info: (skip)
 *
 * Returns: the registered meta
 *
 * Since: 1.0
 */
const GstMetaInfo *
gst_nn_tensor_meta_get_info (void)
{
  static const GstMetaInfo *info;
  if (g_once_init_enter (&info)) {
    const GstMetaInfo *registered =
        gst_meta_register (GST_NN_TENSOR_META_API_TYPE, "GstNnTensorMeta", sizeof (GstNnTensorMeta),
                           tensor_meta_init, tensor_meta_free, tensor_meta_transform);
    g_once_init_leave (&info, registered);
  }
  return info;
}

/**
 * gst_buffer_add_nn_tensor_meta:
 * @buffer: a writable buffer
 *
 * Returns: (transfer none): a new meta without tensors
 *
 * Since: 1.0
 */
GstNnTensorMeta *
gst_buffer_add_nn_tensor_meta (GstBuffer *buffer)
{
  return (GstNnTensorMeta *)gst_buffer_add_meta (buffer, GST_NN_TENSOR_META_INFO, NULL);
}

/**
 * gst_buffer_get_nn_tensor_meta:
 * @buffer: a buffer
 *
 * Returns: (transfer none) (nullable): its last tensor meta
 *
 * Since: 1.0
 */
GstNnTensorMeta *
gst_buffer_get_nn_tensor_meta (GstBuffer *buffer)
{
  GstNnTensorMeta *found = NULL;
  gpointer state = NULL;
  GstMeta *meta;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state, GST_NN_TENSOR_META_API_TYPE)))
    found = (GstNnTensorMeta *)meta;
  return found;
}
