/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/nn/gstnnattribute.h>

struct _GstNnAttribute {
  gchar *name, *value, *model_name; /* reference-counted strings */
  gint class_id;
  gdouble score;
};

G_DEFINE_BOXED_TYPE (GstNnAttribute, gst_nn_attribute, gst_nn_attribute_ref, gst_nn_attribute_unref)

/**
 * gst_nn_attribute_new:
 * @name: what is said, such as `classification` or `colour`
 * @value: (nullable): what it is, such as `red`
 * @class_id: number of the class, -1 where there is none
 * @score: confidence, 0 to 1
 * @model_name: (nullable): who says it
 *
 * Makes an attribute.
 *
 * Returns: (transfer full): an attribute
 *
 * Since: 1.0
 */
GstNnAttribute *
gst_nn_attribute_new (const gchar *name, const gchar *value, gint class_id, gdouble score,
                      const gchar *model_name)
{
  GstNnAttribute *a = g_atomic_rc_box_new0 (GstNnAttribute);
  a->name = g_ref_string_new_intern (name);
  a->value = value ? g_ref_string_new (value) : NULL;
  a->model_name = model_name ? g_ref_string_new_intern (model_name) : NULL;
  a->class_id = class_id;
  a->score = score;
  return a;
}

/**
 * gst_nn_attribute_ref:
 * @attribute: an attribute
 *
 * Takes a reference.
 *
 * Returns: (transfer full): @attribute
 *
 * Since: 1.0
 */
GstNnAttribute *
gst_nn_attribute_ref (GstNnAttribute *attribute)
{
  return g_atomic_rc_box_acquire (attribute);
}

static void
clear (gpointer data)
{
  GstNnAttribute *a = data;
  g_clear_pointer (&a->name, g_ref_string_release);
  g_clear_pointer (&a->value, g_ref_string_release);
  g_clear_pointer (&a->model_name, g_ref_string_release);
}

/**
 * gst_nn_attribute_unref:
 * @attribute: (transfer full): an attribute
 *
 * Drops a reference.
 *
 * Since: 1.0
 */
void
gst_nn_attribute_unref (GstNnAttribute *attribute)
{
  g_atomic_rc_box_release_full (attribute, clear);
}

/**
 * gst_nn_attribute_get_name:
 * @attribute: an attribute
 *
 * Returns: (transfer none): what is said
 *
 * Since: 1.0
 */
const gchar *
gst_nn_attribute_get_name (const GstNnAttribute *attribute)
{
  return attribute->name;
}

/**
 * gst_nn_attribute_get_value:
 * @attribute: an attribute
 *
 * Returns: (transfer none) (nullable): what it is, in words
 *
 * Since: 1.0
 */
const gchar *
gst_nn_attribute_get_value (const GstNnAttribute *attribute)
{
  return attribute->value;
}

/**
 * gst_nn_attribute_get_class_id:
 * @attribute: an attribute
 *
 * Returns: the number of the class, -1 where there is none
 *
 * Since: 1.0
 */
gint
gst_nn_attribute_get_class_id (const GstNnAttribute *attribute)
{
  return attribute->class_id;
}

/**
 * gst_nn_attribute_get_score:
 * @attribute: an attribute
 *
 * Returns: the confidence, 0 to 1
 *
 * Since: 1.0
 */
gdouble
gst_nn_attribute_get_score (const GstNnAttribute *attribute)
{
  return attribute->score;
}

/**
 * gst_nn_attribute_get_model_name:
 * @attribute: an attribute
 *
 * Returns: (transfer none) (nullable): which model said it
 *
 * Since: 1.0
 */
const gchar *
gst_nn_attribute_get_model_name (const GstNnAttribute *attribute)
{
  return attribute->model_name;
}
