/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the device shall be compiled for. A live stream wants each frame soon; of a file all frames
 * shall be done soon, and several are inferred side by side. Who says how many streams there are,
 * or gives a hint, is obeyed. */
#include "infer/gstnninfer.h"

#define GST_CAT_DEFAULT gst_nn_infer_debug
#define SIDE_BY_SIDE 8 /* frames of a file that are inferred at once, at most */

static const gchar *const decided[] = { "PERFORMANCE_HINT", "NUM_STREAMS", "THREADS_PER_STREAM",
                                        "EXCLUSIVE_ASYNC_REQUESTS" };

static gboolean
says (const GstNnInferModel *m, const gchar *key)
{
  return m->config != NULL && gst_structure_has_field (m->config, key);
}

static gboolean
knows (const GstNnInferModel *m, const gchar *key)
{
  g_autoptr (GVariant) value =
      axon_core_get_property (axon_core_get_default (), m->device, key, NULL);
  return value != NULL;
}

GstNnInferGoal
gst_nn_infer_model_choose_goal (const GstNnInferModel *m, gboolean is_live)
{
  for (guint i = 0; i < G_N_ELEMENTS (decided); i++)
    if (says (m, decided[i]))
      return GST_NN_INFER_AS_CONFIGURED;
  if (m->nireq == 1 || !knows (m, "PERFORMANCE_HINT"))
    return GST_NN_INFER_AS_CONFIGURED;
  return is_live ? GST_NN_INFER_LATENCY : GST_NN_INFER_THROUGHPUT;
}

guint
gst_nn_infer_model_count_held (const GstNnInferModel *m)
{
  return m->nireq > 0                                             ? m->nireq
         : m->share == NULL && m->goal == GST_NN_INFER_THROUGHPUT ? SIDE_BY_SIDE
                                                                  : 2;
}

static void
add_goal (const GstNnInferModel *m, GVariantBuilder *config)
{
  gboolean many = m->goal == GST_NN_INFER_THROUGHPUT;
  const gchar *hint = many ? "THROUGHPUT" : "LATENCY";
  if (m->goal == GST_NN_INFER_AS_CONFIGURED)
    return;
  GST_INFO ("%s: the model is compiled for %s", many ? "not a live stream" : "a live stream",
            many ? "throughput" : "latency");
  g_variant_builder_add (config, "{sv}", "PERFORMANCE_HINT", g_variant_new_string (hint));
  if (many && !says (m, "PERFORMANCE_HINT_NUM_REQUESTS") &&
      knows (m, "PERFORMANCE_HINT_NUM_REQUESTS")) {
    g_autofree gchar *most = g_strdup_printf ("%u", m->nireq ? m->nireq : SIDE_BY_SIDE);
    g_variant_builder_add (config, "{sv}", "PERFORMANCE_HINT_NUM_REQUESTS",
                           g_variant_new_string (most));
  }
}

static void
add_limit (const GstNnInferModel *m, GVariantBuilder *config, const gchar *key, guint limit)
{
  g_autofree gchar *text = g_strdup_printf ("%u", limit);
  if (limit > 0 && !says (m, key))
    g_variant_builder_add (config, "{sv}", key, g_variant_new_string (text));
}

GVariant *
gst_nn_infer_model_dup_config (const GstNnInferModel *m)
{
  GVariantBuilder builder;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a{sv}"));
  for (gint i = 0; m->config != NULL && i < gst_structure_n_fields (m->config); i++) {
    const gchar *key = gst_structure_nth_field_name (m->config, (guint)i);
    const GValue *value = gst_structure_get_value (m->config, key);
    g_autofree gchar *text =
        G_VALUE_HOLDS_STRING (value) ? g_value_dup_string (value) : gst_value_serialize (value);
    g_variant_builder_add (&builder, "{sv}", key, g_variant_new_string (text ? text : ""));
  }
  add_limit (m, &builder, "MAX_MEMORY", m->max_memory);
  add_limit (m, &builder, "INFERENCE_TIMEOUT", m->inference_timeout);
  add_goal (m, &builder);
  return g_variant_ref_sink (g_variant_builder_end (&builder));
}
