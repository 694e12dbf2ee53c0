/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the device shall be compiled for. A live stream wants each frame soon; of a file all frames
 * shall be done soon, and several are inferred side by side. Who says how many streams there are,
 * or gives a hint, is obeyed. */
#include "infer/gstnninfer.h"

#include <gst/base/gstbasesrc.h>
#include <string.h>

#define GST_CAT_DEFAULT gst_nn_infer_debug
#define SIDE_BY_SIDE 8 /* frames of a file that are inferred at once, at most */

static const gchar *const decided[] = { "PERFORMANCE_HINT", "NUM_STREAMS", "THREADS_PER_STREAM",
                                        "EXCLUSIVE_ASYNC_REQUESTS" };

/* Object lock held. */
static gboolean
is_decided (GstNnInfer *self)
{
  for (guint i = 0; self->config != NULL && i < G_N_ELEMENTS (decided); i++)
    if (gst_structure_has_field (self->config, decided[i]))
      return TRUE;
  return FALSE;
}

static gboolean
knows (GstNnInfer *self, const gchar *key)
{
  g_autoptr (GVariant) value =
      axon_core_get_property (axon_core_get_default (), self->device, key, NULL);
  return value != NULL;
}

/* Sources that are no GstBaseSrc, such as rtspsrc, say what they are in their class only. */
static gboolean
is_live_source (GstElement *element)
{
  const gchar *kind = gst_element_get_metadata (element, GST_ELEMENT_METADATA_KLASS);
  if (!GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SOURCE) || GST_IS_BIN (element))
    return FALSE;
  return GST_IS_BASE_SRC (element) ? gst_base_src_is_live (GST_BASE_SRC (element))
                                   : kind != NULL && strstr (kind, "Network") != NULL;
}

static void
find_live_source (const GValue *item, gpointer user_data)
{
  if (is_live_source (g_value_get_object (item)))
    *(gboolean *)user_data = TRUE;
}

/* A guess while upstream does not answer, as cameras that are not open yet. */
static gboolean
is_beside_live_source (GstNnInfer *self)
{
  GstObject *top = gst_object_ref (self), *parent;
  gboolean found = FALSE;
  GstIterator *elements;
  while ((parent = gst_object_get_parent (top)) != NULL) {
    gst_object_unref (top);
    top = parent;
  }
  if (GST_IS_BIN (top)) {
    elements = gst_bin_iterate_recurse (GST_BIN (top));
    while (gst_iterator_foreach (elements, find_live_source, &found) == GST_ITERATOR_RESYNC)
      gst_iterator_resync (elements);
    gst_iterator_free (elements);
  }
  gst_object_unref (top);
  return found;
}

static gboolean
is_live (GstNnInfer *self)
{
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  gboolean live;
  if (!gst_pad_peer_query (self->sinkpad, query))
    return is_beside_live_source (self);
  gst_query_parse_latency (query, &live, NULL, NULL);
  return live;
}

gboolean
gst_nn_infer_takes_newest (GstNnInfer *self)
{
  GstNnDropPolicy policy;
  GST_OBJECT_LOCK (self);
  policy = self->drop_policy;
  GST_OBJECT_UNLOCK (self);
  return policy == GST_NN_DROP_NEWEST || (policy == GST_NN_DROP_AUTO && is_live (self));
}

GstNnInferGoal
gst_nn_infer_find_goal (GstNnInfer *self)
{
  gboolean is_free;
  GST_OBJECT_LOCK (self);
  is_free = !is_decided (self) && self->nireq != 1;
  GST_OBJECT_UNLOCK (self);
  if (!is_free || !knows (self, "PERFORMANCE_HINT"))
    return GST_NN_INFER_AS_CONFIGURED;
  return is_live (self) ? GST_NN_INFER_LATENCY : GST_NN_INFER_THROUGHPUT;
}

/* TRUE if the configuration leaves @key to us. */
static gboolean
may_add (GstNnInfer *self, const gchar *key)
{
  gboolean is_set;
  GST_OBJECT_LOCK (self);
  is_set = self->config != NULL && gst_structure_has_field (self->config, key);
  GST_OBJECT_UNLOCK (self);
  return !is_set && knows (self, key);
}

/* Frames that are here at once, at most. */
guint
gst_nn_infer_count_held (GstNnInfer *self)
{
  guint nireq;
  GST_OBJECT_LOCK (self);
  nireq = self->nireq;
  GST_OBJECT_UNLOCK (self);
  return nireq > 0 ? nireq : self->goal == GST_NN_INFER_THROUGHPUT ? SIDE_BY_SIDE : 2;
}

void
gst_nn_infer_add_goal (GstNnInfer *self, GVariantBuilder *config)
{
  gboolean many = self->goal == GST_NN_INFER_THROUGHPUT;
  const gchar *hint = many ? "THROUGHPUT" : "LATENCY";
  if (self->goal == GST_NN_INFER_AS_CONFIGURED)
    return;
  GST_INFO_OBJECT (self, "%s: the model is compiled for %s",
                   many ? "not a live stream" : "a live stream", many ? "throughput" : "latency");
  g_variant_builder_add (config, "{sv}", "PERFORMANCE_HINT", g_variant_new_string (hint));
  if (many && may_add (self, "PERFORMANCE_HINT_NUM_REQUESTS")) {
    g_autofree gchar *most = g_strdup_printf ("%u", self->nireq ? self->nireq : SIDE_BY_SIDE);
    g_variant_builder_add (config, "{sv}", "PERFORMANCE_HINT_NUM_REQUESTS",
                           g_variant_new_string (most));
  }
}
