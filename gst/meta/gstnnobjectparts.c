/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What models say of an object beside its place and class. */
#include "gstnnobject-private.h"

/**
 * gst_nn_object_add_keypoint:
 * @object: an object
 * @x: place on the frame, pixels
 * @y: place on the frame, pixels
 * @score: confidence, 0 to 1
 *
 * Adds a keypoint behind those that there are.
 *
 * Since: 1.0
 */
void
gst_nn_object_add_keypoint (GstNnObject *object, gdouble x, gdouble y, gdouble score)
{
  GstNnKeypoint keypoint = { x, y, score };
  if (object->keypoints == NULL)
    object->keypoints = g_array_new (FALSE, FALSE, sizeof (GstNnKeypoint));
  g_array_append_val (object->keypoints, keypoint);
}

/**
 * gst_nn_object_get_n_keypoints:
 * @object: an object
 *
 * Returns: the number of its keypoints
 *
 * Since: 1.0
 */
guint
gst_nn_object_get_n_keypoints (const GstNnObject *object)
{
  return object->keypoints ? object->keypoints->len : 0;
}

/**
 * gst_nn_object_get_keypoint:
 * @object: an object
 * @index: a keypoint
 * @x: (out): place on the frame, pixels
 * @y: (out): place on the frame, pixels
 * @score: (out): confidence, 0 to 1
 *
 * Gets a keypoint.
 *
 * Returns: %FALSE if there are not as many
 *
 * Since: 1.0
 */
gboolean
gst_nn_object_get_keypoint (const GstNnObject *object, guint index, gdouble *x, gdouble *y,
                            gdouble *score)
{
  const GstNnKeypoint none = { 0, 0, 0 };
  gboolean found = index < gst_nn_object_get_n_keypoints (object);
  const GstNnKeypoint *k = found ? &g_array_index (object->keypoints, GstNnKeypoint, index) : &none;
  *x = k->x;
  *y = k->y;
  *score = k->score;
  return found;
}

/**
 * gst_nn_object_set_skeleton:
 * @object: an object
 * @skeleton: (nullable) (transfer none): the names of its keypoints, and the lines between them
 *
 * Says what its keypoints are.
 *
 * Since: 1.0
 */
void
gst_nn_object_set_skeleton (GstNnObject *object, GstNnSkeleton *skeleton)
{
  GstNnSkeleton *old = object->skeleton;
  object->skeleton = skeleton ? gst_nn_skeleton_ref (skeleton) : NULL;
  g_clear_pointer (&old, gst_nn_skeleton_unref);
}

/**
 * gst_nn_object_get_skeleton:
 * @object: an object
 *
 * Returns: (transfer none) (nullable): what its keypoints are
 *
 * Since: 1.0
 */
GstNnSkeleton *
gst_nn_object_get_skeleton (const GstNnObject *object)
{
  return object->skeleton;
}

/**
 * gst_nn_object_set_mask:
 * @object: an object
 * @mask: (nullable) (transfer none): which pixels belong to it
 *
 * Says what shape it has. Of the frame itself: the class of each pixel.
 *
 * Since: 1.0
 */
void
gst_nn_object_set_mask (GstNnObject *object, GstNnMask *mask)
{
  GstNnMask *old = object->mask;
  object->mask = mask ? gst_nn_mask_ref (mask) : NULL;
  g_clear_pointer (&old, gst_nn_mask_unref);
}

/**
 * gst_nn_object_get_mask:
 * @object: an object
 *
 * Returns: (transfer none) (nullable): which pixels belong to it
 *
 * Since: 1.0
 */
GstNnMask *
gst_nn_object_get_mask (const GstNnObject *object)
{
  return object->mask;
}

/**
 * gst_nn_object_add_attribute:
 * @object: an object
 * @attribute: (transfer none): what is said of it
 *
 * Adds an attribute behind those that there are; several may have one name, best first.
 *
 * Since: 1.0
 */
void
gst_nn_object_add_attribute (GstNnObject *object, GstNnAttribute *attribute)
{
  if (object->attributes == NULL)
    object->attributes = g_ptr_array_new_with_free_func ((GDestroyNotify)gst_nn_attribute_unref);
  g_ptr_array_add (object->attributes, gst_nn_attribute_ref (attribute));
}

/**
 * gst_nn_object_get_n_attributes:
 * @object: an object
 *
 * Returns: the number of its attributes
 *
 * Since: 1.0
 */
guint
gst_nn_object_get_n_attributes (const GstNnObject *object)
{
  return object->attributes ? object->attributes->len : 0;
}

/**
 * gst_nn_object_get_attribute:
 * @object: an object
 * @index: an attribute
 *
 * Returns: (transfer none) (nullable): the attribute
 *
 * Since: 1.0
 */
