/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/nn/gstnnresultmeta.h>

#include "gstnnobject-private.h"

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
  m->frame = gst_nn_object_new (0, 0);
  m->objects = g_ptr_array_new_with_free_func ((GDestroyNotify)gst_nn_object_unref);
  m->last_id = 0;
  return TRUE;
}

static void
result_meta_free (GstMeta *meta, G_GNUC_UNUSED GstBuffer *buffer)
{
  GstNnResultMeta *m = (GstNnResultMeta *)meta;
  gst_nn_object_unref (m->frame);
  g_ptr_array_unref (m->objects);
}

/* Numbers go on behind those of what is there already. */
static void
append_moved (GstNnResultMeta *to, const GstNnResultMeta *from, const GstNnMove *move,
              guint parent_id)
{
  guint first = to->last_id;
  for (guint i = 0; i < from->objects->len; i++) {
    GstNnObject *o = gst_nn_object_copy_moved (g_ptr_array_index (from->objects, i), move);
    o->id += first;
    o->parent_id = o->parent_id ? o->parent_id + first : parent_id;
    g_ptr_array_add (to->objects, o);
  }
  to->last_id = first + from->last_id;
}

static gboolean
nothing_is_said_of (const GstNnObject *o)
{
  return o->attributes == NULL && o->mask == NULL && o->text == NULL && o->embedding == NULL &&
         o->keypoints == NULL;
}

/* What only one can say was said by the first; of an object by the last, which looked at nothing
 * else. */
static void
append_said (GstNnObject *to, const GstNnObject *from, const GstNnMove *move, gboolean is_better)
{
  g_autoptr (GstNnObject) said = gst_nn_object_copy_moved (from, move);
  if (is_better && said->keypoints != NULL)
    g_clear_pointer (&to->keypoints, g_array_unref);
  if (is_better && said->mask != NULL)
    g_clear_pointer (&to->mask, gst_nn_mask_unref);
  if (is_better && said->embedding != NULL)
    g_clear_pointer (&to->embedding, g_bytes_unref);
  if (is_better && said->text != NULL)
    g_clear_pointer (&to->text, g_ref_string_release);
  gst_nn_object_adopt (to, said);
}

/* What @from says of its frame is said of an object, and its objects are inside of that. */
static void
append_all (GstNnResultMeta *to, guint parent_id, const GstNnResultMeta *from,
            const GstNnMove *move)
{
  GstNnObject *parent = gst_nn_result_meta_find_object (to, parent_id);
  if (parent == NULL)
    return;
  append_moved (to, from, move, parent_id);
  append_said (parent, from->frame, move, parent_id != 0);
}

static void
scale_move (GstNnMove *move, gdouble x, gdouble y)
{
  move->scale_x *= x;
  move->scale_y *= y;
  move->x *= x;
  move->y *= y;
}

/* Where a picture lies that was scaled as videoscale does by default: whole, in its proportions, in
 * the middle. Nobody tells whether add-borders was set otherwise. */
static GstNnMove
find_move (const GstNnResultMeta *m, const GstVideoMetaTransform *scale)
{
  const GstVideoInfo *in = scale->in_info, *out = scale->out_info;
  gint width = GST_VIDEO_INFO_WIDTH (out), height = GST_VIDEO_INFO_HEIGHT (out);
  gint w = width, h = height, had[2], has[2], n, d;
  if (gst_util_fraction_multiply (GST_VIDEO_INFO_WIDTH (in), GST_VIDEO_INFO_HEIGHT (in),
                                  GST_VIDEO_INFO_PAR_N (in), GST_VIDEO_INFO_PAR_D (in), &had[0],
                                  &had[1]) &&
      gst_util_fraction_multiply (width, height, GST_VIDEO_INFO_PAR_N (out),
                                  GST_VIDEO_INFO_PAR_D (out), &has[0], &has[1]) &&
      (had[0] != has[0] || had[1] != has[1]) &&
      gst_util_fraction_multiply (had[0], had[1], GST_VIDEO_INFO_PAR_D (out),
                                  GST_VIDEO_INFO_PAR_N (out), &n, &d)) {
    h = (gint)gst_util_uint64_scale_int ((guint64)width, d, n);
    if (h > height) {
      h = height;
      w = (gint)gst_util_uint64_scale_int ((guint64)height, n, d);
    }
  }
  return (GstNnMove){ (gdouble)w / MAX (m->width, 1), (gdouble)h / MAX (m->height, 1),
                      (width - w) / 2, (height - h) / 2 };
}

