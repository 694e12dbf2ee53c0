/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An object's place, class and origin; the rest is in gstnnobjectparts.c. */
#include "gstnnobject-private.h"

#include <math.h>

G_DEFINE_BOXED_TYPE (GstNnObject, gst_nn_object, gst_nn_object_ref, gst_nn_object_unref)

GstNnObject *
gst_nn_object_new (guint id, guint parent_id)
{
  GstNnObject *o = g_atomic_rc_box_new0 (GstNnObject);
  o->id = id;
  o->parent_id = parent_id;
  o->class_id = -1;
  o->pts = GST_CLOCK_TIME_NONE;
  return o;
}

/**
 * gst_nn_object_ref:
 * @object: an object
 *
 * Takes a reference, so that it stays after its buffer.
 *
 * Returns: (transfer full): @object
 *
 * Since: 1.0
 */
GstNnObject *
gst_nn_object_ref (GstNnObject *object)
{
  return g_atomic_rc_box_acquire (object);
}

static void
clear (gpointer data)
{
  GstNnObject *o = data;
  g_clear_pointer (&o->label, g_ref_string_release);
  g_clear_pointer (&o->model_name, g_ref_string_release);
  g_clear_pointer (&o->text, g_ref_string_release);
  g_clear_pointer (&o->keypoints, g_array_unref);
  g_clear_pointer (&o->skeleton, gst_nn_skeleton_unref);
  g_clear_pointer (&o->mask, gst_nn_mask_unref);
  g_clear_pointer (&o->embedding, g_bytes_unref);
  g_clear_pointer (&o->attributes, g_ptr_array_unref);
}

/**
 * gst_nn_object_unref:
 * @object: (transfer full): an object
 *
 * Drops a reference.
 *
 * Since: 1.0
 */
void
gst_nn_object_unref (GstNnObject *object)
{
  g_atomic_rc_box_release_full (object, clear);
}

static gchar *
ref_string (gchar *string)
{
  return string ? g_ref_string_acquire (string) : NULL;
}

static void
move_box (GstNnObject *o, const GstNnMove *move)
{
  o->x = o->x * move->scale_x + move->x;
  o->y = o->y * move->scale_y + move->y;
  o->width *= move->scale_x;
  o->height *= move->scale_y;
  if (o->is_rotated) { /* its sides keep their directions, as closely as a rectangle can */
    gdouble c = cos (o->angle), s = sin (o->angle);
    o->center_x = o->center_x * move->scale_x + move->x;
    o->center_y = o->center_y * move->scale_y + move->y;
    o->rotated_width *= hypot (c * move->scale_x, s * move->scale_y);
    o->rotated_height *= hypot (s * move->scale_x, c * move->scale_y);
    o->angle = atan2 (s * move->scale_y, c * move->scale_x);
  }
}

static GArray *
move_keypoints (const GArray *keypoints, const GstNnMove *move)
{
  GArray *moved = g_array_copy ((GArray *)keypoints);
  for (guint i = 0; i < moved->len; i++) {
    GstNnKeypoint *k = &g_array_index (moved, GstNnKeypoint, i);
    k->x = k->x * move->scale_x + move->x;
    k->y = k->y * move->scale_y + move->y;
  }
  return moved;
}

GstNnObject *
gst_nn_object_copy_moved (const GstNnObject *object, const GstNnMove *move)
{
  GstNnObject *o = g_atomic_rc_box_new (GstNnObject);
  *o = *object;
  move_box (o, move);
  o->label = ref_string (object->label);
  o->model_name = ref_string (object->model_name);
  o->text = ref_string (object->text);
  if (object->keypoints != NULL)
    o->keypoints = move_keypoints (object->keypoints, move);
  if (object->skeleton != NULL)
    gst_nn_skeleton_ref (object->skeleton);
  if (object->mask != NULL)
    o->mask = gst_nn_mask_moved (object->mask, move);
  if (object->embedding != NULL)
    g_bytes_ref (object->embedding);
  if (object->attributes != NULL)
    o->attributes =
        g_ptr_array_copy (object->attributes, (GCopyFunc)(gpointer)gst_nn_attribute_ref, NULL);
  return o;
}