GstNnAttribute *
gst_nn_object_get_attribute (const GstNnObject *object, guint index)
{
  return index < gst_nn_object_get_n_attributes (object)
             ? g_ptr_array_index (object->attributes, index)
             : NULL;
}

/**
 * gst_nn_object_find_attribute:
 * @object: an object
 * @name: name of an attribute
 *
 * Returns: (transfer none) (nullable): the first attribute of that name
 *
 * Since: 1.0
 */
GstNnAttribute *
gst_nn_object_find_attribute (const GstNnObject *object, const gchar *name)
{
  GstNnAttribute *a;
  for (guint i = 0; (a = gst_nn_object_get_attribute (object, i)) != NULL; i++)
    if (g_str_equal (gst_nn_attribute_get_name (a), name))
      return a;
  return NULL;
}

/**
 * gst_nn_object_set_text:
 * @object: an object
 * @text: (nullable): what is written on it
 * @score: confidence, 0 to 1
 *
 * Says what was read.
 *
 * Since: 1.0
 */
void
gst_nn_object_set_text (GstNnObject *object, const gchar *text, gdouble score)
{
  gchar *old = object->text;
  object->text = text ? g_ref_string_new (text) : NULL;
  object->text_score = score;
  g_clear_pointer (&old, g_ref_string_release);
}

/**
 * gst_nn_object_get_text:
 * @object: an object
 *
 * Returns: (transfer none) (nullable): what is written on it
 *
 * Since: 1.0
 */
const gchar *
gst_nn_object_get_text (const GstNnObject *object)
{
  return object->text;
}

/**
 * gst_nn_object_get_text_score:
 * @object: an object
 *
 * Returns: the confidence in the text, 0 to 1
 *
 * Since: 1.0
 */
gdouble
gst_nn_object_get_text_score (const GstNnObject *object)
{
  return object->text_score;
}

/**
 * gst_nn_object_set_embedding:
 * @object: an object
 * @values: (array length=n_values) (nullable): a vector that is near to those of alike objects
 * @n_values: its length
 *
 * Says what it looks like, in numbers.
 *
 * Since: 1.0
 */
void
gst_nn_object_set_embedding (GstNnObject *object, const gfloat *values, gsize n_values)
{
  GBytes *old = object->embedding;
  object->embedding = values ? g_bytes_new (values, n_values * sizeof *values) : NULL;
  g_clear_pointer (&old, g_bytes_unref);
}

/**
 * gst_nn_object_get_embedding:
 * @object: an object
 * @n_values: (out): its length
 *
 * Returns: (transfer none) (array length=n_values) (nullable): the vector
 *
 * Since: 1.0
 */
const gfloat *
gst_nn_object_get_embedding (const GstNnObject *object, gsize *n_values)
{
  gsize size = 0;
  const gfloat *values = object->embedding ? g_bytes_get_data (object->embedding, &size) : NULL;
  *n_values = size / sizeof *values;
  return values;
}

/**
 * gst_nn_object_set_track:
 * @object: an object
 * @id: number of the track, the same on all frames; 0: none
 * @age: frames since the track began
 *
 * Says that it was seen before.
 *
 * Since: 1.0
 */
void
gst_nn_object_set_track (GstNnObject *object, guint64 id, guint age)
{
  object->track_id = id;
  object->track_age = age;
}

/**
 * gst_nn_object_get_track_id:
 * @object: an object
 *
 * Returns: the number of its track, 0: none
 *
 * Since: 1.0
 */
guint64
gst_nn_object_get_track_id (const GstNnObject *object)
{
  return object->track_id;
}

/**
 * gst_nn_object_get_track_age:
 * @object: an object
 *
 * Returns: frames since its track began
 *
 * Since: 1.0
 */
guint
gst_nn_object_get_track_age (const GstNnObject *object)
{
  return object->track_age;
}

void
gst_nn_object_adopt (GstNnObject *object, GstNnObject *from)
{
  GstNnAttribute *attribute;
  for (guint i = 0; (attribute = gst_nn_object_get_attribute (from, i)) != NULL; i++)
    gst_nn_object_add_attribute (object, attribute);
  if (object->mask == NULL)
    object->mask = g_steal_pointer (&from->mask);
  if (object->embedding == NULL)
    object->embedding = g_steal_pointer (&from->embedding);
  if (object->text == NULL) {
    object->text = g_steal_pointer (&from->text);
    object->text_score = from->text_score;
  }
  if (object->keypoints == NULL) {
    object->keypoints = g_steal_pointer (&from->keypoints);
    gst_nn_object_set_skeleton (object, from->skeleton);
  }
}
