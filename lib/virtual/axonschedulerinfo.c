/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a scheduler tells of its devices. */
#include "axonscheduler-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

guint
axon_scheduler_get_n_devices (AxonScheduler *s)
{
  guint n;
  g_mutex_lock (&s->lock);
  n = s->devices->len;
  g_mutex_unlock (&s->lock);
  return n;
}

static gboolean
from_cache (const Device *d)
{
  g_autoptr (GVariant) v =
      axon_compiled_model_get_property (d->compiled, "LOADED_FROM_CACHE", NULL);
  return v != NULL && g_variant_get_boolean (v);
}

/* lock held */
static GVariant *
get_property (AxonScheduler *s, const gchar *key)
{
  g_autoptr (GVariantBuilder) names = g_variant_builder_new (G_VARIANT_TYPE_STRING_ARRAY);
  g_autoptr (GVariantBuilder) shares = g_variant_builder_new (G_VARIANT_TYPE ("a{sd}"));
  g_autoptr (GVariantBuilder) all = g_variant_builder_new (G_VARIANT_TYPE_VARDICT);
  gboolean cached = s->devices->len > 0;
  guint n = 0;
  gdouble total = 0;
  for (guint i = 0; i < s->devices->len; i++)
    total += (gdouble)((Device *)g_ptr_array_index (s->devices, i))->runs;
  for (guint i = 0; i < s->devices->len; i++) {
    const Device *d = g_ptr_array_index (s->devices, i);
    n += d->n_workers;
    g_variant_builder_add (names, "s", d->shown);
    g_variant_builder_add (shares, "{sd}", d->shown, total > 0 ? (gdouble)d->runs / total : 0);
    cached = cached && from_cache (d);
    if (g_str_equal (key, "DEVICE_PROPERTIES"))
      g_variant_builder_add (all, "{sv}", d->shown,
                             axon_compiled_model_dup_properties (d->compiled));
  }
  if (g_str_equal (key, "OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
    return g_variant_new_int32 ((gint)MAX (n, 1));
  if (g_str_equal (key, "LOADED_FROM_CACHE"))
    return g_variant_new_boolean (cached);
  return g_variant_builder_end (g_str_equal (key, "EXECUTION_DEVICES")   ? names
                                : g_str_equal (key, "DEVICE_PROPERTIES") ? all
                                                                         : shares);
}

GVariant *
axon_scheduler_get_property (AxonScheduler *s, const gchar *key)
{
  static const gchar *const keys[] = { "OPTIMAL_NUMBER_OF_INFER_REQUESTS",
                                       "EXECUTION_DEVICES",
                                       "DEVICE_PROPERTIES",
                                       "LOADED_FROM_CACHE",
                                       "DEVICE_SHARES",
                                       NULL };
  GVariant *value;
  if (!g_strv_contains (keys, key))
    return NULL;
  g_mutex_lock (&s->lock);
  value = get_property (s, key);
  g_mutex_unlock (&s->lock);
  return value;
}

AxonModel *
axon_scheduler_get_runtime_model (AxonScheduler *s, GError **error)
{
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_mutex_lock (&s->lock);
  if (s->devices->len > 0)
    compiled = g_object_ref (((Device *)g_ptr_array_index (s->devices, 0))->compiled);
  g_mutex_unlock (&s->lock);
  if (compiled != NULL)
    return axon_compiled_model_get_runtime_model (compiled, error);
  g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, _ ("no device is left that runs the model"));
  return NULL;
}
