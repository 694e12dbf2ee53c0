/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/nn/gstnnscenemeta.h>

#include <gst/video/video.h>

struct _GstNnShape {
  gatomicrefcount ref_count;
  gchar *name;
  gboolean is_zone;
  gdouble *coordinates;
  guint n_points;
  guint64 count, count_back;
};

G_DEFINE_BOXED_TYPE (GstNnShape, gst_nn_shape, gst_nn_shape_ref, gst_nn_shape_unref)

/**
 * gst_nn_shape_new:
 * @name: what it is called
 * @is_zone: a polygon, whose last point is joined to the first; else a line from the first point
 *   to the second
 * @coordinates: (array): x and y of each point in turn, as parts of the frame's width and height
 * @n_points: half the length of @coordinates; at least two
 * @count: objects in the zone, or crossings of the line from its left to its right
 * @count_back: crossings the other way
 *
 * Returns: (transfer full): a shape
 *
 * Since: 1.0
 */
GstNnShape *
gst_nn_shape_new (const gchar *name, gboolean is_zone, const gdouble *coordinates, guint n_points,
                  guint64 count, guint64 count_back)
{
  GstNnShape *shape;
  g_return_val_if_fail (name != NULL && coordinates != NULL && n_points >= 2, NULL);
  shape = g_new0 (GstNnShape, 1);
  g_atomic_ref_count_init (&shape->ref_count);
  shape->name = g_strdup (name);
  shape->is_zone = is_zone;
  shape->coordinates = g_memdup2 (coordinates, 2 * sizeof *coordinates * n_points);
  shape->n_points = n_points;
  shape->count = count;
  shape->count_back = count_back;
  return shape;
}

/**
 * gst_nn_shape_ref:
 * @shape: a shape
 *
 * Returns: (transfer full): the same
 *
 * Since: 1.0
 */
GstNnShape *
gst_nn_shape_ref (GstNnShape *shape)
{
  g_atomic_ref_count_inc (&shape->ref_count);
  return shape;
}

/**
 * gst_nn_shape_unref:
 * @shape: (transfer full): a shape
 *
 * Gives a reference back.
 *
 * Since: 1.0
 */
void
gst_nn_shape_unref (GstNnShape *shape)
{
  if (!g_atomic_ref_count_dec (&shape->ref_count))
    return;
  g_free (shape->name);
  g_free (shape->coordinates);
  g_free (shape);
}

/**
 * gst_nn_shape_get_name:
 * @shape: a shape
 *
 * Returns: (transfer none): what it is called
 *
 * Since: 1.0
 */
const gchar *
gst_nn_shape_get_name (const GstNnShape *shape)
{
  return shape->name;
}

/**
 * gst_nn_shape_is_zone:
 * @shape: a shape
 *
 * Returns: %TRUE for a polygon, %FALSE for a line
 *
 * Since: 1.0
 */
gboolean
gst_nn_shape_is_zone (const GstNnShape *shape)
{
  return shape->is_zone;
}

/**
 * gst_nn_shape_get_n_points:
 * @shape: a shape
 *
 * Returns: the number of its points
 *
 * Since: 1.0
 */
guint
gst_nn_shape_get_n_points (const GstNnShape *shape)
{
  return shape->n_points;
}

/**
 * gst_nn_shape_get_point:
 * @shape: a shape
 * @index: a point
 * @x: (out): from the left, 1 is the frame's width
 * @y: (out): from the top, 1 is the frame's height
 *
 * Returns: %FALSE if there is no such point
 *
 * Since: 1.0
 */
gboolean
gst_nn_shape_get_point (const GstNnShape *shape, guint index, gdouble *x, gdouble *y)
{
  if (index >= shape->n_points)
    return FALSE;
  *x = shape->coordinates[2 * index];
  *y = shape->coordinates[2 * index + 1];
  return TRUE;
}

/**
 * gst_nn_shape_get_count:
 * @shape: a shape
 *
 * Returns: objects in the zone now, or crossings of the line from its left to its right
 *
 * Since: 1.0
 */
guint64
gst_nn_shape_get_count (const GstNnShape *shape)
{
  return shape->count;
}

/**
 * gst_nn_shape_get_count_back:
 * @shape: a shape
 *
 * Returns: crossings of the line from its right to its left; 0 for a zone
 *
 * Since: 1.0
 */