/**
 * gst_nn_object_get_id:
 * @object: an object
 *
 * Returns: its number on this buffer, from 1; 0: it is the frame
 *
 * Since: 1.0
 */
guint
gst_nn_object_get_id (const GstNnObject *object)
{
  return object->id;
}

/**
 * gst_nn_object_get_parent_id:
 * @object: an object
 *
 * Returns: the number of the object that it was found inside of; 0: the frame
 *
 * Since: 1.0
 */
guint
gst_nn_object_get_parent_id (const GstNnObject *object)
{
  return object->parent_id;
}

/**
 * gst_nn_object_get_box:
 * @object: an object
 * @x: (out) (optional): left edge, pixels of the frame
 * @y: (out) (optional): top edge
 * @width: (out) (optional): width
 * @height: (out) (optional): height
 *
 * Gets the upright box around it.
 *
 * Since: 1.0
 */
void
gst_nn_object_get_box (const GstNnObject *object, gdouble *x, gdouble *y, gdouble *width,
                       gdouble *height)
{
  if (x != NULL)
    *x = object->x;
  if (y != NULL)
    *y = object->y;
  if (width != NULL)
    *width = object->width;
  if (height != NULL)
    *height = object->height;
}

/**
 * gst_nn_object_set_box:
 * @object: an object
 * @x: left edge, pixels of the frame
 * @y: top edge
 * @width: width
 * @height: height
 *
 * Says where it is. It has no rotated box afterwards.
 *
 * Since: 1.0
 */
void
gst_nn_object_set_box (GstNnObject *object, gdouble x, gdouble y, gdouble width, gdouble height)
{
  object->x = x;
  object->y = y;
  object->width = width;
  object->height = height;
  object->is_rotated = FALSE;
}

/**
 * gst_nn_object_get_rotated_box:
 * @object: an object
 * @center_x: (out): the middle, pixels of the frame
 * @center_y: (out): the middle
 * @width: (out): length of the side that the angle is of
 * @height: (out): length of the other side
 * @angle: (out): radians, clockwise
 *
 * Gets the rectangle that fits it best, at any angle.
 *
 * Returns: %FALSE if there is only the upright one, which is told then
 *
 * Since: 1.0
 */
gboolean
gst_nn_object_get_rotated_box (const GstNnObject *object, gdouble *center_x, gdouble *center_y,
                               gdouble *width, gdouble *height, gdouble *angle)
{
  gboolean is_rotated = object->is_rotated;
  *center_x = is_rotated ? object->center_x : object->x + object->width / 2;
  *center_y = is_rotated ? object->center_y : object->y + object->height / 2;
  *width = is_rotated ? object->rotated_width : object->width;
  *height = is_rotated ? object->rotated_height : object->height;
  *angle = is_rotated ? object->angle : 0;
  return is_rotated;
}

/**
 * gst_nn_object_set_rotated_box:
 * @object: an object
 * @center_x: the middle, pixels of the frame
 * @center_y: the middle
 * @width: length of the side that the angle is of
 * @height: length of the other side
 * @angle: radians, clockwise
 *
 * Says where it is, by a rectangle at any angle. The upright box is the one around that.
 *
 * Since: 1.0
 */
void
gst_nn_object_set_rotated_box (GstNnObject *object, gdouble center_x, gdouble center_y,
                               gdouble width, gdouble height, gdouble angle)
{
  gdouble c = fabs (cos (angle)), s = fabs (sin (angle));
  gdouble across = width * c + height * s, down = width * s + height * c;
  gst_nn_object_set_box (object, center_x - across / 2, center_y - down / 2, across, down);
  object->is_rotated = TRUE;
  object->center_x = center_x;
  object->center_y = center_y;
  object->rotated_width = width;
  object->rotated_height = height;
  object->angle = angle;
}

