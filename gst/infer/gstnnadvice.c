/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnadvice.h"

#define FIELD "models" /* an array of structures */

static gboolean
is_about (const GstStructure *advice, const gchar *model)
{
  return g_strcmp0 (gst_structure_get_string (advice, "model"), model) == 0;
}

void
gst_nn_add_advice (GstStructure *context, const gchar *model, const gchar *devices,
                   const GstStructure *affinities)
{
  const GValue *old = gst_structure_get_value (context, FIELD);
  GValue all = G_VALUE_INIT, one = G_VALUE_INIT;
  gst_value_array_init (&all, 4);
  for (guint i = 0; old != NULL && i < gst_value_array_get_size (old); i++) {
    const GValue *v = gst_value_array_get_value (old, i);
    if (!is_about (gst_value_get_structure (v), model))
      gst_value_array_append_value (&all, v);
  }
  g_value_init (&one, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&one, gst_structure_new ("advice", "model", G_TYPE_STRING, model, "devices",
                                               G_TYPE_STRING, devices, "affinities",
                                               GST_TYPE_STRUCTURE, affinities, NULL));
  gst_value_array_append_and_take_value (&all, &one);
  gst_structure_take_value (context, FIELD, &all);
}

const GstStructure *
gst_nn_find_advice (const GstStructure *context, const gchar *model)
{
  const GValue *all = gst_structure_get_value (context, FIELD);
  for (guint i = 0; all != NULL && i < gst_value_array_get_size (all); i++) {
    const GstStructure *s = gst_value_get_structure (gst_value_array_get_value (all, i));
    if (is_about (s, model))
      return s;
  }
  return NULL;
}