guint64
gst_nn_shape_get_count_back (const GstNnShape *shape)
{
  return shape->count_back;
}

/**
 * gst_nn_scene_meta_api_get_type: (skip)
 *
 * Returns: the API type
 *
 * Since: 1.0
 */
GType
gst_nn_scene_meta_api_get_type (void)
{
  static const gchar *tags[] = { GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                 GST_META_TAG_VIDEO_ORIENTATION_STR, NULL };
  static gsize type;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_meta_api_type_register ("GstNnSceneMetaAPI", tags));
  return type;
}

static gboolean
scene_meta_init (GstMeta *meta, G_GNUC_UNUSED gpointer params, G_GNUC_UNUSED GstBuffer *buffer)
{
  GstNnSceneMeta *m = (GstNnSceneMeta *)meta;
  m->shapes = g_ptr_array_new_with_free_func ((GDestroyNotify)gst_nn_shape_unref);
  m->events = g_ptr_array_new_with_free_func ((GDestroyNotify)gst_structure_free);
  m->heat_map = NULL;
  return TRUE;
}

static void
scene_meta_free (GstMeta *meta, G_GNUC_UNUSED GstBuffer *buffer)
{
  GstNnSceneMeta *m = (GstNnSceneMeta *)meta;
  g_ptr_array_unref (m->shapes);
  g_ptr_array_unref (m->events);
  g_clear_pointer (&m->heat_map, gst_nn_mask_unref);
}

/* Places are parts of the frame: another size does not move them. */
static gboolean
scene_meta_transform (GstBuffer *to, GstMeta *meta, G_GNUC_UNUSED GstBuffer *from, GQuark type,
                      G_GNUC_UNUSED gpointer data)
{
  GstNnSceneMeta *m = (GstNnSceneMeta *)meta, *copy;
  if (!GST_VIDEO_META_TRANSFORM_IS_SCALE (type) && !GST_META_TRANSFORM_IS_COPY (type))
    return FALSE;
  copy = gst_buffer_add_nn_scene_meta (to);
  if (copy == NULL)
    return FALSE;
  for (guint i = 0; i < m->shapes->len; i++)
    g_ptr_array_add (copy->shapes, gst_nn_shape_ref (g_ptr_array_index (m->shapes, i)));
  for (guint i = 0; i < m->events->len; i++)
    g_ptr_array_add (copy->events, gst_structure_copy (g_ptr_array_index (m->events, i)));
  if (m->heat_map != NULL && copy->heat_map == NULL)
    copy->heat_map = gst_nn_mask_ref (m->heat_map);
  return TRUE;
}

/**
 * gst_nn_scene_meta_get_info: (skip)
 *
 * Returns: the registered meta
 *
 * Since: 1.0
 */
const GstMetaInfo *
gst_nn_scene_meta_get_info (void)
{
  static const GstMetaInfo *info;
  if (g_once_init_enter (&info)) {
    const GstMetaInfo *registered =
        gst_meta_register (GST_NN_SCENE_META_API_TYPE, "GstNnSceneMeta", sizeof (GstNnSceneMeta),
                           scene_meta_init, scene_meta_free, scene_meta_transform);
    g_once_init_leave (&info, registered);
  }
  return info;
}

/**
 * gst_buffer_add_nn_scene_meta:
 * @buffer: a writable buffer
 *
 * Gets the scene meta of a buffer, and makes it where there is none.
 *
 * Returns: (transfer none): the buffer's scene meta
 *
 * Since: 1.0
 */
GstNnSceneMeta *
gst_buffer_add_nn_scene_meta (GstBuffer *buffer)
{
  GstNnSceneMeta *m = gst_buffer_get_nn_scene_meta (buffer);
  return m ? m : (GstNnSceneMeta *)gst_buffer_add_meta (buffer, GST_NN_SCENE_META_INFO, NULL);
}

/**
 * gst_buffer_get_nn_scene_meta:
 * @buffer: a buffer
 *
 * Returns: (transfer none) (nullable): its scene meta
 *
 * Since: 1.0
 */
GstNnSceneMeta *
gst_buffer_get_nn_scene_meta (GstBuffer *buffer)
{
  return (GstNnSceneMeta *)gst_buffer_get_meta (buffer, GST_NN_SCENE_META_API_TYPE);
}