/**
 * gst_nn_object_move:
 * @object: an object
 * @x: left edge, pixels of the frame
 * @y: top edge
 * @width: width
 * @height: height
 *
 * Moves it to another box, with its keypoints, its mask and its rotated box.
 *
 * Since: 1.0
 */
void
gst_nn_object_move (GstNnObject *object, gdouble x, gdouble y, gdouble width, gdouble height)
{
  GstNnMove move = { object->width > 0 ? width / object->width : 1,
                     object->height > 0 ? height / object->height : 1, 0, 0 };
  GArray *keypoints = object->keypoints;
  GstNnMask *mask = object->mask;
  move.x = x - object->x * move.scale_x;
  move.y = y - object->y * move.scale_y;
  move_box (object, &move);
  object->keypoints = keypoints ? move_keypoints (keypoints, &move) : NULL;
  object->mask = mask ? gst_nn_mask_moved (mask, &move) : NULL;
  g_clear_pointer (&keypoints, g_array_unref);
  g_clear_pointer (&mask, gst_nn_mask_unref);
}

/**
 * gst_nn_object_set_class:
 * @object: an object
 * @class_id: number of the class, -1 where the model has none
 * @label: (nullable): name of the class
 * @score: confidence, 0 to 1
 *
 * Says what it is.
 *
 * Since: 1.0
 */
void
gst_nn_object_set_class (GstNnObject *object, gint class_id, const gchar *label, gdouble score)
{
  gchar *old = object->label;
  object->class_id = class_id;
  object->label = label ? g_ref_string_new (label) : NULL;
  object->score = score;
  g_clear_pointer (&old, g_ref_string_release);
}

/**
 * gst_nn_object_get_class_id:
 * @object: an object
 *
 * Returns: the number of its class, -1 where the model has none
 *
 * Since: 1.0
 */
gint
gst_nn_object_get_class_id (const GstNnObject *object)
{
  return object->class_id;
}

/**
 * gst_nn_object_get_label:
 * @object: an object
 *
 * Returns: (transfer none) (nullable): the name of its class
 *
 * Since: 1.0
 */
const gchar *
gst_nn_object_get_label (const GstNnObject *object)
{
  return object->label;
}

/**
 * gst_nn_object_get_score:
 * @object: an object
 *
 * Returns: the confidence, 0 to 1
 *
 * Since: 1.0
 */
gdouble
gst_nn_object_get_score (const GstNnObject *object)
{
  return object->score;
}

/**
 * gst_nn_object_set_origin:
 * @object: an object
 * @model_name: (nullable): the model that found it
 * @pts: timestamp of the frame that it was found on
 *
 * Says where it comes from.
 *
 * Since: 1.0
 */
void
gst_nn_object_set_origin (GstNnObject *object, const gchar *model_name, GstClockTime pts)
{
  gchar *old = object->model_name;
  object->model_name = model_name ? g_ref_string_new_intern (model_name) : NULL;
  object->pts = pts;
  g_clear_pointer (&old, g_ref_string_release);
}

/**
 * gst_nn_object_get_model_name:
 * @object: an object
 *
 * Returns: (transfer none) (nullable): the model that found it
 *
 * Since: 1.0
 */
const gchar *
gst_nn_object_get_model_name (const GstNnObject *object)
{
  return object->model_name;
}

/**
 * gst_nn_object_get_pts:
 * @object: an object
 *
 * Returns: the timestamp of the frame that it was found on, which is an earlier one where results
 *   are shown on frames that were not inferred; %GST_CLOCK_TIME_NONE: unknown
 *
 * Since: 1.0
 */
GstClockTime
gst_nn_object_get_pts (const GstNnObject *object)
{
  return object->pts;
}