static gboolean
result_meta_transform (GstBuffer *to, GstMeta *meta, G_GNUC_UNUSED GstBuffer *from, GQuark type,
                       gpointer data)
{
  GstNnResultMeta *m = (GstNnResultMeta *)meta, *copy;
  GstNnMove move = { 1, 1, 0, 0 };
  gint width = m->width, height = m->height;
  if (GST_VIDEO_META_TRANSFORM_IS_SCALE (type)) {
    GstVideoMetaTransform *scale = data;
    width = GST_VIDEO_INFO_WIDTH (scale->out_info);
    height = GST_VIDEO_INFO_HEIGHT (scale->out_info);
    move = find_move (m, scale);
  } else if (!GST_META_TRANSFORM_IS_COPY (type)) {
    return FALSE;
  }
  copy = gst_buffer_add_nn_result_meta (to, width, height);
  if (copy == NULL)
    return FALSE;
  scale_move (&move, (gdouble)copy->width / MAX (width, 1),
              (gdouble)copy->height / MAX (height, 1));
  append_all (copy, 0, m, &move);
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
 * Gets the result meta of a buffer, and makes it where there is none. One that is there keeps its
 * size, which coordinates refer to.
 *
 * Returns: (transfer none): the buffer's result meta
 *
 * Since: 1.0
 */
GstNnResultMeta *
gst_buffer_add_nn_result_meta (GstBuffer *buffer, gint width, gint height)
{
  GstNnResultMeta *m = gst_buffer_get_nn_result_meta (buffer);
  if (m != NULL)
    return m;
  m = (GstNnResultMeta *)gst_buffer_add_meta (buffer, GST_NN_RESULT_META_INFO, NULL);
  if (m != NULL) {
    m->width = width;
    m->height = height;
    gst_nn_object_set_box (m->frame, 0, 0, width, height);
  }
  return m;
}

/**
 * gst_buffer_get_nn_result_meta:
 * @buffer: a buffer
 *
 * Returns: (transfer none) (nullable): its result meta
 *
 * Since: 1.0
 */
GstNnResultMeta *
gst_buffer_get_nn_result_meta (GstBuffer *buffer)
{
  return (GstNnResultMeta *)gst_buffer_get_meta (buffer, GST_NN_RESULT_META_API_TYPE);
}

/**
 * gst_nn_result_meta_append:
 * @meta: a result meta of a writable buffer
 * @other: results of the same picture, perhaps in another size
 *
 * Adds all that @other says, in pixels of @meta's frame. Objects get numbers behind those that are
 * there; attributes of the frame are added; its mask, text, embedding and keypoints are those that
 * were said first.
 *
 * Since: 1.0
 */
void
gst_nn_result_meta_append (GstNnResultMeta *meta, const GstNnResultMeta *other)
{
  gst_nn_result_meta_append_inside (meta, 0, other);
}

/**
 * gst_nn_result_meta_append_inside:
 * @meta: a result meta of a writable buffer
 * @parent_id: number of an object, 0: the frame
 * @other: results of the part of the picture where the object is, in places of the whole one, which
 *   may have another size
 *
 * Adds all that @other says: what it says of its frame is said of the object, and its objects are
 * inside of that. The object's mask, text, embedding and keypoints are those that were said last.
 * Nothing is added where there is no such object.
 *
 * Since: 1.0
 */
void
gst_nn_result_meta_append_inside (GstNnResultMeta *meta, guint parent_id,
                                  const GstNnResultMeta *other)
{
  GstNnMove move = { 1, 1, 0, 0 };
  if (other->width > 0 && other->height > 0)
    scale_move (&move, (gdouble)meta->width / other->width, (gdouble)meta->height / other->height);
  append_all (meta, parent_id, other, &move);
}

/**
 * gst_nn_result_meta_get_frame:
 * @meta: a result meta
 *
 * Gets what models said of the frame as a whole: its classes are attributes, its mask has the class
 * of each pixel.
 *
 * Returns: (transfer none): the frame, as an object with number 0
 *
 * Since: 1.0
 */
GstNnObject *
gst_nn_result_meta_get_frame (GstNnResultMeta *meta)
{
  return meta->frame;
}

/**
 * gst_nn_result_meta_is_empty:
 * @meta: a result meta
 *
 * Returns: %TRUE if no model found anything
 *
 * Since: 1.0
 */
gboolean
gst_nn_result_meta_is_empty (GstNnResultMeta *meta)
{
  return meta->objects->len == 0 && nothing_is_said_of (meta->frame);
}

/**
 * gst_nn_result_meta_get_n_objects:
 * @meta: a result meta
 *
 * Returns: the number of objects, those inside of others included
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
 * @index: an object, in the order in which they were added; a parent comes before what is inside
 *
 * Returns: (transfer none) (nullable): the object; valid as long as the buffer
 *
 * Since: 1.0
 */
GstNnObject *
gst_nn_result_meta_get_object (GstNnResultMeta *meta, guint index)
{
  return index < meta->objects->len ? g_ptr_array_index (meta->objects, index) : NULL;
}

/**
 * gst_nn_result_meta_get_objects:
 * @meta: a result meta
 *
 * Returns: (transfer container) (element-type GstNnObject): all objects, as
 *   gst_nn_result_meta_get_object() counts them
 *
 * Since: 1.0
 */
GPtrArray *
gst_nn_result_meta_get_objects (GstNnResultMeta *meta)
{
  return g_ptr_array_copy (meta->objects, (GCopyFunc)(gpointer)gst_nn_object_ref, NULL);
}

/**
 * gst_nn_result_meta_find_object:
 * @meta: a result meta
 * @id: number of an object, or 0 for the frame
 *
 * Returns: (transfer none) (nullable): the object
 *
 * Since: 1.0
 */
GstNnObject *
gst_nn_result_meta_find_object (GstNnResultMeta *meta, guint id)
{
  for (guint i = 0; i < meta->objects->len; i++) {
    GstNnObject *o = g_ptr_array_index (meta->objects, i);
    if (o->id == id)
      return o;
  }
  return id == 0 ? meta->frame : NULL;
}

/**
 * gst_nn_result_meta_add_object:
 * @meta: a result meta of a writable buffer
 * @parent_id: number of the object that it was found inside of, 0: of none
 *
 * Adds an object, with a number that no other has on this buffer.
 *
 * Returns: (transfer none): the object
 *
 * Since: 1.0
 */
GstNnObject *
gst_nn_result_meta_add_object (GstNnResultMeta *meta, guint parent_id)
{
  GstNnObject *object;
  g_return_val_if_fail (gst_nn_result_meta_find_object (meta, parent_id) != NULL, NULL);
  object = gst_nn_object_new (++meta->last_id, parent_id);
  g_ptr_array_add (meta->objects, object);
  return object;
}

/**
 * gst_nn_result_meta_add_copy:
 * @meta: a result meta of a writable buffer
 * @parent_id: number of the object that it was found inside of, 0: of none
 * @object: an object, of another frame of the same size
 *
 * Adds an object as it was on another frame, with a number that no other has on this buffer.
 *
 * Returns: (transfer none): the object
 *
 * Since: 1.0
 */
GstNnObject *
gst_nn_result_meta_add_copy (GstNnResultMeta *meta, guint parent_id, const GstNnObject *object)
{
  static const GstNnMove stay = { 1, 1, 0, 0 };
  GstNnObject *copy;
  g_return_val_if_fail (gst_nn_result_meta_find_object (meta, parent_id) != NULL, NULL);
  copy = gst_nn_object_copy_moved (object, &stay);
  copy->id = ++meta->last_id;
  copy->parent_id = parent_id;
  g_ptr_array_add (meta->objects, copy);
  return copy;
}

/**
 * gst_nn_result_meta_remove_object:
 * @meta: a result meta of a writable buffer
 * @id: number of an object
 *
 * Removes an object and what was found inside of it.
 *
 * Since: 1.0
 */
void
gst_nn_result_meta_remove_object (GstNnResultMeta *meta, guint id)
{
  g_autoptr (GHashTable) removed = g_hash_table_new (NULL, NULL);
  g_hash_table_add (removed, GUINT_TO_POINTER (id));
  for (guint i = 0; i < meta->objects->len && id != 0;) { /* parents come first */
    const GstNnObject *o = g_ptr_array_index (meta->objects, i);
    if (o->id != id && !g_hash_table_contains (removed, GUINT_TO_POINTER (o->parent_id))) {
      i++;
      continue;
    }
    g_hash_table_add (removed, GUINT_TO_POINTER (o->id));
    g_ptr_array_remove_index (meta->objects, i);
  }
}
